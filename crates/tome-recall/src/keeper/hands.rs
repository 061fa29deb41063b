//! Hands: the indexes of a pair that are written to together. Both at once where the embedder is at
//! hand; each by itself where it is far, so that words never wait for vectors.

use std::collections::HashSet;
use std::sync::Arc;

use tome_finder::{Batch, FinderError, Meanings, Words};

use super::desk::Pair;
use super::files::stamp;
use super::follow::number;
use super::pages::Page;
use crate::RecallError;

/// Which indexes are brought up to date.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    /// Both, entry by entry.
    Both,
    /// Those of words.
    Words,
    /// Those of vectors.
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

/// The stamps of the files that indexes have.
pub(super) struct FilesHad {
    pub by_all: HashSet<String>,
    /// Those that one of them lacks: they are put into all again, or taken out of the other.
    pub by_some: HashSet<String>,
}

/// The indexes that are written to.
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

    /// The BM25 index, if this pass writes to it.
    pub(super) fn words(&self) -> Option<&Arc<Words>> {
        self.words.as_ref()
    }

    /// The index of vectors, if this pass writes to it.
    pub(super) fn meanings(&self) -> Option<&Arc<Meanings>> {
        self.meanings.as_ref()
    }

    fn cursors(&self) -> impl Iterator<Item = String> {
        let words = self.words.as_ref().map(|words| words.cursor());
        let meanings = self.meanings.as_ref().map(|meanings| meanings.cursor());
        words.into_iter().chain(meanings)
    }

    /// The cursor of the one that is furthest behind.
    pub(super) fn least(&self) -> String {
        self.cursors().min_by_key(|cursor| number(cursor)).unwrap_or_default()
    }

    /// How far the other one is, where it is ahead: the one behind goes no further, so that they meet.
    pub(super) fn meet_at(&self) -> Option<u64> {
        let most = self.cursors().map(|cursor| number(&cursor)).max()?;
        (most > number(&self.least())).then_some(most)
    }

    /// Those that have come exactly so far.
    pub(super) fn at(&self, from: u64) -> Self {
        Self {
            words: self.words.clone().filter(|words| number(&words.cursor()) == from),
            meanings: self.meanings.clone().filter(|it| number(&it.cursor()) == from),
        }
    }

    /// Writes to all of them.
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

    /// Writes to all of them without moving their cursors.
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

    /// The files that they have.
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
