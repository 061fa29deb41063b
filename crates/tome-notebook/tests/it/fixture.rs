//! A temporary notebook folder per test.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use tome_model::{Clock, Millis, Scope};
use tome_notebook::{Actor, Author, NoteHeader, NoteType, Notebook};

/// A clock that always returns the same time.
pub struct Still;

impl Clock for Still {
    fn now(&self) -> Millis {
        Millis(1_794_735_000_000)
    }
}

pub struct Fixture {
    folder: TempDir,
}

impl Fixture {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().join("memory")
    }

    pub fn outside(&self) -> &Path {
        self.folder.path()
    }

    pub fn open(&self) -> Notebook {
        self.open_as(Scope::Project)
    }

    pub fn open_as(&self, scope: Scope) -> Notebook {
        Notebook::new(scope, self.root(), Arc::new(Still))
    }

    /// The files on disk, without hidden ones.
    pub fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        collect(&self.root(), "", &mut files);
        files
    }

    /// The index on disk; the empty index if the folder never held a file.
    pub fn index(&self) -> String {
        if self.files().is_empty() {
            return "# Memory\n\n(empty)\n".to_owned();
        }
        std::fs::read_to_string(self.root().join("MEMORY.md")).expect("an index")
    }

    /// The index of a fresh notebook with the same notes.
    pub fn rebuilt(&self) -> String {
        let other = Self::new();
        for (path, bytes) in self.files() {
            if path != "MEMORY.md" {
                other.put(&path, &bytes);
            }
        }
        other.open().render_index().expect("an index")
    }

    /// Writes a file in place, as an editor would.
    pub fn put(&self, path: &str, bytes: &[u8]) {
        let path = self.root().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        #[expect(clippy::disallowed_methods, reason = "simulates a manual edit")]
        std::fs::write(path, bytes).expect("written");
    }
}

fn collect(folder: &Path, above: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{above}{name}");
        if name.starts_with('.') {
            continue;
        }
        if entry.path().is_dir() {
            collect(&entry.path(), &format!("{path}/"), files);
        } else {
            files.insert(path, std::fs::read(entry.path()).expect("a file"));
        }
    }
}

pub fn agent() -> Author {
    let who = Actor::Agent { agent: "claude-code".to_owned(), session: Some("s1".to_owned()) };
    Author { who, tool: "memory_write".to_owned() }
}

pub fn typed(name: &str, note_type: NoteType) -> NoteHeader {
    NoteHeader { name: name.to_owned(), description: format!("about {name}"), note_type }
}
