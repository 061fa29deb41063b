//! Questions that got no answer. Their words are those of the query, but they say nothing.

use tome_model::EventKind;

use super::Recall;
use super::candidate::{SourceKind, source_kind};
use super::candidate_pool::CandidatePool;
use super::rank::RankedCandidate;
use super::repeated_prompts::find_answer;
use super::turn_traits::only_asks;
use crate::RecallError;

/// Best candidates among which questions and statements are compared.
const CANDIDATES_MAX: usize = 30;
/// Questions whose answers are looked up.
const LOOKUPS_MAX: usize = 6;

impl Recall {
    /// Moves questions without an answer below the statements that have as many words of the query.
    pub(super) fn demote_unanswered_questions(
        &self,
        pool: &CandidatePool,
        ranked: &mut [RankedCandidate],
    ) -> Result<(), RecallError> {
        let (mut at, mut looked_up) = (0, 0);
        let len = ranked.len().min(CANDIDATES_MAX);
        while let Some((question, after)) = ranked.get(at..len).and_then(<[_]>::split_first) {
            let is_match = |other: &RankedCandidate| {
                is_statement(other) && other.coverage >= question.coverage
            };
            let below = after.iter().rposition(is_match).filter(|_| is_question(question));
            let Some(below) = below.filter(|_| looked_up < LOOKUPS_MAX) else {
                at += 1;
                continue;
            };
            looked_up += 1;
            if self.is_answered(question, pool)? {
                at += 1;
                continue;
            }
            let last = at + 1 + below;
            let score = ranked.get(last).map_or(0.0, |statement| statement.score);
            if let Some(moved) = ranked.get_mut(at..=last) {
                moved.rotate_left(1);
            }
            if let Some(question) = ranked.get_mut(last) {
                question.score = score;
            }
        }
        Ok(())
    }

    fn is_answered(
        &self,
        question: &RankedCandidate,
        pool: &CandidatePool,
    ) -> Result<bool, RecallError> {
        let Some(set) = pool.sets.get(question.candidate.set_index) else { return Ok(true) };
        let Some(ledger) = set.open(&self.indexer)?.ledger else { return Ok(true) };
        Ok(find_answer(&ledger, &question.candidate)?.is_some())
    }
}

fn is_question(one: &RankedCandidate) -> bool {
    one.candidate.body.as_ref().is_some_and(|body| {
        body.kind == EventKind::UserMessage.as_str()
            && body.order_key().is_some()
            && only_asks(&body.text)
    })
}

/// Whether a candidate is a message or a note that states something.
pub(super) fn is_statement(one: &RankedCandidate) -> bool {
    one.candidate.body.as_ref().is_some_and(|body| {
        source_kind(one.candidate.source) != SourceKind::Contents
            && body.tool.is_none()
            && !only_asks(&body.text)
    })
}
