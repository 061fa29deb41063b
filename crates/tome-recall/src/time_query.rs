//! Queries that name a time and nothing else (`yesterday`, `what did we do last week`): lists the
//! pages of that time, newest first: of the months and days within it, and the segments of the rest.

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
const DAYS_HOURS_MAX: u64 = 9 * 24 + 1;

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

/// A listed page: its id, and the times of its first and last event.
struct TimedPage {
    id: NodeId,
    first_at: Millis,
    last_at: Millis,
}

/// Lists the newest pages of the time span: the months and days that lie within it, and the segments of the rest.
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
    let has_periods = filter.session.is_none() && filter.agents.is_empty();
    let is_within = |page: &TimedPage| page.first_at >= from && page.last_at < to;
    let mut listed: Vec<TimedPage> = Vec::new();
    for (prefix, hours_min) in [("toc:month:", DAYS_HOURS_MAX), ("toc:day:", DAY_HOURS_MIN)] {
        if has_periods && hours >= hours_min {
            let found = list_level(ledger, project, prefix, |page| {
                is_within(page) && !is_listed(&listed, page)
            })?;
            listed.extend(found);
        }
    }
    let rest = list_level(ledger, project, "toc:segment:", |page| {
        page.first_at < to && page.last_at >= from && !is_listed(&listed, page)
    })?;
    listed.extend(rest);
    Ok(listed.into_iter().map(|page| (page.last_at, page.id)).collect())
}

/// Whether a page is part of a listed one.
fn is_listed(listed: &[TimedPage], page: &TimedPage) -> bool {
    listed.iter().any(|one| one.first_at <= page.first_at && page.first_at <= one.last_at)
}

/// Lists the newest pages of a level that fulfil a condition.
fn list_level(
    ledger: &Ledger,
    project: &str,
    prefix: &str,
    is_wanted: impl Fn(&TimedPage) -> bool,
) -> Result<Vec<TimedPage>, RecallError> {
    let mut kept = BinaryHeap::new();
    for head in ledger.node_headers(project, prefix, None) {
        let head = head?;
        let page = TimedPage { id: head.id, first_at: head.first_at, last_at: head.last_at };
        if head.removed || !is_wanted(&page) {
            continue;
        }
        kept.push(Reverse((page.first_at, page.last_at, page.id)));
        if kept.len() > PAGES_MAX {
            kept.pop();
        }
    }
    let pages = kept.into_iter().map(|Reverse((first_at, last_at, id))| TimedPage {
        id,
        first_at,
        last_at,
    });
    Ok(pages.collect())
}
