//! Scans the events of a ledger.

use std::ops::ControlFlow;

use tome_finder::{Key, Source};
use tome_ledger::{Direction, EventRange, Glimpse, Ledger, LedgerError, Position};
use tome_model::{Event, SessionId};

use super::heard::join_said;
use super::limits::{OUTBOX_EVENTS_MAX, TURN_EVENTS, TURNS_MAX};
use super::look::Sighting;
use super::seen::{About, Floor, Scanning, allows, part_of};
use super::{Hunt, Scan, Seen};
use crate::RecallError;
use crate::abreast;

/// Scans the events that arrived after a sequence number, which an index has yet to read, in order
/// of arrival. With 0, scans all events within the filter's time and session, newest first.
pub(crate) fn scan_events(
    ledger: &Ledger,
    after_seq: u64,
    hunt: Hunt<'_>,
) -> Result<Scan, RecallError> {
    let mut scanning = Scanning::new(hunt);
    if !hunt.filter.sources.is_empty() && !hunt.filter.sources.contains(&Source::Event) {
        return Ok(scanning.done());
    }
    if after_seq == 0 {
        return scan_all(ledger, hunt);
    }
    let (mut after_seq, mut text) = (after_seq, String::new());
    loop {
        let page = ledger.outbox(after_seq, OUTBOX_EVENTS_MAX)?;
        let Some(last) = page.last() else { return Ok(scanning.done()) };
        after_seq = last.seq;
        for entry in &page {
            // An entry without its event means that the store is damaged.
            let Some(event) = ledger.event_at(&entry.position)? else {
                scanning.unread(format!("event {} (missing in the store)", entry.position.id));
                continue;
            };
            if !look_at_event(&mut scanning, &entry.position, &event, &mut text) {
                return Ok(scanning.done());
            }
        }
    }
}

/// All events within the filter's time and session, several stretches of time at once. Of an event only as
/// much is read as it takes to see that it does not match.
fn scan_all(ledger: &Ledger, hunt: Hunt<'_>) -> Result<Scan, RecallError> {
    let Some(range) = range_of(&hunt) else { return Ok(Scanning::new(hunt).done()) };
    let floor = Floor::default();
    let scan = |range: EventRange| -> Result<Scanning<'_>, RecallError> {
        let (mut scanning, mut text) = (Scanning::of_part(hunt, &floor), String::new());
        ledger.glimpse(&range, |position, glimpse| {
            look_at_glimpse(&mut scanning, position, glimpse, &mut text)
        })?;
        Ok(scanning)
    };
    let parts = abreast::each(parts_of(ledger, range)?, 1, scan);
    Ok(Scanning::joined(hunt, parts.into_iter().collect::<Result<_, _>>()?))
}

/// A range in stretches of time that have about as many events each, in the range's order: the newest first.
fn parts_of(ledger: &Ledger, range: EventRange) -> Result<Vec<EventRange>, RecallError> {
    let last = ledger.last_seq();
    let count = (last / TURN_EVENTS).min(TURNS_MAX);
    if range.session.is_some() || count < 2 {
        return Ok(vec![range]);
    }
    // Sample evenly by arrival to estimate the distribution over time.
    let mut cuts = Vec::new();
    for number in 1..count {
        cuts.extend(ledger.outbox(number * (last / count), 1)?.first().map(|it| it.position.at));
    }
    cuts.retain(|at| {
        range.from.is_none_or(|from| *at > from) && range.to.is_none_or(|to| *at < to)
    });
    cuts.sort_unstable();
    cuts.dedup();
    let (mut parts, mut to) = (Vec::new(), range.to);
    for at in cuts.into_iter().rev() {
        parts.push(EventRange { from: Some(at), to, ..range.clone() });
        to = Some(at);
    }
    parts.push(EventRange { to, ..range });
    Ok(parts)
}

/// The range of events that the filter can admit; `None` if the session id is invalid.
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

/// Matches an event in its stored form.
fn look_at_glimpse(
    scanning: &mut Scanning<'_>,
    position: &Position,
    glimpse: &Glimpse<'_>,
    text: &mut String,
) -> Result<ControlFlow<()>, LedgerError> {
    let Glimpse { session, agent, project, kind, .. } = *glimpse;
    let agents = [agent];
    let about = About { at: position.at, project, session, agents: &agents, kind: kind.as_str() };
    let is_allowed = allows(scanning.hunt.filter, Source::Event, &about);
    let of_tool = glimpse.tool.map_or(0, |(input, output)| input.len() + output.len());
    let bytes = if is_allowed { glimpse.text.len() + of_tool } else { 0 };
    if !scanning.goes_on(bytes) {
        return Ok(ControlFlow::Break(()));
    }
    if !is_allowed {
        return Ok(ControlFlow::Continue(()));
    }
    scanning.looked();
    match glimpse.tool {
        None => look_at_text(scanning, position, &about, glimpse.text),
        Some((input, output)) => {
            let needle = scanning.hunt.needle;
            let json = || [input, output].iter().any(|json| needle.may_touch_json(json));
            if needle.touches(glimpse.text) || json() {
                join_said(&glimpse.event()?, text);
                look_at_text(scanning, position, &about, text);
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Matches an event. Returns `false` to end the scan.
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
    look_at_text(scanning, position, &about, text);
    true
}

fn look_at_text(scanning: &mut Scanning<'_>, position: &Position, about: &About<'_>, text: &str) {
    let look = match scanning.hunt.needle.look_above(text, scanning.least()) {
        Sighting::Nothing => return,
        Sighting::Below => return scanning.found_below(),
        Sighting::Look(look) => look,
    };
    scanning.found(about.at, look, |look| Seen {
        key: Key::Event(position.seq),
        source: Source::Event,
        at: about.at,
        line: 0,
        project: about.project.to_owned(),
        session: about.session.to_owned(),
        agent: about.agents.first().copied().unwrap_or_default().to_owned(),
        kind: about.kind.to_owned(),
        title: String::new(),
        part: part_of(&look, 0),
        // Hits are read again when shown; building snippets here would be most of the work.
        snippet: String::new(),
        look,
    });
}
