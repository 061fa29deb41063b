//! The notebook's words as plain types.

use tome_model::Millis;

/// What a note is, by where it lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteKind {
    /// In a project's notebook, outside of `facts/` and `episodes/`.
    Typed,
    /// `facts/*.md`
    Fact,
    /// `episodes/*.md`
    Episode,
    /// `episodic/`, `procedural/`, `semantic/` of the coder's notebook.
    Insight,
    /// The coder's two guides.
    Guide,
    /// `overview.md` of a session.
    Overview,
    /// `detail/*.md` of a session.
    Detail,
}

impl NoteKind {
    /// In lower case, as it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Typed => "typed",
            Self::Fact => "fact",
            Self::Episode => "episode",
            Self::Insight => "insight",
            Self::Guide => "guide",
            Self::Overview => "overview",
            Self::Detail => "detail",
        }
    }
}

/// What a typed note is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteType {
    /// The person: role, preferences, knowledge.
    User,
    /// Corrections and confirmed approaches.
    Feedback,
    /// Ongoing work, decisions, deadlines.
    Project,
    /// Where to look outside.
    Reference,
}

impl NoteType {
    /// All of them, in the order of the index.
    pub const ALL: [Self; 4] = [Self::User, Self::Feedback, Self::Project, Self::Reference];

    /// As it stands in the frontmatter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Feedback => "feedback",
            Self::Project => "project",
            Self::Reference => "reference",
        }
    }

    /// Reads it from the frontmatter or a tool's argument.
    pub fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// The frontmatter that a typed note is written with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// What it is called.
    pub name: String,
    /// What it says, in a line.
    pub description: String,
    /// What it is about.
    pub note_type: NoteType,
}

/// One replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    /// What has to be there exactly once.
    pub old: String,
    /// What comes in its place, literally.
    pub new: String,
}

/// Who did something, and with which tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// Who.
    pub who: Who,
    /// The tool or command: `memory_patch`, `tome memory edit`.
    pub tool: String,
}

/// Who changed a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Who {
    /// A coding agent, in a session where that is known.
    Agent {
        /// Its name.
        agent: String,
        /// Its session.
        session: Option<String>,
    },
    /// A person, at the command line.
    Person,
    /// Somebody with an editor, git, another program: Tome found the change on disk.
    Outside,
}

/// One note of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Within the notebook, with `/`.
    pub path: String,
    /// What it is.
    pub kind: NoteKind,
    /// The name in its frontmatter, else its first heading, else its file's stem.
    pub name: String,
    /// The description in its frontmatter, its `> Summary:` line, else one made from its entries.
    pub summary: String,
    /// The type in its frontmatter, if it has one that is known.
    pub note_type: Option<NoteType>,
    /// `updated` in its frontmatter.
    pub updated: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// When the file was last changed.
    pub modified: Millis,
    /// Its present version.
    pub version: String,
}

/// A note as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Within the notebook.
    pub path: String,
    /// All of it.
    pub text: String,
    /// What it says, as 12 hexadecimal digits of a hash; equal content has equal versions.
    pub version: String,
}

/// A change that was made. It has been synced to disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Within the notebook.
    pub path: String,
    /// Its size now; 0 when it was deleted.
    pub bytes: u64,
    /// Its version now; `-` when it was deleted.
    pub version: String,
    /// How many patches were applied.
    pub applied: usize,
}

/// What an index says within a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// The text; says itself what was left out.
    pub text: String,
    /// Entries left out.
    pub left_out: usize,
}

/// What was done to a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// It was not there before.
    Created,
    /// It was there with other content.
    Changed,
    /// It is gone.
    Deleted,
}

impl Op {
    /// In lower case, as it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
        }
    }
}

/// One line of a notebook's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its number in the history of this notebook, from 1.
    pub number: u64,
    /// When.
    pub at: Millis,
    /// The note.
    pub path: String,
    /// What was done.
    pub op: Op,
    /// By whom, with what.
    pub by: Author,
    /// The content from then on; `-` when it was deleted.
    pub version: String,
    /// The note's size from then on.
    pub bytes: u64,
    /// Lines added and removed.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
}

/// What a notebook's owner may set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// What all of `facts/` may take.
    pub facts_bytes_max: u64,
    /// The only file names allowed in `facts/`; none for any.
    pub facts_allowed: Option<Vec<String>>,
}

impl Default for Rules {
    fn default() -> Self {
        Self { facts_bytes_max: crate::limits::FACTS_BYTES_MAX, facts_allowed: None }
    }
}
