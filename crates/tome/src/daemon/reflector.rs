//! The state of the reflector: queues the sessions of new events.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tome_agent::SessionInfo;
use tome_home::{HomeError, Projection, Store, follow_outbox};
use tome_ledger::ProjectionCommit;
use tome_model::{Clock, Event};

use super::configured_models::ChatHandle;
use super::reflection_queue::{FRESH_MS, ReflectionQueue};
use crate::config::Settings;
use crate::import::IMPORTED_META_KEY;

const BATCH_EVENTS: usize = 1_000;

/// The queue of sessions to reflect on.
pub struct Reflector {
    pub queue: ReflectionQueue,
    clock: Arc<dyn Clock>,
    /// Whether a conversation model is configured and reflection is on.
    pub is_active: bool,
    /// Held while a reflection runs: one at a time.
    pub reflect_lock: Mutex<()>,
}

impl Reflector {
    pub fn new(settings: &Settings, chat: &ChatHandle, clock: &Arc<dyn Clock>) -> Self {
        Self {
            queue: ReflectionQueue::open(queue_file(settings)),
            clock: Arc::clone(clock),
            is_active: settings.reflect.enabled && matches!(chat.model, Ok(Some(_))),
            reflect_lock: Mutex::default(),
        }
    }
}

/// Queues the sessions of new events. The queue is saved before the cursor moves.
impl Projection for Reflector {
    fn name(&self) -> &'static str {
        "reflect"
    }

    fn is_behind(&self, store: &Store) -> Result<bool, HomeError> {
        Ok(self.is_active && store.cursor(self.name())? < store.last_seq())
    }

    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        let name = self.name();
        follow_outbox(store, name, BATCH_EVENTS, stop, |from_seq, entries| {
            let fresh_from = self.clock.now().0.saturating_sub(FRESH_MS);
            let mut events: Vec<(u64, Event)> = Vec::new();
            for entry in entries.iter().filter(|entry| entry.position.at.0 >= fresh_from) {
                let event = store.event_at(&entry.position)?;
                events.extend(event.filter(is_reason_to_reflect).map(|event| (entry.seq, event)));
            }
            self.queue.record_events(store.path(), &events)?;
            Ok((entries.last().map_or(from_seq, |entry| entry.seq), ProjectionCommit::default()))
        })?;
        Ok(())
    }

    /// Does nothing: old events do not start a reflection again.
    fn rebuild(&self, _: &Store) -> Result<(), HomeError> {
        Ok(())
    }
}

fn queue_file(settings: &Settings) -> PathBuf {
    settings.home.run().join("reflections.json")
}

fn is_reason_to_reflect(event: &Event) -> bool {
    event.agent.as_str() != SessionInfo::DEFAULT_AGENT
        && !event.meta.contains_key(IMPORTED_META_KEY)
}
