//! Errors in the patterns of the user.

use thiserror::Error;

/// Reason why a redactor could not be built.
#[derive(Debug, Error)]
pub enum PatternError {
    /// The name of an own pattern cannot stand in a mark.
    #[error("own pattern {name:?} needs another name: use 1 to 32 of a-z, 0-9 and '-'")]
    Name {
        /// The name as the user wrote it, shortened.
        name: String,
    },
    /// An own pattern is not a regular expression, or too large a one.
    #[error("own pattern {name:?} cannot be used: correct it or remove it")]
    Pattern {
        /// Name of the pattern.
        name: String,
        /// The error of the regex compiler.
        source: Box<regex::Error>,
    },
    /// An own pattern is longer than anybody needs.
    #[error("own pattern {name:?} has {bytes} bytes: keep it under {bytes_max}")]
    TooLong {
        /// Name of the pattern.
        name: String,
        /// Its length in bytes.
        bytes: usize,
        /// The longest length allowed.
        bytes_max: usize,
    },
    /// There are more own patterns than a hook can afford to compile.
    #[error("{count} own patterns are too many: keep at most {count_max}")]
    TooMany {
        /// Number of patterns.
        count: usize,
        /// The highest number allowed.
        count_max: usize,
    },
}
