//! The undo journal: which files of other programs Tome changed, and their original content.
//!
//! ```text
//! setup/                 in Tome's home, for the owner alone
//!   lock                 held while anything is changed
//!   undo.json            {"version": 1, "files": [{"path", "agents", "project", "form",
//!                        "before": hash or null, "after": hash, "made": [folders]}]}
//!   before/<hash>        the bytes that a file had, named by their BLAKE3
//! ```
//!
//! Both are written and synced before a file is changed. If a change did not happen, the file still
//! has its original content.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::disk;
use super::install_file::InstallContent;

const VERSION: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UndoEntry {
    pub path: PathBuf,
    pub agents: BTreeSet<String>,
    /// `None` for the user's own settings.
    #[serde(default)]
    pub project: Option<PathBuf>,
    pub form: FileFormat,
    /// Hash of the original content; `None` if the file did not exist.
    pub before: Option<String>,
    /// Hash of the content that Tome wrote.
    pub after: String,
    /// Folders created for it, outermost first.
    #[serde(default)]
    pub made: Vec<PathBuf>,
}

/// How to recognize Tome's parts in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileFormat {
    Json,
    Toml,
    /// The whole file is Tome's.
    Text,
}

impl FileFormat {
    pub fn from_content(form: &InstallContent) -> Self {
        match form {
            InstallContent::Json { .. } => Self::Json,
            InstallContent::Toml { .. } => Self::Toml,
            InstallContent::Text { .. } => Self::Text,
        }
    }

    /// Returns a form that is sufficient to remove Tome's parts.
    pub fn to_content(self) -> InstallContent {
        match self {
            Self::Json => InstallContent::Json { hooks: Vec::new(), server: None },
            Self::Toml => InstallContent::Toml { program: String::new(), args: Vec::new() },
            Self::Text => InstallContent::Text { content: String::new(), mark: "" },
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct UndoFile {
    version: u32,
    files: Vec<UndoEntry>,
}

/// All files that Tome changed.
#[derive(Debug)]
pub struct UndoJournal {
    folder: PathBuf,
    entries: Vec<UndoEntry>,
}

/// Prevents concurrent setups; released on drop.
#[derive(Debug)]
pub struct SetupLock {
    _file: File,
}

impl SetupLock {
    /// Blocks until the lock is free.
    pub fn acquire(home: &Path) -> io::Result<Self> {
        let folder = home.join("setup");
        fs::create_dir_all(&folder)?;
        let file = File::options().create(true).append(true).open(folder.join("lock"))?;
        file.lock()?;
        Ok(Self { _file: file })
    }
}

/// Returns the name under which an original is stored.
pub fn content_hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

impl UndoJournal {
    pub fn open(home: &Path) -> io::Result<Self> {
        let folder = home.join("setup");
        let file = folder.join("undo.json");
        let entries = match disk::read(&file)? {
            None => Vec::new(),
            Some(bytes) => {
                let written: UndoFile = serde_json::from_slice(&bytes).map_err(|error| {
                    io::Error::other(format!("{} cannot be read: {error}", file.display()))
                })?;
                if written.version != VERSION {
                    let problem = format!(
                        "{} was written by a newer version of Tome; use that version",
                        file.display()
                    );
                    return Err(io::Error::other(problem));
                }
                written.files
            }
        };
        Ok(Self { folder, entries })
    }

    pub fn entries(&self) -> &[UndoEntry] {
        &self.entries
    }

    pub fn entry(&self, path: &Path) -> Option<&UndoEntry> {
        self.entries.iter().find(|entry| entry.path == path)
    }

    /// Reads the original content of a file and verifies its hash.
    pub fn read_original(&self, entry: &UndoEntry) -> io::Result<Option<Vec<u8>>> {
        let Some(hash) = &entry.before else { return Ok(None) };
        let file = self.folder.join("before").join(hash);
        let bytes = fs::read(&file).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", file.display()))
        })?;
        if content_hash(&bytes) == *hash {
            Ok(Some(bytes))
        } else {
            Err(io::Error::other(format!("{} is damaged", file.display())))
        }
    }

    /// Stores original content, synced; returns its hash.
    pub fn store_original(&self, bytes: &[u8]) -> io::Result<String> {
        let folder = self.folder.join("before");
        fs::create_dir_all(&folder)?;
        let hash = content_hash(bytes);
        let file = folder.join(&hash);
        if !file.exists() {
            disk::write(&file, bytes)?;
        }
        Ok(hash)
    }

    /// Inserts or replaces the entry of a file.
    pub fn insert(&mut self, entry: UndoEntry) {
        self.entries.retain(|known| known.path != entry.path);
        self.entries.push(entry);
    }

    pub fn remove(&mut self, path: &Path) {
        self.entries.retain(|known| known.path != path);
    }

    /// Writes the journal, synced, and deletes originals that no entry refers to.
    pub fn save(&self) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let written = UndoFile { version: VERSION, files: self.entries.clone() };
        let mut bytes = serde_json::to_vec_pretty(&written).map_err(io::Error::from)?;
        bytes.push(b'\n');
        disk::write(&self.folder.join("undo.json"), &bytes)?;
        for file in fs::read_dir(self.folder.join("before")).into_iter().flatten().flatten() {
            let name = file.file_name();
            let is_needed = |entry: &UndoEntry| {
                entry.before.as_ref().is_some_and(|hash| name.to_string_lossy() == *hash)
            };
            if !self.entries.iter().any(is_needed) {
                disk::delete(&file.path())?;
            }
        }
        Ok(())
    }
}
