//! Events, straight from a ledger.

use tome_finder::{Key, Source};
use tome_ledger::{Direction, EventRange, Ledger, Position};
use tome_model::{Event, SessionId};

use super::heard::join_said;
use super::limits::OUTBOX_EVENTS_MAX;
use super::seen::{About, Scanning, allows, part_of, shown};
use super::{Hunt, Scan, Seen};
use crate::EngineError;

/// Events that arrived after a number, in the order of their arrival: what an index has yet to read. After
/// 0 all events there are, the newest first, within the filter's time and session.
pub(crate) fn scan_events(
    ledger: &Ledger,
    after_seq: u64,
    hunt: Hunt<'_>,
) -> Result<Scan, EngineError> {
    let mut scanning = Scanning::new(hunt);
    let mut text = String::new();
    if !hunt.filter.sources.is_empty() && !hunt.filter.sources.contains(&Source::Event) {
        return Ok(scanning.done());
    }
    if after_seq == 0 {
        let Some(range) = range_of(&hunt) else { return Ok(scanning.done()) };
        for event in ledger.events(&range) {
            let (position, event) = event?;
            if !look_at_event(&mut scanning, &position, &event, &mut text) {
                break;
            }
        }
        return Ok(scanning.done());
    }
    let mut after_seq = after_seq;
    loop {
        let page = ledger.outbox(after_seq, OUTBOX_EVENTS_MAX)?;
        let Some(last) = page.last() else { return Ok(scanning.done()) };
        after_seq = last.seq;
        for entry in &page {
            // A worker may see an entry before its event only if the store is damaged.
            let Some(event) = ledger.event_at(&entry.position)? else {
                scanning.unread(format!("event {} is missing", entry.position.id));
                continue;
            };
            if !look_at_event(&mut scanning, &entry.position, &event, &mut text) {
                return Ok(scanning.done());
            }
        }
    }
}

/// The events that the filter can let through; none where no session can be called so.
fn range_of(hunt: &Hunt<'_>) -> Option<EventRange> {
    let session = hunt.filter.session.as_deref().map(SessionId::parse).transpose().ok()?;
    Some(EventRange {
        from: hunt.filter.since,
        to: hunt.filter.until,
        session,
        direction: Direction::Backward,
        ..EventRange::default()
    })
}

/// Looks at one event; false when the scan is to end.
fn look_at_event(
    scanning: &mut Scanning<'_>,
    position: &Position,
    event: &Event,
    text: &mut String,
) -> bool {
    let about = About {
        at: event.at,
        project: &event.project,
        session: event.session.as_str(),
        agents: &[event.agent.as_str()],
        kind: event.kind.as_str(),
    };
    if !allows(scanning.hunt.filter, Source::Event, &about) {
        return scanning.goes_on(0);
    }
    join_said(event, text);
    if !scanning.goes_on(text.len()) {
        return false;
    }
    scanning.looked();
    if let Some(look) = scanning.hunt.needle.look(text) {
        scanning.found(event.at, look, |look| Seen {
            key: Key::Event(position.seq),
            source: Source::Event,
            at: event.at,
            line: 0,
            project: event.project.clone(),
            session: event.session.as_str().to_owned(),
            agent: event.agent.as_str().to_owned(),
            kind: event.kind.as_str().to_owned(),
            title: String::new(),
            part: part_of(&look, 0),
            snippet: shown(text, &look),
            look,
        });
    }
    true
}
