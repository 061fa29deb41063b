//! One JSON line of the history, and the content it encodes.

use std::borrow::Cow;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use tome_model::{Millis, to_hex};

use super::{DELETED_VERSION, HistoryRecord, content_version};
use crate::{Actor, Author, NoteOp, NoteVersion, invisible};

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HistoryLine {
    n: u64,
    at: Millis,
    pub path: String,
    op: String,
    who: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    tool: String,
    pub version: String,
    bytes: u64,
    added: u32,
    removed: u32,
    /// Whether a restore brought this version from another home: it never was the note's state here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restored: bool,
    #[serde(flatten)]
    body: VersionBody,
}

/// How a line encodes the note's content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum VersionBody {
    /// A delta: `text` between the first and the last `keep` bytes of the previous version.
    Between { keep: (usize, usize), text: String },
    /// The whole content.
    Text { text: String },
    /// The whole content in hexadecimal, if it is not UTF-8.
    Hex { hex: String },
    /// The note was deleted.
    Gone {},
}

/// The fields of a line that are needed to track a note's latest version.
pub(super) struct HistoryLineHead {
    pub number: u64,
    pub path: String,
    pub version: String,
    /// Whether the content is complete, not a delta.
    pub is_full: bool,
    pub is_restored: bool,
}

impl HistoryLine {
    pub fn new(number: u64, at: Millis, happened: &HistoryRecord<'_>, chained: bool) -> Self {
        let (who, agent, session) = match &happened.by.who {
            Actor::Agent { agent, session } => ("agent", Some(agent.clone()), session.clone()),
            Actor::Person => ("person", None, None),
            Actor::Outside => ("outside", None, None),
        };
        let after = happened.after.unwrap_or_default();
        let (added, removed) = count_changed_lines(happened.before.unwrap_or_default(), after);
        Self {
            n: number,
            at,
            path: happened.path.to_owned(),
            op: happened.op().as_str().to_owned(),
            who: who.to_owned(),
            agent,
            session,
            tool: happened.by.tool.clone(),
            version: happened.after.map_or_else(|| DELETED_VERSION.to_owned(), content_version),
            bytes: after.len() as u64,
            added,
            removed,
            restored: false,
            body: happened.build_body(chained),
        }
    }

    /// Makes this line of another history one of this history. `before` and `content` are what that
    /// history has before and after the change; `last` is the version that precedes the line here.
    pub fn mark_restored(
        &mut self,
        number: u64,
        last: Option<&str>,
        before: Option<&[u8]>,
        content: Option<&[u8]>,
    ) {
        (self.n, self.restored) = (number, true);
        let follows = before.is_some_and(|before| last == Some(content_version(before).as_str()));
        self.body = match (&self.body, content) {
            // A content that cannot be rebuilt there cannot be rebuilt here.
            (_, None) => VersionBody::Gone {},
            (VersionBody::Between { .. }, Some(content)) if !follows => VersionBody::full(content),
            (body, Some(_)) => body.clone(),
        };
    }

    /// Identifies a change in all histories that have it.
    pub fn identity(&self) -> blake3::Hash {
        let Self { at, path, op, who, agent, session, tool, version, .. } = self;
        let parts = (at, path, op, who, agent, session, tool, version);
        blake3::hash(&serde_json::to_vec(&parts).unwrap_or_default())
    }

    pub fn write_to(&self, text: &mut Vec<u8>) {
        // Cannot fail: strings and numbers serialize, and writing to memory succeeds.
        let _ = serde_json::to_writer(&mut *text, self);
        text.push(b'\n');
    }

    pub fn parse(raw: &[u8]) -> Option<Self> {
        serde_json::from_slice(raw).ok()
    }

    /// Parses only the head of a line; skips the content.
    pub fn parse_head(raw: &[u8]) -> Option<HistoryLineHead> {
        #[derive(Deserialize)]
        struct Head<'a> {
            n: u64,
            #[serde(borrow)]
            path: Cow<'a, str>,
            #[serde(borrow)]
            version: Cow<'a, str>,
            #[serde(default)]
            keep: Option<IgnoredAny>,
            #[serde(default)]
            restored: bool,
        }
        let head: Head<'_> = serde_json::from_slice(raw).ok()?;
        Some(HistoryLineHead {
            number: head.n,
            path: head.path.into_owned(),
            version: head.version.into_owned(),
            is_full: head.keep.is_none(),
            is_restored: head.restored,
        })
    }

    /// Rebuilds the content at this version from the previous one.
    pub fn rebuild_content(&self, before: Option<&[u8]>) -> Option<Vec<u8>> {
        match &self.body {
            VersionBody::Gone {} => None,
            VersionBody::Text { text } => Some(text.as_bytes().to_vec()),
            VersionBody::Hex { hex } => decode_hex(hex),
            VersionBody::Between { keep: (head, tail), text } => {
                let before = before?;
                let head = before.get(..*head)?;
                let tail = before.get(before.len().checked_sub(*tail)?..)?;
                Some([head, text.as_bytes(), tail].concat())
            }
        }
    }

    /// Rebuilds the content, and checks that it is that of this version.
    pub fn rebuild_verified(&self, before: Option<&[u8]>) -> Option<Vec<u8>> {
        self.rebuild_content(before).filter(|bytes| content_version(bytes) == self.version)
    }

    pub fn into_version(self) -> Option<NoteVersion> {
        let op = [NoteOp::Created, NoteOp::Changed, NoteOp::Deleted];
        let who = match (self.who.as_str(), self.agent) {
            ("agent", Some(agent)) => Actor::Agent { agent, session: self.session },
            ("person", _) => Actor::Person,
            _ => Actor::Outside,
        };
        Some(NoteVersion {
            number: self.n,
            at: self.at,
            path: invisible::escape(&self.path).into_owned(),
            op: op.into_iter().find(|op| op.as_str() == self.op)?,
            by: Author { who, tool: self.tool },
            version: self.version,
            bytes: self.bytes,
            added: self.added,
            removed: self.removed,
        })
    }
}

impl VersionBody {
    pub fn full(after: &[u8]) -> Self {
        match std::str::from_utf8(after) {
            Ok(text) => Self::Text { text: text.to_owned() },
            Err(_) => Self::Hex { hex: to_hex(after) },
        }
    }

    /// Encodes a delta if it is UTF-8 and at most half the size, else the whole content.
    pub fn delta(before: &[u8], after: &[u8]) -> Self {
        let (head, tail) = count_common_ends(before, after);
        let middle =
            after.get(head..after.len() - tail).and_then(|part| std::str::from_utf8(part).ok());
        match middle {
            Some(text) if text.len() <= after.len() / 2 => {
                Self::Between { keep: (head, tail), text: text.to_owned() }
            }
            _ => Self::full(after),
        }
    }
}

/// Lengths of the common prefix and, beyond that, the common suffix, without splitting a character.
fn count_common_ends(before: &[u8], after: &[u8]) -> (usize, usize) {
    let mut head = before.iter().zip(after).take_while(|(one, other)| one == other).count();
    while head > 0 && !is_char_boundary(after, head) {
        head -= 1;
    }
    let rest = (before.len() - head).min(after.len() - head);
    let pairs = before.iter().rev().zip(after.iter().rev());
    let mut tail = pairs.take(rest).take_while(|(one, other)| one == other).count();
    while tail > 0 && !is_char_boundary(after, after.len() - tail) {
        tail -= 1;
    }
    (head, tail)
}

fn is_char_boundary(bytes: &[u8], at: usize) -> bool {
    bytes.get(at).is_none_or(|byte| byte & 0b1100_0000 != 0b1000_0000)
}

/// Counts the lines added and removed between the common first and last lines.
fn count_changed_lines(before: &[u8], after: &[u8]) -> (u32, u32) {
    let before: Vec<&[u8]> = before.split_inclusive(|byte| *byte == b'\n').collect();
    let after: Vec<&[u8]> = after.split_inclusive(|byte| *byte == b'\n').collect();
    let head = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let rest = (before.len() - head).min(after.len() - head);
    let pairs = before.iter().rev().zip(after.iter().rev()).take(rest);
    let same = head + pairs.take_while(|(one, other)| one == other).count();
    let count = |lines: usize| u32::try_from(lines - same).unwrap_or(u32::MAX);
    (count(after.len()), count(before.len()))
}

fn decode_hex(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = hex.chars().map(|digit| digit.to_digit(16)).collect();
    let pairs = digits?;
    let byte = |pair: &[u32]| match pair {
        [high, low] => u8::try_from(high * 16 + low).ok(),
        _ => None,
    };
    pairs.chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_difference_restores_the_content(before in ".{0,60}", after in ".{0,60}", shared in ".{0,200}") {
            for (before, after) in [
                (format!("{before}{shared}"), format!("{after}{shared}")),
                (format!("{shared}{before}"), format!("{shared}{after}")),
                (format!("{shared}{before}{shared}"), format!("{shared}{after}{shared}")),
                (before.clone(), after.clone()),
            ] {
                let by = Author { who: Actor::Person, tool: "t".to_owned() };
                let happened = HistoryRecord {
                    path: "a.md", by: &by, existed: true, before: Some(before.as_bytes()), after: Some(after.as_bytes()),
                };
                let mut raw = Vec::new();
                HistoryLine::new(1, Millis(0), &happened, true).write_to(&mut raw);
                let line = HistoryLine::parse(&raw).expect("a line");
                prop_assert_eq!(line.rebuild_content(Some(before.as_bytes())), Some(after.into_bytes()));
            }
        }

        #[test]
        fn binary_content_is_kept(bytes in proptest::collection::vec(any::<u8>(), 0..50)) {
            let line = VersionBody::full(&bytes);
            let raw = serde_json::to_vec(&line).expect("JSON");
            let back: VersionBody = serde_json::from_slice(&raw).expect("a body");
            prop_assert_eq!(&back, &line);
        }
    }
}
