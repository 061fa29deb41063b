//! Collects candidates from every usable tier of an index set.
//!
//! An index is used if it is intact and nearly up to date. Records that it has not read yet are
//! scanned directly; without an index, all records are.

use std::time::Instant;

use tome_finder::{EntryFilter, EntryKey};
use tome_ledger::Ledger;
use tome_model::{EventId, SessionId};

use super::candidate::RecallCandidate;
use super::candidate_pool::{CandidatePool, IndexSetSearch};
use super::event_search::{EventSearch, is_bm25_nearly_complete};
use super::index_query::{self, PairReplies};
use super::indexer::{IndexOwner, IndexSet, Indexer, parse_cursor};
use super::literal::{self, TranscriptOwner};
use super::page_search::PageSearch;
use super::plan::RecallPlan;
use super::proactive::select_rarest_words;
use super::searched_index_set::{OpenIndexSet, OpenIndexes, SharedQuery, TermStats};
use super::{Across, TargetIndexSet};
use crate::RecallError;
use tome_home::Store;

/// Longer transcripts are not scanned for foreign lines.
const FOREIGN_SCAN_BYTES_MAX: u64 = 4 << 20;

/// The indexes over a store that is completely indexed, so that a query needs only them.
pub(super) struct CompleteIndexSet {
    last: u64,
    events: OpenIndexes,
    pages: OpenIndexes,
}

impl CompleteIndexSet {
    pub(super) fn open(indexer: &Indexer, index_set: &IndexSet, query: &str) -> Option<Self> {
        let path = index_set.ledger.as_ref()?;
        let (last, last_node) = match indexer.stores.get_open(path) {
            Some(store) => read_last_records(&store)?,
            // The indexes of closed stores are completed when the daemon starts.
            None => (indexer.closed_last_seq(index_set)?, 0),
        };
        let (events, pages) = open_indexes(indexer, index_set, query);
        let has_nodes = |cursor: String| !cursor.is_empty() && parse_cursor(&cursor) >= last_node;
        let has_read_all = parse_cursor(&events.bm25.as_ref()?.cursor()) == last
            && parse_cursor(&events.vectors.as_ref()?.cursor()) == last
            && has_nodes(pages.bm25.as_ref()?.cursor())
            && has_nodes(pages.vectors.as_ref()?.cursor());
        has_read_all.then_some(Self { last, events, pages })
    }
}

/// Numbers of the last event and of the last change to a node of an open store; `None` if it is empty or
/// damaged, or its contents are not complete.
fn read_last_records(store: &Ledger) -> Option<(u64, u64)> {
    let last = store.last_seq();
    let has_contents =
        store.cursor(tome_contents::CONTENTS_PROJECTION).is_ok_and(|done| done == last);
    let is_complete = last > 0 && has_contents && store.damage().is_empty();
    is_complete.then(|| store.last_node_change().ok()).flatten().map(|node| (last, node))
}

fn open_indexes(
    indexer: &Indexer,
    index_set: &IndexSet,
    query: &str,
) -> (OpenIndexes, OpenIndexes) {
    indexer.with_open_set(index_set, |index_set| {
        (
            OpenIndexes::open(&index_set.events, indexer, query),
            OpenIndexes::open(&index_set.pages, indexer, query),
        )
    })
}

/// The replies of the indexes of one index set to a query.
pub(super) struct IndexSetHits {
    ledger: Option<Store>,
    filter: EntryFilter,
    stats: Option<TermStats>,
    open_set: OpenIndexSet,
    events: Option<(EventSearch, PairReplies)>,
    pages: Option<(PageSearch, PairReplies)>,
}

/// Searches the indexes of one set. Does not open its store if it is `complete`; the query covers
/// many sets then, and they are searched in parallel.
pub(super) fn search_index_set(
    indexer: &Indexer,
    plan: &RecallPlan,
    shared: &SharedQuery,
    (index_set, project): &TargetIndexSet,
    complete: Option<CompleteIndexSet>,
) -> Result<IndexSetHits, RecallError> {
    let is_wide = complete.is_some();
    let path = index_set.ledger.as_ref().filter(|_| !is_wide);
    let ledger = path.map(|path| indexer.stores.open(path)).transpose()?;
    let mut filter = plan.entry_filter.clone();
    if index_set.owner == IndexOwner::Unified && plan.filter.across != Across::All {
        filter.project.clone_from(project);
    }
    let (last, event_indexes, page_indexes) = match complete {
        Some(CompleteIndexSet { last, events, pages }) => (last, events, pages),
        None => {
            let (events, pages) = open_indexes(indexer, index_set, &plan.text);
            (ledger.as_ref().map_or(0, |ledger| ledger.last_seq()), events, pages)
        }
    };
    let complete_bm25 =
        event_indexes.bm25.clone().filter(|bm25| is_bm25_nearly_complete(bm25, last));
    // Without events, the notes themselves say which words are rare.
    let has_only_notes = index_set.ledger.is_none() && !plan.filter.includes_events();
    let counted = if has_only_notes { page_indexes.bm25.as_ref() } else { complete_bm25.as_ref() };
    let stats = counted.map(|words| TermStats::from_index(shared, words));
    let open_set = OpenIndexSet {
        ledger: ledger.clone(),
        vectors: event_indexes.vectors.clone(),
        deep: event_indexes.deep.clone(),
    };
    let search = IndexSetSearch { indexer, plan, set_index: 0, filter, is_wide };
    let events = (plan.filter.includes_events() && last > 0)
        .then(|| EventSearch::prepare(&search, last, event_indexes));
    let pages = (!plan.filter.page_sources().is_empty())
        .then(|| PageSearch::prepare(&search, index_set, ledger.as_deref(), page_indexes));
    let index_queries =
        [events.as_ref().map(|events| &events.query), pages.as_ref().map(|pages| &pages.query)];
    let rarest = complete_bm25
        .filter(|_| !plan.effort.is_full())
        .map(|words| select_rarest_words(&plan.text, &words));
    let words = rarest.as_deref().unwrap_or(&plan.text);
    let [event_replies, page_replies] =
        index_query::search_pairs(&plan.text, words, shared, !is_wide, index_queries);
    let filter = search.filter;
    let (events, pages) =
        (events.map(|it| (it, event_replies)), pages.map(|it| (it, page_replies)));
    Ok(IndexSetHits { ledger, filter, stats, open_set, events, pages })
}

impl CandidatePool {
    /// Collects the candidates of one index set.
    pub(super) fn collect_set(
        &mut self,
        indexer: &Indexer,
        plan: &RecallPlan,
        (index_set, project): &TargetIndexSet,
        replies: IndexSetHits,
    ) -> Result<(), RecallError> {
        let IndexSetHits { ledger, filter, stats, open_set, events, pages } = replies;
        if let Some(stats) = stats {
            self.sets.stats.add(stats);
        }
        let set_index = self.sets.add(index_set, open_set);
        let is_wide = self.sets.is_wide;
        let search = IndexSetSearch { indexer, plan, set_index, filter, is_wide };
        if let Some((events, replies)) = events {
            self.collect_events(&search, index_set, ledger.as_deref(), events, replies)?;
        }
        let scans_foreign_lines = plan.filter.includes_events() && plan.effort.is_full();
        if let (Some(ledger), Some(project), true) = (&ledger, project, scans_foreign_lines) {
            self.scan_foreign_lines(&search, ledger, project)?;
        }
        if let Some((pages, replies)) = pages {
            self.collect_pages(search, index_set, ledger.as_deref(), pages, replies)?;
        }
        // Few of hundreds of searched stores have any candidates.
        if !self.candidates.has_any_of(set_index) {
            self.sets.release_ledger(set_index);
        }
        Ok(())
    }

    /// Scans the session's `messages.jsonl` for lines that are not events of the ledger, because
    /// someone else wrote them.
    fn scan_foreign_lines(
        &mut self,
        search: &IndexSetSearch<'_>,
        ledger: &Ledger,
        project: &str,
    ) -> Result<(), RecallError> {
        let Some(session) = &search.plan.session else { return Ok(()) };
        let path = search.indexer.transcripts.file_path(project, &SessionId::parse(&session.id)?);
        if !std::fs::metadata(&path).is_ok_and(|meta| meta.len() <= FOREIGN_SCAN_BYTES_MAX) {
            return Ok(());
        }
        let since = Instant::now();
        let stop = || search.plan.effort.is_scan_over(since);
        let filter = EntryFilter { session: None, ..search.filter.clone() };
        let scan_query = search.scan_query(&filter, &stop);
        let owner = TranscriptOwner { project, session: &session.id };
        for matched in literal::scan_messages(&path, owner, scan_query)?.matches {
            let is_known = match &matched.key {
                EntryKey::Named(id) => {
                    EventId::parse(id).is_ok_and(|id| matches!(ledger.position(&id), Ok(Some(_))))
                }
                EntryKey::Event(_) => true,
            };
            if !is_known {
                self.candidates.add(RecallCandidate::from_foreign_line(
                    search.set_index,
                    &matched,
                    &session.folder,
                ));
            }
        }
        Ok(())
    }
}
