//! Renders a conversation for people. Each turn begins with a line that a pager can search for.

use std::io::Write;

use anyhow::Result;
use tome_proto::v1;
use tome_terminal::{
    BOLD, DIM, GREEN, RED, RESET, YELLOW, display_width, format_counted, print_styled, wrap_code,
    wrap_lines,
};

use super::conversation::{ConversationTurn, TurnStep};
use super::markdown::{dim, fit_code, render_markdown};
use crate::command::file_diff::{EditLine, FileDiff};
use crate::command::screen::Screen;
use crate::command::session_page::print_header;

/// Begins the line above each turn, and the line of the cited event.
const TURN_MARK: &str = "── ";
const CITED_MARK: &str = "▶ ";
/// Lines shown of an edit.
const EDIT_LINES_MAX: usize = 40;
/// Columns of the longest rule.
const RULE_WIDTH_MAX: usize = 100;

/// A rendered conversation, and where to open it.
#[derive(Debug, Default)]
pub struct RenderedPage {
    pub text: String,
    /// The search that finds all turns, for a pager; empty to open at a line.
    pub pattern: &'static str,
    /// The match or the line to open at, counted from 1.
    pub open_at: usize,
}

pub fn render_session(
    screen: &Screen,
    session: &v1::Session,
    turns: &[&ConversationTurn<'_>],
    cited: Option<&str>,
    has_keys: bool,
) -> Result<RenderedPage> {
    let mut page = Vec::new();
    write!(page, "{BOLD}{TURN_MARK}{RESET}")?;
    print_header(&mut page, screen, session, display_width(TURN_MARK))?;
    if has_keys {
        let keys = "n next prompt · N previous · q quit";
        writeln!(page, "{}", dim(keys))?;
    }
    // The title is the first match.
    let (mut marks, mut open_at) = (1, 1);
    for turn in turns {
        marks += 1;
        let number = cited.and_then(|id| turn.events.iter().find(|(_, event)| *event == id));
        let cited = number.map(|(number, _)| *number);
        if cited.is_some() {
            open_at = marks;
        }
        let has_mark = render_turn(&mut page, screen, turn, cited)?;
        if has_mark {
            marks += 1;
            open_at = marks;
        }
    }
    let text = String::from_utf8_lossy(&page).into_owned();
    Ok(RenderedPage { text, pattern: "^(── |▶ )", open_at })
}

/// Renders a turn. Returns whether a step of it is marked as the cited one.
fn render_turn(
    out: &mut dyn Write,
    screen: &Screen,
    turn: &ConversationTurn<'_>,
    cited: Option<u64>,
) -> std::io::Result<bool> {
    let width = screen.prose_width();
    let when = format!(
        "{TURN_MARK}{} · {}, {} ",
        turn.number,
        screen.labels.format_weekday(screen.now, turn.at.0),
        screen.labels.format_hour(turn.at.0)
    );
    let rule = "─".repeat(width.min(RULE_WIDTH_MAX).saturating_sub(display_width(&when)));
    writeln!(out, "\n{BOLD}{when}{RESET}{DIM}{rule}{RESET}")?;
    match turn.prompt {
        None => writeln!(out, "{DIM}(no prompt){RESET}")?,
        Some((_, text)) => render_prompt(out, width, text)?,
    }
    // The last step that begins at or before the cited event is the one that shows it.
    let after_prompt =
        cited.filter(|number| turn.prompt.is_none_or(|(prompt, _)| prompt != *number));
    let marked =
        after_prompt.and_then(|number| turn.steps.iter().rposition(|step| step.number() <= number));
    let mut follows_message = true;
    for (index, step) in turn.steps.iter().enumerate() {
        let is_message = matches!(step, TurnStep::Message { .. } | TurnStep::Objected { .. });
        if is_message || follows_message {
            writeln!(out)?;
        }
        follows_message = is_message;
        if marked == Some(index) {
            writeln!(out, "{YELLOW}{CITED_MARK}#{}{RESET}", cited.unwrap_or_default())?;
        }
        render_step(out, width, step)?;
    }
    Ok(marked.is_some())
}

fn render_prompt(out: &mut dyn Write, width: usize, text: &str) -> std::io::Result<()> {
    for line in render_markdown(text, width.saturating_sub(2)) {
        let gap = if line.is_empty() { "" } else { " " };
        writeln!(out, "{GREEN}│{RESET}{gap}{line}")?;
    }
    Ok(())
}

fn render_step(out: &mut dyn Write, width: usize, step: &TurnStep<'_>) -> std::io::Result<()> {
    match step {
        TurnStep::Message { text, .. } => {
            render_markdown(text, width).iter().try_for_each(|line| writeln!(out, "{line}"))
        }
        TurnStep::Objected { text, .. } => render_prompt(out, width, text),
        TurnStep::Called { line, outcome, reason, edits, .. } => {
            let mark = match outcome.has_passed() {
                Some(true) => format!("{GREEN}✓{RESET}"),
                Some(false) => format!("{RED}✗{RESET}"),
                None => format!("{DIM}·{RESET}"),
            };
            if edits.is_empty() {
                let words = outcome.words();
                let end = if words.is_empty() { words } else { format!("  {words}") };
                let room = width.saturating_sub(4 + display_width(&end));
                writeln!(out, "  {mark} {}{RED}{end}{RESET}", fit_code(line, room))?;
                let reason = reason.iter();
                return reason
                    .flat_map(|text| wrap_lines(text, width.saturating_sub(6)))
                    .try_for_each(|line| writeln!(out, "      {DIM}{line}{RESET}"));
            }
            edits.iter().try_for_each(|edit| render_edit(out, width, edit))
        }
        TurnStep::Note { text, .. } => {
            write!(out, "  ")?;
            print_styled(out, DIM, 2, text, width)
        }
        TurnStep::Subagent { steps, .. } => {
            let steps = format_counted(*steps as u64, "step", "steps");
            writeln!(out, "  {DIM}↳ {steps} of a subagent{RESET}")
        }
    }
}

fn render_edit(out: &mut dyn Write, width: usize, edit: &FileDiff) -> std::io::Result<()> {
    let size = match (edit.added, edit.removed) {
        (added, 0) => format!("+{added}"),
        (0, removed) => format!("−{removed}"),
        (added, removed) => format!("+{added} −{removed}"),
    };
    let room = width.saturating_sub(6 + display_width(&size));
    let path = tome_terminal::truncate_start(&tome_terminal::one_line(&edit.path, 1_000), room);
    writeln!(out, "  {GREEN}✎{RESET} {BOLD}{path}{RESET}  {DIM}{size}{RESET}")?;
    let room = width.saturating_sub(6);
    for line in edit.lines.iter().take(EDIT_LINES_MAX) {
        let (style, mark, text) = match line {
            EditLine::Added(text) => (GREEN, "+", text.as_str()),
            EditLine::Removed(text) => (RED, "-", text.as_str()),
            EditLine::Same(text) => (DIM, " ", text.as_str()),
            EditLine::Gap => (DIM, "⋯", ""),
        };
        for (i, part) in wrap_code(text, room).iter().enumerate() {
            let mark = if i == 0 { mark } else { " " };
            writeln!(out, "    {style}{}{RESET}", format!("{mark} {part}").trim_end())?;
        }
    }
    if let hidden @ 1.. = edit.lines.len().saturating_sub(EDIT_LINES_MAX) {
        let hidden = format_counted(hidden as u64, "more line", "more lines");
        wrap_lines(&format!("… {hidden}"), room)
            .iter()
            .try_for_each(|line| writeln!(out, "    {DIM}{line}{RESET}"))?;
    }
    Ok(())
}
