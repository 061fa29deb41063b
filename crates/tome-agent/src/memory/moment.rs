//! The session an agent works in, and the events it reports to memory.

use serde_json::{Map, Value};
use tome_model::{Agent, Draft, EventId, EventKind, Identity, Millis, ModelError, SessionId, Tool};

/// Identifies a session: the agent, the session id and the working directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    /// The agent's name.
    pub agent: Agent,
    /// The session's id.
    pub session: SessionId,
    /// The working directory, as an absolute path. It determines the project.
    pub cwd: String,
}

/// An event as an agent reports it, before the ledger stores it.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
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

impl Who {
    /// The name of Tome's own agent.
    pub const AGENT: &str = "tome";

    /// Creates a session of the agent `tome`.
    pub fn new(session: &str, cwd: impl Into<String>) -> Result<Self, ModelError> {
        Self::of_agent(Self::AGENT, session, cwd)
    }

    /// Creates a session of an agent with another name.
    pub fn of_agent(
        agent: &str,
        session: &str,
        cwd: impl Into<String>,
    ) -> Result<Self, ModelError> {
        Ok(Self {
            agent: Agent::parse(agent)?,
            session: SessionId::parse(session)?,
            cwd: cwd.into(),
        })
    }

    /// Creates an event of this session. Its id is derived from `name`, which must be unique per kind.
    pub fn moment(
        &self,
        kind: EventKind,
        at: Millis,
        name: &str,
        text: impl Into<String>,
    ) -> Moment {
        let identity = Identity::named(&self.agent, &self.session, kind.default_role(), name);
        let (id, text) = (identity.id(0), text.into());
        Moment { kind, at, id, text, tool: None, meta: Map::new() }
    }

    /// Converts an event to the draft that the ledger takes in.
    pub fn draft(&self, moment: &Moment) -> Draft {
        let role = moment.kind.default_role();
        Draft {
            identity: Identity::Fixed(moment.id.clone()),
            at: moment.at,
            session: self.session.clone(),
            agent: self.agent.clone(),
            cwd: self.cwd.clone(),
            project: None,
            kind: moment.kind,
            role,
            text: moment.text.clone(),
            tool: moment.tool.clone(),
            meta: moment.meta.clone(),
        }
    }
}

impl Moment {
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
