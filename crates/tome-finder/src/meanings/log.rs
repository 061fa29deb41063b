//! The log: what rows refer to by number, and what becomes of it. Appended to, never changed.
//!
//! ```text
//! record      length:u32le ++ checksum:u32le ++ body
//! body    1   place: source:u8 ++ project ++ session ++ agent ++ kind       numbered from 0
//!         2   name: text                                                   numbered from 0
//!         3   gone: name                   the rows of that name are dead
//!         4   tokens: 0 or name + 1 ++ count ++ the steps from token to token     counted for a row
//! ```
//!
//! Numbers in a body are LEB128; a text has its length before it.

use super::bytes::{checksum, put_number, put_text, take, take_number, take_text};
use crate::Source;

/// What the entries of many rows have in common: what filters ask for, but for the time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) source: Source,
    pub(super) project: String,
    pub(super) session: String,
    pub(super) agent: String,
    pub(super) kind: String,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Record {
    /// The next place.
    Place(Place),
    /// The next name.
    Name(String),
    /// The name with this number is gone.
    Gone(u64),
    /// The tokens of a row, each once and in order, with the number of its name if it has one.
    Tokens(Option<u64>, Vec<u32>),
}

impl Record {
    /// Appends the record.
    pub(super) fn put(&self, log: &mut Vec<u8>) {
        let mut body = Vec::new();
        match self {
            Self::Place(place) => {
                body.extend([1, place.source as u8]);
                for text in [&place.project, &place.session, &place.agent, &place.kind] {
                    put_text(&mut body, text);
                }
            }
            Self::Name(name) => {
                body.push(2);
                put_text(&mut body, name);
            }
            Self::Gone(name) => {
                body.push(3);
                put_number(&mut body, *name);
            }
            Self::Tokens(name, tokens) => {
                body.push(4);
                put_number(&mut body, name.map_or(0, |name| name + 1));
                put_tokens(&mut body, tokens);
            }
        }
        // A body is a few texts, each of which was held in memory a moment ago.
        log.extend(u32::try_from(body.len()).unwrap_or(u32::MAX).to_le_bytes());
        log.extend(checksum(&body).to_le_bytes());
        log.extend(body);
    }

    /// Takes a record off the front. `None`: it is not whole, or none that this version knows.
    pub(super) fn take(log: &mut &[u8]) -> Option<Self> {
        let length = usize::try_from(u32::from_le_bytes(take(log)?)).ok()?;
        let sum = u32::from_le_bytes(take(log)?);
        let (mut body, rest) = log.split_at_checked(length)?;
        *log = rest;
        if checksum(body) != sum {
            return None;
        }
        let record = Self::taken(&mut body)?;
        body.is_empty().then_some(record)
    }

    fn taken(body: &mut &[u8]) -> Option<Self> {
        let [kind] = take(body)?;
        Some(match kind {
            1 => {
                let [source] = take(body)?;
                let source = *Source::ALL.get(usize::from(source))?;
                let mut text = || take_text(body);
                let (project, session) = (text()?, text()?);
                Self::Place(Place { source, project, session, agent: text()?, kind: text()? })
            }
            2 => Self::Name(take_text(body)?),
            3 => Self::Gone(take_number(body)?),
            4 => {
                let name = take_number(body)?.checked_sub(1);
                Self::Tokens(name, take_tokens(body)?)
            }
            _ => return None,
        })
    }
}

/// Appends tokens that are in order.
fn put_tokens(bytes: &mut Vec<u8>, tokens: &[u32]) {
    put_number(bytes, tokens.len() as u64);
    let mut before = 0;
    for token in tokens {
        put_number(bytes, u64::from(token - before));
        before = *token;
    }
}

/// Takes tokens off the front.
fn take_tokens(bytes: &mut &[u8]) -> Option<Vec<u32>> {
    let mut tokens = Vec::new();
    let mut before = 0_u32;
    for _ in 0..take_number(bytes)? {
        before = before.checked_add(u32::try_from(take_number(bytes)?).ok()?)?;
        tokens.push(before);
    }
    Some(tokens)
}
