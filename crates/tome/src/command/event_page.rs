//! The page of an event.

use std::io::Write;

use tome_model::{Event, Millis};
use tome_terminal::{BOLD, DIM, RESET, one_line, replace_control_chars};

use super::screen::Screen;
use super::session_lookup::shorten_session;
use super::time;
use super::tool_text::{render_input, render_output};

/// Characters shown of an id; the others only with `--verbose`.
const ID_CHARS_SHOWN: usize = 12;

/// Prints an event for people; ids, times and metadata whole if `is_verbose`.
pub fn print_event(
    out: &mut dyn Write,
    screen: &Screen,
    event: &Event,
    is_verbose: bool,
) -> std::io::Result<()> {
    let mut field = |name: &str, value: &str| match value {
        "" => Ok(()),
        value => writeln!(out, "{DIM}{name:<9}{RESET}{value}"),
    };
    let shorten = |id: &str| {
        let chars = if is_verbose { 200 } else { ID_CHARS_SHOWN };
        one_line(id, 200).chars().take(chars).collect::<String>()
    };
    let format_at = |at: Millis| match is_verbose {
        true => format!("{} {DIM}{at}{RESET}", time::format_local_time(at)),
        false => screen.labels.format_date_hour(screen.now, at.0),
    };
    field("id", &shorten(event.id.as_str()))?;
    field("kind", &format!("{BOLD}{}{RESET} ({})", event.kind, event.role))?;
    field("at", &format_at(event.at))?;
    if event.arrived.distance_ms(event.at) >= 60_000 {
        field("arrived", &format_at(event.arrived))?;
    }
    field("agent", &replace_control_chars(event.agent.as_str()))?;
    if is_verbose {
        field("session", &one_line(event.session.as_str(), 200))?;
        field("project", &replace_control_chars(&event.project))?;
        field("meta", &serde_json::to_string(&event.meta).unwrap_or_default())?;
    } else {
        field("session", &shorten_session(event.session.as_str()))?;
        field("project", &screen.projects.name(&event.project))?;
        let branch = event.meta.get("branch").and_then(serde_json::Value::as_str);
        field("branch", &one_line(branch.unwrap_or_default(), 120))?;
    }
    if event.cwd != event.project {
        field("folder", &screen.path(&event.cwd))?;
    }
    if let Some(tool) = &event.tool {
        field("tool", &replace_control_chars(&tool.name))?;
        print_section(out, "input", &render_input(&tool.input))?;
        print_section(out, "output", &render_output(tool, ""))?;
    }
    if !event.text.is_empty() {
        writeln!(out, "\n{}", replace_control_chars(&event.text))?;
    }
    Ok(())
}

fn print_section(out: &mut dyn Write, name: &str, text: &str) -> std::io::Result<()> {
    match text.trim_end() {
        "" => Ok(()),
        text => writeln!(out, "\n{DIM}{name}{RESET}\n{}", replace_control_chars(text)),
    }
}
