//! `project.toml`, twice: the file, and a copy from which it is restored when it is damaged.
//!
//! ```text
//! project.toml           what people read and may edit
//! project.toml.copy      the same, written with it
//! project.toml.damaged   what the file was before it was restored
//! ```
//!
//! The folder's name tells whether a root can be right: it is made from the root. A file that cannot
//! be read, or whose root does not fit its folder, is replaced by the copy if that one fits. Without
//! a copy the root is taken from the records in the folder that name it.

use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::{HomeError, git, layout, project, write_atomic};

pub(crate) const FILE: &str = "project.toml";
const COPY: &str = "project.toml.copy";
pub(crate) const DAMAGED: &str = "project.toml.damaged";

/// Bytes of a record that are searched for the root of its project.
const SEARCHED_BYTES_MAX: u64 = 1024 * 1024;
/// Sessions whose transcripts are searched for it.
const SEARCHED_SESSIONS_MAX: usize = 100;

/// The contents of `project.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Record {
    pub(crate) root: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) remote: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) aliases: Vec<String>,
    #[serde(default)]
    pub(crate) created: String,
}

/// The record of a project's folder.
pub(crate) enum Loaded {
    Sound(Record),
    /// There is none, and nothing that would need one: making the folder was cut short.
    Unfinished,
    /// It is damaged and nothing in the folder names the root.
    Damaged,
}

/// Reads the record of a folder, restoring it if it is damaged.
pub(crate) fn load(folder: &Path) -> Loaded {
    let found = read(&folder.join(FILE));
    if let Some(record) = &found
        && fits(folder, &record.root)
    {
        if !folder.join(COPY).exists() {
            // Without it the file alone is as good as it ever was.
            let _ = write(&folder.join(COPY), record);
        }
        return Loaded::Sound(record.clone());
    }
    let is_fitting = |record: &Record| fits(folder, &record.root);
    let restored = read(&folder.join(COPY)).filter(is_fitting);
    match restored.or_else(|| from_root(root_named_in(folder)?)) {
        Some(record) if found.is_none() || is_fitting(&record) => {
            let _ = restore(folder, &record);
            Loaded::Sound(record)
        }
        // Somebody gave the folder a name of their own.
        _ => match found {
            Some(record) => Loaded::Sound(record),
            None if folder.join(FILE).exists() || layout::has_content(folder) => Loaded::Damaged,
            None => Loaded::Unfinished,
        },
    }
}

/// A record that says nothing but the root.
pub(crate) fn from_root(root: String) -> Option<Record> {
    let remote = git::remote(Path::new(&root));
    Some(Record { root, remote, aliases: Vec::new(), created: String::new() })
}

/// Puts a record in the place of a damaged one, which is kept.
pub(crate) fn restore(folder: &Path, record: &Record) -> Result<(), HomeError> {
    let (file, kept) = (folder.join(FILE), folder.join(DAMAGED));
    if file.exists() {
        std::fs::rename(&file, &kept).map_err(HomeError::file("rename", &file))?;
    } else {
        write_atomic(&kept, b"")?;
    }
    save(folder, record)
}

/// Writes a record and its copy.
pub(crate) fn save(folder: &Path, record: &Record) -> Result<(), HomeError> {
    write(&folder.join(FILE), record)?;
    write(&folder.join(COPY), record)
}

fn write(path: &Path, record: &Record) -> Result<(), HomeError> {
    let text = toml::to_string(record)
        .map_err(|error| HomeError::file("write", path)(std::io::Error::other(error)))?;
    write_atomic(path, text.as_bytes())
}

/// Reads a record; none if there is none that can be read.
pub(crate) fn read(path: &Path) -> Option<Record> {
    toml::from_str(&read_start(path)?).ok()
}

/// Whether the folder of this root has this name.
pub(crate) fn fits(folder: &Path, root: &str) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let own = project::folder_name(root);
    name == own || name == format!("{own}.{}", project::fingerprint(root, 8))
}

/// The root that a transcript or an injection of this project names.
fn root_named_in(folder: &Path) -> Option<String> {
    let sessions = std::fs::read_dir(layout::sessions_in(folder)).into_iter().flatten().flatten();
    let transcripts =
        sessions.take(SEARCHED_SESSIONS_MAX).map(|session| session.path().join("messages.jsonl"));
    let records = transcripts.chain(std::iter::once(folder.join("injections.jsonl")));
    for record in records {
        let roots = read_start(&record).unwrap_or_default();
        let found = roots.lines().find_map(|line| root_in(line).filter(|root| fits(folder, root)));
        if found.is_some() {
            return found;
        }
    }
    None
}

fn root_in(line: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        project: String,
    }
    serde_json::from_str::<Named>(line).ok().map(|named| named.project)
}

/// The beginning of a plain file, as far as it is text.
fn read_start(path: &Path) -> Option<String> {
    if !std::fs::symlink_metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path).ok()?.take(SEARCHED_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}
