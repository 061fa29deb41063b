//! Keeps session statistics up to date, so that an overview reads one row per session instead of
//! one per event.
//!
//! Follows the outbox from its own durable cursor. Counts and cursor are written in one batch, so a
//! crash never counts an event twice.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use tome_ledger::{Ledger, LedgerError, OutboxEntry, Work};
use tome_model::{SessionId, SessionTally};

use crate::EngineError;

/// The worker's name, the key of its cursor.
pub const TALLY: &str = "tally";

const BATCH_MAX: usize = 1_000;

/// Counts all events since the cursor and returns their number. Safe to run concurrently: the loser
/// of a race sees that the cursor has moved and reads again.
pub fn catch_up(ledger: &Ledger) -> Result<u64, EngineError> {
    let mut counted = 0;
    loop {
        let from_seq = ledger.cursor(TALLY)?;
        let entries = ledger.outbox(from_seq, BATCH_MAX)?;
        let Some(last) = entries.last() else {
            return Ok(counted);
        };
        let upto_seq = last.seq;
        let tallies = count(ledger, &entries)?;
        match ledger.commit(Work {
            worker: TALLY.to_owned(),
            from_seq,
            upto_seq,
            tallies,
            ..Work::default()
        }) {
            Ok(()) => counted += entries.len() as u64,
            Err(LedgerError::Cursor { .. }) if ledger.cursor(TALLY)? > from_seq => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn count(ledger: &Ledger, entries: &[OutboxEntry]) -> Result<Vec<SessionTally>, EngineError> {
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
