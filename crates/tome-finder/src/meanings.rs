//! The index of vectors.

use std::path::Path;
use std::sync::Arc;

use crate::{Batch, Embedder, Filter, FinderError, Found};

/// An index of vectors in a folder.
pub struct Meanings {}

impl Meanings {
    /// Opens an index. One that was made with another embedder is damaged.
    pub fn open(_folder: &Path, _embedder: Arc<dyn Embedder>) -> Result<Self, FinderError> {
        todo!()
    }
    /// Makes an empty one, in place of whatever is in the folder.
    pub fn make(_folder: &Path, _embedder: Arc<dyn Embedder>) -> Result<Self, FinderError> {
        todo!()
    }
    /// How far it has come; empty at first.
    pub fn cursor(&self) -> String {
        todo!()
    }
    /// Embeds and writes. Whole or not at all.
    pub fn write(&self, _batch: Batch) -> Result<(), FinderError> {
        todo!()
    }
    /// What lies nearest, with the cosine as score.
    pub fn search(
        &self,
        _text: &str,
        _filter: &Filter,
        _limit: usize,
    ) -> Result<Vec<Found>, FinderError> {
        todo!()
    }
    /// Whether its files are still there as it left them.
    pub fn is_whole(&self) -> bool {
        todo!()
    }
}
