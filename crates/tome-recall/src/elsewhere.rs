//! Counts hits in other projects when the current one has none.
//!
//! Each project has its own store, and opening one takes time. Recently written stores are searched
//! first, one by one, within a time limit, because the user did not ask for them. The answer states
//! how many were skipped.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::gather::Gathered;
use super::keeper::Desk;
use super::plan::{HITS_MAX, Plan};
use super::{Across, Elsewhere, Recall, RecallAnswer, RecallQuestion};

/// Maximum number of projects to name.
const NAMED_MAX: usize = 8;
/// Time limit for searching other projects.
const PATIENCE: Duration = Duration::from_millis(500);
/// Maximum number of projects to search; each stays open meanwhile.
const ASKED_MAX: usize = 32;

impl Recall {
    /// Adds to an answer without hits which other projects have some. Errors in those are ignored.
    pub(super) fn look_elsewhere(&self, question: &RecallQuestion, answer: &mut RecallAnswer) {
        let question = RecallQuestion {
            across: Across::All,
            limit: HITS_MAX,
            tokens_max: 0,
            ..question.clone()
        };
        let Ok(plan) = Plan::of(&question, &*self.clock, self.calendar.zone()) else { return };
        let began = Instant::now();
        let others = self.others(question.project.as_deref());
        let mut gathered = Gathered::new(true);
        // A query over all stores may hold this for long; skip the other projects then.
        let turn = self.keeper.stores.wide.try_lock();
        let mut asked = 0;
        for desk in others.iter().take(ASKED_MAX) {
            if began.elapsed() > PATIENCE || turn.is_err() {
                break;
            }
            asked += 1;
            let _ = self.ask_desk(&mut gathered, &plan, desk, None, false);
        }
        if let Ok(found) = self.answer(&question, &plan, gathered) {
            answer.elsewhere = counted(&found, question.project.as_deref());
        }
        let left = others.len() - asked;
        if left > 0 && answer.elsewhere.is_empty() {
            answer
                .unread
                .push(format!("{left} other projects: search all projects to include them"));
        }
    }

    /// Index sets of the other projects, most recently written first.
    fn others(&self, here: Option<&str>) -> Vec<Arc<Desk>> {
        let paths = self.keeper.stores.paths();
        let places: HashMap<&PathBuf, usize> = paths.iter().zip(0..).collect();
        let mut desks = self.keeper.all();
        desks.retain(|desk| !desk.is_of(here));
        desks.sort_by_key(|desk| {
            desk.ledger
                .as_ref()
                .and_then(|ledger| places.get(ledger))
                .copied()
                .unwrap_or(usize::MAX)
        });
        desks
    }
}

/// Counts hits per project, in order of each project's best hit.
fn counted(found: &RecallAnswer, here: Option<&str>) -> Vec<Elsewhere> {
    let mut counts: Vec<Elsewhere> = Vec::new();
    for hit in &found.hits {
        if hit.project.is_empty() || Some(hit.project.as_str()) == here {
            continue;
        }
        match counts.iter_mut().find(|one| one.project == hit.project) {
            Some(one) => one.hits += 1,
            None => counts.push(Elsewhere { project: hit.project.clone(), hits: 1 }),
        }
    }
    counts.truncate(NAMED_MAX);
    counts
}
