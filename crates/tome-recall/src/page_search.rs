//! Searches the pages of one index set: its indexes, and the pages that they have not read yet.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use tome_finder::{EntryFilter, RecordKind};
use tome_ledger::Ledger;

use super::Tier;
use super::candidate_pool::{CandidatePool, IndexSetSearch};
use super::index_query::{IndexQuery, PairReplies};
use super::indexer::{IndexSet, load_known_files, parse_cursor};
use super::literal;
use super::searched_index_set::OpenIndexes;
use crate::RecallError;

/// Search over pages. Cursor and known files are read before the search.
pub(super) struct PageSearch {
    /// Whether no file has changed since the indexes read all of them.
    has_unchanged_files: bool,
    cursor: Option<u64>,
    known: Option<Arc<HashSet<String>>>,
    /// Files that the vector index covers, if it is updated together with the BM25 index.
    known_in_vectors: Option<Arc<HashSet<String>>>,
    pub query: IndexQuery,
}

impl PageSearch {
    pub(super) fn prepare(
        search: &IndexSetSearch<'_>,
        index_set: &IndexSet,
        ledger: Option<&Ledger>,
        OpenIndexes { bm25, vectors: vector_index, deep, .. }: OpenIndexes,
    ) -> Self {
        let sources = search.plan.filter.page_sources().to_vec();
        let filter = EntryFilter { sources, ..search.filter.clone() };
        // A newly created index of pages has no cursor yet and is empty.
        let has_begun = |cursor: String| ledger.is_none() || !cursor.is_empty();
        let bm25 = bm25.filter(|it| search.plan.wants_tier(Tier::Bm25) && has_begun(it.cursor()));
        let vector_index = vector_index
            .filter(|it| search.plan.wants_tier(Tier::Vectors) && has_begun(it.cursor()));
        let cursor = bm25.as_ref().map(|bm25| {
            // A remote embedder's vectors may lag far behind; BM25 covers those nodes.
            let together = vector_index.iter().filter(|_| !search.indexer.embedder.is_remote());
            let cursors = together.map(|vector_index| parse_cursor(&vector_index.cursor()));
            cursors.fold(parse_cursor(&bm25.cursor()), u64::min)
        });
        let is_full_search = search.plan.effort.is_full();
        let known = bm25.as_ref().filter(|_| is_full_search);
        let known = known.map(|bm25| load_known_files(&index_set.known_in_bm25, bm25));
        let known_in_vectors = vector_index
            .as_ref()
            .filter(|_| is_full_search && !search.indexer.embedder.is_remote());
        let known_in_vectors = known_in_vectors
            .map(|vector_index| load_known_files(&index_set.known_in_vectors, vector_index));
        let has_unchanged_files = search.is_wide
            && is_full_search
            && known.as_ref().zip(known_in_vectors.as_ref()).is_some_and(|(known, covered)| {
                search.indexer.has_unchanged_files(index_set, &[known, covered])
            });
        Self {
            has_unchanged_files,
            cursor,
            known,
            known_in_vectors,
            query: IndexQuery {
                bm25,
                vectors: vector_index,
                deep: deep.filter(|_| search.plan.wants_tier(Tier::Vectors)),
                filter,
                depths: search.plan.effort.page_depths(search.is_wide),
            },
        }
    }
}

impl CandidatePool {
    pub(super) fn collect_pages(
        &mut self,
        mut search: IndexSetSearch<'_>,
        index_set: &IndexSet,
        ledger: Option<&Ledger>,
        pages: PageSearch,
        replies: PairReplies,
    ) -> Result<(), RecallError> {
        let PageSearch { has_unchanged_files, cursor, known, known_in_vectors, query: index_query } =
            pages;
        let filter = index_query.filter;
        search.filter = filter.clone();
        let (has_words, query_vectors) = self.collect_replies(
            search.set_index,
            &index_set.pages,
            index_query.deep.as_deref(),
            replies,
        );
        let has_vectors = query_vectors.vectors.is_some();
        if search.plan.tier.is_some_and(|tier| matches!(tier, Tier::Bm25 | Tier::Vectors)) {
            return Ok(());
        }
        // Proactive queries ignore pages that the index has not read yet.
        let has_all = has_unchanged_files && ledger.is_none() && has_vectors;
        if (has_all || !search.plan.effort.is_full()) && has_words {
            self.report.record_tier(has_words, has_vectors);
            return Ok(());
        }
        let since = Instant::now();
        let mut scanned = 0;
        if let Some(ledger) = ledger
            && !has_words
            && filter.sources.contains(&RecordKind::Node)
        {
            let stop = || search.plan.effort.is_scan_over(since);
            let scan_query = search.scan_query(&filter, &stop);
            let projects = match &filter.project {
                Some(project) => vec![project.clone()],
                None => ledger.contents_projects()?,
            };
            for project in projects {
                let scan = literal::scan_contents(ledger, &project, scan_query)?;
                scanned += scan.scanned;
                self.add_scan(search.set_index, scan, "nodes of the contents");
            }
        } else if let (Some(ledger), Some(cursor)) = (ledger, cursor) {
            scanned += self.scan_changed_nodes(&search, ledger, cursor)?;
        }
        if let Some(ledger) = ledger
            && let Some(first) = ledger.damage().first()
        {
            let path = ledger.path().display();
            self.report.report_unread(format!("damaged parts of {path} ({first})"));
        }
        let stamp = self.sets.is_wide.then(|| search.indexer.files_stamp(index_set)).flatten();
        let (files, problems) = search.indexer.list_readable_files(index_set);
        if let (Some(stamp), Some(known), Some(covered), true) =
            (stamp, &known, &known_in_vectors, problems.is_empty() && has_words && has_vectors)
        {
            index_set.record_files_stamp(stamp, &files, &[known, covered]);
        }
        problems.into_iter().for_each(|problem| self.report.report_unread(problem));
        let nodes = ledger.map_or(Ok(0), Ledger::last_node_change)?;
        if nodes > 0 || !files.is_empty() {
            self.report.record_tier(has_words, has_vectors);
        }
        let known = known.filter(|_| has_words).unwrap_or_default();
        scanned += self.scan_unindexed_files(&search, index_set, &files, &known)?;
        if let Some(covered) = known_in_vectors.filter(|_| has_vectors) {
            let lacking = files.iter().filter(|file| !covered.contains(&file.stamp())).count();
            if lacking > 0 {
                self.report.record_behind(lacking as u64);
                index_set.is_outdated.store(true, Ordering::Relaxed);
            }
        }
        self.report.record_stage("literal: pages", since, format!("{scanned} pages scanned"));
        Ok(())
    }
}
