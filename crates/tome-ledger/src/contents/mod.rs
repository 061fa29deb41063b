//! The stored contents: all versions of nodes, their headers, the segments of each session, and grips.
//!
//! ```text
//! toc_nodes   project ++ 0x00 ++ node id ++ 0x00 ++ version:u32be  ->  version:u8 ++ …   value.rs
//! toc_latest  project ++ 0x00 ++ node id                           ->  version:u8 ++ …   value.rs, `NodeHeader`
//!             project ++ 0x00 ++ "session:" ++ session ++ 0x00 ++ at_ms:u64be ++ seq:u64be
//!                                                                  ->  version:u8 ++ …   value.rs, `SegmentEntry`
//! grips       project ++ 0x00 ++ grip id                           ->  version:u8 ++ …   value.rs
//! ```
//!
//! The log of changed nodes is in `toc_nodes`, too; see `changes.rs`.
//!
//! Node ids begin with `toc:` and so never collide with the keys of sessions. Project names contain no
//! 0x00; writes that violate this are rejected. All of this is a projection, written only by its
//! `commit`, together with its cursor.

mod changes;
mod key;
mod read;
mod value;
mod write;

use tome_model::{Agent, Grip, GripId, Level, Millis, Node, NodeId, SessionId};

pub use changes::NodeChangeEntry;

use crate::OrderKey;

/// The header of a node, for lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeHeader {
    /// The node's id.
    pub id: NodeId,
    /// The latest version.
    pub version: u32,
    /// The latest version made from events alone. A model rewrote the later ones.
    pub base: u32,
    /// Whether the node was removed: its events are in other segments now. Versions stay readable.
    pub removed: bool,
    /// Whether more events may follow.
    pub open: bool,
    /// The title of the latest version.
    pub title: String,
    /// Time of the first event.
    pub first_at: Millis,
    /// Time of the last event.
    pub last_at: Millis,
    /// Number of events.
    pub events: u64,
    /// Estimated tokens of their text.
    pub tokens: u64,
    /// Number of direct children.
    pub children: u64,
    /// Number of sessions.
    pub session_count: u64,
    /// The agents involved.
    pub agents: Vec<Agent>,
    /// Number of sessions whose first segment of a year, month, week and day is in this node. Allows
    /// counting the sessions of coarser periods without duplicates.
    pub firsts: [u64; 4],
}

/// A segment in the index of its session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentEntry {
    /// The segment's node.
    pub id: NodeId,
    /// The first event.
    pub first: OrderKey,
    /// The last event.
    pub last: OrderKey,
    /// Number of events.
    pub events: u64,
    /// Tokens that count towards the size limit of a segment.
    pub weight: u64,
    /// Why the segment began.
    pub began: SegmentStartReason,
    /// Whether its last event ends it, whatever follows.
    pub ended: bool,
    /// The coarsest period in which it is the first segment of its session, and so in all shorter ones.
    pub first_of: Option<Level>,
    /// Except in its week, which began before the month or year that it is the first of.
    pub continues_week: bool,
    /// The last prompt up to its end that says what is wanted, unless another one wanted something else
    /// after it. A segment that begins in the middle of a turn is about the one of the segment before it.
    pub request: Option<OrderKey>,
    /// Its turns, in order.
    pub turns: Vec<TurnEntry>,
}

/// A turn in the index of its session: enough to tell whether a later one changed what it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnEntry {
    /// The first event: the prompt, unless the turn continues one of an earlier segment.
    pub first: OrderKey,
    /// Whether it begins with a prompt.
    pub has_prompt: bool,
    /// Whether its prompt says that something is not as it should be.
    pub objects: bool,
    /// Hashes of the words of its prompt, sorted.
    pub prompt_words: Vec<u32>,
    /// Hashes of the paths of the files that it edited, sorted.
    pub edited_files: Vec<u32>,
}

/// Why a segment began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentStartReason {
    /// Start of the session.
    Session,
    /// A pause.
    Gap,
    /// The previous segment reached its size limit.
    Full,
    /// A new day.
    Midnight,
    /// The previous segment ended: end of a session or compaction.
    Ended,
}

/// A change of one node. If its latest version is not `seen`, the whole commit is rejected.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeWrite {
    /// Root folder of the project.
    pub project: String,
    /// The node's id.
    pub id: NodeId,
    /// The latest version known to the writer; 0 for none.
    pub seen: u32,
    /// A new version, or the removal.
    pub change: NodeChange,
}

/// A change to a node.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeChange {
    /// Writes a version, which becomes the latest.
    Put {
        /// The node; an existing version with the same number is replaced.
        node: Box<Node>,
        /// The latest version made from events alone.
        base: u32,
        /// See [`NodeHeader::firsts`].
        firsts: [u64; 4],
    },
    /// Removes the node. Closed versions stay readable; an open one is deleted.
    Remove,
}

/// A change of one grip.
#[derive(Debug, Clone, PartialEq)]
pub enum GripWrite {
    /// Writes a grip that supports a bullet.
    Put {
        /// Root folder of the project.
        project: String,
        /// The grip.
        grip: Grip,
        /// Whether the bullet's version is closed; then the grip is kept forever.
        closed: bool,
    },
    /// Removes a grip of a replaced open version of `node`, unless something else needs it.
    Drop {
        /// Root folder of the project.
        project: String,
        /// The grip's id.
        id: GripId,
        /// The segment that no longer needs it.
        node: NodeId,
    },
}

/// A change of a session's segment index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SegmentWrite {
    /// Root folder of the project.
    pub project: String,
    /// The session whose index changes.
    pub session: SessionId,
    /// The first event of the segment.
    pub first: OrderKey,
    /// The segment that begins there; `None` removes it.
    pub segment: Option<SegmentEntry>,
}

impl SegmentStartReason {
    const fn code(self) -> u8 {
        match self {
            Self::Session => 0,
            Self::Gap => 1,
            Self::Full => 2,
            Self::Midnight => 3,
            Self::Ended => 4,
        }
    }

    fn from_code(code: u8) -> Option<Self> {
        [Self::Session, Self::Gap, Self::Full, Self::Midnight, Self::Ended]
            .into_iter()
            .find(|began| began.code() == code)
    }
}

impl NodeHeader {
    pub(crate) fn from_node(node: Node, base: u32, firsts: [u64; 4]) -> Self {
        Self {
            id: node.id,
            version: node.version,
            base,
            removed: false,
            open: node.open,
            title: node.title,
            first_at: node.first_at,
            last_at: node.last_at,
            events: node.events,
            tokens: node.tokens,
            children: node.children.len() as u64,
            session_count: node.session_count,
            agents: node.agents,
            firsts,
        }
    }

    /// Whether this is the header of the node.
    pub fn matches_node(&self, node: &Node) -> bool {
        *self
            == Self {
                removed: self.removed,
                ..Self::from_node(node.clone(), self.base, self.firsts)
            }
    }

    /// Whether one of these agents was involved; `true` for an empty list.
    pub fn has_any_agent(&self, agents: &[Agent]) -> bool {
        agents.is_empty() || self.agents.iter().any(|agent| agents.contains(agent))
    }
}
