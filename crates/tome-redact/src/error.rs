//! Errors in user-defined patterns.

use thiserror::Error;

/// Why a redactor could not be built.
#[derive(Debug, Error)]
pub enum PatternError {
    /// The name cannot be used in a mark.
    #[error("pattern {name:?} has an invalid name: use 1 to 32 of a-z, 0-9 and '-'")]
    Name {
        /// The name as written, shortened.
        name: String,
    },
    /// The pattern is not a valid regular expression, or is too large.
    #[error("pattern {name:?} is not a usable regular expression: correct it or remove it")]
    Pattern {
        /// Name of the pattern.
        name: String,
        /// The regex compiler's error.
        source: Box<regex::Error>,
    },
    /// The pattern is too long.
    #[error("pattern {name:?} has {bytes} bytes: the limit is {bytes_max}")]
    TooLong {
        /// Name of the pattern.
        name: String,
        /// Its length.
        bytes: usize,
        /// The limit.
        bytes_max: usize,
    },
    /// More patterns than a hook can afford to compile.
    #[error("{count} patterns are configured: the limit is {count_max}")]
    TooMany {
        /// Number of patterns.
        count: usize,
        /// The limit.
        count_max: usize,
    },
}
