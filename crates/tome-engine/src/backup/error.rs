//! Errors of backups.

use thiserror::Error;
use tome_home::HomeError;

/// A backup cannot be written, read or restored.
#[derive(Debug, Error)]
pub enum BackupError {
    /// The file is not a backup.
    #[error("this is not a backup of Tome")]
    NotABackup,
    /// A later version of Tome wrote the backup.
    #[error("the backup has format {0}, and this version of Tome reads format 1: update Tome")]
    Newer(u64),
    /// The file ends before the backup does.
    #[error("the backup is incomplete: it ends after block {0}")]
    Truncated(u64),
    /// A block does not have the bytes that were written.
    #[error("the backup is damaged in block {block}: {problem}")]
    Damaged {
        /// The block's number, from 1.
        block: u64,
        /// The problem.
        problem: String,
    },
    /// A record names a file that no backup holds.
    #[error("the backup names a path that does not belong into a home: {0:?}")]
    Path(String),
    /// Another restore is running.
    #[error("another restore is running in this home; wait until it is done")]
    Busy,
    /// The home is no longer the one that a partial backup was made of.
    #[error("the interrupted backup cannot be continued: {0}")]
    CannotContinue(&'static str),
    /// The home failed.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The receiver of the backup is gone.
    #[error("the backup was interrupted")]
    Interrupted,
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl BackupError {
    /// Whether the file is at fault.
    pub fn is_bad_file(&self) -> bool {
        matches!(
            self,
            Self::NotABackup
                | Self::Newer(_)
                | Self::Truncated(_)
                | Self::Damaged { .. }
                | Self::Path(_)
        )
    }
}
