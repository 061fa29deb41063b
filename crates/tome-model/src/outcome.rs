//! The effect of work on files, and how commands ended.

use serde::{Deserialize, Serialize};

/// The effect of a tool call on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileAction {
    /// The file is new.
    Created,
    /// The file was edited or written over.
    Changed,
    /// The file was deleted.
    Deleted,
    /// The file was only read.
    Read,
}

impl FileAction {
    /// The word on a page.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
            Self::Read => "read",
        }
    }
}

/// How a command ended, as far as its payload shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandOutcome {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It ran into a time limit.
    TimedOut,
    /// Rejected, interrupted, not run, or not reported.
    Unknown,
}
