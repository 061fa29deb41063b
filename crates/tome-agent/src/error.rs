//! What can go wrong between an agent and its memory.

use thiserror::Error;
use tome_home::HomeError;
use tome_llm::ModelFailure;
use tome_model::ModelError;
use tome_redact::PatternError;

/// Memory that did not do what it was asked. A tool that refuses is an answer, not this.
#[derive(Debug, Error)]
pub enum MemoryError {
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] HomeError),
    /// A redaction pattern is not a valid regular expression.
    #[error(transparent)]
    Pattern(#[from] PatternError),
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

/// An agent that could not go on. What was said and done so far is recorded; the session can go on.
#[derive(Debug, Error)]
pub enum AgentError {
    /// Memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelFailure),
    /// A reflection was cut short.
    #[error(transparent)]
    Reflect(#[from] crate::ReflectError),
    /// Prompt, tools and what is set aside leave no room for a conversation.
    #[error(
        "a window of {window} tokens is too small: prompt and tools alone need {needed}; offer fewer tools or raise the window"
    )]
    WindowTooSmall {
        /// What there is.
        window: u64,
        /// What is needed at least.
        needed: u64,
    },
}
