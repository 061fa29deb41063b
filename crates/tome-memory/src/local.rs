//! Memory in this process, over a home folder: for agents that run without the daemon.
//!
//! A home has one writer. While a daemon uses it, opening a store fails and says so; the agent must
//! then talk to the daemon instead, with the memory of `tome-client`.
//!
//! Events are synced before `record_events` returns. The projections (transcript, indexes, contents)
//! catch up when a tool needs them and when the session ends.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tome_engine::{
    Caller, Engine, EngineSettings, InjectionRecord, InjectionText, ToolAnswer, Tools,
};
use tome_home::{EventQuery, Home};
use tome_model::{Clock, Event, EventKind, Millis, SystemClock, Zone};

use crate::limits::{PAGE_EVENTS_MAX, RESUMED_BYTES_MAX};
use crate::{Memory, MemoryError, MemoryTools, SessionEvent, SessionInfo};

/// Bytes per page when a session is read back.
const PAGE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Settings of a [`LocalMemory`].
#[derive(Clone)]
pub struct LocalMemorySettings {
    /// The home folder, as an absolute path. It is created on first use.
    pub home: PathBuf,
    /// The session this memory belongs to.
    pub session: SessionInfo,
    /// The source of event times.
    pub clock: Arc<dyn Clock>,
    /// Time zone in which days begin and end.
    pub zone: Zone,
}

impl LocalMemorySettings {
    /// Uses the system's clock and time zone.
    pub fn new(home: impl Into<PathBuf>, who: SessionInfo) -> Self {
        Self { home: home.into(), session: who, clock: Arc::new(SystemClock), zone: Zone::system() }
    }
}

/// A [`Memory`] in this process, over a home folder.
pub struct LocalMemory {
    session: SessionInfo,
    caller: Caller,
    project_root: String,
    engine: Engine,
}

impl LocalMemory {
    /// Opens the memory of a session. Reads the project folders of the home, restores damaged
    /// `project.toml` files and finishes rewrites of stores that were interrupted; a new home is not
    /// created until an event or a note is stored.
    pub fn open(settings: LocalMemorySettings) -> Result<Self, MemoryError> {
        let LocalMemorySettings { home, session: who, clock, zone } = settings;
        let settings = EngineSettings::new(Home::at(home), zone);
        let engine = Engine::open(settings, clock)?;
        let caller = Caller {
            cwd: Some(who.cwd.clone()),
            agent: Some(who.agent.to_string()),
            session: Some(who.session.to_string()),
            command: None,
        };
        Ok(Self {
            project_root: engine.stores().projects().resolve_project_or_guess(&who.cwd, None),
            session: who,
            caller,
            engine,
        })
    }

    /// Brings every projection (transcript, indexes, contents) up to date with the ledger.
    pub fn catch_up(&self) -> Result<(), MemoryError> {
        Ok(self.engine.catch_up_project(&self.project_root)?)
    }
}

impl MemoryTools for LocalMemory {
    fn call_tool(&self, tool: &str, arguments: &str) -> Result<ToolAnswer, MemoryError> {
        let spec = Tools::specs().into_iter().find(|spec| spec.name == tool);
        if spec.is_some_and(|spec| matches!(spec.toolset, "recall" | "contents")) {
            self.catch_up()?;
        }
        let answer = self.engine.tools()?.call(tool, arguments, &self.caller);
        answer.ok_or_else(|| MemoryError::UnknownTool(tool.to_owned()))
    }
}

impl Memory for LocalMemory {
    fn session(&self) -> &SessionInfo {
        &self.session
    }

    fn now(&self) -> Millis {
        self.engine.clock().now()
    }

    fn record_events(&self, events: &[SessionEvent]) -> Result<(), MemoryError> {
        let drafts = events.iter().map(|event| self.session.to_draft(event)).collect();
        for stored in self.engine.intake().ingest(drafts) {
            stored.map_err(|error| MemoryError::Unavailable(error.explained()))?;
        }
        if events.iter().any(|event| event.kind == EventKind::SessionEnd) {
            self.catch_up()?;
        }
        Ok(())
    }

    fn record_injection(&self, why: &str, injection: &InjectionText) -> Result<(), MemoryError> {
        let point = match why {
            "replan" => "tool",
            "store" => "stop",
            _ => "prompt",
        };
        Ok(self.engine.injector()?.log_injection(&InjectionRecord {
            at_ms: self.engine.clock().now().0,
            point: point.to_owned(),
            why: why.to_owned(),
            agent: self.session.agent.to_string(),
            session_id: self.session.session.to_string(),
            project: self.project_root.clone(),
            tokens: injection.tokens,
            cut: injection.cut.clone(),
            took_ms: 0,
            handed: true,
            text: injection.text.clone(),
        })?)
    }

    fn recent_events(&self, newest_max: usize) -> Result<Vec<Event>, MemoryError> {
        let mut events: Vec<Event> = Vec::new();
        let (mut after, mut left) = (None, RESUMED_BYTES_MAX);
        while events.len() < newest_max {
            let answer = self.engine.stores().query_events(&EventQuery {
                session: Some(self.session.session.clone()),
                project: Some(self.project_root.clone()),
                newest_first: true,
                after: after.take(),
                events_max: (newest_max - events.len()).min(PAGE_EVENTS_MAX),
                bytes_max: PAGE_BYTES_MAX.min(left),
                ..EventQuery::default()
            })?;
            let read = answer.events.len();
            let kept = take_newest_within(answer.events, &mut left);
            let is_all = kept.len() == read;
            events.extend(kept);
            let Some(more) = answer.more_after.filter(|_| is_all) else { break };
            after = Some(more);
        }
        events.reverse();
        Ok(events)
    }
}

/// Returns the newest events that fit into `left` bytes and reduces `left`. `events` are newest first;
/// the newest event of the session is always returned, whatever its size.
fn take_newest_within(events: Vec<Event>, left: &mut usize) -> Vec<Event> {
    let is_first = *left == RESUMED_BYTES_MAX;
    let fits = |(n, event): &(usize, Event)| {
        let rest = left.checked_sub(event_bytes(event));
        *left = rest.unwrap_or(0);
        rest.is_some() || (is_first && *n == 0)
    };
    events.into_iter().enumerate().take_while(fits).map(|(_, event)| event).collect()
}

fn event_bytes(event: &Event) -> usize {
    let value = |value: &Value| match value {
        Value::String(text) => text.len(),
        value => value.to_string().len(),
    };
    let tool = event.tool.as_ref().map_or(0, |tool| value(&tool.input) + value(&tool.output));
    event.text.len() + tool
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_kept_within_the_bytes() {
        let who = SessionInfo::new("s1", "/app").unwrap();
        let event = |n: usize, bytes: usize| {
            let text = "x".repeat(bytes);
            let event = who.new_event(EventKind::UserMessage, Millis(0), &n.to_string(), text);
            who.to_event(&event)
        };
        let mut left = RESUMED_BYTES_MAX;
        let half = RESUMED_BYTES_MAX / 2;
        let kept =
            take_newest_within(vec![event(0, half), event(1, half - 9), event(2, 10)], &mut left);
        assert_eq!((kept.len(), left), (2, 0));
        assert_eq!(take_newest_within(vec![event(3, 1)], &mut left).len(), 0);
        let mut left = RESUMED_BYTES_MAX;
        let kept =
            take_newest_within(vec![event(0, RESUMED_BYTES_MAX + 1), event(1, 1)], &mut left);
        assert_eq!(kept.len(), 1);
    }
}
