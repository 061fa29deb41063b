//! Reads the history of a notebook and restores earlier versions.

use std::collections::BTreeMap;
use std::path::Path;

use crate::commit::NoteChange;
use crate::history::{DELETED_VERSION, History, VersionContent, content_version};
use crate::notebook::{CreateMode, Notebook, decode_note};
use crate::path::NotePath;
use crate::{Author, Note, NoteVersion, NotebookError, Result, WrittenNote, edit};

/// Digits required to identify a version.
const VERSION_DIGITS_MIN: usize = 4;

impl Notebook {
    /// Reads the history, oldest first, of one note (even a deleted one) or of all.
    pub fn read_history(&self, path: Option<&str>) -> Result<Vec<NoteVersion>> {
        let path = path.map(NotePath::parse_for_reading).transpose()?;
        let path = path.as_ref().map(NotePath::as_str);
        let versions = self.read_current(|state| state.history.read_versions(path))?;
        let versions = match versions {
            Some(versions) => versions,
            // The folder is gone, but the history is still readable.
            None => History::new(self.history_folder()).read_versions(path)?,
        };
        match path {
            Some(path) if versions.is_empty() => {
                self.read_note(path)?;
                Ok(versions)
            }
            _ => Ok(versions),
        }
    }

    /// Adds the versions in another home's history file that this notebook lacks, with their times and
    /// authors; the notes stay as they are. Returns the number of added versions.
    pub fn import_history(&self, other: &Path) -> Result<u64> {
        let imported = self.with_state(CreateMode::IfMissing, |state| {
            state.detect_changes(self.clock.now(), true)?;
            state.prepare_first_write()?;
            state.history.import(other)
        })?;
        Ok(imported.unwrap_or(0))
    }

    /// Detects changes on disk like [`Self::refresh`]. New files that are `copies` of versions that
    /// other notes had, by path, are recorded with the authors of these.
    pub fn refresh_with_copies(&self, copies: &BTreeMap<String, String>) -> Result<usize> {
        let noticed = self.with_state(CreateMode::Never, |state| {
            state.copies.clone_from(copies);
            let noticed = self.sync_with_disk(state);
            state.copies.clear();
            noticed
        })?;
        Ok(noticed.unwrap_or(0))
    }

    /// Reads the text of a note at a version, given in full or as a prefix.
    pub fn read_version(&self, path: &str, version: &str) -> Result<Note> {
        let path = NotePath::parse_for_reading(path)?;
        self.refresh()?;
        let bytes = self.load_content_at(&path, version)?;
        decode_note(&path, bytes)
    }

    /// Restores a version: the given one, else the one before the current (for a deleted note, its
    /// last).
    pub fn restore_version(
        &self,
        by: &Author,
        path: &str,
        version: Option<&str>,
    ) -> Result<WrittenNote> {
        let path = NotePath::parse_for_writing(self.scope, path)?;
        edit::check_allowed(&self.rules, self.scope, &path)?;
        if !self.root().exists() {
            // A restore that cannot succeed must not create the notebook.
            match version {
                Some(version) => self.load_content_at(&path, version)?,
                None => find_previous_content(&History::new(self.history_folder()), &path, None)?,
            };
        }
        let restored = self.write_current(CreateMode::IfMissing, |state| {
            let before = state.folder.read_file(&path)?.map(|(bytes, _)| bytes);
            let after = match version {
                Some(version) => self.load_content_at(&path, version)?,
                None => find_previous_content(&state.history, &path, before.as_deref())?,
            };
            let sizes = [(&path, after.len())];
            edit::check_budget(&self.rules, self.scope, &sizes, &state.inventory)?;
            let (bytes, version) = (after.len() as u64, content_version(&after));
            let change = NoteChange { path: path.clone(), before, after: Some(after) };
            state.commit(by, self.clock.now(), vec![change])?;
            Ok(WrittenNote { path: path.to_string(), bytes, version, applied: 0 })
        })?;
        restored.ok_or_else(|| NotebookError::not_found(path.as_str()))
    }

    fn load_content_at(&self, path: &NotePath, version: &str) -> Result<Vec<u8>> {
        if version.len() < VERSION_DIGITS_MIN || version == DELETED_VERSION {
            let message = format!(
                "{version:?} is not a version: give at least {VERSION_DIGITS_MIN} digits of one listed by `tome memory log {path}`"
            );
            return Err(NotebookError::Invalid(message));
        }
        let mut matched: Option<(String, Vec<u8>)> = None;
        let mut ambiguous = false;
        History::new(self.history_folder()).for_each_content(
            path.as_str(),
            &mut |VersionContent { version: known, content, .. }| {
                let is_other = |(other, _): &(String, Vec<u8>)| other != known;
                match content {
                    _ if !known.starts_with(version) => {}
                    _ if matched.as_ref().is_some_and(is_other) => ambiguous = true,
                    Some(content) => matched = Some((known.to_owned(), content.to_vec())),
                    None => {}
                }
            },
        )?;
        if ambiguous {
            let message = format!("{version} matches several versions: give more digits");
            return Err(NotebookError::Invalid(message));
        }
        matched.map(|(_, content)| content).ok_or_else(|| NotebookError::NotFound {
            path: format!("version {version} of {path}"),
            hint: Some(format!("`tome memory log {path}` lists its versions")),
        })
    }
}

/// Finds the latest content that differs from the current one; one from another home only if there was
/// none here.
fn find_previous_content(
    history: &History,
    path: &NotePath,
    now: Option<&[u8]>,
) -> Result<Vec<u8>> {
    let (mut last, mut last_restored) = (None, None);
    history.for_each_content(
        path.as_str(),
        &mut |VersionContent { content, is_restored, .. }| {
            if content.is_some() && content != now {
                let last = if is_restored { &mut last_restored } else { &mut last };
                *last = content.map(<[u8]>::to_vec);
            }
        },
    )?;
    last.or(last_restored).ok_or_else(|| NotebookError::NotFound {
        path: format!("an earlier version of {path}"),
        hint: Some("`tome memory log` lists all versions".to_owned()),
    })
}
