//! The contents: nodes of a calendar, their bullets, and the grips that support them.

use serde::{Deserialize, Serialize};

use crate::{Agent, EventId, GripId, Millis, NodeId, SessionId};

/// How coarse a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A year.
    Year,
    /// A month.
    Month,
    /// An ISO week.
    Week,
    /// A day.
    Day,
    /// A stretch of one session.
    Segment,
}

/// One node of the contents, at one of its versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its place.
    pub id: NodeId,
    /// From 1. While a node is open its last version is replaced; once it is closed, a change adds one.
    pub version: u32,
    /// Whether more may still come: a segment that nothing has closed, or a period that holds one.
    pub open: bool,
    /// What it was about.
    pub title: String,
    /// What is worth knowing of it: 3 to 5 where there is so much.
    pub bullets: Vec<Bullet>,
    /// 3 to 7 where there are so many; identifiers and file names first.
    pub keywords: Vec<String>,
    /// The nodes below, in order; none below a segment.
    pub children: Vec<NodeId>,
    /// When the first event happened.
    pub first_at: Millis,
    /// When the last one did.
    pub last_at: Millis,
    /// How many events.
    pub events: u64,
    /// How many tokens their text has, about.
    pub tokens: u64,
    /// Who contributed, in order of their names.
    pub agents: Vec<Agent>,
    /// Which sessions contributed, in order; of a long period only the latest.
    pub sessions: Vec<SessionId>,
    /// How many sessions did.
    pub session_count: u64,
    /// The first and the last event, of a segment.
    pub source: Option<(EventId, EventId)>,
    /// Who summarised it: `extractive`, or the name of a model.
    pub summarizer: String,
    /// When this version was made.
    pub made_at: Millis,
}

/// One thing worth knowing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bullet {
    /// In a line.
    pub text: String,
    /// What supports it.
    pub grips: Vec<GripId>,
    /// Set when a model says it and nothing that happened supports it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unsupported: bool,
}

/// A verbatim excerpt that supports a bullet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grip {
    /// Its id.
    pub id: GripId,
    /// The segment it was taken from.
    pub node: NodeId,
    /// At most 200 characters, verbatim, out of one of the events' texts.
    pub excerpt: String,
    /// The hash of the excerpt, in hexadecimal digits.
    pub hash: String,
    /// The events it is taken from: first and last.
    pub first: EventId,
    /// The last; the same as the first where one event says it.
    pub last: EventId,
    /// When it was said.
    pub at: Millis,
    /// Whose words they are: the kind of the event.
    pub kind: crate::EventKind,
}
