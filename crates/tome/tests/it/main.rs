//! The shipped program, proved from outside: its command line, its sockets, its files.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "tests assert by panicking, print why they skip, and write plain files"
)]

mod acceptance;
mod bad_store;
mod bench_recall;
mod capture;
mod chat;
mod chat_errors;
mod chat_files;
mod chat_model;
mod chat_triggers;
mod citations;
mod cli;
mod coder;
mod config;
mod contents;
mod contents_tools;
mod contents_worker;
mod crash;
mod daemon;
mod daemon_home;
mod daemon_tcp;
mod daemon_version;
mod damage;
mod embeddings;
mod events;
mod hard_places;
mod hooks;
mod import;
mod import_codex;
mod import_damage;
mod import_opencode;
mod ingest;
mod injections;
mod injections_late;
mod many_stores;
mod mcp;
mod mcp_client;
mod mcp_python;
mod mcp_resources;
mod mcp_tools;
mod memory_tool;
mod notes_cli;
mod notes_disk;
mod notes_edit;
mod notes_frontmatter;
mod notes_history;
mod notes_hostile;
mod notes_repository;
mod notes_safety;
mod polish;
mod projects;
mod recall_cli;
mod recall_embedder;
mod recall_indexes;
mod recall_properties;
mod recall_questions;
mod recall_rebuild;
mod recall_tools;
mod reflect;
mod reflect_trouble;
mod scene;
mod session_copy;
mod setup;
mod show;
mod slow_agents;
mod spool;
mod tools;
