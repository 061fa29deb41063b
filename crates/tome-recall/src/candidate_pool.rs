//! The candidates of a query, and the replies and scans that they come from.

use std::time::Duration;

use tome_finder::{EntryFilter, EntryKey, FinderError, VectorIndex};

use super::index_query::{IndexReply, PairReplies};
use super::indexer::{IndexPair, Indexer};
use super::literal::{Scan, ScanQuery};
use super::plan::RecallPlan;
use super::search_report::SearchReport;
use super::searched_index_set::{QueryVectors, SearchedIndexSets, VectorCoverage};
use super::unique_candidates::UniqueCandidates;

/// Maximum number of matches of a scan.
const SCAN_MATCHES_MAX: usize = 200;

/// The candidates of a query, and where they come from.
pub(super) struct CandidatePool {
    pub sets: SearchedIndexSets,
    pub candidates: UniqueCandidates,
    pub vectors: VectorCoverage,
    pub report: SearchReport,
}

/// Parameters for searching one index set.
pub(super) struct IndexSetSearch<'a> {
    pub indexer: &'a Indexer,
    pub plan: &'a RecallPlan,
    pub set_index: usize,
    pub filter: EntryFilter,
    /// Whether the query covers many index sets, of which few candidates each are worth reading.
    pub is_wide: bool,
}

impl IndexSetSearch<'_> {
    pub(super) fn scan_query<'q>(
        &'q self,
        filter: &'q EntryFilter,
        stop: &'q (dyn Fn() -> bool + Sync),
    ) -> ScanQuery<'q> {
        ScanQuery { matcher: &self.plan.matcher, filter, limit: SCAN_MATCHES_MAX, stop }
    }
}

impl CandidatePool {
    /// Creates an empty pool. `is_wide`: the query covers more index sets than may stay open.
    pub(super) fn new(is_wide: bool, plan: &RecallPlan) -> Self {
        Self {
            sets: SearchedIndexSets::new(is_wide, &plan.text),
            candidates: UniqueCandidates::default(),
            vectors: VectorCoverage::default(),
            report: SearchReport::default(),
        }
    }

    /// Weight of similarities to the query; see [`tome_finder::Embedder::script_weight`].
    pub(super) fn script_weight(&self, indexer: &Indexer, plan: &RecallPlan) -> f32 {
        indexer.embedder.script_weight(&plan.text).min(self.sets.script_weight)
    }

    /// Adds the matches of a scan, and reports what it left out.
    pub(super) fn add_scan(&mut self, set_index: usize, scan: Scan, what: &str) {
        let unread = &mut self.report.unread;
        if scan.was_stopped {
            unread.push(format!(
                "some {what}: the scan timed out; try again once the index is built"
            ));
        }
        unread.extend(scan.unread);
        self.candidates.add_scan_matches(set_index, &scan.matches);
    }

    /// Collects the results of a pair of indexes. A damaged index is closed, counts as missing, and
    /// is rebuilt later. Returns whether BM25 responded, and the embedded query of the vector indexes
    /// that did.
    pub(super) fn collect_replies(
        &mut self,
        set_index: usize,
        pair: &IndexPair,
        deep: Option<&VectorIndex>,
        replies: PairReplies,
    ) -> (bool, QueryVectors) {
        if let Some((Err(error), _)) = &replies.bm25 {
            pair.bm25.close_failed(error);
        }
        if let Some((Err(error), _)) = &replies.vectors {
            pair.vectors.close_failed(error);
        }
        if let Some((Err(error), _)) = &replies.deep {
            pair.deep.close_failed(error);
        }
        let has_words = self.collect_reply(replies.bm25, |this, found, took| {
            this.report.record_stage_duration("bm25", took, format!("{} chunks", found.len()));
            this.candidates.add_bm25_hits(set_index, &found);
        });
        let mut query_vectors = QueryVectors::default();
        self.collect_reply(replies.deep, |this, (found, query_vector), took| {
            this.report.record_stage_duration("deep", took, format!("{} chunks", found.len()));
            this.candidates.add_vector_hits(set_index, &found);
            query_vectors.deep = Some(query_vector);
        });
        let deep = deep.filter(|_| query_vectors.deep.is_some());
        self.collect_reply(replies.vectors, |this, (found, query_vector), took| {
            this.report.record_stage_duration("vectors", took, format!("{} chunks", found.len()));
            let has_deep = |key: &EntryKey| deep.is_some_and(|deep| deep.contains(key));
            this.candidates.add_static_hits(set_index, &found, has_deep);
            query_vectors.vectors = Some(query_vector);
        });
        (has_words, query_vectors)
    }

    fn collect_reply<T>(
        &mut self,
        reply: Option<IndexReply<T>>,
        add: impl FnOnce(&mut Self, T, Duration),
    ) -> bool {
        match reply {
            Some((Ok(found), took)) => {
                add(self, found, took);
                true
            }
            // Nothing is lost: a lower tier covers it and is reported.
            Some((Err(FinderError::Missing(_) | FinderError::Damaged { .. }), _)) | None => false,
            Some((Err(error), _)) => {
                self.report.report_unread(error.to_string());
                false
            }
        }
    }
}
