//! What an agent has to tell its memory: one thing that happened, on its way to becoming an event.

use serde_json::{Map, Value};
use tome_model::{Agent, Draft, EventId, EventKind, Identity, Millis, ModelError, SessionId, Tool};

/// Whose session it is, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    /// The agent's name.
    pub agent: Agent,
    /// The session.
    pub session: SessionId,
    /// Where the agent stands: an absolute path, which says which project it is.
    pub cwd: String,
}

/// One thing that happened in a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// What it is.
    pub kind: EventKind,
    /// When.
    pub at: Millis,
    /// What it is known by: recorded twice under one id, it is stored once.
    pub id: EventId,
    /// What was said.
    pub text: String,
    /// The tool call, for a `tool_result`.
    pub tool: Option<Tool>,
    /// What else there is to say of it.
    pub meta: Map<String, Value>,
}

impl Who {
    /// The agent that this project brings along.
    pub const AGENT: &str = "tome";

    /// A session of the agent `tome`.
    pub fn new(session: &str, cwd: impl Into<String>) -> Result<Self, ModelError> {
        Self::of_agent(Self::AGENT, session, cwd)
    }

    /// A session of an agent of another name.
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

    /// A moment of this session with nothing but words. Its name is its own among those of its kind.
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

    /// A moment of this session as an event on its way in.
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
    /// The same with a tool call and what came of it.
    #[must_use]
    pub fn with_tool(mut self, tool: Tool) -> Self {
        self.tool = Some(tool);
        self
    }

    /// The same with one thing more to say of it.
    #[must_use]
    pub fn with_meta(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.meta.insert(name.to_owned(), value.into());
        self
    }
}
