//! Writes to the indexes of a pair: to both together with a local embedder, to each separately with
//! a remote one, so that BM25 never waits for vectors.

use std::collections::HashSet;
use std::sync::Arc;

use tome_finder::{Bm25Index, FinderError, IndexBatch, VectorIndex};

use super::index_set::{IndexPair, UpdatePass};
use super::index_slot::parse_cursor;
use super::indexable_file::stamp;
use super::pages::PageKey;
use crate::RecallError;

/// Stamps of the files in the indexes.
pub(super) struct IndexedFiles {
    pub in_all: HashSet<String>,
    /// Files missing from one of the indexes: they are written to both again, or removed.
    pub in_some: HashSet<String>,
}

pub(super) struct IndexWriters {
    bm25: Option<Arc<Bm25Index>>,
    vectors: Option<Arc<VectorIndex>>,
}

impl IndexWriters {
    /// Opens the writers of a pass. Fails if an index was just deleted; the next update recreates it.
    pub(super) fn open(pair: &IndexPair, pass: UpdatePass) -> Result<Self, RecallError> {
        let words = match pass.has_bm25().then(|| pair.bm25.get()) {
            Some(None) => return Err(FinderError::Missing(pair.bm25.folder.clone()).into()),
            words => words.flatten(),
        };
        let vector_index = match pass.has_vectors().then(|| pair.vectors.get()) {
            Some(None) => return Err(FinderError::Missing(pair.vectors.folder().clone()).into()),
            vector_index => vector_index.flatten(),
        };
        if pass == UpdatePass::Deep {
            let missing = || FinderError::Missing(pair.deep.folder().clone());
            return Ok(Self { bm25: None, vectors: Some(pair.deep.get().ok_or_else(missing)?) });
        }
        Ok(Self { bm25: words, vectors: vector_index })
    }

    pub(super) fn bm25(&self) -> Option<&Arc<Bm25Index>> {
        self.bm25.as_ref()
    }

    pub(super) fn vectors(&self) -> Option<&Arc<VectorIndex>> {
        self.vectors.as_ref()
    }

    fn cursors(&self) -> impl Iterator<Item = String> {
        let words = self.bm25.as_ref().map(|words| words.cursor());
        let vector_index = self.vectors.as_ref().map(|vector_index| vector_index.cursor());
        words.into_iter().chain(vector_index)
    }

    /// Cursor of the index that is furthest behind.
    pub(super) fn min_cursor(&self) -> String {
        self.cursors().min_by_key(|cursor| parse_cursor(cursor)).unwrap_or_default()
    }

    /// Cursor of the index that is ahead, if one is. The one behind stops there, so that both
    /// continue together.
    pub(super) fn leading_cursor(&self) -> Option<u64> {
        let most = self.cursors().map(|cursor| parse_cursor(&cursor)).max()?;
        (most > parse_cursor(&self.min_cursor())).then_some(most)
    }

    /// Returns the writers whose cursor equals `from`.
    pub(super) fn at_cursor(&self, from: u64) -> Self {
        Self {
            bm25: self.bm25.clone().filter(|words| parse_cursor(&words.cursor()) == from),
            vectors: self.vectors.clone().filter(|it| parse_cursor(&it.cursor()) == from),
        }
    }

    pub(super) fn write(&self, batch: IndexBatch) -> Result<(), FinderError> {
        match (&self.bm25, &self.vectors) {
            (Some(words), Some(vector_index)) => {
                vector_index.write_batch(&batch)?;
                words.write(batch)
            }
            (Some(words), None) => words.write(batch),
            (None, Some(vector_index)) => vector_index.write(batch),
            (None, None) => Ok(()),
        }
    }

    /// Writes to all of them without advancing their cursors.
    pub(super) fn write_keeping_cursors(&self, batch: IndexBatch) -> Result<(), FinderError> {
        match (&self.bm25, &self.vectors) {
            (Some(words), Some(vector_index)) => {
                let batch = IndexBatch { cursor: vector_index.cursor(), ..batch };
                vector_index.write_batch(&batch)?;
                words.write(IndexBatch { cursor: words.cursor(), ..batch })
            }
            (Some(words), None) => words.write(IndexBatch { cursor: words.cursor(), ..batch }),
            (None, Some(vector_index)) => {
                vector_index.write(IndexBatch { cursor: vector_index.cursor(), ..batch })
            }
            (None, None) => Ok(()),
        }
    }

    /// Compares the files in the indexes.
    pub(super) fn list_files(&self) -> Result<IndexedFiles, FinderError> {
        let files = |named: Vec<(String, tome_model::Millis)>| -> HashSet<String> {
            let is_file = |name: &str| PageKey::parse(name).is_none_or(|page| page.is_file());
            let files = named.into_iter().filter(|(name, _)| is_file(name));
            files.map(|(name, at)| stamp(&name, at)).collect()
        };
        let words = self.bm25.as_ref().map(|words| words.list_named()).transpose()?.map(files);
        let vector_index =
            self.vectors.as_ref().map(|vector_index| files(vector_index.list_named()));
        Ok(match (words, vector_index) {
            (Some(words), Some(vector_index)) => IndexedFiles {
                in_all: words.intersection(&vector_index).cloned().collect(),
                in_some: words.symmetric_difference(&vector_index).cloned().collect(),
            },
            (one, other) => {
                IndexedFiles { in_all: one.or(other).unwrap_or_default(), in_some: HashSet::new() }
            }
        })
    }
}
