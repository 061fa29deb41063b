//! Errors of a home.

use std::path::{Path, PathBuf};

use thiserror::Error;
use tome_ledger::LedgerError;
use tome_model::InvalidInput;
use tome_notebook::NotebookError;

/// A failure that the caller can act on.
#[derive(Debug, Error)]
pub enum HomeError {
    /// The input is invalid.
    #[error(transparent)]
    Invalid(#[from] InvalidInput),
    /// The ledger failed.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The notebook failed.
    #[error(transparent)]
    Notebook(#[from] NotebookError),
    /// A summarizer failed. The crate that runs it knows the type of the cause.
    #[error("cannot summarize events: {0}")]
    Summary(Box<dyn std::error::Error + Send + Sync>),
    /// A projection left something out; everything else is done.
    #[error("cannot write a {what}: {problem}")]
    Incomplete {
        /// Which part is missing.
        what: &'static str,
        /// Why.
        problem: String,
    },
    /// A search index failed. Its content is rebuilt from the events.
    #[error("an index cannot be used: {0}")]
    Index(Box<dyn std::error::Error + Send + Sync>),
    /// A file or folder could not be read or written.
    #[error("cannot {action} {path}: {cause}", path = path.display())]
    File {
        /// The action that failed: read, write, create …
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        cause: std::io::Error,
    },
    /// A store that must be closed is in use.
    #[error("{path} is in use; try again in a moment", path = .0.display())]
    InUse(PathBuf),
    /// No such event, project or session.
    #[error("{0}")]
    NotFound(String),
    /// An id prefix that several events share.
    #[error("{prefix} matches several ids ({}): use a longer prefix", some.join(", "))]
    Ambiguous {
        /// The prefix of the query.
        prefix: String,
        /// Some of the matching ids.
        some: Vec<String>,
    },
    /// The ledger's writer thread has ended because the daemon is shutting down.
    #[error("the ledger was closed before it answered; try again")]
    Closed,
}

impl HomeError {
    /// Whether the input is at fault, so that a retry is pointless.
    pub fn is_callers_fault(&self) -> bool {
        matches!(self, Self::Invalid(_) | Self::Ledger(LedgerError::Rejected { .. }))
    }

    /// Returns the message with those of all causes, on one line.
    pub fn explained(&self) -> String {
        explain(self)
    }

    /// Returns a function that wraps an I/O error on `path`, for `map_err`.
    pub fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::File { action, path, cause }
    }
}

/// An error with all its causes, in one line. A cause that the message already contains is left out.
pub fn explain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(deeper) = cause {
        let more = deeper.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = deeper.source();
    }
    text
}
