//! The keys, and the values that are nothing but keys of another family.
//!
//! ```text
//! events     at_ms:u64be ++ id                             -> version:u8 ++ …       event_value.rs
//! ids        id                                            -> at_ms:u64be
//! sessions   session ++ 0x00 ++ at_ms:u64be ++ id          -> (empty)
//! sightings  words ++ 0x00 ++ at_ms:u64be                  -> occurrence:u32be      resolve.rs
//! outbox     seq:u64be                                     -> at_ms:u64be ++ id
//! ```
//!
//! `at` is when it happened, not when it arrived. Numbers are big-endian, so that the order of the
//! bytes is the order of (at, id). Ids come last and need no end mark. Ids and keys of words are
//! printable ASCII and session ids have no control characters, so 0x00 ends them.

use tome_model::{EventId, Millis, SessionId};

use crate::{Family, LedgerError, Position};

const END: u8 = 0x00;

/// The key of an event, and the value of its outbox entry.
pub(crate) fn event(at: Millis, id: &EventId) -> Vec<u8> {
    let mut key = Vec::with_capacity(8 + id.as_str().len());
    key.extend_from_slice(&at.0.to_be_bytes());
    key.extend_from_slice(id.as_str().as_bytes());
    key
}

/// The key of an event within its session.
pub(crate) fn session(session: &SessionId, at: Millis, id: &EventId) -> Vec<u8> {
    let mut key = session_prefix(session);
    key.extend_from_slice(&at.0.to_be_bytes());
    key.extend_from_slice(id.as_str().as_bytes());
    key
}

/// What the keys of all events of a session begin with.
pub(crate) fn session_prefix(session: &SessionId) -> Vec<u8> {
    let text = session.as_str().as_bytes();
    let mut key = Vec::with_capacity(text.len() + 1 + 8 + 32);
    key.extend_from_slice(text);
    key.push(END);
    key
}

/// The key of words said at a moment.
pub(crate) fn sighting(words: &str, at: Millis) -> Vec<u8> {
    let mut key = Vec::with_capacity(words.len() + 9);
    key.extend_from_slice(words.as_bytes());
    key.push(END);
    key.extend_from_slice(&at.0.to_be_bytes());
    key
}

/// When the event behind a key or a value of `at_ms ++ id` happened, and its id.
pub(crate) fn read_event(
    family: Family,
    key: &[u8],
    bytes: &[u8],
) -> Result<Position, LedgerError> {
    let corrupt = |problem: &str| LedgerError::corrupt(family, key, problem);
    let (at, id) = bytes
        .split_first_chunk::<8>()
        .ok_or_else(|| corrupt("it is too short for a time"))?;
    let id = std::str::from_utf8(id).map_err(|_| corrupt("its id is not text"))?;
    Ok(Position {
        at: Millis(u64::from_be_bytes(*at)),
        id: EventId::parse(id).map_err(|error| corrupt(&error.to_string()))?,
    })
}

/// Where the event behind a key of `sessions` is.
pub(crate) fn read_session(session: &SessionId, key: &[u8]) -> Result<Position, LedgerError> {
    let behind = key.get(session.as_str().len() + 1..).unwrap_or_default();
    read_event(Family::Sessions, key, behind)
}

/// A number that is a whole key or value.
pub(crate) fn read_u64(family: Family, key: &[u8], bytes: &[u8]) -> Result<u64, LedgerError> {
    let bytes = bytes
        .try_into()
        .map_err(|_| LedgerError::corrupt(family, key, "it is not a number of 8 bytes"))?;
    Ok(u64::from_be_bytes(bytes))
}

/// The occurrence that a sighting stands for.
pub(crate) fn read_occurrence(key: &[u8], bytes: &[u8]) -> Result<u32, LedgerError> {
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

    fn session_id() -> impl Strategy<Value = SessionId> {
        "[ -~é日]{1,20}".prop_map(|id| SessionId::parse(&id).unwrap())
    }

    proptest! {
        #[test]
        fn the_order_of_bytes_is_the_order_of_time_and_id(
            (a_at, a_id) in (any::<u64>(), id()), (b_at, b_id) in (any::<u64>(), id()), near in any::<bool>(),
        ) {
            let b_at = if near { a_at } else { b_at };
            prop_assert_eq!(
                event(Millis(a_at), &a_id).cmp(&event(Millis(b_at), &b_id)),
                (a_at, a_id.as_str()).cmp(&(b_at, b_id.as_str()))
            );
        }

        #[test]
        fn a_session_keeps_its_events_together_and_in_order(
            (a, a_at, a_id) in (session_id(), any::<u64>(), id()),
            (b, b_at, b_id) in (session_id(), any::<u64>(), id()),
        ) {
            let (a_key, b_key) = (session(&a, Millis(a_at), &a_id), session(&b, Millis(b_at), &b_id));
            prop_assert_eq!(b_key.starts_with(&session_prefix(&a)), a == b);
            prop_assert_eq!(
                a_key.cmp(&b_key),
                (a.as_str(), a_at, a_id.as_str()).cmp(&(b.as_str(), b_at, b_id.as_str()))
            );
            prop_assert_eq!(read_session(&a, &a_key).unwrap(), Position { at: Millis(a_at), id: a_id });
        }

        #[test]
        fn any_bytes_are_a_position_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(position) = read_event(Family::Outbox, b"k", &bytes) {
                prop_assert_eq!(event(position.at, &position.id), bytes);
            }
        }
    }
}
