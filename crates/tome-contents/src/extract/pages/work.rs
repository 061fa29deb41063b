//! A piece of work in one line: its subject and its result.

use std::cmp::Reverse;

use tome_model::{Fact, FactKind, Millis, Work};

use crate::extract::facts::draft_fact::QUESTION_END;
use crate::extract::facts::segment_facts::{DOUBTFUL_WEIGHT, OUTCOME_WEIGHT_MIN};
use crate::extract::language::similarity::is_similar;
use crate::extract::pages::title_weight::{FROM_TASK, is_from_conversation};

/// The title of a piece of work: the one that the list of sessions shows.
pub fn find_work_title(work: &Work) -> Option<&Fact> {
    work.facts_of(FactKind::Title).min_by_key(|fact| rank_title(fact))
}

/// Whether a title names the work itself, as a commit or a plan does, rather than one request of it.
pub fn names_whole_work(title: &Fact) -> bool {
    title.weight >= FROM_TASK && !is_from_conversation(title.weight)
}

/// Whether a result is likely true and useful without the page of its segment.
pub fn stands_alone(outcome: &Fact) -> bool {
    outcome.weight > DOUBTFUL_WEIGHT
}

/// The result in the text of an outcome, without the request before it.
pub fn strip_request(outcome: &str) -> &str {
    match outcome.split_once(QUESTION_END) {
        Some((_, result)) if !result.trim().is_empty() => result,
        _ => outcome,
    }
}

/// The result in the text of an outcome whose request is the title.
pub fn strip_own_request<'f>(title: &str, outcome: &'f str) -> Option<&'f str> {
    let (request, result) = outcome.split_once(QUESTION_END)?;
    (repeats_request(title, request) && !result.trim().is_empty()).then_some(result)
}

/// The weightiest outcome of a piece of work, without the request if that repeats the title.
pub fn find_work_outcome(work: &Work) -> Option<(&Fact, &str)> {
    let outcomes = work.facts_of(FactKind::Outcome);
    let outcomes = outcomes.filter(|fact| fact.weight >= OUTCOME_WEIGHT_MIN);
    let outcome = outcomes.max_by_key(|fact| (fact.weight, fact.at))?;
    let title = find_work_title(work).map_or("", |title| title.text.as_str());
    let text = match outcome.text.split_once(QUESTION_END) {
        Some((request, answer)) if repeats_request(title, request) => answer,
        _ => outcome.text.as_str(),
    };
    Some((outcome, text)).filter(|_| !is_similar(text, title))
}

/// Whether a title is the request of a result, which may be cut.
pub(crate) fn repeats_request(title: &str, request: &str) -> bool {
    let begins = |title: &str, request: &str| {
        let request = request.trim_end_matches('…').replace('`', "");
        !request.is_empty() && title.replace('`', "").starts_with(&request)
    };
    is_similar(request, title) || begins(title, request)
}

/// The rank of a title among those of its work, the best one lowest. Of equals, the first is the better
/// one.
pub(crate) fn rank_title(fact: &Fact) -> (Reverse<u32>, Millis) {
    (Reverse(fact.weight), fact.at)
}
