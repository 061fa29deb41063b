//! Events of a time or a session, and the excerpt that supports a bullet.

use serde_json::{Value, json};
use tome_model::{Event, Millis, SessionId};

use super::lines::minute;
use super::{Result, place, sized};
use crate::tools::ToolAnswer;
use crate::tools::answer::{Refusal, bounded, put};
use crate::tools::args::Args;
use crate::tools::call::Call;
use tome_contents::{Expanded, said};
use tome_home::Question;

/// Default and maximum events per page.
const PAGE_EVENTS: usize = 20;
const PAGE_EVENTS_MAX: usize = 100;

/// Bytes shown of an event's text.
const EVENT_BYTES_MAX: usize = 500;

/// Bytes shown of the event that a grip quotes.
const SOURCE_BYTES_MAX: usize = 2_000;

/// Bytes of events read for one answer; at least one event is read.
const READ_BYTES_MAX: usize = 1024 * 1024;

/// Default and maximum events on either side of a grip.
const AROUND: usize = 3;
const AROUND_MAX: usize = 20;

pub(in crate::tools) fn get_events(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let time = args.text(&["time"])?.filter(|time| !time.trim().is_empty());
    let moment = |field, text: Option<String>| {
        let parsed = text.map(|text| Millis::parse(field, &text)).transpose();
        parsed.map_err(|error| Refusal::invalid(error.to_string()))
    };
    let mut from = moment("from", args.text(&["from", "from_timestamp"])?)?;
    let mut to = moment("to", args.text(&["to", "to_timestamp"])?)?;
    let session = args.text(&["session_id"])?.filter(|session| !session.is_empty());
    let limit = args.count(&["limit"], PAGE_EVENTS_MAX)?.unwrap_or(PAGE_EVENTS);
    let after = args.text(&["continuation"])?.filter(|after| !after.is_empty());
    args.finish()?;
    let (calendar, project) = place(call)?;
    if let Some(time) = &time {
        let span = calendar.understand(time)?;
        (from, to) = (
            Some(from.map_or(span.from, |at| at.max(span.from))),
            Some(to.map_or(span.to, |at| at.min(span.to))),
        );
    }
    if from.is_none() && to.is_none() && session.is_none() {
        return Err(Refusal::invalid("get_events needs time, from, to or session_id"));
    }
    let session = session.map(|session| SessionId::parse(&session)).transpose();
    let question = Question {
        from,
        to,
        session: session.map_err(|error| Refusal::invalid(error.to_string()))?,
        project,
        after,
        events_max: limit,
        bytes_max: READ_BYTES_MAX,
        ..Question::default()
    };
    let answer = calendar.stores().read(&question)?;
    let mut lines = event_lines(&answer.events, EVENT_BYTES_MAX);
    if lines.is_empty() {
        lines.push("No matching events.".to_owned());
    }
    if let Some(next) = &answer.more_after {
        lines.push(format!("More: call again with continuation {next}"));
    }
    let events: Vec<Value> =
        answer.events.iter().map(|event| event_json(event, EVENT_BYTES_MAX)).collect();
    Ok(sized(lines, json!({ "events": events, "continuation": answer.more_after })))
}

pub(in crate::tools) fn expand_grip(call: &Call<'_>, args: &mut Args) -> Result<ToolAnswer> {
    let id = args.need(&["grip_id", "id"])?;
    let before = args.count(&["before", "events_before"], AROUND_MAX)?.unwrap_or(AROUND);
    let after = args.count(&["after", "events_after"], AROUND_MAX)?.unwrap_or(AROUND);
    args.finish()?;
    let (calendar, project) = place(call)?;
    let expanded = calendar.grip(&id, (before, after), project.as_deref())?;
    let (lines, json) = expanded_lines(&expanded);
    Ok(sized(lines, json))
}

/// Renders a grip with the events around it, as lines and as JSON.
pub(in crate::tools) fn expanded_lines(expanded: &Expanded) -> (Vec<String>, Value) {
    let Expanded { grip, before, events, after, .. } = expanded;
    let mut lines = vec![format!("\"{}\"", grip.excerpt), format!("in {}", grip.node)];
    let sides = [(before, EVENT_BYTES_MAX), (events, SOURCE_BYTES_MAX), (after, EVENT_BYTES_MAX)];
    let mut json = json!({ "id": grip.id, "excerpt": grip.excerpt, "node": grip.node });
    for (name, (events, bytes_max)) in ["before", "events", "after"].into_iter().zip(sides) {
        if !events.is_empty() {
            lines.push(format!("{name}:"));
        }
        lines.extend(event_lines(events, bytes_max));
        let events: Vec<Value> = events.iter().map(|event| event_json(event, bytes_max)).collect();
        put(&mut json, name, events.into());
    }
    (lines, json)
}

/// Renders one line per event, and one per session with its id for `get_events`.
pub(in crate::tools) fn event_lines(events: &[Event], bytes_max: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut session = None;
    for event in events {
        if session != Some(&event.session) {
            session = Some(&event.session);
            lines.push(format!("session {}:", event.session));
        }
        lines.push(line(event, bytes_max));
    }
    lines
}

fn line(event: &Event, bytes_max: usize) -> String {
    let (at, text) = (minute(event.at), text_of(event, bytes_max));
    format!("{} {at} {} {}: {text}", event.id, event.agent, event.kind)
}

fn event_json(event: &Event, bytes_max: usize) -> Value {
    json!({
        "id": event.id, "at": event.at, "session_id": event.session, "agent": event.agent,
        "kind": event.kind, "text": text_of(event, bytes_max),
    })
}

/// Renders an event's tool and texts, truncated.
fn text_of(event: &Event, bytes_max: usize) -> String {
    let tool = event.tool.iter().map(|tool| tool.name.as_str().into());
    let texts = tool.chain(said(event));
    bounded(&texts.collect::<Vec<std::borrow::Cow<'_, str>>>().join(" | "), bytes_max)
}
