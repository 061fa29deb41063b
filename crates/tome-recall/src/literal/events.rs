//! Scans the events of a ledger.

use std::ops::ControlFlow;

use tome_finder::{EntryKey, RecordKind, RecordMeta};
use tome_ledger::{EventPosition, EventRange, EventRef, Ledger, LedgerError, ScanDirection};
use tome_model::{Agent, Event, SessionId};

use super::limits::{EVENTS_PER_TASK, OUTBOX_EVENTS_MAX, TASKS_MAX};
use super::line_text::join_event_text;
use super::scan::{ScanState, SharedMinScore, match_range};
use super::text_match::MatchResult;
use super::{Scan, ScanMatch, ScanQuery};
use crate::RecallError;
use crate::parallel;

/// Scans the events that arrived after a sequence number, which an index has yet to read, in order
/// of arrival. With 0, scans all events within the filter's time and session, newest first.
pub(crate) fn scan_events(
    ledger: &Ledger,
    after_seq: u64,
    scan_query: ScanQuery<'_>,
) -> Result<Scan, RecallError> {
    let mut scanning = ScanState::new(scan_query);
    if !scan_query.filter.admits_source(RecordKind::Event) {
        return Ok(scanning.finish());
    }
    if after_seq == 0 {
        return scan_all_events(ledger, scan_query);
    }
    let (mut after_seq, mut text) = (after_seq, String::new());
    loop {
        let page = ledger.read_outbox(after_seq, OUTBOX_EVENTS_MAX)?;
        let Some(last) = page.last() else { return Ok(scanning.finish()) };
        after_seq = last.seq;
        for entry in &page {
            // An entry without its event means that the store is damaged.
            let Some(event) = ledger.event_at(&entry.position)? else {
                scanning
                    .report_unread(format!("event {} (missing in the store)", entry.position.id));
                continue;
            };
            if !match_event(&mut scanning, &entry.position, &event, &mut text) {
                return Ok(scanning.finish());
            }
        }
    }
}

/// All events within the filter's time and session, several time ranges in parallel. Reads only
/// as much of an event as it takes to see that it does not match.
fn scan_all_events(ledger: &Ledger, scan_query: ScanQuery<'_>) -> Result<Scan, RecallError> {
    let Some(range) = filter_range(&scan_query) else {
        return Ok(ScanState::new(scan_query).finish());
    };
    let min_score = SharedMinScore::default();
    let scan = |range: EventRange| -> Result<ScanState<'_>, RecallError> {
        let (mut scanning, mut text) = (ScanState::for_part(scan_query, &min_score), String::new());
        ledger.visit_events(&range, |position, event| {
            match_event_ref(&mut scanning, position, event, &mut text)
        })?;
        Ok(scanning)
    };
    let scans = parallel::map(split_range(ledger, range)?, 1, scan);
    Ok(ScanState::merge(scan_query, scans.into_iter().collect::<Result<_, _>>()?))
}

/// Splits a range into time ranges with about equally many events, in the range's order: newest first.
fn split_range(ledger: &Ledger, range: EventRange) -> Result<Vec<EventRange>, RecallError> {
    let last = ledger.last_seq();
    let count = (last / EVENTS_PER_TASK).min(TASKS_MAX);
    if range.session.is_some() || count < 2 {
        return Ok(vec![range]);
    }
    // Sample evenly by arrival to estimate the distribution over time.
    let mut cuts = Vec::new();
    for number in 1..count {
        cuts.extend(
            ledger.read_outbox(number * (last / count), 1)?.first().map(|it| it.position.at),
        );
    }
    cuts.retain(|at| {
        range.from.is_none_or(|from| *at > from) && range.to.is_none_or(|to| *at < to)
    });
    cuts.sort_unstable();
    cuts.dedup();
    let (mut ranges, mut to) = (Vec::new(), range.to);
    for at in cuts.into_iter().rev() {
        ranges.push(EventRange { from: Some(at), to, ..range.clone() });
        to = Some(at);
    }
    ranges.push(EventRange { to, ..range });
    Ok(ranges)
}

/// The range of events that the filter can admit; `None` if the session id is invalid.
fn filter_range(scan_query: &ScanQuery<'_>) -> Option<EventRange> {
    let session = scan_query.filter.session.as_deref().map(SessionId::parse).transpose().ok()?;
    Some(EventRange {
        from: scan_query.filter.from,
        to: scan_query.filter.to,
        session,
        direction: ScanDirection::Backward,
        ..EventRange::default()
    })
}

/// Matches an event in its stored form.
fn match_event_ref(
    scanning: &mut ScanState<'_>,
    position: &EventPosition,
    event: &EventRef<'_>,
    text: &mut String,
) -> Result<ControlFlow<()>, LedgerError> {
    let EventRef { session, agent, project, kind, .. } = *event;
    let about = RecordMeta {
        source: RecordKind::Event,
        at: position.at,
        project,
        session,
        agents: &[agent],
        kind: kind.as_str(),
    };
    let is_allowed = scanning.query.filter.admits(&about);
    let of_tool = event.tool.map_or(0, |(input, output)| input.len() + output.len());
    let bytes = if is_allowed { event.text.len() + of_tool } else { 0 };
    if !scanning.should_continue(bytes) {
        return Ok(ControlFlow::Break(()));
    }
    if !is_allowed {
        return Ok(ControlFlow::Continue(()));
    }
    scanning.count_scanned();
    match event.tool {
        None => match_event_text(scanning, position, &about, event.text),
        Some((input, output)) => {
            let matcher = scanning.query.matcher;
            let json = || [input, output].iter().any(|json| matcher.may_match_json(json));
            if matcher.contains_any(event.text) || json() {
                join_event_text(&event.to_event()?, text);
                match_event_text(scanning, position, &about, text);
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// The properties of an event that a filter tests.
pub(crate) fn event_meta(event: &Event) -> RecordMeta<'_, Agent> {
    RecordMeta {
        source: RecordKind::Event,
        at: event.at,
        project: &event.project,
        session: event.session.as_str(),
        agents: std::slice::from_ref(&event.agent),
        kind: event.kind.as_str(),
    }
}

/// Matches an event. Returns `false` to end the scan.
fn match_event(
    scanning: &mut ScanState<'_>,
    position: &EventPosition,
    event: &Event,
    text: &mut String,
) -> bool {
    let about = event_meta(event);
    if !scanning.query.filter.admits(&about) {
        return scanning.should_continue(0);
    }
    join_event_text(event, text);
    if !scanning.should_continue(text.len()) {
        return false;
    }
    scanning.count_scanned();
    match_event_text(scanning, position, &about, text);
    true
}

fn match_event_text(
    scanning: &mut ScanState<'_>,
    position: &EventPosition,
    about: &RecordMeta<'_, impl AsRef<str>>,
    text: &str,
) {
    let text_match = match scanning.query.matcher.match_above(text, scanning.min_score()) {
        MatchResult::NoMatch => return,
        MatchResult::BelowMinimum => return scanning.count_match(),
        MatchResult::Match(text_match) => text_match,
    };
    scanning.add_match(about.at, text_match, |text_match| ScanMatch {
        key: EntryKey::Event(position.seq),
        source: RecordKind::Event,
        at: about.at,
        line: 0,
        project: about.project.to_owned(),
        session: about.session.to_owned(),
        agent: about.agents.first().map(|agent| agent.as_ref().to_owned()).unwrap_or_default(),
        kind: about.kind.to_owned(),
        title: String::new(),
        range: match_range(&text_match, 0),
        // Hits are read again when shown; building snippets here would be most of the work.
        snippet: String::new(),
        text_match,
    });
}
