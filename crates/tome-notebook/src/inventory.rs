//! The notes of a notebook with the metadata that the index shows, derived from each note's text
//! once and kept until the file changes.

use std::collections::BTreeMap;

use tome_model::{Millis, Scope};
use tome_text::{collapse_whitespace, truncate_chars};

use crate::coder::{self, FileHead};
use crate::folder::Stamp;
use crate::history::version_of;
use crate::path::NotePath;
use crate::{Listed, NoteKind, NoteType, frontmatter, index, session, summary, visible};

/// Characters of a name or description shown in a listing; files may hold any length.
const SHOWN_CHARS_MAX: usize = 200;

pub(crate) type Inventory = BTreeMap<NotePath, Entry>;

/// The metadata of one note.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub stamp: Stamp,
    /// Whether the file was old enough when read that any later change shows in its stamp.
    pub settled: bool,
    pub version: String,
    pub kind: NoteKind,
    pub name: String,
    pub summary: String,
    pub note_type: Option<NoteType>,
    pub updated: Option<String>,
    /// Entry titles and descriptions of an insight file, for the READMEs.
    pub head: Option<FileHead>,
    /// The note's line in the index, so that a change renders one line instead of all.
    pub line: String,
}

/// Resolution of file times, two seconds on some file systems: a change within it may not show.
const STAMP_BLUR_MS: u64 = 2_100;

impl Entry {
    /// Derives the metadata of a note. `read_at` is the system time of the read.
    pub fn of(scope: Scope, path: &NotePath, bytes: &[u8], stamp: Stamp, read_at: Millis) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let kind = path.kind(scope);
        let head = match kind {
            NoteKind::Typed | NoteKind::Fact | NoteKind::Episode => frontmatter::read(&text),
            _ => frontmatter::Head::default(),
        };
        let name = head.name.or_else(|| match kind {
            NoteKind::Typed => None,
            _ => session::title(&text),
        });
        let summary = head.description.unwrap_or_else(|| summary_of(kind, path, &text));
        let mut entry = Self {
            settled: read_at.0.saturating_sub(stamp.modified_ms) > STAMP_BLUR_MS,
            stamp,
            version: version_of(bytes),
            kind,
            name: shown(&name.unwrap_or_else(|| visible::escape(path.stem()).into_owned())),
            summary: shown(&summary),
            note_type: head.note_type.as_deref().and_then(NoteType::named),
            updated: head.updated.map(|updated| shown(&updated)),
            head: (scope == Scope::Coder).then(|| coder::head(&text)),
            line: String::new(),
        };
        entry.line = index::line(path, &entry);
        entry
    }

    /// An entry for a file that exists but cannot be read, so that it does not block the listing.
    pub fn unreadable(scope: Scope, path: &NotePath, stamp: Stamp, why: &str) -> Self {
        let mut entry = Self::of(scope, path, b"", stamp, Millis(0));
        entry.version = String::new();
        entry.summary = shown(&format!("cannot be read: {why}"));
        entry.line = index::line(path, &entry);
        entry
    }

    pub fn listed(&self, path: &NotePath) -> Listed {
        Listed {
            path: path.to_string(),
            kind: self.kind,
            name: self.name.clone(),
            summary: self.summary.clone(),
            note_type: self.note_type,
            updated: self.updated.clone(),
            bytes: self.stamp.bytes,
            modified: Millis(self.stamp.modified_ms),
            version: self.version.clone(),
        }
    }
}

fn summary_of(kind: NoteKind, path: &NotePath, text: &str) -> String {
    let made = match kind {
        NoteKind::Typed => {
            summary::of(text).unwrap_or_else(|| visible::escape(path.stem()).into_owned())
        }
        NoteKind::Insight => {
            let head = coder::head(text);
            let titles: Vec<&str> = head.titles.iter().map(|(title, _)| title.as_str()).collect();
            titles.join(", ")
        }
        NoteKind::Guide => session::title(text).unwrap_or_default(),
        NoteKind::Detail => {
            let keywords = session::meta(text).map(|meta| meta.keywords.join(", "));
            keywords.unwrap_or_default()
        }
        _ => summary::of(text).unwrap_or_default(),
    };
    if made.is_empty() { summary::made_from(text) } else { made }
}

/// Reduces a text to one line without control characters, and shortens it.
fn shown(text: &str) -> String {
    let plain = text.replace(char::is_control, " ");
    truncate_chars(&collapse_whitespace(&plain), SHOWN_CHARS_MAX + 1)
}
