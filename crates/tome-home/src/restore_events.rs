//! Stores events that a backup kept. They keep their ids, so an event that is stored already is
//! recognized, however often the backup is restored.

use std::collections::BTreeMap;

use tome_ledger::{AppendOutcome, NewEvent};
use tome_model::Event;

use crate::merge_sessions::{choose_event_id, encode_event};
use crate::root_path::check_root;
use crate::{HomeError, Stores};

/// The outcome of restoring events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RestoredEvents {
    /// Events that were missing.
    pub stored: u64,
    /// Events that were stored already.
    pub duplicates: u64,
    /// The projects that got events.
    pub roots: Vec<String>,
}

impl Stores {
    /// Stores events in the order given, synced. A session that is known here stays in its project.
    pub fn restore_events(&self, events: Vec<Event>) -> Result<RestoredEvents, HomeError> {
        let sessions = self.session_index()?;
        let mut by_root: BTreeMap<String, Vec<Event>> = BTreeMap::new();
        for event in events {
            check_root(&event.project)?;
            let own = || Ok::<_, HomeError>(event.project.clone());
            let root = sessions.assign_project(&event.agent, &event.session, own)?;
            by_root.entry(root).or_default().push(event);
        }
        let mut restored = RestoredEvents::default();
        for (root, events) in by_root {
            let store = self.open_project(&root)?;
            self.session_index()?.flush()?;
            let total = events.len() as u64;
            let mut batch: Vec<NewEvent> = Vec::new();
            for event in events {
                if let Some(id) = choose_event_id(&store, &event)? {
                    batch.push(encode_event(event, id, &root));
                }
            }
            let appended = store.append(batch)?;
            let stored =
                appended.iter().filter(|one| one.outcome == AppendOutcome::Stored).count() as u64;
            restored.stored += stored;
            restored.duplicates += total - stored;
            if stored > 0 {
                restored.roots.push(root);
            }
        }
        Ok(restored)
    }
}
