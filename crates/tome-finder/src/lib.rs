//! The finder: indexes that make recall quick. Each of them may be missing, behind or deleted at any
//! moment: what they hold is made again from the ledger and the notebooks.
//!
//! This crate knows no ledger, no notebook and no question in a person's words. It is given
//! [`Entry`]s, and says which of them match: [`Words`] by their words (BM25), [`Meanings`] by their
//! vectors, which an [`Embedder`] makes.

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
