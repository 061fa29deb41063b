//! Finds out whether a session took back what it had said before: a suspicion that turned out wrong, a
//! value that was corrected. A hint must not repeat such a statement.

use tome_ledger::{EventRange, Ledger, OrderKey, ScanDirection};
use tome_model::{Event, EventKind, SessionId};

use super::Recall;
use super::candidate::CandidateBody;
use super::candidate_pool::CandidatePool;
use super::hit_turn;
use super::other_statements::Claim;
use super::pack::ChosenHit;
use super::rank::RankedCandidate;
use crate::RecallError;

/// Later events of the session that are read.
const EVENTS_MAX: usize = 200;
/// Bytes of a message that are compared, from its beginning and from its end.
const MESSAGE_BYTES_MAX: usize = 4_000;

impl Recall {
    /// Drops hits that their own session took back later.
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
            let is_retracted = match (body, body.and_then(CandidateBody::order_key), set) {
                (Some(body), Some(order_key), Some(set)) => match set.open(&self.indexer)?.ledger {
                    Some(ledger) => is_retracted(&ledger, body, order_key)?,
                    None => false,
                },
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
    let claims: Vec<Claim> =
        tome_text::split_sentences(tome_model::truncate_to(&body.text, MESSAGE_BYTES_MAX))
            .into_iter()
            .filter_map(Claim::read)
            .collect();
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

/// The sentences at the beginning and the end of a message, where people correct things.
fn compared_sentences(text: &str) -> impl Iterator<Item = &str> {
    let head = tome_model::truncate_to(text, MESSAGE_BYTES_MAX);
    let from = text.len().saturating_sub(MESSAGE_BYTES_MAX).max(head.len());
    let from = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    let tail = text.get(from..).unwrap_or_default();
    [head, tail].into_iter().flat_map(tome_text::split_sentences)
}

fn is_message(event: &Event) -> bool {
    let kinds = [EventKind::UserMessage, EventKind::AssistantMessage, EventKind::AssistantStop];
    kinds.contains(&event.kind) && !event.is_from_subagent()
}
