//! Expands a grip: its excerpt, the events it quotes, and those around them.

use tome_ledger::{Direction, EventRange, Ledger, Mark, Position};
use tome_model::{Event, Grip, SessionId};

use super::limits::{AROUND_BYTES, AROUND_LOOKED_AT_MAX, AROUND_MAX, AROUND_MS};
use super::said::said;
use tome_home::HomeError;

/// A grip with the events around it, all of one session.
#[derive(Debug, Clone, PartialEq)]
pub struct Expanded {
    /// The project of the grip.
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
pub(crate) fn expand(
    ledger: &Ledger,
    project: &str,
    grip: Grip,
    before: usize,
    after: usize,
) -> Result<Expanded, HomeError> {
    let missing = || HomeError::NotFound(format!("the events of {} are missing", grip.id));
    let first = ledger.position(&grip.first)?.ok_or_else(missing)?;
    let last = ledger.position(&grip.last)?.ok_or_else(missing)?;
    let session = ledger.event_at(&first)?.ok_or_else(missing)?.session;
    let mut around =
        Around { ledger, project, session: &session, left: AROUND_BYTES, shortened: false };
    let events = around.between(&first, &last)?;
    let mut earlier = around.beside(first.mark(), Direction::Backward, before)?;
    earlier.reverse();
    let later = around.beside(last.mark(), Direction::Forward, after)?;
    Ok(Expanded {
        project: project.to_owned(),
        before: earlier,
        events,
        after: later,
        shortened: around.shortened,
        grip,
    })
}

struct Around<'a> {
    ledger: &'a Ledger,
    project: &'a str,
    session: &'a SessionId,
    /// Bytes of text that still fit.
    left: usize,
    shortened: bool,
}

impl Around<'_> {
    /// The events of the grip itself.
    fn between(&mut self, first: &Position, last: &Position) -> Result<Vec<Event>, HomeError> {
        let before_first = Mark { at: first.at, seq: first.seq.saturating_sub(1) };
        let range = self.range(before_first, Direction::Forward);
        let mut events = Vec::new();
        for position in self.ledger.positions(&range).take(AROUND_LOOKED_AT_MAX) {
            let position = position?;
            if position.mark() > last.mark() || events.len() >= AROUND_MAX {
                break;
            }
            events.extend(self.read(&position)?);
        }
        Ok(events)
    }

    /// Loads up to `count` events on one side of a position, nearest first.
    fn beside(
        &mut self,
        mark: Mark,
        direction: Direction,
        count: usize,
    ) -> Result<Vec<Event>, HomeError> {
        let mut events = Vec::new();
        let range = self.range(mark, direction);
        for position in self.ledger.positions(&range).take(AROUND_LOOKED_AT_MAX) {
            let position = position?;
            if events.len() >= count.min(AROUND_MAX) || position.at.distance_ms(mark.at) > AROUND_MS
            {
                break;
            }
            let Some(event) = self.read(&position)? else {
                continue;
            };
            let weight: usize = said(&event).map(|text| text.len()).sum();
            let Some(left) = self.left.checked_sub(weight) else {
                self.shortened = true;
                break;
            };
            self.left = left;
            events.push(event);
        }
        Ok(events)
    }

    fn read(&self, position: &Position) -> Result<Option<Event>, HomeError> {
        let event = self.ledger.event_at(position)?;
        Ok(event.filter(|event| event.project == self.project))
    }

    fn range(&self, after: Mark, direction: Direction) -> EventRange {
        EventRange {
            session: Some(self.session.clone()),
            after: Some(after),
            direction,
            ..EventRange::default()
        }
    }
}
