//! The contents as they are stored: nodes with all their versions, what a line about each says,
//! where each session's segments begin, and grips.
//!
//! ```text
//! toc_nodes   project ++ 0x00 ++ node id ++ 0x00 ++ version:u32be  ->  version:u8 ++ …   value.rs
//! toc_latest  project ++ 0x00 ++ node id                           ->  version:u8 ++ …   value.rs, `Head`
//!             project ++ 0x00 ++ "session:" ++ session ++ 0x00 ++ at_ms:u64be ++ seq:u64be
//!                                                                  ->  version:u8 ++ …   value.rs, `Stretch`
//! grips       project ++ 0x00 ++ grip id                           ->  version:u8 ++ …   value.rs
//! ```
//!
//! and, below `toc_nodes` too, the log of changed nodes, whose layout stands in `changes.rs`.
//!
//! Node ids begin with `toc:` and so never meet the keys of sessions. A project's name holds no
//! 0x00; a write that does not keep to that is refused. Everything here is a projection: it is
//! written by a worker's `commit` only, together with the worker's cursor.

mod changes;
mod key;
mod read;
mod value;
mod write;

use tome_model::{Agent, Grip, GripId, Level, Millis, Node, NodeId, SessionId};

pub use changes::NodeChanged;

use crate::Mark;

/// What a line about a node says, without the node itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The node.
    pub id: NodeId,
    /// Its latest version.
    pub version: u32,
    /// The latest version that was made from events alone. Another one, if it is behind it, says
    /// the same in a model's words.
    pub base: u32,
    /// Whether the node has gone: its events belong to other segments now. Its versions stay.
    pub removed: bool,
    /// Whether more may still come.
    pub open: bool,
    /// What it was about.
    pub title: String,
    /// When the first event happened.
    pub first_at: Millis,
    /// When the last one did.
    pub last_at: Millis,
    /// How many events.
    pub events: u64,
    /// How many tokens their text has, about.
    pub tokens: u64,
    /// How many nodes are right below it.
    pub children: u64,
    /// How many sessions contributed.
    pub session_count: u64,
    /// Who contributed.
    pub agents: Vec<Agent>,
    /// How many sessions have their first segment of a year, month, week and day in it, so that
    /// sessions can be counted in coarser periods without counting one twice.
    pub firsts: [u64; 4],
}

/// A segment, as the index of its session knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stretch {
    /// The segment.
    pub id: NodeId,
    /// Where its first event is.
    pub first: Mark,
    /// Where its last event is.
    pub last: Mark,
    /// How many events it has.
    pub events: u64,
    /// How many tokens they count for when segments are cut.
    pub weight: u64,
    /// Why it began.
    pub began: Began,
    /// Whether its last event ends it, whatever comes.
    pub ended: bool,
    /// The coarsest period in which it is the first segment of its session.
    pub first_of: Option<Level>,
}

/// Why a segment began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Began {
    /// Its session did.
    Session,
    /// Nothing had happened for long.
    Gap,
    /// The one before was full.
    Full,
    /// A new day.
    Midnight,
    /// The one before ended: the end of a session, a compaction.
    Ended,
}

/// A change of one node. The latest version that the writer saw is `seen`, 0 for none; if it is
/// another one by now, nothing of the work is taken.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeWrite {
    /// Whose contents.
    pub project: String,
    /// Which node.
    pub id: NodeId,
    /// The latest version that the writer saw; 0 for none.
    pub seen: u32,
    /// What becomes of it.
    pub change: NodeChange,
}

/// What becomes of a node.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeChange {
    /// This is its latest version now.
    Put {
        /// The node; a version that is there already is replaced.
        node: Box<Node>,
        /// The latest version that was made from events alone.
        base: u32,
        /// As in [`Head`].
        firsts: [u64; 4],
    },
    /// It has gone. Its closed versions stay readable; one that was still open goes with it.
    Remove,
}

/// A change of one grip.
#[derive(Debug, Clone, PartialEq)]
pub enum GripWrite {
    /// It supports a bullet of a version that is now written.
    Put {
        /// Whose contents.
        project: String,
        /// The grip.
        grip: Grip,
        /// Whether that version is closed: then the grip is kept for ever.
        closed: bool,
    },
    /// The open version of `node` that it supported has been replaced. It goes unless something
    /// else needs it.
    Drop {
        /// Whose contents.
        project: String,
        /// The grip.
        id: GripId,
        /// The segment that no longer needs it.
        node: NodeId,
    },
}

/// A change of the index of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StretchWrite {
    /// Whose contents.
    pub project: String,
    /// Whose segments.
    pub session: SessionId,
    /// Where the segment begins.
    pub first: Mark,
    /// The segment that begins there now; none if none does.
    pub stretch: Option<Stretch>,
}

impl Began {
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

impl Stretch {
    /// Whether an event at this place would be one of its events.
    pub fn spans(&self, mark: Mark) -> bool {
        self.first <= mark && mark <= self.last
    }
}

impl Head {
    /// The line about a node.
    pub(crate) fn of(node: Node, base: u32, firsts: [u64; 4]) -> Self {
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

    /// Whether it is the line about this node.
    pub fn agrees_with(&self, node: &Node) -> bool {
        *self == Self { removed: self.removed, ..Self::of(node.clone(), self.base, self.firsts) }
    }

    /// Whether one of these agents contributed; no agents ask for nothing.
    pub fn is_of(&self, agents: &[Agent]) -> bool {
        agents.is_empty() || self.agents.iter().any(|agent| agents.contains(agent))
    }
}
