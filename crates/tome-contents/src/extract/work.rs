//! A piece of work in one line: what it was about and what came out of it.

use std::cmp::Reverse;

use tome_model::{Fact, FactKind, Millis, Work};

use super::draft_fact::QUESTION_END;
use super::facts::OUTCOME_WEIGHT_MIN;
use super::similarity::is_similar;
use super::title::weigh_session_title;

/// The title of a piece of work: the one that the list of sessions shows.
pub fn find_work_title(work: &Work) -> Option<&Fact> {
    work.facts_of(FactKind::Title).min_by_key(|fact| rank_title(fact))
}

/// The weightiest outcome of a piece of work, without the request if that repeats the title.
pub fn find_work_outcome(work: &Work) -> Option<(&Fact, &str)> {
    let outcomes = work.facts_of(FactKind::Outcome);
    let outcomes = outcomes.filter(|fact| fact.weight >= OUTCOME_WEIGHT_MIN);
    let outcome = outcomes.max_by_key(|fact| (fact.weight, fact.at))?;
    let title = find_work_title(work).map_or("", |title| title.text.as_str());
    let text = match outcome.text.split_once(QUESTION_END) {
        Some((request, answer)) if is_similar(request, title) => answer,
        _ => outcome.text.as_str(),
    };
    Some((outcome, text)).filter(|_| !is_similar(text, title))
}

/// The rank of a title among those of its work, the best one lowest. Of equals, the first is the better
/// one.
pub(super) fn rank_title(fact: &Fact) -> (Reverse<u32>, Millis) {
    (Reverse(weigh_session_title(fact.weight)), fact.at)
}
