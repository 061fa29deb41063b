//! What can be wrong with the user's own patterns.

use thiserror::Error;

/// Why a redactor could not be made.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The name of an own pattern cannot stand in a mark.
    #[error("own pattern {name:?} needs another name: use 1 to 32 of a-z, 0-9 and '-'")]
    Name {
        /// The name as the user wrote it, shortened.
        name: String,
    },
    /// An own pattern is not a regular expression, or too large a one.
    #[error("own pattern {name:?} cannot be used: correct it or remove it")]
    Pattern {
        /// Which one.
        name: String,
        /// What the regex compiler says.
        source: Box<regex::Error>,
    },
    /// An own pattern is longer than anybody needs.
    #[error("own pattern {name:?} has {bytes} bytes: keep it under {bytes_max}")]
    TooLong {
        /// Which one.
        name: String,
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        bytes_max: usize,
    },
    /// There are more own patterns than a hook can afford to compile.
    #[error("{count} own patterns are too many: keep at most {count_max}")]
    TooMany {
        /// How many there are.
        count: usize,
        /// How many there may be.
        count_max: usize,
    },
}
