//! Counts hits in other projects when the current one has none.
//!
//! Each project has its own store, and opening one takes time. Recently written stores are searched
//! first, one by one, within a time limit, because the user did not ask for them. The answer states
//! how many were skipped.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::candidate_pool::CandidatePool;
use super::indexer::IndexSet;
use super::plan::{HITS_MAX, RecallPlan};
use super::searched_index_set::SharedQuery;
use super::{
    Across, Confidence, OtherProjectHits, Recall, RecallAnswer, RecallLimits, RecallQuery,
};

/// Maximum number of projects to name.
const NAMED_MAX: usize = 8;
/// Time limit for searching other projects.
const SEARCH_TIME_MAX: Duration = Duration::from_millis(500);
/// Share of the query's words that a weak hit has at least to be counted.
const COVERAGE_MIN: f32 = 0.5;
/// Maximum number of projects to search; each stays open meanwhile.
const SEARCHED_MAX: usize = 32;

impl Recall {
    /// Adds to an answer without hits which other projects have some. Errors in those are ignored.
    pub(super) fn count_other_projects(&self, query: &RecallQuery, answer: &mut RecallAnswer) {
        let mut query = query.clone();
        query.filter.across = Across::All;
        query.limits = RecallLimits { hits: HITS_MAX, ..RecallLimits::default() };
        let Ok(plan) = RecallPlan::from_query(&query, &*self.clock, self.contents.zone()) else {
            return;
        };
        let began = Instant::now();
        let others = self.other_project_sets(query.filter.project.as_deref());
        let mut pool = CandidatePool::new(true, &plan);
        // A query over all stores may hold this for long; skip the other projects then.
        let wide_scan = self.indexer.stores.try_lock_wide_scan();
        let shared = SharedQuery::from_plan(&plan);
        let mut searched = 0;
        for index_set in others.iter().take(SEARCHED_MAX) {
            if began.elapsed() > SEARCH_TIME_MAX || wide_scan.is_none() {
                break;
            }
            searched += 1;
            let target = (Arc::clone(index_set), None);
            let _ = self.collect_from_set(&mut pool, &plan, &shared, &target);
        }
        if let Ok(found) = self.build_answer(&query, &plan, pool) {
            answer.other_projects = count_hits_by_project(&found, query.filter.project.as_deref());
        }
        let left = others.len() - searched;
        if left > 0 && answer.other_projects.is_empty() {
            answer
                .unread
                .push(format!("{left} other projects: search all projects to include them"));
        }
    }

    /// Index sets of the other projects, most recently written first.
    fn other_project_sets(&self, here: Option<&str>) -> Vec<Arc<IndexSet>> {
        let paths = self.indexer.stores.list_paths();
        let positions: HashMap<&PathBuf, usize> = paths.iter().zip(0..).collect();
        let mut index_sets = self.indexer.all_sets();
        index_sets.retain(|index_set| !index_set.is_project(here));
        index_sets.sort_by_key(|index_set| {
            index_set
                .ledger
                .as_ref()
                .and_then(|ledger| positions.get(ledger))
                .copied()
                .unwrap_or(usize::MAX)
        });
        index_sets
    }
}

/// Counts hits per project, in order of each project's best hit.
fn count_hits_by_project(found: &RecallAnswer, here: Option<&str>) -> Vec<OtherProjectHits> {
    let mut counts: Vec<OtherProjectHits> = Vec::new();
    for hit in &found.hits {
        // The best hits of unrelated projects are no reason to look there.
        let is_good = hit.confidence > Confidence::Weak || hit.coverage >= COVERAGE_MIN;
        if !is_good || hit.project.is_empty() || Some(hit.project.as_str()) == here {
            continue;
        }
        match counts.iter_mut().find(|one| one.project == hit.project) {
            Some(one) => one.hits += 1,
            None => counts.push(OtherProjectHits { project: hit.project.clone(), hits: 1 }),
        }
    }
    counts.truncate(NAMED_MAX);
    counts
}
