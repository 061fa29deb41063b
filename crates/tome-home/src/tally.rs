//! Session statistics: counters per session, so that an overview reads one row per session instead of
//! one per event.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use tome_ledger::{Ledger, OutboxEntry, Work};
use tome_model::{SessionId, SessionTally};

use crate::{HomeError, Projection, Store, follow_outbox};

/// The name of the projection, under which its cursor is kept.
pub const TALLY: &str = "tally";

/// Events counted in one batch.
const BATCH_MAX: usize = 1_000;

/// The counters of every session in a store.
pub struct SessionStatistics;

impl Projection for SessionStatistics {
    fn name(&self) -> &'static str {
        TALLY
    }

    fn catch_up(&self, store: &Store, stop: &dyn Fn() -> bool) -> Result<(), HomeError> {
        follow_outbox(store, TALLY, BATCH_MAX, stop, |_, entries| count_batch(store, entries))?;
        Ok(())
    }

    /// Counts again up to the cursor; events that arrive meanwhile are counted afterwards.
    fn rebuild(&self, store: &Store) -> Result<(), HomeError> {
        self.catch_up(store, &|| false)?;
        let mut tallies: HashMap<(SessionId, String), SessionTally> = HashMap::new();
        let upto_seq = store.cursor(TALLY)?;
        let mut after = 0;
        while after < upto_seq {
            let entries = store.outbox(after, BATCH_MAX)?;
            let Some(last) = entries.last() else { break };
            after = last.seq;
            for entry in entries.iter().filter(|entry| entry.seq <= upto_seq) {
                let Some(event) = store.event_at(&entry.position)? else { continue };
                match tallies.entry((event.session.clone(), event.project.clone())) {
                    Entry::Occupied(mut tally) => tally.get_mut().add(&event),
                    Entry::Vacant(tally) => drop(tally.insert(SessionTally::of_first(&event))),
                }
            }
        }
        let tallies = tallies.into_values().collect();
        let work = Work {
            worker: TALLY.to_owned(),
            from_seq: upto_seq,
            upto_seq,
            tallies,
            ..Work::default()
        };
        Ok(store.commit(work)?)
    }
}

/// Brings the counters of a ledger's sessions up to date. Returns the number of events counted.
pub fn catch_up(ledger: &Ledger) -> Result<u64, HomeError> {
    follow_outbox(ledger, TALLY, BATCH_MAX, &|| false, |_, entries| count_batch(ledger, entries))
}

fn count_batch(ledger: &Ledger, entries: &[OutboxEntry]) -> Result<(u64, Work), HomeError> {
    let upto_seq = entries.last().map_or(0, |entry| entry.seq);
    Ok((upto_seq, Work { tallies: count(ledger, entries)?, ..Work::default() }))
}

fn count(ledger: &Ledger, entries: &[OutboxEntry]) -> Result<Vec<SessionTally>, HomeError> {
    let mut tallies: HashMap<(SessionId, String), SessionTally> = HashMap::new();
    for entry in entries {
        let Some(event) = ledger.event_at(&entry.position)? else {
            continue;
        };
        match tallies.entry((event.session.clone(), event.project.clone())) {
            Entry::Occupied(mut tally) => tally.get_mut().add(&event),
            Entry::Vacant(place) => {
                let tally = match ledger.session_tally(&event.session, &event.project)? {
                    Some(mut tally) => {
                        tally.add(&event);
                        tally
                    }
                    None => SessionTally::of_first(&event),
                };
                place.insert(tally);
            }
        }
    }
    Ok(tallies.into_values().collect())
}
