//! Finds the later message of a session that takes back what an event states: the user denies it, or the
//! author of it calls it wrong.

use std::ops::ControlFlow;

use tome_contents::{ClaimDistance, Contradiction, StatedClaims};
use tome_ledger::{EventRange, Ledger, OrderKey, ScanDirection};
use tome_model::{Event, EventKind};

use super::other_statements::{OtherStatement, StatementRelation};
use crate::RecallError;

/// Later events of the session, and prompts among them, that are read: for every hit of an answer.
const EVENTS_MAX: usize = 40;
const PROMPTS_MAX: usize = 3;

/// Finds the message that takes back a statement of an event. `concerns` tells whether a sentence of a message
/// that states several things is the one that is shown.
pub(super) fn find_correction(
    ledger: &Ledger,
    stated: &Event,
    order_key: OrderKey,
    concerns: impl Fn(&str) -> bool,
) -> Result<Option<OtherStatement>, RecallError> {
    let Some(mut later) = LaterMessages::of(stated) else { return Ok(None) };
    let range = EventRange {
        session: Some(stated.session.clone()),
        after: Some(order_key),
        direction: ScanDirection::Forward,
        ..EventRange::default()
    };
    let (mut read, mut correction) = (0, None);
    ledger.visit_events(&range, |position, event| {
        read += 1;
        // Most events are tool calls, which are not decoded.
        if matches!(
            event.kind,
            EventKind::UserMessage | EventKind::AssistantMessage | EventKind::AssistantStop
        ) {
            let event = event.to_event()?;
            let found = later.read(&event).filter(|found| {
                !found.is_one_of_many || concerns(&found.claim) || concerns(&found.text)
            });
            correction = found.map(|Contradiction { text, .. }| {
                let number = position.order_key().seq;
                OtherStatement::new(StatementRelation::Opposite, number, event.at, &text)
            });
        }
        let is_last = correction.is_some() || read >= EVENTS_MAX || later.prompts >= PROMPTS_MAX;
        Ok(if is_last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(correction)
}

/// The messages after the one that makes a statement, read one by one.
pub(super) struct LaterMessages {
    claims: StatedClaims,
    is_by_user: bool,
    /// Prompts read.
    prompts: usize,
    /// The agent's last message after the statement.
    answer: Option<String>,
}

impl LaterMessages {
    /// `None` if the event is no message, or states nothing.
    pub(super) fn of(stated: &Event) -> Option<Self> {
        let is_by_user = stated.kind == EventKind::UserMessage;
        let is_message = is_by_user && tome_contents::is_prompt(stated) || is_answer(stated);
        let claims = StatedClaims::read(stated).filter(|_| is_message)?;
        Some(Self { claims, is_by_user, prompts: 0, answer: None })
    }

    /// Reads the next event of the session; returns what it says against the statement.
    pub(super) fn read(&mut self, event: &Event) -> Option<Contradiction> {
        if tome_contents::is_prompt(event) {
            let distance = match (self.prompts, &self.answer) {
                (0, Some(_)) if !self.is_by_user => ClaimDistance::SameTurn,
                (0, _) => ClaimDistance::Last,
                _ => ClaimDistance::Earlier,
            };
            self.prompts += 1;
            return self.claims.find_denial(&event.text, self.answer.as_deref(), distance);
        }
        if !is_answer(event) {
            return None;
        }
        self.answer = Some(event.text.clone());
        let is_near = self.prompts <= 1;
        self.claims.find_own_correction(&event.text, is_near).filter(|_| !self.is_by_user)
    }
}

/// Whether an event is a message of the agent to the user.
pub(super) fn is_answer(event: &Event) -> bool {
    matches!(event.kind, EventKind::AssistantMessage | EventKind::AssistantStop)
        && !event.is_from_subagent()
        && !event.text.trim().is_empty()
        && !tome_contents::is_service_error(event)
}
