//! Repeated prompts: an earlier prompt with nearly the same wording is replaced by the answer it got,
//! because the prompt itself is not a useful hit. Without an answer it is dropped; a person, who may look
//! for the prompt itself, gets it last.

use std::collections::HashSet;

use tome_finder::{ByteRange, RecordKind};
use tome_ledger::{EventRange, Ledger, OrderKey};
use tome_model::{Event, EventKind, SessionId};
use tome_text::plain_words;

use super::candidate::{CandidateBody, CandidateRecord, RecallCandidate};
use super::candidate_pool::CandidatePool;
use super::rank::RankedCandidate;
use super::{QueryOrigin, Recall, RecallHit, RecallQuery};
use crate::RecallError;

/// Events read after a prompt to find its answer; longer turns are cut off here.
const TURN_EVENTS_MAX: usize = 200;
/// Repeated prompts whose answers are looked up; further ones are dropped.
const REPEATS_MAX: usize = 6;
/// Share of its words that a repeated prompt has in common with the query.
const SAME_WORDS: (usize, usize) = (5, 6);
/// Shorter prompts are repeated only word for word.
const REPEATED_WORDS_MIN: usize = 6;

impl Recall {
    /// Replaces repetitions of the query by their answers.
    pub(super) fn replace_repeated_prompts(
        &self,
        query: &RecallQuery,
        pool: &CandidatePool,
        ranked: &mut Vec<RankedCandidate>,
    ) -> Result<(), RecallError> {
        let is_person = matches!(query.origin, QueryOrigin::Person);
        let prompts = if is_person {
            LivePrompts::from_texts([&*query.text])
        } else {
            LivePrompts::from_query(query)
        };
        let mut looked_up = 0;
        let (mut kept, mut unanswered) = (Vec::with_capacity(ranked.len()), Vec::new());
        for mut one in std::mem::take(ranked) {
            let is_copy =
                one.candidate.body.as_ref().is_some_and(|body| prompts.is_repeated_prompt(body));
            if is_copy {
                looked_up += 1;
                let searched_set = pool.sets.get(one.candidate.set_index);
                let answer = match searched_set.filter(|_| looked_up <= REPEATS_MAX) {
                    Some(searched_set) => match searched_set.open(&self.indexer)?.ledger {
                        Some(ledger) => find_answer(&ledger, &one.candidate)?,
                        None => None,
                    },
                    None => None,
                };
                let Some((order_key, event)) = answer else {
                    unanswered.extend(is_person.then_some(one));
                    continue;
                };
                if is_person {
                    // Its answer is shown with it.
                    kept.push(one);
                    continue;
                }
                let answer =
                    RecallCandidate::from_event(one.candidate.set_index, order_key, &event);
                one.candidate = answer;
                one.best_range = ByteRange::default();
            }
            kept.push(one);
        }
        let last_score = kept.last().map_or(0.0, |one| one.score);
        kept.extend(unanswered.into_iter().map(|one| RankedCandidate { score: last_score, ..one }));
        // The answer may also be a hit of its own.
        let mut seen = HashSet::new();
        kept.retain(|one| {
            one.candidate.source != RecordKind::Event || seen.insert(one.candidate.id())
        });
        *ranked = kept;
        Ok(())
    }
}

/// Drops titles and bullets of the contents that only repeat the query.
pub(super) fn drop_query_echoes(query: &RecallQuery, hits: &mut Vec<RecallHit>) {
    let prompts = LivePrompts::from_query(query);
    hits.retain(|hit| {
        let is_summary = matches!(hit.source, RecordKind::Node | RecordKind::Grip);
        !(is_summary && prompts.matches_summary(&hit.text))
    });
}

/// Drops prompts without an answer that another hit of the project repeats with its answer, which takes their
/// place. `texts` are the whole texts of the hits.
pub(super) fn drop_unanswered_copies(hits: &mut Vec<RecallHit>, mut texts: Vec<String>) {
    let is_prompt = |hit: &RecallHit| hit.kind == EventKind::UserMessage.as_str();
    let mut at = 0;
    while let (Some(hit), Some(text)) = (hits.get(at), texts.get(at)) {
        let copy = hits.iter().zip(&texts).position(|(other, other_text)| {
            is_prompt(other)
                && other.turn.answer.is_some()
                && other.project == hit.project
                && other_text == text
        });
        let Some(copy) = copy.filter(|_| is_prompt(hit) && hit.turn.is_unanswered) else {
            at += 1;
            continue;
        };
        let confidence = hit.confidence;
        let (first, second) = (at.min(copy), at.max(copy));
        if first == at {
            hits.swap(first, second);
        }
        if let Some(answered) = hits.get_mut(first) {
            answered.confidence = answered.confidence.max(confidence);
        }
        hits.remove(second);
        texts.remove(second);
    }
}

/// The words of the live prompts, lower case.
struct LivePrompts(Vec<Vec<String>>);

impl LivePrompts {
    fn from_query(query: &RecallQuery) -> Self {
        Self::from_texts(query.prompts_to_suppress())
    }

    fn from_texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let texts = texts.into_iter().map(|text| plain_words(text).collect());
        Self(texts.filter(|words: &Vec<String>| !words.is_empty()).collect())
    }

    fn matches_summary(&self, text: &str) -> bool {
        const OPENINGS: [&str; 3] = ["Asked: ", "Also asked: ", "Said: "];
        let opened = OPENINGS.iter().find_map(|opening| text.strip_prefix(opening));
        !self.0.is_empty() && self.0.contains(&plain_words(opened.unwrap_or(text)).collect())
    }

    fn is_repeated_prompt(&self, body: &CandidateBody) -> bool {
        let is_user_message = body.kind == EventKind::UserMessage.as_str();
        let is_event = matches!(
            body.record,
            CandidateRecord::Event { .. }
                | CandidateRecord::Grip { .. }
                | CandidateRecord::ForeignLine { .. }
        );
        if !is_user_message || !is_event {
            return false;
        }
        let words: Vec<String> = plain_words(&body.text).collect();
        self.0.iter().any(|prompt| is_nearly_same(prompt, &words))
    }
}

/// Returns whether two prompts have the same words, except for a few of many.
fn is_nearly_same(a: &[String], b: &[String]) -> bool {
    if a == b {
        return true;
    }
    let (a, b): (HashSet<_>, HashSet<_>) = (a.iter().collect(), b.iter().collect());
    let most = a.len().max(b.len());
    a.intersection(&b).count() * SAME_WORDS.1 >= most * SAME_WORDS.0 && most >= REPEATED_WORDS_MIN
}

/// The last words of the agent in the turn that a prompt began.
pub(super) fn find_answer(
    ledger: &Ledger,
    prompt: &RecallCandidate,
) -> Result<Option<(OrderKey, Event)>, RecallError> {
    let Some(body) = &prompt.body else { return Ok(None) };
    let (Some(order_key), Some(session)) = (body.order_key(), &body.session) else {
        return Ok(None);
    };
    let range = EventRange {
        session: Some(SessionId::parse(session)?),
        after: Some(order_key),
        ..EventRange::default()
    };
    let mut answer = None;
    for pair in ledger.events(&range).take(TURN_EVENTS_MAX) {
        let (position, event) = pair?;
        match event.kind {
            EventKind::UserMessage | EventKind::SessionEnd => break,
            EventKind::AssistantMessage | EventKind::AssistantStop
                if event.project == body.project && !event.text.trim().is_empty() =>
            {
                answer = Some((position.order_key(), event));
            }
            _ => {}
        }
    }
    Ok(answer)
}
