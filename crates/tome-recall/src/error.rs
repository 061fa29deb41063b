//! The error of this crate.

use thiserror::Error;
use tome_finder::FinderError;
use tome_home::HomeError;
use tome_ledger::LedgerError;
use tome_model::InvalidInput;
use tome_notebook::NotebookError;

/// Why a query could not be answered or an index not be brought up to date.
#[derive(Debug, Error)]
pub enum RecallError {
    /// A store, a notebook or a file of the home.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// An index. Its content is rebuilt from the events.
    #[error("an index cannot be used: {0}")]
    Index(#[from] FinderError),
}

impl RecallError {
    /// The error with all its causes, in one line.
    pub fn explained(&self) -> String {
        tome_home::explain(self)
    }
}

impl From<LedgerError> for RecallError {
    fn from(error: LedgerError) -> Self {
        Self::Home(error.into())
    }
}

impl From<InvalidInput> for RecallError {
    fn from(error: InvalidInput) -> Self {
        Self::Home(error.into())
    }
}

impl From<NotebookError> for RecallError {
    fn from(error: NotebookError) -> Self {
        Self::Home(error.into())
    }
}

impl From<RecallError> for HomeError {
    fn from(error: RecallError) -> Self {
        match error {
            RecallError::Home(error) => error,
            RecallError::Index(error) => Self::Index(Box::new(error)),
        }
    }
}
