//! Queries that name a time and nothing else (`yesterday`, `what did we do last week`): lists the
//! pages of that time, newest first: of its months, days or segments, depending on its length.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::Instant;

use tome_finder::{ByteRange, EntryFilter, EntryKey, IndexHit, RecordKind};
use tome_ledger::Ledger;
use tome_model::{Millis, NodeId};

use super::candidate::RecallCandidate;
use super::candidate_pool::CandidatePool;
use super::confidence::Confidence;
use super::indexer::{IndexOwner, IndexSet, Indexer, PageKey};
use super::plan::RecallPlan;
use super::rank::RankedCandidate;
use super::searched_index_set::OpenIndexSet;
use super::{Across, Tier};
use crate::RecallError;

/// Maximum number of pages per project.
const PAGES_MAX: usize = 200;
const HOUR_MS: u64 = 3_600_000;
/// Shorter spans are parts of a day. A day can have 23 hours.
const DAY_HOURS_MIN: u64 = 23;
/// Longer spans are answered by months.
const DAYS_HOURS_MAX: u64 = 9 * 24;

impl CandidatePool {
    /// Collects the pages of an index set within the time span.
    pub(super) fn collect_pages_of_time(
        &mut self,
        indexer: &Indexer,
        plan: &RecallPlan,
        index_set: &Arc<IndexSet>,
        project: Option<&str>,
    ) -> Result<(), RecallError> {
        let Some(path) = &index_set.ledger else { return Ok(()) };
        let since = Instant::now();
        let ledger = indexer.stores.open(path)?;
        let projects = match project {
            Some(project)
                if index_set.owner == IndexOwner::Unified && plan.filter.across != Across::All =>
            {
                vec![project.to_owned()]
            }
            _ => ledger.contents_projects()?,
        };
        let open = OpenIndexSet { ledger: Some(ledger.clone()), vectors: None, deep: None };
        let number = self.sets.add(index_set, open);
        let mut count = 0;
        for project in projects {
            for (at, id) in list_pages(&ledger, &project, plan)? {
                count += 1;
                let page = PageKey::Node { project: project.clone(), id };
                self.candidates.add(RecallCandidate::from_hit(
                    number,
                    &IndexHit {
                        key: EntryKey::Named(page.name()),
                        range: ByteRange::default(),
                        source: RecordKind::Node,
                        at,
                        line: 0,
                        score: 0.0,
                    },
                ));
            }
        }
        self.report.tier = Some(Tier::Literal);
        self.report.record_stage("contents", since, format!("{count} pages"));
        Ok(())
    }

    /// Sorts the pages, newest first.
    pub(super) fn sort_newest_first(
        mut self,
        indexer: &Indexer,
        plan: &RecallPlan,
    ) -> Result<(Vec<RankedCandidate>, Self), RecallError> {
        self.read_all(indexer)?;
        let mut candidates = std::mem::take(&mut self.candidates.list);
        // A page only has to overlap the time, which was checked when it was listed.
        let filter = EntryFilter { from: None, to: None, ..plan.entry_filter.clone() };
        candidates.retain(|one| one.meta().is_some_and(|meta| filter.admits(&meta)));
        candidates.sort_by_key(|candidate| Reverse((candidate.at, candidate.key.clone())));
        let to_ranked = |(rank, candidate): (u32, RecallCandidate)| RankedCandidate {
            candidate,
            score: 1.0 / f64::from(rank),
            coverage: 1.0,
            similarity: None,
            bm25_share: 1.0,
            // Exactly what was asked for.
            confidence: Confidence::Strong,
            best_range: ByteRange::default(),
            ranks: Vec::new(),
        };
        let ranked = (1..).zip(candidates).map(to_ranked).collect();
        Ok((ranked, self))
    }
}

/// Lists the newest pages of the time span, of the level that fits its length.
fn list_pages(
    ledger: &Ledger,
    project: &str,
    plan: &RecallPlan,
) -> Result<Vec<(Millis, NodeId)>, RecallError> {
    let (from, to) = plan.span.unwrap_or((Millis(0), Millis(u64::MAX)));
    let from = plan.filter.from.map_or(from, |bound| from.max(bound));
    let to = plan.filter.to.map_or(to, |bound| to.min(bound));
    let hours = to.0.saturating_sub(from.0) / HOUR_MS;
    let filter = &plan.entry_filter;
    // Only segments know their session and agent.
    if hours < DAY_HOURS_MIN || filter.session.is_some() || !filter.agents.is_empty() {
        return list_level(ledger, project, "toc:segment:", |first, last| {
            first < to && last >= from
        });
    }
    if hours > DAYS_HOURS_MAX {
        let months =
            list_level(ledger, project, "toc:month:", |first, last| first >= from && last < to)?;
        if !months.is_empty() {
            return Ok(months);
        }
    }
    list_level(ledger, project, "toc:day:", |first, last| first < to && last >= from)
}

/// Lists the newest pages of a level whose first and last event are in the time span.
fn list_level(
    ledger: &Ledger,
    project: &str,
    prefix: &str,
    is_within: impl Fn(Millis, Millis) -> bool,
) -> Result<Vec<(Millis, NodeId)>, RecallError> {
    let mut kept = BinaryHeap::new();
    for head in ledger.node_headers(project, prefix, None) {
        let head = head?;
        if head.removed || !is_within(head.first_at, head.last_at) {
            continue;
        }
        kept.push(Reverse((head.first_at, head.id)));
        if kept.len() > PAGES_MAX {
            kept.pop();
        }
    }
    Ok(kept.into_iter().map(|Reverse(one)| one).collect())
}
