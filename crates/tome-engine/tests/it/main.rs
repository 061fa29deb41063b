//! Integration tests of the engine through its public API.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "a failing test should panic at the cause"
)]

mod backup;
mod citations;
mod contents;
mod edit_decisions;
mod engine_fixture;
mod intake;
mod lessons;
mod lessons_data;
mod notebooks;
mod projects;
mod prompt_hints;
mod reading;
mod recall_answers;
mod recall_contradictions;
mod recall_deep;
mod recall_embedders;
mod recall_indexes;
mod recall_properties;
mod recall_questions;
mod recall_races;
mod recall_rebuild;
mod session_transcript;
mod spool;
mod start_texts;
mod tools;
mod topics;
mod triggers;
