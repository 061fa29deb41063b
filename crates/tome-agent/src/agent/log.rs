//! What an agent hands to its memory: names for moments, what could not be recorded yet, and what the
//! triggers make of each.

use tome_engine::triggers::{Due, Seen, Settings, State};
use tome_model::{Event, EventKind, Millis};

use crate::{Memory, MemoryError, Moment};

/// The log of a session.
pub(super) struct Log {
    /// Moments of the session so far: part of the names of the next ones.
    count: usize,
    /// The latest time of any of them. A session is read back in the order of its times: none is earlier
    /// than one before it, even where the clock goes back.
    latest: Millis,
    /// Moments that memory did not take, oldest first. They go before the next.
    pending: Vec<Moment>,
    triggers: State,
    settings: Settings,
}

/// A moment that was recorded, and what is due in answer to it.
pub(super) struct Logged {
    pub moment: Moment,
    pub due: Option<Due>,
}

impl Log {
    pub(super) fn new(settings: Settings, before: &[Event]) -> Self {
        let mut triggers = State::default();
        for event in before {
            // What was due then was said then.
            let _ = triggers.step(&Seen::of_event(event), &settings);
        }
        let latest = before.iter().map(|event| event.at).max().unwrap_or(Millis(0));
        Self { count: before.len(), latest, pending: Vec::new(), triggers, settings }
    }

    /// The next moment. Its name is its own, whatever the clock does.
    pub(super) fn moment(&mut self, memory: &dyn Memory, kind: EventKind, text: &str) -> Moment {
        let now = memory.now();
        self.count += 1;
        self.latest = self.latest.max(now);
        let name = format!("{}:{}:{}", kind.as_str(), now.0, self.count);
        memory.who().moment(kind, self.latest, &name, text)
    }

    /// Shows a moment to the triggers and has it recorded. What memory does not take now is kept and
    /// handed over with the next.
    pub(super) fn keep(&mut self, memory: &dyn Memory, moment: Moment) -> Logged {
        let draft = memory.who().draft(&moment);
        let due = self.triggers.step(&Seen::of(&draft), &self.settings);
        self.pending.push(moment.clone());
        // Whoever ends a run looks whether something is left.
        let _ = self.flush(memory);
        Logged { moment, due }
    }

    /// The same of something that must not happen unless it is recorded.
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

    /// Hands over what is left.
    pub(super) fn flush(&mut self, memory: &dyn Memory) -> Result<(), MemoryError> {
        if !self.pending.is_empty() {
            memory.record(&self.pending)?;
            self.pending.clear();
        }
        Ok(())
    }

    /// Whether nothing was ever recorded.
    pub(super) fn is_new(&self) -> bool {
        self.count == 0
    }
}
