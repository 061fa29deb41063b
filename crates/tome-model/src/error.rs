//! What can be wrong with a value that comes from outside.

use thiserror::Error;

/// A value from outside that Tome does not take, and what it takes instead.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelError {
    /// A required field is missing or empty.
    #[error("{field} is missing")]
    Missing {
        /// The field's name as the user writes it.
        field: &'static str,
    },
    /// A field holds something that cannot be taken.
    #[error("{field} {problem}")]
    Invalid {
        /// The field's name as the user writes it.
        field: &'static str,
        /// What is wrong and what is accepted.
        problem: String,
    },
}

impl ModelError {
    /// A field that holds something that cannot be taken.
    pub fn invalid(field: &'static str, problem: impl Into<String>) -> Self {
        Self::Invalid { field, problem: problem.into() }
    }
}
