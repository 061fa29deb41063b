//! The index of words: BM25.

use std::path::Path;

use crate::{Batch, Filter, FinderError, Found};

/// An index of words in a folder.
pub struct Words {}

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WordsQuery {
    /// The words, as they were said.
    pub text: String,
}

/// The terms of a text, as the index cuts it.
pub fn terms(_text: &str) -> Vec<String> {
    todo!()
}

impl Words {
    /// Opens an index. One that was made in another way is damaged.
    pub fn open(_folder: &Path) -> Result<Self, FinderError> {
        todo!()
    }
    /// Makes an empty one, in place of whatever is in the folder.
    pub fn make(_folder: &Path) -> Result<Self, FinderError> {
        todo!()
    }
    /// How far it has come; empty at first.
    pub fn cursor(&self) -> String {
        todo!()
    }
    /// Writes, syncs, and makes it visible. Whole or not at all.
    pub fn write(&self, _batch: Batch) -> Result<(), FinderError> {
        todo!()
    }
    /// What matches best.
    pub fn search(
        &self,
        _query: &WordsQuery,
        _filter: &Filter,
        _limit: usize,
    ) -> Result<Vec<Found>, FinderError> {
        todo!()
    }
    /// The named things that it has, with the `at` they were put in with.
    pub fn named(&self) -> Result<Vec<(String, tome_model::Millis)>, FinderError> {
        todo!()
    }
    /// Whether its files are still there as it left them.
    pub fn is_whole(&self) -> bool {
        todo!()
    }
}
