//! Queries that name a time and nothing else (`yesterday`, `what did we do last week`): lists the
//! segments of that time, newest first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use std::time::Instant;

use tome_finder::{Found, Key, Part, Source};
use tome_ledger::Ledger;
use tome_model::{Millis, NodeId};
use tome_text::{StopClass, is_stop_word};

use super::asked::{Asked, OpenDesk};
use super::candidate::Candidate;
use super::gather::Gathered;
use super::keeper::{Desk, DeskOf, Keeper, Page};
use super::plan::Plan;
use super::rank::Ranked;
use super::{Across, Tier};
use crate::RecallError;

/// Maximum number of segments per project.
const STRETCHES_MAX: usize = 200;

/// Returns whether a query, without its time phrase, asks for nothing specific.
pub(super) fn asks_what_happened(text: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'');
    words.all(|word| {
        let says_nothing_else = StopClass::FUNCTION | StopClass::ACTIVITY;
        word.is_empty() || is_stop_word(&word.to_lowercase(), says_nothing_else)
    })
}

impl Gathered {
    /// Collects the segments of an index set within the time span.
    pub(super) fn ask_then(
        &mut self,
        keeper: &Keeper,
        plan: &Plan,
        desk: &Arc<Desk>,
        project: Option<&str>,
    ) -> Result<(), RecallError> {
        let Some(path) = &desk.ledger else { return Ok(()) };
        let since = Instant::now();
        let ledger = keeper.stores.open(path)?;
        let number = self.asked.len();
        let projects = match project {
            Some(project) if desk.of == DeskOf::Unified && plan.across != Across::All => {
                vec![project.to_owned()]
            }
            _ => ledger.contents_projects()?,
        };
        let mut count = 0;
        for project in projects {
            for (at, id) in stretches(&ledger, &project, plan)? {
                count += 1;
                let page = Page::Node { project: project.clone(), id };
                self.add(Candidate::of(
                    number,
                    &Found {
                        key: Key::Named(page.name()),
                        part: Part::default(),
                        source: Source::Node,
                        at,
                        line: 0,
                        score: 0.0,
                    },
                ));
            }
        }
        let held = OpenDesk { ledger: Some(ledger), meanings: None };
        self.asked.push(Asked {
            desk: Arc::clone(desk),
            held: Some(held).filter(|_| !self.is_wide),
            question: None,
        });
        self.tier = Some(Tier::Literal);
        self.stage("contents", since, format!("{count} segments"));
        Ok(())
    }

    /// Sorts the segments, newest first.
    pub(super) fn newest_first(
        mut self,
        keeper: &Keeper,
        plan: &Plan,
    ) -> Result<(Vec<Ranked>, Self), RecallError> {
        self.read(keeper)?;
        let mut candidates = std::mem::take(&mut self.candidates);
        candidates.retain(|candidate| candidate.body.as_ref().is_some_and(|it| plan.has(it)));
        candidates.sort_by_key(|candidate| Reverse((candidate.at, candidate.key.clone())));
        let place = |(rank, candidate): (u32, Candidate)| Ranked {
            candidate,
            score: 1.0 / f64::from(rank),
            coverage: 1.0,
            cosine: None,
            best: Part::default(),
            ranks: Vec::new(),
        };
        let ranked = (1..).zip(candidates).map(place).collect();
        Ok((ranked, self))
    }
}

/// Lists the newest segments that overlap the time span.
fn stretches(
    ledger: &Ledger,
    project: &str,
    plan: &Plan,
) -> Result<Vec<(Millis, NodeId)>, RecallError> {
    let (from, to) = plan.span.unwrap_or((Millis(0), Millis(u64::MAX)));
    let from = plan.filter.since.map_or(from, |since| from.max(since));
    let to = plan.filter.until.map_or(to, |until| to.min(until));
    let mut kept = BinaryHeap::new();
    for head in ledger.heads(project, "toc:segment:", None) {
        let head = head?;
        if head.removed || head.last_at < from || head.first_at >= to {
            continue;
        }
        kept.push(Reverse((head.first_at, head.id)));
        if kept.len() > STRETCHES_MAX {
            kept.pop();
        }
    }
    Ok(kept.into_iter().map(|Reverse(one)| one).collect())
}

#[cfg(test)]
mod tests {
    use super::asks_what_happened;

    #[test]
    fn only_what_says_nothing_else_asks_what_happened() {
        for text in ["", "what did we do", "What happened?", "what have I been working on", "so…"]
        {
            assert!(asks_what_happened(text), "{text}");
        }
        for text in ["what did we decide", "the lexer", "deploy", "работа"] {
            assert!(!asks_what_happened(text), "{text}");
        }
    }
}
