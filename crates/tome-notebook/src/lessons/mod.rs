//! Lessons that hold in any project, stored by the rules of the store guide.
//!
//! Pure functions over a tree of texts: files in, changes out. No I/O and no clock; any text is
//! accepted. The notebook applies the changes.

mod combine;
mod entry;
mod guides;
mod lesson_file;
mod limits;
mod lint;
mod placement;
mod readme;
mod rules;
mod sections;
mod sentence;
mod similarity;
mod store;
mod terms;
mod tidy;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub(crate) use guides::{guides, initial_files};
pub(crate) use lint::lint;
pub(crate) use readme::{FileHead, extract_head, render_readmes};
pub use sections::{LessonSection, is_same_lesson, split_lessons};
pub(crate) use store::store_lessons;
pub(crate) use tidy::tidy_lessons;

/// The files of the coder's notebook by path, without READMEs.
pub(crate) type LessonTree = BTreeMap<String, String>;

/// A file to write, or to delete if `text` is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LessonFileChange {
    pub path: String,
    pub text: Option<String>,
}

/// Computes the changes that turn one tree into another, in path order.
fn diff_trees(from: &LessonTree, to: &LessonTree) -> Vec<LessonFileChange> {
    let gone = from.keys().filter(|path| !to.contains_key(*path));
    let gone = gone.map(|path| LessonFileChange { path: path.clone(), text: None });
    let new = to.iter().filter(|(path, text)| from.get(*path) != Some(text));
    let new =
        new.map(|(path, text)| LessonFileChange { path: path.clone(), text: Some(text.clone()) });
    let mut all: Vec<LessonFileChange> = gone.chain(new).collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}

/// The type of a lesson.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LessonKind {
    /// A concrete event and its lesson.
    Episodic,
    /// Repeatable steps.
    Procedural,
    /// A general principle.
    Semantic,
}

impl LessonKind {
    /// All types.
    pub const ALL: [Self; 3] = [Self::Episodic, Self::Procedural, Self::Semantic];

    /// The name of its folder and tag.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Episodic => "episodic",
            Self::Procedural => "procedural",
            Self::Semantic => "semantic",
        }
    }

    /// The type of the lessons in a file; `None` for guides and other notes.
    pub fn from_path(path: &str) -> Option<Self> {
        Self::parse(path.split_once('/')?.0)
    }

    /// Parses a folder name or tool argument.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A lesson to be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LessonDraft {
    /// Type.
    pub kind: LessonKind,
    /// One-line title.
    pub title: String,
    /// One sentence.
    pub description: String,
    /// Three to five sentences.
    pub content: String,
    /// With or without `#`; must include success or failure.
    pub tags: Vec<String>,
    /// Name of a topic folder below the type's, if the caller wants one.
    pub topic: Option<String>,
}

/// How a lesson was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreDecision {
    /// A new entry.
    Create,
    /// Added with its date to a related entry, or put in place of one it contradicts.
    Update,
    /// Merged with an equal entry.
    Merge,
}

impl StoreDecision {
    /// Upper-case name, for display.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Merge => "MERGE",
        }
    }
}

/// The result of storing one lesson.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredLesson {
    /// How it was stored.
    pub decision: StoreDecision,
    /// Title of the entry that holds it.
    pub title: String,
    /// File that holds it.
    pub path: String,
    /// Reason for the decision, in one sentence.
    pub why: String,
    /// Whether it contradicted the entry, whose old text is kept as the previous approach.
    pub contradicts: bool,
    /// Suggestions, such as generalizing several episodes.
    pub hints: Vec<String>,
}

/// A violation of the store guide.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LintFinding {
    /// File.
    pub path: String,
    /// Line, from 1; 0 for the whole file.
    pub line: usize,
    /// The problem and its fix.
    pub problem: String,
}

/// The result of tidying.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TidyReport {
    /// Number of entries before. Only merging reduces it.
    pub entries_before: usize,
    /// Number of entries after.
    pub entries_after: usize,
    /// Actions taken, one sentence each.
    pub steps: Vec<String>,
}
