//! The operations on the notes of one notebook.
//!
//! Reading a missing notebook creates nothing; the first write creates it. Every change follows the
//! same steps: take the lock, detect outside edits, compute the new text from the newest content,
//! commit.

use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tome_model::{Clock, Scope};

use crate::commit::NoteChange;
use crate::folder::Folder;
use crate::history::{DELETED_VERSION, content_version};
use crate::inventory::Inventory;
use crate::path::{INDEX, NotePath};
use crate::prepare_hook::PrepareHook;
use crate::state::NotebookState;
use crate::{
    Author, IndexExcerpt, Note, NoteHeader, NoteKind, NoteListing, NotebookError, NotebookRules,
    Result, TextPatch, WrittenNote, coder, edit, frontmatter, index, invisible, session_notes,
    summary,
};

/// Attempts at a change when other programs keep saving the note meanwhile.
const ATTEMPTS_MAX: usize = 3;

/// A notebook. Several threads and processes may use the same folder at once.
pub struct Notebook {
    pub(crate) scope: Scope,
    root: PathBuf,
    history: PathBuf,
    pub(crate) rules: NotebookRules,
    pub(crate) clock: Arc<dyn Clock>,
    prepare: PrepareHook,
    state: Mutex<Option<NotebookState>>,
}

/// Computes the new text of a note from its bytes on disk and the inventory.
type ComposeFn<'p> = dyn FnMut(Option<&[u8]>, &Inventory) -> Result<String> + 'p;

/// The state of a note under the lock, from which its new text is computed.
pub(crate) struct ComposeInput<'d> {
    pub path: &'d NotePath,
    /// The text on disk, else the note's template.
    pub text: Option<&'d str>,
    /// Whether the note is on disk; false if `text` is a template.
    pub exists: bool,
    /// The current day, e.g. `2026-11-15`.
    pub today: &'d str,
}

impl Notebook {
    /// Creates a notebook over a folder. The folder need not exist: the first write creates it. The
    /// history is kept in `.history` inside it unless [`Self::with_history`] says otherwise.
    pub fn new(scope: Scope, root: impl Into<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        let root = root.into();
        let history = root.join(".history");
        let (rules, prepare, shelf) =
            (NotebookRules::default(), PrepareHook::default(), Mutex::new(None));
        Self { scope, root, history, rules, clock, prepare, state: shelf }
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
        self.prepare = PrepareHook::new(prepare);
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

    /// Lists all notes in path order; empty if the notebook does not exist.
    pub fn list_notes(&self) -> Result<Vec<NoteListing>> {
        let listed = self.read_current(|shelf| {
            Ok(shelf.inventory.iter().map(|(path, entry)| entry.to_listing(path)).collect())
        })?;
        Ok(listed.unwrap_or_default())
    }

    /// Describes the files that are not served because the folder holds too many; `None` if all
    /// notes are served.
    pub fn describe_unserved_files(&self) -> Result<Option<String>> {
        let described = self.read_current(|state| {
            let unserved = &state.unserved;
            Ok((!unserved.is_empty()).then(|| format!("{}: {unserved}", self.root.display())))
        })?;
        Ok(described.flatten())
    }

    /// Renders the index: `MEMORY.md` of a project, `README.md` of the coder, a session's list.
    pub fn render_index(&self) -> Result<String> {
        let text =
            self.read_current(|shelf| Ok(index::render_index(self.scope, &shelf.inventory)))?;
        Ok(text.unwrap_or_else(|| index::render_index(self.scope, &Inventory::new())))
    }

    /// Renders the index within a budget, keeping the newest entries.
    pub fn render_index_excerpt(&self, lines_max: usize, bytes_max: usize) -> Result<IndexExcerpt> {
        let of = |inventory: &_| index::render_excerpt(self.scope, inventory, lines_max, bytes_max);
        let prompt = self.read_current(|shelf| Ok(of(&shelf.inventory)))?;
        Ok(prompt.unwrap_or_else(|| of(&Inventory::new())))
    }

    /// Reads one note. A session's overview and the coder's guides can be read before they exist:
    /// the result is the template that the first write starts from.
    pub fn read_note(&self, path: &str) -> Result<Note> {
        let path = NotePath::parse_for_reading(path)?;
        if path.is_index() {
            // The served index is always current, even if its file is out of date.
            self.refresh()?;
        }
        let found = match Folder::open(&self.root)? {
            Some(folder) => folder.read_file(&path)?,
            None => None,
        };
        match found {
            Some((bytes, _)) => decode_note(&path, bytes),
            None => match self.find_template(&path) {
                Some(template) => decode_note(&path, template.into()),
                None => Err(NotebookError::not_found(path.as_str())),
            },
        }
    }

    /// Whether a note exists at this path.
    pub fn has_note(&self, path: &str) -> Result<bool> {
        let path = &*invisible::unescape(path);
        Ok(self.read_current(|shelf| Ok(shelf.inventory.contains_key(path)))?.unwrap_or(false))
    }

    /// Whether this folder contains notes.
    pub fn has_folder(&self, path: &str) -> Result<bool> {
        let inside = format!("{path}/");
        let first = |shelf: &NotebookState| {
            let from = (Bound::Included(inside.as_str()), Bound::Unbounded);
            let next = shelf.inventory.range::<str, _>(from).next();
            Ok(next.is_some_and(|(path, _)| path.as_str().starts_with(&inside)))
        };
        Ok(self.read_current(first)?.unwrap_or(false))
    }

    /// Creates or overwrites a note. With `typed`, `content` is the body and the frontmatter is
    /// generated from `typed`; unknown keys of the previous frontmatter are kept. `if_version` is
    /// the version that the caller has read; `""` means that the note must not exist yet.
    pub fn write_note(
        &self,
        by: &Author,
        path: &str,
        content: &str,
        typed: Option<&NoteHeader>,
        if_version: Option<&str>,
    ) -> Result<WrittenNote> {
        edit::check_text("content", content)?;
        let mut compose = |draft: &ComposeInput<'_>| {
            Ok(match (typed, draft.path.kind(self.scope)) {
                (Some(typed), NoteKind::Typed) => {
                    frontmatter::render_note(draft.text, typed, draft.today, content)
                }
                (Some(_), kind) => {
                    return Err(NotebookError::Invalid(format!(
                        "{} is a note of kind {}: name, description and type apply only to a project's notes outside facts/ and episodes/",
                        draft.path,
                        kind.as_str()
                    )));
                }
                (None, NoteKind::Fact | NoteKind::Episode) => summary::ensure_one_summary(content),
                (None, NoteKind::Detail) => session_notes::ensure_meta(
                    content,
                    draft.path.as_str(),
                    &self.clock.now().to_string(),
                ),
                (None, _) => content.to_owned(),
            })
        };
        self.change_note(by, path, if_version, &mut compose)
    }

    /// Appends an entry, creating the note if it does not exist.
    pub fn append_entry(
        &self,
        by: &Author,
        path: &str,
        entry: &str,
        summary: Option<&str>,
        if_version: Option<&str>,
    ) -> Result<WrittenNote> {
        edit::check_text("entry", entry)?;
        if entry.trim().is_empty() {
            return Err(NotebookError::Invalid("entry is empty: nothing to add".to_owned()));
        }
        let mut added = |draft: &ComposeInput<'_>| {
            let kind = draft.path.kind(self.scope);
            let summarised =
                matches!(kind, NoteKind::Fact | NoteKind::Episode) || summary.is_some();
            if summary.is_some() && self.scope != Scope::Project {
                let said = "summary applies only to a project's notes: leave it out";
                return Err(NotebookError::Invalid(said.to_owned()));
            }
            Ok(if summarised {
                summary::append_entry(draft.text, draft.path.as_str(), entry, summary)
            } else {
                let text = edit::append_entry(draft.text.unwrap_or_default(), entry);
                match kind {
                    NoteKind::Detail => {
                        let now = self.clock.now().to_string();
                        session_notes::ensure_meta(&text, draft.path.as_str(), &now)
                    }
                    _ => frontmatter::set_updated(&text, draft.today),
                }
            })
        };
        self.change_note(by, path, if_version, &mut added)
    }

    /// Replaces several texts, all or none; each must occur exactly once.
    pub fn patch_note(
        &self,
        by: &Author,
        path: &str,
        patches: &[TextPatch],
        if_version: Option<&str>,
    ) -> Result<WrittenNote> {
        edit::check_patches(patches)?;
        let mut patched = |draft: &ComposeInput<'_>| {
            let text = draft.text.ok_or_else(|| NotebookError::not_found(draft.path.as_str()))?;
            let text = edit::apply_patches(draft.path.as_str(), text, patches)?;
            Ok(self.restore_invariants(draft, &text))
        };
        let mut written = self.change_note(by, path, if_version, &mut patched)?;
        written.applied = patches.len();
        Ok(written)
    }

    /// Replaces the first occurrence of a text and sets `updated` in the frontmatter.
    pub fn replace_first(
        &self,
        by: &Author,
        path: &str,
        old: &str,
        new: &str,
        if_version: Option<&str>,
    ) -> Result<WrittenNote> {
        edit::check_patches(&[TextPatch { old: old.to_owned(), new: new.to_owned() }])?;
        let mut updated = |draft: &ComposeInput<'_>| {
            let text = draft.text.ok_or_else(|| NotebookError::not_found(draft.path.as_str()))?;
            let text = edit::replace_first(draft.path.as_str(), text, old, new)?;
            Ok(self.restore_invariants(draft, &text))
        };
        let mut written = self.change_note(by, path, if_version, &mut updated)?;
        written.applied = 1;
        Ok(written)
    }

    /// Deletes a note; its versions stay in the history.
    pub fn delete_note(&self, by: &Author, path: &str) -> Result<WrittenNote> {
        let path = NotePath::parse_for_writing(self.scope, path)?;
        let missing = || NotebookError::not_found(path.as_str());
        let deleted = self.write_current(CreateMode::Never, |shelf| {
            let (before, _) = shelf.folder.read_file(&path)?.ok_or_else(missing)?;
            let change = NoteChange { path: path.clone(), before: Some(before), after: None };
            shelf.commit(by, self.clock.now(), vec![change])
        })?;
        deleted.ok_or_else(missing)?;
        Ok(WrittenNote {
            path: path.to_string(),
            bytes: 0,
            version: DELETED_VERSION.to_owned(),
            applied: 0,
        })
    }

    /// Creates a note with exactly this text; fails with `AlreadyExists` if there is one already.
    pub fn create_note(&self, by: &Author, path: &str, text: &str) -> Result<WrittenNote> {
        edit::check_text("text", text)?;
        let mut create = |draft: &ComposeInput<'_>| {
            if draft.exists {
                return Err(NotebookError::AlreadyExists(draft.path.to_string()));
            }
            Ok(text.to_owned())
        };
        self.change_note(by, path, None, &mut create)
    }

    /// Replaces a note's text with the result of a function of its newest text; if the function
    /// fails, nothing changes.
    pub fn edit_note(
        &self,
        by: &Author,
        path: &str,
        change: &mut dyn FnMut(&str) -> Result<String>,
    ) -> Result<WrittenNote> {
        let mut edited = |draft: &ComposeInput<'_>| {
            let text = draft.text.ok_or_else(|| NotebookError::not_found(draft.path.as_str()))?;
            change(text)
        };
        self.change_note(by, path, None, &mut edited)
    }

    /// Detects changes on disk, records them in the history and updates the index. Returns the
    /// number of changed notes.
    pub fn refresh(&self) -> Result<usize> {
        let noticed = self.with_state(CreateMode::Never, |shelf| self.sync_with_disk(shelf))?;
        Ok(noticed.unwrap_or(0))
    }

    /// Whether `refresh` is nearly free while nothing changes, because the kernel reports changes.
    pub fn is_watched(&self) -> bool {
        self.lock_slot().as_ref().is_some_and(NotebookState::is_watched)
    }

    /// Detects outside edits and rewrites the index if it is out of date.
    fn sync_with_disk(&self, shelf: &mut NotebookState) -> Result<usize> {
        let noticed = shelf.detect_changes(self.clock.now(), false)?;
        // Do not create an index in an empty folder.
        let is_empty = shelf.inventory.is_empty() && !shelf.folder.absolute_path(INDEX).exists();
        if shelf.is_index_stale() && !is_empty {
            // A read must succeed even if the disk is not writable.
            let _ = shelf.commit(&crate::state::outside_author(), self.clock.now(), Vec::new());
            // The commit records a hand-edited index, which may have created the history.
            if shelf.has_unrecorded_changes && shelf.history.exists() {
                shelf.detect_changes(self.clock.now(), false)?;
            }
        }
        Ok(noticed)
    }

    /// Changes one note; `compose` computes the new text from the newest.
    fn change_note(
        &self,
        by: &Author,
        path: &str,
        if_version: Option<&str>,
        compose: &mut dyn FnMut(&ComposeInput<'_>) -> Result<String>,
    ) -> Result<WrittenNote> {
        let path = NotePath::parse_for_writing(self.scope, path)?;
        edit::check_allowed(&self.rules, self.scope, &path)?;
        let today = self.clock.today();
        let mut plan = |before: Option<&[u8]>, inventory: &Inventory| {
            let text = self.load_previous_text(&path, before)?;
            // For a missing note the caller has read its template.
            let read = before.or(text.as_deref().map(str::as_bytes));
            check_version(&path, before, read, if_version)?;
            let after = compose(&ComposeInput {
                path: &path,
                text: text.as_deref(),
                exists: before.is_some(),
                today: &today,
            })?;
            edit::check_text("the note", &after)?;
            edit::check_budget(&self.rules, self.scope, &[(&path, after.len())], inventory)?;
            Ok(after)
        };
        if !self.root.exists() {
            // A rejected change must not create the notebook.
            plan(None, &Inventory::new())?;
        }
        let mut tries = 0;
        loop {
            tries += 1;
            match self.try_change_note(by, &path, &mut plan) {
                // Another program saved the note meanwhile: retry with the newest content.
                Err(NotebookError::VersionConflict { .. })
                    if if_version.is_none() && tries < ATTEMPTS_MAX => {}
                made => return made,
            }
        }
    }

    fn try_change_note(
        &self,
        by: &Author,
        path: &NotePath,
        plan: &mut ComposeFn<'_>,
    ) -> Result<WrittenNote> {
        let made = self.write_current(CreateMode::IfMissing, |shelf| {
            let before = shelf.folder.read_file(path)?.map(|(bytes, _)| bytes);
            let after = plan(before.as_deref(), &shelf.inventory)?;
            let (bytes, version) = (after.len() as u64, content_version(after.as_bytes()));
            let mut changes = self.initial_files(shelf, path)?;
            changes.push(NoteChange { path: path.clone(), before, after: Some(after.into()) });
            shelf.commit(by, self.clock.now(), changes)?;
            Ok(WrittenNote { path: path.to_string(), bytes, version, applied: 0 })
        })?;
        made.ok_or_else(|| NotebookError::not_found(path.as_str()))
    }

    fn load_previous_text(&self, path: &NotePath, before: Option<&[u8]>) -> Result<Option<String>> {
        match before {
            Some(bytes) => Ok(Some(decode_note(path, bytes.to_vec())?.text)),
            None => Ok(self.find_template(path).map(str::to_owned)),
        }
    }

    /// Restores a note's invariants after an edit: one summary line, an `updated` date.
    fn restore_invariants(&self, draft: &ComposeInput<'_>, text: &str) -> String {
        match draft.path.kind(self.scope) {
            NoteKind::Fact | NoteKind::Episode => summary::ensure_one_summary(text),
            NoteKind::Typed => frontmatter::set_updated(text, draft.today),
            _ => text.to_owned(),
        }
    }

    /// Returns the files to create along with the first note: a session's overview.
    fn initial_files(&self, shelf: &NotebookState, path: &NotePath) -> Result<Vec<NoteChange>> {
        let overview = NotePath::parse_for_reading("overview.md")?;
        let known = shelf.history.latest_version(overview.as_str()).is_some();
        if self.scope != Scope::Session || self.is_overview(path) || known {
            return Ok(Vec::new());
        }
        let there = shelf.folder.read_stamp(&overview)?.is_some();
        let after = Some(session_notes::OVERVIEW_TEMPLATE.into());
        Ok(if there {
            Vec::new()
        } else {
            vec![NoteChange { path: overview, before: None, after }]
        })
    }

    fn is_overview(&self, path: &NotePath) -> bool {
        self.scope == Scope::Session && path.as_str() == "overview.md"
    }

    /// The initial text of a note that does not exist yet.
    fn find_template(&self, path: &NotePath) -> Option<&'static str> {
        match self.scope {
            Scope::Session => self.is_overview(path).then_some(session_notes::OVERVIEW_TEMPLATE),
            Scope::Coder => coder::guides()
                .into_iter()
                .find(|(name, _)| *name == path.as_str())
                .map(|(_, text)| text),
            Scope::Project => None,
        }
    }

    /// Runs `look` on the up-to-date notebook; `None` if it does not exist.
    pub(crate) fn read_current<T>(
        &self,
        look: impl FnOnce(&NotebookState) -> Result<T>,
    ) -> Result<Option<T>> {
        self.with_state(CreateMode::Never, |shelf| {
            self.sync_with_disk(shelf)?;
            look(shelf)
        })
    }

    /// Runs `work` under the notebook's lock, after detecting outside edits.
    pub(crate) fn write_current<T>(
        &self,
        make: CreateMode,
        work: impl FnOnce(&mut NotebookState) -> Result<T>,
    ) -> Result<Option<T>> {
        self.with_state(make, |shelf| {
            // Do not record the edits yet: `work` may reject the change. A commit records them.
            shelf.detect_changes(self.clock.now(), false)?;
            work(shelf)
        })
    }

    /// Opens the notebook if necessary and locks it.
    fn with_state<T>(
        &self,
        make: CreateMode,
        work: impl FnOnce(&mut NotebookState) -> Result<T>,
    ) -> Result<Option<T>> {
        // Before the mutex: time spent waiting for it counts toward the lock timeout.
        let since = Instant::now();
        let mut slot = self.lock_slot();
        if slot.as_ref().is_none_or(|shelf| !shelf.folder.is_current()) {
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
                    let mut shelf =
                        NotebookState::open(self.scope, folder, &self.root, &self.history)?;
                    shelf.prepare = self.prepare.clone();
                    Some(shelf)
                }
                None => None,
            };
        }
        let Some(shelf) = slot.as_mut() else { return Ok(None) };
        let _lock = shelf.lock(since)?;
        work(shelf).map(Some)
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

/// Fails if the note has changed since the caller `read` it, or exists although it should not.
fn check_version(
    path: &NotePath,
    before: Option<&[u8]>,
    read: Option<&[u8]>,
    expected: Option<&str>,
) -> Result<()> {
    let Some(expected) = expected else { return Ok(()) };
    let same = match expected {
        "" | DELETED_VERSION => before.is_none(),
        expected => read.is_some_and(|read| content_version(read) == expected),
    };
    if same {
        return Ok(());
    }
    let found = before.map_or_else(|| DELETED_VERSION.to_owned(), content_version);
    Err(NotebookError::VersionConflict {
        path: path.to_string(),
        expected: expected.to_owned(),
        found,
    })
}
