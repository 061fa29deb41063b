//! Errors of notebook operations. Each message names the next step.

use std::path::{Path, PathBuf};

use thiserror::Error;

/// A failed operation. Nothing on disk was changed, except after `PartiallyCommitted`.
#[derive(Debug, Error)]
pub enum NotebookError {
    /// The path leads, or tries to lead, out of the notebook.
    #[error("Path escapes memory directory: {0}")]
    PathEscapes(String),
    /// The path is not a valid path of a note.
    #[error("{path:?} cannot be a note: {why}")]
    BadPath {
        /// The path as given.
        path: String,
        /// Why it is invalid, and what to use instead.
        why: String,
    },
    /// The file is built by Tome.
    #[error("{0} is generated from the other files: change those instead")]
    IndexReadOnly(String),
    /// The note, version or folder does not exist.
    #[error("{path} does not exist{}", hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
    NotFound {
        /// The missing note, version or folder.
        path: String,
        /// The next step.
        hint: Option<String>,
    },
    /// A note or folder already exists at the path.
    #[error("{0} already exists")]
    AlreadyExists(String),
    /// The text to replace does not occur in the note.
    #[error("String not found in {path}")]
    TextNotFound {
        /// The note.
        path: String,
        /// Index of the patch.
        patch: usize,
    },
    /// The text to replace occurs more than once in the note.
    #[error(
        "String appears multiple times in {path} (lines {}): provide more context",
        join_line_numbers(lines)
    )]
    TextAmbiguous {
        /// The note.
        path: String,
        /// Index of the patch.
        patch: usize,
        /// The lines on which it begins.
        lines: Vec<usize>,
    },
    /// The note has changed since the caller read it.
    #[error(
        "{path} has changed since it was read (now version {found}, expected {expected}): read it again"
    )]
    VersionConflict {
        /// The note.
        path: String,
        /// The version that the caller had read; empty if it expected no note.
        expected: String,
        /// The current version; `-` if there is no note.
        found: String,
    },
    /// `facts/` would exceed its budget.
    #[error(
        "facts/ would take {bytes} bytes and exceed the {}KB limit. Condense existing facts before adding new content.",
        bytes_max / 1024
    )]
    FactsBudgetExceeded {
        /// The resulting size.
        bytes: u64,
        /// The budget.
        bytes_max: u64,
    },
    /// The configuration does not allow this fact file.
    #[error("Fact file \"{file}\" is not allowed. Only allowed: {}", allowed.join(", "))]
    FactNotAllowed {
        /// Its file name.
        file: String,
        /// The allowed file names.
        allowed: Vec<String>,
    },
    /// An argument is not acceptable.
    #[error("{0}")]
    Invalid(String),
    /// Lessons violate the store guide; one reason per line.
    #[error("{}", .0.join("\n"))]
    GuideViolations(Vec<String>),
    /// The file exists but cannot be read as text.
    #[error("{path} cannot be read: {why}")]
    Unreadable {
        /// The note.
        path: String,
        /// The reason, and the next step.
        why: String,
    },
    /// The disk failed after the change was made: the only error that may leave a change behind.
    #[error("{path} was changed, but then the disk failed ({cause}): read it before trying again")]
    PartiallyCommitted {
        /// The first note of the change.
        path: String,
        /// The underlying error.
        cause: Box<NotebookError>,
    },
    /// A file operation failed.
    #[error("cannot {action} {path}: {cause}", path = path.display())]
    Io {
        /// The attempted action, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        cause: std::io::Error,
    },
}

impl NotebookError {
    pub(crate) fn file_error(
        action: &'static str,
        path: &Path,
    ) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |cause| Self::Io { action, path, cause }
    }

    pub(crate) fn not_found(path: impl Into<String>) -> Self {
        Self::NotFound { path: path.into(), hint: None }
    }
}

fn join_line_numbers(lines: &[usize]) -> String {
    lines.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}
