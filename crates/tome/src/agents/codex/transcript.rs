//! Reads Codex's rollouts: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`, old ones
//! compressed. Each line is `{timestamp, ordinal?, type, payload}`; messages and tool calls are
//! `response_item`s. Files of the first versions have bare items, and some only `event_msg`s.
//!
//! Tool names are mapped to those of the hooks (`exec_command` is `Bash`), and the harness's header
//! is stripped from command output, so that events match those of the hooks.
//!
//! A forked session begins with a copy of its parent's history. Where the parent can be read, the
//! copy is recognized by it: the same messages and calls in the same order, written at the fork.

use serde_json::{Map, Value};
use tome_model::{EventKind, Millis, Tool};

use crate::agents::fields::{Fields, joined, words_of};
use crate::agents::transcript::{Calls, Here, Origin, Skip, Step, Steps, Transcript};

/// Prefixes of text parts that Codex itself adds to prompts.
const HARNESS: [&str; 9] = [
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
const COPYING_MS: u64 = 10_000;

/// Items of the parent that a copy may omit in a row.
const LEFT_OUT_MAX: usize = 64;

/// Maximum size of the header that the harness writes before a command's output.
const OUTPUT_HEAD_BYTES: usize = 400;

/// Returns the session that a rollout was forked from, given its first record.
pub fn fork_of(record: &Map<String, Value>) -> Option<String> {
    let payload = record.get("payload").filter(|_| kind_of(record) == "session_meta")?;
    let base = payload.get("history_base");
    let base = base.and_then(|base| base.get("thread_id").or_else(|| base.get("session_id")));
    let parent = payload.get("forked_from_id").filter(|id| !id.is_null()).or(base)?;
    parent.as_str().filter(|id| !id.is_empty()).map(str::to_owned)
}

/// Hashes a message or call, so that a copy of it can be recognized; `None` for other records.
pub fn trace(record: &Map<String, Value>) -> Option<u64> {
    let item = item_of(record)?;
    let kind = item.get("type").and_then(Value::as_str)?;
    let (role, what) = match kind {
        "message" => {
            let role = item.get("role").and_then(Value::as_str)?;
            if role == "developer" || role == "system" {
                return None;
            }
            let text = parts_of(item.get("content").cloned().unwrap_or_default(), item).join("\n");
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
pub struct Copies {
    parent: Vec<u64>,
    next: usize,
    until: Option<Millis>,
}

impl Copies {
    /// Takes the fingerprints of the parent's records, in order.
    pub fn new(parent: Vec<u64>) -> Self {
        Self { parent, next: 0, until: None }
    }

    /// Returns whether the record is the next copied one. The first record that is not ends the
    /// copy.
    fn has(&mut self, record: &Map<String, Value>, at: Millis) -> bool {
        let Some(mark) = trace(record) else { return false };
        let until = *self.until.get_or_insert(at);
        let ahead = self.parent.iter().skip(self.next).take(LEFT_OUT_MAX);
        let found = ahead.into_iter().position(|known| *known == mark);
        match found {
            Some(skipped) if at.0 <= until.0.saturating_add(COPYING_MS) => {
                self.next += skipped + 1;
                true
            }
            _ => {
                self.next = self.parent.len();
                false
            }
        }
    }

    /// Returns whether the record is a compaction that was copied with the history.
    fn echoes(&self, record: &Map<String, Value>, at: Millis) -> bool {
        let is_then = self.until.is_some_and(|until| at.0 <= until.0.saturating_add(COPYING_MS));
        is_then && self.next > 0 && kind_of(record) == "compacted"
    }
}

pub(in crate::agents) struct Rollout {
    path: String,
    here: Here,
    copies: Option<Copies>,
    turn: String,
    model: Value,
    subagent: Option<String>,
    is_started: bool,
    has_task: bool,
    has_items: bool,
    /// The session start, held back until the folder is known: the first versions name it later.
    start: Option<Step>,
    calls: Calls,
}

impl Rollout {
    pub(in crate::agents) fn new(origin: Origin, copies: Option<Copies>) -> Self {
        Self {
            here: Here::new(&origin),
            path: origin.path,
            copies,
            turn: String::new(),
            model: Value::Null,
            subagent: None,
            is_started: false,
            has_task: false,
            has_items: false,
            start: None,
            calls: Calls::default(),
        }
    }

    /// Handles a session header. A copied history also contains its parent's header, which is
    /// skipped.
    fn start(&mut self, mut about: Fields) -> Step {
        if std::mem::replace(&mut self.is_started, true) {
            return Step::Skipped(Skip::Bookkeeping);
        }
        let (id, session) = (about.take("id"), about.take("session_id"));
        let own = id.as_str().unwrap_or_default().to_owned();
        let named = |id: &Value| id.as_str().is_some_and(|id| !id.is_empty());
        if let Some(session) = [session, id].into_iter().find(named) {
            self.here.session = session;
        }
        self.here.enter(about.get("cwd"));
        if let Some(copies) = &mut self.copies {
            copies.until = Some(self.here.at);
        }
        self.here.pass(about.get("timestamp"));
        let source = about.take("source");
        let is_subagent = source.get("subagent").is_some()
            || about.str("thread_source") == Some("subagent")
            || !own.is_empty() && self.here.session.as_str() != Some(&own);
        let mut fields = Fields::default();
        fields.put("transcript", self.path.clone());
        fields.put("version", about.take("cli_version"));
        fields.put("forked_from", about.take("forked_from_id"));
        fields.put("parent", about.take("parent_thread_id"));
        let mut kind = EventKind::SessionStart;
        if is_subagent {
            kind = EventKind::SubagentStart;
            fields.put("agent_id", own.clone());
            self.subagent = Some(own.clone());
        }
        self.here.moment(kind, &["transcript", &own], String::new(), fields)
    }

    fn fields(&self) -> Fields {
        let mut fields = Fields::default();
        if !self.turn.is_empty() {
            fields.put("turn_id", self.turn.clone());
        }
        fields.put("model", self.model.clone());
        if let Some(subagent) = &self.subagent {
            fields.put("agent_id", subagent.clone());
        }
        fields
    }

    fn look_around(&mut self, about: &Fields) {
        let inner = about.get("internal_chat_message_metadata_passthrough");
        let turn = inner.and_then(|inner| inner.get("turn_id")).or_else(|| about.get("turn_id"));
        if let Some(Value::String(turn)) = turn {
            self.turn.clone_from(turn);
        }
    }

    fn item(&mut self, mut item: Fields) -> Step {
        self.has_items = true;
        self.look_around(&item);
        let kind = item.str("type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "message" => self.message(item),
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let id = item.words("call_id");
                let (name, input) = call_of(item);
                self.calls.made(&id, name, input);
                Step::Skipped(Skip::Bookkeeping)
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                self.answered(item)
            }
            _ => Step::Skipped(Skip::Bookkeeping),
        }
    }

    fn message(&mut self, mut item: Fields) -> Step {
        let role = item.words("role");
        let map = item.into_map();
        let content = map.get("content").cloned().unwrap_or_default();
        match role.as_str() {
            "assistant" => {
                let mut fields = self.fields();
                fields.put("message_id", map.get("id").cloned().unwrap_or_default());
                self.here.reply(texts_of(content).join("\n"), fields)
            }
            "user" => {
                self.find_folder(&content);
                let text = parts_of(content, &map).join("\n");
                self.prompt(text)
            }
            _ => Step::Skipped(Skip::Injected),
        }
    }

    /// Finds the folder of a session whose header has none in the context that the harness wrote.
    fn find_folder(&mut self, content: &Value) {
        let Some(Step::Event(start)) = &mut self.start else { return };
        let text = texts_of(content.clone()).join("\n");
        let folder = text.split_once("<cwd>").and_then(|(_, rest)| rest.split_once("</cwd>"));
        if let Some((folder, _)) = folder {
            self.here.enter(Some(&Value::String(folder.trim().to_owned())));
            start.cwd.clone_from(&self.here.cwd);
        }
    }

    fn prompt(&mut self, text: String) -> Step {
        if text.trim().is_empty() {
            return Step::Skipped(Skip::Injected);
        }
        if let Some(subagent) = self.subagent.clone() {
            // Written by the parent; the first one is the subagent's task.
            let mut fields = self.fields();
            let is_task = !std::mem::replace(&mut self.has_task, true);
            fields.put("event", if is_task { "subagent_task" } else { "subagent_prompt" });
            return self.here.moment(EventKind::Unknown, &[&subagent], text, fields);
        }
        let turn = Some(self.turn.clone()).filter(|turn| !turn.is_empty());
        self.here.prompt(&text, turn.as_deref(), self.fields())
    }

    fn answered(&mut self, mut item: Fields) -> Step {
        let id = item.words("call_id");
        let (name, input) = self.calls.answered(&id);
        let mut fields = self.fields();
        let output = output_of(item.take("output"), &mut fields);
        self.here.tool(&id, Tool { name, input, output }, fields)
    }

    /// Old versions write only these records; later versions repeat the items in them, so they are
    /// skipped.
    fn told(&mut self, mut about: Fields) -> Step {
        self.look_around(&about);
        match about.str("type") {
            Some("user_message") if !self.has_items => {
                let text = about.words("message");
                match is_harness(&text) {
                    true => Step::Skipped(Skip::Injected),
                    false => self.prompt(text),
                }
            }
            Some("agent_message") if !self.has_items => {
                let text = about.words("message");
                self.here.reply(text, self.fields())
            }
            _ => Step::Skipped(Skip::Bookkeeping),
        }
    }

    fn compacted(&mut self, mut about: Fields) -> Step {
        let text = about.words("message");
        let mut fields = self.fields();
        fields.put("phase", "after");
        self.here.moment(EventKind::Compaction, &["after"], text, fields)
    }
}

impl Transcript for Rollout {
    fn record(&mut self, record: Map<String, Value>, steps: &mut Steps) {
        self.here.pass(record.get("timestamp"));
        if let Some(copies) = &mut self.copies
            && (copies.has(&record, self.here.at) || copies.echoes(&record, self.here.at))
        {
            self.has_items = true;
            return steps.push(Step::Skipped(Skip::Copied));
        }
        let kind = kind_of(&record).to_owned();
        let mut record = Fields::new(record);
        let is_bare = !record.has("payload");
        let about = if is_bare { Fields::default() } else { record.object("payload") };
        let step = match kind.as_str() {
            "session_meta" => self.start(about),
            "turn_context" => {
                self.look_around(&about);
                self.here.enter(about.get("cwd"));
                self.model = about.get("model").cloned().unwrap_or_default();
                Step::Skipped(Skip::Bookkeeping)
            }
            "response_item" => self.item(about),
            "event_msg" => self.told(about),
            "compacted" => self.compacted(about),
            // The first versions: a header line without a type, then bare items.
            "" if is_bare && record.has("id") && !self.is_started => {
                self.start = Some(self.start(record));
                return;
            }
            _ if is_bare => self.item(record),
            _ => Step::Skipped(Skip::Bookkeeping),
        };
        if matches!(step, Step::Event(_)) {
            steps.extend(self.start.take());
        }
        steps.push(step);
    }

    fn end(&mut self, steps: &mut Steps) {
        self.calls.end(steps);
    }
}

fn kind_of(record: &Map<String, Value>) -> &str {
    record.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn item_of(record: &Map<String, Value>) -> Option<&Map<String, Value>> {
    match record.get("payload") {
        Some(Value::Object(item)) if kind_of(record) == "response_item" => Some(item),
        Some(_) => None,
        None => Some(record),
    }
}

fn is_harness(text: &str) -> bool {
    HARNESS.iter().any(|mark| text.trim_start().starts_with(mark))
}

fn texts_of(content: Value) -> Vec<String> {
    match content {
        Value::Array(parts) => parts
            .into_iter()
            .filter_map(|part| part.get("text").and_then(Value::as_str).map(str::to_owned))
            .collect(),
        content => vec![words_of(content)],
    }
}

/// Returns the parts of a prompt that the user wrote. Newer files record the provenance of each
/// part.
fn parts_of(content: Value, item: &Map<String, Value>) -> Vec<String> {
    let about = item.get("internal_chat_message_metadata_passthrough");
    let about = about.and_then(|about| about.get("content_item_metadata")?.as_array());
    let is_own = |place: usize| {
        let from = about.and_then(|about| about.get(place)?.get("provenance")?.get("type"));
        from.and_then(Value::as_str).is_none_or(|from| from == "user")
    };
    let parts = match content {
        Value::Array(parts) => parts,
        content => vec![content],
    };
    let mut texts = Vec::new();
    for (place, part) in parts.into_iter().enumerate() {
        let text = match &part {
            Value::String(text) => Some(text.as_str()),
            part => part.get("text").and_then(Value::as_str),
        };
        let image = part.get("type").and_then(Value::as_str) == Some("input_image");
        match text {
            Some(text) if is_own(place) && !is_harness(text) => texts.push(text.to_owned()),
            None if image => texts.push("[image]".to_owned()),
            _ => {}
        }
    }
    texts
}

/// Converts a call to the tool name and input that hooks report.
fn call_of(mut item: Fields) -> (String, Value) {
    let action = item.object("action");
    let mut name = item.words("name");
    let space = item.words("namespace");
    if !space.is_empty() {
        name = format!("{space}__{name}");
    }
    let input = match item.take("arguments") {
        Value::Null => match item.take("input") {
            Value::Null => action.into_value(),
            input => input,
        },
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        input => input,
    };
    let command = match name.as_str() {
        "exec_command" => input.get("cmd"),
        "shell" | "shell_command" | "container.exec" | "" => input.get("command"),
        _ => None,
    };
    match command {
        Some(Value::String(command)) => ("Bash".to_owned(), shell(command)),
        Some(Value::Array(words)) => ("Bash".to_owned(), shell(&command_line(words))),
        _ => (name, input),
    }
}

fn shell(command: &str) -> Value {
    serde_json::json!({ "command": command })
}

/// `["bash", "-lc", "ls"]` becomes `ls`; other commands are joined by spaces.
fn command_line(words: &[Value]) -> String {
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    match words.as_slice() {
        [_, "-c" | "-lc", script] => (*script).to_owned(),
        words => words.join(" "),
    }
}

/// Returns the tool's output without the harness's header.
fn output_of(output: Value, fields: &mut Fields) -> Value {
    match output {
        Value::String(text) => match serde_json::from_str::<Map<String, Value>>(&text) {
            Ok(wrapped) if wrapped.contains_key("output") && wrapped.contains_key("metadata") => {
                let code = wrapped.get("metadata").and_then(|about| about.get("exit_code"));
                note_exit(code.and_then(Value::as_i64), fields);
                wrapped.get("output").cloned().unwrap_or_default()
            }
            _ => Value::String(tome_model::strip_injections(command_output(&text, fields))),
        },
        Value::Object(wrapped) if wrapped.contains_key("content") => {
            if wrapped.get("success") == Some(&Value::Bool(false)) {
                fields.put_failed();
            }
            let content = wrapped.get("content").cloned().unwrap_or_default();
            output_of(content, fields)
        }
        Value::Array(parts) => {
            let texts: Option<Vec<&str>> =
                parts.iter().map(|part| part.get("text").and_then(Value::as_str)).collect();
            let text = texts.map(|texts| texts.join("\n"));
            text.map_or(Value::Array(parts), Value::String)
        }
        other => joined(&other).map_or(other, Value::String),
    }
}

fn command_output<'a>(text: &'a str, fields: &mut Fields) -> &'a str {
    let begins = ["Chunk ID:", "Wall time:", "Exit code:"];
    let Some((head, output)) = output_head(text, &begins) else { return text };
    // A patch that Codex applied itself has two headers: the command's and the patch's.
    let inner = Some(output).filter(|_| head.starts_with("Wall time:"));
    let inner = inner.and_then(|output| output_head(output, &["Exit code:"]));
    let (head, output) = inner.unwrap_or((head, output));
    let code = head.lines().find_map(|line| {
        let code = line.strip_prefix("Process exited with code ");
        code.or_else(|| line.strip_prefix("Exit code: "))?.trim().parse().ok()
    });
    note_exit(code, fields);
    output
}

/// Splits the harness's header lines from the output.
fn output_head<'a>(text: &'a str, begins: &[&str]) -> Option<(&'a str, &'a str)> {
    let (head, output) = text.split_once("Output:\n")?;
    let is_head =
        head.len() <= OUTPUT_HEAD_BYTES && begins.iter().any(|mark| head.starts_with(mark));
    is_head.then_some((head, output))
}

fn note_exit(code: Option<i64>, fields: &mut Fields) {
    if let Some(code) = code.filter(|code| *code != 0) {
        fields.put("exit_code", code);
        fields.put_failed();
    }
}
