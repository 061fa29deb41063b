//! Contents through its public surface.
#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::disallowed_methods,
    reason = "a test that cannot go on should say where"
)]

mod contents;
mod extract;
mod model_summarizer;
mod time_phrases;
