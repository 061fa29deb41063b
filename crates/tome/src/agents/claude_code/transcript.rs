//! Reads Claude Code's transcripts: `projects/<slug>/<session>.jsonl`, and
//! `<session>/subagents/agent-<id>.jsonl` for subagents. Each line is a record with `type`, `uuid`,
//! `sessionId`, `cwd` and `timestamp`; a reply is one record per content block, and the blocks
//! share `message.id`.
//!
//! A record that a forked session copied names its source in `forkedFrom` and is attributed to that
//! session, so that its identity is the same wherever it is read. The text blocks of one reply
//! become one event. A subagent's task comes from its parent, not from the user; its last reply
//! becomes its stop.

use std::collections::HashSet;

use serde_json::{Map, Value};
use tome_model::{EventKind, Tool};

use super::hook::AUTOMATED_SOURCES;
use super::queued_prompts::QueuedPrompts;
use super::session_titles::SessionTitles;
use crate::agents::fields::{PayloadFields, text_from_value};
use crate::agents::prompt_text::starts_with_any;
use crate::agents::transcript_record::{
    PendingToolCalls, RecordContext, RecordOutcome, RecordOutcomes, RecordSkipReason,
    TranscriptOrigin, TranscriptReader, strip_outer_blocks,
};

/// Prefixes of text that Claude Code itself inserts as user messages.
const HARNESS_PREFIXES: [&str; 7] = [
    "<local-command-",
    "<command-name>",
    "<command-message>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "Caveat: The messages below were generated",
];

/// Prefix of the message that Claude Code writes when the user stops it.
const INTERRUPTION_PREFIX: &str = "[Request interrupted by user";

/// Old versions mix a subagent's records with its parent's and do not name it.
const UNNAMED_SUBAGENT: &str = "sidechain";

/// A reply to which later records may add blocks.
struct OpenReply {
    id: String,
    text: String,
    context: RecordContext,
    fields: PayloadFields,
}

pub(in crate::agents) struct ClaudeTranscriptReader {
    path: String,
    context: RecordContext,
    turn: String,
    subagent: String,
    started: HashSet<String>,
    tasks: HashSet<String>,
    calls: PendingToolCalls,
    reply: Option<OpenReply>,
    boundary: Option<(RecordContext, PayloadFields)>,
    is_subagents_own: bool,
    titles: SessionTitles,
    /// Prompts that were typed while the agent worked.
    queued: HashSet<String>,
    queue: QueuedPrompts,
}

impl ClaudeTranscriptReader {
    pub(in crate::agents) fn new(origin: TranscriptOrigin) -> Self {
        Self {
            context: RecordContext::new(&origin),
            path: origin.path,
            turn: String::new(),
            subagent: String::new(),
            started: HashSet::new(),
            tasks: HashSet::new(),
            calls: PendingToolCalls::default(),
            reply: None,
            boundary: None,
            is_subagents_own: true,
            titles: SessionTitles::default(),
            queued: HashSet::new(),
            queue: QueuedPrompts::default(),
        }
    }

    /// Updates session, folder, time, subagent and turn from a record.
    fn update_context(&mut self, record: &PayloadFields) {
        let forked = record.get("forkedFrom").and_then(|from| from.get("sessionId"));
        if let Some(session) = forked.or_else(|| record.get("sessionId"))
            && session.as_str().is_some_and(|session| !session.is_empty())
        {
            self.context.session = session.clone();
        }
        self.context.update_cwd(record.get("cwd"));
        self.context.update_time(record.get("timestamp"));
        self.context.update_branch(record.get("gitBranch"));
        self.subagent = match record.get_str("agentId") {
            Some(id) => id.to_owned(),
            None if record.is_true("isSidechain") => UNNAMED_SUBAGENT.to_owned(),
            None => String::new(),
        };
        self.is_subagents_own &= !self.subagent.is_empty();
        if let Some(turn) = record.get_str("promptId") {
            turn.clone_into(&mut self.turn);
        }
    }

    /// Emits the session start before the first event of a session; transcripts have no record for
    /// it.
    fn push_session_start(&mut self, record: &PayloadFields, steps: &mut RecordOutcomes) {
        let session = self.context.session.as_str().unwrap_or_default();
        if !self.subagent.is_empty() || self.started.contains(session) {
            return;
        }
        self.started.insert(session.to_owned());
        let mut fields = PayloadFields::default();
        fields.set("transcript", self.path.clone());
        fields.set("version", record.get("version").cloned().unwrap_or_default());
        fields.set("branch", record.get("gitBranch").cloned().unwrap_or_default());
        let start = self.context.lifecycle_event(
            EventKind::SessionStart,
            &["transcript"],
            String::new(),
            fields,
        );
        steps.push(start);
    }

    fn base_fields(&self) -> PayloadFields {
        let mut fields = PayloadFields::default();
        if !self.turn.is_empty() {
            fields.set("prompt_id", self.turn.clone());
        }
        if !self.subagent.is_empty() {
            fields.set("agent_id", self.subagent.clone());
        }
        fields
    }

    fn read_user_record(&mut self, mut record: PayloadFields, steps: &mut RecordOutcomes) {
        self.flush_reply(false, steps);
        let mut message = record.take_object("message");
        if record.is_true("isCompactSummary") {
            return self.push_compaction(&text_from_value(message.take_value("content")), steps);
        }
        self.flush_boundary(steps);
        let Value::Array(blocks) = message.take_value("content") else {
            return steps.push(RecordOutcome::Skipped(RecordSkipReason::Bookkeeping));
        };
        let mut texts = Vec::new();
        let mut images = 0;
        let alone = blocks.len() == 1;
        for block in blocks {
            let Value::Object(block) = block else { continue };
            let mut block = PayloadFields::new(block);
            match block.get_str("type") {
                Some("text") => texts.push(block.take_text("text")),
                Some("tool_result") => {
                    let shown = record.take_value("toolUseResult");
                    self.push_tool_result(block, if alone { shown } else { Value::Null }, steps);
                }
                Some("image" | "document") => images += 1,
                _ => {}
            }
        }
        if !texts.is_empty() || images > 0 {
            self.read_user_texts(&record, &texts, images, steps);
        }
    }

    /// Handles user text: written by the person, the harness, or the parent of a subagent.
    fn read_user_texts(
        &mut self,
        record: &PayloadFields,
        texts: &[String],
        images: usize,
        steps: &mut RecordOutcomes,
    ) {
        let texts: Vec<String> = texts
            .iter()
            .map(|text| strip_outer_blocks(text, "system-reminder"))
            .filter(|text| !text.trim().is_empty())
            .collect();
        let mut text = texts.join("\n");
        if text.is_empty() && images > 0 {
            "[image]".clone_into(&mut text);
        }
        let source = record.get_str("promptSource").unwrap_or_default();
        if text.starts_with(INTERRUPTION_PREFIX) {
            return steps.push(self.interruption_event(record, text));
        }
        if let Some(prompt) = parse_slash_command(&text) {
            text = prompt;
        }
        let is_harness = record.is_true("isMeta")
            || record.is_true("isVisibleInTranscriptOnly")
            || starts_with_any(&text, &HARNESS_PREFIXES)
            || AUTOMATED_SOURCES.iter().any(|part| source.contains(part));
        if is_harness || text.is_empty() {
            return steps.push(RecordOutcome::Skipped(RecordSkipReason::Injected));
        }
        if !self.subagent.is_empty() {
            return steps.push(self.subagent_prompt_event(text));
        }
        // Some prompts that were queued have a record as a message, too.
        if record.get_str("type") == Some("attachment") {
            if self.queue.read_attachment(&text) {
                return steps.push(RecordOutcome::Skipped(RecordSkipReason::Bookkeeping));
            }
            self.queued.insert(text.trim().to_owned());
        } else if self.queued.remove(text.trim()) {
            return steps.push(RecordOutcome::Skipped(RecordSkipReason::Bookkeeping));
        }
        let turn = Some(self.turn.clone()).filter(|turn| !turn.is_empty());
        let turn = turn.filter(|_| record.get_str("promptId").is_some());
        // A prompt that was queued while the agent worked is of no known turn.
        let fields = if turn.is_some() { self.base_fields() } else { PayloadFields::default() };
        steps.push(self.context.prompt_event(&text, turn.as_deref(), fields));
    }

    /// Emits the prompts that the agent got while it worked and that have no record of their own.
    fn push_queued_prompts(&mut self, steps: &mut RecordOutcomes) {
        if !self.subagent.is_empty() {
            return;
        }
        for (text, at) in self.queue.take_submitted() {
            self.flush_reply(false, steps);
            let mut here = self.clone_context();
            here.at = at;
            self.queued.insert(text.clone());
            steps.push(here.prompt_event(&text, None, PayloadFields::default()));
        }
    }

    /// The user stopped the agent. Hooks do not report it.
    fn interruption_event(&self, record: &PayloadFields, text: String) -> RecordOutcome {
        let mut fields = self.base_fields();
        fields.set("event", "interrupted");
        let id = record.get_str("uuid").unwrap_or_default();
        self.context.lifecycle_event(EventKind::Unknown, &["interrupted", id], text, fields)
    }

    /// A prompt to a subagent; the first one starts it.
    fn subagent_prompt_event(&mut self, text: String) -> RecordOutcome {
        let kind = if self.tasks.insert(self.subagent.clone()) {
            EventKind::SubagentStart
        } else {
            EventKind::Unknown
        };
        let mut fields = self.base_fields();
        if kind == EventKind::Unknown {
            fields.set("event", "subagent_prompt");
        }
        self.context.lifecycle_event(kind, &[&self.subagent], text, fields)
    }

    fn push_tool_result(
        &mut self,
        mut block: PayloadFields,
        shown: Value,
        steps: &mut RecordOutcomes,
    ) {
        let id = block.take_text("tool_use_id");
        let (name, input) = self.calls.take_call(&id);
        let mut fields = self.base_fields();
        let content = block.take_value("content");
        let output = if block.is_true("is_error") {
            fields.mark_failed();
            plain_text_content(content)
        } else if shown.is_null() {
            plain_text_content(content)
        } else {
            shown
        };
        steps.push(self.context.tool_result_event(&id, Tool { name, input, output }, fields));
    }

    fn read_assistant_record(&mut self, mut record: PayloadFields, steps: &mut RecordOutcomes) {
        self.flush_boundary(steps);
        let mut message = record.take_object("message");
        let id = message.take_text("id");
        let is_error = record.is_true("isApiErrorMessage");
        if message.get_str("model") == Some("<synthetic>") && !is_error {
            return steps.push(RecordOutcome::Skipped(RecordSkipReason::Injected));
        }
        let model = message.take_value("model");
        let blocks = match message.take_value("content") {
            Value::Array(blocks) => blocks,
            Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
            _ => Vec::new(),
        };
        for block in blocks {
            let Value::Object(block) = block else { continue };
            let mut block = PayloadFields::new(block);
            match block.get_str("type") {
                Some("text") => {
                    let text = block.take_text("text");
                    let mut fields = self.base_fields();
                    fields.set("message_id", id.clone());
                    fields.set("model", model.clone());
                    if is_error {
                        fields.mark_failed();
                    }
                    self.append_reply_text(&id, text, fields, steps);
                }
                Some("tool_use" | "server_tool_use") => {
                    self.flush_reply(false, steps);
                    let (call, name) = (block.take_text("id"), block.take_text("name"));
                    let input = block.take_value("input");
                    self.calls.insert(&call, self.context.at, name, input);
                }
                _ => steps.push(RecordOutcome::Skipped(RecordSkipReason::Bookkeeping)),
            }
        }
    }

    /// Appends a text block to the open reply, or opens a new one.
    fn append_reply_text(
        &mut self,
        id: &str,
        text: String,
        fields: PayloadFields,
        steps: &mut RecordOutcomes,
    ) {
        if let Some(reply) = &mut self.reply
            && reply.id == id
            && !id.is_empty()
        {
            reply.text.push('\n');
            reply.text.push_str(&text);
            return;
        }
        self.flush_reply(false, steps);
        let here = self.clone_context();
        self.reply = Some(OpenReply { id: id.to_owned(), text, context: here, fields });
    }

    fn clone_context(&self) -> RecordContext {
        RecordContext {
            agent: self.context.agent.clone(),
            session: self.context.session.clone(),
            cwd: self.context.cwd.clone(),
            at: self.context.at,
            branch: self.context.branch.clone(),
        }
    }

    /// Emits the open reply. The last reply of a subagent becomes its stop event.
    fn flush_reply(&mut self, is_last: bool, steps: &mut RecordOutcomes) {
        let Some(reply) = self.reply.take() else { return };
        let id = reply.fields.get_str("agent_id").unwrap_or_default().to_owned();
        if is_last && self.is_subagents_own && !reply.text.trim().is_empty() {
            let kind = EventKind::SubagentStop;
            steps.push(reply.context.lifecycle_event(kind, &[&id], reply.text, reply.fields));
        } else {
            steps.push(reply.context.reply_event(reply.text, reply.fields));
        }
    }

    fn read_compact_boundary(&mut self, mut record: PayloadFields, steps: &mut RecordOutcomes) {
        self.flush_reply(false, steps);
        self.flush_boundary(steps);
        let mut about = record.take_object("compactMetadata");
        let mut fields = self.base_fields();
        fields.set("trigger", about.take_value("trigger"));
        fields.set("tokens_before", about.take_value("preTokens"));
        fields.set("tokens_after", about.take_value("postTokens"));
        self.boundary = Some((self.clone_context(), fields));
    }

    /// Emits a compaction with the summary that replaced the context.
    fn push_compaction(&mut self, text: &str, steps: &mut RecordOutcomes) {
        let (here, fields) =
            self.boundary.take().unwrap_or_else(|| (self.clone_context(), self.base_fields()));
        steps.push(compaction_event(&here, text, fields));
    }

    fn flush_boundary(&mut self, steps: &mut RecordOutcomes) {
        if let Some((here, fields)) = self.boundary.take() {
            steps.push(compaction_event(&here, "", fields));
        }
    }
}

fn compaction_event(here: &RecordContext, text: &str, mut fields: PayloadFields) -> RecordOutcome {
    fields.set("phase", "after");
    let text = strip_outer_blocks(text, "system-reminder");
    // The identity excludes the text: a compaction may be read before its summary is written.
    let step = here.lifecycle_event(EventKind::Compaction, &["after"], String::new(), fields);
    match step {
        RecordOutcome::Event(mut draft) => {
            draft.text = text;
            RecordOutcome::Event(draft)
        }
        skipped => skipped,
    }
}

/// Reduces content that consists only of text to a string, without the harness's reminders.
fn plain_text_content(content: Value) -> Value {
    match content {
        Value::String(text) => Value::String(strip_outer_blocks(&text, "system-reminder")),
        content => crate::agents::fields::join_text_parts(&content)
            .map_or(content, |text| Value::String(strip_outer_blocks(&text, "system-reminder"))),
    }
}

impl TranscriptReader for ClaudeTranscriptReader {
    fn read_record(&mut self, record: Map<String, Value>, steps: &mut RecordOutcomes) {
        let mut record = PayloadFields::new(record);
        let kind = record.get_str("type").unwrap_or_default().to_owned();
        let is_boundary = record.get_str("subtype") == Some("compact_boundary");
        self.titles.read_record(&kind, &record);
        if kind == "queue-operation" {
            let mut here = self.clone_context();
            here.update_time(record.get("timestamp"));
            self.queue.read_operation(&mut record, here.at);
        }
        let is_queued = kind == "attachment" && take_queued_prompt(&mut record);
        if !matches!(kind.as_str(), "user" | "assistant") && !is_boundary && !is_queued {
            return steps.push(RecordOutcome::Skipped(RecordSkipReason::Bookkeeping));
        }
        self.update_context(&record);
        if record.is_true("isMeta") && kind == "user" {
            self.flush_reply(false, steps);
            return steps.push(RecordOutcome::Skipped(RecordSkipReason::Injected));
        }
        self.push_session_start(&record, steps);
        match kind.as_str() {
            "user" | "attachment" => {
                normalize_content(&mut record);
                self.read_user_record(record, steps);
            }
            "assistant" => {
                self.push_queued_prompts(steps);
                self.read_assistant_record(record, steps);
            }
            _ => self.read_compact_boundary(record, steps),
        }
    }

    fn finish(&mut self, steps: &mut RecordOutcomes) {
        self.flush_reply(true, steps);
        self.flush_boundary(steps);
        for call in self.calls.take_unanswered() {
            // The service ran it; its result is in the same reply.
            if call.id.starts_with("srvtoolu_") {
                steps.push(RecordOutcome::Skipped(RecordSkipReason::Bookkeeping));
                continue;
            }
            steps.push(self.context.unanswered_call_event(call, self.base_fields()));
        }
        let session = self.context.session.as_str().unwrap_or_default();
        if self.started.contains(session)
            && let Some(title) = self.titles.latest(session)
        {
            steps.extend(self.context.title_event(title));
        }
    }
}

/// The command that a user typed, with its arguments: `/review the parser`. Claude Code writes the message
/// of a command that prompts the model first, and the name of one that it runs itself.
fn parse_slash_command(text: &str) -> Option<String> {
    fn find_tag<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
        let (_, rest) = text.split_once(&format!("<{tag}>"))?;
        rest.split_once(&format!("</{tag}>")).map(|(inside, _)| inside.trim())
    }
    text.trim_start().starts_with("<command-message>").then_some(())?;
    // A skill that the model loads has no slash.
    let name = find_tag(text, "command-name").filter(|name| name.starts_with('/'))?;
    let arguments = find_tag(text, "command-args").unwrap_or_default();
    Some(format!("{name} {arguments}").trim_end().to_owned())
}

/// Turns the record of a prompt that was typed while the agent worked into that of a user's message.
fn take_queued_prompt(record: &mut PayloadFields) -> bool {
    let mut attachment = record.take_object("attachment");
    let origin = attachment.take_object("origin");
    let is_prompt = attachment.get_str("type") == Some("queued_command")
        && attachment.get_str("commandMode") == Some("prompt")
        && !attachment.is_true("isMeta")
        && origin.get_str("kind").is_none_or(|kind| kind == "human");
    if is_prompt {
        record.set("message", serde_json::json!({"content": attachment.take_value("prompt")}));
    }
    is_prompt
}

/// Normalizes string content to a list with one text block.
fn normalize_content(record: &mut PayloadFields) {
    let mut message = record.take_object("message");
    let content = match message.take_value("content") {
        Value::String(text) if !record.is_true("isCompactSummary") => {
            serde_json::json!([{"type": "text", "text": text}])
        }
        content => content,
    };
    message.set("content", content);
    record.set("message", message.into_value());
}
