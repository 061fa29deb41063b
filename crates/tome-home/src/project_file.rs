//! `project.toml` and a copy of it, from which a damaged file is restored.
//!
//! ```text
//! project.toml             for people to read and edit
//! project.toml.copy        the same, written along with it
//! project.toml.damaged     the damaged file that a restored one replaced
//! ```
//!
//! The folder's name is derived from the root, so it shows whether a root can be right. A file that
//! is unreadable, or whose root does not match its folder, is replaced by the copy if that matches.
//! Without a copy the root is taken from transcripts and injection logs in the folder.

use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{HomeError, git, layout, project, write_atomic};

pub(crate) const FILE: &str = "project.toml";
const COPY: &str = "project.toml.copy";
pub(crate) const DAMAGED: &str = "project.toml.damaged";

/// Bytes of a file that are searched for the root.
const SEARCHED_BYTES_MAX: u64 = 1024 * 1024;
/// Sessions whose transcripts are searched for it.
const SEARCHED_SESSIONS_MAX: usize = 100;

/// The contents of `project.toml`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ProjectRecord {
    pub(crate) root: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) remote: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) aliases: Vec<String>,
    #[serde(default)]
    pub(crate) created: String,
    /// The name that a person gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The current folder, if it was moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) path: Option<String>,
    /// Other roots that belong to it: where it was moved to, and clones that were merged into it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) folders: Vec<String>,
}

impl ProjectRecord {
    /// Adds what another record of the same project knows. A project that is new here also takes over
    /// when it was created.
    pub(crate) fn merge(&mut self, other: Self, is_new: bool) {
        for alias in other.aliases {
            if !self.aliases.contains(&alias) {
                self.aliases.push(alias);
            }
        }
        for folder in other.folders {
            if !self.folders.contains(&folder) {
                self.folders.push(folder);
            }
        }
        self.name = self.name.take().or(other.name);
        self.path = self.path.take().or(other.path);
        self.remote = self.remote.take().or(other.remote);
        if is_new {
            self.created = other.created;
        }
    }
}

/// Whether importing `earlier` and then `later` gives the same project as importing `later` alone. Both are
/// records as [`Projects::export_record`](crate::Projects::export_record) returns them.
pub fn project_record_extends(later: &serde_json::Value, earlier: &serde_json::Value) -> bool {
    let parse = |record| ProjectRecord::deserialize(record).ok();
    let (Some(later), Some(mut merged)) = (parse(later), parse(earlier)) else { return false };
    let is_same_age = later.created == merged.created;
    merged.merge(later.clone(), false);
    is_same_age && merged == later
}

pub(crate) enum LoadedRecord {
    Sound(ProjectRecord),
    /// There is no file and no content that would need one: creating the folder was interrupted.
    Unfinished,
    /// The file is damaged, and nothing in the folder names the root.
    Damaged,
}

/// Reads the record of a folder; restores it if it is damaged.
pub(crate) fn load_record(folder: &Path) -> LoadedRecord {
    let found = read_record(&folder.join(FILE));
    if let Some(record) = &found
        && matches_folder(folder, &record.root)
    {
        if !folder.join(COPY).exists() {
            // The copy is optional: if writing it fails, the file alone is enough.
            let _ = write_record(&folder.join(COPY), record);
        }
        return LoadedRecord::Sound(record.clone());
    }
    let is_fitting = |record: &ProjectRecord| matches_folder(folder, &record.root);
    let restored = read_record(&folder.join(COPY)).filter(is_fitting);
    match restored.or_else(|| record_from_root(find_root_in_files(folder)?)) {
        Some(record) if found.is_none() || is_fitting(&record) => {
            let _ = restore_record(folder, &record);
            LoadedRecord::Sound(record)
        }
        // Someone has renamed the folder.
        _ => match found {
            Some(record) => LoadedRecord::Sound(record),
            None if folder.join(FILE).exists() || layout::has_content(folder) => {
                LoadedRecord::Damaged
            }
            None => LoadedRecord::Unfinished,
        },
    }
}

/// Builds a record from a root.
pub(crate) fn record_from_root(root: String) -> Option<ProjectRecord> {
    let remote = git::read_origin_url(Path::new(&root));
    Some(ProjectRecord { root, remote, ..ProjectRecord::default() })
}

/// Replaces a damaged record, which is kept under another name.
pub(crate) fn restore_record(folder: &Path, record: &ProjectRecord) -> Result<(), HomeError> {
    let (file, kept) = (folder.join(FILE), folder.join(DAMAGED));
    if file.exists() {
        std::fs::rename(&file, &kept).map_err(HomeError::file("rename", &file))?;
    } else {
        write_atomic(&kept, b"")?;
    }
    save_record(folder, record)
}

pub(crate) fn save_record(folder: &Path, record: &ProjectRecord) -> Result<(), HomeError> {
    write_record(&folder.join(FILE), record)?;
    write_record(&folder.join(COPY), record)
}

fn write_record(path: &Path, record: &ProjectRecord) -> Result<(), HomeError> {
    let text = toml::to_string(record)
        .map_err(|error| HomeError::file("write", path)(std::io::Error::other(error)))?;
    write_atomic(path, text.as_bytes())
}

/// Reads a record; `None` if it is missing or unreadable.
pub(crate) fn read_record(path: &Path) -> Option<ProjectRecord> {
    toml::from_str(&read_prefix(path)?).ok()
}

/// Whether this folder has the name that belongs to `root`.
pub(crate) fn matches_folder(folder: &Path, root: &str) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let own = project::project_folder_name(root);
    name == own || name == format!("{own}.{}", project::path_hash(root, 8))
}

/// Finds the root in a transcript or an injection log of this folder.
fn find_root_in_files(folder: &Path) -> Option<String> {
    let sessions = std::fs::read_dir(layout::sessions_dir(folder)).into_iter().flatten().flatten();
    let transcripts =
        sessions.take(SEARCHED_SESSIONS_MAX).map(|session| session.path().join("messages.jsonl"));
    let records = transcripts.chain(std::iter::once(folder.join("injections.jsonl")));
    for record in records {
        let roots = read_prefix(&record).unwrap_or_default();
        let found = roots
            .lines()
            .find_map(|line| parse_root(line).filter(|root| matches_folder(folder, root)));
        if found.is_some() {
            return found;
        }
    }
    None
}

fn parse_root(line: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        project: String,
    }
    serde_json::from_str::<Named>(line).ok().map(|named| named.project)
}

/// Reads the beginning of a regular file as text.
fn read_prefix(path: &Path) -> Option<String> {
    if !std::fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(SEARCHED_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
