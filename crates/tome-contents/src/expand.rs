//! Expands a grip: its excerpt, the events it quotes, and those around them.

use tome_ledger::{EventPosition, EventRange, Ledger, OrderKey, ScanDirection};
use tome_model::{Event, Grip, SessionId};

use super::event_text::event_texts;
use super::limits::{AROUND_BYTES, AROUND_MAX, AROUND_MS, AROUND_SCANNED_MAX};
use tome_home::HomeError;

/// A grip with the events around it, all of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpandedGrip {
    /// Root folder of the grip's project.
    pub project: String,
    /// The grip itself.
    pub grip: Grip,
    /// Events right before, in order.
    pub before: Vec<Event>,
    /// The quoted events, in order.
    pub events: Vec<Event>,
    /// Events right after, in order.
    pub after: Vec<Event>,
    /// Whether events were left out because of the size limit.
    pub shortened: bool,
}

/// Loads a grip with events before and after it: of the same session, at most half an hour away.
pub(crate) fn expand_grip(
    ledger: &Ledger,
    project: &str,
    grip: Grip,
    before: usize,
    after: usize,
) -> Result<ExpandedGrip, HomeError> {
    let missing = || HomeError::NotFound(format!("events of {} are missing", grip.id));
    let first = ledger.position(&grip.first)?.ok_or_else(missing)?;
    let last = ledger.position(&grip.last)?.ok_or_else(missing)?;
    let session = ledger.event_at(&first)?.ok_or_else(missing)?.session;
    let mut around =
        GripContext { ledger, project, session: &session, left: AROUND_BYTES, shortened: false };
    let events = around.load_quoted(&first, &last)?;
    let mut earlier = around.load_neighbors(first.order_key(), ScanDirection::Backward, before)?;
    earlier.reverse();
    let later = around.load_neighbors(last.order_key(), ScanDirection::Forward, after)?;
    Ok(ExpandedGrip {
        project: project.to_owned(),
        before: earlier,
        events,
        after: later,
        shortened: around.shortened,
        grip,
    })
}

struct GripContext<'a> {
    ledger: &'a Ledger,
    project: &'a str,
    session: &'a SessionId,
    /// Bytes of text that still fit.
    left: usize,
    shortened: bool,
}

impl GripContext<'_> {
    fn load_quoted(
        &mut self,
        first: &EventPosition,
        last: &EventPosition,
    ) -> Result<Vec<Event>, HomeError> {
        let before_first = OrderKey { at: first.at, seq: first.seq.saturating_sub(1) };
        let range = self.event_range(before_first, ScanDirection::Forward);
        let mut events = Vec::new();
        for position in self.ledger.positions(&range).take(AROUND_SCANNED_MAX) {
            let position = position?;
            if position.order_key() > last.order_key() || events.len() >= AROUND_MAX {
                break;
            }
            events.extend(self.load_event(&position)?);
        }
        Ok(events)
    }

    /// Loads up to `count` events on one side of a position, nearest first.
    fn load_neighbors(
        &mut self,
        mark: OrderKey,
        direction: ScanDirection,
        count: usize,
    ) -> Result<Vec<Event>, HomeError> {
        let mut events = Vec::new();
        let range = self.event_range(mark, direction);
        for position in self.ledger.positions(&range).take(AROUND_SCANNED_MAX) {
            let position = position?;
            if events.len() >= count.min(AROUND_MAX) || position.at.distance_ms(mark.at) > AROUND_MS
            {
                break;
            }
            let Some(event) = self.load_event(&position)? else {
                continue;
            };
            let weight: usize = event_texts(&event).map(|text| text.len()).sum();
            let Some(left) = self.left.checked_sub(weight) else {
                self.shortened = true;
                break;
            };
            self.left = left;
            events.push(event);
        }
        Ok(events)
    }

    fn load_event(&self, position: &EventPosition) -> Result<Option<Event>, HomeError> {
        let event = self.ledger.event_at(position)?;
        Ok(event.filter(|event| event.project == self.project))
    }

    fn event_range(&self, after: OrderKey, direction: ScanDirection) -> EventRange {
        EventRange {
            session: Some(self.session.clone()),
            after: Some(after),
            direction,
            ..EventRange::default()
        }
    }
}
