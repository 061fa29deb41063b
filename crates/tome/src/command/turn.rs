//! Prints the turn around a cited event: what the user asked, the tool calls in one line each, and what
//! the agent answered. The cited event is marked.

use std::io::Write;

use tome_model::{Event, EventKind};
use tome_terminal::{
    BOLD, DIM, GREEN, RESET, display_width, name_side, one_line, print_styled,
    replace_control_chars, truncate_end, wrap_lines,
};

use super::screen::Screen;
use super::session_lookup::shorten_session;
use super::tool_text::{InputDetail, render_call_line, render_call_text};

/// Characters shown of a text, by what it is; `--full` shows all.
const CITED_CHARS_MAX: usize = 4_000;
const ANSWER_CHARS_MAX: usize = 2_000;
const PROMPT_CHARS_MAX: usize = 1_200;
const REMARK_CHARS_MAX: usize = 300;
/// A text is cut only if that saves this many characters.
const CUT_CHARS_MIN: usize = 200;
const TOOL_CHARS_MAX: usize = 160;
/// Events that are shown at either end of a turn and on either side of the cited one; those between them are
/// counted.
const EVENTS_SHOWN: usize = 4;
const GIST_CHARS_MIN: usize = 20;

/// How much of a turn is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnVerbosity {
    /// Its ends and the events around the cited one, long texts cut in the middle.
    Brief,
    /// Every event, long texts cut in the middle.
    EveryEvent,
    /// Every event and every text.
    Whole,
}

/// Prints events in order, with their numbers.
pub fn print_turn(
    out: &mut dyn Write,
    screen: &Screen,
    events: &[(u64, Event)],
    cited: u64,
    detail: TurnVerbosity,
) -> std::io::Result<()> {
    let Some((_, first)) = events.first() else { return Ok(()) };
    let day = screen.labels.format_weekday(screen.now, first.at.0);
    let branch = first.meta.get("branch").and_then(serde_json::Value::as_str);
    let branch = branch.filter(|name| !matches!(*name, "" | "HEAD"));
    let branch = branch.map(|name| format!(" · {}", one_line(name, 120)));
    let branch = branch.unwrap_or_default();
    let session = shorten_session(first.session.as_str());
    print_styled(out, DIM, 0, &format!("{day} · session {session}{branch}"), screen.line_width())?;
    let printer = TurnPrinter {
        screen,
        cited,
        last_message: events
            .iter()
            .rev()
            .find(|(_, event)| is_message(event))
            .map(|(number, _)| *number),
        day,
        is_whole: detail == TurnVerbosity::Whole,
    };
    let cited_at = events.iter().position(|(number, _)| *number == cited).unwrap_or(0);
    let is_shown = |at: usize| {
        detail != TurnVerbosity::Brief
            || at <= EVENTS_SHOWN
            || at + EVENTS_SHOWN >= events.len()
            || at.abs_diff(cited_at) <= EVENTS_SHOWN
            || events.get(at).is_some_and(|(number, _)| Some(*number) == printer.last_message)
    };
    let indexed: Vec<(usize, &(u64, Event))> = events.iter().enumerate().collect();
    for run in indexed.chunk_by(|(one, _), (next, _)| is_shown(*one) == is_shown(*next)) {
        match run {
            // One line would take the place of another.
            [(at, (from, _)), .., (_, (to, _))] if !is_shown(*at) => {
                writeln!(out, "{DIM}  … {} more events, #{from} to #{to} …{RESET}", run.len())?;
            }
            _ => run
                .iter()
                .try_for_each(|(_, (number, event))| printer.print_event(out, *number, event))?,
        }
    }
    Ok(())
}

/// Prints the events of one turn.
struct TurnPrinter<'a> {
    screen: &'a Screen,
    cited: u64,
    /// Number of the last message.
    last_message: Option<u64>,
    /// The day on which it began; events of that day are printed without it.
    day: String,
    is_whole: bool,
}

impl TurnPrinter<'_> {
    fn print_event(&self, out: &mut dyn Write, number: u64, event: &Event) -> std::io::Result<()> {
        let is_cited = number == self.cited;
        let mark = if is_cited { ">" } else { " " };
        let (labels, now) = (&self.screen.labels, self.screen.now);
        let at = match labels.format_weekday(now, event.at.0) == self.day {
            true => labels.format_hour(event.at.0),
            false => labels.format_date_hour(now, event.at.0),
        };
        let (width, side) =
            (self.screen.line_width(), name_side(event.kind.as_str(), event.agent.as_str()));
        let head = format!("{GREEN}{mark} #{number}{RESET}  {DIM}{at}{RESET}  {BOLD}{side}{RESET}");
        if !is_cited && !is_message(event) && !self.is_whole {
            let start = format!("{mark} #{number}  {at}  {side}  ");
            let columns = width.saturating_sub(display_width(&start));
            let columns = columns.clamp(GIST_CHARS_MIN, TOOL_CHARS_MAX);
            let gist = || one_line(&tome_terminal::summarize_event(event), columns);
            let gist = render_call_line(event, columns).unwrap_or_else(gist);
            let gist = truncate_end(&gist, columns);
            return writeln!(out, "{}", format!("{head}  {gist}").trim_end());
        }
        writeln!(out, "\n{head}")?;
        let line = render_call_line(event, width.min(TOOL_CHARS_MAX));
        let text = match (&line, event.text.trim()) {
            (Some(line), "") => {
                writeln!(out, "{}", replace_control_chars(line))?;
                let detail = if self.is_whole { InputDetail::Whole } else { InputDetail::Brief };
                render_call_text(event, line, detail)
            }
            (_, text) => text.to_owned(),
        };
        let most = match event.kind {
            _ if is_cited => CITED_CHARS_MAX,
            EventKind::UserMessage => PROMPT_CHARS_MAX,
            _ if self.last_message == Some(number) => ANSWER_CHARS_MAX,
            _ => REMARK_CHARS_MAX,
        };
        let shown = if self.is_whole { text } else { cut_middle(&text, most) };
        print_wrapped(out, &shown, self.screen.width)
    }
}

/// Prints a text. A long line, such as minified code, is broken rather than left to the terminal.
fn print_wrapped(out: &mut dyn Write, text: &str, width: Option<usize>) -> std::io::Result<()> {
    let width = width.unwrap_or(usize::MAX);
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
    format!("{first}\n  … {cut} characters, --full shows them …\n{last}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(minute: u64, fields: &serde_json::Value) -> Event {
        let mut line = serde_json::json!({
            "id": format!("event-{minute}"), "session_id": "419f42f0-2fa1-44cc-8b4d-babf59901513",
            "agent": "claude-code", "cwd": "/home/dev/app", "kind": "user_message",
            "at": 1_794_735_000_000_u64 + minute * 60_000,
            "meta": {"branch": "feature/unicode"},
        });
        for (name, value) in fields.as_object().into_iter().flatten() {
            line[name] = value.clone();
        }
        let line = tome_model::EventLine::parse(&line.to_string()).unwrap();
        let draft = line.into_draft().unwrap();
        let at = draft.at;
        let id = tome_model::EventId::parse(&format!("event-{minute}")).unwrap();
        draft.into_event(id, "/home/dev/app".to_owned(), at)
    }

    #[test]
    fn a_turn_fits_every_width() {
        let call = serde_json::json!({
            "kind": "tool_result", "text": "",
            "tool": {"name": "Bash", "input": {"command": "cargo test --workspace -- --nocapture lexer::identifiers"},
                     "output": "Exit code 101"},
        });
        let answer = "Decided to use `unicode_ident`, because it is small and has no dependencies. Identifiers follow the XID rules now.";
        let events = [
            (
                1,
                event(
                    0,
                    &serde_json::json!({"text": "Please make the lexer accept unicode identifiers."}),
                ),
            ),
            (2, event(1, &call)),
            (3, event(2, &serde_json::json!({"kind": "assistant_message", "text": answer}))),
        ];
        let mut screens = String::new();
        for width in [60, 80, 100, 160] {
            let (mut out, screen) = (Vec::new(), Screen::for_test(1_794_735_000_000, width));
            print_turn(&mut out, &screen, &events, 3, TurnVerbosity::Brief).unwrap();
            let text = String::from_utf8(anstream::adapter::strip_bytes(&out).into_vec()).unwrap();
            assert!(text.lines().all(|line| display_width(line) <= width), "{width}: {text}");
            screens.push_str(&format!("at {width}:\n{text}"));
        }
        expect_test::expect![[r#"
            at 60:
            Sun, Nov 15 · session 419f42f0 · feature/unicode

              #1  09:30  user
            Please make the lexer accept unicode identifiers.
              #2  09:31  tool  $ cargo test --workspace -- -… (exit 101)

            > #3  09:32  claude-code
            Decided to use `unicode_ident`, because it is small and has
            no dependencies. Identifiers follow the XID rules now.
            at 80:
            Sun, Nov 15 · session 419f42f0 · feature/unicode

              #1  09:30  user
            Please make the lexer accept unicode identifiers.
              #2  09:31  tool  $ cargo test --workspace -- --nocapture lexer::id… (exit 101)

            > #3  09:32  claude-code
            Decided to use `unicode_ident`, because it is small and has no dependencies.
            Identifiers follow the XID rules now.
            at 100:
            Sun, Nov 15 · session 419f42f0 · feature/unicode

              #1  09:30  user
            Please make the lexer accept unicode identifiers.
              #2  09:31  tool  $ cargo test --workspace -- --nocapture lexer::identifiers (exit 101)

            > #3  09:32  claude-code
            Decided to use `unicode_ident`, because it is small and has no dependencies. Identifiers follow the
            XID rules now.
            at 160:
            Sun, Nov 15 · session 419f42f0 · feature/unicode

              #1  09:30  user
            Please make the lexer accept unicode identifiers.
              #2  09:31  tool  $ cargo test --workspace -- --nocapture lexer::identifiers (exit 101)

            > #3  09:32  claude-code
            Decided to use `unicode_ident`, because it is small and has no dependencies. Identifiers follow the XID rules now.
        "#]].assert_eq(&screens);
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_end() {
        assert_eq!(cut_middle("hardly longer", 10), "hardly longer");
        let text = format!("{}{}", "abcde".repeat(40), "vwxyz".repeat(40));
        let cut = cut_middle(&text, 10);
        assert!(cut.starts_with("abcdea\n") && cut.ends_with("\nwxyz"), "{cut}");
        assert!(cut.contains("390 characters"), "{cut}");
    }
}
