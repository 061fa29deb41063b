//! Search indexes for recall. Each may be missing, behind or deleted at any time and can be rebuilt
//! from the ledger and the notebooks.
//!
//! This crate does not depend on the ledger or the notebooks: it stores [`IndexEntry`] values and
//! returns those that match, [`Bm25Index`] by keywords and [`VectorIndex`] by the similarity of
//! vectors from an [`Embedder`].

mod bm25;
mod cores;
mod embed;
mod entry;
mod error;
mod files;
mod filter;
mod query_terms;
mod vectors;

pub use bm25::{BM25_B, BM25_K1, Bm25Index, Bm25Query};
pub use cores::available_cores;
pub use embed::{DeepEmbedder, EmbedError, Embedder, StaticEmbedder};
pub use entry::{ByteRange, EntryKey, IndexBatch, IndexEntry, IndexHit, IndexMeta, RecordKind};
pub use error::FinderError;
pub use filter::{EntryFilter, RecordMeta};
pub use query_terms::{QUESTION_MARKS, QueryTerms};
pub use vectors::{QueryVector, VectorIndex};
