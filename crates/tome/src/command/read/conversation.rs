//! The conversation of a session: its turns, each with the prompt, the answers and the tool calls.

use std::ops::Range;

use serde_json::Value;
use tome_contents::{ToolOutcome, find_rejection_words, is_prompt, read_tool_call};
use tome_model::{Event, EventKind, Millis, Tool};
use tome_terminal::{json_to_text, one_line};

use super::edits::{FileEdit, read_edits};

/// Characters of a tool call.
const CALL_CHARS_MAX: usize = 400;
/// Fields of a call that have no better description, and characters of each.
const FIELDS_SHOWN: usize = 3;
const FIELD_CHARS_MAX: usize = 60;
/// Characters of the reason why a tool call failed.
const REASON_CHARS_MAX: usize = 240;
/// Characters of a message that is neither a prompt nor an answer.
const NOTE_CHARS_MAX: usize = 200;

/// A prompt and everything up to the next one.
#[derive(Debug)]
pub struct ConversationTurn<'a> {
    /// Counted from 1.
    pub number: usize,
    pub at: Millis,
    /// The number of the event and its text.
    pub prompt: Option<(u64, &'a str)>,
    pub steps: Vec<TurnStep<'a>>,
    /// Numbers and ids of all events of the turn.
    pub events: Vec<(u64, &'a str)>,
}

#[derive(Debug)]
pub enum TurnStep<'a> {
    /// A message of the agent.
    Message { number: u64, text: &'a str },
    /// The user's words when they rejected the call before.
    Objected { number: u64, text: &'a str },
    /// A tool call in one line, with the edits that it made.
    Called {
        number: u64,
        line: String,
        outcome: CallOutcome,
        reason: Option<String>,
        edits: Vec<FileEdit>,
    },
    /// Something else that happened.
    Note { number: u64, text: String },
    /// Steps of a subagent, which are not shown one by one.
    Subagent { number: u64, steps: usize },
}

impl TurnStep<'_> {
    /// The number of its first event.
    pub fn number(&self) -> u64 {
        match self {
            Self::Message { number, .. }
            | Self::Objected { number, .. }
            | Self::Called { number, .. }
            | Self::Note { number, .. }
            | Self::Subagent { number, .. } => *number,
        }
    }
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallOutcome(ToolOutcome);

impl CallOutcome {
    /// Whether it passed; `None` if its payload does not tell.
    pub fn has_passed(self) -> Option<bool> {
        match self.0 {
            ToolOutcome::Exited(code) => Some(code == 0),
            ToolOutcome::Unknown => None,
            _ => Some(false),
        }
    }

    /// The outcome in words; empty if it passed or is unknown.
    pub fn words(self) -> String {
        match self.0 {
            ToolOutcome::Exited(0) | ToolOutcome::Unknown => String::new(),
            ToolOutcome::Exited(code) => format!("exit {code}"),
            ToolOutcome::Failed => "failed".to_owned(),
            ToolOutcome::Rejected => "rejected".to_owned(),
            ToolOutcome::Interrupted => "stopped by the user".to_owned(),
            ToolOutcome::TimedOut => "timed out".to_owned(),
            ToolOutcome::NotRun => "not run".to_owned(),
        }
    }

    /// One word for programs.
    pub fn word(self) -> &'static str {
        match self.0 {
            ToolOutcome::Exited(0) => "passed",
            ToolOutcome::Exited(_) | ToolOutcome::Failed => "failed",
            ToolOutcome::Rejected => "rejected",
            ToolOutcome::Interrupted => "interrupted",
            ToolOutcome::TimedOut => "timed_out",
            ToolOutcome::NotRun => "not_run",
            ToolOutcome::Unknown => "unknown",
        }
    }
}

/// Reads the turns of a session, given where its events are cut.
pub fn read_conversation<'a>(
    events: &'a [(u64, Event)],
    cuts: &[Range<usize>],
) -> Vec<ConversationTurn<'a>> {
    let mut turns: Vec<ConversationTurn<'a>> = Vec::new();
    for cut in cuts {
        let Some(part) = events.get(cut.clone()) else { continue };
        let turn = read_turn(turns.len() + 1, part);
        // The start of a session alone is no turn.
        if turn.prompt.is_some() || !turn.steps.is_empty() {
            turns.push(turn);
        }
    }
    turns
}

fn read_turn(number: usize, events: &[(u64, Event)]) -> ConversationTurn<'_> {
    let mut turn = ConversationTurn {
        number,
        at: events.first().map_or(Millis(0), |(_, event)| event.at),
        prompt: None,
        steps: Vec::new(),
        events: events.iter().map(|(number, event)| (*number, event.id.as_str())).collect(),
    };
    for (number, event) in events {
        turn.add_event(*number, event);
    }
    turn
}

impl<'a> ConversationTurn<'a> {
    fn add_event(&mut self, number: u64, event: &'a Event) {
        if event.meta.contains_key("agent_id") {
            match self.steps.last_mut() {
                Some(TurnStep::Subagent { steps, .. }) => *steps += 1,
                _ => self.steps.push(TurnStep::Subagent { number, steps: 1 }),
            }
            return;
        }
        let text = event.text.trim();
        match event.kind {
            EventKind::UserMessage if is_prompt(event) && self.prompt.is_none() => {
                self.at = event.at;
                self.prompt = Some((number, text));
            }
            EventKind::UserMessage if !text.is_empty() => {
                self.steps.push(TurnStep::Note { number, text: one_line(text, NOTE_CHARS_MAX) });
            }
            EventKind::AssistantMessage | EventKind::AssistantStop if !text.is_empty() => {
                // The end of a turn repeats its last message.
                let is_same = |step: &TurnStep<'_>| matches!(step, TurnStep::Message { text: earlier, .. } if *earlier == text);
                let is_repeated = self.steps.iter().any(is_same);
                if !is_repeated {
                    self.steps.push(TurnStep::Message { number, text });
                }
            }
            EventKind::ToolResult => {
                self.add_call(number, event);
                let words = find_rejection_words(event);
                self.steps.extend(words.map(|text| TurnStep::Objected { number, text }));
            }
            EventKind::Compaction => {
                let text = "the context was compacted".to_owned();
                self.steps.push(TurnStep::Note { number, text });
            }
            _ => {}
        }
    }

    fn add_call(&mut self, number: u64, event: &Event) {
        let (Some(call), Some(tool)) = (read_tool_call(event), &event.tool) else { return };
        let outcome = CallOutcome(call.outcome);
        let edits = match outcome.has_passed() {
            Some(false) => Vec::new(),
            _ => read_edits(tool, &event.cwd),
        };
        let detail = match (call.command, call.files.first()) {
            (Some(command), _) => shorten_command(command, &event.cwd),
            (None, Some((path, _))) => format!("{} {}", tool.name, shorten_path(path, &event.cwd)),
            (None, None) => describe_call(tool, &event.cwd),
        };
        let line = one_line(&detail, CALL_CHARS_MAX);
        let reason = call.reason.map(|reason| one_line(&reason, REASON_CHARS_MAX));
        self.steps.push(TurnStep::Called { number, line, outcome, reason, edits });
    }
}

/// A call that is neither a command nor about a file, in a few words.
fn describe_call(tool: &Tool, cwd: &str) -> String {
    // `mcp__server__tool`, as people say it.
    let name = match tool.name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")) {
        Some((server, name)) => format!("{server}: {name}"),
        None => tool.name.clone(),
    };
    if let Some(todos) = tool.input.get("todos").and_then(Value::as_array) {
        return format!("{name} {}", describe_plan(todos));
    }
    // A search is described by its pattern rather than by its folder.
    let fields = ["pattern", "query", "url", "description", "question", "title", "skill", "prompt"];
    let words = fields.iter().find_map(|field| tool.input.get(field)?.as_str());
    let input = match (words, &tool.input) {
        (Some(words), _) => words.to_owned(),
        (None, Value::Object(fields)) => describe_fields(fields),
        (None, input) => json_to_text(input),
    };
    format!("{name} {}", shorten_path(&input, cwd)).trim_end().to_owned()
}

/// Such as `2 of 5 done, now: Write the tests`.
fn describe_plan(todos: &[Value]) -> String {
    let has_state = |todo: &&Value, state: &str| {
        todo.get("status").and_then(Value::as_str).is_some_and(|status| status == state)
    };
    let done = todos.iter().filter(|todo| has_state(todo, "completed")).count();
    let current = todos.iter().find(|todo| has_state(todo, "in_progress"));
    let current = current.and_then(|todo| todo.get("content")?.as_str());
    let current = current.map(|text| format!(", now: {text}")).unwrap_or_default();
    format!("{done} of {} done{current}", todos.len())
}

/// The short values of a call's fields.
fn describe_fields(fields: &serde_json::Map<String, Value>) -> String {
    let shown = fields.iter().filter_map(|(name, value)| match value {
        Value::String(text) if !text.is_empty() => {
            Some(format!("{name}={}", one_line(text, FIELD_CHARS_MAX)))
        }
        Value::Number(number) => Some(format!("{name}={number}")),
        Value::Bool(true) => Some(name.clone()),
        _ => None,
    });
    shown.take(FIELDS_SHOWN).collect::<Vec<_>>().join(" ")
}

/// A path relative to the folder of the session, if it is below it.
pub fn shorten_path<'p>(path: &'p str, cwd: &str) -> &'p str {
    let below =
        path.strip_prefix(cwd.trim_end_matches('/')).and_then(|rest| rest.strip_prefix('/'));
    below.filter(|rest| !rest.is_empty() && !cwd.is_empty()).unwrap_or(path)
}

/// The first line of a command, without a leading change to the session's own folder.
fn shorten_command(command: &str, cwd: &str) -> String {
    let own = format!("cd {cwd} && ");
    let command = command.trim().strip_prefix(&own).unwrap_or(command.trim());
    let mut lines = command.lines();
    let first = lines.next().unwrap_or_default();
    if lines.next().is_some() { format!("{first} …") } else { first.to_owned() }
}
