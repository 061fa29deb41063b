//! The table of contents: nodes, their bullets, and the grips that support them.

use serde::{Deserialize, Serialize};

use crate::{Agent, EventId, GripId, Millis, NodeId, SessionId, Work};

/// A version of a node.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// The node's id.
    pub id: NodeId,
    /// Counts from 1. An open node's last version is replaced; changing a closed node adds one.
    pub version: u32,
    /// Whether it may still grow: a segment that is not closed, or a period with such a segment.
    pub open: bool,
    /// The title.
    pub title: String,
    /// Key points, usually 3 to 5.
    pub bullets: Vec<Bullet>,
    /// Usually 3 to 7; identifiers and file names first.
    pub keywords: Vec<String>,
    /// Child nodes in order; a segment has none.
    pub children: Vec<NodeId>,
    /// Time of the first event.
    pub first_at: Millis,
    /// Time of the last event.
    pub last_at: Millis,
    /// Number of events.
    pub events: u64,
    /// Estimated tokens of their text.
    pub tokens: u64,
    /// Agents involved, sorted.
    pub agents: Vec<Agent>,
    /// Sessions involved, in order; for a long period only the latest.
    pub sessions: Vec<SessionId>,
    /// Number of sessions involved.
    pub session_count: u64,
    /// The first and last event of a segment.
    pub source: Option<(EventId, EventId)>,
    /// The summarizer: `extractive`, or the name of a model.
    pub summarizer: String,
    /// When this version was written.
    pub made_at: Millis,
    /// The pieces of work, heaviest first; one for a segment.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub work: Vec<Work>,
}

impl Node {
    /// The grips of its bullets and facts; some more than once.
    pub fn grips(&self) -> impl Iterator<Item = &GripId> {
        let facts = self.work.iter().flat_map(|work| &work.facts).flat_map(crate::Fact::grips);
        self.bullets.iter().flat_map(|bullet| &bullet.grips).chain(facts)
    }
}

/// A key point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bullet {
    /// One line.
    pub text: String,
    /// The excerpts that support it.
    pub grips: Vec<GripId>,
    /// Whether a model wrote it without support in the events.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsupported: bool,
}

/// A verbatim excerpt that supports a bullet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grip {
    /// The grip's id.
    pub id: GripId,
    /// The segment it was taken from.
    pub node: NodeId,
    /// Verbatim text of an event, at most 200 characters.
    pub excerpt: String,
    /// Hash of the excerpt, in hex.
    pub hash: String,
    /// The first event it was taken from.
    pub first: EventId,
    /// The last event; usually the same.
    pub last: EventId,
    /// Time of the event.
    pub at: Millis,
    /// Kind of the event.
    pub kind: crate::EventKind,
}
