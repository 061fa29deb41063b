//! A draft and a clock for tests.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::Map;
use tome_model::{Agent, Clock, Draft, EventId, EventKind, Identity, Millis, Role, SessionId};

/// A prompt with an explicit id, by the agent `codex` in `/app`.
///
/// # Panics
///
/// If an id is not valid.
#[expect(clippy::unwrap_used, reason = "ids are literals of tests")]
pub fn prompt_draft(id: &str, session: &str, at: Millis, text: &str) -> Draft {
    Draft {
        identity: Identity::Fixed(EventId::parse(id).unwrap()),
        at,
        session: SessionId::parse(session).unwrap(),
        agent: Agent::parse("codex").unwrap(),
        cwd: "/app".to_owned(),
        project: None,
        kind: EventKind::UserMessage,
        role: Role::User,
        text: text.to_owned(),
        tool: None,
        meta: Map::new(),
    }
}

/// A clock that advances one millisecond per call.
pub struct TickingClock(AtomicU64);

impl TickingClock {
    /// A clock that shows `start` first.
    pub fn starting_at(start: Millis) -> Self {
        Self(AtomicU64::new(start.0))
    }
}

impl Clock for TickingClock {
    fn now(&self) -> Millis {
        Millis(self.0.fetch_add(1, Ordering::SeqCst))
    }
}
