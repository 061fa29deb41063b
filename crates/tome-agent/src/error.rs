//! What can go wrong between an agent and its memory.

use thiserror::Error;
use tome_engine::EngineError;
use tome_model::ModelError;

/// Memory that did not do what it was asked. A tool that refuses is an answer, not this.
#[derive(Debug, Error)]
pub enum MemoryError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// What was handed over cannot be taken.
    #[error(transparent)]
    Invalid(#[from] ModelError),
    /// Memory lives elsewhere and cannot be reached.
    #[error("memory cannot be reached: {0}")]
    Away(String),
    /// There is no tool of this name.
    #[error("memory has no tool {0:?}")]
    NoSuchTool(String),
    /// A tool refused where it had to do its work.
    #[error("{tool} refused: {said}")]
    Refused {
        /// Which.
        tool: &'static str,
        /// What it said.
        said: String,
    },
}
