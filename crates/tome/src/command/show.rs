//! `tome show`: prints one event, node or source, or opens a citation.

use std::io::Write;

use anyhow::Result;
use serde_json::{Value, json};
use tome_model::{Event, Millis};
use tome_proto::{Client, event_from_wire, v1};
use tome_recall::Citation;

use super::events::project_of;
use super::toc::{self, Labels};
use super::{Context, Outcome, Refusal, citation};
use crate::cli::contents::Show;
use crate::reach::Start;
use crate::render::{self, BOLD, DIM, PLAIN};

/// Children listed below a node.
const NODES_BELOW: u32 = 20;

pub fn run(context: &Context, asked: &Show) -> Result<Outcome> {
    let (id, named) = citation::within_project(context, &asked.id)?;
    let has_sides = asked.before.is_some() || asked.after.is_some();
    if has_sides && !id.starts_with(toc::GRIP) {
        return Err(
            Refusal::bad_input("--before and --after need the id of a source (grip:…)").into()
        );
    }
    // Ids are unique across projects, so no project is needed to find them.
    let project = match (named, &asked.project) {
        (Some(root), _) => root,
        (None, Some(folder)) => project_of(context, Some(folder))?.unwrap_or_default(),
        (None, None) => String::new(),
    };
    match id {
        id if id.starts_with(toc::NODE) => node(context, id, project),
        id if id.starts_with(toc::GRIP) => grip(context, id, asked, project),
        id if Citation::is_meant(id) => citation::show(context, asked),
        id if asked.session.is_some() => {
            let said = format!("--session needs a citation such as messages.jsonl#L45, not {id}");
            Err(Refusal::bad_input(said).into())
        }
        id => event(context, id, &project),
    }
}

fn event(context: &Context, id: &str, project: &str) -> Result<Outcome> {
    let project = Some(project).filter(|project| !project.is_empty());
    let event = context.block_on(async {
        let asked =
            context.reach.ask(Start::IfAway, async |client| client.event(id, project).await);
        Ok(asked.await?)
    })?;
    if context.json {
        context.print_json(&event)?;
    } else {
        print(&event, &mut crate::terminal::stdout().lock())?;
    }
    Ok(Outcome::Done)
}

/// Prints the node of the current project if it has one, otherwise of every project that does.
fn node(context: &Context, id: &str, project: String) -> Result<Outcome> {
    let here = project_of(context, None)?;
    let request = v1::GetNodeRequest { project, id: id.to_owned(), version: 0 };
    let found = context.block_on(async {
        let asked =
            context.reach.ask(Start::IfAway, async |client| client.node(request.clone()).await);
        Ok(asked.await?)
    })?;
    let mut nodes = found.nodes;
    if nodes.iter().any(|node| Some(&node.project) == here.as_ref()) {
        nodes.retain(|node| Some(&node.project) == here.as_ref());
    }
    toc::print_nodes(context, &Labels::of(&context.settings), &nodes, NODES_BELOW)
}

fn grip(context: &Context, id: &str, asked: &Show, project: String) -> Result<Outcome> {
    let (before, after) = (asked.before, asked.after);
    let request = v1::ExpandGripRequest { project, id: id.to_owned(), before, after };
    let found = context.block_on(async {
        let expand = async |client: &Client| client.expand_grip(request.clone()).await;
        Ok(context.reach.ask(Start::IfAway, expand).await?)
    })?;
    let events = |events: Vec<v1::Event>| {
        events.into_iter().map(event_from_wire).collect::<Result<Vec<Event>, _>>()
    };
    let around = (events(found.before)?, events(found.events)?, events(found.after)?);
    let (before, from, after) = (&around.0[..], &around.1[..], &around.2[..]);
    let grip = found.grip.unwrap_or_default();
    if context.json {
        context.print_json(&json!({
            "id": grip.id, "project": found.project, "node": grip.node_id,
            "excerpt": grip.excerpt, "hash": grip.hash, "at": Millis(grip.at_ms),
            "kind": grip.kind, "before": before, "events": from, "after": after,
        }))?;
        return Ok(Outcome::Done);
    }
    let labels = Labels::of(&context.settings);
    let mut out = crate::terminal::stdout().lock();
    toc::print_grip(&mut out, &labels, &grip, &found.project, (before, from, after))?;
    Ok(Outcome::Done)
}

/// Prints an event for people.
pub fn print(event: &Event, out: &mut dyn Write) -> std::io::Result<()> {
    let mut field = |name: &str, value: &str| writeln!(out, "{DIM}{name:<9}{PLAIN}{value}");
    let session = render::one_line(event.session.as_str(), 200);
    field("id", event.id.as_str())?;
    field("kind", &format!("{BOLD}{}{PLAIN} ({})", event.kind, event.role))?;
    field("at", &format!("{} {DIM}{}{PLAIN}", render::local(event.at), event.at))?;
    if event.arrived.distance_ms(event.at) >= 60_000 {
        field("arrived", &render::local(event.arrived))?;
    }
    field("agent", event.agent.as_str())?;
    field("session", &session)?;
    field("project", &event.project)?;
    if event.cwd != event.project {
        field("cwd", &event.cwd)?;
    }
    if !event.meta.is_empty() {
        field("meta", &serde_json::to_string(&event.meta).unwrap_or_default())?;
    }
    if let Some(tool) = &event.tool {
        field("tool", &tool.name)?;
        section(out, "input", &tool.input)?;
        section(out, "output", &tool.output)?;
    }
    if !event.text.is_empty() {
        writeln!(out, "\n{}", render::safe(&event.text))?;
    }
    Ok(())
}

fn section(out: &mut dyn Write, name: &str, value: &Value) -> std::io::Result<()> {
    match value {
        Value::Null => Ok(()),
        Value::String(text) => writeln!(out, "\n{DIM}{name}{PLAIN}\n{}", render::safe(text)),
        value => writeln!(out, "\n{DIM}{name}{PLAIN}\n{value:#}"),
    }
}
