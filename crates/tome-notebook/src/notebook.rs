//! One notebook, open: the operations on its notes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tome_model::{Clock, Scope};

use crate::{
    Ask, Author, Finding, InsightDraft, Listed, Note, NotebookError, Patch, Prompt, Recalled,
    Rules, Stored, Tidied, Typed, Version, Written,
};

type Result<T> = std::result::Result<T, NotebookError>;

/// One notebook. Many threads and processes may use the same folder at once.
#[allow(dead_code)]
pub struct Notebook {
    scope: Scope,
    root: PathBuf,
    history: PathBuf,
    rules: Rules,
    clock: Arc<dyn Clock>,
}

#[allow(unused_variables, clippy::todo, missing_docs)]
impl Notebook {
    /// The notebook in a folder, which need not exist: the first write makes it. Its history is
    /// kept in `.history` inside.
    pub fn at(scope: Scope, root: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        let root = root.into();
        Self { scope, history: root.join(".history"), root, rules: Rules::default(), clock }
    }

    /// The same notebook with its history in another folder.
    #[must_use]
    pub fn with_history(mut self, folder: impl Into<PathBuf>) -> Self {
        self.history = folder.into();
        self
    }

    /// The same notebook under other rules.
    #[must_use]
    pub fn with_rules(mut self, rules: Rules) -> Self {
        self.rules = rules;
        self
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    pub fn scope(&self) -> Scope {
        self.scope
    }

    /// All notes in order of their paths; none when there is no notebook.
    pub fn list(&self) -> Result<Vec<Listed>> {
        todo!()
    }

    /// The whole index: `MEMORY.md` of a project, `README.md` of a coder, a list for a session.
    pub fn index(&self) -> Result<String> {
        todo!()
    }

    /// The index within a budget, the newest entries kept.
    pub fn prompt(&self, lines_max: usize, bytes_max: usize) -> Result<Prompt> {
        todo!()
    }

    /// One note, whole. `overview.md` of a session that has none is its template.
    pub fn read(&self, path: &str) -> Result<Note> {
        todo!()
    }

    /// Creates or overwrites a note. With `typed` the content is the body and the frontmatter is
    /// made from it, keys that Tome does not know staying as they are. `if_version` is the version
    /// the caller has read; `""` means that there must be no note yet.
    pub fn write(
        &self,
        by: &Author,
        path: &str,
        content: &str,
        typed: Option<&Typed>,
        if_version: Option<&str>,
    ) -> Result<Written> {
        todo!()
    }

    /// Adds an entry at the end, creating the note where there is none.
    pub fn append(
        &self,
        by: &Author,
        path: &str,
        entry: &str,
        summary: Option<&str>,
        if_version: Option<&str>,
    ) -> Result<Written> {
        todo!()
    }

    /// Replaces texts, all or none; each has to be there exactly once.
    pub fn patch(
        &self,
        by: &Author,
        path: &str,
        patches: &[Patch],
        if_version: Option<&str>,
    ) -> Result<Written> {
        todo!()
    }

    /// Replaces the first occurrence of a text and sets `updated` in the frontmatter.
    pub fn update(&self, by: &Author, path: &str, old: &str, new: &str) -> Result<Written> {
        todo!()
    }

    pub fn delete(&self, by: &Author, path: &str) -> Result<Written> {
        todo!()
    }

    /// Creates a note, verbatim; `Exists` when it is there.
    pub fn create(&self, by: &Author, path: &str, text: &str) -> Result<Written> {
        todo!()
    }

    /// Changes a note by a function of its newest text; what the function refuses changes nothing.
    pub fn edit(
        &self,
        by: &Author,
        path: &str,
        change: &mut dyn FnMut(&str) -> Result<String>,
    ) -> Result<Written> {
        todo!()
    }

    /// Gives a note, or a folder with all its notes, another path that is not taken.
    pub fn rename(&self, by: &Author, from: &str, to: &str) -> Result<()> {
        todo!()
    }

    /// Deletes a folder with all its notes. Returns how many there were.
    pub fn delete_folder(&self, by: &Author, folder: &str) -> Result<usize> {
        todo!()
    }

    /// The history, oldest first: of one note (also a deleted one), or of all.
    pub fn log(&self, path: Option<&str>) -> Result<Vec<Version>> {
        todo!()
    }

    /// A note's text at a version (or the beginning of one).
    pub fn version(&self, path: &str, version: &str) -> Result<Note> {
        todo!()
    }

    /// Brings a version back: the one given, else the last before the present one (of a deleted
    /// note: its last).
    pub fn restore(&self, by: &Author, path: &str, version: Option<&str>) -> Result<Written> {
        todo!()
    }

    /// Notices what changed on disk: keeps it in the history, brings the index up to date. Returns
    /// how many notes had changed.
    pub fn refresh(&self) -> Result<usize> {
        todo!()
    }

    /// Stores insights (coder's notebook only), all or none.
    pub fn store(&self, by: &Author, drafts: &[InsightDraft]) -> Result<Vec<Stored>> {
        todo!()
    }

    /// The insights that answer best; reads only, and may find none.
    pub fn recall(&self, ask: &Ask) -> Result<Recalled> {
        todo!()
    }

    /// Checks every insight file against the store guide.
    pub fn lint(&self) -> Result<Vec<Finding>> {
        todo!()
    }

    /// Reorganises the insights, losing nothing.
    pub fn tidy(&self, by: &Author) -> Result<Tidied> {
        todo!()
    }
}
