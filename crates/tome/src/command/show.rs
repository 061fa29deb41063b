//! `tome show`: one event, whole.

use std::io::Write;

use anyhow::Result;
use serde_json::Value;
use tome_model::Event;

use super::{Context, Outcome};
use crate::reach::Start;
use crate::render::{self, BOLD, DIM, PLAIN};

pub fn run(context: &Context, id: &str) -> Result<Outcome> {
    let event = context.block_on(async {
        let asked = context.reach.ask(Start::IfAway, async |client| client.event(id, None).await);
        Ok(asked.await?)
    })?;
    if context.json {
        context.print_json(&event)?;
    } else {
        print(&event, &mut anstream::stdout().lock())?;
    }
    Ok(Outcome::Done)
}

/// Prints an event as a person reads it.
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
