//! Markdown notebooks on a plain folder. The files are the source of truth, no matter who edits
//! them; the index always equals a rebuild, and the history keeps every version of every note.
//!
//! This crate has no dependency on the daemon, sockets, the ledger or tool arguments.

mod built_files;
mod coder_notebook;
mod commit;
mod edit;
mod error;
mod file_stamp;
mod folder;
mod frontmatter;
mod history;
mod index;
mod inventory;
mod invisible;
mod lessons;
pub mod limits;
mod lines;
mod markdown_line;
mod moves;
mod notebook;
mod notes;
mod path;
mod prepare_hook;
mod session_notes;
mod state;
mod summary;
mod title;
mod types;
mod versions;
mod watch;

pub use error::NotebookError;
pub use folder::move_if_free;
pub use history::{HeldVersions, check_history};
pub use lessons::{
    LessonDraft, LessonKind, LessonSection, LintFinding, StoreDecision, StoredLesson, TidyReport,
    is_same_lesson, split_lessons,
};
pub use notebook::Notebook;
pub use session_notes::OVERVIEW_TEMPLATE;
pub use types::{
    Actor, Author, IndexExcerpt, Note, NoteHeader, NoteKind, NoteListing, NoteOp, NoteType,
    NoteVersion, NotebookRules, TextPatch, WrittenNote,
};
pub use watch::{FolderChanges, FolderWatch};

pub(crate) type Result<T> = std::result::Result<T, NotebookError>;
