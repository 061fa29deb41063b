//! Validates note paths by their text alone, and derives the kind of note from the path.
//!
//! Invalid paths are rejected here before any disk access. What the text cannot show (a symbolic
//! link, a special file) is rejected in `folder.rs`.

use std::fmt;

use tome_model::Scope;

use crate::limits::{CODER_FOLDERS_MAX, FOLDERS_MAX, NAME_BYTES_MAX, PATH_BYTES_MAX};
use crate::{LessonKind, NoteKind, NotebookError, invisible};

/// The index of a project's notebook.
pub(crate) const INDEX: &str = "MEMORY.md";
/// The index of a folder in the coder's notebook.
pub(crate) const README: &str = "README.md";
const EXTENSION: &str = ".md";
/// Names that Windows reserves for devices, with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// The path of a note relative to its notebook, separated by `/`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NotePath(String);

impl NotePath {
    /// Validates a path for reading: it stays inside and is Markdown. Indexes are allowed.
    pub fn parse_for_reading(path: &str) -> Result<Self, NotebookError> {
        let path = &*invisible::unescape(path);
        check_inside_notebook(path)?;
        let parts: Vec<&str> = path.split('/').collect();
        for part in &parts {
            check_component(path, part)?;
        }
        if path.len() > PATH_BYTES_MAX || parts.len() > FOLDERS_MAX + 1 {
            let why = format!("it is too long or more than {FOLDERS_MAX} folders deep");
            return Err(bad_path_error(path, why));
        }
        if stem_of(path).is_none() {
            return Err(bad_path_error(path, not_markdown_reason(&parts)));
        }
        Ok(Self(path.to_owned()))
    }

    /// Validates a path for writing: not an index, and in a location that this scope allows.
    pub fn parse_for_writing(scope: Scope, path: &str) -> Result<Self, NotebookError> {
        let path = Self::parse_for_reading(path)?;
        if path.is_index() {
            return Err(NotebookError::IndexReadOnly(path.0));
        }
        if let Some(why) = path.misplacement_reason(scope) {
            return Err(bad_path_error(&path.0, why));
        }
        check_visible(&path.0)?;
        if path.0.contains(['<', '>', ':', '"', '|', '?', '*']) {
            return Err(bad_path_error(
                &path.0,
                "some systems do not allow < > : \" | ? * in file names",
            ));
        }
        Ok(path)
    }

    /// Validates the path of a folder.
    pub fn parse_folder(path: &str) -> Result<String, NotebookError> {
        let path = path.trim_end_matches('/');
        check_inside_notebook(path)?;
        for part in path.split('/') {
            check_component(path, part)?;
        }
        check_visible(path)?;
        Ok(path.to_owned())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The file name without `.md`.
    pub fn stem(&self) -> &str {
        stem_of(&self.0).unwrap_or(&self.0)
    }

    /// The folders above it, topmost first.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        let above = self.0.rsplit_once('/').map(|(above, _)| above);
        above.into_iter().flat_map(|above| above.split('/'))
    }

    /// Whether Tome builds this file from the others. Ignores case, as some file systems do.
    pub fn is_index(&self) -> bool {
        self.file_name().eq_ignore_ascii_case(README) || self.0.eq_ignore_ascii_case(INDEX)
    }

    pub fn kind(&self, scope: Scope) -> NoteKind {
        let first = self.folders().next();
        match (scope, first) {
            (Scope::Session, None) => NoteKind::Overview,
            (Scope::Session, Some(_)) => NoteKind::Detail,
            (Scope::Coder, None) => NoteKind::Guide,
            (Scope::Coder, Some(_)) => NoteKind::Lesson,
            (Scope::Project, Some("facts")) => NoteKind::Fact,
            (Scope::Project, Some("episodes")) => NoteKind::Episode,
            (Scope::Project, _) => NoteKind::Other,
        }
    }

    /// Why a path is not allowed in this scope; `None` if it is.
    fn misplacement_reason(&self, scope: Scope) -> Option<String> {
        let folders: Vec<&str> = self.folders().collect();
        match scope {
            Scope::Project => None,
            Scope::Session if self.0 == "overview.md" => None,
            Scope::Session if folders.first() == Some(&"detail") => None,
            Scope::Session => Some(format!(
                "a session has only overview.md and detail/: use detail/{}",
                self.file_name()
            )),
            Scope::Coder if folders.is_empty() && self.0.ends_with("-guide.md") => None,
            Scope::Coder if folders.first().is_none_or(|top| LessonKind::parse(top).is_none()) => {
                Some("the coder's notes are in episodic/, procedural/ and semantic/".to_owned())
            }
            Scope::Coder if folders.len() > CODER_FOLDERS_MAX => {
                Some("lessons are at most two folders deep: a type and one topic".to_owned())
            }
            Scope::Coder => None,
        }
    }
}

/// Paths order like their text, so the notes of a folder are adjacent.
impl std::borrow::Borrow<str> for NotePath {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// Writes invisible characters as escapes.
impl fmt::Display for NotePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&invisible::escape(&self.0))
    }
}

/// Rejects paths that lead, or try to lead, out of the notebook.
fn check_inside_notebook(path: &str) -> Result<(), NotebookError> {
    let lower = path.to_ascii_lowercase();
    let encoded = ["%2e", "%2f", "%5c", "%00"].iter().any(|code| lower.contains(code));
    let drive = matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic());
    let climbs = path.split(['/', '\\']).any(|part| part.trim() == "..");
    if path.starts_with(['/', '\\', '~']) || encoded || drive || climbs || path.contains('\0') {
        return Err(NotebookError::PathEscapes(clip_for_message(path)));
    }
    Ok(())
}

/// Rejects names with invisible characters, which may look like other names.
fn check_visible(path: &str) -> Result<(), NotebookError> {
    if path.contains(invisible::is_hidden) {
        let why = "it contains an invisible or bidirectional control character: remove it";
        return Err(bad_path_error(path, why));
    }
    Ok(())
}

fn check_component(path: &str, part: &str) -> Result<(), NotebookError> {
    let device = part.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
    let numbered = ["com", "lpt"].iter().any(|port| {
        device.strip_prefix(port).is_some_and(|rest| {
            rest.chars().count() == 1 && rest.chars().all(|c| "0123456789¹²³".contains(c))
        })
    });
    let why = if part.is_empty() {
        "it has an empty component"
    } else if part.starts_with('.') {
        "names that begin with a dot are hidden; remove the dot"
    } else if part.contains('\\') || part.chars().any(char::is_control) {
        "it contains a backslash or a control character"
    } else if part.trim() != part || part.ends_with('.') {
        "a name cannot begin or end with a space, or end with a dot"
    } else if part.len() > NAME_BYTES_MAX {
        "its name is too long: at most 200 bytes"
    } else if DEVICES.contains(&device.as_str()) || numbered {
        "some systems reserve this name for a device"
    } else {
        return Ok(());
    };
    Err(bad_path_error(path, why))
}

/// The file name without `.md`; `None` if it is not Markdown.
fn stem_of(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(EXTENSION).filter(|stem| !stem.is_empty())
}

fn not_markdown_reason(parts: &[&str]) -> String {
    let name = parts.last().copied().unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    format!("notes are Markdown files: use {}.md", tome_model::truncate_to(stem, 80))
}

fn bad_path_error(path: &str, why: impl Into<String>) -> NotebookError {
    NotebookError::BadPath { path: clip_for_message(path), why: why.into() }
}

/// Clips and escapes a path for an error message.
fn clip_for_message(path: &str) -> String {
    invisible::escape(&tome_text::truncate_bytes(path, 200)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_outside_the_notebook_and_other_files_are_rejected() {
        for path in [
            "../x.md",
            "a/../../x.md",
            "/etc/x.md",
            "~/x.md",
            "C:x.md",
            "a\\..\\x.md",
            "a/..",
            "%2e%2e/x.md",
            "a\0.md",
            "..",
            "a/ .. /x.md",
        ] {
            assert!(
                matches!(NotePath::parse_for_reading(path), Err(NotebookError::PathEscapes(_))),
                "{path:?}"
            );
        }
        let long = format!("{}.md", "n".repeat(300));
        for path in [
            "",
            ".md",
            ".hidden.md",
            "a/.git/x.md",
            "x.txt",
            "x",
            "a//x.md",
            "a/",
            "con.md",
            "NUL.md",
            "com1.md",
            "facts/aux.x.md",
            "a .md ",
            "a\nb.md",
            "./x.md",
            "x.MD",
            "a/b/c/d/e/f.md",
            &long,
        ] {
            assert!(NotePath::parse_for_reading(path).is_err(), "{path:?}");
        }
        for path in
            ["x.md", "facts/user.md", "日本語.md", "a b.md", "a.b.md", "facts/memory.md", "why?.md"]
        {
            assert!(NotePath::parse_for_reading(path).is_ok(), "{path:?}");
        }
    }

    #[test]
    fn an_index_can_be_read_and_not_written() {
        for path in ["MEMORY.md", "memory.md", "README.md", "semantic/ReadMe.md"] {
            assert!(NotePath::parse_for_reading(path).is_ok());
            let refused = NotePath::parse_for_writing(Scope::Project, path);
            assert!(matches!(refused, Err(NotebookError::IndexReadOnly(_))), "{path:?}");
        }
        assert!(NotePath::parse_for_writing(Scope::Project, "facts/memory.md").is_ok());
    }

    #[test]
    fn each_scope_allows_its_own_folders() {
        let fits = |scope, path| NotePath::parse_for_writing(scope, path).is_ok();
        assert!(fits(Scope::Session, "overview.md") && fits(Scope::Session, "detail/auth.md"));
        assert!(!fits(Scope::Session, "auth.md"));
        assert!(
            fits(Scope::Coder, "semantic/errors/errors.md")
                && fits(Scope::Coder, "memory-store-guide.md")
        );
        assert!(!fits(Scope::Coder, "semantic/a/b/c.md") && !fits(Scope::Coder, "notes/x.md"));
    }
}
