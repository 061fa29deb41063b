//! What can go wrong with an index. None of it loses anything: an index is made again.

use std::path::PathBuf;

/// Why an index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FinderError {
    /// There is none yet.
    #[error("{path}: there is no index", path = .0.display())]
    Missing(PathBuf),
    /// It is not whole, was made in another way, or is not an index at all.
    #[error("{path}: {problem}", path = .path.display())]
    Damaged {
        /// Where.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The disk, or the index's own works.
    #[error("{path}: {problem}", path = .path.display())]
    Failed {
        /// Where.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The embedder could not make vectors.
    #[error(transparent)]
    Embed(#[from] crate::EmbedError),
}
