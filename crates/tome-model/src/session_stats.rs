//! Counters of a session.

use serde::{Deserialize, Serialize};

use crate::{Agent, Event, EventKind, Millis, SessionId};

/// Statistics of a session in one project. A projection, derived from its events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionStats {
    /// The session whose events are counted.
    #[serde(rename = "session_id")]
    pub session: SessionId,
    /// The agent that ran it.
    pub agent: Agent,
    /// The root of the project.
    pub project: String,
    /// Time of the first event.
    pub first_at: Millis,
    /// Time of the last event.
    pub last_at: Millis,
    /// Number of events.
    pub events: u64,
    /// Number of user messages.
    pub user_messages: u64,
    /// Number of tool results.
    pub tool_results: u64,
}

impl SessionStats {
    /// Creates the statistics from the first counted event.
    pub fn from_first_event(event: &Event) -> Self {
        let mut stats = Self {
            session: event.session.clone(),
            agent: event.agent.clone(),
            project: event.project.clone(),
            first_at: event.at,
            last_at: event.at,
            events: 0,
            user_messages: 0,
            tool_results: 0,
        };
        stats.count_event(event);
        stats
    }

    /// Counts an event.
    pub fn count_event(&mut self, event: &Event) {
        self.first_at = self.first_at.min(event.at);
        self.last_at = self.last_at.max(event.at);
        self.events += 1;
        match event.kind {
            EventKind::UserMessage => self.user_messages += 1,
            EventKind::ToolResult => self.tool_results += 1,
            _ => {}
        }
    }
}
