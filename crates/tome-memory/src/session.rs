//! The session an agent works in, and the events it reports to memory.

use serde_json::{Map, Value};
use tome_model::{
    Agent, Draft, Event, EventId, EventKind, Identity, InvalidInput, Millis, SessionId, Tool,
};

/// Identifies a session: the agent, the session id and the working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionInfo {
    /// The agent's name.
    pub agent: Agent,
    /// The session's id.
    pub session: SessionId,
    /// The working directory, as an absolute path. It determines the project.
    pub cwd: String,
}

/// An event as an agent reports it, before the ledger stores it.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionEvent {
    /// The kind of event.
    pub kind: EventKind,
    /// When it happened.
    pub at: Millis,
    /// The event's id. Recording the same id twice stores one event.
    pub id: EventId,
    /// The text of the message.
    pub text: String,
    /// The tool call with its output, for a `tool_result`.
    pub tool: Option<Tool>,
    /// Additional metadata.
    pub meta: Map<String, Value>,
}

impl SessionInfo {
    /// The name of Tome's own agent.
    pub const DEFAULT_AGENT: &str = "tome";

    /// Creates a session of the agent `tome`.
    pub fn new(session: &str, cwd: impl Into<String>) -> Result<Self, InvalidInput> {
        Self::for_agent(Self::DEFAULT_AGENT, session, cwd)
    }

    /// Creates a session of an agent with another name.
    pub fn for_agent(
        agent: &str,
        session: &str,
        cwd: impl Into<String>,
    ) -> Result<Self, InvalidInput> {
        Ok(Self {
            agent: Agent::parse(agent)?,
            session: SessionId::parse(session)?,
            cwd: cwd.into(),
        })
    }

    /// Creates an event of this session. Its id is derived from `name`, which must be unique per kind.
    pub fn new_event(
        &self,
        kind: EventKind,
        at: Millis,
        name: &str,
        text: impl Into<String>,
    ) -> SessionEvent {
        let identity = Identity::from_name(&self.agent, &self.session, kind.default_role(), name);
        let (id, text) = (identity.event_id(0), text.into());
        SessionEvent { kind, at, id, text, tool: None, meta: Map::new() }
    }

    /// Converts an event to the draft that the ledger takes in.
    pub fn to_draft(&self, event: &SessionEvent) -> Draft {
        let role = event.kind.default_role();
        Draft {
            identity: Identity::Fixed(event.id.clone()),
            at: event.at,
            session: self.session.clone(),
            agent: self.agent.clone(),
            cwd: self.cwd.clone(),
            project: None,
            kind: event.kind,
            role,
            text: event.text.clone(),
            tool: event.tool.clone(),
            meta: event.meta.clone(),
        }
    }

    /// Converts an event to approximately the one that the ledger returns for it: its project is the
    /// working directory, because only the home knows which project that belongs to.
    pub fn to_event(&self, event: &SessionEvent) -> Event {
        self.to_draft(event).into_event(event.id.clone(), self.cwd.clone(), event.at)
    }
}

impl SessionEvent {
    /// Adds a tool call and its output.
    #[must_use]
    pub fn with_tool(mut self, tool: Tool) -> Self {
        self.tool = Some(tool);
        self
    }

    /// Adds a metadata entry.
    #[must_use]
    pub fn with_meta(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(name.to_owned(), value.into());
        self
    }
}
