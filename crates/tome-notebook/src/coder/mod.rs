//! The coder's insights: lessons across projects, kept by the rules of the store guide.
//!
//! Pure code over a tree of texts: paths and what stands there in, changes out. It reads no file, asks no
//! clock and takes any text whatever; the notebook applies the changes.

// The notebook's operations call all of it.

mod ask;
mod combine;
mod entry;
mod guides;
mod limits;
mod lint;
mod page;
mod place;
mod readme;
mod recall;
mod rules;
mod sentence;
mod similar;
mod store;
mod terms;
mod tidy;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub(crate) use guides::{guides, seeds};
pub(crate) use lint::lint;
pub(crate) use readme::{FileHead, head, readmes};
pub(crate) use recall::recall;
pub(crate) use store::store;
pub(crate) use tidy::tidy;

/// Path within the coder's notebook (with `/`) and text, without READMEs.
pub(crate) type Tree = BTreeMap<String, String>;

/// A file to be written, or deleted when there is no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// Within the coder's notebook.
    pub path: String,
    /// What it has to say from now on.
    pub text: Option<String>,
}

/// What leads from one tree to another, in order of paths.
fn changes(from: &Tree, to: &Tree) -> Vec<Change> {
    let gone = from.keys().filter(|path| !to.contains_key(*path));
    let gone = gone.map(|path| Change { path: path.clone(), text: None });
    let new = to.iter().filter(|(path, text)| from.get(*path) != Some(text));
    let new = new.map(|(path, text)| Change { path: path.clone(), text: Some(text.clone()) });
    let mut all: Vec<Change> = gone.chain(new).collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}

/// What an insight is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InsightKind {
    /// A concrete event and what it taught.
    Episodic,
    /// Steps that can be repeated.
    Procedural,
    /// A principle.
    Semantic,
}

impl InsightKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Episodic, Self::Procedural, Self::Semantic];

    /// The name of its folder.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Episodic => "episodic",
            Self::Procedural => "procedural",
            Self::Semantic => "semantic",
        }
    }

    /// Reads it from a tool's argument.
    pub fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// An insight on its way in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InsightDraft {
    /// What it is.
    pub kind: InsightKind,
    /// A short title, one line.
    pub title: String,
    /// One sentence.
    pub description: String,
    /// Three to five sentences.
    pub content: String,
    /// With or without `#`; has to hold success or failure.
    pub tags: Vec<String>,
    /// The topic's folder below the type's, if the caller wants one.
    pub topic: Option<String>,
}

/// What became of an insight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// A new entry.
    Create,
    /// Added, with its date, to a related entry.
    Update,
    /// Made one with an entry that said the same.
    Merge,
}

impl Decision {
    /// As it is reported.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Merge => "MERGE",
        }
    }
}

/// An insight that was stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// What became of it.
    pub decision: Decision,
    /// The title of the entry it is in now.
    pub title: String,
    /// The file it is in now.
    pub path: String,
    /// Why it was decided so, in a sentence.
    pub why: String,
    /// Whether it contradicted what was there, which is kept as the previous approach.
    pub contradicts: bool,
    /// What else to think of, such as generalising several episodes.
    pub hints: Vec<String>,
}

/// A question to the coder's insights.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ask {
    /// In words.
    pub question: Option<String>,
    /// Three to eight.
    pub keywords: Vec<String>,
    /// Where to look; empty to pick by the question.
    pub kinds: Vec<InsightKind>,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recalled {
    /// What was looked for.
    pub keywords: Vec<String>,
    /// Where.
    pub kinds: Vec<InsightKind>,
    /// The best, at most three; empty when nothing is relevant.
    pub insights: Vec<RecalledInsight>,
    /// Files that were read.
    pub files_read: usize,
    /// What to do about it, such as tidying, or asking differently.
    pub hints: Vec<String>,
}

/// One insight of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecalledInsight {
    /// What it is.
    pub kind: InsightKind,
    /// Its title.
    pub title: String,
    /// Its file, and the line on which it begins.
    pub path: String,
    /// From 1.
    pub line: usize,
    /// The entry whole, as it stands in the file.
    pub text: String,
    /// Why it was chosen, in one or two sentences.
    pub why: String,
}

/// Something that breaks the store guide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The file.
    pub path: String,
    /// From 1; 0 for the file as a whole.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub problem: String,
}

/// What tidying did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tidied {
    /// Entries before and after; fewer only by merging the same.
    pub entries_before: usize,
    /// Entries after.
    pub entries_after: usize,
    /// What was done, a sentence each.
    pub steps: Vec<String>,
}
