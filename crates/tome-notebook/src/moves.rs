//! Renaming notes and folders, and deleting folders.

use crate::commit::NoteChange;
use crate::notebook::{CreateMode, Notebook};
use crate::path::NotePath;
use crate::state::NotebookState;
use crate::{Author, NotebookError, Result, edit};

impl Notebook {
    /// Moves a note, or a folder with all its notes, to an unused path.
    pub fn rename(&self, by: &Author, from: &str, to: &str) -> Result<()> {
        if from.ends_with(".md") {
            let from = NotePath::parse_for_writing(self.scope, from)?;
            let to = NotePath::parse_for_writing(self.scope, to)?;
            return self.move_notes(by, from.as_str(), |_| Ok(vec![(from.clone(), to.clone())]));
        }
        let (from, to) = (NotePath::parse_folder(from)?, NotePath::parse_folder(to)?);
        if to.ends_with(".md") || to.starts_with(&format!("{from}/")) {
            let why = "a folder cannot become a note or move into itself".to_owned();
            return Err(NotebookError::BadPath { path: to, why });
        }
        self.move_notes(by, &from, |state| {
            let target = |path: &NotePath| {
                let rest = path.as_str().strip_prefix(from.as_str()).unwrap_or_default();
                NotePath::parse_for_writing(self.scope, &format!("{to}{rest}"))
            };
            if state.inventory.keys().any(|path| is_inside_folder(path, &to)) {
                return Err(NotebookError::AlreadyExists(to.clone()));
            }
            notes_in(state, &from).map(|path| Ok((path.clone(), target(path)?))).collect()
        })
    }

    /// Deletes a folder with all its notes. Returns the number of notes.
    pub fn delete_folder(&self, by: &Author, folder: &str) -> Result<usize> {
        let folder = NotePath::parse_folder(folder)?;
        let deleted = self.write_current(CreateMode::Never, |state| {
            let mut changes = Vec::new();
            for path in notes_in(state, &folder) {
                let before = state.folder.read_file(path)?.map(|(bytes, _)| bytes);
                changes.push(NoteChange { path: path.clone(), before, after: None });
            }
            let count = changes.len();
            if count > 0 {
                state.commit(by, self.clock.now(), changes)?;
            }
            Ok(count)
        })?;
        match deleted {
            Some(count) if count > 0 => Ok(count),
            _ => Err(NotebookError::not_found(folder)),
        }
    }

    fn move_notes(
        &self,
        by: &Author,
        from: &str,
        plan: impl FnOnce(&NotebookState) -> Result<Vec<(NotePath, NotePath)>>,
    ) -> Result<()> {
        let moved = self.write_current(CreateMode::Never, |state| {
            let plan = plan(state)?;
            let mut changes = Vec::new();
            for (from, to) in &plan {
                edit::check_allowed(&self.rules, self.scope, to)?;
                let read = |path| -> Result<Option<Vec<u8>>> {
                    Ok(state.folder.read_file(path)?.map(|(bytes, _)| bytes))
                };
                let bytes = read(from)?.ok_or_else(|| NotebookError::not_found(from.as_str()))?;
                if from != to && read(to)?.is_some() {
                    return Err(NotebookError::AlreadyExists(to.to_string()));
                }
                changes.push(NoteChange {
                    path: to.clone(),
                    before: None,
                    after: Some(bytes.clone()),
                });
                changes.push(NoteChange { path: from.clone(), before: Some(bytes), after: None });
            }
            if plan.iter().any(|(from, to)| from == to) {
                return Err(NotebookError::AlreadyExists(from.to_owned()));
            }
            let size = |change: &NoteChange| change.after.as_ref().map_or(0, Vec::len);
            let sizes: Vec<_> = changes.iter().map(|change| (&change.path, size(change))).collect();
            edit::check_budget(&self.rules, self.scope, &sizes, &state.inventory)?;
            if !plan.is_empty() {
                state.commit(by, self.clock.now(), changes)?;
            }
            Ok(plan.len())
        })?;
        match moved {
            Some(count) if count > 0 => Ok(()),
            _ => Err(NotebookError::not_found(from)),
        }
    }
}

fn is_inside_folder(path: &NotePath, folder: &str) -> bool {
    path.as_str().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

fn notes_in<'s>(state: &'s NotebookState, folder: &'s str) -> impl Iterator<Item = &'s NotePath> {
    state.inventory.keys().filter(move |path| is_inside_folder(path, folder))
}
