//! Tests of the shipped program from outside: command line, sockets, files.

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
mod adverse_conditions;
mod backup;
mod bad_store;
mod bench_recall;
mod capture;
mod chat;
mod chat_errors;
mod chat_files;
mod chat_model;
mod chat_offline;
mod chat_triggers;
mod citations;
mod cli;
mod coder;
mod config;
mod contents;
mod contents_catch_up;
mod copilot_turns;
mod crash;
mod daemon;
mod daemon_home;
mod daemon_tcp;
mod daemon_version;
mod damage;
mod deliveries;
mod docs;
mod embeddings;
mod events;
mod everyday;
mod export;
mod headless;
mod home_removed;
mod hooks;
mod hostile_folders;
mod import;
mod import_codex;
mod import_codex_scripts;
mod import_damage;
mod import_opencode;
mod import_order;
mod import_windows;
mod ingest;
mod injections;
mod injections_edit;
mod injections_late;
mod many_stores;
mod mcp;
mod mcp_budget;
mod mcp_client;
mod mcp_flood;
mod mcp_python;
mod mcp_resources;
mod mcp_tools;
mod merge_sessions;
mod model_summary;
mod notes_cli;
mod notes_disk;
mod notes_edit;
mod notes_history;
mod notes_hostile;
mod notes_repository;
mod notes_safety;
mod opencode_batch;
mod opencode_plugin;
mod pause;
mod projects;
mod projects_cli;
mod quoting;
mod recall_cli;
mod recall_embedder;
mod recall_indexes;
mod recall_tools;
mod redaction;
mod reflect;
mod reflect_failures;
mod repeated_client_events;
mod screens;
mod session_screens;
mod session_starts;
mod session_transcript;
mod setup;
mod shared_home;
mod show;
mod slow_agents;
mod spool;
mod structure;
mod support;
mod tcp_flood;
mod terminal_escapes;
mod tools;
mod topics;
mod transcripts;
mod typed_input;
mod widths;
