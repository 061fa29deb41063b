//! The notes of a notebook with the metadata that the index shows, derived from each note's text
//! once and kept until the file changes.

use std::collections::BTreeMap;

use tome_model::{Millis, Scope};
use tome_text::shorten_line;

use crate::file_stamp::FileStamp;
use crate::history::content_version;
use crate::lessons::{self, FileHead};
use crate::path::NotePath;
use crate::{NoteKind, NoteListing, NoteType, frontmatter, invisible, session_notes, summary};

/// Characters of a name or description shown in a listing; files may hold any length.
const DISPLAY_CHARS_MAX: usize = 200;

pub(crate) type Inventory = BTreeMap<NotePath, NoteEntry>;

/// The metadata of one note.
#[derive(Debug, Clone)]
pub(crate) struct NoteEntry {
    pub stamp: FileStamp,
    /// Whether the file was old enough when read that any later change shows in its stamp.
    pub stamp_is_reliable: bool,
    pub version: String,
    pub kind: NoteKind,
    pub name: String,
    pub summary: String,
    pub note_type: Option<NoteType>,
    pub updated: Option<String>,
    /// Entry titles and descriptions of a lesson file, for the READMEs.
    pub head: Option<FileHead>,
    /// The note's line in the index, so that a change renders one line instead of all.
    pub index_line: String,
}

/// Resolution of file times, two seconds on some file systems: a change within it may not show.
const STAMP_RESOLUTION_MS: u64 = 2_100;

impl NoteEntry {
    /// Derives the metadata of a note. `read_at` is the system time of the read.
    pub fn from_bytes(
        scope: Scope,
        path: &NotePath,
        bytes: &[u8],
        stamp: FileStamp,
        read_at: Millis,
    ) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let kind = path.kind(scope);
        let head = match kind {
            NoteKind::Other | NoteKind::Fact | NoteKind::Episode => frontmatter::parse(&text),
            _ => frontmatter::Frontmatter::default(),
        };
        let name = head.name.or_else(|| match kind {
            NoteKind::Other => None,
            _ => session_notes::find_title(&text),
        });
        let summary =
            head.description.unwrap_or_else(|| find_or_generate_summary(kind, path, &text));
        let mut entry = Self {
            stamp_is_reliable: read_at.0.saturating_sub(stamp.modified_ms) > STAMP_RESOLUTION_MS,
            stamp,
            version: content_version(bytes),
            kind,
            name: to_display_line(
                &name.unwrap_or_else(|| invisible::escape(path.stem()).into_owned()),
            ),
            summary: to_display_line(&summary),
            note_type: head.note_type.as_deref().and_then(NoteType::parse),
            updated: head.updated.map(|updated| to_display_line(&updated)),
            head: (scope == Scope::Coder).then(|| lessons::extract_head(&text)),
            index_line: String::new(),
        };
        entry.index_line = render_index_line(path, &entry);
        entry
    }

    /// An entry for a file that exists but cannot be read, so that it does not block the listing.
    pub fn unreadable(scope: Scope, path: &NotePath, stamp: FileStamp, why: &str) -> Self {
        let mut entry = Self::from_bytes(scope, path, b"", stamp, Millis(0));
        entry.version = String::new();
        entry.summary = to_display_line(&format!("cannot be read: {why}"));
        entry.index_line = render_index_line(path, &entry);
        entry
    }

    pub fn to_listing(&self, path: &NotePath) -> NoteListing {
        NoteListing {
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

fn find_or_generate_summary(kind: NoteKind, path: &NotePath, text: &str) -> String {
    let generated = match kind {
        NoteKind::Other => summary::find_summary(text)
            .unwrap_or_else(|| invisible::escape(path.stem()).into_owned()),
        NoteKind::Lesson => {
            let head = lessons::extract_head(text);
            let titles: Vec<&str> = head.titles.iter().map(|(title, _)| title.as_str()).collect();
            titles.join(", ")
        }
        NoteKind::Guide => session_notes::find_title(text).unwrap_or_default(),
        NoteKind::Detail => {
            let keywords = session_notes::parse_meta(text).map(|meta| meta.keywords.join(", "));
            keywords.unwrap_or_default()
        }
        _ => summary::find_summary(text).unwrap_or_default(),
    };
    if generated.is_empty() { summary::generate_summary(text) } else { generated }
}

/// Reduces a text to one line without control characters, and shortens it.
fn to_display_line(text: &str) -> String {
    shorten_line(&text.replace(char::is_control, " "), DISPLAY_CHARS_MAX + 1)
}

/// Renders a note's line in the index.
fn render_index_line(path: &NotePath, entry: &NoteEntry) -> String {
    let shown = path.to_string();
    let (target, size) = (render_link_target(&shown), render_size(entry.stamp.bytes));
    match entry.kind {
        NoteKind::Fact | NoteKind::Episode => {
            format!("- [{path}]({target}) ({size}): {}\n", entry.summary)
        }
        NoteKind::Other => {
            format!("- [{}]({target}) - {}\n", escape_link_label(&entry.name), entry.summary)
        }
        _ => format!("- {path} ({size}): {}\n", entry.summary),
    }
}

fn escape_link_label(name: &str) -> String {
    if name.contains(['[', ']', '\\']) {
        name.replace('\\', "\\\\").replace('[', "\\[").replace(']', "\\]")
    } else {
        name.to_owned()
    }
}

fn render_link_target(path: &str) -> std::borrow::Cow<'_, str> {
    if path.contains([' ', '(', ')', '<', '>']) { format!("<{path}>").into() } else { path.into() }
}

/// Renders a size such as `1.5KB`.
fn render_size(bytes: u64) -> String {
    if bytes < 1000 {
        return format!("{bytes}B");
    }
    let tenths = (bytes * 10 + 512) / 1024;
    if tenths < 10_240 {
        return format!("{}.{}KB", tenths / 10, tenths % 10);
    }
    let tenths = (bytes * 10 + 524_288) / 1_048_576;
    format!("{}.{}MB", tenths / 10, tenths % 10)
}
