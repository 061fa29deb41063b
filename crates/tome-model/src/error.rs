//! Validation errors of values from outside.

use thiserror::Error;

/// An invalid value from outside; the message states what is accepted.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InvalidInput {
    /// A required field is missing or empty.
    #[error("{field} is missing")]
    Missing {
        /// The field's name as the user writes it.
        field: &'static str,
    },
    /// A field has an invalid value.
    #[error("{field} {problem}")]
    Invalid {
        /// The field's name as the user writes it.
        field: &'static str,
        /// The problem, and the values that are accepted.
        problem: String,
    },
}

impl InvalidInput {
    /// Creates `Invalid`.
    pub fn invalid(field: &'static str, problem: impl Into<String>) -> Self {
        Self::Invalid { field, problem: problem.into() }
    }
}
