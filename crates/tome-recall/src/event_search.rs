//! Searches the events of one index set: its indexes, and the events that they have not read yet.

use std::time::Instant;

use tome_finder::{Bm25Index, EntryFilter};
use tome_ledger::Ledger;

use super::Tier;
use super::candidate_pool::{CandidatePool, IndexSetSearch};
use super::index_query::{IndexQuery, PairReplies};
use super::indexer::{IndexSet, Indexer, parse_cursor};
use super::literal;
use super::searched_index_set::OpenIndexes;
use crate::RecallError;

/// Maximum lag, in events, of an index that is still used: the missing events have to be scanned
/// one by one.
const NEARLY_COMPLETE_LAG_MAX: u64 = 2_000;

/// Search over events. The cursors are read before the search, because events indexed meanwhile are
/// not in its results.
pub(super) struct EventSearch {
    last: u64,
    bm25_cursor: u64,
    vectors_cursor: u64,
    /// Why vectors of an earlier embedder cannot answer.
    unavailable: Option<String>,
    pub query: IndexQuery,
}

impl EventSearch {
    pub(super) fn prepare(
        search: &IndexSetSearch<'_>,
        last: u64,
        OpenIndexes { bm25: words, vectors: vector_index, deep, unavailable }: OpenIndexes,
    ) -> Self {
        let bm25_cursor = words.as_ref().map_or(0, |words| parse_cursor(&words.cursor()));
        let vectors_cursor = vector_index.as_ref().map_or(0, |index| parse_cursor(&index.cursor()));
        let is_usable = |at: u64| is_nearly_complete(at, last);
        let index_query = IndexQuery {
            bm25: words.filter(|_| is_usable(bm25_cursor) && search.plan.wants_tier(Tier::Bm25)),
            vectors: vector_index
                .filter(|_| is_usable(vectors_cursor) && search.plan.wants_tier(Tier::Vectors)),
            deep: deep.filter(|_| search.plan.wants_tier(Tier::Vectors)),
            filter: EntryFilter { sources: Vec::new(), ..search.filter.clone() },
            depths: search.plan.effort.event_depths(search.is_wide),
        };
        Self { last, bm25_cursor, vectors_cursor, unavailable, query: index_query }
    }
}

/// Returns whether an index at cursor `at` is worth searching. A newly created one is empty, and
/// its statistics would mislead the ranking.
fn is_nearly_complete(at: u64, last: u64) -> bool {
    at > 0 && last.saturating_sub(at) <= NEARLY_COMPLETE_LAG_MAX
}

pub(super) fn is_bm25_nearly_complete(words: &Bm25Index, last: u64) -> bool {
    is_nearly_complete(parse_cursor(&words.cursor()), last)
}

impl CandidatePool {
    /// Collects what the indexes found. `ledger` is `None` if they have read everything.
    pub(super) fn collect_events(
        &mut self,
        search: &IndexSetSearch<'_>,
        index_set: &IndexSet,
        ledger: Option<&Ledger>,
        events: EventSearch,
        replies: PairReplies,
    ) -> Result<(), RecallError> {
        let EventSearch { last, bm25_cursor, vectors_cursor, unavailable, query: index_query } =
            events;
        let filter = index_query.filter;
        let (has_words, query_vectors) = self.collect_replies(
            search.set_index,
            &index_set.events,
            index_query.deep.as_deref(),
            replies,
        );
        let has_vectors = query_vectors.vectors.is_some();
        self.sets.set_query_vectors(search.set_index, query_vectors);
        self.report.record_tier(has_words, has_vectors);
        if search.plan.wants_tier(Tier::Vectors) {
            self.vectors.count_store(has_vectors);
        }
        // Scan what the index has not read, or everything.
        let from = if has_words {
            bm25_cursor
        } else if has_vectors {
            vectors_cursor
        } else {
            0
        };
        let alone = matches!(search.plan.tier, Some(Tier::Bm25 | Tier::Vectors)) && from > 0;
        let slowest = if has_words && has_vectors { bm25_cursor.min(vectors_cursor) } else { from };
        self.report.record_behind(if from > 0 { last.saturating_sub(slowest) } else { 0 });
        if search.plan.wants_tier(Tier::Vectors) {
            let missing = last.saturating_sub(vectors_cursor);
            self.record_missing_vectors(search.indexer, index_set, missing, unavailable);
        }
        if let Some(ledger) = ledger
            && (from == 0 || (last > from && !alone))
        {
            self.report.record_behind(last - bm25_cursor.max(vectors_cursor).min(last));
            let since = Instant::now();
            let stop = || search.plan.effort.is_scan_over(since);
            let scan_query = search.scan_query(&filter, &stop);
            let scan = literal::scan_events(ledger, from, scan_query)?;
            let what = format!("{} events scanned", scan.scanned);
            self.add_scan(search.set_index, scan, "events");
            self.report.record_stage("literal: events", since, what);
        }
        Ok(())
    }

    /// Records how many events have no vector that answers, and why. Local vectors come in a moment,
    /// unless they replace those of an embedder that is gone.
    fn record_missing_vectors(
        &mut self,
        indexer: &Indexer,
        index_set: &IndexSet,
        missing: u64,
        unavailable: Option<String>,
    ) {
        if missing == 0 || !(indexer.embedder.is_remote() || unavailable.is_some()) {
            return;
        }
        self.report.record_behind(missing);
        let problem = index_set.lock_problems().vectors.clone().or_else(|| {
            let new = indexer.embedder.name();
            unavailable.map(|problem| format!("{problem}; {new} is computing new ones"))
        });
        self.report.record_missing_vectors(missing, problem);
    }
}
