//! Search indexes for recall. Each may be missing, behind or deleted at any time and can be rebuilt
//! from the ledger and the notebooks.
//!
//! This crate does not depend on the ledger or the notebooks: it stores [`IndexEntry`] values and
//! returns those that match, [`Bm25Index`] by keywords and [`VectorIndex`] by the similarity of
//! vectors from an [`Embedder`].

mod cores;
mod embed;
mod entry;
mod error;
mod files;
mod filter;
mod meanings;
mod question;
mod words;

pub use cores::available_cores;
pub use embed::{EmbedError, Embedder, PotionEmbedder};
pub use entry::{ByteRange, EntryKey, EntrySource, IndexBatch, IndexEntry, IndexHit, IndexMeta};
pub use error::FinderError;
pub use filter::EntryFilter;
pub use meanings::{QueryVector, VectorIndex};
pub use question::QueryTerms;
pub use words::{Bm25Index, Bm25Query};
