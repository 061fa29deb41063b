//! `tome show`: prints one session, event, node or source, or opens a citation.

use anyhow::Result;
use serde_json::json;
use tome_model::{Event, Millis};
use tome_proto::{Client, ClientError, event_from_wire, v1};
use tome_recall::Citation;
use tome_terminal::{WrappedWriter, one_line};

use super::event_page::print_event;
use super::project_scope::resolve_project;
use super::screen::Screen;
use super::session_lookup::{find_session, load_session_page};
use super::session_page::show_page;
use super::toc;
use super::{CommandContext, CommandError, Outcome, citation};
use crate::cli::contents::ShowArgs;
use crate::connect::ConnectError;

/// Exit code of a refusal that something does not exist.
const NOT_FOUND_CODE: u8 = 4;
/// Characters of a session's id that screens print.
const SESSION_PREFIX_CHARS: usize = 8;
/// Children listed below a node.
const CHILDREN_SHOWN: u32 = 20;

pub fn run(context: &CommandContext, args: &ShowArgs) -> Result<Outcome> {
    if args.id.trim().is_empty() {
        let refusal = CommandError::bad_input("the id is empty");
        return Err(refusal.with_hint("`tome sessions` and `tome events` list ids").into());
    }
    let (id, named) = citation::split_project_id(context, &args.id)?;
    let has_sides = args.before.is_some() || args.after.is_some();
    if has_sides && !id.starts_with(toc::GRIP_PREFIX) {
        return Err(CommandError::bad_input(
            "--before and --after need the id of a source (grip:…)",
        )
        .into());
    }
    // Ids are unique across projects, so no project is needed to find them.
    let project = match (named, &args.project) {
        (Some(root), _) => root,
        (None, Some(folder)) => resolve_project(context, Some(folder))?.unwrap_or_default(),
        (None, None) => String::new(),
    };
    match id {
        id if id.starts_with(toc::NODE_PREFIX) => show_node(context, id, project),
        id if id.starts_with(toc::GRIP_PREFIX) => show_grip(context, id, args, project),
        id if Citation::looks_like_citation(id) => citation::open_citation(context, args, id),
        // A shell takes `#123` for a comment. Digits may also begin the id of an event.
        id if id.bytes().all(|byte| byte.is_ascii_digit()) => {
            let opened = citation::open_citation(context, args, &format!("#{id}"));
            let Err(error) = opened else { return opened };
            // No event has a number that begins with 0.
            let is_number = !id.starts_with('0');
            // A number that screens print for events of several projects.
            if is_number && id.len() < SESSION_PREFIX_CHARS && !is_not_found(&error) {
                return Err(error);
            }
            let found = show_session_or_event(context, id, args, &project);
            found.map_err(|other| if is_number && is_not_found(&other) { error } else { other })
        }
        id if args.session.is_some() => {
            let message =
                format!("--session needs a citation such as messages.jsonl#L45, not {id}");
            Err(CommandError::bad_input(message).into())
        }
        id if toc::parse_typed_node(id).is_some()
            && get_event(context, id, &project).is_err()
            && find_session(context, id, args.project.as_deref())?.is_none() =>
        {
            show_node(context, id, project)
        }
        id => show_session_or_event(context, id, args, &project),
    }
}

/// Shows the session or the event with this id, or with a unique prefix of it.
fn show_session_or_event(
    context: &CommandContext,
    id: &str,
    args: &ShowArgs,
    project: &str,
) -> Result<Outcome> {
    let Some(session) = find_session(context, id, args.project.as_deref())? else {
        return show_event(context, id, args, project).map_err(|error| {
            if is_not_found(&error) {
                CommandError::not_found(format!("no session or event {}", one_line(id, 120)))
                    .with_hint("`tome sessions` and `tome events` list ids")
                    .into()
            } else {
                error
            }
        });
    };
    let is_exact = session.id == id;
    if !is_exact && let Ok(event) = get_event(context, id, project) {
        let message = format!(
            "{id} matches session {} and event {}: use a longer prefix",
            session.id, event.id
        );
        return Err(CommandError::bad_input(message).into());
    }
    let page = load_session_page(context, &session.id, args.project.as_deref())?;
    show_page(context, &page.unwrap_or_default())
}

fn show_event(
    context: &CommandContext,
    id: &str,
    args: &ShowArgs,
    project: &str,
) -> Result<Outcome> {
    let event = get_event(context, id, project)?;
    if context.json {
        context.print_json(&event)?;
    } else {
        let mut out = WrappedWriter::new(tome_terminal::stdout().lock(), 0);
        print_event(&mut out, &Screen::new(context), &event, args.verbose)?;
    }
    Ok(Outcome::Done)
}

fn is_not_found(error: &anyhow::Error) -> bool {
    let refusal = error.downcast_ref::<CommandError>();
    refusal.is_some_and(|refusal| refusal.code == NOT_FOUND_CODE)
        || matches!(error.downcast_ref(), Some(ConnectError::Client(ClientError::NotFound(_))))
}

fn get_event(context: &CommandContext, id: &str, project: &str) -> Result<Event> {
    let project = Some(project).filter(|project| !project.is_empty());
    let get = async |client: &Client| client.get_event(id, project).await;
    Ok(context.connector.call_blocking(get)?)
}

/// Prints the node of the current project if it has one, otherwise of every project that does.
fn show_node(context: &CommandContext, id: &str, project: String) -> Result<Outcome> {
    let here = resolve_project(context, None)?;
    let id = toc::parse_typed_node(id).unwrap_or_else(|| id.to_owned());
    let mut nodes = toc::find_nodes(context, &id, project)?;
    if nodes.iter().any(|node| Some(&node.project) == here.as_ref()) {
        nodes.retain(|node| Some(&node.project) == here.as_ref());
    }
    toc::print_nodes(context, &Screen::new(context), &nodes, CHILDREN_SHOWN)
}

fn show_grip(
    context: &CommandContext,
    id: &str,
    args: &ShowArgs,
    project: String,
) -> Result<Outcome> {
    let (before, after) = (args.before, args.after);
    let request = v1::ExpandGripRequest { project, id: id.to_owned(), before, after };
    let expand = async |client: &Client| client.expand_grip(request.clone()).await;
    let expanded = context.connector.call_blocking(expand)?;
    let events = |events: Vec<v1::Event>| {
        events.into_iter().map(event_from_wire).collect::<Result<Vec<Event>, _>>()
    };
    let around = (events(expanded.before)?, events(expanded.events)?, events(expanded.after)?);
    let (before, from, after) = (&around.0[..], &around.1[..], &around.2[..]);
    let grip = expanded.grip.unwrap_or_default();
    if context.json {
        context.print_json(&json!({
            "id": grip.id, "project": expanded.project, "node": grip.node_id,
            "excerpt": grip.excerpt, "hash": grip.hash, "at": Millis(grip.at_ms),
            "kind": grip.kind, "before": before, "events": from, "after": after,
        }))?;
        return Ok(Outcome::Done);
    }
    let mut out = tome_terminal::stdout().lock();
    let source = toc::ShownSource { grip: &grip, project: &expanded.project, before, from, after };
    toc::print_grip(&mut out, &Screen::new(context), &source, args.verbose)?;
    Ok(Outcome::Done)
}
