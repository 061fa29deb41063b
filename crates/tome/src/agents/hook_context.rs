//! Context shared by all events of a payload (agent, session, folder, time), and the drafts that
//! all agents have in common.

use serde_json::Value;
use tome_model::{
    Agent, Draft, EventId, EventKind, Identity, Millis, Role, SessionId, Tool, limits,
};

use super::HookInput;
use super::fields::{PayloadFields, text_from_value};
use super::identity::IdentityBuilder;
use super::prompt_text::{PromptAuthor, classify_prompt};

/// Smaller values (before September 2001, in milliseconds) are seconds or nonsense.
const TIMESTAMP_MIN_MS: u64 = 1_000_000_000_000;

/// Larger payloads of unknown events go into the event's text if that is empty, because text has a
/// higher limit than meta.
const PAYLOAD_BYTES_MAX: usize = 24 * 1024;

/// Fields that best describe an unknown event, in order of preference.
const DESCRIPTIVE_FIELDS: [&str; 10] = [
    "message",
    "prompt",
    "text",
    "error",
    "reason",
    "task_subject",
    "summary",
    "title",
    "content",
    "last_assistant_message",
];

/// Agent, session, folder and time of an event.
pub(super) struct HookContext<'a> {
    agent: &'a Agent,
    session: SessionId,
    cwd: String,
    now: Millis,
    stamp: Option<Millis>,
}

impl<'a> HookContext<'a> {
    /// For a payload that cannot be parsed.
    pub(super) fn without_fields(input: &HookInput<'a>) -> Option<Self> {
        Self::new(input, &Value::Null, Value::Null, &Value::Null)
    }

    /// Takes session, folder and time from the fields that most agents share.
    pub(super) fn from_fields(input: &HookInput<'a>, fields: &mut PayloadFields) -> Option<Self> {
        let session = fields.take_value("session_id");
        let cwd = fields.take_value("cwd");
        let stamp = fields.take_value("timestamp");
        Self::new(input, &session, cwd, &stamp)
    }

    /// Never `None` in practice: every session id can be sanitized into a valid one.
    pub(super) fn new(
        input: &HookInput<'a>,
        session: &Value,
        cwd: Value,
        stamp: &Value,
    ) -> Option<Self> {
        Some(Self {
            agent: input.agent,
            session: parse_session_id(session)?,
            cwd: parse_directory(cwd).unwrap_or_else(|| input.cwd.to_owned()),
            now: input.now,
            stamp: parse_timestamp(stamp),
        })
    }

    /// For a record of a transcript, at the time of the record.
    pub(super) fn from_record(
        agent: &'a Agent,
        session: &Value,
        cwd: &str,
        at: Millis,
    ) -> Option<Self> {
        let cwd = parse_directory(Value::String(cwd.to_owned())).unwrap_or_else(|| "/".to_owned());
        Some(Self { agent, session: parse_session_id(session)?, cwd, now: at, stamp: Some(at) })
    }

    pub(super) fn session_and_folder(&self) -> (&str, &str) {
        (self.session.as_str(), &self.cwd)
    }

    pub(super) fn identities(&self) -> IdentityBuilder<'_> {
        let is_nameless = self.session.as_str() == SessionId::UNKNOWN;
        let folder = is_nameless.then_some(self.cwd.as_str());
        IdentityBuilder { agent: self.agent, session: &self.session, stamp: self.stamp, folder }
    }

    /// A session start or end, a compaction, a subagent's start or stop. `why` distinguishes it
    /// from others of its kind.
    pub(super) fn lifecycle_draft(
        &self,
        kind: EventKind,
        why: &[&str],
        text: String,
        fields: PayloadFields,
    ) -> Draft {
        let mut parts = vec![kind.as_str(), text.trim()];
        parts.extend(why);
        let identity = self.identities().for_lifecycle_event(kind.default_role(), &parts);
        self.build_draft(kind, identity, text, fields)
    }

    /// The title that the agent gave its session. The same title is the same event.
    pub(super) fn title_draft(&self, title: &str) -> Draft {
        let name = format!("session title {title}");
        let identity = self.identities().identify_by_name(Role::System, &name);
        let mut fields = PayloadFields::default();
        fields.set("event", "session_title");
        fields.set("session_title", title);
        self.build_draft(EventKind::Unknown, identity, String::new(), fields)
    }

    /// A prompt of the user; `None` if all of it was injected by Tome.
    pub(super) fn prompt_draft(
        &self,
        event: &str,
        text: &str,
        native: Option<&str>,
        mut fields: PayloadFields,
    ) -> Option<Draft> {
        match classify_prompt(text) {
            PromptAuthor::Tome => None,
            PromptAuthor::Harness(text) => {
                fields.set("message", text);
                Some(self.unknown_draft(event, fields))
            }
            PromptAuthor::User(text) => {
                let identity = self.identities().for_prompt(native, &text);
                Some(self.build_draft(EventKind::UserMessage, identity, text, fields))
            }
        }
    }

    pub(super) fn tool_draft(
        &self,
        identity: Identity,
        tool: Tool,
        fields: PayloadFields,
    ) -> Draft {
        let mut draft = self.build_draft(EventKind::ToolResult, identity, String::new(), fields);
        draft.tool = Some(tool);
        draft
    }

    /// The end of the agent's turn.
    pub(super) fn stop_draft(&self, text: String, turn: &str, fields: PayloadFields) -> Draft {
        let identity = self.identities().for_reply(&text, turn);
        self.build_draft(EventKind::AssistantStop, identity, text, fields)
    }

    /// An event that Tome does not know, with all its fields.
    pub(super) fn unknown_draft(&self, event: &str, mut fields: PayloadFields) -> Draft {
        fields.remove_noise();
        let telling = DESCRIPTIVE_FIELDS.iter().find(|name| fields.has(name));
        let mut text = match telling.map(|name| fields.take_value(name)) {
            Some(Value::Object(error)) => take_error_text(&mut fields, error),
            Some(value) => text_from_value(value),
            None => String::new(),
        };
        let subagent = fields.take_value("agent_id");
        let payload = fields.into_value();
        let json = payload.to_string();
        let parts = ["unknown", event, &text, &json, &subagent.to_string()];
        let identity = self.identities().for_lifecycle_event(Role::System, &parts);
        let mut meta = PayloadFields::default();
        meta.set("event", event);
        meta.set("agent_id", subagent);
        if json.len() <= PAYLOAD_BYTES_MAX || !text.is_empty() {
            meta.set("payload", payload);
        } else {
            text = json;
        }
        self.build_draft(EventKind::Unknown, identity, text, meta)
    }

    /// A payload that is not a JSON object.
    pub(super) fn raw_draft(&self, event: Option<&str>, text: String) -> Draft {
        let event = event.unwrap_or_default();
        let identity = self.identities().for_lifecycle_event(Role::System, &["raw", event, &text]);
        let mut meta = PayloadFields::default();
        meta.set("event", event);
        meta.set("unreadable", true);
        self.build_draft(EventKind::Unknown, identity, text, meta)
    }

    pub(super) fn build_draft(
        &self,
        kind: EventKind,
        identity: Identity,
        text: String,
        fields: PayloadFields,
    ) -> Draft {
        Draft {
            identity,
            at: self.stamp.unwrap_or(self.now),
            session: self.session.clone(),
            agent: self.agent.clone(),
            cwd: self.cwd.clone(),
            project: None,
            kind,
            role: kind.default_role(),
            text,
            tool: None,
            meta: fields.into_meta(),
        }
    }
}

/// Returns the text of an error object; its other fields stay in the payload.
fn take_error_text(fields: &mut PayloadFields, error: serde_json::Map<String, Value>) -> String {
    let mut error = PayloadFields::new(error);
    let mut text = error.take_text("message");
    if text.is_empty()
        && let Some(Value::String(deeper)) = error.get("data").and_then(|data| data.get("message"))
    {
        text.clone_from(deeper);
    }
    fields.set("error", error.into_value());
    text
}

/// Parses or derives a valid session id: no control characters, limited length. A derived id ends
/// in a hash, so that different ids stay different.
fn parse_session_id(value: &Value) -> Option<SessionId> {
    let id = match value {
        Value::String(id) => id.trim().to_owned(),
        Value::Number(id) => id.to_string(),
        _ => String::new(),
    };
    if id.is_empty() {
        return SessionId::parse(SessionId::UNKNOWN).ok();
    }
    SessionId::parse(&id).or_else(|_| SessionId::parse(&sanitize_session_id(&id))).ok()
}

fn sanitize_session_id(id: &str) -> String {
    let hash = EventId::derive(&["session", id]);
    let plain: String = id.chars().filter(|c| !c.is_control()).collect();
    let bytes_left = limits::SESSION_ID_BYTES_MAX - hash.as_str().len() - 1;
    format!("{}-{hash}", tome_model::truncate_to(&plain, bytes_left))
}

fn parse_directory(value: Value) -> Option<String> {
    match value {
        Value::String(path) if is_absolute_folder(&path) => Some(path),
        _ => None,
    }
}

/// Accepts absolute paths, including those of Windows.
pub(super) fn is_absolute_folder(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':');
    let fits = path.len() <= limits::PATH_BYTES_MAX && !path.contains('\0');
    fits && (drive || path.starts_with(['/', '\\']))
}

/// Parses a time: milliseconds as a number or string, or RFC 3339.
pub(super) fn parse_timestamp(value: &Value) -> Option<Millis> {
    let at = match value {
        Value::String(text) => Millis::parse("timestamp", text).ok()?,
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "float casts saturate, and the saturated values are rejected"
        )]
        Value::Number(ms) => {
            let ms = ms.as_u64().or_else(|| ms.as_f64().map(|ms| ms as u64))?;
            Millis::from_ms("timestamp", ms).ok()?
        }
        _ => return None,
    };
    (at.0 >= TIMESTAMP_MIN_MS).then_some(at)
}
