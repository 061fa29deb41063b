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

use crate::agents::HookInput;
use crate::agents::fields::{PayloadFields, join_text_parts};
use crate::agents::hook_context::{HookContext, parse_timestamp};
use crate::agents::prompt_text::strip_argument_quotes;

/// Event name on the command line for several events at once. The plugin expects no response.
pub(in crate::agents) const BATCH: &str = "batch";

/// The plugin sends at most 64 events per batch. Any excess stays with the last one.
const BATCH_EVENTS_MAX: usize = 1_024;

/// Prefixes of events that concern a session. An unknown event with such a prefix is kept as
/// unknown.
const SESSION_PREFIXES: [&str; 5] = ["session.", "message.", "command.", "chat.", "tool."];

/// Events without content of their own. A name that ends in `.` is a prefix.
const REDUNDANT_EVENTS: [&str; 11] = [
    // State of a session and of its messages, repeated on every change.
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
struct PluginPayload {
    input: PayloadFields,
    output: PayloadFields,
    rest: PayloadFields,
}

pub(in crate::agents) fn split_batch(payload: &[u8]) -> impl Iterator<Item = &[u8]> {
    payload.splitn(BATCH_EVENTS_MAX, |byte| *byte == b'\n')
}

pub(in crate::agents) fn parse_draft(
    hook_input: &HookInput<'_>,
    fields: PayloadFields,
) -> Option<Draft> {
    let (event, mut payload) = parse_envelope(hook_input, fields);
    if REDUNDANT_EVENTS.iter().any(|echo| is_redundant(&event, echo)) {
        return None;
    }
    let session = payload.take_session_id(&event);
    if !is_session_named(&session) {
        return None;
    }
    let is_subagent = !payload.rest.take_value("parentID").is_null();
    let context = payload.hook_context(hook_input, &event, &session)?;
    let draft = match event.as_str() {
        "session.created" => return Some(session_created_draft(&context, payload)),
        // The session's state is repeated on every change; only its title is recorded.
        "session.updated" => {
            let info = payload.input.take_object("info");
            let title = info.get_str("title").filter(|title| !is_default_title(title));
            title
                .filter(|_| !is_subagent && !info.has("parentID"))
                .map(|title| context.title_draft(title))
        }
        "session.resumed" => Some(session_resumed_draft(&context)),
        "session.ended" => Some(session_ended_draft(&context, payload)),
        "session.deleted" => Some(session_deleted_draft(&context, payload)),
        "session.idle" => Some(stop_draft(&context, payload)),
        "session.compacted" => Some(compaction_draft(&context, "after", payload)),
        "experimental.session.compacting" => Some(compaction_draft(&context, "before", payload)),
        "chat.message" => prompt_draft(&context, payload),
        "tool.execute.after" if payload.input.get_str("tool").is_some() => {
            Some(tool_result_draft(&context, payload))
        }
        "message.part.updated" => part_draft(&context, payload.input.take_object("part")),
        // OpenCode's own names contain a dot; other plugins' events may not.
        name if !name.contains('.')
            || SESSION_PREFIXES.iter().any(|family| name.starts_with(family)) =>
        {
            Some(context.unknown_draft(&event, payload.into_remaining_fields()))
        }
        _ => None,
    };
    draft.map(|draft| if is_subagent { mark_subagent(draft) } else { draft })
}

fn is_session_named(session: &Value) -> bool {
    match session {
        Value::String(id) => !id.trim().is_empty(),
        Value::Number(_) => true,
        _ => false,
    }
}

/// Marks an event in a subagent's session. A prompt there was written by the parent agent, not by
/// the user.
pub(in crate::agents) fn mark_subagent(mut draft: Draft) -> Draft {
    draft.meta.insert("subagent".to_owned(), draft.session.as_str().into());
    if draft.kind == EventKind::UserMessage {
        draft.kind = EventKind::Unknown;
        draft.role = Role::System;
        draft.meta.insert("event".to_owned(), "subagent_prompt".into());
    }
    draft
}

fn is_redundant(event: &str, echo: &str) -> bool {
    event == echo || echo.ends_with('.') && event.starts_with(echo)
}

/// Extracts the event name and its parts from any of the payload shapes.
fn parse_envelope(
    hook_input: &HookInput<'_>,
    mut fields: PayloadFields,
) -> (String, PluginPayload) {
    let mut bus = fields.take_object("event");
    let named = bus.get_str("type").or_else(|| fields.get_str("ev"));
    let named = named.or(hook_input.event).or_else(|| fields.get_str("type"));
    let event = named.unwrap_or_default();
    let event = event.strip_prefix("event:").unwrap_or(event).to_owned();
    fields.take_value("ev");
    let output = fields.take_object("output");
    let mut input = bus.take_object("properties");
    for name in ["input", "properties"] {
        if input.is_empty() {
            input = fields.take_object(name);
        }
    }
    // A plugin may also send the input alone.
    let (input, rest) =
        if input.is_empty() { (fields, PayloadFields::default()) } else { (input, fields) };
    let payload = PluginPayload { input, output, rest };
    (event, payload)
}

impl PluginPayload {
    fn hook_context<'a>(
        &mut self,
        hook_input: &HookInput<'a>,
        event: &str,
        session: &Value,
    ) -> Option<HookContext<'a>> {
        let stamp = self.take_timestamp(event);
        let directory = [
            self.rest.take_value("directory"),
            self.input.take_value("directory"),
            self.rest.take_value("worktree"),
        ];
        let info = self.input.get("info").and_then(|info| info.get("directory"));
        let cwd = directory.into_iter().find(|path| !path.is_null());
        let cwd = cwd.or_else(|| info.cloned()).unwrap_or_default();
        HookContext::new(hook_input, session, cwd, &stamp)
    }

    /// Hooks carry `sessionID`; older bus events only have it inside their subject.
    fn take_session_id(&mut self, event: &str) -> Value {
        for fields in [&mut self.input, &mut self.rest] {
            let given = fields.take_value("sessionID");
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
    fn take_timestamp(&mut self, event: &str) -> Value {
        let at = |value: Option<&Value>, name: &str| {
            value.and_then(|of| of.get("time")).and_then(|time| time.get(name)).cloned()
        };
        let preferred = match event {
            "session.created" => at(self.input.get("info"), "created"),
            "chat.message" => at(self.output.get("message"), "created"),
            "message.part.updated" => {
                let part = self.input.get("part");
                at(part, "end").or_else(|| at(part.and_then(|part| part.get("state")), "end"))
            }
            _ => None,
        };
        let stamps = [
            self.rest.take_value("timestamp"),
            self.input.take_value("timestamp"),
            self.input.take_value("time"),
        ];
        let mut all = preferred.into_iter().chain(stamps);
        all.find(|value| parse_timestamp(value).is_some()).unwrap_or_default()
    }

    /// Returns all fields not taken so far.
    fn into_remaining_fields(self) -> PayloadFields {
        let mut left = self.input.into_map();
        let output = self.output.into_map();
        if !output.is_empty() {
            left.insert("output".to_owned(), Value::Object(output));
        }
        left.extend(self.rest.into_map());
        PayloadFields::new(left)
    }
}

/// Whether a title is the one that OpenCode gives every session at first.
pub(in crate::agents) fn is_default_title(title: &str) -> bool {
    ["New session", "Child session"].iter().any(|begin| title.starts_with(begin))
}

/// A session with a parent is a subagent of it.
fn session_created_draft(context: &HookContext<'_>, mut payload: PluginPayload) -> Draft {
    let mut info = payload.input.take_object("info");
    let parent = info.take_value("parentID");
    let kind = if parent.is_null() { EventKind::SessionStart } else { EventKind::SubagentStart };
    let mut fields = PayloadFields::default();
    fields.set("parent", parent);
    for name in ["title", "version", "agent", "model"] {
        fields.set(name, info.take_value(name));
    }
    context.lifecycle_draft(kind, &["created"], String::new(), fields)
}

/// Sent by the plugin when a session continues that began before the plugin was loaded.
fn session_resumed_draft(context: &HookContext<'_>) -> Draft {
    let mut fields = PayloadFields::default();
    fields.set("source", "resume");
    context.lifecycle_draft(EventKind::SessionStart, &["resume"], String::new(), fields)
}

/// Sent by the plugin when OpenCode exits.
fn session_ended_draft(context: &HookContext<'_>, mut payload: PluginPayload) -> Draft {
    let mut fields = PayloadFields::default();
    fields.set("reason", payload.input.take_value("reason"));
    context.lifecycle_draft(EventKind::SessionEnd, &["ended"], String::new(), fields)
}

fn session_deleted_draft(context: &HookContext<'_>, mut payload: PluginPayload) -> Draft {
    let mut info = payload.input.take_object("info");
    let mut fields = PayloadFields::default();
    fields.set("reason", "deleted");
    fields.set("title", info.take_value("title"));
    context.lifecycle_draft(EventKind::SessionEnd, &["deleted"], String::new(), fields)
}

fn compaction_draft(context: &HookContext<'_>, phase: &str, mut payload: PluginPayload) -> Draft {
    let text = payload.input.take_text("summary");
    payload.output = PayloadFields::default(); // Additions of plugins to the summarizer's prompt.
    let mut fields = payload.into_remaining_fields();
    fields.set("phase", phase);
    context.lifecycle_draft(EventKind::Compaction, &[phase], text, fields)
}

/// OpenCode does not include the final reply; the plugin may.
fn stop_draft(context: &HookContext<'_>, mut payload: PluginPayload) -> Draft {
    let given = payload.input.take_text("last_assistant_message");
    let text =
        if given.is_empty() { payload.rest.take_text("last_assistant_message") } else { given };
    context.stop_draft(text, "", payload.into_remaining_fields())
}

/// The prompt is the text that the user typed; parts added by plugins and OpenCode are marked
/// synthetic. Files are reduced to their names.
fn prompt_draft(context: &HookContext<'_>, mut payload: PluginPayload) -> Option<Draft> {
    let mut message = payload.output.take_object("message");
    let id = message.get_str("id").or_else(|| payload.input.get_str("messageID"));
    let id = id.map(str::to_owned);
    let Value::Array(parts) = payload.output.take_value("parts") else {
        return Some(context.unknown_draft("chat.message", payload.into_remaining_fields()));
    };
    let (mut texts, files) = split_user_parts(parts);
    if texts.is_empty() && !files.is_empty() {
        texts.push(format!("[{}]", files.join("] [")));
    }
    let mut fields = PayloadFields::default();
    for name in ["agent", "model"] {
        fields.set(name, message.take_value(name));
    }
    fields.set("message_id", id.clone());
    fields.set("files", files);
    context.prompt_draft("chat.message", &texts.join("\n"), id.as_deref(), fields)
}

/// Returns the texts that the user typed and the names of attached files.
pub(in crate::agents) fn split_user_parts(parts: Vec<Value>) -> (Vec<String>, Vec<String>) {
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for part in parts {
        let Value::Object(part) = part else { continue };
        let mut part = PayloadFields::new(part);
        match part.get_str("type") {
            _ if part.is_true("synthetic") => {}
            Some("text") => texts.push(strip_argument_quotes(&part.take_text("text"))),
            Some("file") => files.push(part.take_text("filename")),
            _ => {}
        }
    }
    (texts, files)
}

fn tool_result_draft(context: &HookContext<'_>, mut payload: PluginPayload) -> Draft {
    let name = payload.input.take_text("tool");
    let input = payload.input.take_value("args");
    let output = match payload.output.take_value("output") {
        Value::Null => {
            let content = payload.output.take_value("content");
            join_text_parts(&content).map_or(content, Value::String)
        }
        output => output,
    };
    let mut fields = PayloadFields::default();
    fields.set("title", payload.output.take_value("title"));
    let structured = payload.output.take_value("structuredContent");
    fields.set("structured", cap_json(structured, METADATA_BYTES_MAX).0);
    let mut metadata = payload.output.take_object("metadata");
    if metadata.get("output") == Some(&output) {
        metadata.take_value("output");
    }
    fields.set("metadata", cap_json(metadata.into_value(), METADATA_BYTES_MAX).0);
    tool_draft(context, payload.input.take_value("callID"), Tool { name, input, output }, fields)
}

pub(in crate::agents) fn tool_draft(
    context: &HookContext<'_>,
    call: Value,
    tool: Tool,
    mut fields: PayloadFields,
) -> Draft {
    let identity =
        context.identities().for_tool_call(call.as_str(), &tool.name, &tool.input, &tool.output);
    fields.set("call_id", call);
    context.tool_draft(identity, tool, fields)
}

/// Handles a message part. Only two kinds are recorded: a finished text of the agent, and a failed
/// tool call (for which OpenCode runs no hook). The others are intermediate states, arrive through
/// a hook, or are bookkeeping. The user's texts have no end time, because they are not streamed.
fn part_draft(context: &HookContext<'_>, mut part: PayloadFields) -> Option<Draft> {
    match part.get_str("type")? {
        "text" if !part.is_true("synthetic") => assistant_message_draft(context, part),
        "tool" => {
            let mut state = part.take_object("state");
            if state.get_str("status") != Some("error") {
                return None;
            }
            let mut fields = PayloadFields::default();
            fields.mark_failed();
            let failed = Tool {
                name: part.take_text("tool"),
                input: state.take_value("input"),
                output: state.take_value("error"),
            };
            Some(tool_draft(context, part.take_value("callID"), failed, fields))
        }
        _ => None,
    }
}

/// Identified by the part's id, which OpenCode's own store shares.
fn assistant_message_draft(context: &HookContext<'_>, mut part: PayloadFields) -> Option<Draft> {
    part.get("time")?.get("end")?;
    let text = part.take_text("text");
    if text.trim().is_empty() {
        return None;
    }
    let identity = match part.get_str("id") {
        Some(id) => context.identities().identify_by_name(Role::Assistant, id),
        None => context.identities().for_reply(&text, ""),
    };
    let mut fields = PayloadFields::default();
    fields.set("message_id", part.take_value("messageID"));
    Some(context.build_draft(EventKind::AssistantMessage, identity, text, fields))
}
