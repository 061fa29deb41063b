//! Encoding of the cursors of projections and of the session statistics.
//!
//! ```text
//! tallies      session ++ 0x00 ++ project -> version:u8 ++ …   version 1: postcard of `StoredSessionStats`, codec.rs
//! checkpoints  projection name           -> version:u8 ++ seq:u64be          version 1: processed up to `seq`
//!                                        -> version:u8 ++ seq:u64be ++ memo  version 2: and the memo, as text
//! ```

use serde::{Deserialize, Serialize};
use tome_model::{Agent, Millis, SessionId, SessionStats};

use crate::codec::{KvLocation, decode, pack, unpack};
use crate::error::escape_key;
use crate::{Family, LedgerError, key};

const SESSION_STATS_VERSION: u8 = 1;
const CURSOR_VERSION: u8 = 1;
const CURSOR_WITH_MEMO_VERSION: u8 = 2;

#[derive(Serialize, Deserialize)]
struct StoredSessionStats<'a> {
    agent: &'a str,
    first_at: u64,
    last_at: u64,
    events: u64,
    user_messages: u64,
    tool_results: u64,
}

pub(crate) fn encode_session_stats(stats: &SessionStats) -> Result<Vec<u8>, LedgerError> {
    let stored = StoredSessionStats {
        agent: stats.agent.as_str(),
        first_at: stats.first_at.0,
        last_at: stats.last_at.0,
        events: stats.events,
        user_messages: stats.user_messages,
        tool_results: stats.tool_results,
    };
    pack(SESSION_STATS_VERSION, &stored).map_err(|problem| LedgerError::Rejected {
        name: format!("statistics of {}", stats.session),
        problem,
    })
}

pub(crate) fn decode_session_stats(key: &[u8], bytes: &[u8]) -> Result<SessionStats, LedgerError> {
    let location = KvLocation { family: Family::SessionStats, key };
    let (_, body) = unpack(location, &[SESSION_STATS_VERSION], bytes)?;
    let stored: StoredSessionStats<'_> = decode(location, &body)?;
    let text = std::str::from_utf8(key).map_err(|error| location.corrupt(error))?;
    let (session, project) =
        text.split_once('\0').ok_or_else(|| location.corrupt("its key names no project"))?;
    Ok(SessionStats {
        session: SessionId::parse(session).map_err(|error| location.corrupt(error))?,
        agent: Agent::parse(stored.agent).map_err(|error| location.corrupt(error))?,
        project: project.to_owned(),
        first_at: Millis(stored.first_at),
        last_at: Millis(stored.last_at),
        events: stored.events,
        user_messages: stored.user_messages,
        tool_results: stored.tool_results,
    })
}

pub(crate) fn encode_cursor(seq: u64, memo: &str) -> Vec<u8> {
    let mut value = vec![if memo.is_empty() { CURSOR_VERSION } else { CURSOR_WITH_MEMO_VERSION }];
    value.extend_from_slice(&seq.to_be_bytes());
    value.extend_from_slice(memo.as_bytes());
    value
}

/// Decodes a projection's cursor and memo.
pub(crate) fn decode_cursor(projection: &str, bytes: &[u8]) -> Result<(u64, String), LedgerError> {
    let name = projection.as_bytes();
    let corrupt = |problem: &str| LedgerError::corrupt(Family::Checkpoints, name, problem);
    match bytes.split_first() {
        Some((&CURSOR_VERSION, seq)) => {
            Ok((key::decode_u64(Family::Checkpoints, name, seq)?, String::new()))
        }
        Some((&CURSOR_WITH_MEMO_VERSION, rest)) => {
            let (seq, memo) =
                rest.split_first_chunk::<8>().ok_or_else(|| corrupt("it ends early"))?;
            let memo = std::str::from_utf8(memo).map_err(|_| corrupt("its memo is not text"))?;
            if memo.is_empty() {
                return Err(corrupt("it has no memo"));
            }
            Ok((u64::from_be_bytes(*seq), memo.to_owned()))
        }
        Some((&found, _)) => Err(LedgerError::UnknownVersion {
            family: Family::Checkpoints,
            key: escape_key(name),
            what: "version",
            found,
        }),
        None => Err(corrupt("it is empty")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn session_stats_and_cursors_round_trip(session in "[ -~é]{1,30}", project in "\\PC{0,400}", n in any::<[u64; 6]>()) {
            let stats = SessionStats {
                session: SessionId::parse(&session).unwrap(),
                agent: Agent::parse("gemini").unwrap(),
                project,
                first_at: Millis(n[0]),
                last_at: Millis(n[1]),
                events: n[2],
                user_messages: n[3],
                tool_results: n[4],
            };
            let bytes = encode_session_stats(&stats).unwrap();
            let key = key::session_stats_key(&stats.session, &stats.project);
            prop_assert_eq!(&decode_session_stats(&key, &bytes).unwrap(), &stats);
            for memo in ["", stats.project.as_str()] {
                let read = decode_cursor("w", &encode_cursor(n[5], memo)).unwrap();
                prop_assert_eq!(read, (n[5], memo.to_owned()));
            }
        }

        #[test]
        fn garbage_decodes_to_an_error_or_a_value(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = decode_session_stats(b"s\0/p", &bytes);
            prop_assert!(decode_session_stats(b"s", &bytes).is_err());
            if let Ok((seq, memo)) = decode_cursor("w", &bytes) {
                prop_assert_eq!(encode_cursor(seq, &memo), bytes);
            }
        }
    }

    #[test]
    fn an_unknown_cursor_version_is_reported() {
        let error = decode_cursor("contents", &[9, 0]).unwrap_err().to_string();
        assert_eq!(error, "checkpoints contents: unknown version 9: upgrade Tome");
    }
}
