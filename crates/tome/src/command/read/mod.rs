//! `tome read`: the conversation of a session, for people, in a pager.

mod conversation;
mod markdown;
mod pager;
mod render;

use anyhow::Result;
use serde_json::{Value, json};
use tome_contents::cut_turns;
use tome_model::{Event, SessionId};
use tome_proto::{EventListQuery, v1};

use super::project_scope::project_or_all;
use super::screen::Screen;
use super::session_lookup::list_sessions;
use super::session_page::session_json;
use super::session_target::{SessionTarget, find_session_target};
use super::{CommandContext, CommandError, Outcome};
use crate::cli::sessions::ReadArgs;
use crate::connect::StartPolicy;

use conversation::{ConversationTurn, TurnStep, read_conversation};
use pager::PagerEnd;

pub use pager::wait_for_enter;

/// Page size; the daemon may return fewer.
const PAGE_EVENTS: u32 = 1_000;
/// Events of a session that are read; of a longer one the latest.
const EVENTS_MAX: usize = 50_000;

pub fn run(context: &CommandContext, args: &ReadArgs) -> Result<Outcome> {
    let target = find_target(context, args)?;
    let events = load_events(context, &target.session)?;
    let turns = read_conversation(&events, &cut_turns(&plain_events(&events)));
    let chosen: Vec<&ConversationTurn<'_>> = match args.turn {
        None => turns.iter().collect(),
        Some(number) => {
            let turn = turns.iter().find(|turn| turn.number == number as usize);
            let turn = turn.ok_or_else(|| {
                let message = format!("the session has {} turns, not {number}", turns.len());
                CommandError::not_found(message)
            })?;
            vec![turn]
        }
    };
    if context.json {
        context.print_json(&session_json(&target.session))?;
        chosen.iter().try_for_each(|turn| context.print_json(&turn_json(turn)))?;
        return Ok(Outcome::Done);
    }
    let screen = Screen::new(context);
    let is_paged = !args.no_pager && tome_terminal::is_stdout_terminal();
    let cited = target.event.as_deref();
    let pager = pager::choose_pager(&|name| std::env::var(name).ok()).filter(|_| is_paged);
    // Other pagers have other keys.
    let has_keys = pager.as_ref().is_some_and(pager::Pager::is_less);
    let page = render::render_session(&screen, &target.session, &chosen, cited, has_keys)?;
    match pager {
        Some(pager) => pager.show(&page, PagerEnd::IfItFits)?,
        None => pager::print_plain(&page.text)?,
    }
    Ok(Outcome::Done)
}

/// Opens a session, or the session of a citation, in a pager, and returns when the user has closed
/// it.
pub fn open_until_closed(context: &CommandContext, what: &str, project: &str) -> Result<()> {
    let project = Some(project).filter(|project| !project.is_empty()).map(Into::into);
    let args = ReadArgs { what: Some(what.to_owned()), turn: None, no_pager: false, project };
    let target = find_target(context, &args)?;
    let events = load_events(context, &target.session)?;
    let turns = read_conversation(&events, &cut_turns(&plain_events(&events)));
    let turns: Vec<&ConversationTurn<'_>> = turns.iter().collect();
    let cited = target.event.as_deref();
    let page = render::render_session(&Screen::new(context), &target.session, &turns, cited, true)?;
    pager::show_until_closed(&page)
}

/// Opens a text in a pager at a line, and returns when the user has closed it.
pub fn open_text_until_closed(text: &str, line: u32) -> Result<()> {
    let open_at = usize::try_from(line).unwrap_or(1).max(1);
    pager::show_until_closed(&render::RenderedPage { text: text.to_owned(), pattern: "", open_at })
}

fn plain_events(events: &[(u64, Event)]) -> Vec<Event> {
    events.iter().map(|(_, event)| event.clone()).collect()
}

/// Finds what to read; the latest session if nothing is named.
fn find_target(context: &CommandContext, args: &ReadArgs) -> Result<SessionTarget> {
    let project = args.project.as_deref();
    if let Some(what) = args.what.as_deref() {
        return find_session_target(context, what, project);
    }
    let request = v1::ListSessionsRequest {
        project: project_or_all(context, project, false)?,
        limit: 1,
        ..v1::ListSessionsRequest::default()
    };
    let latest = list_sessions(context, &request)?.sessions.into_iter().next();
    let session = latest.ok_or_else(|| CommandError::not_found("no sessions yet"))?;
    Ok(SessionTarget { session, event: None })
}

/// Loads the events of a session in order, with their numbers.
fn load_events(context: &CommandContext, session: &v1::Session) -> Result<Vec<(u64, Event)>> {
    SessionId::parse(&session.id)?;
    let mut query = EventListQuery {
        session: Some(session.id.clone()),
        project: Some(session.project.clone()),
        newest_first: true,
        limit: PAGE_EVENTS,
        ..EventListQuery::default()
    };
    let mut events: Vec<(u64, Event)> = Vec::new();
    context.block_on(async {
        loop {
            let fetch =
                context.connector.call_idempotent(StartPolicy::IfNotRunning, async |client| {
                    client.list_events(query.clone()).await
                });
            let page = fetch.await?;
            events.extend(page.numbers.into_iter().zip(page.events));
            match page.continuation {
                Some(next) if events.len() < EVENTS_MAX => query.continuation = next,
                _ => return Ok(()),
            }
        }
    })?;
    events.reverse();
    Ok(events)
}

fn turn_json(turn: &ConversationTurn<'_>) -> Value {
    let steps: Vec<Value> = turn.steps.iter().map(step_json).collect();
    json!({
        "turn": turn.number, "at": turn.at, "prompt": turn.prompt.map(|(_, text)| text),
        "number": turn.prompt.map(|(number, _)| number), "steps": steps,
    })
}

fn step_json(step: &TurnStep<'_>) -> Value {
    match step {
        TurnStep::Message { number, text } => {
            json!({"kind": "answer", "number": number, "text": text})
        }
        TurnStep::Objected { number, text } => {
            json!({"kind": "objection", "number": number, "text": text})
        }
        TurnStep::Called { number, line, outcome, reason, edits } => {
            let edits: Vec<Value> = edits
                .iter()
                .map(
                    |edit| json!({"path": edit.path, "added": edit.added, "removed": edit.removed}),
                )
                .collect();
            json!({"kind": "tool", "number": number, "call": line, "outcome": outcome.as_str(), "reason": reason, "edits": edits})
        }
        TurnStep::Note { number, text } => json!({"kind": "note", "number": number, "text": text}),
        TurnStep::Subagent { number, steps } => {
            json!({"kind": "subagent", "number": number, "steps": steps})
        }
    }
}

#[cfg(test)]
mod tests;
