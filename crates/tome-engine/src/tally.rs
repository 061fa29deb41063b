//! The tally: a worker that counts sessions up from their events, so that an overview costs one
//! row a session and not one row an event.
//!
//! It reads the outbox from its own durable cursor. Counts and cursor are written in one batch, so
//! that an event is counted once, wherever a crash falls.

use std::collections::HashMap;

use tome_ledger::{Ledger, Work};
use tome_model::{SessionId, SessionTally};

use crate::EngineError;

/// The worker's name, under which its cursor is kept.
pub const TALLY: &str = "tally";

/// Events counted in one batch.
const BATCH_MAX: usize = 1_000;

/// Counts everything that has arrived since the last time. Returns how many events that was.
pub fn catch_up(ledger: &Ledger) -> Result<u64, EngineError> {
    let mut counted = 0;
    loop {
        let cursor = ledger.cursor(TALLY)?;
        let entries = ledger.outbox(cursor, BATCH_MAX)?;
        let Some(last) = entries.last() else {
            return Ok(counted);
        };
        let mut tallies: HashMap<SessionId, SessionTally> = HashMap::new();
        for entry in &entries {
            let Some(event) = ledger.event_at(&entry.position)? else {
                continue;
            };
            if let Some(tally) = tallies.get_mut(&event.session) {
                tally.add(&event);
                continue;
            }
            let tally = match ledger.session_tally(&event.session)? {
                Some(mut tally) => {
                    tally.add(&event);
                    tally
                }
                None => SessionTally::of_first(&event),
            };
            tallies.insert(event.session.clone(), tally);
        }
        counted += entries.len() as u64;
        ledger.commit(Work {
            worker: TALLY.to_owned(),
            upto_seq: last.seq,
            tallies: tallies.into_values().collect(),
        })?;
    }
}
