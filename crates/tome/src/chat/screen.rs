//! Shows a chat to a person or a program.
//!
//! Replies stream to standard output; everything else goes to standard error, one dim line each.
//! With `-p` only the complete answer is printed. With `--json` every line of standard output is an
//! object with a `type`: session, text, tool, injected, compaction, again, reply, reflection, note,
//! error.

use std::io::Write;

use serde_json::{Value, json};
use tome_agent::{Ended, Reflection, Run, Said, Skip};
use tome_llm::{ToolCall, ToolResult, Usage};

use super::trouble::Trouble;
use crate::render::{BOLD, DIM, PLAIN, RED, YELLOW, bytes, count, counted, one_line, plain, safe};

/// Maximum length of shown arguments and results.
const GIST_CHARS_MAX: usize = 72;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Interactive, for a person.
    Talk,
    /// Only the final answer.
    Answer,
    Json,
}

pub struct Screen {
    mode: Mode,
    /// Whether the cursor is in the middle of a line.
    in_line: bool,
}

impl Screen {
    pub fn new(mode: Mode) -> Self {
        Self { mode, in_line: false }
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Shows a status line.
    pub fn note(&mut self, text: &str) {
        match self.mode {
            Mode::Talk => self.line(&format!("{DIM}{}{PLAIN}", safe(text))),
            Mode::Answer => {}
            Mode::Json => self.json(&json!({ "type": "note", "text": text })),
        }
    }

    pub fn ask(&mut self) {
        let mut err = crate::terminal::stderr();
        let _ = write!(err, "{BOLD}>{PLAIN} ").and_then(|()| err.flush());
    }

    /// Shows an event during the work on a prompt.
    pub fn said(&mut self, said: Said<'_>) {
        match self.mode {
            Mode::Talk => self.talk(said),
            Mode::Answer => {}
            Mode::Json => self.tell(said),
        }
    }

    fn talk(&mut self, said: Said<'_>) {
        match said {
            Said::Text(text) => self.text(text),
            Said::Again => self.note("the connection was lost; retrying"),
            Said::Beginning { .. } => {}
            Said::Calling(call) => {
                self.fresh_line();
                let shown =
                    format!("{} {}", safe(&call.name), one_line(&arguments(call), GIST_CHARS_MAX));
                let mut err = crate::terminal::stderr();
                // Display errors are ignored; the work continues.
                let _ =
                    write!(err, "{DIM}· {}{PLAIN}", shown.trim_end()).and_then(|()| err.flush());
            }
            Said::Called { result, .. } => {
                let (colour, gist) = if result.failed { (YELLOW, "✗ ") } else { (DIM, "→ ") };
                let gist = format!("{gist}{}", outcome(result));
                let _ = writeln!(crate::terminal::stderr(), " {colour}{gist}{PLAIN}");
            }
            Said::Injected { why, .. } => self.note(injected(why)),
            Said::Compacted(made) => {
                let file = made.file.as_deref().unwrap_or("no file: it could not be written");
                let left = counted(made.messages as u64, "message", "messages");
                self.note(&format!(
                    "· {left} moved out of the context, summarized by {} → {file}",
                    made.by
                ));
            }
            Said::Reflected(reflection) => self.reflected(reflection),
        }
    }

    fn tell(&mut self, said: Said<'_>) {
        let value = match said {
            Said::Text(text) => json!({ "type": "text", "text": text }),
            Said::Again => json!({ "type": "again" }),
            Said::Beginning { .. } | Said::Calling(_) => return,
            Said::Called { call, result } => json!({
                "type": "tool", "name": call.name,
                "arguments": serde_json::from_str::<Value>(&call.arguments).unwrap_or_else(|_| call.arguments.clone().into()),
                "result": result.text, "failed": result.failed,
            }),
            Said::Injected { why, text } => json!({ "type": "injected", "why": why, "text": text }),
            Said::Compacted(made) => json!({
                "type": "compaction", "messages": made.messages, "file": made.file,
                "summary": made.summary, "by": made.by, "problem": made.problem,
            }),
            Said::Reflected(reflection) => return self.reflected(reflection),
        };
        self.json(&value);
    }

    fn text(&mut self, text: &str) {
        let mut out = crate::terminal::stdout();
        let _ = write!(out, "{}", safe(text)).and_then(|()| out.flush());
        if let Some(last) = text.chars().last() {
            self.in_line = last != '\n';
        }
    }

    /// Shows the outcome of a prompt.
    pub fn ran(&mut self, run: &Run, rounds_max: u32) {
        if self.mode == Mode::Json {
            return self.json(&json!({
                "type": "reply", "text": run.text, "ended": run.ended.as_str(),
                "rounds": run.rounds, "calls": run.calls, "usage": usage_json(&run.usage),
            }));
        }
        if self.mode == Mode::Answer {
            self.text(&run.text);
        }
        self.fresh_line();
        let note = match run.ended {
            Ended::Done | Ended::Failed => return,
            Ended::Cut => "the reply was cut off at the length limit; say `go on`".to_owned(),
            Ended::Refused => "the model refused to continue; rephrase the prompt".to_owned(),
            Ended::Stopped => "stopped; the reply so far is kept".to_owned(),
            Ended::RoundsSpent => format!(
                "stopped after {rounds_max} rounds of tool calls; say `go on`, or allow more with --rounds"
            ),
        };
        let _ = writeln!(crate::terminal::stderr(), "{YELLOW}{note}{PLAIN}");
    }

    pub fn reflected(&mut self, reflection: &Reflection) {
        if self.mode == Mode::Json {
            return self.json(&json!({
                "type": "reflection", "written": reflection.written,
                "skipped": reflection.skipped.map(Skip::as_str),
                "refused": reflection.refused, "rounds": reflection.rounds,
                "rounds_spent": reflection.rounds_spent, "usage": usage_json(&reflection.usage),
            }));
        }
        let spent = if reflection.rounds_spent { "; it used up its rounds" } else { "" };
        let said = match (reflection.skipped, reflection.written.as_slice()) {
            (Some(skip), _) => format!("· nothing to reflect on yet: {}", skip.as_str()),
            (None, []) => format!("· reflected: nothing new to remember{spent}"),
            (None, written) => format!("· remembered in {}{spent}", written.join(", ")),
        };
        self.note(&said);
    }

    pub fn trouble(&mut self, trouble: &Trouble) {
        if self.mode == Mode::Json {
            return self.json(&json!({
                "type": "error", "error": trouble.said, "kind": trouble.kind, "hint": trouble.hint,
            }));
        }
        self.line(&format!("{RED}error:{PLAIN} {}", safe(&trouble.said)));
        self.line(&format!("{BOLD}hint:{PLAIN} {}", trouble.hint));
    }

    /// Writes requested output to standard output.
    pub fn plain(&mut self, text: &str) {
        self.fresh_line();
        match self.mode {
            Mode::Json => self.json(
                &json!({ "type": "note", "text": anstream::adapter::strip_str(text).to_string() }),
            ),
            Mode::Talk | Mode::Answer => drop(writeln!(crate::terminal::stdout(), "{text}")),
        }
    }

    /// Ends the line of the streamed reply, if any.
    pub fn fresh_line(&mut self) {
        if self.in_line {
            let _ = writeln!(crate::terminal::stdout());
            self.in_line = false;
        }
    }

    fn line(&mut self, text: &str) {
        self.fresh_line();
        let _ = writeln!(crate::terminal::stderr(), "{text}");
    }

    pub fn json(&mut self, value: &Value) {
        let _ = crate::terminal::write_json(value);
    }
}

pub fn usage_json(usage: &Usage) -> Value {
    json!({
        "input": usage.input, "cache_read": usage.cache_read,
        "cache_written": usage.cache_written, "output": usage.output,
    })
}

/// Summarizes the arguments of a call.
fn arguments(call: &ToolCall) -> String {
    let Ok(given) = serde_json::from_str::<Value>(&call.arguments) else {
        return call.arguments.clone();
    };
    let text = |name: &str| given.get(name).and_then(Value::as_str);
    let words = ["path", "filename", "query", "question", "title", "pattern"];
    if let Some(steps) = given.get("plan").and_then(Value::as_array) {
        return counted(steps.len() as u64, "step", "steps");
    }
    match words.iter().find_map(|name| text(name)) {
        Some(word) => word.to_owned(),
        None if given.as_object().is_some_and(serde_json::Map::is_empty) => String::new(),
        None => plain(&given),
    }
}

/// Summarizes the result of a call.
fn outcome(result: &ToolResult) -> String {
    let told: Value = serde_json::from_str(&result.text).unwrap_or_default();
    if told.get("success") == Some(&Value::Bool(true)) {
        let size = told.get("size").and_then(Value::as_u64);
        return size.map_or_else(|| "done".to_owned(), |size| format!("written, {}", bytes(size)));
    }
    let is_mark =
        |line: &&str| line.starts_with("<tome-quoted") || line.starts_with("</tome-quoted");
    let lines: Vec<&str> =
        result.text.lines().filter(|line| !line.trim().is_empty() && !is_mark(line)).collect();
    match lines.as_slice() {
        [_, _, ..] if !result.failed => format!("{} lines", count(lines.len() as u64)),
        [first, ..] => one_line(first.trim_start_matches("Error: "), GIST_CHARS_MAX),
        [] => "nothing".to_owned(),
    }
}

fn injected(why: &str) -> &'static str {
    match why {
        "replan" => "· memory: lessons for this plan, with a request to replan",
        "store" => "· memory: a request to store what was learned",
        _ => "· memory: a reminder of the session's overview",
    }
}
