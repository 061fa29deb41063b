//! Session statistics: counters per session, so that an overview reads one row per session instead of
//! one per event.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use tome_ledger::{Ledger, OutboxEntry, ProjectionCommit};
use tome_model::{SessionId, SessionStats};

use crate::{HomeError, Projection, ProjectionReport, Store, follow_outbox};

/// The name of the projection and of its cursor on disk.
pub const SESSION_STATS_PROJECTION: &str = "tally";

const BATCH_MAX: usize = 1_000;

/// The counters of every session in a store.
pub struct SessionStatsProjection;

impl Projection for SessionStatsProjection {
    fn name(&self) -> &'static str {
        SESSION_STATS_PROJECTION
    }

    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        follow_outbox(store, SESSION_STATS_PROJECTION, BATCH_MAX, stop, |_, entries| {
            count_batch(store, entries)
        })?;
        Ok(())
    }

    /// Counts again up to the cursor; events that arrive meanwhile are counted afterwards.
    fn rebuild(&self, store: &Store) -> Result<(), HomeError> {
        self.catch_up(store, &|| false)?;
        let mut stats: HashMap<(SessionId, String), SessionStats> = HashMap::new();
        let upto_seq = store.cursor(SESSION_STATS_PROJECTION)?;
        let mut after = 0;
        while after < upto_seq {
            let entries = store.read_outbox(after, BATCH_MAX)?;
            let Some(last) = entries.last() else { break };
            after = last.seq;
            for entry in entries.iter().filter(|entry| entry.seq <= upto_seq) {
                let Some(event) = store.event_at(&entry.position)? else { continue };
                match stats.entry((event.session.clone(), event.project.clone())) {
                    Entry::Occupied(mut entry) => entry.get_mut().count_event(&event),
                    Entry::Vacant(entry) => {
                        entry.insert(SessionStats::from_first_event(&event));
                    }
                }
            }
        }
        let work = ProjectionCommit {
            projection: SESSION_STATS_PROJECTION.to_owned(),
            from_seq: upto_seq,
            upto_seq,
            session_stats: stats.into_values().collect(),
            ..ProjectionCommit::default()
        };
        Ok(store.commit(work)?)
    }

    fn report(&self, store: &Store) -> Result<Vec<ProjectionReport>, HomeError> {
        Ok(vec![ProjectionReport::from_cursor(SESSION_STATS_PROJECTION, store)?])
    }
}

/// Brings the counters of a ledger's sessions up to date. Returns the number of events counted.
pub fn catch_up_session_stats(ledger: &Ledger) -> Result<u64, HomeError> {
    follow_outbox(ledger, SESSION_STATS_PROJECTION, BATCH_MAX, &|| false, |_, entries| {
        count_batch(ledger, entries)
    })
}

fn count_batch(
    ledger: &Ledger,
    entries: &[OutboxEntry],
) -> Result<(u64, ProjectionCommit), HomeError> {
    let upto_seq = entries.last().map_or(0, |entry| entry.seq);
    Ok((
        upto_seq,
        ProjectionCommit {
            session_stats: count_events(ledger, entries)?,
            ..ProjectionCommit::default()
        },
    ))
}

fn count_events(ledger: &Ledger, entries: &[OutboxEntry]) -> Result<Vec<SessionStats>, HomeError> {
    let mut stats: HashMap<(SessionId, String), SessionStats> = HashMap::new();
    for entry in entries {
        let Some(event) = ledger.event_at(&entry.position)? else {
            continue;
        };
        match stats.entry((event.session.clone(), event.project.clone())) {
            Entry::Occupied(mut entry) => entry.get_mut().count_event(&event),
            Entry::Vacant(entry) => {
                let counted = match ledger.session_stats(&event.session, &event.project)? {
                    Some(mut known) => {
                        known.count_event(&event);
                        known
                    }
                    None => SessionStats::from_first_event(&event),
                };
                entry.insert(counted);
            }
        }
    }
    Ok(stats.into_values().collect())
}
