//! Entries of an index, the batches that change it, and the hits that it returns.

use std::borrow::Cow;

use tome_model::Millis;

/// The kind of record that an entry is a chunk of. The numbers are stored on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum RecordKind {
    /// An event in the ledger.
    Event = 0,
    /// A node of the contents.
    Node = 1,
    /// A verbatim excerpt that supports a bullet.
    Grip = 2,
    /// A note in a project's notebook.
    Note = 3,
    /// The overview or a detail of a session's notebook.
    Detail = 4,
    /// A lesson in the coder's notebook.
    Lesson = 5,
}

impl RecordKind {
    /// All sources in the order of their numbers.
    pub const ALL: [Self; 6] =
        [Self::Event, Self::Node, Self::Grip, Self::Note, Self::Detail, Self::Lesson];
}

/// Identifies the record that an entry is a chunk of.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKey {
    /// An event, by its sequence number in the outbox.
    Event(u64),
    /// Any other record, by a name that the caller chose.
    Named(String),
}

/// Byte range of a chunk within its record's text; `to` is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct ByteRange {
    /// First byte.
    pub from: u32,
    /// End, exclusive.
    pub to: u32,
}

/// One chunk of a searchable record.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexEntry {
    /// The record.
    pub key: EntryKey,
    /// The chunk within its text.
    pub range: ByteRange,
    /// Kind of record.
    pub source: RecordKind,
    /// Time of the event, or of the record's last change.
    pub at: Millis,
    /// Root folder of the project; empty for the coder's notebook.
    pub project: String,
    /// Empty if there is none.
    pub session: String,
    /// Empty if there is none.
    pub agent: String,
    /// Name of the event kind, or of a lesson's type; empty for other records.
    pub kind: String,
    /// Line in `messages.jsonl` for an event, first line of the chunk for a note; 0 if unknown.
    pub line: u32,
    /// A node's title, or a note's name and heading.
    pub title: String,
    /// The searchable text.
    pub text: String,
    /// Extra search terms.
    pub keywords: String,
}

impl IndexEntry {
    /// The text that is embedded.
    pub fn embedded_text(&self) -> Cow<'_, str> {
        if self.title.is_empty() {
            Cow::Borrowed(&self.text)
        } else {
            Cow::Owned(format!("{}\n{}", self.title, self.text))
        }
    }
}

/// The changes of one commit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IndexBatch {
    /// Named records to delete before the new entries are added.
    pub removed: Vec<String>,
    /// New entries. A named record that already exists must also be listed for deletion.
    pub added: Vec<IndexEntry>,
    /// Position of the index after this batch; opaque to the index and returned by `cursor()`.
    pub cursor: String,
}

/// An entry that matches a query.
#[derive(Debug, Clone, PartialEq)]
pub struct IndexHit {
    /// The record.
    pub key: EntryKey,
    /// The chunk within its text.
    pub range: ByteRange,
    /// Kind of record.
    pub source: RecordKind,
    /// As stored in the entry.
    pub at: Millis,
    /// As stored in the entry.
    pub line: u32,
    /// Comparable only within one result list.
    pub score: f32,
}

/// Metadata of an index, readable without opening it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IndexMeta {
    /// As written with the last batch.
    pub cursor: String,
    /// `None` if it cannot be read without opening the index.
    pub entries: Option<u64>,
    /// Name of the embedder, for a vector index.
    pub embedder: Option<String>,
}
