//! Finds out whether a session, or a later one, took back what it had said before: a suspicion that turned out
//! wrong, a value that was corrected. A hint must not repeat such a statement.

use tome_finder::RecordKind;
use tome_ledger::{EventRange, Ledger, OrderKey, ScanDirection};
use tome_model::{Event, EventKind, SessionId};

use super::Recall;
use super::candidate::{CandidateBody, RecallCandidate};
use super::candidate_pool::CandidatePool;
use super::hit_turn;
use super::other_statements::Claim;
use super::pack::ChosenHit;
use super::rank::RankedCandidate;
use crate::RecallError;

const MESSAGES: [EventKind; 3] =
    [EventKind::UserMessage, EventKind::AssistantMessage, EventKind::AssistantStop];
/// Other hits that are compared.
const OTHERS_MAX: usize = 30;
/// Later events of the session that are read.
const EVENTS_MAX: usize = 200;
/// Bytes of a message that are compared, from its beginning and from its end.
const MESSAGE_BYTES_MAX: usize = 4_000;

impl Recall {
    /// Drops hits that their own session, or another message that was found, took back later.
    pub(super) fn drop_retracted(
        &self,
        ranked: &[RankedCandidate],
        chosen: &mut Vec<ChosenHit>,
        pool: &CandidatePool,
    ) -> Result<(), RecallError> {
        let mut kept = Vec::with_capacity(chosen.len());
        for choice in chosen.drain(..) {
            let Some(candidate) =
                ranked.get(choice.candidate_index()).map(|ranked| &ranked.candidate)
            else {
                continue;
            };
            let body = candidate.body.as_ref();
            let set = pool.sets.get(candidate.set_index);
            let is_retracted = is_retracted_by_others(ranked, candidate)
                || match (body, body.and_then(CandidateBody::order_key), set) {
                    (Some(body), Some(order_key), Some(set)) => {
                        match set.open(&self.indexer)?.ledger {
                            Some(ledger) => is_retracted(&ledger, body, order_key)?,
                            None => false,
                        }
                    }
                    _ => false,
                };
            if !is_retracted {
                kept.push(choice);
            }
        }
        *chosen = kept;
        Ok(())
    }
}

/// Whether a later message of the session retracts the text of an event.
fn is_retracted(
    ledger: &Ledger,
    body: &CandidateBody,
    order_key: OrderKey,
) -> Result<bool, RecallError> {
    let Some(session) = &body.session else { return Ok(false) };
    if let Some(event) = ledger.event_by_order(order_key)?
        && hit_turn::load_correction(ledger, &event, order_key)?.is_some()
    {
        return Ok(true);
    }
    let claims = read_claims(&body.text);
    let later = EventRange {
        session: Some(SessionId::parse(session)?),
        after: Some(order_key),
        direction: ScanDirection::Forward,
        ..EventRange::default()
    };
    for pair in ledger.events(&later).take(EVENTS_MAX) {
        let (_, event) = pair?;
        if is_message(&event)
            && compared_sentences(&event.text)
                .any(|sentence| claims.iter().any(|claim| claim.is_retracted_by(sentence)))
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a later message among the best hits retracts one of them.
fn is_retracted_by_others(ranked: &[RankedCandidate], own: &RecallCandidate) -> bool {
    let Some(body) = &own.body else { return false };
    let claims = read_claims(&body.text);
    let later = ranked.iter().take(OTHERS_MAX).map(|one| &one.candidate).filter(|other| {
        other.set_index == own.set_index && other.at > own.at && other.source == RecordKind::Event
    });
    let bodies = later.filter_map(|other| other.body.as_ref());
    bodies.filter(|body| MESSAGES.iter().any(|kind| kind.as_str() == body.kind)).any(|body| {
        compared_sentences(&body.text)
            .any(|sentence| claims.iter().any(|claim| claim.is_retracted_by(sentence)))
    })
}

fn read_claims(text: &str) -> Vec<Claim> {
    let sentences = tome_text::split_sentences(tome_model::truncate_to(text, MESSAGE_BYTES_MAX));
    sentences.into_iter().filter_map(Claim::read).collect()
}

/// The sentences at the beginning and the end of a message, where people correct things.
fn compared_sentences(text: &str) -> impl Iterator<Item = &str> {
    let head = tome_model::truncate_to(text, MESSAGE_BYTES_MAX);
    let from = text.len().saturating_sub(MESSAGE_BYTES_MAX).max(head.len());
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let tail = text.get(from..).unwrap_or_default();
    [head, tail].into_iter().flat_map(tome_text::split_sentences)
}

fn is_message(event: &Event) -> bool {
    MESSAGES.contains(&event.kind) && !event.is_from_subagent()
}
