//! Errors of an index. None of them loses data: an index can always be rebuilt.

use std::path::PathBuf;

/// Reason why an index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FinderError {
    /// The index does not exist yet.
    #[error("{path}: index not found", path = .0.display())]
    Missing(PathBuf),
    /// The files are incomplete, of another format version, or not an index.
    #[error("{path}: {problem}", path = .path.display())]
    Damaged {
        /// File or folder.
        path: PathBuf,
        /// Description.
        problem: String,
    },
    /// An I/O error, or an internal error of the index.
    #[error("{path}: {problem}", path = .path.display())]
    Failed {
        /// File or folder.
        path: PathBuf,
        /// Description.
        problem: String,
    },
    /// The embedder failed.
    #[error(transparent)]
    Embed(#[from] crate::EmbedError),
}
