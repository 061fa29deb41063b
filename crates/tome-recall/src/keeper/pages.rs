//! Pages: what is found by name and may change: nodes with their grips, and notes.
//!
//! ```text
//! node ␟ <project> ␟ <node id>                                a node, and its grips as further parts
//! grip ␟ <project> ␟ <grip id>                                a grip that was found without an index
//! note ␟ <project> ␟ <path> ␟ <version>                       a note of the project's notebook
//! detail ␟ <project> ␟ <session folder> ␟ <path> ␟ <version>  a detail or the overview of a session
//! insight ␟ <path> ␟ <version>                                a note of the coder's notebook
//! ```
//!
//! A note that changed has another version and so another name: what an index has is compared with
//! what is there by names alone.

use tome_model::{GripId, NodeId};

const SEPARATOR: char = '\u{1f}';

/// A page, by its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Page {
    /// A node of a project's contents.
    Node { project: String, id: NodeId },
    /// A grip, by itself.
    Grip { project: String, id: GripId },
    /// A note of a project's notebook.
    Note { project: String, path: String, version: String },
    /// A file of a session's notebook.
    Detail { project: String, folder: String, path: String, version: String },
    /// A note of the coder's notebook.
    Insight { path: String, version: String },
}

impl Page {
    /// Its name, as an index keeps it.
    pub(crate) fn name(&self) -> String {
        let parts: Vec<&str> = match self {
            Self::Node { project, id } => vec!["node", project, id.as_str()],
            Self::Grip { project, id } => vec!["grip", project, id.as_str()],
            Self::Note { project, path, version } => vec!["note", project, path, version],
            Self::Detail { project, folder, path, version } => {
                vec!["detail", project, folder, path, version]
            }
            Self::Insight { path, version } => vec!["insight", path, version],
        };
        parts.join(&SEPARATOR.to_string())
    }

    /// The page of a name; `None` for one that was not made here.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        let parts: Vec<&str> = name.split(SEPARATOR).collect();
        let owned = |text: &&str| (*text).to_owned();
        Some(match parts.as_slice() {
            ["node", project, id] => {
                Self::Node { project: owned(project), id: NodeId::parse(id).ok()? }
            }
            ["grip", project, id] => {
                Self::Grip { project: owned(project), id: GripId::parse(id).ok()? }
            }
            ["note", project, path, version] => {
                Self::Note { project: owned(project), path: owned(path), version: owned(version) }
            }
            ["detail", project, folder, path, version] => Self::Detail {
                project: owned(project),
                folder: owned(folder),
                path: owned(path),
                version: owned(version),
            },
            ["insight", path, version] => {
                Self::Insight { path: owned(path), version: owned(version) }
            }
            _ => return None,
        })
    }

    /// Whether it is the overview of a session.
    pub(crate) fn is_overview(&self) -> bool {
        matches!(self, Self::Detail { path, .. } if path == "overview.md")
    }

    /// Whether it is a file that people may edit.
    pub(crate) fn is_file(&self) -> bool {
        !matches!(self, Self::Node { .. } | Self::Grip { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        let owned = str::to_owned;
        for page in [
            Page::Node {
                project: owned("/home/dev/app"),
                id: NodeId::parse("toc:day:2026-11-14").unwrap(),
            },
            Page::Note {
                project: owned("/home/dev/app"),
                path: owned("facts/user.md"),
                version: owned("0123456789ab"),
            },
            Page::Detail {
                project: owned("/p"),
                folder: owned("s1"),
                path: owned("detail/a b.md"),
                version: owned("1-2"),
            },
            Page::Insight { path: owned("semantic/x.md"), version: owned("ab") },
        ] {
            assert_eq!(Page::parse(&page.name()), Some(page));
        }
        assert_eq!(Page::parse("note\u{1f}x"), None);
        assert_eq!(Page::parse("else"), None);
    }
}
