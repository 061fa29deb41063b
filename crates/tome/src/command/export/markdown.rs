//! An export as Markdown.

use std::io::{Result, Write};

use tome_model::Event;
use tome_terminal::{one_line, replace_control_chars, summarize_event};

use crate::command::tool_text::{InputDetail, render_call_line, render_call_text};

use super::{ExportWriter, Heading, SessionHeading, side_and_time};

/// The first line of a tool call.
const CALL_CHARS: usize = 160;

pub struct MarkdownWriter;

impl ExportWriter for MarkdownWriter {
    fn begin(&mut self, out: &mut dyn Write, heading: &Heading) -> Result<()> {
        writeln!(out, "# {}\n", one_line(&heading.title, 200))?;
        writeln!(out, "Exported by Tome, {}\n", heading.exported)
    }

    fn session(&mut self, out: &mut dyn Write, session: &SessionHeading) -> Result<()> {
        if !session.title.is_empty() {
            writeln!(out, "## {}\n", one_line(&session.title, 200))?;
        }
        writeln!(out, "{}\n", one_line(&session.details, 400))
    }

    fn event(&mut self, out: &mut dyn Write, event: &Event) -> Result<()> {
        let (side, at) = side_and_time(event);
        if let Some(tool) = &event.tool {
            let line = render_call_line(event, CALL_CHARS).unwrap_or_default();
            // The line begins with the name of most tools.
            let call = line.strip_prefix(&tool.name).unwrap_or(&line);
            let call = call.trim_start().trim_start_matches("$ ");
            let call = if call.is_empty() {
                String::new()
            } else {
                format!(" `{}`", call.replace('`', "'"))
            };
            writeln!(out, "**{}**{call}\n", tool.name)?;
            let text = render_call_text(event, &line, InputDetail::Whole);
            return if text.is_empty() { Ok(()) } else { write_fenced(out, &text) };
        }
        if event.text.is_empty() {
            let about = one_line(&summarize_event(event), CALL_CHARS);
            return writeln!(out, "*{}*\n", format!("{side} {about}").trim_end());
        }
        writeln!(out, "### {side}, {at}\n")?;
        writeln!(out, "{}\n", replace_control_chars(event.text.trim_end()))
    }

    fn end(&mut self, _: &mut dyn Write) -> Result<()> {
        Ok(())
    }
}

/// Prints a text between fences that are longer than any in it.
fn write_fenced(out: &mut dyn Write, text: &str) -> Result<()> {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    writeln!(out, "{fence}\n{}\n{fence}\n", replace_control_chars(text.trim_end()))
}
