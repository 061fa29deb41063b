//! Collects candidates from every usable tier, one index set at a time.
//!
//! An index is used if it is intact and nearly up to date. Records that it has not read yet are
//! scanned directly; without an index, all records are.

use std::sync::Arc;
use std::time::Instant;

use tome_finder::{EntryFilter, EntryKey};
use tome_ledger::Ledger;
use tome_model::{EventId, SessionId};

use super::Across;
use super::candidate::RecallCandidate;
use super::candidate_pool::{CandidatePool, SetSearch};
use super::event_search::{EventSearch, is_bm25_nearly_complete};
use super::index_query;
use super::indexer::{IndexOwner, IndexSet, Indexer};
use super::literal::{self, TranscriptOwner};
use super::page_search::PageSearch;
use super::plan::RecallPlan;
use super::proactive::select_rarest_words;
use super::searched_set::{OpenIndexSet, OpenIndexes};
use crate::RecallError;

/// Longer transcripts are not scanned for foreign lines.
const FOREIGN_BYTES_MAX: u64 = 4 << 20;

impl CandidatePool {
    /// Collects candidates from one index set. Does not open its store if that is `fully_indexed`,
    /// with this number of events.
    pub(super) fn search_set(
        &mut self,
        indexer: &Indexer,
        plan: &RecallPlan,
        index_set: &Arc<IndexSet>,
        project: Option<&str>,
        fully_indexed: Option<u64>,
    ) -> Result<(), RecallError> {
        let path = index_set.ledger.as_ref().filter(|_| fully_indexed.is_none());
        let ledger = path.map(|path| indexer.stores.open(path)).transpose()?;
        let mut filter = plan.entry_filter.clone();
        if index_set.owner == IndexOwner::Unified && plan.filter.across != Across::All {
            filter.project = project.map(str::to_owned);
        }
        let (of_events, of_pages) = indexer.with_open_set(index_set, |index_set| {
            (
                OpenIndexes::open(&index_set.events, indexer),
                OpenIndexes::open(&index_set.pages, indexer),
            )
        });
        let last = ledger.as_ref().map_or(fully_indexed.unwrap_or(0), |ledger| ledger.last_seq());
        let complete = of_events.bm25.clone().filter(|words| is_bm25_nearly_complete(words, last));
        if let Some(words) = &complete {
            self.sets.stats.add_index(plan, words);
        }
        let held = OpenIndexSet {
            ledger: ledger.clone(),
            vectors: of_events.vectors.clone(),
            deep: of_events.deep.clone(),
        };
        let number = self.sets.add(index_set, held);
        let search = SetSearch { indexer, plan, set_index: number, filter };
        let events = (plan.filter.includes_events() && last > 0)
            .then(|| EventSearch::prepare(&search, ledger.as_deref(), last, of_events));
        let pages = (!plan.filter.page_sources().is_empty())
            .then(|| PageSearch::prepare(&search, index_set, ledger.as_deref(), of_pages));
        let index_queries =
            [events.as_ref().map(|events| &events.query), pages.as_ref().map(|pages| &pages.query)];
        let rarest = complete
            .filter(|_| !plan.effort.is_full())
            .map(|words| select_rarest_words(&plan.text, &words));
        let words = rarest.as_deref().unwrap_or(&plan.text);
        let [of_events, of_pages] = index_query::search_pairs(&plan.text, words, index_queries);
        if let Some(events) = events {
            self.collect_events(&search, index_set, events, of_events)?;
        }
        let looks_around = plan.filter.includes_events() && plan.effort.is_full();
        if let (Some(ledger), Some(project), true) = (&ledger, project, looks_around) {
            self.scan_foreign_lines(&search, ledger, project)?;
        }
        if let Some(pages) = pages {
            self.collect_pages(search, index_set, ledger.as_deref(), pages, of_pages)?;
        }
        // Of hundreds of stores searched, few have any candidates.
        if !self.candidates.has_any_of(number) {
            self.sets.release_ledger(number);
        }
        Ok(())
    }

    /// Scans the session's `messages.jsonl` for lines that are not events of the ledger, because
    /// someone else wrote them.
    fn scan_foreign_lines(
        &mut self,
        search: &SetSearch<'_>,
        ledger: &Ledger,
        project: &str,
    ) -> Result<(), RecallError> {
        let Some(session) = &search.plan.session else { return Ok(()) };
        let path = search.indexer.transcripts.file_path(project, &SessionId::parse(&session.id)?);
        if !std::fs::metadata(&path).is_ok_and(|meta| meta.len() <= FOREIGN_BYTES_MAX) {
            return Ok(());
        }
        let since = Instant::now();
        let stop = || search.plan.effort.is_scan_over(since);
        let filter = EntryFilter { session: None, ..search.filter.clone() };
        let scan_query = search.scan_query(&filter, &stop);
        let owner = TranscriptOwner { project, session: &session.id };
        for seen in literal::scan_messages(&path, owner, scan_query)?.matches {
            let is_known = match &seen.key {
                EntryKey::Named(id) => {
                    EventId::parse(id).is_ok_and(|id| matches!(ledger.position(&id), Ok(Some(_))))
                }
                EntryKey::Event(_) => true,
            };
            if !is_known {
                self.candidates.add(RecallCandidate::from_foreign_line(
                    search.set_index,
                    &seen,
                    &session.folder,
                ));
            }
        }
        Ok(())
    }
}
