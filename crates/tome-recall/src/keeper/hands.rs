//! Writes to the indexes of a pair: to both together with a local embedder, to each separately with
//! a remote one, so that BM25 never waits for vectors.

use std::collections::HashSet;
use std::sync::Arc;

use tome_finder::{Batch, FinderError, Meanings, Words};

use super::desk::Pair;
use super::files::stamp;
use super::follow::number;
use super::pages::Page;
use crate::RecallError;

/// The indexes that an update writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    Both,
    Words,
    Meanings,
}

impl Pass {
    pub(super) fn has_words(self) -> bool {
        self != Self::Meanings
    }

    pub(super) fn has_meanings(self) -> bool {
        self != Self::Words
    }
}

/// Stamps of the files in the indexes.
pub(super) struct FilesHad {
    pub by_all: HashSet<String>,
    /// Files missing from one of the indexes: they are written to both again, or removed.
    pub by_some: HashSet<String>,
}

pub(super) struct Hands {
    words: Option<Arc<Words>>,
    meanings: Option<Arc<Meanings>>,
}

impl Hands {
    /// Those of a pass. One that was deleted just now is missing; the next visit makes it.
    pub(super) fn of(pair: &Pair, pass: Pass) -> Result<Self, RecallError> {
        let words = match pass.has_words().then(|| pair.words.get()) {
            Some(None) => return Err(FinderError::Missing(pair.words.folder.clone()).into()),
            words => words.flatten(),
        };
        let meanings = match pass.has_meanings().then(|| pair.meanings.get()) {
            Some(None) => return Err(FinderError::Missing(pair.meanings.folder.clone()).into()),
            meanings => meanings.flatten(),
        };
        Ok(Self { words, meanings })
    }

    pub(super) fn words(&self) -> Option<&Arc<Words>> {
        self.words.as_ref()
    }

    pub(super) fn meanings(&self) -> Option<&Arc<Meanings>> {
        self.meanings.as_ref()
    }

    fn cursors(&self) -> impl Iterator<Item = String> {
        let words = self.words.as_ref().map(|words| words.cursor());
        let meanings = self.meanings.as_ref().map(|meanings| meanings.cursor());
        words.into_iter().chain(meanings)
    }

    /// Cursor of the index that is furthest behind.
    pub(super) fn least(&self) -> String {
        self.cursors().min_by_key(|cursor| number(cursor)).unwrap_or_default()
    }

    /// Cursor of the index that is ahead, if one is. The one behind stops there, so that both
    /// continue together.
    pub(super) fn meet_at(&self) -> Option<u64> {
        let most = self.cursors().map(|cursor| number(&cursor)).max()?;
        (most > number(&self.least())).then_some(most)
    }

    /// Returns the writers whose cursor equals `from`.
    pub(super) fn at(&self, from: u64) -> Self {
        Self {
            words: self.words.clone().filter(|words| number(&words.cursor()) == from),
            meanings: self.meanings.clone().filter(|it| number(&it.cursor()) == from),
        }
    }

    pub(super) fn write(&self, batch: Batch) -> Result<(), FinderError> {
        match (&self.words, &self.meanings) {
            (Some(words), Some(meanings)) => {
                meanings.write_batch(&batch)?;
                words.write(batch)
            }
            (Some(words), None) => words.write(batch),
            (None, Some(meanings)) => meanings.write(batch),
            (None, None) => Ok(()),
        }
    }

    /// Writes to all of them without advancing their cursors.
    pub(super) fn write_in_place(&self, batch: Batch) -> Result<(), FinderError> {
        match (&self.words, &self.meanings) {
            (Some(words), Some(meanings)) => {
                let batch = Batch { cursor: meanings.cursor(), ..batch };
                meanings.write_batch(&batch)?;
                words.write(Batch { cursor: words.cursor(), ..batch })
            }
            (Some(words), None) => words.write(Batch { cursor: words.cursor(), ..batch }),
            (None, Some(meanings)) => meanings.write(Batch { cursor: meanings.cursor(), ..batch }),
            (None, None) => Ok(()),
        }
    }

    /// Compares the files in the indexes.
    pub(super) fn files(&self) -> Result<FilesHad, FinderError> {
        let files = |named: Vec<(String, tome_model::Millis)>| -> HashSet<String> {
            let is_file = |name: &str| Page::parse(name).is_none_or(|page| page.is_file());
            let files = named.into_iter().filter(|(name, _)| is_file(name));
            files.map(|(name, at)| stamp(&name, at)).collect()
        };
        let words = self.words.as_ref().map(|words| words.named()).transpose()?.map(files);
        let meanings = self.meanings.as_ref().map(|meanings| files(meanings.named()));
        Ok(match (words, meanings) {
            (Some(words), Some(meanings)) => FilesHad {
                by_all: words.intersection(&meanings).cloned().collect(),
                by_some: words.symmetric_difference(&meanings).cloned().collect(),
            },
            (one, other) => {
                FilesHad { by_all: one.or(other).unwrap_or_default(), by_some: HashSet::new() }
            }
        })
    }
}
