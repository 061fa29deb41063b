//! Prints the turn around a cited event: what the user asked, the tool calls in one line each, and what
//! the agent answered. The cited event is marked.

use std::io::Write;

use tome_model::{Event, EventKind};
use tome_terminal::{
    BOLD, DIM, GREEN, Highlighter, RESET, display_width, name_side, one_line, print_styled,
    replace_control_chars, truncate_end, wrap_lines,
};

use super::screen::Screen;
use super::session_lookup::shorten_session;
use super::time;
use super::tool_text::{InputDetail, render_call_line, render_call_text};

/// Bytes shown of a text, by what it is; `--full` shows all.
const CITED_BYTES_MAX: usize = 4_000;
const ANSWER_BYTES_MAX: usize = 2_000;
const PROMPT_BYTES_MAX: usize = 1_200;
const REMARK_BYTES_MAX: usize = 300;
/// A text is cut only if that saves this many bytes.
const CUT_MIN: usize = 200;
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

/// What is shown of a turn, and marked in it.
#[derive(Debug, Clone, Copy)]
pub struct TurnView<'a> {
    /// Number of the cited event.
    pub cited: u64,
    pub verbosity: TurnVerbosity,
    /// Words to mark. A text that is cut keeps the part that matches them best.
    pub words: &'a str,
    /// Whether ids and times are shown whole.
    pub is_verbose: bool,
}

/// Prints events in order, with their numbers.
pub fn print_turn(
    out: &mut dyn Write,
    screen: &Screen,
    events: &[(u64, Event)],
    view: TurnView<'_>,
) -> std::io::Result<()> {
    let TurnView { cited, verbosity, words, is_verbose } = view;
    let Some((_, first)) = events.first() else { return Ok(()) };
    let day = screen.labels.format_weekday(screen.now, first.at.0);
    let branch = first.meta.get("branch").and_then(serde_json::Value::as_str);
    let branch = branch.filter(|name| !matches!(*name, "" | "HEAD"));
    let branch = branch.map(|name| format!(" · {}", one_line(name, 120)));
    let branch = branch.unwrap_or_default();
    let session = match is_verbose {
        true => one_line(first.session.as_str(), 200),
        false => shorten_session(first.session.as_str()),
    };
    print_styled(out, DIM, 0, &format!("{day} · session {session}{branch}"), screen.line_width())?;
    let printer = TurnPrinter {
        screen,
        cited,
        words,
        marks: if words.is_empty() {
            Highlighter::disabled()
        } else {
            Highlighter::from_query(words)
        },
        last_message: events
            .iter()
            .rev()
            .find(|(_, event)| is_message(event))
            .map(|(number, _)| *number),
        day,
        is_whole: verbosity == TurnVerbosity::Whole,
        is_verbose,
    };
    let cited_at = events.iter().position(|(number, _)| *number == cited).unwrap_or(0);
    let is_shown = |at: usize| {
        verbosity != TurnVerbosity::Brief
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
    words: &'a str,
    marks: Highlighter,
    /// Number of the last message.
    last_message: Option<u64>,
    /// The day on which it began; events of that day are printed without it.
    day: String,
    is_whole: bool,
    is_verbose: bool,
}

impl TurnPrinter<'_> {
    fn print_event(&self, out: &mut dyn Write, number: u64, event: &Event) -> std::io::Result<()> {
        let is_cited = number == self.cited;
        let mark = if is_cited { ">" } else { " " };
        let (labels, now) = (&self.screen.labels, self.screen.now);
        let at = match labels.format_weekday(now, event.at.0) == self.day {
            _ if self.is_verbose => time::format_local_time(event.at),
            true => labels.format_hour(event.at.0),
            false => labels.format_date_hour(now, event.at.0),
        };
        let (width, side) =
            (self.screen.line_width(), name_side(event.kind.as_str(), event.agent.as_str()));
        let head = format!("{GREEN}{mark} #{number}{RESET}  {DIM}{at}{RESET}  {BOLD}{side}{RESET}");
        if self.is_verbose {
            writeln!(out, "{DIM}  {}{RESET}", one_line(event.id.as_str(), 200))?;
        }
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
            _ if is_cited => CITED_BYTES_MAX,
            EventKind::UserMessage => PROMPT_BYTES_MAX,
            _ if self.last_message == Some(number) => ANSWER_BYTES_MAX,
            _ => REMARK_BYTES_MAX,
        };
        let shown = if self.is_whole { text } else { cut_text(&text, self.words, most) };
        self.print_wrapped(out, &shown)
    }

    /// Prints a text with its marks. A long line, such as minified code, is broken rather than left to the
    /// terminal.
    fn print_wrapped(&self, out: &mut dyn Write, text: &str) -> std::io::Result<()> {
        let width = self.screen.width.unwrap_or(usize::MAX);
        for line in replace_control_chars(text).lines() {
            if display_width(line) <= width {
                writeln!(out, "{}", self.marks.highlight(line))?;
            } else {
                let mut parts = wrap_lines(line, width).into_iter();
                parts.try_for_each(|part| writeln!(out, "{}", self.marks.highlight(&part)))?;
            }
        }
        Ok(())
    }
}

/// Whether an event is a message rather than a step.
fn is_message(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::UserMessage | EventKind::AssistantMessage | EventKind::AssistantStop
    )
}

/// Keeps the beginning and the end of a long text, because answers conclude at their end, and the part between
/// them that matches some words.
fn cut_text(text: &str, words: &str, most: usize) -> String {
    if text.len() < most + CUT_MIN {
        return text.to_owned();
    }
    let mut shown = String::new();
    let mut end = 0;
    for part in tome_recall::select_parts(words, text, most) {
        let cut = text.get(end..part.start).unwrap_or_default().chars().count();
        if cut > 0 {
            shown.push_str(&format!("\n  … {cut} characters, --full shows them …\n"));
        }
        shown.push_str(text.get(part.clone()).unwrap_or_default());
        end = part.end;
    }
    shown
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
            let view = TurnView {
                cited: 3,
                verbosity: TurnVerbosity::Brief,
                words: "",
                is_verbose: false,
            };
            print_turn(&mut out, &screen, &events, view).unwrap();
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
        assert_eq!(cut_text("hardly longer", "", 10), "hardly longer");
        let text = format!("{}{}", "abcde".repeat(40), "vwxyz".repeat(40));
        let cut = cut_text(&text, "", 10);
        assert!(cut.starts_with("abcde\n") && cut.ends_with("\nvwxyz"), "{cut}");
        assert!(cut.contains("390 characters"), "{cut}");
    }

    #[test]
    fn a_long_text_keeps_the_words_that_were_searched() {
        let filler = "The build prints one line per file.\n".repeat(200);
        let text = format!("{filler}The replication lag limit is 40 seconds.\n{filler}");
        let is_kept = |words| cut_text(&text, words, 4_000).contains("limit is 40 seconds");
        assert!(is_kept("replication lag limit") && !is_kept(""));
    }
}
