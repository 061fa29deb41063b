//! The log of a session: gives events their ids, buffers events that memory did not accept yet, and
//! feeds the triggers.

use tome_engine::triggers::{Due, Seen, Settings, State};
use tome_model::{Event, EventKind, Millis};

use crate::{Memory, MemoryError, Moment};

pub(super) struct Log {
    /// Events of the session so far; part of the names of new ones.
    count: usize,
    /// Latest event time. Times never decrease, even if the clock does, because a session is read back
    /// in order of time.
    latest: Millis,
    /// Events that memory did not accept, oldest first. They are written before any newer event.
    pending: Vec<Moment>,
    triggers: State,
    settings: Settings,
}

/// A logged event and the trigger it fired, if any.
pub(super) struct Logged {
    pub moment: Moment,
    pub due: Option<Due>,
}

impl Log {
    pub(super) fn new(settings: Settings, before: &[Event]) -> Self {
        let mut triggers = State::default();
        for event in before {
            // These triggers were already handled when the events were recorded.
            let _ = triggers.step(&Seen::of_event(event), &settings);
        }
        let latest = before.iter().map(|event| event.at).max().unwrap_or(Millis(0));
        Self { count: before.len(), latest, pending: Vec::new(), triggers, settings }
    }

    /// Creates the next event. The count makes its name unique even if the clock repeats itself.
    pub(super) fn moment(&mut self, memory: &dyn Memory, kind: EventKind, text: &str) -> Moment {
        let now = memory.now();
        self.count += 1;
        self.latest = self.latest.max(now);
        let name = format!("{}:{}:{}", kind.as_str(), now.0, self.count);
        memory.who().moment(kind, self.latest, &name, text)
    }

    /// Runs the triggers on an event and records it. If memory does not accept it, the event is kept
    /// and written with the next one.
    pub(super) fn keep(&mut self, memory: &dyn Memory, moment: Moment) -> Logged {
        let draft = memory.who().draft(&moment);
        let due = self.triggers.step(&Seen::of(&draft), &self.settings);
        self.pending.push(moment.clone());
        // A failure is reported when the run flushes the log.
        let _ = self.flush(memory);
        Logged { moment, due }
    }

    /// Like [`SessionLog::append`], but fails if the event cannot be recorded.
    pub(super) fn keep_first(
        &mut self,
        memory: &dyn Memory,
        moment: Moment,
    ) -> Result<Logged, MemoryError> {
        self.flush(memory)?;
        memory.record(std::slice::from_ref(&moment))?;
        let draft = memory.who().draft(&moment);
        let due = self.triggers.step(&Seen::of(&draft), &self.settings);
        Ok(Logged { moment, due })
    }

    /// Writes the pending events.
    pub(super) fn flush(&mut self, memory: &dyn Memory) -> Result<(), MemoryError> {
        if !self.pending.is_empty() {
            memory.record(&self.pending)?;
            self.pending.clear();
        }
        Ok(())
    }

    pub(super) fn is_new(&self) -> bool {
        self.count == 0
    }
}
