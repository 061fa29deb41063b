//! What can go wrong with a note. Each says what to do; after all but one nothing was changed.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// A failure that the caller can act on. Nothing on disk was changed, except after `Unsure`.
#[derive(Debug, Error)]
pub enum NotebookError {
    /// A path that could lead, or does lead, out of the notebook.
    #[error("Path escapes memory directory: {0}")]
    Escapes(String),
    /// A path that no note can have.
    #[error("{path:?} cannot be a note: {why}")]
    BadPath {
        /// As it was given.
        path: String,
        /// Why not, and what to use instead.
        why: String,
    },
    /// A file that Tome builds itself.
    #[error("{0} is built by Tome from the other files: change those instead")]
    Reserved(String),
    /// There is no such note, version or folder.
    #[error("{path} is not there{}", hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
    NotFound {
        /// What was asked for.
        path: String,
        /// What to do.
        hint: Option<String>,
    },
    /// A note that should not be there yet.
    #[error("{0} already exists")]
    Exists(String),
    /// The text to be replaced is not in the note.
    #[error("String not found in {path}")]
    TextNotFound {
        /// The note.
        path: String,
        /// Which of the patches, from 0.
        patch: usize,
    },
    /// The text to be replaced is in the note more than once.
    #[error(
        "String appears multiple times in {path} (lines {}): provide more context",
        said(lines)
    )]
    TextFoundTwice {
        /// The note.
        path: String,
        /// Which of the patches, from 0.
        patch: usize,
        /// The lines on which it begins.
        lines: Vec<usize>,
    },
    /// The note was changed since it was read.
    #[error(
        "{path} was changed since it was read (it is version {found} now, not {expected}): read it again"
    )]
    Changed {
        /// The note.
        path: String,
        /// The version the caller had read; empty when it expected no note there.
        expected: String,
        /// The version it is now; `-` when there is none.
        found: String,
    },
    /// `facts/` would grow too large.
    #[error(
        "facts/ would take {bytes} bytes and exceed the {}KB limit. Condense existing facts before adding new content.",
        bytes_max / 1024
    )]
    FactsBudget {
        /// What it would take.
        bytes: u64,
        /// What it may take.
        bytes_max: u64,
    },
    /// A fact file that the configuration does not allow.
    #[error("Fact file \"{file}\" is not allowed. Only allowed: {}", allowed.join(", "))]
    FactNotAllowed {
        /// Its name.
        file: String,
        /// The names that are.
        allowed: Vec<String>,
    },
    /// Content, entry, name or the like cannot be taken.
    #[error("{0}")]
    Invalid(String),
    /// Insights that break the store guide; one reason a line.
    #[error("{}", .0.join("\n"))]
    BreaksGuide(Vec<String>),
    /// The file is there but cannot be read as text.
    #[error("{path} cannot be read: {why}")]
    Unreadable {
        /// The note.
        path: String,
        /// Why, and what to do.
        why: String,
    },
    /// The change was made, and then the disk failed: the one failure after which something is
    /// changed.
    #[error("{path} was changed, but then the disk failed ({cause}): read it before you try again")]
    Unsure {
        /// The first note that was to change.
        path: String,
        /// What failed.
        cause: Box<NotebookError>,
    },
    /// The disk said no.
    #[error("cannot {action} {path}: {cause}", path = path.display())]
    File {
        /// What was being done.
        action: &'static str,
        /// To what.
        path: PathBuf,
        /// Why not.
        cause: std::io::Error,
    },
}

impl NotebookError {
    pub(crate) fn file(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::File { action, path, cause }
    }

    pub(crate) fn missing(path: impl Into<String>) -> Self {
        Self::NotFound { path: path.into(), hint: None }
    }
}

fn said(lines: &[usize]) -> String {
    lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
