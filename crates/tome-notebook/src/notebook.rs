//! A notebook: its folder and settings, and access to its state under the lock.
//!
//! Reading a missing notebook creates nothing; the first write creates it. Every change follows the
//! same steps: take the lock, detect outside edits, compute the new text from the newest content,
//! commit.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tome_model::{Clock, Scope};

use crate::folder::Folder;
use crate::history::content_version;
use crate::path::{INDEX, NotePath};
use crate::prepare_hook::BeforeFirstWrite;
use crate::state::NotebookState;
use crate::{Note, NotebookError, NotebookRules, Result};

/// A notebook. Several threads and processes may use the same folder at once.
pub struct Notebook {
    pub(crate) scope: Scope,
    root: PathBuf,
    history: PathBuf,
    pub(crate) rules: NotebookRules,
    pub(crate) clock: Arc<dyn Clock>,
    prepare: BeforeFirstWrite,
    state: Mutex<Option<NotebookState>>,
}

impl Notebook {
    /// Creates a notebook over a folder. The folder need not exist: the first write creates it. The
    /// history is kept in `.history` inside it unless [`Self::with_history`] sets another folder.
    pub fn new(scope: Scope, root: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        let root = root.into();
        let history = root.join(".history");
        let (rules, prepare, state) =
            (NotebookRules::default(), BeforeFirstWrite::default(), Mutex::new(None));
        Self { scope, root, history, rules, clock, prepare, state }
    }

    /// Keeps the history in another folder.
    #[must_use]
    pub fn with_history(mut self, folder: impl Into<PathBuf>) -> Self {
        self.history = folder.into();
        self
    }

    /// Replaces the default rules.
    #[must_use]
    pub fn with_rules(mut self, rules: NotebookRules) -> Self {
        self.rules = rules;
        self
    }

    /// Calls `prepare` before the first write; reads and rejected writes leave nothing behind.
    #[must_use]
    pub fn with_preparation(
        mut self,
        prepare: impl Fn() -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.prepare = BeforeFirstWrite::new(prepare);
        self
    }

    /// The notebook's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Whether it belongs to a session, a project or the coder.
    pub fn scope(&self) -> Scope {
        self.scope
    }

    pub(crate) fn history_folder(&self) -> &Path {
        &self.history
    }

    /// Detects changes on disk, records them in the history and updates the index. Returns the
    /// number of changed notes.
    pub fn refresh(&self) -> Result<usize> {
        let noticed = self.with_state(CreateMode::Never, |state| self.sync_with_disk(state))?;
        Ok(noticed.unwrap_or(0))
    }

    /// Creates the notebook if it is missing and runs `work` while no other writer changes it. What
    /// `work` changes in the folder counts as an edit made outside.
    pub fn run_locked<T>(
        &self,
        work: impl FnOnce() -> std::io::Result<T>,
    ) -> std::result::Result<T, NotebookError> {
        let done = self.with_state(CreateMode::IfMissing, |_| {
            work().map_err(NotebookError::file_error("restore", &self.root))
        })?;
        done.ok_or_else(|| {
            let gone = std::io::Error::from(std::io::ErrorKind::NotFound);
            NotebookError::file_error("create", &self.root)(gone)
        })
    }

    /// Whether `refresh` is nearly free while nothing changes, because the kernel reports changes.
    pub fn is_watched(&self) -> bool {
        self.lock_slot().as_ref().is_some_and(NotebookState::is_watched)
    }

    /// Detects outside edits and rewrites the index if it is out of date.
    pub(crate) fn sync_with_disk(&self, state: &mut NotebookState) -> Result<usize> {
        let noticed = state.detect_changes(self.clock.now(), false)?;
        // Do not create an index in an empty folder.
        let is_empty = state.inventory.is_empty() && !state.folder.absolute_path(INDEX).exists();
        if state.is_index_stale() && !is_empty {
            // A read must succeed even if the disk is not writable.
            let _ = state.commit(&crate::state::outside_author(), self.clock.now(), Vec::new());
            // The commit records a hand-edited index, which may have created the history.
            if state.has_unrecorded_changes && state.history.exists() {
                state.detect_changes(self.clock.now(), false)?;
            }
        }
        Ok(noticed)
    }

    /// Runs `read` on the up-to-date notebook; `None` if it does not exist.
    pub(crate) fn read_current<T>(
        &self,
        read: impl FnOnce(&NotebookState) -> Result<T>,
    ) -> Result<Option<T>> {
        self.with_state(CreateMode::Never, |state| {
            self.sync_with_disk(state)?;
            read(state)
        })
    }

    /// Runs `work` under the notebook's lock, after detecting outside edits.
    pub(crate) fn write_current<T>(
        &self,
        make: CreateMode,
        work: impl FnOnce(&mut NotebookState) -> Result<T>,
    ) -> Result<Option<T>> {
        self.with_state(make, |state| {
            // Do not record the edits yet: `work` may reject the change. A commit records them.
            state.detect_changes(self.clock.now(), false)?;
            work(state)
        })
    }

    /// Opens the notebook if necessary and locks it.
    pub(crate) fn with_state<T>(
        &self,
        make: CreateMode,
        work: impl FnOnce(&mut NotebookState) -> Result<T>,
    ) -> Result<Option<T>> {
        // Before the mutex: time spent waiting for it counts toward the lock timeout.
        let since = Instant::now();
        let mut slot = self.lock_slot();
        if slot.as_ref().is_none_or(|state| !state.folder.is_current()) {
            let folder = match (Folder::open(&self.root)?, make) {
                (Some(folder), _) => Some(folder),
                (None, CreateMode::IfMissing) => {
                    self.prepare.run(&self.root)?;
                    Some(Folder::create(&self.root)?)
                }
                (None, CreateMode::Never) => None,
            };
            *slot = match folder {
                Some(folder) => {
                    let mut state =
                        NotebookState::open(self.scope, folder, &self.root, &self.history)?;
                    state.prepare = self.prepare.clone();
                    Some(state)
                }
                None => None,
            };
        }
        let Some(state) = slot.as_mut() else { return Ok(None) };
        let _lock = state.lock(since)?;
        work(state).map(Some)
    }

    fn lock_slot(&self) -> MutexGuard<'_, Option<NotebookState>> {
        self.state.lock().unwrap_or_else(|poisoned| {
            // A panic may have left it half changed: reopen it.
            let mut slot = PoisonError::into_inner(poisoned);
            *slot = None;
            self.state.clear_poison();
            slot
        })
    }
}

/// Whether to create a missing notebook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CreateMode {
    IfMissing,
    Never,
}

/// Decodes a note; fails if it is not UTF-8.
pub(crate) fn decode_note(path: &NotePath, bytes: Vec<u8>) -> Result<Note> {
    let version = content_version(&bytes);
    let text = String::from_utf8(bytes).map_err(|_| NotebookError::Unreadable {
        path: path.to_string(),
        why: "it is not UTF-8 text; save it as UTF-8, or delete it".to_owned(),
    })?;
    Ok(Note { path: path.to_string(), text, version })
}
