//! Operations on the coder's notebook: storing, linting and tidying lessons.

use std::collections::BTreeMap;

use tome_model::Scope;

use crate::commit::NoteChange;
use crate::lessons::{self, LessonTree};
use crate::notebook::{CreateMode, Notebook, decode_note};
use crate::path::NotePath;
use crate::state::NotebookState;
use crate::{
    Author, LessonDraft, LintFinding, NotebookError, Result, StoredLesson, TidyReport, edit,
};

impl Notebook {
    /// Stores lessons, all or none (coder's notebook only).
    pub fn store_lessons(&self, by: &Author, drafts: &[LessonDraft]) -> Result<Vec<StoredLesson>> {
        self.check_coder_scope()?;
        // Reject drafts that violate the guide before the notebook is created.
        let today = self.clock.today();
        lessons::store_lessons(&LessonTree::new(), drafts, &today)
            .map_err(NotebookError::GuideViolations)?;
        let stored = self.write_current(CreateMode::IfMissing, |state| {
            let mut tree = load_tree(state)?;
            let mut seeded = Vec::new();
            for (path, text) in lessons::initial_files() {
                if !tree.contains_key(path) && state.history.latest_version(path).is_none() {
                    tree.insert(path.to_owned(), text.to_owned());
                    seeded.push(lessons::LessonFileChange {
                        path: path.to_owned(),
                        text: Some(text.to_owned()),
                    });
                }
            }
            let (changes, stored) = lessons::store_lessons(&tree, drafts, &today)
                .map_err(NotebookError::GuideViolations)?;
            seeded.extend(changes);
            self.apply_lesson_changes(state, by, seeded)?;
            Ok(stored)
        })?;
        Ok(stored.unwrap_or_default())
    }

    /// Checks every lesson file against the store guide.
    pub fn lint_lessons(&self) -> Result<Vec<LintFinding>> {
        self.check_coder_scope()?;
        let read = self.read_current(|state| Ok((load_tree(state)?, read_readmes(state)?)))?;
        let (tree, readmes) = read.unwrap_or_default();
        Ok(lessons::lint(&tree, &readmes))
    }

    /// Merges duplicate lessons and splits oversized files, without losing content.
    pub fn tidy_lessons(&self, by: &Author) -> Result<TidyReport> {
        self.check_coder_scope()?;
        let tidied = self.write_current(CreateMode::Never, |state| {
            let (changes, tidied) = lessons::tidy_lessons(&load_tree(state)?);
            self.apply_lesson_changes(state, by, changes)?;
            Ok(tidied)
        })?;
        Ok(tidied.unwrap_or_default())
    }

    fn apply_lesson_changes(
        &self,
        state: &mut NotebookState,
        by: &Author,
        changes: Vec<lessons::LessonFileChange>,
    ) -> Result<()> {
        // The last change to a file wins.
        let changes: BTreeMap<String, Option<String>> =
            changes.into_iter().map(|change| (change.path, change.text)).collect();
        let mut planned = Vec::new();
        for (path, after) in changes {
            let path = NotePath::parse_for_reading(&path)?;
            if let Some(text) = &after {
                edit::check_text(path.as_str(), text)?;
            }
            let before = state.folder.read_file(&path)?.map(|(bytes, _)| bytes);
            planned.push(NoteChange { path, before, after: after.map(String::into_bytes) });
        }
        state.commit(by, self.clock.now(), planned)
    }

    fn check_coder_scope(&self) -> Result<()> {
        if self.scope() == Scope::Coder {
            return Ok(());
        }
        Err(NotebookError::Invalid("lessons belong in the coder's notebook".to_owned()))
    }
}

/// Loads all lesson files and guides; skips those that are not UTF-8.
fn load_tree(state: &NotebookState) -> Result<LessonTree> {
    let mut tree = LessonTree::new();
    for path in state.inventory.keys() {
        if let Ok(Some((bytes, _))) = state.folder.read_file(path)
            && let Ok(note) = decode_note(path, bytes)
        {
            tree.insert(path.to_string(), note.text);
        }
    }
    Ok(tree)
}

/// Reads the READMEs as they are on disk.
fn read_readmes(state: &NotebookState) -> Result<BTreeMap<String, String>> {
    let mut readmes = BTreeMap::new();
    for (path, _) in state.folder.list_files(&mut |_| {}, false)?.files {
        if path.is_index()
            && let Some((bytes, _)) = state.folder.read_file(&path)?
        {
            readmes.insert(path.to_string(), String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(readmes)
}
