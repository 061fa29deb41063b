//! The operations on single notes.

use std::ops::Bound;

use tome_model::Scope;

use crate::commit::NoteChange;
use crate::folder::Folder;
use crate::history::{DELETED_VERSION, content_version};
use crate::inventory::Inventory;
use crate::notebook::{CreateMode, Notebook, decode_note};
use crate::path::NotePath;
use crate::state::NotebookState;
use crate::{
    Author, IndexExcerpt, Note, NoteHeader, NoteKind, NoteListing, NotebookError, Result,
    TextPatch, WrittenNote, edit, frontmatter, index, invisible, lessons, session_notes, summary,
};

/// Attempts at a change when other programs keep saving the note meanwhile.
const ATTEMPTS_MAX: usize = 3;

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
    /// Lists all notes in path order; empty if the notebook does not exist.
    pub fn list_notes(&self) -> Result<Vec<NoteListing>> {
        let listed = self.read_current(|state| {
            Ok(state.inventory.iter().map(|(path, entry)| entry.to_listing(path)).collect())
        })?;
        Ok(listed.unwrap_or_default())
    }

    /// Describes the files that are not served because the folder holds too many; `None` if all
    /// notes are served.
    pub fn describe_unserved_files(&self) -> Result<Option<String>> {
        let described = self.read_current(|state| {
            let unserved = &state.unserved;
            Ok((!unserved.is_empty()).then(|| format!("{}: {unserved}", self.root().display())))
        })?;
        Ok(described.flatten())
    }

    /// Renders the index: `MEMORY.md` of a project, `README.md` of the coder, a session's list.
    pub fn render_index(&self) -> Result<String> {
        let text =
            self.read_current(|state| Ok(index::render_index(self.scope, &state.inventory)))?;
        Ok(text.unwrap_or_else(|| index::render_index(self.scope, &Inventory::new())))
    }

    /// Renders the index within a budget, keeping the newest entries.
    pub fn render_index_excerpt(&self, lines_max: usize, bytes_max: usize) -> Result<IndexExcerpt> {
        let render =
            |inventory: &_| index::render_excerpt(self.scope, inventory, lines_max, bytes_max);
        let prompt = self.read_current(|state| Ok(render(&state.inventory)))?;
        Ok(prompt.unwrap_or_else(|| render(&Inventory::new())))
    }

    /// Reads one note. A session's overview and the coder's guides can be read before they exist:
    /// the result is the template that the first write starts from.
    pub fn read_note(&self, path: &str) -> Result<Note> {
        let path = NotePath::parse_for_reading(path)?;
        if path.is_index() {
            // The served index is always current, even if its file is out of date.
            self.refresh()?;
        }
        let content = match Folder::open(self.root())? {
            Some(folder) => folder.read_file(&path)?,
            None => None,
        };
        match content {
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
        Ok(self.read_current(|state| Ok(state.inventory.contains_key(path)))?.unwrap_or(false))
    }

    /// Whether this folder contains notes.
    pub fn has_folder(&self, path: &str) -> Result<bool> {
        let inside = format!("{path}/");
        let first = |state: &NotebookState| {
            let from = (Bound::Included(inside.as_str()), Bound::Unbounded);
            let next = state.inventory.range::<str, _>(from).next();
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
                (Some(typed), NoteKind::Other) => {
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
            let summarized =
                matches!(kind, NoteKind::Fact | NoteKind::Episode) || summary.is_some();
            if summary.is_some() && self.scope != Scope::Project {
                let message = "summary applies only to a project's notes: leave it out";
                return Err(NotebookError::Invalid(message.to_owned()));
            }
            Ok(if summarized {
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
        let deleted = self.write_current(CreateMode::Never, |state| {
            let (before, _) = state.folder.read_file(&path)?.ok_or_else(missing)?;
            let change = NoteChange { path: path.clone(), before: Some(before), after: None };
            state.commit(by, self.clock.now(), vec![change])
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
        if !self.root().exists() {
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
        let made = self.write_current(CreateMode::IfMissing, |state| {
            let before = state.folder.read_file(path)?.map(|(bytes, _)| bytes);
            let after = plan(before.as_deref(), &state.inventory)?;
            let (bytes, version) = (after.len() as u64, content_version(after.as_bytes()));
            let mut changes = self.initial_files(state, path)?;
            changes.push(NoteChange { path: path.clone(), before, after: Some(after.into()) });
            state.commit(by, self.clock.now(), changes)?;
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
            NoteKind::Other => frontmatter::set_updated(text, draft.today),
            _ => text.to_owned(),
        }
    }

    /// Returns the files to create along with the first note: a session's overview.
    fn initial_files(&self, state: &NotebookState, path: &NotePath) -> Result<Vec<NoteChange>> {
        let overview = NotePath::parse_for_reading("overview.md")?;
        let known = state.history.latest_version(overview.as_str()).is_some();
        if self.scope != Scope::Session || self.is_overview(path) || known {
            return Ok(Vec::new());
        }
        let there = state.folder.read_stamp(&overview)?.is_some();
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
            Scope::Coder => lessons::guides()
                .into_iter()
                .find(|(name, _)| *name == path.as_str())
                .map(|(_, text)| text),
            Scope::Project => None,
        }
    }
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
    let current = before.map_or_else(|| DELETED_VERSION.to_owned(), content_version);
    Err(NotebookError::VersionConflict {
        path: path.to_string(),
        expected: expected.to_owned(),
        found: current,
    })
}
