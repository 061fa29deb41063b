//! The log of a session: gives events their ids, buffers events that memory did not accept yet, and
//! feeds the triggers.

use tome_engine::triggers::{DueInjection, TriggerEvent, TriggerSettings, TriggerState};
use tome_model::{Event, EventId, EventKind, Millis};

use crate::{Memory, MemoryError, SessionEvent};

// Keys in an event's metadata. `step` groups the calls of a reply, `call` is a call's id.
pub(super) const META_STEP: &str = "step";
pub(super) const META_CALL: &str = "call";
// Keys of a compaction: its note, the number of messages removed, and the first event kept.
pub(super) const META_FILE: &str = "file";
pub(super) const META_MESSAGES: &str = "messages";
pub(super) const META_KEPT_FROM: &str = "kept_from";

pub(super) struct SessionLog {
    /// Id of the event after which the session is resumed; part of the names of new events, because
    /// the clock may repeat itself.
    resumed_after: Option<EventId>,
    /// Events created so far; part of the names of new ones.
    count: usize,
    /// Latest event time. Times never decrease, even if the clock does, because a session is read back
    /// in order of time.
    latest: Millis,
    /// Events that memory did not accept, oldest first. They are written before any newer event.
    pending: Vec<SessionEvent>,
    triggers: TriggerState,
    settings: TriggerSettings,
}

/// A logged event and the trigger it fired, if any.
pub(super) struct LoggedEvent {
    pub event: SessionEvent,
    pub due: Option<DueInjection>,
}

impl SessionLog {
    pub(super) fn new(settings: TriggerSettings, before: &[Event]) -> Self {
        let mut triggers = TriggerState::default();
        for event in before {
            // These triggers were already handled when the events were recorded.
            let _ = triggers.process_event(&TriggerEvent::from_event(event), &settings);
        }
        let latest = before.iter().map(|event| event.at).max().unwrap_or(Millis(0));
        let resumed_after = before.last().map(|event| event.id.clone());
        Self { resumed_after, count: 0, latest, pending: Vec::new(), triggers, settings }
    }

    /// Creates the next event. Its name is unique even if the clock repeats itself.
    pub(super) fn new_event(
        &mut self,
        memory: &dyn Memory,
        kind: EventKind,
        text: &str,
    ) -> SessionEvent {
        let now = memory.now();
        self.count += 1;
        self.latest = self.latest.max(now);
        let mut name = format!("{}:{}:{}", kind.as_str(), now.0, self.count);
        if let Some(id) = &self.resumed_after {
            name.push(':');
            name.push_str(id.as_str());
        }
        memory.session().new_event(kind, self.latest, &name, text)
    }

    /// Runs the triggers on an event and records it. If memory does not accept it, the event is kept
    /// and written with the next one.
    pub(super) fn append(&mut self, memory: &dyn Memory, event: SessionEvent) -> LoggedEvent {
        let draft = memory.session().to_draft(&event);
        let due = self.triggers.process_event(&TriggerEvent::from_draft(&draft), &self.settings);
        self.pending.push(event.clone());
        // A failure is reported when the run flushes the log.
        let _ = self.flush(memory);
        LoggedEvent { event, due }
    }

    /// Like [`SessionLog::append`], but fails if the event cannot be recorded.
    pub(super) fn append_strict(
        &mut self,
        memory: &dyn Memory,
        event: SessionEvent,
    ) -> Result<LoggedEvent, MemoryError> {
        self.flush(memory)?;
        memory.record_events(std::slice::from_ref(&event))?;
        let draft = memory.session().to_draft(&event);
        let due = self.triggers.process_event(&TriggerEvent::from_draft(&draft), &self.settings);
        Ok(LoggedEvent { event, due })
    }

    /// Writes the pending events.
    pub(super) fn flush(&mut self, memory: &dyn Memory) -> Result<(), MemoryError> {
        if !self.pending.is_empty() {
            memory.record_events(&self.pending)?;
            self.pending.clear();
        }
        Ok(())
    }

    /// Whether the session has no events yet.
    pub(super) fn is_new(&self) -> bool {
        self.count == 0 && self.resumed_after.is_none()
    }
}
