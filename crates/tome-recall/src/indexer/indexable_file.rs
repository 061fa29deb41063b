//! A file that indexes hold, and the stamp of its state.

use std::fs;
use std::time::UNIX_EPOCH;

use tome_finder::{RecordKind, RecordMeta};
use tome_model::Millis;
use tome_notebook::LessonKind;

use super::pages::PageKey;

/// Longer files are not read.
pub(super) const FILE_BYTES_MAX: u64 = 4 << 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IndexableFile {
    pub page: PageKey,
    /// Display name.
    pub name: String,
    pub modified: Millis,
}

impl IndexableFile {
    /// Identifies a state of the file by page and modification time. Content alone is not enough,
    /// because a file may return to earlier content, and hits show the time.
    pub(crate) fn stamp(&self) -> String {
        stamp(&self.page.name(), self.modified)
    }

    pub(crate) fn source(&self) -> RecordKind {
        match self.page {
            PageKey::Detail { .. } => RecordKind::Detail,
            PageKey::Lesson { .. } => RecordKind::Lesson,
            PageKey::Node { .. } | PageKey::Grip { .. } | PageKey::Note { .. } => RecordKind::Note,
        }
    }

    /// The properties that a filter tests. The session is the name of its folder.
    pub(crate) fn meta(&self) -> RecordMeta<'_> {
        let (project, session) = match &self.page {
            PageKey::Detail { project, folder, .. } => (project.as_str(), folder.as_str()),
            PageKey::Note { project, .. } => (project.as_str(), ""),
            PageKey::Node { .. } | PageKey::Grip { .. } | PageKey::Lesson { .. } => ("", ""),
        };
        let kind = match &self.page {
            PageKey::Lesson { path, .. } => LessonKind::from_path(path),
            _ => None,
        };
        let (source, at, kind) =
            (self.source(), self.modified, kind.map_or("", LessonKind::as_str));
        RecordMeta { source, at, project, session, agents: &[], kind }
    }
}

pub(super) fn stamp(name: &str, modified: Millis) -> String {
    format!("{name} {}", modified.0)
}

pub(super) fn page_name_of_stamp(stamp: &str) -> &str {
    stamp.rsplit_once(' ').map_or(stamp, |(name, _)| name)
}

pub(super) fn modified_at(meta: &fs::Metadata) -> Millis {
    Millis(u64::try_from(modified_nanos(meta) / 1_000_000).unwrap_or(0))
}

pub(super) fn modified_nanos(meta: &fs::Metadata) -> u128 {
    let since = meta.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_nanos())
}
