//! What is put into an index, and what comes out of it.

use tome_model::Millis;

/// What an entry is a piece of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Source {
    /// An event of the ledger.
    Event = 0,
    /// A node of the contents.
    Node = 1,
    /// A grip: a verbatim excerpt that supports a bullet.
    Grip = 2,
    /// A note of a project's notebook.
    Note = 3,
    /// A detail, or the overview, of a session's notebook.
    Detail = 4,
    /// An insight of the coder's notebook.
    Insight = 5,
}

impl Source {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Event, Self::Node, Self::Grip, Self::Note, Self::Detail, Self::Insight];
}

/// Which thing an entry is a piece of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// An event, by its place in the order of arrival.
    Event(u64),
    /// Anything else, by a name that its owner understands.
    Named(String),
}

/// Which piece of the thing's text an entry is: bytes of it, from and to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Part {
    /// The first byte.
    pub from: u32,
    /// The byte after the last.
    pub to: u32,
}

/// One piece of something that can be found.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// What it is a piece of.
    pub key: Key,
    /// Which piece.
    pub part: Part,
    /// What kind of thing that is.
    pub source: Source,
    /// When it happened, or was last changed.
    pub at: Millis,
    /// The root of its project; empty for the coder's.
    pub project: String,
    /// Its session; empty where there is none.
    pub session: String,
    /// Its agent; empty where there is none.
    pub agent: String,
    /// The kind of event (the name); empty for other things.
    pub kind: String,
    /// For an event its line in `messages.jsonl`; for a note the line at which the piece begins. 0: not known.
    pub line: u32,
    /// What it is called: a node's title, a note's name and heading.
    pub title: String,
    /// What it says.
    pub text: String,
    /// Words that it is known by.
    pub keywords: String,
}

/// What one commit changes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Batch {
    /// Everything that the index has of these named things goes (before `put` is put in).
    pub gone: Vec<String>,
    /// What is new. A named thing that was there before must be in `gone` too.
    pub put: Vec<Entry>,
    /// How far the index has come after this: its keeper's text, read back with `cursor()`.
    pub cursor: String,
}

/// An entry that matches, the best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// What it is a piece of.
    pub key: Key,
    /// Which piece.
    pub part: Part,
    /// What kind of thing that is.
    pub source: Source,
    /// When it happened.
    pub at: Millis,
    /// Its line, as it was given.
    pub line: u32,
    /// How well it matches; comparable within one answer only.
    pub score: f32,
}

/// What an index on disk says of itself without being opened.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Glance {
    /// How far it has come, as its keeper wrote it.
    pub cursor: String,
    /// How many entries it has, where that can be told.
    pub entries: Option<u64>,
    /// What made its vectors, for an index of vectors.
    pub embedder: Option<String>,
}
