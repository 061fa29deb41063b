//! The crate's public data types.

use tome_model::Millis;

/// The kind of a note, derived from its path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteKind {
    /// A project's note outside `facts/` and `episodes/`.
    Other,
    /// `facts/*.md`
    Fact,
    /// `episodes/*.md`
    Episode,
    /// A file below `episodic/`, `procedural/` or `semantic/` in the coder's notebook.
    Lesson,
    /// One of the coder's two guides.
    Guide,
    /// `overview.md` of a session.
    Overview,
    /// `detail/*.md` of a session.
    Detail,
}

impl NoteKind {
    /// Lower-case name.
    pub fn as_str(self) -> &'static str {
        match self {
            // Kept on the wire and in JSON.
            Self::Other => "typed",
            Self::Fact => "fact",
            Self::Episode => "episode",
            Self::Lesson => "insight",
            Self::Guide => "guide",
            Self::Overview => "overview",
            Self::Detail => "detail",
        }
    }
}

/// The subject of a typed note.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteType {
    /// The user: role, preferences, knowledge.
    User,
    /// Corrections and confirmed approaches.
    Feedback,
    /// Ongoing work, decisions, deadlines.
    Project,
    /// Pointers to external resources.
    Reference,
}

impl NoteType {
    /// All types, in index order.
    pub const ALL: [Self; 4] = [Self::User, Self::Feedback, Self::Project, Self::Reference];

    /// The value in the frontmatter.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Feedback => "feedback",
            Self::Project => "project",
            Self::Reference => "reference",
        }
    }

    /// Parses the value of a frontmatter key or a tool argument.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Frontmatter fields of a typed note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteHeader {
    /// Display name.
    pub name: String,
    /// One-line description.
    pub description: String,
    /// Subject.
    pub note_type: NoteType,
}

/// One literal replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPatch {
    /// Text that must occur exactly once.
    pub old: String,
    /// Literal replacement.
    pub new: String,
}

/// The author of a change and the tool it was made with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    /// A coding agent, a person, or another program.
    pub who: Actor,
    /// Tool or command, e.g. `memory_patch` or `tome memory edit`.
    pub tool: String,
}

/// The author of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Actor {
    /// A coding agent.
    Agent {
        /// Agent name.
        agent: String,
        /// Session id, if known.
        session: Option<String>,
    },
    /// A person at the command line.
    Person,
    /// An editor, git or another program: Tome found the change on disk.
    Outside,
}

/// One note in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteListing {
    /// Path relative to the notebook.
    pub path: String,
    /// Kind, derived from the path.
    pub kind: NoteKind,
    /// Name from the frontmatter, else the first heading, else the file stem.
    pub name: String,
    /// Description from the frontmatter, else the `> Summary:` line, else a generated summary.
    pub summary: String,
    /// Type from the frontmatter, if it is a known one.
    pub note_type: Option<NoteType>,
    /// `updated` from the frontmatter.
    pub updated: Option<String>,
    /// File size.
    pub bytes: u64,
    /// Modification time of the file.
    pub modified: Millis,
    /// Current version.
    pub version: String,
}

/// The text of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// Path relative to the notebook.
    pub path: String,
    /// Full text.
    pub text: String,
    /// Hash of the content, 12 hexadecimal digits.
    pub version: String,
}

/// The result of a change, which has been synced to disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenNote {
    /// Path relative to the notebook.
    pub path: String,
    /// Resulting size; 0 if deleted.
    pub bytes: u64,
    /// Resulting version; `-` if deleted.
    pub version: String,
    /// Number of patches applied.
    pub applied: usize,
}

/// An index cut to a budget.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexExcerpt {
    /// The text, including a notice about omitted entries.
    pub text: String,
    /// Number of omitted entries.
    pub omitted: usize,
}

/// The effect of a change on a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteOp {
    /// It did not exist before.
    Created,
    /// Its content was replaced.
    Changed,
    /// It was deleted.
    Deleted,
}

impl NoteOp {
    /// Lower-case name, for display.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Changed => "changed",
            Self::Deleted => "deleted",
        }
    }
}

/// One entry of a notebook's history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteVersion {
    /// Sequence number within the notebook, from 1.
    pub number: u64,
    /// Time of the change.
    pub at: Millis,
    /// Path of the note.
    pub path: String,
    /// Kind of change.
    pub op: NoteOp,
    /// Author and tool.
    pub by: Author,
    /// Version after the change; `-` if deleted.
    pub version: String,
    /// Size after the change.
    pub bytes: u64,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
}

/// Configurable limits of a notebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotebookRules {
    /// Total size limit of `facts/`.
    pub facts_bytes_max: u64,
    /// The only file names allowed in `facts/`; `None` allows any.
    pub facts_allowed: Option<Vec<String>>,
}

impl Default for NotebookRules {
    fn default() -> Self {
        Self { facts_bytes_max: crate::limits::FACTS_BYTES_MAX, facts_allowed: None }
    }
}
