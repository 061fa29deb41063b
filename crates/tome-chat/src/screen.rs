//! Shows a chat to a person or a program.
//!
//! Replies stream to standard output; everything else goes to standard error, one dim line each.
//! With `-p` only the complete answer is printed. With `--json` every line of standard output is an
//! object with a `type`: session, text, tool, injected, compaction, again, reply, reflection, note,
//! error.

use std::io::Write;

use serde_json::{Value, json};
use tome_agent::{AgentEvent, AgentRun, FinishReason, Reflection, SkipReason};
use tome_llm::{ToolCall, ToolResult, Usage};
use tome_terminal::{
    BOLD, DIM, RED, RESET, WrappedWriter, YELLOW, format_bytes, format_count, format_counted,
    json_to_text, known_width, one_line, replace_control_chars,
};

use crate::line_wrap::LineWrap;
use crate::user_error::UserError;

/// Maximum length of shown arguments and results.
const SUMMARY_CHARS_MAX: usize = 72;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputMode {
    /// Interactive, for a person.
    Talk,
    /// Only the final answer.
    Answer,
    Json,
}

pub struct ChatOutput {
    mode: OutputMode,
    /// Whether the cursor is in the middle of a line.
    in_line: bool,
    wrap: LineWrap,
}

impl ChatOutput {
    pub fn new(mode: OutputMode) -> Self {
        Self { mode, in_line: false, wrap: LineWrap::new(known_width()) }
    }

    pub fn mode(&self) -> OutputMode {
        self.mode
    }

    /// Shows a status line.
    pub fn show_note(&mut self, text: &str) {
        match self.mode {
            OutputMode::Talk => {
                self.write_status(&format!("{DIM}{}{RESET}", replace_control_chars(text)));
            }
            OutputMode::Answer => {}
            OutputMode::Json => self.write_json(&json!({ "type": "note", "text": text })),
        }
    }

    pub fn show_prompt_sign(&mut self) {
        let mut err = tome_terminal::stderr();
        let _ = write!(err, "{BOLD}>{RESET} ").and_then(|()| err.flush());
    }

    /// Shows an event during the work on a prompt.
    pub fn show_event(&mut self, event: AgentEvent<'_>) {
        match self.mode {
            OutputMode::Talk => self.render_event(event),
            OutputMode::Answer => {}
            OutputMode::Json => self.write_event_json(event),
        }
    }

    fn render_event(&mut self, event: AgentEvent<'_>) {
        match event {
            AgentEvent::Text(text) => self.write_text(text),
            AgentEvent::Retry => self.show_note("the connection was lost; retrying"),
            AgentEvent::ToolCallStart { .. } => {}
            AgentEvent::ToolStart(call) => {
                self.end_line();
                let shown = format!(
                    "{} {}",
                    replace_control_chars(&call.name),
                    one_line(&summarize_arguments(call), SUMMARY_CHARS_MAX)
                );
                let mut err = tome_terminal::stderr();
                // Display errors are ignored; the work continues.
                let _ =
                    write!(err, "{DIM}· {}{RESET}", shown.trim_end()).and_then(|()| err.flush());
            }
            AgentEvent::ToolEnd { result, .. } => {
                let (color, gist) = if result.failed { (YELLOW, "✗ ") } else { (DIM, "→ ") };
                let gist = format!("{gist}{}", summarize_result(result));
                let _ = writeln!(tome_terminal::stderr(), " {color}{gist}{RESET}");
            }
            AgentEvent::Injected { why, .. } => self.show_note(describe_injection(why)),
            AgentEvent::Compacted(made) => {
                let file = made.file.as_deref().unwrap_or("no file: it could not be written");
                let left = format_counted(made.messages as u64, "message", "messages");
                self.show_note(&format!(
                    "· {left} moved out of the context, summarized by {} → {file}",
                    made.by
                ));
            }
            AgentEvent::Reflected(reflection) => self.show_reflection(reflection),
        }
    }

    fn write_event_json(&mut self, event: AgentEvent<'_>) {
        let value = match event {
            AgentEvent::Text(text) => json!({ "type": "text", "text": text }),
            AgentEvent::Retry => json!({ "type": "again" }),
            AgentEvent::ToolCallStart { .. } | AgentEvent::ToolStart(_) => return,
            AgentEvent::ToolEnd { call, result } => json!({
                "type": "tool", "name": call.name,
                "arguments": serde_json::from_str::<Value>(&call.arguments).unwrap_or_else(|_| call.arguments.clone().into()),
                "result": result.text, "failed": result.failed,
            }),
            AgentEvent::Injected { why, text } => {
                json!({ "type": "injected", "why": why, "text": text })
            }
            AgentEvent::Compacted(made) => json!({
                "type": "compaction", "messages": made.messages, "file": made.file,
                "summary": made.summary, "by": made.by, "problem": made.problem,
            }),
            AgentEvent::Reflected(reflection) => return self.show_reflection(reflection),
        };
        self.write_json(&value);
    }

    fn write_text(&mut self, text: &str) {
        let mut out = tome_terminal::stdout();
        let shown = self.wrap.push(&replace_control_chars(text));
        let _ = write!(out, "{shown}").and_then(|()| out.flush());
        if let Some(last) = text.chars().last() {
            self.in_line = last != '\n';
        }
    }

    /// Shows the outcome of a prompt.
    pub fn show_run(&mut self, run: &AgentRun, rounds_max: u32) {
        if self.mode == OutputMode::Json {
            return self.write_json(&json!({
                "type": "reply", "text": run.text, "ended": run.finish_reason.as_str(),
                "rounds": run.rounds, "calls": run.tool_calls, "usage": usage_json(&run.usage),
            }));
        }
        if self.mode == OutputMode::Answer {
            self.write_text(&run.text);
        }
        self.end_line();
        let note = match run.finish_reason {
            FinishReason::Done | FinishReason::Failed => return,
            FinishReason::MaxTokens => {
                "the reply was cut off at the length limit; say `go on`".to_owned()
            }
            FinishReason::Refusal => {
                "the model refused to continue; rephrase the prompt".to_owned()
            }
            FinishReason::Cancelled => "stopped; the reply so far is kept".to_owned(),
            FinishReason::MaxRounds => format!(
                "stopped after {rounds_max} rounds of tool calls; say `go on`, or allow more with --rounds"
            ),
        };
        let _ = writeln!(tome_terminal::stderr(), "{YELLOW}{note}{RESET}");
    }

    pub fn show_reflection(&mut self, reflection: &Reflection) {
        if self.mode == OutputMode::Json {
            return self.write_json(&json!({
                "type": "reflection", "written": reflection.written,
                "skipped": reflection.skipped.map(SkipReason::as_str),
                "refused": reflection.failed_calls, "rounds": reflection.rounds,
                "reached_limit": reflection.reached_limit, "usage": usage_json(&reflection.usage),
            }));
        }
        let limit_note = if reflection.reached_limit {
            "; it reached its limit of rounds or tokens"
        } else {
            ""
        };
        let note = match (reflection.skipped, reflection.written.as_slice()) {
            (Some(skip), _) => format!("· nothing to reflect on yet: {}", skip.as_str()),
            (None, []) => format!("· reflected: nothing new to remember{limit_note}"),
            (None, written) => format!("· remembered in {}{limit_note}", written.join(", ")),
        };
        self.show_note(&note);
    }

    pub fn show_error(&mut self, trouble: &UserError) {
        if self.mode == OutputMode::Json {
            return self.write_json(&json!({
                "type": "error", "error": trouble.message, "kind": trouble.kind, "hint": trouble.hint,
            }));
        }
        self.write_status(&format!(
            "{RED}error:{RESET} {}",
            replace_control_chars(&trouble.message)
        ));
        self.write_status(&format!("{BOLD}hint:{RESET} {}", trouble.hint));
    }

    /// Writes requested output to standard output.
    pub fn write_output(&mut self, text: &str) {
        self.end_line();
        match self.mode {
            OutputMode::Json => self.write_json(
                &json!({ "type": "note", "text": anstream::adapter::strip_str(text).to_string() }),
            ),
            OutputMode::Talk | OutputMode::Answer => {
                drop(writeln!(tome_terminal::stdout(), "{text}"));
            }
        }
    }

    /// Ends the line of the streamed reply, if any.
    pub fn end_line(&mut self) {
        if self.in_line {
            let _ = writeln!(tome_terminal::stdout(), "{}", self.wrap.finish());
            self.in_line = false;
        }
    }

    fn write_status(&mut self, text: &str) {
        self.end_line();
        let _ = writeln!(WrappedWriter::new(tome_terminal::stderr(), 2), "{text}");
    }

    pub fn write_json(&mut self, value: &Value) {
        let _ = tome_terminal::write_json(value);
    }
}

pub fn usage_json(usage: &Usage) -> Value {
    json!({
        "input": usage.input, "cache_read": usage.cache_read,
        "cache_written": usage.cache_written, "output": usage.output,
    })
}

fn summarize_arguments(call: &ToolCall) -> String {
    let Ok(given) = serde_json::from_str::<Value>(&call.arguments) else {
        return call.arguments.clone();
    };
    let text = |name: &str| given.get(name).and_then(Value::as_str);
    let words = ["path", "filename", "query", "question", "title", "pattern"];
    if let Some(steps) = given.get("plan").and_then(Value::as_array) {
        return format_counted(steps.len() as u64, "step", "steps");
    }
    match words.iter().find_map(|name| text(name)) {
        Some(word) => word.to_owned(),
        None if given.as_object().is_some_and(serde_json::Map::is_empty) => String::new(),
        None => json_to_text(&given),
    }
}

/// Summarizes the result of a call.
fn summarize_result(result: &ToolResult) -> String {
    let json: Value = serde_json::from_str(&result.text).unwrap_or_default();
    if json.get("success") == Some(&Value::Bool(true)) {
        let size = json.get("size").and_then(Value::as_u64);
        return size
            .map_or_else(|| "done".to_owned(), |size| format!("written, {}", format_bytes(size)));
    }
    let is_mark =
        |line: &&str| line.starts_with("<tome-quoted") || line.starts_with("</tome-quoted");
    let lines: Vec<&str> =
        result.text.lines().filter(|line| !line.trim().is_empty() && !is_mark(line)).collect();
    match lines.as_slice() {
        [_, _, ..] if !result.failed => format!("{} lines", format_count(lines.len() as u64)),
        [first, ..] => one_line(first.trim_start_matches("Error: "), SUMMARY_CHARS_MAX),
        [] => "nothing".to_owned(),
    }
}

fn describe_injection(why: &str) -> &'static str {
    match why {
        "replan" => "· memory: lessons for this plan, with a request to replan",
        "store" => "· memory: a request to store what was learned",
        _ => "· memory: a reminder of the session's overview",
    }
}
