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

use super::hook::NOT_A_PERSON;
use crate::agents::fields::{Fields, words_of};
use crate::agents::transcript::{
    Calls, Here, Origin, Skip, Step, Steps, Transcript, without_outer_blocks,
};

/// Prefixes of text that Claude Code itself inserts as user messages.
const HARNESS: [&str; 8] = [
    "<local-command-",
    "<command-name>",
    "<command-message>",
    "<bash-input>",
    "<bash-stdout>",
    "<bash-stderr>",
    "Caveat: The messages below were generated",
    "[Request interrupted by user",
];

/// Old versions mix a subagent's records with its parent's and do not name it.
const UNNAMED: &str = "sidechain";

/// A reply to which later records may add blocks.
struct Reply {
    id: String,
    text: String,
    here: Here,
    fields: Fields,
}

pub(in crate::agents) struct Lines {
    path: String,
    here: Here,
    turn: String,
    subagent: String,
    started: HashSet<String>,
    tasks: HashSet<String>,
    calls: Calls,
    reply: Option<Reply>,
    boundary: Option<(Here, Fields)>,
    is_subagents_own: bool,
}

impl Lines {
    pub(in crate::agents) fn new(origin: Origin) -> Self {
        Self {
            here: Here::new(&origin),
            path: origin.path,
            turn: String::new(),
            subagent: String::new(),
            started: HashSet::new(),
            tasks: HashSet::new(),
            calls: Calls::default(),
            reply: None,
            boundary: None,
            is_subagents_own: true,
        }
    }

    /// Updates session, folder, time, subagent and turn from a record.
    fn look_around(&mut self, record: &Fields) {
        let forked = record.get("forkedFrom").and_then(|from| from.get("sessionId"));
        if let Some(session) = forked.or_else(|| record.get("sessionId"))
            && session.as_str().is_some_and(|session| !session.is_empty())
        {
            self.here.session = session.clone();
        }
        self.here.enter(record.get("cwd"));
        self.here.pass(record.get("timestamp"));
        self.subagent = match record.str("agentId") {
            Some(id) => id.to_owned(),
            None if record.is_true("isSidechain") => UNNAMED.to_owned(),
            None => String::new(),
        };
        self.is_subagents_own &= !self.subagent.is_empty();
        if let Some(turn) = record.str("promptId") {
            turn.clone_into(&mut self.turn);
        }
    }

    /// Emits the session start before the first event of a session; transcripts have no record for
    /// it.
    fn start(&mut self, record: &Fields, steps: &mut Steps) {
        let session = self.here.session.as_str().unwrap_or_default();
        if !self.subagent.is_empty() || self.started.contains(session) {
            return;
        }
        self.started.insert(session.to_owned());
        let mut fields = Fields::default();
        fields.put("transcript", self.path.clone());
        fields.put("version", record.get("version").cloned().unwrap_or_default());
        fields.put("branch", record.get("gitBranch").cloned().unwrap_or_default());
        let start =
            self.here.moment(EventKind::SessionStart, &["transcript"], String::new(), fields);
        steps.push(start);
    }

    fn fields(&self) -> Fields {
        let mut fields = Fields::default();
        if !self.turn.is_empty() {
            fields.put("prompt_id", self.turn.clone());
        }
        if !self.subagent.is_empty() {
            fields.put("agent_id", self.subagent.clone());
        }
        fields
    }

    fn user(&mut self, mut record: Fields, steps: &mut Steps) {
        self.end_reply(false, steps);
        let mut message = record.object("message");
        if record.is_true("isCompactSummary") {
            return self.compacted(&words_of(message.take("content")), steps);
        }
        self.end_boundary(steps);
        let Value::Array(blocks) = message.take("content") else {
            return steps.push(Step::Skipped(Skip::Bookkeeping));
        };
        let mut texts = Vec::new();
        let mut images = 0;
        let alone = blocks.len() == 1;
        for block in blocks {
            let Value::Object(block) = block else { continue };
            let mut block = Fields::new(block);
            match block.str("type") {
                Some("text") => texts.push(block.words("text")),
                Some("tool_result") => {
                    let shown = record.take("toolUseResult");
                    self.answered(block, if alone { shown } else { Value::Null }, steps);
                }
                Some("image" | "document") => images += 1,
                _ => {}
            }
        }
        if !texts.is_empty() || images > 0 {
            self.said(&record, &texts, images, steps);
        }
    }

    /// Handles user text: written by the person, the harness, or the parent of a subagent.
    fn said(&mut self, record: &Fields, texts: &[String], images: usize, steps: &mut Steps) {
        let texts: Vec<String> = texts
            .iter()
            .map(|text| without_outer_blocks(text, "system-reminder"))
            .filter(|text| !text.trim().is_empty())
            .collect();
        let mut text = texts.join("\n");
        if text.is_empty() && images > 0 {
            "[image]".clone_into(&mut text);
        }
        let source = record.str("promptSource").unwrap_or_default();
        let is_harness = record.is_true("isMeta")
            || record.is_true("isVisibleInTranscriptOnly")
            || HARNESS.iter().any(|mark| text.trim_start().starts_with(mark))
            || NOT_A_PERSON.iter().any(|part| source.contains(part));
        if is_harness || text.is_empty() {
            return steps.push(Step::Skipped(Skip::Injected));
        }
        if !self.subagent.is_empty() {
            return steps.push(self.task(text));
        }
        let turn = Some(self.turn.clone()).filter(|turn| !turn.is_empty());
        let turn = turn.filter(|_| record.str("promptId").is_some());
        steps.push(self.here.prompt(&text, turn.as_deref(), self.fields()));
    }

    /// A prompt to a subagent; the first one starts it.
    fn task(&mut self, text: String) -> Step {
        let kind = match self.tasks.insert(self.subagent.clone()) {
            true => EventKind::SubagentStart,
            false => EventKind::Unknown,
        };
        let mut fields = self.fields();
        if kind == EventKind::Unknown {
            fields.put("event", "subagent_prompt");
        }
        self.here.moment(kind, &[&self.subagent], text, fields)
    }

    fn answered(&mut self, mut block: Fields, shown: Value, steps: &mut Steps) {
        let id = block.words("tool_use_id");
        let (name, input) = self.calls.answered(&id);
        let mut fields = self.fields();
        let content = block.take("content");
        let output = if block.is_true("is_error") {
            fields.put_failed();
            plain(content)
        } else if shown.is_null() {
            plain(content)
        } else {
            shown
        };
        steps.push(self.here.tool(&id, Tool { name, input, output }, fields));
    }

    fn assistant(&mut self, mut record: Fields, steps: &mut Steps) {
        self.end_boundary(steps);
        let mut message = record.object("message");
        let id = message.words("id");
        let is_error = record.is_true("isApiErrorMessage");
        if message.str("model") == Some("<synthetic>") && !is_error {
            return steps.push(Step::Skipped(Skip::Injected));
        }
        let model = message.take("model");
        let blocks = match message.take("content") {
            Value::Array(blocks) => blocks,
            Value::String(text) => vec![serde_json::json!({"type": "text", "text": text})],
            _ => Vec::new(),
        };
        for block in blocks {
            let Value::Object(block) = block else { continue };
            let mut block = Fields::new(block);
            match block.str("type") {
                Some("text") => {
                    let text = block.words("text");
                    let mut fields = self.fields();
                    fields.put("message_id", id.clone());
                    fields.put("model", model.clone());
                    if is_error {
                        fields.put_failed();
                    }
                    self.spoke(&id, text, fields, steps);
                }
                Some("tool_use" | "server_tool_use") => {
                    self.end_reply(false, steps);
                    let (call, name) = (block.words("id"), block.words("name"));
                    self.calls.made(&call, name, block.take("input"));
                }
                _ => steps.push(Step::Skipped(Skip::Bookkeeping)),
            }
        }
    }

    /// Appends a text block to the open reply, or opens a new one.
    fn spoke(&mut self, id: &str, text: String, fields: Fields, steps: &mut Steps) {
        if let Some(reply) = &mut self.reply
            && reply.id == id
            && !id.is_empty()
        {
            reply.text.push('\n');
            reply.text.push_str(&text);
            return;
        }
        self.end_reply(false, steps);
        let here = self.standing();
        self.reply = Some(Reply { id: id.to_owned(), text, here, fields });
    }

    fn standing(&self) -> Here {
        Here {
            agent: self.here.agent.clone(),
            session: self.here.session.clone(),
            cwd: self.here.cwd.clone(),
            at: self.here.at,
        }
    }

    /// Emits the open reply. The last reply of a subagent becomes its stop event.
    fn end_reply(&mut self, is_last: bool, steps: &mut Steps) {
        let Some(reply) = self.reply.take() else { return };
        let id = reply.fields.str("agent_id").unwrap_or_default().to_owned();
        if is_last && self.is_subagents_own && !reply.text.trim().is_empty() {
            let kind = EventKind::SubagentStop;
            steps.push(reply.here.moment(kind, &[&id], reply.text, reply.fields));
        } else {
            steps.push(reply.here.reply(reply.text, reply.fields));
        }
    }

    fn boundary(&mut self, mut record: Fields, steps: &mut Steps) {
        self.end_reply(false, steps);
        self.end_boundary(steps);
        let mut about = record.object("compactMetadata");
        let mut fields = self.fields();
        fields.put("trigger", about.take("trigger"));
        fields.put("tokens_before", about.take("preTokens"));
        fields.put("tokens_after", about.take("postTokens"));
        self.boundary = Some((self.standing(), fields));
    }

    /// Emits a compaction with the summary that replaced the context.
    fn compacted(&mut self, text: &str, steps: &mut Steps) {
        let (here, fields) =
            self.boundary.take().unwrap_or_else(|| (self.standing(), self.fields()));
        steps.push(compaction(&here, text, fields));
    }

    fn end_boundary(&mut self, steps: &mut Steps) {
        if let Some((here, fields)) = self.boundary.take() {
            steps.push(compaction(&here, "", fields));
        }
    }
}

fn compaction(here: &Here, text: &str, mut fields: Fields) -> Step {
    fields.put("phase", "after");
    let text = without_outer_blocks(text, "system-reminder");
    // The identity excludes the text: a compaction may be read before its summary is written.
    let step = here.moment(EventKind::Compaction, &["after"], String::new(), fields);
    match step {
        Step::Event(mut draft) => {
            draft.text = text;
            Step::Event(draft)
        }
        skipped => skipped,
    }
}

/// Reduces content that consists only of text to a string, without the harness's reminders.
fn plain(content: Value) -> Value {
    match content {
        Value::String(text) => Value::String(without_outer_blocks(&text, "system-reminder")),
        content => crate::agents::fields::joined(&content)
            .map_or(content, |text| Value::String(without_outer_blocks(&text, "system-reminder"))),
    }
}

impl Transcript for Lines {
    fn record(&mut self, record: Map<String, Value>, steps: &mut Steps) {
        let mut record = Fields::new(record);
        let kind = record.str("type").unwrap_or_default().to_owned();
        let is_boundary = record.str("subtype") == Some("compact_boundary");
        if !matches!(kind.as_str(), "user" | "assistant") && !is_boundary {
            return steps.push(Step::Skipped(Skip::Bookkeeping));
        }
        self.look_around(&record);
        if record.is_true("isMeta") && kind == "user" {
            self.end_reply(false, steps);
            return steps.push(Step::Skipped(Skip::Injected));
        }
        self.start(&record, steps);
        match kind.as_str() {
            "user" => {
                as_blocks(&mut record);
                self.user(record, steps);
            }
            "assistant" => self.assistant(record, steps),
            _ => self.boundary(record, steps),
        }
    }

    fn end(&mut self, steps: &mut Steps) {
        self.end_reply(true, steps);
        self.end_boundary(steps);
        self.calls.end(steps);
    }
}

/// Normalizes string content to a list with one text block.
fn as_blocks(record: &mut Fields) {
    let mut message = record.object("message");
    let content = match message.take("content") {
        Value::String(text) if !record.is_true("isCompactSummary") => {
            serde_json::json!([{"type": "text", "text": text}])
        }
        content => content,
    };
    message.put("content", content);
    record.put("message", message.into_value());
}
