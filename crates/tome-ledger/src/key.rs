//! Key layouts, and values that only refer to keys of another family.
//!
//! ```text
//! events     at_ms:u64be ++ seq:u64be ++ id                    -> version:u8 ++ …    event_value.rs
//! ids        id                                                -> at_ms:u64be ++ seq:u64be
//! sessions   session ++ 0x00 ++ at_ms:u64be ++ seq:u64be ++ id -> (empty)
//! sightings  words ++ 0x00 ++ at_ms:u64be                      -> occurrence:u32be   resolve.rs
//! outbox     last_seq:u64be                                    -> …                  outbox.rs
//! deliveries delivery:16 bytes ++ part:u16be                   -> id                 delivery.rs
//! ```
//!
//! `at` is the time of the event, not of its arrival; `seq` is its number in the outbox and keeps
//! events of the same millisecond in order of arrival. Numbers are big-endian, so byte order equals the
//! order of (at, seq). Ids come last and need no terminator. Event ids and keys of words are printable
//! ASCII and session ids have no control characters, so 0x00 can terminate them.

use tome_model::{EventId, Millis, SessionId};

use crate::{EventPosition, Family, KvBatch, LedgerError};

const TERMINATOR: u8 = 0x00;

/// Adds all keys of a new event to a batch. The order matters: readers of some engines can see a part
/// of a batch, so entries that point to the event come after it.
pub(crate) fn put_event(
    batch: &mut KvBatch,
    session: &SessionId,
    position: &EventPosition,
    body: &[u8],
) {
    let (at, seq) = (&position.at.0.to_be_bytes(), &position.seq.to_be_bytes());
    let id = position.id.as_str().as_bytes();
    let session = session.as_str().as_bytes();
    batch.put_joined(Family::Events, &[at, seq, id], &[body]);
    batch.put_joined(Family::Sessions, &[session, &[TERMINATOR], at, seq, id], &[]);
    batch.put_joined(Family::Ids, &[id], &[at, seq]);
}

pub(crate) fn event_key(position: &EventPosition) -> Vec<u8> {
    [&position.at.0.to_be_bytes(), &position.seq.to_be_bytes(), position.id.as_str().as_bytes()]
        .concat()
}

/// The prefix of an event's key: time and number. At most one event has it.
pub(crate) fn order_prefix(at: Millis, seq: u64) -> [u8; 16] {
    (u128::from(at.0) << 64 | u128::from(seq)).to_be_bytes()
}

/// The prefix of all keys of a session in `sessions`.
pub(crate) fn session_prefix(session: &SessionId) -> Vec<u8> {
    [session.as_str().as_bytes(), &[TERMINATOR]].concat()
}

/// The key of an occurrence of repeated words in `sightings`.
pub(crate) fn sighting_key(words: &str, at: Millis) -> Vec<u8> {
    [words.as_bytes(), &[TERMINATOR], &at.0.to_be_bytes()].concat()
}

/// Parses a position from `at_ms ++ seq ++ id`.
pub(crate) fn parse_event_key(
    family: Family,
    key: &[u8],
    bytes: &[u8],
) -> Result<EventPosition, LedgerError> {
    let corrupt = |problem: &str| LedgerError::corrupt(family, key, problem);
    let (prefix, id) = bytes
        .split_first_chunk::<16>()
        .ok_or_else(|| corrupt("it is too short for a time and a number"))?;
    let id = std::str::from_utf8(id).map_err(|_| corrupt("its id is not text"))?;
    let (at, seq) = split_order_prefix(*prefix);
    Ok(EventPosition {
        at,
        seq,
        id: EventId::parse(id).map_err(|error| corrupt(&error.to_string()))?,
    })
}

/// The key of a session's statistics in a project. Session ids contain no control characters.
pub(crate) fn session_stats_key(session: &SessionId, project: &str) -> Vec<u8> {
    [session.as_str().as_bytes(), b"\0", project.as_bytes()].concat()
}

/// Parses the event position in a key of `sessions`.
pub(crate) fn parse_session_key(
    session: &SessionId,
    key: &[u8],
) -> Result<EventPosition, LedgerError> {
    let behind = key.get(session.as_str().len() + 1..).unwrap_or_default();
    parse_event_key(Family::Sessions, key, behind)
}

/// Decodes time and number from a value in `ids`.
pub(crate) fn decode_id_value(id: &[u8], bytes: &[u8]) -> Result<(Millis, u64), LedgerError> {
    let prefix = bytes.try_into().map_err(|_| {
        LedgerError::corrupt(Family::Ids, id, "it is not a time and a number of 8 bytes each")
    })?;
    Ok(split_order_prefix(prefix))
}

/// Parses the session id in a key of `sessions`.
pub(crate) fn parse_session_id(key: &[u8]) -> Result<SessionId, LedgerError> {
    let corrupt = |problem: &str| LedgerError::corrupt(Family::Sessions, key, problem);
    let end = key
        .iter()
        .position(|&byte| byte == TERMINATOR)
        .ok_or_else(|| corrupt("it does not end"))?;
    let text = key.get(..end).and_then(|text| std::str::from_utf8(text).ok());
    let text = text.ok_or_else(|| corrupt("it names no session"))?;
    SessionId::parse(text).map_err(|error| corrupt(&error.to_string()))
}

pub(crate) fn split_order_prefix(prefix: [u8; 16]) -> (Millis, u64) {
    let number = u128::from_be_bytes(prefix);
    let low = |number: u128| u64::try_from(number & u128::from(u64::MAX)).unwrap_or_default();
    (Millis(low(number >> 64)), low(number))
}

/// Decodes a number that is a whole key or value.
pub(crate) fn decode_u64(family: Family, key: &[u8], bytes: &[u8]) -> Result<u64, LedgerError> {
    let bytes = bytes
        .try_into()
        .map_err(|_| LedgerError::corrupt(family, key, "it is not a number of 8 bytes"))?;
    Ok(u64::from_be_bytes(bytes))
}

/// Decodes the occurrence number of a sighting.
pub(crate) fn decode_occurrence(key: &[u8], bytes: &[u8]) -> Result<u32, LedgerError> {
    let bytes = bytes.try_into().map_err(|_| {
        LedgerError::corrupt(Family::Sightings, key, "it is not a number of 4 bytes")
    })?;
    Ok(u32::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id() -> impl Strategy<Value = EventId> {
        "[!-~]{1,40}".prop_map(|id| EventId::parse(&id).unwrap())
    }

    fn position() -> impl Strategy<Value = EventPosition> {
        let number = || prop_oneof![any::<u64>(), 0u64..3];
        (number(), number(), id()).prop_map(|(at, seq, id)| EventPosition {
            at: Millis(at),
            seq,
            id,
        })
    }

    fn session_id() -> impl Strategy<Value = SessionId> {
        "[ -~é日]{1,20}|[ab]{1,2}".prop_map(|id| SessionId::parse(&id).unwrap())
    }

    /// The keys of an event, in the order of the families in `put_event`.
    fn keys(session: &SessionId, position: &EventPosition) -> Vec<Vec<u8>> {
        let mut batch = KvBatch::default();
        put_event(&mut batch, session, position, b"body");
        batch.ops().map(|op| op.key.to_vec()).collect()
    }

    proptest! {
        #[test]
        fn key_bytes_sort_by_time_and_arrival(a in position(), b in position()) {
            prop_assert_eq!(event_key(&a).cmp(&event_key(&b)), a.cmp(&b));
            let session = SessionId::parse("s").unwrap();
            prop_assert_eq!(&keys(&session, &a)[0], &event_key(&a));
            prop_assert!(event_key(&a).starts_with(&order_prefix(a.at, a.seq)));
            prop_assert_eq!(decode_id_value(b"id", &order_prefix(a.at, a.seq)).unwrap(), (a.at, a.seq));
        }

        #[test]
        fn a_session_keeps_its_events_together_and_in_order(
            (a, a_at) in (session_id(), position()), (b, b_at) in (session_id(), position()),
        ) {
            let (a_key, b_key) = (&keys(&a, &a_at)[1], &keys(&b, &b_at)[1]);
            prop_assert_eq!(b_key.starts_with(&session_prefix(&a)), a == b);
            prop_assert_eq!(a_key.cmp(b_key), (a.as_str(), &a_at).cmp(&(b.as_str(), &b_at)));
            prop_assert_eq!(parse_session_key(&a, a_key).unwrap(), a_at);
        }

        #[test]
        fn any_bytes_decode_to_a_position_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(position) = parse_event_key(Family::Events, b"k", &bytes) {
                prop_assert_eq!(event_key(&position), bytes);
            }
        }
    }
}
