//! What Tome changed in other programs' files, and what they were before.
//!
//! ```text
//! setup/                 in Tome's home, for the owner alone
//!   lock                 held while anything is changed
//!   undo.json            {"version": 1, "files": [{"path", "agents", "project", "form",
//!                        "before": hash or null, "after": hash, "made": [folders]}]}
//!   before/<hash>        the bytes that a file had, named by their BLAKE3
//! ```
//!
//! Both are written and synced before a file is changed. A change that did not happen is told by
//! the file itself: it still is what it was before.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::disk;
use super::part::Form;

const VERSION: u32 = 1;

/// One file that Tome changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Which, as the agent names it.
    pub path: PathBuf,
    /// For which agents.
    pub agents: BTreeSet<String>,
    /// In which project; none for the person's own settings.
    #[serde(default)]
    pub project: Option<PathBuf>,
    /// How Tome's parts are told apart in it.
    pub form: Shape,
    /// What it was; none where it was not there.
    pub before: Option<String>,
    /// What Tome left.
    pub after: String,
    /// Folders that were made for it, the outermost first.
    #[serde(default)]
    pub made: Vec<PathBuf>,
}

/// How Tome's parts are told apart in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// Members of a JSON object.
    Json,
    /// A table of a TOML file.
    Toml,
    /// All of it.
    Text,
}

impl Shape {
    /// The shape of a form.
    pub fn of(form: &Form) -> Self {
        match form {
            Form::Json { .. } => Self::Json,
            Form::Toml { .. } => Self::Toml,
            Form::Text { .. } => Self::Text,
        }
    }

    /// A form that is enough to take Tome's parts out.
    pub fn to_form(self) -> Form {
        match self {
            Self::Json => Form::Json { hooks: Vec::new(), server: None },
            Self::Toml => Form::Toml { program: String::new(), args: Vec::new() },
            Self::Text => Form::Text { content: String::new(), mark: "" },
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct Written {
    version: u32,
    files: Vec<Entry>,
}

/// All files that Tome changed.
#[derive(Debug)]
pub struct Book {
    folder: PathBuf,
    entries: Vec<Entry>,
}

/// Keeps two setups from working at once; let go when dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Waits for it.
    pub fn take(home: &Path) -> io::Result<Self> {
        let folder = home.join("setup");
        fs::create_dir_all(&folder)?;
        let file = File::options().create(true).append(true).open(folder.join("lock"))?;
        file.lock()?;
        Ok(Self { _file: file })
    }
}

/// The name of these bytes.
pub fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

impl Book {
    /// What is recorded in Tome's home.
    pub fn open(home: &Path) -> io::Result<Self> {
        let folder = home.join("setup");
        let file = folder.join("undo.json");
        let entries = match disk::read(&file)? {
            None => Vec::new(),
            Some(bytes) => {
                let written: Written = serde_json::from_slice(&bytes).map_err(|error| {
                    io::Error::other(format!("{} cannot be read: {error}", file.display()))
                })?;
                if written.version != VERSION {
                    let problem = format!("{} is of a newer Tome; use that one", file.display());
                    return Err(io::Error::other(problem));
                }
                written.files
            }
        };
        Ok(Self { folder, entries })
    }

    /// Every file.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// One file.
    pub fn entry(&self, path: &Path) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.path == path)
    }

    /// The bytes that a file had.
    pub fn before(&self, entry: &Entry) -> io::Result<Option<Vec<u8>>> {
        let Some(hash) = &entry.before else { return Ok(None) };
        let file = self.folder.join("before").join(hash);
        let bytes = fs::read(&file).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", file.display()))
        })?;
        if hash_of(&bytes) == *hash {
            Ok(Some(bytes))
        } else {
            Err(io::Error::other(format!("{} is damaged", file.display())))
        }
    }

    /// Keeps the bytes of a file, synced.
    pub fn keep(&self, bytes: &[u8]) -> io::Result<String> {
        let folder = self.folder.join("before");
        fs::create_dir_all(&folder)?;
        let hash = hash_of(bytes);
        let file = folder.join(&hash);
        if !file.exists() {
            disk::write(&file, bytes)?;
        }
        Ok(hash)
    }

    /// Puts a file in, in the place of what was recorded of it.
    pub fn put(&mut self, entry: Entry) {
        self.entries.retain(|known| known.path != entry.path);
        self.entries.push(entry);
    }

    /// Takes a file out.
    pub fn forget(&mut self, path: &Path) {
        self.entries.retain(|known| known.path != path);
    }

    /// Writes it, synced, and lets go of bytes that nobody needs any more.
    pub fn save(&self) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let written = Written { version: VERSION, files: self.entries.clone() };
        let mut bytes = serde_json::to_vec_pretty(&written).map_err(io::Error::from)?;
        bytes.push(b'\n');
        disk::write(&self.folder.join("undo.json"), &bytes)?;
        for file in fs::read_dir(self.folder.join("before")).into_iter().flatten().flatten() {
            let name = file.file_name();
            let is_needed = |entry: &Entry| {
                entry.before.as_ref().is_some_and(|hash| name.to_string_lossy() == *hash)
            };
            if !self.entries.iter().any(is_needed) {
                disk::delete(&file.path())?;
            }
        }
        Ok(())
    }
}
