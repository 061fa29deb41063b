//! The log: append-only definitions of the facets and names that rows refer to by number, removals
//! of names, and token counts.
//!
//! ```text
//! record      length:u32le ++ checksum:u32le ++ body
//! body    1   facets: source:u8 ++ project ++ session ++ agent ++ kind       numbered from 0
//!         2   name: text                                                   numbered from 0
//!         3   removed: name                the rows of that name are dead
//!         4   tokens: 0 or name + 1 ++ count ++ deltas of the sorted token ids     one counted row
//! ```
//!
//! Integers in a body are LEB128; strings are length-prefixed.

use super::encoding::{checksum, put_text, put_varint, take_array, take_text, take_varint};
use crate::RecordKind;

/// The attributes of a row that filters test, apart from the time. Many rows share them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct RowFacets {
    pub(super) source: RecordKind,
    pub(super) project: String,
    pub(super) session: String,
    pub(super) agent: String,
    pub(super) kind: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LogRecord {
    /// Defines the next facets number.
    Facets(RowFacets),
    /// Defines the next name number.
    Name(String),
    /// Removes the name with this number and its rows.
    NameRemoved(u64),
    /// Token ids of a row, sorted and unique, with the number of its name if it has one.
    Tokens(Option<u64>, Vec<u32>),
}

impl LogRecord {
    pub(super) fn encode(&self, log: &mut Vec<u8>) {
        let mut body = Vec::new();
        match self {
            Self::Facets(facets) => {
                body.extend([1, facets.source as u8]);
                for text in [&facets.project, &facets.session, &facets.agent, &facets.kind] {
                    put_text(&mut body, text);
                }
            }
            Self::Name(name) => {
                body.push(2);
                put_text(&mut body, name);
            }
            Self::NameRemoved(name) => {
                body.push(3);
                put_varint(&mut body, *name);
            }
            Self::Tokens(name, tokens) => {
                body.push(4);
                put_varint(&mut body, name.map_or(0, |name| name + 1));
                put_tokens(&mut body, tokens);
            }
        }
        // Bodies consist of a few in-memory strings, so the length fits.
        log.extend(u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
        log.extend(checksum(&body).to_le_bytes());
        log.extend(body);
    }

    /// Decodes a record from the front. `None` if it is corrupt or of an unknown kind.
    pub(super) fn decode(log: &mut &[u8]) -> Option<Self> {
        let length = usize::try_from(u32::from_le_bytes(take_array(log)?)).ok()?;
        let sum = u32::from_le_bytes(take_array(log)?);
        let (mut body, rest) = log.split_at_checked(length)?;
        *log = rest;
        if checksum(body) != sum {
            return None;
        }
        let record = Self::decode_body(&mut body)?;
        body.is_empty().then_some(record)
    }

    fn decode_body(body: &mut &[u8]) -> Option<Self> {
        let [kind] = take_array(body)?;
        Some(match kind {
            1 => {
                let [source] = take_array(body)?;
                let source = *RecordKind::ALL.get(usize::from(source))?;
                let mut text = || take_text(body);
                let (project, session) = (text()?, text()?);
                Self::Facets(RowFacets { source, project, session, agent: text()?, kind: text()? })
            }
            2 => Self::Name(take_text(body)?),
            3 => Self::NameRemoved(take_varint(body)?),
            4 => {
                let name = take_varint(body)?.checked_sub(1);
                Self::Tokens(name, take_tokens(body)?)
            }
            _ => return None,
        })
    }
}

/// Appends sorted tokens as deltas.
fn put_tokens(bytes: &mut Vec<u8>, tokens: &[u32]) {
    put_varint(bytes, tokens.len() as u64);
    let mut before = 0;
    for token in tokens {
        put_varint(bytes, u64::from(token - before));
        before = *token;
    }
}

fn take_tokens(bytes: &mut &[u8]) -> Option<Vec<u32>> {
    let mut tokens = Vec::new();
    let mut before = 0_u32;
    for _ in 0..take_varint(bytes)? {
        before = before.checked_add(u32::try_from(take_varint(bytes)?).ok()?)?;
        tokens.push(before);
    }
    Some(tokens)
}
