//! Index sets that a query searched, and how many of them stay open.
//!
//! An open store takes about ten file descriptors and its vector indexes six more, so a query over
//! two hundred projects cannot keep all of them open until its answer is ready. If a query covers
//! more than [`OPEN_SETS_MAX`] index sets, each is closed after the search and reopened for the few
//! candidates whose text is read.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use tome_finder::{Bearing, Meanings, Question, Words};

use super::keeper::{Desk, Keeper};
use super::plan::Plan;
use crate::RecallError;
use tome_home::Store;

/// Maximum number of index sets that stay open until the answer is ready.
pub(super) const HELD_MAX: usize = 4;

/// An index set that was searched.
pub(super) struct Asked {
    pub desk: Arc<Desk>,
    /// Stays open until the answer is ready; `None` if it is reopened when needed.
    pub held: Option<OpenDesk>,
    /// The query embedded for the vector index of events, if that was searched.
    pub question: Option<Bearing>,
}

/// The open parts of an index set that reading and ranking need.
#[derive(Clone)]
pub(super) struct OpenDesk {
    pub ledger: Option<Store>,
    /// Vector index of events, for their lines and similarity.
    pub meanings: Option<Arc<Meanings>>,
}

impl Asked {
    /// The index set, opened again if it was closed.
    pub(super) fn open(&self, keeper: &Keeper) -> Result<OpenDesk, RecallError> {
        if let Some(held) = &self.held {
            return Ok(held.clone());
        }
        let ledger = self.desk.ledger.as_ref().map(|path| keeper.stores.open(path)).transpose()?;
        let meanings = match &self.question {
            Some(_) => keeper.look(&self.desk, |desk| desk.events.look(&keeper.embedder).1),
            None => None,
        };
        Ok(OpenDesk { ledger, meanings })
    }
}

/// Statistics of the query's terms from the BM25 indexes that were searched. Keeping them here
/// allows closing the indexes before ranking.
#[derive(Default)]
pub(super) struct TermStats {
    /// Number of BM25 indexes searched.
    pub indexes: usize,
    /// Largest average text length of an index, in terms.
    pub usual_length: f32,
    /// Lowest IDF of each stem over all indexes; an index without the stem would report a
    /// meaningless maximum.
    idf: HashMap<String, f32>,
    /// Character pairs that occur in some text.
    known: HashSet<String>,
    wanted: Option<Wanted>,
}

/// Terms whose statistics the ranking needs.
struct Wanted {
    stems: HashSet<String>,
    letters: HashSet<String>,
}

impl Wanted {
    fn of(plan: &Plan) -> Self {
        let stems = std::cell::RefCell::new(HashSet::new());
        let question = Question::new(&plan.text);
        question.weights(|stem| {
            stems.borrow_mut().insert(stem.to_owned());
            1.0
        });
        plan.needle.clone().weigh(|term| {
            stems.borrow_mut().extend(tome_text::stemmed_terms(term));
            1.0
        });
        let letters = (0..question.len()).filter_map(|n| question.letters(n).map(str::to_owned));
        Self { letters: letters.collect(), stems: stems.into_inner() }
    }
}

impl TermStats {
    /// Adds the statistics of an index.
    pub(super) fn add(&mut self, plan: &Plan, words: &Words) {
        self.indexes += 1;
        self.usual_length = self.usual_length.max(words.usual_length());
        let wanted = self.wanted.get_or_insert_with(|| Wanted::of(plan));
        for stem in &wanted.stems {
            let Ok(idf) = words.idf(stem) else { continue };
            let lowest = self.idf.entry(stem.clone()).or_insert(idf);
            *lowest = lowest.min(idf);
        }
        for letters in &wanted.letters {
            if words.has(letters).unwrap_or(true) {
                self.known.insert(letters.clone());
            }
        }
    }

    /// The lowest IDF of a stem over all indexes; 1 if no index was searched.
    pub(super) fn idf(&self, stem: &str) -> f32 {
        self.idf.get(stem).copied().unwrap_or(1.0)
    }

    /// Returns whether a character pair occurs in some text, or no index was searched.
    pub(super) fn knows(&self, letters: &str) -> bool {
        self.indexes == 0 || self.known.contains(letters)
    }
}
