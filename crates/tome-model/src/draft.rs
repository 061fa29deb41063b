//! A draft: an event on its way in, before the ledger has decided whether it is new.

use serde_json::{Map, Value};

use crate::{Agent, Event, EventId, EventKind, Millis, Role, SessionId, Tool, limits};

/// An event on its way in.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// How another sighting of the same event is recognised.
    pub identity: Identity,
    /// When it happened.
    pub at: Millis,
    /// The run of the agent it belongs to.
    pub session: SessionId,
    /// Which coding agent.
    pub agent: Agent,
    /// Where the agent stood: an absolute path.
    pub cwd: String,
    /// The root of the code base, where whoever saw the event knew it.
    pub project: Option<String>,
    /// What happened.
    pub kind: EventKind,
    /// Whose words `text` are.
    pub role: Role,
    /// What was said.
    pub text: String,
    /// The tool call.
    pub tool: Option<Tool>,
    /// What else the agent said about it.
    pub meta: Map<String, Value>,
}

impl Draft {
    /// A draft that is stored as this event again, in whatever project it is put.
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

    /// Turns JSON that nests too deep to be read back everywhere into its own text.
    pub fn flatten_deep(&mut self) {
        let tool = self.tool.iter_mut().flat_map(|tool| [&mut tool.input, &mut tool.output]);
        for value in tool.chain(self.meta.values_mut()) {
            if !nests_at_most(value, limits::JSON_DEPTH_MAX) {
                *value = Value::String(value.to_string());
            }
        }
    }
}

fn nests_at_most(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth > 0 && items.iter().all(|item| nests_at_most(item, depth - 1)),
        Value::Object(map) => depth > 0 && map.values().all(|item| nests_at_most(item, depth - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// How an event is told apart from another sighting of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identity {
    /// The agent gave the thing an id of its own (or the person did): stored once, whenever it is
    /// seen again.
    Fixed(EventId),
    /// Nothing but its words: the same key within `limits::SAME_SIGHTING_MS` is the same event,
    /// later it is the same words said again.
    Repeats(String),
}

impl Identity {
    /// The identity of something that the agent itself names, such as a tool call or a message.
    /// The role is part of it and the kind is not: the final words of a turn are one event,
    /// whether a hook reported them as a stop or a transcript as a message.
    pub fn named(agent: &Agent, session: &SessionId, role: Role, name: &str) -> Self {
        Self::Fixed(EventId::derive(&[
            "named",
            agent.as_str(),
            session.as_str(),
            role.as_str(),
            name,
        ]))
    }

    /// The identity of words that carry no id.
    pub fn words(agent: &Agent, session: &SessionId, role: Role, text: &str) -> Self {
        let key =
            EventId::derive(&["words", agent.as_str(), session.as_str(), role.as_str(), text]);
        Self::Repeats(key.as_str().to_owned())
    }

    /// The ids that an event of this identity may have, in the order in which they are tried: one
    /// for a fixed identity, the first, second, third … occurrence of words that repeat.
    pub fn id(&self, occurrence: u32) -> EventId {
        match self {
            Self::Fixed(id) => id.clone(),
            Self::Repeats(key) => EventId::derive(&["occurrence", key, &occurrence.to_string()]),
        }
    }
}
