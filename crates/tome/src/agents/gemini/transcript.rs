//! Reads Gemini CLI's chats: `tmp/<project>/chats/session-<time>-<id>.jsonl`, an update log of a
//! header, messages, `$set` and `$rewindTo`; or one `.json` with everything in old versions. A
//! message with the id of an earlier one replaces it. The importer (`import/gemini.rs`)
//! resolves the updates and passes on the messages that remain.
//!
//! A message of the agent contains its tool calls with their results. Hooks' context is placed
//! before and after prompts and after tool output; the first message is the harness's.

use serde_json::{Map, Value};
use tome_model::{EventKind, Tool, strip_injections};

use super::hook::strip_untrusted_wrapper;
use crate::agents::fields::{PayloadFields, join_text_parts, text_from_value};
use crate::agents::prompt_text::starts_with_any;
use crate::agents::transcript_record::{
    RecordContext, RecordOutcome, RecordOutcomes, RecordSkipReason, TranscriptOrigin,
    strip_outer_blocks,
};

/// Prefixes of messages that Gemini CLI itself inserts as prompts.
const HARNESS_PREFIXES: [&str; 4] =
    ["<session_context>", "This is the Gemini CLI", "<state_snapshot>", "[System:"];

#[derive(Debug, Clone, Default)]
pub struct GeminiChatHeader {
    pub session: String,
    pub start: Value,
    pub is_subagent: bool,
    /// The agent's own summary of the session.
    pub summary: Option<String>,
}

impl GeminiChatHeader {
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
        if let Some(Value::String(summary)) = about.get("summary") {
            self.summary = Some(summary.clone());
        }
    }
}

/// Extracts the folder from the harness's first message.
pub fn workspace_folder(message: &Map<String, Value>) -> Option<String> {
    let text = content_texts(message.get("content").cloned().unwrap_or_default()).join("\n");
    let (_, after) = text.split_once("Workspace Directories:")?;
    let line = after.lines().map(str::trim).find(|line| line.starts_with("- "))?;
    Some(line.trim_start_matches("- ").trim().to_owned()).filter(|folder| !folder.is_empty())
}

pub struct GeminiChatReader {
    path: String,
    context: RecordContext,
    subagent: Option<String>,
    summary: Option<String>,
    is_started: bool,
}

impl GeminiChatReader {
    pub fn new(origin: TranscriptOrigin, header: &GeminiChatHeader) -> Self {
        let mut here = RecordContext::new(&origin);
        if !header.session.is_empty() {
            here.session = Value::String(header.session.clone());
        }
        here.update_time(Some(&header.start));
        let subagent = header.is_subagent.then(|| header.session.clone());
        let summary = header.summary.clone();
        Self { path: origin.path, context: here, subagent, summary, is_started: false }
    }

    /// Called after the last message; emits the agent's own title of the session.
    pub fn finish(&mut self, steps: &mut RecordOutcomes) {
        let is_session = self.is_started && self.subagent.is_none();
        let summary = self.summary.as_deref().filter(|_| is_session);
        steps.extend(summary.and_then(|summary| self.context.title_event(summary)));
    }

    /// Reads one message in its final version.
    pub fn read_message(&mut self, message: Map<String, Value>, steps: &mut RecordOutcomes) {
        let mut message = PayloadFields::new(message);
        if !std::mem::replace(&mut self.is_started, true) {
            let mut fields = self.base_fields();
            fields.set("transcript", self.path.clone());
            let kind = match self.subagent {
                Some(_) => EventKind::SubagentStart,
                None => EventKind::SessionStart,
            };
            steps.push(self.context.lifecycle_event(kind, &["transcript"], String::new(), fields));
        }
        self.context.update_time(message.get("timestamp"));
        match message.get_str("type") {
            Some("user") => self.read_prompt(message, steps),
            Some("gemini" | "model") => self.read_reply(&mut message, steps),
            _ => steps.push(RecordOutcome::Skipped(RecordSkipReason::Bookkeeping)),
        }
    }

    fn base_fields(&self) -> PayloadFields {
        let mut fields = PayloadFields::default();
        if let Some(subagent) = &self.subagent {
            fields.set("agent_id", subagent.clone());
        }
        fields
    }

    fn read_prompt(&mut self, mut message: PayloadFields, steps: &mut RecordOutcomes) {
        let content = message.take_value("content");
        let is_answer = matches!(&content, Value::Array(parts)
            if !parts.is_empty() && parts.iter().all(|part| part.get("functionResponse").is_some()));
        if is_answer {
            return steps.push(RecordOutcome::Skipped(RecordSkipReason::Bookkeeping)); // Recorded with the call.
        }
        let texts = content_texts(content);
        let texts: Vec<String> = texts
            .iter()
            .map(|text| strip_outer_blocks(text, "hook_context"))
            .filter(|text| !text.trim().is_empty())
            .collect();
        let text = texts.join("\n");
        if text.is_empty() || starts_with_any(&text, &HARNESS_PREFIXES) {
            return steps.push(RecordOutcome::Skipped(RecordSkipReason::Injected));
        }
        let mut fields = self.base_fields();
        fields.set("message_id", message.take_value("id"));
        if self.subagent.is_some() {
            fields.set("event", "subagent_prompt");
            let step = self.context.lifecycle_event(
                EventKind::Unknown,
                &["subagent_prompt"],
                text,
                fields,
            );
            return steps.push(step);
        }
        steps.push(self.context.prompt_event(&text, None, fields));
    }

    fn read_reply(&mut self, message: &mut PayloadFields, steps: &mut RecordOutcomes) {
        let text = content_texts(message.take_value("content")).join("\n");
        let mut fields = self.base_fields();
        fields.set("message_id", message.take_value("id"));
        fields.set("model", message.take_value("model"));
        let calls = match message.take_value("toolCalls") {
            Value::Array(calls) => calls,
            _ => Vec::new(),
        };
        if !text.trim().is_empty() || calls.is_empty() {
            steps.push(self.context.reply_event(text, fields));
        }
        for call in calls {
            let Value::Object(call) = call else { continue };
            let step = self.tool_result_event(PayloadFields::new(call));
            steps.push(step);
        }
    }

    fn tool_result_event(&mut self, mut call: PayloadFields) -> RecordOutcome {
        let status = call.take_text("status");
        if !matches!(status.as_str(), "success" | "error" | "cancelled") {
            return RecordOutcome::Skipped(RecordSkipReason::Unfinished);
        }
        self.context.update_time(call.get("timestamp"));
        let mut fields = self.base_fields();
        if status != "success" {
            fields.mark_failed();
        }
        let output = parse_tool_result(call.take_value("result"));
        let (id, name) = (call.take_text("id"), call.take_text("name"));
        self.context.tool_result_event(
            &id,
            Tool { name, input: call.take_value("args"), output },
            fields,
        )
    }
}

fn content_texts(content: Value) -> Vec<String> {
    match content {
        Value::Array(parts) => parts
            .into_iter()
            .filter_map(|part| match part {
                Value::String(text) => Some(text),
                part => part.get("text").and_then(Value::as_str).map(str::to_owned),
            })
            .collect(),
        Value::Object(part) => content_texts(Value::Array(vec![Value::Object(part)])),
        content => vec![text_from_value(content)],
    }
}

/// Returns the tool's output or error as the model got it.
fn parse_tool_result(result: Value) -> Value {
    let responses = match result {
        Value::Array(responses) => responses,
        Value::Null => return Value::Null,
        other => vec![other],
    };
    let parsed: Vec<Value> = responses.into_iter().map(parse_response).collect();
    let all = Value::Array(parsed);
    match join_text_parts(&all) {
        Some(text) => Value::String(text),
        None => match all {
            Value::Array(mut all) if all.len() == 1 => all.pop().unwrap_or_default(),
            all => all,
        },
    }
}

fn parse_response(response: Value) -> Value {
    let Value::Object(part) = response else { return response };
    let mut part = PayloadFields::new(part);
    let mut answer = part.take_object("functionResponse").take_object("response");
    for name in ["output", "error"] {
        match answer.take_value(name) {
            Value::String(text) => {
                let text = strip_outer_blocks(&strip_injections(&text), "hook_context");
                return Value::String(strip_untrusted_wrapper(text));
            }
            Value::Null => {}
            other => return other,
        }
    }
    let rest = answer.into_map();
    if rest.is_empty() { part.into_value() } else { Value::Object(rest) }
}
