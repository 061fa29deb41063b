//! Pages: indexed records that have a name and may change, that is, nodes with their sources, and
//! notes.
//!
//! ```text
//! node ␟ <project> ␟ <node id>                                a node, and its sources as further parts
//! grip ␟ <project> ␟ <grip id>                                a source that was found without an index
//! note ␟ <project> ␟ <path> ␟ <version>                       a note of the project's notebook
//! detail ␟ <project> ␟ <session folder> ␟ <path> ␟ <version>  a detail or the overview of a session
//! lesson ␟ <path> ␟ <version>                                 a note of the coder's notebook; a part per lesson
//! ```
//!
//! A changed note has another version and thus another name, so comparing an index with the disk
//! only needs names. Names of another form, such as those of older programs, are removed from an
//! index when it is updated.

use tome_model::{GripId, NodeId};

const SEPARATOR: char = '\u{1f}';

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum PageKey {
    Node {
        project: String,
        id: NodeId,
    },
    /// A source by itself.
    Grip {
        project: String,
        id: GripId,
    },
    Note {
        project: String,
        path: String,
        version: String,
    },
    /// A file of a session's notebook.
    Detail {
        project: String,
        folder: String,
        path: String,
        version: String,
    },
    Lesson {
        path: String,
        version: String,
    },
}

impl PageKey {
    /// Its name in an index.
    pub(crate) fn name(&self) -> String {
        let parts: Vec<&str> = match self {
            Self::Node { project, id } => vec!["node", project, id.as_str()],
            Self::Grip { project, id } => vec!["grip", project, id.as_str()],
            Self::Note { project, path, version } => vec!["note", project, path, version],
            Self::Detail { project, folder, path, version } => {
                vec!["detail", project, folder, path, version]
            }
            Self::Lesson { path, version } => vec!["lesson", path, version],
        };
        parts.join(&SEPARATOR.to_string())
    }

    /// Parses a name; `None` if it has another form.
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
            ["lesson", path, version] => {
                Self::Lesson { path: owned(path), version: owned(version) }
            }
            _ => return None,
        })
    }

    pub(crate) fn is_overview(&self) -> bool {
        matches!(self, Self::Detail { path, .. } if path == "overview.md")
    }

    /// Returns whether it is a file, which people may edit.
    pub(crate) fn is_file(&self) -> bool {
        !matches!(self, Self::Node { .. } | Self::Grip { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_names_round_trip() {
        let owned = str::to_owned;
        for page in [
            PageKey::Node {
                project: owned("/home/dev/app"),
                id: NodeId::parse("toc:day:2026-11-14").unwrap(),
            },
            PageKey::Note {
                project: owned("/home/dev/app"),
                path: owned("facts/user.md"),
                version: owned("0123456789ab"),
            },
            PageKey::Detail {
                project: owned("/p"),
                folder: owned("s1"),
                path: owned("detail/a b.md"),
                version: owned("1-2"),
            },
            PageKey::Lesson { path: owned("semantic/x.md"), version: owned("ab") },
        ] {
            assert_eq!(PageKey::parse(&page.name()), Some(page));
        }
        assert_eq!(PageKey::parse("note\u{1f}x"), None);
        assert_eq!(PageKey::parse("else"), None);
        // Written before a file of lessons was split into them.
        assert_eq!(PageKey::parse("insight\u{1f}semantic/x.md\u{1f}ab"), None);
    }
}
