//! The outbox: events in order of arrival, numbered from 1 without gaps.
//!
//! ```text
//! outbox  last_seq:u64be  ->  (at_ms:u64be ++ id_len:u8 ++ id)+    up to and including last_seq
//! ```
//!
//! Events that arrive together share an entry, called a run, which costs the engine a single key.
//! Entries are never removed, so that a projection added later can start from the beginning.

use tome_model::{EventId, Millis};

use crate::{EventPosition, Family, KvBatch, LedgerError, key};

/// Events per run. A projection whose cursor is inside a run reads it again from its start.
const RUN_EVENTS_MAX: usize = 64;

/// An event in order of arrival.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutboxEntry {
    /// The event's number: 1 for the first event ever appended, without gaps.
    pub seq: u64,
    /// The position of the event, with the same number.
    pub position: EventPosition,
}

/// Events of the current run that are not in a batch yet.
#[derive(Debug, Default)]
pub(crate) struct OutboxRun {
    bytes: Vec<u8>,
    len: usize,
}

impl OutboxRun {
    pub(crate) fn push(&mut self, position: &EventPosition) {
        let id = position.id.as_str().as_bytes();
        self.bytes.extend_from_slice(&position.at.0.to_be_bytes());
        // An id has at most 128 bytes.
        self.bytes.push(u8::try_from(id.len()).unwrap_or(u8::MAX));
        self.bytes.extend_from_slice(id);
        self.len += 1;
    }

    pub(crate) fn is_full(&self) -> bool {
        self.len >= RUN_EVENTS_MAX
    }

    /// Adds the run to a batch, if it is not empty, and starts the next one.
    pub(crate) fn flush_into(&mut self, batch: &mut KvBatch, last_seq: u64) {
        if self.len > 0 {
            batch.put(Family::Outbox, &last_seq.to_be_bytes(), &self.bytes);
        }
        self.bytes.clear();
        self.len = 0;
    }
}

/// Decodes the entries of a run, in order.
pub(crate) fn decode_run(key: &[u8], value: &[u8]) -> Result<Vec<OutboxEntry>, LedgerError> {
    let corrupt = |problem: &str| LedgerError::corrupt(Family::Outbox, key, problem);
    let last_seq = key::decode_u64(Family::Outbox, key, key)?;
    let mut entries = Vec::new();
    let mut rest = value;
    while !rest.is_empty() {
        let (position, behind) = decode_position(rest).ok_or_else(|| corrupt("it ends early"))?;
        let position = position.map_err(|error| corrupt(&error.to_string()))?;
        entries.push(OutboxEntry { seq: 0, position });
        rest = behind;
    }
    let before = u64::try_from(entries.len())
        .ok()
        .and_then(|len| last_seq.checked_sub(len))
        .ok_or_else(|| corrupt("it holds more events than ever arrived"))?;
    for (seq, entry) in (before + 1..).zip(&mut entries) {
        entry.seq = seq;
        entry.position.seq = seq;
    }
    Ok(entries)
}

type ParsedPosition<'a> = (Result<EventPosition, tome_model::InvalidInput>, &'a [u8]);

fn decode_position(bytes: &[u8]) -> Option<ParsedPosition<'_>> {
    let (at, rest) = bytes.split_first_chunk::<8>()?;
    let (len, rest) = rest.split_first()?;
    let (id, rest) = rest.split_at_checked(usize::from(*len))?;
    let id = EventId::parse(std::str::from_utf8(id).ok()?);
    let at = Millis(u64::from_be_bytes(*at));
    Some((id.map(|id| EventPosition { at, seq: 0, id }), rest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_run_round_trips(arrived in proptest::collection::vec((any::<u64>(), "[!-~]{1,128}"), 1..20), before in 0u64..1000) {
            let mut run = OutboxRun::default();
            let mut expected = Vec::new();
            for (seq, (at, id)) in (before + 1..).zip(&arrived) {
                let position = EventPosition { at: Millis(*at), seq, id: EventId::parse(id).unwrap() };
                run.push(&position);
                expected.push(OutboxEntry { seq, position });
            }
            let mut batch = KvBatch::default();
            run.flush_into(&mut batch, before + arrived.len() as u64);
            run.flush_into(&mut batch, 0);
            let ops: Vec<_> = batch.ops().collect();
            prop_assert_eq!(ops.len(), 1);
            prop_assert_eq!(decode_run(ops[0].key, ops[0].value.unwrap()).unwrap(), expected);
        }

        #[test]
        fn garbage_decodes_to_an_error_or_a_run(key in any::<[u8; 8]>(), bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode_run(&key, &bytes);
            prop_assert!(decode_run(&key[1..], &bytes).is_err());
        }
    }
}
