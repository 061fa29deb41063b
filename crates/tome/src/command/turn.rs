//! Prints the turn around a cited event: what the user asked, the tool calls in one line each, and what
//! the agent answered. The cited event is marked.

use std::io::Write;

use tome_model::{Event, EventKind};
use tome_terminal::{
    BOLD, DIM, GREEN, RESET, display_width, known_width, name_side, one_line,
    replace_control_chars, terminal_width, truncate_end, wrap_lines,
};

use super::time;
use super::tool_text::{InputDetail, render_call_line, render_call_text};

/// Characters shown of a text, by what it is; `--whole` shows all.
const CITED_CHARS_MAX: usize = 4_000;
const ANSWER_CHARS_MAX: usize = 2_000;
const PROMPT_CHARS_MAX: usize = 1_200;
const REMARK_CHARS_MAX: usize = 300;
/// A text is cut only if that saves this many characters.
const CUT_CHARS_MIN: usize = 200;
const TOOL_CHARS_MAX: usize = 160;
/// Steps in a row that are shown at either end; those between them are counted.
const STEPS_SHOWN: usize = 4;
const GIST_CHARS_MIN: usize = 20;

/// Prints events in order, with their numbers.
pub fn print_turn(
    out: &mut dyn Write,
    events: &[(u64, Event)],
    cited: u64,
    is_whole: bool,
) -> std::io::Result<()> {
    if let Some((_, first)) = events.first() {
        let branch = first.meta.get("branch").and_then(serde_json::Value::as_str);
        let branch = branch.filter(|name| !matches!(*name, "" | "HEAD"));
        let branch = branch.map(|name| format!(", branch {}", one_line(name, 120)));
        let branch = branch.unwrap_or_default();
        let session = one_line(first.session.as_str(), 80);
        writeln!(out, "{DIM}session {session}{branch}{RESET}")?;
    }
    let is_step = |(number, event): &(u64, Event)| *number != cited && !is_message(event);
    for run in events.chunk_by(|one, next| is_step(one) && is_step(next)) {
        let hidden = run.len().saturating_sub(2 * STEPS_SHOWN);
        // One line would take the place of another.
        if is_whole || hidden < 2 {
            print_events(out, events, run, cited, is_whole)?;
            continue;
        }
        let (first, rest) = run.split_at(STEPS_SHOWN);
        let (between, last) = rest.split_at(hidden);
        print_events(out, events, first, cited, is_whole)?;
        if let (Some((from, _)), Some((to, _))) = (between.first(), between.last()) {
            writeln!(out, "{DIM}  … {hidden} more steps, #{from} to #{to} …{RESET}")?;
        }
        print_events(out, events, last, cited, is_whole)?;
    }
    Ok(())
}

/// Prints some of the events of a turn.
fn print_events(
    out: &mut dyn Write,
    turn: &[(u64, Event)],
    events: &[(u64, Event)],
    cited: u64,
    is_whole: bool,
) -> std::io::Result<()> {
    let last_message = turn.iter().rev().find(|(_, event)| is_message(event));
    let last_message = last_message.map(|(number, _)| *number);
    let detail = if is_whole { InputDetail::Whole } else { InputDetail::Brief };
    for (number, event) in events {
        let is_cited = *number == cited;
        let mark = if is_cited { ">" } else { " " };
        let (at, side) = (time::format_local_time(event.at), name_side(event));
        let head = format!("{GREEN}{mark} #{number}{RESET}  {DIM}{at}{RESET}  {BOLD}{side}{RESET}");
        let line = render_call_line(event, TOOL_CHARS_MAX);
        if !is_cited && !is_message(event) && !is_whole {
            let gist = || one_line(&tome_terminal::summarize_event(event), TOOL_CHARS_MAX);
            let start = format!("{mark} #{number}  {at}  {side}  ");
            let columns = terminal_width().saturating_sub(display_width(&start));
            let gist = truncate_end(&line.unwrap_or_else(gist), columns.max(GIST_CHARS_MIN));
            writeln!(out, "{}", format!("{head}  {gist}").trim_end())?;
            continue;
        }
        writeln!(out, "\n{head}")?;
        let text = match (&line, event.text.trim()) {
            (Some(line), "") => {
                let line = truncate_end(line, terminal_width());
                writeln!(out, "{}", replace_control_chars(&line))?;
                render_call_text(event, &line, detail)
            }
            (_, text) => text.to_owned(),
        };
        let most = match event.kind {
            _ if is_cited => CITED_CHARS_MAX,
            EventKind::UserMessage => PROMPT_CHARS_MAX,
            _ if last_message == Some(*number) => ANSWER_CHARS_MAX,
            _ => REMARK_CHARS_MAX,
        };
        let shown = if is_whole { text.clone() } else { cut_middle(&text, most) };
        print_wrapped(out, &shown)?;
    }
    Ok(())
}

/// Prints a text. A long line, such as minified code, is broken rather than left to the terminal.
fn print_wrapped(out: &mut dyn Write, text: &str) -> std::io::Result<()> {
    let width = known_width().unwrap_or(usize::MAX);
    for line in replace_control_chars(text).lines() {
        if display_width(line) <= width {
            writeln!(out, "{line}")?;
        } else {
            wrap_lines(line, width).iter().try_for_each(|part| writeln!(out, "{part}"))?;
        }
    }
    Ok(())
}

/// Whether an event is a message rather than a step.
fn is_message(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::UserMessage | EventKind::AssistantMessage | EventKind::AssistantStop
    )
}

/// Keeps the beginning and the end of a long text: answers conclude at their end.
fn cut_middle(text: &str, most: usize) -> String {
    let length = text.chars().count();
    if length < most + CUT_CHARS_MIN {
        return text.to_owned();
    }
    let (head, tail) = (most * 3 / 5, most * 2 / 5);
    let first: String = text.chars().take(head).collect();
    let last: String = text.chars().skip(length - tail).collect();
    let cut = length - head - tail;
    format!("{first}\n  … {cut} characters, --whole shows them …\n{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_keeps_its_beginning_and_end() {
        assert_eq!(cut_middle("hardly longer", 10), "hardly longer");
        let text = format!("{}{}", "abcde".repeat(40), "vwxyz".repeat(40));
        let cut = cut_middle(&text, 10);
        assert!(cut.starts_with("abcdea\n") && cut.ends_with("\nwxyz"), "{cut}");
        assert!(cut.contains("390 characters"), "{cut}");
    }
}
