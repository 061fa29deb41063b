//! What is known of a session at a glance.

use serde::{Deserialize, Serialize};

use crate::{Agent, Event, EventKind, Millis, SessionId};

/// A session's part in one project, counted up from its events. A projection: it can be rebuilt from them at any time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SessionTally {
    /// Which session.
    #[serde(rename = "session_id")]
    pub session: SessionId,
    /// Which coding agent ran it.
    pub agent: Agent,
    /// The code base it worked on.
    pub project: String,
    /// When its first event happened.
    pub first_at: Millis,
    /// When its last event happened.
    pub last_at: Millis,
    /// How many events it has.
    pub events: u64,
    /// How many of them are the person's messages.
    pub user_messages: u64,
    /// How many of them are tool results.
    pub tool_results: u64,
}

impl SessionTally {
    /// The tally of a session of which this is the first event counted.
    pub fn of_first(event: &Event) -> Self {
        let mut tally = Self {
            session: event.session.clone(),
            agent: event.agent.clone(),
            project: event.project.clone(),
            first_at: event.at,
            last_at: event.at,
            events: 0,
            user_messages: 0,
            tool_results: 0,
        };
        tally.add(event);
        tally
    }

    /// Counts one more event of the session.
    pub fn add(&mut self, event: &Event) {
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
