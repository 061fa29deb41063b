//! Index sets that a query searched, and how many of them stay open.
//!
//! An open store takes about ten file descriptors and its vector indexes six more, so a query over
//! two hundred projects cannot keep all of them open until its answer is ready. If a query covers
//! more than [`OPEN_SETS_MAX`] index sets, stores are not opened where their indexes are complete, and then
//! only for the few candidates whose text is read.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tome_finder::{Bm25Index, FinderError, QueryTerms, QueryVector, VectorIndex};

use super::fuse::round_score;
use super::indexer::{AnsweringIndex, IndexPair, IndexSet, Indexer};
use super::plan::RecallPlan;
use crate::RecallError;
use tome_home::Store;

/// Maximum number of index sets that stay open until the answer is ready.
pub(super) const OPEN_SETS_MAX: usize = 4;

/// The same for a query over more sets, of those whose texts are read.
const KEPT_OPEN_MAX: usize = 16;

/// The open indexes of a pair.
pub(super) struct OpenIndexes {
    pub bm25: Option<Arc<Bm25Index>>,
    pub vectors: Option<Arc<VectorIndex>>,
    pub deep: Option<Arc<VectorIndex>>,
    /// Why vectors of an earlier embedder cannot answer.
    pub unavailable: Option<String>,
}

impl OpenIndexes {
    /// Opens the indexes of a pair that exist and can answer a query.
    pub(super) fn open(pair: &IndexPair, indexer: &Indexer, query: &str) -> Self {
        let bm25 = pair.open_bm25();
        let AnsweringIndex { index: vectors, unavailable } =
            indexer.open_answering_vectors(pair, query);
        let deep = indexer.open_answering_deep(pair, vectors.as_deref(), query);
        Self { bm25, vectors, deep, unavailable }
    }
}

/// The query as the vector indexes of a pair embedded it.
#[derive(Default)]
pub(super) struct QueryVectors {
    pub vectors: Option<QueryVector>,
    pub deep: Option<QueryVector>,
}

/// An index set that was searched.
pub(super) struct SearchedIndexSet {
    set: Arc<IndexSet>,
    /// Stays open until the answer is ready. Empty until it is needed, if the query is wide.
    kept_open: OnceLock<OpenIndexSet>,
    /// How many sets of the query were opened to stay open. Beyond a limit they are opened again each
    /// time, because file descriptors may be few.
    kept_count: Arc<AtomicUsize>,
    query: Arc<str>,
    /// The query embedded for the vector indexes of events that were searched.
    pub query_vectors: QueryVectors,
}

/// The open parts of an index set that reading and ranking need.
#[derive(Clone)]
pub(super) struct OpenIndexSet {
    pub ledger: Option<Store>,
    /// Vector index of events, for their lines and similarity.
    pub vectors: Option<Arc<VectorIndex>>,
    /// Deep vectors of events.
    pub deep: Option<Arc<VectorIndex>>,
}

impl SearchedIndexSet {
    /// The index set, opened again if it was closed.
    pub(super) fn open(&self, indexer: &Indexer) -> Result<OpenIndexSet, RecallError> {
        if let Some(held) = self.kept_open.get() {
            return Ok(held.clone());
        }
        let ledger = self.set.ledger.as_ref().map(|path| indexer.stores.open(path)).transpose()?;
        let QueryVectors { vectors, deep } = &self.query_vectors;
        let mut open = OpenIndexSet { ledger, vectors: None, deep: None };
        if vectors.is_some() || deep.is_some() {
            let indexes = indexer.with_open_set(&self.set, |index_set| {
                OpenIndexes::open(&index_set.events, indexer, &self.query)
            });
            (open.vectors, open.deep) = (indexes.vectors, indexes.deep);
        }
        let has_descriptors = indexer.stores.index_sets_max() > 0;
        if !has_descriptors || self.kept_count.fetch_add(1, Ordering::Relaxed) >= KEPT_OPEN_MAX {
            return Ok(open);
        }
        Ok(self.kept_open.get_or_init(|| open).clone())
    }
}

/// The index sets that a query searched. A candidate names its set by the position here.
pub(super) struct SearchedIndexSets {
    sets: Vec<SearchedIndexSet>,
    kept_count: Arc<AtomicUsize>,
    query: Arc<str>,
    /// Lowest weight that an embedder whose vectors answer gives to the query's script; 1 without vectors.
    pub script_weight: f32,
    /// Whether the query covers more index sets than may stay open.
    pub is_wide: bool,
    pub stats: TermStats,
}

impl SearchedIndexSets {
    pub(super) fn new(is_wide: bool, query: &str) -> Self {
        Self {
            sets: Vec::new(),
            kept_count: Arc::default(),
            query: query.into(),
            script_weight: 1.0,
            is_wide,
            stats: TermStats::default(),
        }
    }

    /// Adds an index set and returns its position. It stays open unless the query is wide.
    pub(super) fn add(&mut self, set: &Arc<IndexSet>, open: OpenIndexSet) -> usize {
        let weight = open.vectors.as_ref().map(|vectors| vectors.script_weight(&self.query));
        self.script_weight = self.script_weight.min(weight.unwrap_or(1.0));
        self.sets.push(SearchedIndexSet {
            query: Arc::clone(&self.query),
            set: Arc::clone(set),
            kept_open: if self.is_wide { OnceLock::new() } else { OnceLock::from(open) },
            kept_count: Arc::clone(&self.kept_count),
            query_vectors: QueryVectors::default(),
        });
        self.sets.len() - 1
    }

    pub(super) fn get(&self, set_index: usize) -> Option<&SearchedIndexSet> {
        self.sets.get(set_index)
    }

    pub(super) fn set_query_vectors(&mut self, set_index: usize, vectors: QueryVectors) {
        if let Some(set) = self.sets.get_mut(set_index) {
            set.query_vectors = vectors;
        }
    }

    /// Releases the ledger of a set that has no candidates.
    pub(super) fn release_ledger(&mut self, set_index: usize) {
        let open = self.sets.get_mut(set_index).and_then(|set| set.kept_open.get_mut());
        if let Some(open) = open {
            open.ledger = None;
        }
    }
}

/// Number of stores whose events were searched by vectors, and of those without vectors yet.
#[derive(Default)]
pub(super) struct VectorCoverage {
    with: usize,
    without: usize,
}

impl VectorCoverage {
    pub(super) fn count_store(&mut self, has_vectors: bool) {
        if has_vectors {
            self.with += 1;
        } else {
            self.without += 1;
        }
    }

    /// Returns whether all stores have vectors, or none. If only some have, their events would
    /// unfairly rank above better ones from the others.
    pub(super) fn is_uniform(&self) -> bool {
        self.with == 0 || self.without == 0
    }
}

/// Statistics of the query's terms from the BM25 indexes that were searched. Keeping them here
/// allows closing the indexes before ranking.
#[derive(Default)]
pub(super) struct TermStats {
    /// Number of BM25 indexes searched.
    pub indexes: usize,
    /// Number of entries in all of them.
    entries: u64,
    /// Total length of their texts, in terms.
    length: f64,
    /// Number of entries with each stem.
    frequencies: HashMap<String, u64>,
    /// Character pairs that occur in some text.
    known_pairs: HashSet<String>,
}

/// A query as all index sets share it: the terms whose statistics the ranking needs, and its vector for
/// each deep embedder. Static vectors depend on the index.
pub(super) struct SharedQuery {
    stems: HashSet<String>,
    letters: HashSet<String>,
    deep: Mutex<Vec<QueryVector>>,
}

impl SharedQuery {
    pub(super) fn from_plan(plan: &RecallPlan) -> Self {
        let stems = std::cell::RefCell::new(HashSet::new());
        let query_terms = QueryTerms::new(&plan.text);
        query_terms.term_weights(|stem| {
            stems.borrow_mut().insert(stem.to_owned());
            1.0
        });
        plan.matcher.clone().set_weights(|term| {
            stems.borrow_mut().extend(tome_text::stemmed_terms(term));
            1.0
        });
        let letters =
            (0..query_terms.len()).filter_map(|n| query_terms.character_pair(n).map(str::to_owned));
        Self { letters: letters.collect(), stems: stems.into_inner(), deep: Mutex::default() }
    }
}

impl SharedQuery {
    /// Embeds the query with the deep embedder, once for all indexes.
    pub(super) fn embed_deep(
        &self,
        index: &VectorIndex,
        text: &str,
    ) -> Result<QueryVector, FinderError> {
        let lock = || self.deep.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().iter().find(|known| known.is_for(index)) {
            return Ok(known.clone());
        }
        let vector = index.embed_query(text)?;
        lock().push(vector.clone());
        Ok(vector)
    }
}

impl TermStats {
    /// Reads the statistics of one index.
    pub(super) fn from_index(terms: &SharedQuery, words: &Bm25Index) -> Self {
        let frequency =
            |stem: &String| (stem.clone(), words.doc_frequency(stem).unwrap_or_default());
        let is_known = |letters: &&String| words.has_term(letters).unwrap_or(true);
        Self {
            indexes: 1,
            entries: words.entry_count(),
            length: f64::from(words.average_length()) * words.entry_count() as f64,
            frequencies: terms.stems.iter().map(frequency).collect(),
            known_pairs: terms.letters.iter().filter(is_known).cloned().collect(),
        }
    }

    /// Adds the statistics of another index.
    pub(super) fn add(&mut self, other: Self) {
        self.indexes += other.indexes;
        self.entries += other.entries;
        self.length += other.length;
        for (stem, frequency) in other.frequencies {
            *self.frequencies.entry(stem).or_default() += frequency;
        }
        self.known_pairs.extend(other.known_pairs);
    }

    /// IDF of a stem, as if all indexes were one, so that the same text scores the same in every
    /// project; 1 if no index was searched.
    pub(super) fn idf(&self, stem: &str) -> f32 {
        let Some(frequency) = self.frequencies.get(stem) else { return 1.0 };
        let without = self.entries.saturating_sub(*frequency) as f32;
        (1.0 + (without + 0.5) / (*frequency as f32 + 0.5)).ln()
    }

    /// Average length of a text, in terms.
    pub(super) fn average_length(&self) -> Option<f32> {
        (self.entries > 0).then(|| round_score(self.length / self.entries as f64))
    }

    /// Returns whether a character pair occurs in some text, or no index was searched.
    pub(super) fn has_character_pair(&self, letters: &str) -> bool {
        self.indexes == 0 || self.known_pairs.contains(letters)
    }
}
