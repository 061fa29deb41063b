//! The levels of the table of contents.

use serde::{Deserialize, Serialize};

/// The level of a node in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A calendar year.
    Year,
    /// A calendar month.
    Month,
    /// An ISO week.
    Week,
    /// A day.
    Day,
    /// A part of one session on one day.
    Segment,
}
