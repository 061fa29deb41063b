//! The outcome of a tool call, as its payload reports it. Without evidence it is unknown.

use serde_json::Value;
use tome_model::{Event, Tool, truncate_to};

use crate::extract::commands::failures::render_failure_message;
use crate::extract::language::text::{find_text_field, first_and_last_bytes, output_texts};
use crate::rejection::begins_with_rejection;

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolOutcome {
    /// It ended with an exit code, or with an equivalent flag.
    Exited(i64),
    /// It failed without an exit code, or its output reports a failure that the exit code hides.
    Failed,
    /// The user or a rule did not allow it.
    Rejected,
    /// The user stopped it.
    Interrupted,
    /// It ran into a time limit.
    TimedOut,
    /// The agent did not run it: its arguments were invalid, or a call beside it failed.
    NotRun,
    /// Its result was never recorded.
    NoResult,
    /// The payload does not show it.
    Unknown,
}

impl ToolOutcome {
    /// Whether the call passed; `None` if its payload does not show it.
    pub fn has_passed(self) -> Option<bool> {
        match self {
            Self::Exited(code) => Some(code == 0),
            Self::NoResult | Self::Unknown => None,
            Self::Failed | Self::Rejected | Self::Interrupted | Self::TimedOut | Self::NotRun => {
                Some(false)
            }
        }
    }

    /// The outcome in words; empty if the call passed or its outcome is unknown.
    pub fn words(self) -> String {
        match self {
            Self::Exited(0) | Self::Unknown => String::new(),
            Self::Exited(code) => format!("exit {code}"),
            Self::Failed => "failed".to_owned(),
            Self::Rejected => "rejected".to_owned(),
            Self::Interrupted => "stopped by the user".to_owned(),
            Self::TimedOut => "timed out".to_owned(),
            Self::NotRun => "not run".to_owned(),
            Self::NoResult => "no result recorded".to_owned(),
        }
    }

    /// One word, for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exited(0) => "passed",
            Self::Exited(_) | Self::Failed => "failed",
            Self::Rejected => "rejected",
            Self::Interrupted => "interrupted",
            Self::TimedOut => "timed_out",
            Self::NotRun => "not_run",
            Self::NoResult => "no_result",
            Self::Unknown => "unknown",
        }
    }
}

const INTERRUPTED: [&str; 6] = [
    "[Request interrupted by user",
    "Interrupted by user",
    "aborted by user",
    "Command was aborted",
    "Tool execution aborted",
    "[Operation Cancelled]",
];
const TIMED_OUT: [&str; 4] =
    ["Command timed out after", "command timed out", "timed out after", "Timeout: "];
const NOT_RUN: [&str; 2] = ["Sibling tool call errored", "Cancelled: parallel tool call"];
const BACKGROUND: [&str; 2] =
    ["Command running in background", "Command was manually backgrounded"];
/// Errors of a call that was made with wrong arguments, so that nothing ran.
const INVALID: [&str; 5] =
    ["InputValidationError", "No such tool", "Unknown tool", "Invalid tool", "Tool not found"];
/// Encloses errors of Claude Code's own tools.
const ERROR_TAG: &str = "<tool_use_error>";

/// Reads the outcome of a tool call.
pub(crate) fn read_outcome(event: &Event, tool: &Tool) -> ToolOutcome {
    if event.has_no_result() {
        return ToolOutcome::NoResult;
    }
    let is_set = |value: Option<&Value>| value.and_then(Value::as_bool) == Some(true);
    let failed = event.is_marked_failed();
    let result = find_text_field(&tool.output, &["resultType"]);
    let texts = output_texts(event);
    let first = texts.iter().map(|text| text.trim_start()).find(|text| !text.is_empty());
    let head = truncate_to(first.unwrap_or_default(), 400);
    let error = head.strip_prefix(ERROR_TAG).map(str::trim_start);
    let head = error.unwrap_or(head);
    let begins = |marks: &[&str]| marks.iter().any(|mark| head.starts_with(mark));
    if matches!(result, Some("denied" | "rejected")) || begins_with_rejection(head) {
        return ToolOutcome::Rejected;
    }
    if is_set(event.meta.get("is_interrupt"))
        || is_set(tool.output.get("interrupted"))
        || begins(&INTERRUPTED)
    {
        return ToolOutcome::Interrupted;
    }
    if begins(&NOT_RUN) || begins(&INVALID) {
        return ToolOutcome::NotRun;
    }
    if error.is_some() {
        return ToolOutcome::Failed;
    }
    // The command continues after the call.
    if begins(&BACKGROUND) || tool.output.get("backgroundTaskId").is_some_and(Value::is_string) {
        return ToolOutcome::Unknown;
    }
    let code = find_exit_code(event, tool, &texts);
    if code.is_none_or(|code| code != 0) && (begins(&TIMED_OUT) || has_timed_out(tool)) {
        return ToolOutcome::TimedOut;
    }
    // Claude Code reports failures as text: an output with streams means exit code 0.
    let streams = tool.output.get("stdout").is_some();
    match code {
        Some(code) => ToolOutcome::Exited(code),
        None if failed || result == Some("failure") => ToolOutcome::Exited(1),
        None if streams => ToolOutcome::Exited(0),
        None => ToolOutcome::Unknown,
    }
}

/// The first line of an error, without exit code and tags.
pub(crate) fn read_error(event: &Event) -> Option<String> {
    let texts = output_texts(event);
    let lines = texts.iter().flat_map(|text| truncate_to(text, 2_000).lines());
    let mut bare = lines.map(|line| line.trim().trim_start_matches(ERROR_TAG));
    let line = bare.find(|line| !line.is_empty() && parse_exit_code(line).is_none())?;
    let line = line.trim_end_matches("</tool_use_error>");
    line.chars().any(char::is_alphanumeric).then(|| render_failure_message(line))
}

fn has_timed_out(tool: &Tool) -> bool {
    ["timed_out", "timedOut"]
        .iter()
        .any(|name| tool.output.get(name).and_then(Value::as_bool) == Some(true))
}

/// Finds the exit code, if the agent reports one.
fn find_exit_code(event: &Event, tool: &Tool, texts: &[&str]) -> Option<i64> {
    let objects = [Some(&tool.output), tool.output.get("metadata"), event.meta.get("metadata")];
    // Beside its words, a code is the status of an HTTP response.
    let objects = objects.into_iter().flatten().filter(|object| object.get("codeText").is_none());
    let field = objects.into_iter().find_map(|object| {
        ["exitCode", "exit_code", "exit", "returncode", "code"]
            .iter()
            .find_map(|name| object.get(name)?.as_i64())
    });
    let field = field.or_else(|| event.meta.get("exit_code")?.as_i64());
    field.or_else(|| texts.iter().find_map(|text| parse_exit_code(text)))
}

/// Parses `Exit code 1`, `Process exited with code 0`, `<… completed with exit code 0>` on a line of
/// its own near either end of a text.
fn parse_exit_code(text: &str) -> Option<i64> {
    first_and_last_bytes(text, 240).iter().flat_map(|part| part.lines()).find_map(|line| {
        let lower = line.trim().trim_start_matches('<').to_ascii_lowercase();
        let (before, after) =
            ["exit code", "exited with code"].iter().find_map(|mark| lower.split_once(mark))?;
        let is_label = before.split_whitespace().count() <= 4;
        let number = after.trim_start_matches([':', ' ', '=']);
        let digits: String =
            number.chars().take_while(|c| c.is_ascii_digit() || *c == '-').collect();
        digits.parse().ok().filter(|_| is_label)
    })
}
