//! Elsewhere: which other projects have what this one has not.
//!
//! Every project has a store of its own, and opening one takes its time. Those written to last are asked
//! first, one after the other, for as long as somebody may be kept waiting who did not ask for them;
//! how many were left out is said.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::gather::Gathered;
use super::keeper::Desk;
use super::plan::{HITS_MAX, Plan};
use super::{Across, Elsewhere, Recall, RecallAnswer, RecallQuestion};

/// Projects that are named.
const NAMED_MAX: usize = 8;
/// How long others are asked.
const PATIENCE: Duration = Duration::from_millis(500);
/// And how many of them at most: each is held open meanwhile.
const ASKED_MAX: usize = 32;

impl Recall {
    /// Says in an answer without hits which other projects have some. What goes wrong there is no
    /// part of the answer.
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
        // Whoever goes through all stores just now may take long: then the others are left out.
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
            answer.unread.push(format!("{left} other projects: look across all of them"));
        }
    }

    /// The desks of the other projects, those written to last first.
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

/// How many hits each other project has, the one with the best first.
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
