//! Finds the session that a person means: by its id, by the number or id of an event in it, by a
//! citation, or by a segment of the contents.

use std::path::Path;

use anyhow::Result;
use tome_model::Event;
use tome_proto::v1::open_response::Content;
use tome_proto::{Client, ClientError, event_from_wire, v1};
use tome_recall::Citation;
use tome_terminal::one_line;

use super::citation::open_where_it_is;
use super::project_scope::resolve_project;
use super::session_lookup::{find_session, refuse_unknown};
use super::{CommandContext, CommandError, toc};
use crate::connect::ConnectError;

/// A session, and the event that it was found by.
pub struct SessionTarget {
    pub session: v1::Session,
    pub event: Option<String>,
}

/// Finds a session. A number is an event before it begins the id of a session, as in `tome show`.
pub fn find_session_target(
    context: &CommandContext,
    what: &str,
    project: Option<&Path>,
) -> Result<SessionTarget> {
    let what = what.trim();
    let is_number = !what.is_empty() && what.bytes().all(|byte| byte.is_ascii_digit());
    let cited = if is_number { format!("#{what}") } else { what.to_owned() };
    let is_citation = Citation::looks_like_citation(&cited) && !what.starts_with(toc::NODE_PREFIX);
    let cited = is_citation.then(|| open_citation(context, &cited, project));
    let has_event = cited.as_ref().is_some_and(Result::is_ok);
    if (!is_citation || is_number && !has_event)
        && let Some(session) = find_session(context, what, project)?
    {
        return Ok(SessionTarget { session, event: None });
    }
    let event = match cited {
        Some(opened) => opened?,
        None => match toc::parse_typed_node(what) {
            Some(id) => return find_session_of_node(context, &id, project),
            None => find_event(context, what)?,
        },
    };
    open_session(context, event.session.as_str(), Some(event.id.to_string()))
}

fn open_session(
    context: &CommandContext,
    id: &str,
    event: Option<String>,
) -> Result<SessionTarget> {
    let session = find_session(context, id, None)?.ok_or_else(|| refuse_unknown(id))?;
    Ok(SessionTarget { session, event })
}

/// The session of a segment, from its first event. Other nodes are of several sessions.
fn find_session_of_node(
    context: &CommandContext,
    typed: &str,
    project: Option<&Path>,
) -> Result<SessionTarget> {
    let project = resolve_project(context, project)?.filter(|_| project.is_some());
    let node = toc::find_nodes(context, typed, project.unwrap_or_default())?.into_iter().next();
    let node = node.unwrap_or_default();
    match (node.level.as_str(), node.sessions.as_slice()) {
        ("segment", [session]) => {
            let first = Some(node.first_event.clone()).filter(|id| !id.is_empty());
            open_session(context, session, first)
        }
        _ => {
            let page = toc::typed_period(&node.id);
            let message = format!("{page} is a page of the contents, not a conversation");
            let hint = format!("`tome toc {page}` shows it, with its sessions");
            Err(CommandError::bad_input(message).with_hint(hint).into())
        }
    }
}

/// Returns the event that a citation is about.
fn open_citation(context: &CommandContext, cited: &str, project: Option<&Path>) -> Result<Event> {
    let citation: Citation = cited.parse()?;
    let request = v1::OpenRequest {
        citation: citation.to_string(),
        project: resolve_project(context, project)?.unwrap_or_default(),
        ..v1::OpenRequest::default()
    };
    let opened = open_where_it_is(context, &request)?;
    let event = match opened.content {
        Some(Content::Event(event)) => Some(event_from_wire(event)?),
        Some(Content::Grip(grip)) => {
            grip.events.into_iter().next().map(event_from_wire).transpose()?
        }
        _ => None,
    };
    event.ok_or_else(|| {
        let message = format!("{citation} is not part of a conversation");
        CommandError::bad_input(message).with_hint(format!("use `tome show {citation}`")).into()
    })
}

fn find_event(context: &CommandContext, id: &str) -> Result<Event> {
    let get = async |client: &Client| client.get_event(id, None).await;
    context.connector.call_blocking(get).map_err(|error| match error {
        ConnectError::Client(ClientError::NotFound(_)) => {
            CommandError::not_found(format!("no session or event {}", one_line(id, 120)))
                .with_hint("`tome sessions` lists sessions with their ids")
                .into()
        }
        error => error.into(),
    })
}
