//! Reads Gemini CLI's chats: `tmp/<project>/chats/session-<time>-<id>.jsonl`, an update log of a
//! header, messages, `$set` and `$rewindTo`; or one `.json` with everything in old versions. A
//! message that is written again replaces its earlier version. The importer (`import/gemini.rs`)
//! resolves the updates and passes on the messages that remain.
//!
//! A message of the agent contains its tool calls with their results. Hooks' context is placed
//! before and after prompts and after tool output; the first message is the harness's.

use serde_json::{Map, Value};
use tome_model::{EventKind, Tool, strip_injections};

use super::hook::trusted;
use crate::agents::fields::{Fields, joined, words_of};
use crate::agents::transcript::{Here, Origin, Skip, Step, Steps, without_outer_blocks};

/// Prefixes of messages that Gemini CLI itself inserts as prompts.
const HARNESS: [&str; 4] =
    ["<session_context>", "This is the Gemini CLI", "<state_snapshot>", "[System:"];

#[derive(Debug, Clone, Default)]
pub struct Header {
    pub session: String,
    pub start: Value,
    pub is_subagent: bool,
}

impl Header {
    /// Applies the fields of a header or of a `$set` record.
    pub fn merge(&mut self, about: &Map<String, Value>) {
        if let Some(Value::String(session)) = about.get("sessionId") {
            self.session.clone_from(session);
        }
        if let Some(start) = about.get("startTime") {
            self.start = start.clone();
        }
        if let Some(Value::String(kind)) = about.get("kind") {
            self.is_subagent = kind == "subagent";
        }
    }
}

/// Extracts the folder from the harness's first message.
pub fn folder_in(message: &Map<String, Value>) -> Option<String> {
    let text = texts_of(message.get("content").cloned().unwrap_or_default()).join("\n");
    let (_, after) = text.split_once("Workspace Directories:")?;
    let line = after.lines().map(str::trim).find(|line| line.starts_with("- "))?;
    Some(line.trim_start_matches("- ").trim().to_owned()).filter(|folder| !folder.is_empty())
}

pub struct Chat {
    path: String,
    here: Here,
    subagent: Option<String>,
    is_started: bool,
}

impl Chat {
    pub fn new(origin: Origin, header: &Header) -> Self {
        let mut here = Here::new(&origin);
        if !header.session.is_empty() {
            here.session = Value::String(header.session.clone());
        }
        here.pass(Some(&header.start));
        let subagent = header.is_subagent.then(|| header.session.clone());
        Self { path: origin.path, here, subagent, is_started: false }
    }

    /// Reads one message in its final version.
    pub fn message(&mut self, message: Map<String, Value>, steps: &mut Steps) {
        let mut message = Fields::new(message);
        if !std::mem::replace(&mut self.is_started, true) {
            let mut fields = self.fields();
            fields.put("transcript", self.path.clone());
            let kind = match self.subagent {
                Some(_) => EventKind::SubagentStart,
                None => EventKind::SessionStart,
            };
            steps.push(self.here.moment(kind, &["transcript"], String::new(), fields));
        }
        self.here.pass(message.get("timestamp"));
        match message.str("type") {
            Some("user") => self.prompt(message, steps),
            Some("gemini" | "model") => self.reply(&mut message, steps),
            _ => steps.push(Step::Skipped(Skip::Bookkeeping)),
        }
    }

    fn fields(&self) -> Fields {
        let mut fields = Fields::default();
        if let Some(subagent) = &self.subagent {
            fields.put("agent_id", subagent.clone());
        }
        fields
    }

    fn prompt(&mut self, mut message: Fields, steps: &mut Steps) {
        let content = message.take("content");
        let is_answer = matches!(&content, Value::Array(parts)
            if !parts.is_empty() && parts.iter().all(|part| part.get("functionResponse").is_some()));
        if is_answer {
            return steps.push(Step::Skipped(Skip::Bookkeeping)); // Recorded with the call.
        }
        let texts = texts_of(content);
        let texts: Vec<String> = texts
            .iter()
            .map(|text| without_outer_blocks(text, "hook_context"))
            .filter(|text| !text.trim().is_empty())
            .collect();
        let text = texts.join("\n");
        if text.is_empty() || HARNESS.iter().any(|mark| text.trim_start().starts_with(mark)) {
            return steps.push(Step::Skipped(Skip::Injected));
        }
        let mut fields = self.fields();
        fields.put("message_id", message.take("id"));
        if self.subagent.is_some() {
            fields.put("event", "subagent_prompt");
            let step = self.here.moment(EventKind::Unknown, &["subagent_prompt"], text, fields);
            return steps.push(step);
        }
        steps.push(self.here.prompt(&text, None, fields));
    }

    fn reply(&mut self, message: &mut Fields, steps: &mut Steps) {
        let text = texts_of(message.take("content")).join("\n");
        let mut fields = self.fields();
        fields.put("message_id", message.take("id"));
        fields.put("model", message.take("model"));
        let calls = match message.take("toolCalls") {
            Value::Array(calls) => calls,
            _ => Vec::new(),
        };
        if !text.trim().is_empty() || calls.is_empty() {
            steps.push(self.here.reply(text, fields));
        }
        for call in calls {
            let Value::Object(call) = call else { continue };
            let step = self.call(Fields::new(call));
            steps.push(step);
        }
    }

    fn call(&mut self, mut call: Fields) -> Step {
        let status = call.words("status");
        if !matches!(status.as_str(), "success" | "error" | "cancelled") {
            return Step::Skipped(Skip::Unfinished);
        }
        self.here.pass(call.get("timestamp"));
        let mut fields = self.fields();
        if status != "success" {
            fields.put_failed();
        }
        let output = answer(call.take("result"));
        let (id, name) = (call.words("id"), call.words("name"));
        self.here.tool(&id, Tool { name, input: call.take("args"), output }, fields)
    }
}

fn texts_of(content: Value) -> Vec<String> {
    match content {
        Value::Array(parts) => parts
            .into_iter()
            .filter_map(|part| match part {
                Value::String(text) => Some(text),
                part => part.get("text").and_then(Value::as_str).map(str::to_owned),
            })
            .collect(),
        Value::Object(part) => texts_of(Value::Array(vec![Value::Object(part)])),
        content => vec![words_of(content)],
    }
}

/// Returns the tool's output or error as the model got it.
fn answer(result: Value) -> Value {
    let responses = match result {
        Value::Array(responses) => responses,
        Value::Null => return Value::Null,
        other => vec![other],
    };
    let told: Vec<Value> = responses.into_iter().map(response).collect();
    let all = Value::Array(told);
    match joined(&all) {
        Some(text) => Value::String(text),
        None => match all {
            Value::Array(mut all) if all.len() == 1 => all.pop().unwrap_or_default(),
            all => all,
        },
    }
}

fn response(response: Value) -> Value {
    let Value::Object(part) = response else { return response };
    let mut part = Fields::new(part);
    let mut answer = part.object("functionResponse").object("response");
    for name in ["output", "error"] {
        match answer.take(name) {
            Value::String(text) => {
                let text = without_outer_blocks(&strip_injections(&text), "hook_context");
                return Value::String(trusted(text));
            }
            Value::Null => {}
            other => return other,
        }
    }
    let rest = answer.into_map();
    if rest.is_empty() { part.into_value() } else { Value::Object(rest) }
}
