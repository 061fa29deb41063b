//! Drafts: events on their way in, before the ledger has decided whether they are new.

use serde_json::{Map, Value};

use crate::{Agent, Event, EventId, EventKind, Millis, Role, SessionId, Tool, limits};

/// An event that is not stored yet.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Identifies duplicates of the same event.
    pub identity: Identity,
    /// When it happened.
    pub at: Millis,
    /// The session it belongs to.
    pub session: SessionId,
    /// The coding agent.
    pub agent: Agent,
    /// The agent's working directory, an absolute path.
    pub cwd: String,
    /// The project's root, if the sender resolved it.
    pub project: Option<String>,
    /// The kind of event.
    pub kind: EventKind,
    /// The author of `text`.
    pub role: Role,
    /// The message.
    pub text: String,
    /// The tool call, if any.
    pub tool: Option<Tool>,
    /// Further fields of the agent's payload.
    pub meta: Map<String, Value>,
}

impl Draft {
    /// Converts an event back into a draft with the same id, for storing it in any project.
    pub fn from_event(event: Event) -> Self {
        Self {
            identity: Identity::Fixed(event.id),
            at: event.at,
            session: event.session,
            agent: event.agent,
            cwd: event.cwd,
            project: None,
            kind: event.kind,
            role: event.role,
            text: event.text,
            tool: event.tool,
            meta: event.meta,
        }
    }

    /// Converts a draft into the event that the ledger returns for it.
    pub fn into_event(self, id: EventId, project: String, arrived: Millis) -> Event {
        Event {
            id,
            at: self.at,
            arrived,
            session: self.session,
            agent: self.agent,
            project,
            cwd: self.cwd,
            kind: self.kind,
            role: self.role,
            text: self.text,
            tool: self.tool,
            meta: self.meta,
        }
    }

    /// Replaces JSON that is nested too deeply for some parsers by its text.
    pub fn flatten_deep_json(&mut self) {
        let tool = self.tool.iter_mut().flat_map(|tool| [&mut tool.input, &mut tool.output]);
        for value in tool.chain(self.meta.values_mut()) {
            if !nests_at_most(value, limits::JSON_DEPTH_MAX) {
                *value = Value::String(value.to_string());
            }
        }
    }
}

/// Whether JSON has at most this many levels of arrays and objects.
pub fn nests_at_most(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(|item| nests_at_most(item, depth - 1)),
        Value::Object(map) => depth > 0 && map.values().all(|item| nests_at_most(item, depth - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// How duplicates of an event are recognized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The event has an id of its own: stored once, whenever it arrives again.
    Fixed(EventId),
    /// The event has only its words: the same key within `limits::DUPLICATE_WINDOW_MS` is the same
    /// event, later it is a repetition.
    ByText(String),
}

impl Identity {
    /// The identity of an event that the agent names itself, such as a tool call or a message. It
    /// includes the role but not the kind: the final message of a turn is one event, whether a hook
    /// reports it as a stop or a transcript as a message.
    pub fn from_name(agent: &Agent, session: &SessionId, role: Role, name: &str) -> Self {
        Self::Fixed(EventId::derive(&[
            "named",
            agent.as_str(),
            session.as_str(),
            role.as_str(),
            name,
        ]))
    }

    /// The identity of words that have no id.
    pub fn from_words(agent: &Agent, session: &SessionId, role: Role, text: &str) -> Self {
        let key =
            EventId::derive(&["words", agent.as_str(), session.as_str(), role.as_str(), text]);
        Self::ByText(key.as_str().to_owned())
    }

    /// Returns the event id of the n-th occurrence; always the same for a fixed identity.
    pub fn event_id(&self, occurrence: u32) -> EventId {
        match self {
            Self::Fixed(id) => id.clone(),
            Self::ByText(key) => EventId::derive(&["occurrence", key, &occurrence.to_string()]),
        }
    }
}
