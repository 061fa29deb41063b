//! Errors of the engine.

use std::path::{Path, PathBuf};

use thiserror::Error;
use tome_ledger::LedgerError;
use tome_model::ModelError;
use tome_notebook::NotebookError;

/// A failure that the caller can act on.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The input is invalid.
    #[error(transparent)]
    Invalid(#[from] ModelError),
    /// The ledger failed.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// The notebook failed.
    #[error(transparent)]
    Notebook(#[from] NotebookError),
    /// The summarizer failed.
    #[error("cannot write a summary: {0}")]
    Summary(#[from] crate::SummaryError),
    /// An index failed. It is rebuilt from the ledger.
    #[error("an index cannot be used: {0}")]
    Finder(#[from] tome_finder::FinderError),
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

impl EngineError {
    /// Whether the input is at fault, so that a retry is pointless.
    pub fn is_callers_fault(&self) -> bool {
        matches!(self, Self::Invalid(_) | Self::Ledger(LedgerError::Rejected { .. }))
    }

    /// Returns the message with those of all causes, on one line.
    pub fn explained(&self) -> String {
        let mut said = self.to_string();
        let mut cause = std::error::Error::source(self);
        while let Some(deeper) = cause {
            let more = deeper.to_string();
            if !said.contains(&more) {
                said = format!("{said}: {more}");
            }
            cause = deeper.source();
        }
        said
    }

    /// Returns a function that wraps an I/O error on `path`, for `map_err`.
    pub fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::File { action, path, cause }
    }
}
