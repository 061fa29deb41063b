//! Events of a time or a session, and the excerpt that supports a bullet.

use serde_json::{Value, json};
use tome_model::{Event, Millis, SessionId};

use super::render::render_minute;
use super::{Result, finish_answer, resolve_project};
use crate::tools::ToolAnswer;
use crate::tools::answer::{ToolError, insert_field, truncate_bytes};
use crate::tools::args::ToolArgs;
use crate::tools::call::ToolInvocation;
use tome_contents::{Contents, ExpandedGrip, event_texts};
use tome_home::{EventQuery, HomeError};

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

pub(in crate::tools) fn get_events(
    call: &ToolInvocation<'_>,
    args: &mut ToolArgs,
) -> Result<ToolAnswer> {
    let time = args.take_text(&["time"])?.filter(|time| !time.trim().is_empty());
    let parse_field = |field, text: Option<String>| {
        let parsed = text.map(|text| Millis::parse(field, &text)).transpose();
        parsed.map_err(|error| ToolError::invalid(error.to_string()))
    };
    let mut from = parse_field("from", args.take_text(&["from", "from_timestamp"])?)?;
    let mut to = parse_field("to", args.take_text(&["to", "to_timestamp"])?)?;
    let session = args.take_text(&["session_id"])?.filter(|session| !session.is_empty());
    let limit = args.take_count(&["limit"], PAGE_EVENTS_MAX)?.unwrap_or(PAGE_EVENTS);
    let after = args.take_text(&["continuation"])?.filter(|after| !after.is_empty());
    args.reject_unknown()?;
    let (contents, project) = resolve_project(call)?;
    if let Some(time) = &time {
        let span = contents.parse_time(time)?;
        (from, to) = (
            Some(from.map_or(span.from, |at| at.max(span.from))),
            Some(to.map_or(span.to, |at| at.min(span.to))),
        );
    }
    if from.is_none() && to.is_none() && session.is_none() {
        return Err(ToolError::invalid("get_events needs time, from, to or session_id"));
    }
    let session = session.map(|id| resolve_session(contents, &id)).transpose()?;
    let event_query = EventQuery {
        from,
        to,
        session,
        project,
        after,
        events_max: limit,
        bytes_max: READ_BYTES_MAX,
        ..EventQuery::default()
    };
    let answer = contents.stores().query_events(&event_query)?;
    let numbered = || answer.numbers.iter().zip(&answer.events);
    let current = event_query.project.as_deref();
    let cited = numbered()
        .map(|(number, event)| Ok((call.cite_event(*number, &event.project, current)?, event)));
    let cited = cited.collect::<Result<Vec<_>>>()?;
    let mut lines = render_cited_events(cited.into_iter(), EVENT_BYTES_MAX);
    if lines.is_empty() {
        lines.push("No matching events.".to_owned());
    }
    if let Some(next) = &answer.more_after {
        lines.push(format!("More: call again with continuation {next}"));
    }
    let events = numbered().map(|(number, event)| {
        let mut json = event_json(event, EVENT_BYTES_MAX);
        insert_field(&mut json, "number", (*number).into());
        json
    });
    let events: Vec<Value> = events.collect();
    Ok(finish_answer(lines, json!({ "events": events, "continuation": answer.more_after })))
}

pub(in crate::tools) fn expand_grip(
    call: &ToolInvocation<'_>,
    args: &mut ToolArgs,
) -> Result<ToolAnswer> {
    let id = args.require_text(&["grip_id", "id"])?;
    let before = args.take_count(&["before", "events_before"], AROUND_MAX)?.unwrap_or(AROUND);
    let after = args.take_count(&["after", "events_after"], AROUND_MAX)?.unwrap_or(AROUND);
    args.reject_unknown()?;
    let (contents, project) = resolve_project(call)?;
    let expanded = contents.find_grip(&id, (before, after), project.as_deref())?;
    let (lines, json) = render_expanded_grip(&expanded);
    Ok(finish_answer(lines, json))
}

/// Renders a grip with the events around it, as lines and as JSON.
pub(in crate::tools) fn render_expanded_grip(expanded: &ExpandedGrip) -> (Vec<String>, Value) {
    let ExpandedGrip { grip, before, events, after, .. } = expanded;
    let mut lines = vec![format!("\"{}\"", grip.excerpt), format!("in {}", grip.node)];
    let sides = [(before, EVENT_BYTES_MAX), (events, SOURCE_BYTES_MAX), (after, EVENT_BYTES_MAX)];
    let mut json = json!({ "id": grip.id, "excerpt": grip.excerpt, "node": grip.node });
    for (name, (events, bytes_max)) in ["before", "events", "after"].into_iter().zip(sides) {
        if !events.is_empty() {
            lines.push(format!("{name}:"));
        }
        lines.extend(render_events(events, bytes_max));
        let events: Vec<Value> = events.iter().map(|event| event_json(event, bytes_max)).collect();
        insert_field(&mut json, name, events.into());
    }
    (lines, json)
}

/// Completes the id of a session. An unknown id is kept: it has no events.
fn resolve_session(contents: &Contents, id: &str) -> Result<SessionId> {
    match contents.resolve_session(id, None) {
        Ok((session, _)) => Ok(session),
        Err(HomeError::NotFound(_)) => {
            SessionId::parse(id).map_err(|error| ToolError::invalid(error.to_string()))
        }
        Err(error) => Err(error.into()),
    }
}

/// Renders one line per event, and one per session with its id for `get_events`.
pub(in crate::tools) fn render_events(events: &[Event], bytes_max: usize) -> Vec<String> {
    render_cited_events(events.iter().map(|event| (event.id.to_string(), event)), bytes_max)
}

/// The same with the citation of each event.
fn render_cited_events<'e>(
    events: impl Iterator<Item = (String, &'e Event)>,
    bytes_max: usize,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut session = None;
    for (citation, event) in events {
        if session != Some(&event.session) {
            session = Some(&event.session);
            lines.push(format!("session {}:", event.session));
        }
        lines.push(render_cited(&citation, event, &render_event_text(event, bytes_max)));
    }
    lines
}

/// Renders one event by its number: time, who, and its text.
pub(in crate::tools) fn render_numbered(number: u64, event: &Event, bytes_max: usize) -> String {
    render_cited(&format!("#{number}"), event, &render_event_text(event, bytes_max))
}

/// Renders one event: its citation, time, who, and a text.
pub(in crate::tools) fn render_cited(citation: &str, event: &Event, text: &str) -> String {
    let at = render_minute(event.at);
    format!("{citation} {at} {} {}: {text}", event.agent, event.kind)
}

fn event_json(event: &Event, bytes_max: usize) -> Value {
    json!({
        "id": event.id, "at": event.at, "session_id": event.session, "agent": event.agent,
        "kind": event.kind, "text": render_event_text(event, bytes_max),
    })
}

/// Renders an event's tool and texts, truncated.
fn render_event_text(event: &Event, bytes_max: usize) -> String {
    truncate_bytes(&join_event_texts(event), bytes_max)
}

/// An event's tool and texts.
pub(in crate::tools) fn join_event_texts(event: &Event) -> String {
    let tool = event.tool.iter().map(|tool| tool.name.as_str().into());
    let texts = tool.chain(event_texts(event));
    texts.collect::<Vec<std::borrow::Cow<'_, str>>>().join(" | ")
}
