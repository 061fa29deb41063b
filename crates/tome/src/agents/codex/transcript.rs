//! Reads Codex's rollouts: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`, old ones
//! compressed. Each line is `{timestamp, ordinal?, type, payload}`; messages and tool calls are
//! `response_item`s. Files of the first versions have bare items, and some only `event_msg`s.
//!
//! Tool names are mapped to those of the hooks (`exec_command` is `Bash`), and the harness's header
//! is stripped from command output, so that events match those of the hooks. For the same reason a
//! script becomes the calls that it makes (`code_mode.rs`).
//!
//! A forked session begins with a copy of its parent's history. Where the parent can be read, the
//! copy is recognized by it: the same messages and calls in the same order, written at the fork.

use serde_json::{Map, Value};
use tome_model::{EventKind, Millis, Tool};

use super::code_mode::{
    RunningScripts, SCRIPT_TOOL, ScriptOutput, ScriptRun, ScriptStatus, expand_script,
    parse_script_output,
};
use super::running_commands::RunningCommands;
use super::tool_call::{HookCall, parse_call};
use super::tool_output::parse_tool_output;
use crate::agents::fields::{PayloadFields, text_from_value};
use crate::agents::prompt_text::starts_with_any;
use crate::agents::transcript_record::{
    PendingToolCalls, RecordContext, RecordOutcome, RecordOutcomes, RecordSkipReason,
    TranscriptOrigin, TranscriptReader,
};

/// Prefixes of text parts that Codex itself adds to prompts.
const HARNESS_PREFIXES: [&str; 9] = [
    "# AGENTS.md instructions",
    "<environment_context>",
    "<user_instructions>",
    "<hook_prompt",
    "<turn_aborted",
    "<skill>",
    "<permissions instructions>",
    "<subagent_notification",
    "<model_switch>",
];

/// A fork writes its copy of the history at once, within this time of its start.
const COPY_WINDOW_MS: u64 = 10_000;

/// Items of the parent that a copy may omit in a row.
const OMITTED_ITEMS_MAX: usize = 64;

/// Returns the session that a rollout was forked from, given its first record.
pub fn parent_session_id(record: &Map<String, Value>) -> Option<String> {
    let payload = record.get("payload").filter(|_| record_type(record) == "session_meta")?;
    let base = payload.get("history_base");
    let base = base.and_then(|base| base.get("thread_id").or_else(|| base.get("session_id")));
    let parent = payload.get("forked_from_id").filter(|id| !id.is_null()).or(base)?;
    parent.as_str().filter(|id| !id.is_empty()).map(str::to_owned)
}

/// Hashes a message or call, so that a copy of it can be recognized; `None` for other records.
pub fn record_fingerprint(record: &Map<String, Value>) -> Option<u64> {
    let item = response_item(record)?;
    let kind = item.get("type").and_then(Value::as_str)?;
    let (role, what) = match kind {
        "message" => {
            let role = item.get("role").and_then(Value::as_str)?;
            if role == "developer" || role == "system" {
                return None;
            }
            let text =
                user_texts(item.get("content").cloned().unwrap_or_default(), item).join("\n");
            (role, Some(text).filter(|text| !text.trim().is_empty())?)
        }
        _ => (kind, item.get("call_id").and_then(Value::as_str)?.to_owned()),
    };
    let mut hasher = blake3::Hasher::new();
    hasher.update(role.as_bytes()).update(&[0]).update(what.trim().as_bytes());
    let hash = hasher.finalize();
    hash.as_bytes().first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

/// The parent's history, which a forked session may have copied.
pub struct CopiedHistory {
    parent: Vec<u64>,
    next: usize,
    until: Option<Millis>,
}

impl CopiedHistory {
    /// Takes the fingerprints of the parent's records, in order.
    pub fn new(parent: Vec<u64>) -> Self {
        Self { parent, next: 0, until: None }
    }

    /// Returns whether the record is the next copied one. The first record that is not ends the
    /// copy.
    fn matches_next(&mut self, record: &Map<String, Value>, at: Millis) -> bool {
        let Some(mark) = record_fingerprint(record) else { return false };
        let until = *self.until.get_or_insert(at);
        let ahead = self.parent.iter().skip(self.next).take(OMITTED_ITEMS_MAX);
        let position = ahead.into_iter().position(|known| *known == mark);
        match position {
            Some(skipped) if at.0 <= until.0.saturating_add(COPY_WINDOW_MS) => {
                self.next += skipped + 1;
                true
            }
            _ => {
                self.next = self.parent.len();
                false
            }
        }
    }

    fn is_copied_compaction(&self, record: &Map<String, Value>, at: Millis) -> bool {
        let is_then =
            self.until.is_some_and(|until| at.0 <= until.0.saturating_add(COPY_WINDOW_MS));
        is_then && self.next > 0 && record_type(record) == "compacted"
    }
}

pub(in crate::agents) struct RolloutReader {
    path: String,
    context: RecordContext,
    copies: Option<CopiedHistory>,
    turn: String,
    model: Value,
    subagent: Option<String>,
    is_started: bool,
    has_task: bool,
    has_items: bool,
    /// The session start, held back until the folder is known: the first versions name it later.
    start: Option<RecordOutcome>,
    calls: PendingToolCalls,
    scripts: RunningScripts,
    commands: RunningCommands,
    /// The last name that the thread was given.
    title: Option<String>,
}

impl RolloutReader {
    pub(in crate::agents) fn new(origin: TranscriptOrigin, copies: Option<CopiedHistory>) -> Self {
        Self {
            context: RecordContext::new(&origin),
            path: origin.path,
            copies,
            turn: String::new(),
            model: Value::Null,
            subagent: None,
            is_started: false,
            has_task: false,
            has_items: false,
            start: None,
            calls: PendingToolCalls::default(),
            scripts: RunningScripts::default(),
            commands: RunningCommands::default(),
            title: None,
        }
    }

    /// Handles a session header. A copied history also contains its parent's header, which is
    /// skipped.
    fn session_start_event(&mut self, mut about: PayloadFields) -> RecordOutcome {
        if std::mem::replace(&mut self.is_started, true) {
            return RecordOutcome::Skipped(RecordSkipReason::Bookkeeping);
        }
        let (id, session) = (about.take_value("id"), about.take_value("session_id"));
        let own = id.as_str().unwrap_or_default().to_owned();
        let named = |id: &Value| id.as_str().is_some_and(|id| !id.is_empty());
        if let Some(session) = [session, id].into_iter().find(named) {
            self.context.session = session;
        }
        self.context.update_cwd(about.get("cwd"));
        self.context.update_branch(about.get("git").and_then(|git| git.get("branch")));
        if let Some(copies) = &mut self.copies {
            copies.until = Some(self.context.at);
        }
        self.context.update_time(about.get("timestamp"));
        let source = about.take_value("source");
        let is_subagent = source.get("subagent").is_some()
            || about.get_str("thread_source") == Some("subagent")
            || !own.is_empty() && self.context.session.as_str() != Some(&own);
        let mut fields = PayloadFields::default();
        fields.set("transcript", self.path.clone());
        fields.set("version", about.take_value("cli_version"));
        fields.set("branch", self.context.branch.clone().unwrap_or_default());
        fields.set("forked_from", about.take_value("forked_from_id"));
        fields.set("parent", about.take_value("parent_thread_id"));
        let mut kind = EventKind::SessionStart;
        if is_subagent {
            kind = EventKind::SubagentStart;
            fields.set("agent_id", own.clone());
            self.subagent = Some(own.clone());
        }
        self.context.lifecycle_event(kind, &["transcript", &own], String::new(), fields)
    }

    fn base_fields(&self) -> PayloadFields {
        let mut fields = PayloadFields::default();
        if !self.turn.is_empty() {
            fields.set("turn_id", self.turn.clone());
        }
        fields.set("model", self.model.clone());
        if let Some(subagent) = &self.subagent {
            fields.set("agent_id", subagent.clone());
        }
        fields
    }

    fn update_turn(&mut self, about: &PayloadFields) {
        let inner = about.get("internal_chat_message_metadata_passthrough");
        let turn = inner.and_then(|inner| inner.get("turn_id")).or_else(|| about.get("turn_id"));
        if let Some(Value::String(turn)) = turn {
            self.turn.clone_from(turn);
        }
    }

    fn read_item(&mut self, mut item: PayloadFields) -> RecordOutcomes {
        self.has_items = true;
        self.update_turn(&item);
        let kind = item.get_str("type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "message" => vec![self.read_message(item)],
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let id = item.take_text("call_id");
                let (name, input) = parse_call(item);
                if name == SCRIPT_TOOL {
                    self.scripts.insert_start(&id, self.context.at);
                }
                self.calls.insert(&id, self.context.at, name, input);
                vec![RecordOutcome::Skipped(RecordSkipReason::Bookkeeping)]
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                self.tool_result_events(item)
            }
            _ => vec![RecordOutcome::Skipped(RecordSkipReason::Bookkeeping)],
        }
    }

    fn push_items(&mut self, item: PayloadFields, steps: &mut RecordOutcomes) {
        let items = self.read_item(item);
        if items.iter().any(|step| matches!(step, RecordOutcome::Event(_))) {
            steps.extend(self.start.take());
        }
        steps.extend(items);
    }

    fn read_message(&mut self, mut item: PayloadFields) -> RecordOutcome {
        let role = item.take_text("role");
        let map = item.into_map();
        let content = map.get("content").cloned().unwrap_or_default();
        match role.as_str() {
            "assistant" => {
                let mut fields = self.base_fields();
                fields.set("message_id", map.get("id").cloned().unwrap_or_default());
                // `commentary` while it works, `final_answer` at the end.
                fields.set("phase", map.get("phase").cloned().unwrap_or_default());
                self.context.reply_event(content_texts(content).join("\n"), fields)
            }
            "user" => {
                self.find_folder(&content);
                let text = user_texts(content, &map).join("\n");
                self.prompt_event(text)
            }
            _ => RecordOutcome::Skipped(RecordSkipReason::Injected),
        }
    }

    /// Finds the folder of a session whose header has none in the context that the harness wrote.
    fn find_folder(&mut self, content: &Value) {
        let Some(RecordOutcome::Event(start)) = &mut self.start else { return };
        let text = content_texts(content.clone()).join("\n");
        let folder = text.split_once("<cwd>").and_then(|(_, rest)| rest.split_once("</cwd>"));
        if let Some((folder, _)) = folder {
            self.context.update_cwd(Some(&Value::String(folder.trim().to_owned())));
            start.cwd.clone_from(&self.context.cwd);
        }
    }

    fn prompt_event(&mut self, text: String) -> RecordOutcome {
        if text.trim().is_empty() {
            return RecordOutcome::Skipped(RecordSkipReason::Injected);
        }
        if let Some(subagent) = self.subagent.clone() {
            // Written by the parent; the first one is the subagent's task.
            let mut fields = self.base_fields();
            let is_task = !std::mem::replace(&mut self.has_task, true);
            fields.set("event", if is_task { "subagent_task" } else { "subagent_prompt" });
            return self.context.lifecycle_event(EventKind::Unknown, &[&subagent], text, fields);
        }
        let turn = Some(self.turn.clone()).filter(|turn| !turn.is_empty());
        self.context.prompt_event(&text, turn.as_deref(), self.base_fields())
    }

    fn tool_result_events(&mut self, mut item: PayloadFields) -> RecordOutcomes {
        let id = item.take_text("call_id");
        let output = item.take_value("output");
        let (name, input) = self.calls.take_call(&id);
        let is_script = name == SCRIPT_TOOL && input.is_string();
        let is_wait = name == "wait" && self.scripts.contains(&input);
        if !is_script && !is_wait {
            return vec![self.call_event(&id, name, input, output)];
        }
        match parse_script_output(output) {
            Ok(output) => {
                let run = if is_wait { self.scripts.take(&input) } else { None };
                let at = self.context.at;
                let run = run.unwrap_or_else(|| self.scripts.begin(id, text_from_value(input), at));
                self.script_events(run, output)
            }
            // The script was not run.
            Err(output) => vec![self.call_event(&id, name, input, output)],
        }
    }

    fn call_event(&mut self, id: &str, name: String, input: Value, output: Value) -> RecordOutcome {
        let mut call = HookCall::from_model(name, input);
        self.commands.read_call(&mut call, &output);
        let mut fields = self.base_fields();
        if let Some(workdir) = call.workdir.filter(|workdir| *workdir != self.context.cwd) {
            fields.set("workdir", workdir);
        }
        let output = parse_tool_output(output, &mut fields);
        let tool = Tool { name: call.name, input: call.input, output };
        self.context.tool_result_event(id, tool, fields)
    }

    /// Adds output to a script, which has ended unless the output says that it still runs.
    fn script_events(&mut self, mut run: ScriptRun, output: ScriptOutput) -> RecordOutcomes {
        run.add_items(output.items);
        run.at = self.context.at;
        let ScriptStatus::Running(cell) = output.status else {
            return self.end_script(run, &output.status);
        };
        run.cap_items();
        let dropped = self.scripts.insert(cell, run);
        let status = ScriptStatus::Running(String::new());
        let mut events: RecordOutcomes =
            dropped.into_iter().flat_map(|run| self.end_script(run, &status)).collect();
        events.push(RecordOutcome::Skipped(RecordSkipReason::Bookkeeping));
        events
    }

    fn end_script(&mut self, run: ScriptRun, status: &ScriptStatus) -> RecordOutcomes {
        let now = std::mem::replace(&mut self.context.at, run.at);
        let base = self.base_fields().into_map();
        let calls = expand_script(run, status, &self.context.cwd);
        let events = calls.into_iter().map(|call| {
            let mut fields = PayloadFields::new(base.clone());
            for (name, value) in call.fields.into_map() {
                fields.set(&name, value);
            }
            self.context.tool_result_event(&call.id, call.tool, fields)
        });
        let events = events.collect();
        self.context.at = now;
        events
    }

    /// Old versions write only these records; later versions repeat the items in them, so they are
    /// skipped.
    fn read_event_message(&mut self, mut about: PayloadFields) -> RecordOutcome {
        self.update_turn(&about);
        match about.get_str("type") {
            Some("user_message") if !self.has_items => {
                let text = about.take_text("message");
                if is_harness_text(&text) {
                    RecordOutcome::Skipped(RecordSkipReason::Injected)
                } else {
                    self.prompt_event(text)
                }
            }
            Some("agent_message") if !self.has_items => {
                let text = about.take_text("message");
                self.context.reply_event(text, self.base_fields())
            }
            Some("thread_name_updated") => {
                self.title = about.get_str("thread_name").map(str::to_owned);
                RecordOutcome::Skipped(RecordSkipReason::Bookkeeping)
            }
            _ => RecordOutcome::Skipped(RecordSkipReason::Bookkeeping),
        }
    }

    fn compaction_event(&mut self, mut about: PayloadFields) -> RecordOutcome {
        let text = about.take_text("message");
        let mut fields = self.base_fields();
        fields.set("phase", "after");
        self.context.lifecycle_event(EventKind::Compaction, &["after"], text, fields)
    }
}

impl TranscriptReader for RolloutReader {
    fn read_record(&mut self, record: Map<String, Value>, steps: &mut RecordOutcomes) {
        self.context.update_time(record.get("timestamp"));
        if let Some(copies) = &mut self.copies
            && (copies.matches_next(&record, self.context.at)
                || copies.is_copied_compaction(&record, self.context.at))
        {
            self.has_items = true;
            return steps.push(RecordOutcome::Skipped(RecordSkipReason::Copied));
        }
        let kind = record_type(&record).to_owned();
        let mut record = PayloadFields::new(record);
        let is_bare = !record.has("payload");
        let about = if is_bare { PayloadFields::default() } else { record.take_object("payload") };
        let step = match kind.as_str() {
            "response_item" => return self.push_items(about, steps),
            "session_meta" => self.session_start_event(about),
            "turn_context" => {
                self.update_turn(&about);
                self.context.update_cwd(about.get("cwd"));
                self.model = about.get("model").cloned().unwrap_or_default();
                RecordOutcome::Skipped(RecordSkipReason::Bookkeeping)
            }
            "event_msg" => self.read_event_message(about),
            "compacted" => self.compaction_event(about),
            // The first versions: a header line without a type, then bare items.
            "" if is_bare && record.has("id") && !self.is_started => {
                self.start = Some(self.session_start_event(record));
                return;
            }
            _ if is_bare => return self.push_items(record, steps),
            _ => RecordOutcome::Skipped(RecordSkipReason::Bookkeeping),
        };
        if matches!(step, RecordOutcome::Event(_)) {
            steps.extend(self.start.take());
        }
        steps.push(step);
    }

    fn finish(&mut self, steps: &mut RecordOutcomes) {
        // The end of a script may follow; a later import stores it under the same id.
        let running = self.scripts.drain().into_iter();
        steps.extend(running.map(|_| RecordOutcome::Skipped(RecordSkipReason::Unfinished)));
        for mut pending in self.calls.take_unanswered() {
            let call = HookCall::from_model(pending.name, pending.input);
            (pending.name, pending.input) = (call.name, call.input);
            steps.push(self.context.unanswered_call_event(pending, self.base_fields()));
        }
        let title = self.title.as_deref().filter(|_| self.subagent.is_none());
        steps.extend(title.and_then(|title| self.context.title_event(title)));
    }
}

fn record_type(record: &Map<String, Value>) -> &str {
    record.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn response_item(record: &Map<String, Value>) -> Option<&Map<String, Value>> {
    match record.get("payload") {
        Some(Value::Object(item)) if record_type(record) == "response_item" => Some(item),
        Some(_) => None,
        None => Some(record),
    }
}

fn is_harness_text(text: &str) -> bool {
    starts_with_any(text, &HARNESS_PREFIXES)
}

fn content_texts(content: Value) -> Vec<String> {
    match content {
        Value::Array(parts) => parts
            .into_iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str).map(str::to_owned))
            .collect(),
        content => vec![text_from_value(content)],
    }
}

/// Returns the parts of a prompt that the user wrote. Newer files record the provenance of each
/// part.
fn user_texts(content: Value, item: &Map<String, Value>) -> Vec<String> {
    let about = item.get("internal_chat_message_metadata_passthrough");
    let about = about.and_then(|about| about.get("content_item_metadata")?.as_array());
    let is_own = |index: usize| {
        let from = about.and_then(|about| about.get(index)?.get("provenance")?.get("type"));
        from.and_then(Value::as_str).is_none_or(|from| from == "user")
    };
    let parts = match content {
        Value::Array(parts) => parts,
        content => vec![content],
    };
    let mut texts = Vec::new();
    for (index, part) in parts.into_iter().enumerate() {
        let text = match &part {
            Value::String(text) => Some(text.as_str()),
            part => part.get("text").and_then(Value::as_str),
        };
        let image = part.get("type").and_then(Value::as_str) == Some("input_image");
        match text {
            Some(text) if is_own(index) && !is_harness_text(text) => texts.push(text.to_owned()),
            None if image => texts.push("[image]".to_owned()),
            _ => {}
        }
    }
    texts
}
