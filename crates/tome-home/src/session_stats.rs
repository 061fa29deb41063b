//! Session statistics: counters per session, so that an overview reads one row per session instead of
//! one per event.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use tome_ledger::{Ledger, OutboxEntry, WorkerCommit};
use tome_model::{SessionId, SessionStats};

use crate::{HomeError, Projection, Store, follow_outbox};

/// The name of the projection, under which its cursor is kept.
pub const SESSION_STATS_WORKER: &str = "tally";

const BATCH_MAX: usize = 1_000;

/// The counters of every session in a store.
pub struct SessionStatistics;

impl Projection for SessionStatistics {
    fn name(&self) -> &'static str {
        SESSION_STATS_WORKER
    }

    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        follow_outbox(store, SESSION_STATS_WORKER, BATCH_MAX, stop, |_, entries| {
            count_batch(store, entries)
        })?;
        Ok(())
    }

    /// Counts again up to the cursor; events that arrive meanwhile are counted afterwards.
    fn rebuild(&self, store: &Store) -> Result<(), HomeError> {
        self.catch_up(store, &|| false)?;
        let mut tallies: HashMap<(SessionId, String), SessionStats> = HashMap::new();
        let upto_seq = store.cursor(SESSION_STATS_WORKER)?;
        let mut after = 0;
        while after < upto_seq {
            let entries = store.read_outbox(after, BATCH_MAX)?;
            let Some(last) = entries.last() else { break };
            after = last.seq;
            for entry in entries.iter().filter(|entry| entry.seq <= upto_seq) {
                let Some(event) = store.event_at(&entry.position)? else { continue };
                match tallies.entry((event.session.clone(), event.project.clone())) {
                    Entry::Occupied(mut tally) => tally.get_mut().count_event(&event),
                    Entry::Vacant(tally) => {
                        tally.insert(SessionStats::from_first_event(&event));
                    }
                }
            }
        }
        let tallies = tallies.into_values().collect();
        let work = WorkerCommit {
            worker: SESSION_STATS_WORKER.to_owned(),
            from_seq: upto_seq,
            upto_seq,
            session_stats: tallies,
            ..WorkerCommit::default()
        };
        Ok(store.commit(work)?)
    }
}

/// Brings the counters of a ledger's sessions up to date. Returns the number of events counted.
pub fn catch_up_session_stats(ledger: &Ledger) -> Result<u64, HomeError> {
    follow_outbox(ledger, SESSION_STATS_WORKER, BATCH_MAX, &|| false, |_, entries| {
        count_batch(ledger, entries)
    })
}

fn count_batch(ledger: &Ledger, entries: &[OutboxEntry]) -> Result<(u64, WorkerCommit), HomeError> {
    let upto_seq = entries.last().map_or(0, |entry| entry.seq);
    Ok((
        upto_seq,
        WorkerCommit { session_stats: count_events(ledger, entries)?, ..WorkerCommit::default() },
    ))
}

fn count_events(ledger: &Ledger, entries: &[OutboxEntry]) -> Result<Vec<SessionStats>, HomeError> {
    let mut tallies: HashMap<(SessionId, String), SessionStats> = HashMap::new();
    for entry in entries {
        let Some(event) = ledger.event_at(&entry.position)? else {
            continue;
        };
        match tallies.entry((event.session.clone(), event.project.clone())) {
            Entry::Occupied(mut tally) => tally.get_mut().count_event(&event),
            Entry::Vacant(place) => {
                let tally = match ledger.session_stats(&event.session, &event.project)? {
                    Some(mut tally) => {
                        tally.count_event(&event);
                        tally
                    }
                    None => SessionStats::from_first_event(&event),
                };
                place.insert(tally);
            }
        }
    }
    Ok(tallies.into_values().collect())
}
