//! OpenCode payloads, sent by Tome's plugin from OpenCode's plugin hooks and event bus: `{"input",
//! "output", "directory"}` with the hook's name on the command line or in `ev`, or a bus event
//! `{"event": {"type", "properties"}}`; plus `timestamp`, the time of the event. Subagents have
//! sessions of their own, with a `parentID`. Events that need no response arrive in batches, one
//! per line, under the name [`BATCH`].
//!
//! The bus also carries dozens of events about the program itself at every start. Only those with a
//! prefix in `SESSION_PREFIXES` that name their session are recorded.

use serde_json::Value;
use tome_model::{Draft, EventKind, Role, Tool, cap_json};

use crate::agents::Heard;
use crate::agents::fields::{Fields, joined};
use crate::agents::prompt::unquoted;
use crate::agents::scene::{Scene, stamp_of};

/// Event name on the command line for several events at once. The plugin expects no response.
pub(in crate::agents) const BATCH: &str = "batch";

/// The plugin sends at most 64 events per batch. Any excess stays with the last one.
const BATCH_EVENTS_MAX: usize = 1_024;

/// Prefixes of events that concern a session. An unknown event with such a prefix is kept as
/// unknown.
const FAMILIES: [&str; 5] = ["session.", "message.", "command.", "chat.", "tool."];

/// Events without content of their own. A name that ends in `.` is a prefix.
const ECHOES: [&str; 12] = [
    // State of a session and of its messages, repeated on every change.
    "session.updated",
    "session.status",
    "session.diff",
    "session.next.",
    "message.updated",
    "message.part.delta",
    "message.part.removed",
    // Parameters of a model request.
    "chat.params",
    "chat.headers",
    // tool.execute.after repeats the input, with the result.
    "tool.execute.before",
    "tool.definition",
    // command.executed repeats it.
    "command.execute.before",
];

/// Limit for a tool's metadata (diffs, exit codes) and for its structured result.
pub(in crate::agents) const METADATA_BYTES_MAX: usize = 8 * 1024;

/// One hook call or bus event.
struct Told {
    input: Fields,
    output: Fields,
    rest: Fields,
}

pub(in crate::agents) fn split_batch(payload: &[u8]) -> impl Iterator<Item = &[u8]> {
    payload.splitn(BATCH_EVENTS_MAX, |byte| *byte == b'\n')
}

pub(in crate::agents) fn draft(heard: &Heard<'_>, fields: Fields) -> Option<Draft> {
    let (event, mut told) = opened(heard, fields);
    if ECHOES.iter().any(|echo| is_echo(&event, echo)) {
        return None;
    }
    let session = told.session(&event);
    if !is_named(&session) {
        return None;
    }
    let is_subagent = !told.rest.take("parentID").is_null();
    let scene = told.scene(heard, &event, &session)?;
    let draft = match event.as_str() {
        "session.created" => return Some(created(&scene, told)),
        "session.resumed" => Some(resumed(&scene)),
        "session.ended" => Some(ended(&scene, told)),
        "session.deleted" => Some(deleted(&scene, told)),
        "session.idle" => Some(idle(&scene, told)),
        "session.compacted" => Some(compaction(&scene, "after", told)),
        "experimental.session.compacting" => Some(compaction(&scene, "before", told)),
        "chat.message" => prompt(&scene, told),
        "tool.execute.after" if told.input.str("tool").is_some() => Some(tool_result(&scene, told)),
        "message.part.updated" => part(&scene, told.input.object("part")),
        // OpenCode's own names contain a dot; other plugins' events may not.
        name if !name.contains('.') || FAMILIES.iter().any(|family| name.starts_with(family)) => {
            Some(scene.unknown(&event, told.left()))
        }
        _ => None,
    };
    draft.map(|draft| if is_subagent { of_subagent(draft) } else { draft })
}

fn is_named(session: &Value) -> bool {
    match session {
        Value::String(id) => !id.trim().is_empty(),
        Value::Number(_) => true,
        _ => false,
    }
}

/// Marks an event in a subagent's session. A prompt there was written by the parent agent, not by
/// the user.
pub(in crate::agents) fn of_subagent(mut draft: Draft) -> Draft {
    draft.meta.insert("subagent".to_owned(), draft.session.as_str().into());
    if draft.kind == EventKind::UserMessage {
        draft.kind = EventKind::Unknown;
        draft.role = Role::System;
        draft.meta.insert("event".to_owned(), "subagent_prompt".into());
    }
    draft
}

fn is_echo(event: &str, echo: &str) -> bool {
    event == echo || echo.ends_with('.') && event.starts_with(echo)
}

/// Extracts the event name and its parts from any of the payload shapes.
fn opened(heard: &Heard<'_>, mut fields: Fields) -> (String, Told) {
    let mut bus = fields.object("event");
    let named = bus.str("type").or_else(|| fields.str("ev"));
    let named = named.or(heard.event).or_else(|| fields.str("type"));
    let event = named.unwrap_or_default();
    let event = event.strip_prefix("event:").unwrap_or(event).to_owned();
    fields.take("ev");
    let output = fields.object("output");
    let mut input = bus.object("properties");
    for name in ["input", "properties"] {
        if input.is_empty() {
            input = fields.object(name);
        }
    }
    // A plugin may also send the input alone.
    let (input, rest) = match input.is_empty() {
        true => (fields, Fields::default()),
        false => (input, fields),
    };
    let told = Told { input, output, rest };
    (event, told)
}

impl Told {
    fn scene<'a>(&mut self, heard: &Heard<'a>, event: &str, session: &Value) -> Option<Scene<'a>> {
        let stamp = self.time(event);
        let directory =
            [self.rest.take("directory"), self.input.take("directory"), self.rest.take("worktree")];
        let info = self.input.get("info").and_then(|info| info.get("directory"));
        let cwd = directory.into_iter().find(|path| !path.is_null());
        let cwd = cwd.or_else(|| info.cloned()).unwrap_or_default();
        Scene::new(heard, session, cwd, &stamp)
    }

    /// Hooks carry `sessionID`; older bus events only have it inside their subject.
    fn session(&mut self, event: &str) -> Value {
        for fields in [&mut self.input, &mut self.rest] {
            let given = fields.take("sessionID");
            if !given.is_null() {
                return given;
            }
        }
        let about = |name: &str, field: &str| self.input.get(name).and_then(|of| of.get(field));
        let own = about("info", "id").filter(|_| event.starts_with("session."));
        let found = own
            .or_else(|| about("info", "sessionID"))
            .or_else(|| about("part", "sessionID"))
            .or_else(|| self.output.get("message").and_then(|of| of.get("sessionID")));
        found.cloned().unwrap_or_default()
    }

    /// Returns the time of the event. (A deleted session only has its creation time, which is
    /// ignored.)
    fn time(&mut self, event: &str) -> Value {
        let at = |value: Option<&Value>, name: &str| {
            value.and_then(|of| of.get("time")).and_then(|time| time.get(name)).cloned()
        };
        let found = match event {
            "session.created" => at(self.input.get("info"), "created"),
            "chat.message" => at(self.output.get("message"), "created"),
            "message.part.updated" => {
                let part = self.input.get("part");
                at(part, "end").or_else(|| at(part.and_then(|part| part.get("state")), "end"))
            }
            _ => None,
        };
        let given =
            [self.rest.take("timestamp"), self.input.take("timestamp"), self.input.take("time")];
        let mut all = found.into_iter().chain(given);
        all.find(|value| stamp_of(value).is_some()).unwrap_or_default()
    }

    /// Returns all fields not taken so far.
    fn left(self) -> Fields {
        let mut left = self.input.into_map();
        let output = self.output.into_map();
        if !output.is_empty() {
            left.insert("output".to_owned(), Value::Object(output));
        }
        left.extend(self.rest.into_map());
        Fields::new(left)
    }
}

/// A session with a parent is a subagent of it.
fn created(scene: &Scene<'_>, mut told: Told) -> Draft {
    let mut info = told.input.object("info");
    let parent = info.take("parentID");
    let kind = if parent.is_null() { EventKind::SessionStart } else { EventKind::SubagentStart };
    let mut fields = Fields::default();
    fields.put("parent", parent);
    for name in ["title", "version", "agent", "model"] {
        fields.put(name, info.take(name));
    }
    scene.moment(kind, &["created"], String::new(), fields)
}

/// Sent by the plugin when a session continues that began before the plugin was loaded.
fn resumed(scene: &Scene<'_>) -> Draft {
    let mut fields = Fields::default();
    fields.put("source", "resume");
    scene.moment(EventKind::SessionStart, &["resume"], String::new(), fields)
}

/// Sent by the plugin when OpenCode exits.
fn ended(scene: &Scene<'_>, mut told: Told) -> Draft {
    let mut fields = Fields::default();
    fields.put("reason", told.input.take("reason"));
    scene.moment(EventKind::SessionEnd, &["ended"], String::new(), fields)
}

fn deleted(scene: &Scene<'_>, mut told: Told) -> Draft {
    let mut info = told.input.object("info");
    let mut fields = Fields::default();
    fields.put("reason", "deleted");
    fields.put("title", info.take("title"));
    scene.moment(EventKind::SessionEnd, &["deleted"], String::new(), fields)
}

fn compaction(scene: &Scene<'_>, phase: &str, mut told: Told) -> Draft {
    let text = told.input.words("summary");
    told.output = Fields::default(); // Additions of plugins to the summarizer's prompt.
    let mut fields = told.left();
    fields.put("phase", phase);
    scene.moment(EventKind::Compaction, &[phase], text, fields)
}

/// OpenCode does not include the final reply; the plugin may.
fn idle(scene: &Scene<'_>, mut told: Told) -> Draft {
    let given = told.input.words("last_assistant_message");
    let text = if given.is_empty() { told.rest.words("last_assistant_message") } else { given };
    scene.stop(text, "", told.left())
}

/// The prompt is the text that the user typed; parts added by plugins and OpenCode are marked
/// synthetic. Of files only the name is kept.
fn prompt(scene: &Scene<'_>, mut told: Told) -> Option<Draft> {
    let mut message = told.output.object("message");
    let id = message.str("id").or_else(|| told.input.str("messageID"));
    let id = id.map(str::to_owned);
    let Value::Array(parts) = told.output.take("parts") else {
        return Some(scene.unknown("chat.message", told.left()));
    };
    let (mut texts, files) = spoken(parts);
    if texts.is_empty() && !files.is_empty() {
        texts.push(format!("[{}]", files.join("] [")));
    }
    let mut fields = Fields::default();
    for name in ["agent", "model"] {
        fields.put(name, message.take(name));
    }
    fields.put("message_id", id.clone());
    fields.put("files", files);
    scene.prompt("chat.message", &texts.join("\n"), id.as_deref(), fields)
}

/// Returns the texts that the user typed and the names of attached files.
pub(in crate::agents) fn spoken(parts: Vec<Value>) -> (Vec<String>, Vec<String>) {
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for part in parts {
        let Value::Object(part) = part else { continue };
        let mut part = Fields::new(part);
        match part.str("type") {
            _ if part.is_true("synthetic") => {}
            Some("text") => texts.push(unquoted(&part.words("text"))),
            Some("file") => files.push(part.words("filename")),
            _ => {}
        }
    }
    (texts, files)
}

fn tool_result(scene: &Scene<'_>, mut told: Told) -> Draft {
    let name = told.input.words("tool");
    let input = told.input.take("args");
    let output = match told.output.take("output") {
        Value::Null => {
            let content = told.output.take("content");
            joined(&content).map_or(content, Value::String)
        }
        output => output,
    };
    let mut fields = Fields::default();
    fields.put("title", told.output.take("title"));
    let structured = told.output.take("structuredContent");
    fields.put("structured", cap_json(structured, METADATA_BYTES_MAX).0);
    let mut metadata = told.output.object("metadata");
    if metadata.get("output") == Some(&output) {
        metadata.take("output");
    }
    fields.put("metadata", cap_json(metadata.into_value(), METADATA_BYTES_MAX).0);
    tool(scene, told.input.take("callID"), Tool { name, input, output }, fields)
}

pub(in crate::agents) fn tool(
    scene: &Scene<'_>,
    call: Value,
    tool: Tool,
    mut fields: Fields,
) -> Draft {
    let identity = scene.whose().tool(call.as_str(), &tool.name, &tool.input, &tool.output);
    fields.put("call_id", call);
    scene.tool(identity, tool, fields)
}

/// Handles a message part. Only two kinds are recorded: a finished text of the agent, and a failed
/// tool call (for which OpenCode runs no hook). The others are intermediate states, arrive through
/// a hook, or are bookkeeping. The user's texts have no end time, because they are not streamed.
fn part(scene: &Scene<'_>, mut part: Fields) -> Option<Draft> {
    match part.str("type")? {
        "text" if !part.is_true("synthetic") => assistant_message(scene, part),
        "tool" => {
            let mut state = part.object("state");
            if state.str("status") != Some("error") {
                return None;
            }
            let mut fields = Fields::default();
            fields.put_failed();
            let failed = Tool {
                name: part.words("tool"),
                input: state.take("input"),
                output: state.take("error"),
            };
            Some(tool(scene, part.take("callID"), failed, fields))
        }
        _ => None,
    }
}

/// Identified by the part's id, which OpenCode's own store shares.
fn assistant_message(scene: &Scene<'_>, mut part: Fields) -> Option<Draft> {
    part.get("time")?.get("end")?;
    let text = part.words("text");
    if text.trim().is_empty() {
        return None;
    }
    let identity = match part.str("id") {
        Some(id) => scene.whose().named(Role::Assistant, id),
        None => scene.whose().reply(&text, ""),
    };
    let mut fields = Fields::default();
    fields.put("message_id", part.take("messageID"));
    Some(scene.draft(EventKind::AssistantMessage, identity, text, fields))
}
