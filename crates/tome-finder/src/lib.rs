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

pub use cores::cores;
pub use embed::{EmbedError, Embedder, Potion};
pub use entry::{Batch, Entry, Found, Glance, Key, Part, Source};
pub use error::FinderError;
pub use filter::Filter;
pub use meanings::{Bearing, Meanings};
pub use question::Question;
pub use words::{Words, WordsQuery};
