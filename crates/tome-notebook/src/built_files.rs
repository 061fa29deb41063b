//! The files that Tome builds, as they are on disk: distinguishes Tome's own output from manual
//! edits.
//!
//! `built` in the history's folder holds a line `<stamp> <path>` for each file as last written. It
//! is only a cache: if it is missing or wrong, an index that differs from a rebuild is saved to the
//! history before it is replaced, as if a person had written it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use tome_model::Scope;

use crate::file_stamp::FileStamp;
use crate::folder::{FileDurability, Folder, StagedFile};
use crate::inventory::{Inventory, NoteEntry};
use crate::path::NotePath;
use crate::{NotebookError, Result, index};

/// The known state of the built files.
pub(crate) struct BuiltFiles {
    memo: PathBuf,
    files: BTreeMap<NotePath, BuiltFile>,
}

struct BuiltFile {
    /// The text last written; `None` until the file has been checked.
    text: Option<String>,
    /// The file's stamp at that time.
    stamp: String,
    /// Whether the file may have changed since.
    doubtful: bool,
}

/// Staged changes that bring the built files up to date.
#[derive(Default)]
pub(crate) struct StagedRebuild<'f> {
    staged: Vec<(NotePath, String, StagedFile<'f>)>,
    untouched: Vec<(NotePath, String)>,
    /// Built files that are no longer needed.
    stale: Vec<NotePath>,
    /// Manual edits that the rebuild will overwrite.
    pub manual_edits: Vec<(NotePath, Vec<u8>)>,
}

impl BuiltFiles {
    pub fn load(history: &Path) -> Self {
        let memo = history.join("built");
        let files = read_memo(&memo).into_iter();
        let files =
            files.map(|(path, stamp)| (path, BuiltFile { text: None, stamp, doubtful: true }));
        Self { files: files.collect(), memo }
    }

    /// Marks a file as possibly changed if its stamp differs.
    pub fn mark_doubtful(&mut self, folder: &Folder, path: &NotePath) {
        if let Some(file) = self.files.get_mut(path) {
            let stamp = folder.read_stamp(path).ok().flatten();
            file.doubtful |= stamp.is_none_or(|stamp| stamp.to_text() != file.stamp);
        }
    }

    /// Whether any file may have changed since it was last written.
    pub fn is_doubtful(&self) -> bool {
        self.files.values().any(|file| file.doubtful)
    }

    pub fn mark_all_doubtful(&mut self) {
        self.files.values_mut().for_each(|file| file.doubtful = true);
    }

    /// Computes the built files after a change to one note from their current text; `None` if they
    /// have to be rebuilt.
    pub fn splice_index(
        &self,
        scope: Scope,
        inventory: &Inventory,
        path: &NotePath,
        old: Option<&NoteEntry>,
    ) -> Option<BTreeMap<NotePath, String>> {
        if scope != Scope::Project {
            return None;
        }
        let (index, file) = self.files.first_key_value()?;
        let text = file.text.as_deref().filter(|_| !file.doubtful)?;
        let text = index::splice_line(text, inventory, path, old)?;
        Some(BTreeMap::from([(index.clone(), text)]))
    }

    /// Stages everything needed to bring the built files up to date.
    pub fn stage_rebuild<'f>(
        &self,
        folder: &'f Folder,
        wanted: BTreeMap<NotePath, String>,
    ) -> Result<StagedRebuild<'f>> {
        let mut rebuild = StagedRebuild::default();
        for path in self.files.keys().filter(|path| !wanted.contains_key(*path)) {
            rebuild.stale.push(path.clone());
            if let Some((bytes, stamp)) = read_built_file(folder, path)?
                && !self.is_built_by_tome(path, &bytes, stamp)
            {
                rebuild.manual_edits.push((path.clone(), bytes));
            }
        }
        for (path, text) in wanted {
            let existing = self.files.get(&path);
            let trusted = existing
                .filter(|existing| !existing.doubtful)
                .and_then(|existing| existing.text.as_ref());
            if trusted == Some(&text) {
                continue;
            }
            let there = if trusted.is_some() { None } else { read_built_file(folder, &path)? };
            if let Some((bytes, stamp)) = there {
                if bytes == text.as_bytes() {
                    rebuild.untouched.push((path, text));
                    continue;
                }
                if !self.is_built_by_tome(&path, &bytes, stamp) {
                    rebuild.manual_edits.push((path.clone(), bytes));
                }
            }
            let staged = folder.stage_file(&path, text.as_bytes(), FileDurability::Rebuildable)?;
            rebuild.staged.push((path, text, staged));
        }
        Ok(rebuild)
    }

    /// Whether Tome built a file in its current state; another Tome process may have done so since.
    fn is_built_by_tome(&self, path: &NotePath, bytes: &[u8], stamp: FileStamp) -> bool {
        let known = self.files.get(path).and_then(|known| known.text.as_ref());
        known.map(String::as_bytes) == Some(bytes)
            || read_memo(&self.memo).get(path) == Some(&stamp.to_text())
    }

    /// Moves the staged files into place.
    pub fn apply_rebuild(&mut self, folder: &Folder, rebuild: StagedRebuild<'_>) -> Result<()> {
        let changed = !(rebuild.staged.is_empty() && rebuild.stale.is_empty());
        for path in rebuild.stale {
            folder.remove_file(&path)?;
            folder.remove_empty_parents(&path);
            self.files.remove(&path);
        }
        for (path, text, staged) in rebuild.staged {
            staged.rename_into_place()?;
            self.remember_file(folder, path, text);
        }
        for (path, text) in rebuild.untouched {
            self.remember_file(folder, path, text);
        }
        if changed {
            self.write_memo();
        }
        Ok(())
    }

    fn remember_file(&mut self, folder: &Folder, path: NotePath, text: String) {
        let stamp = folder.read_stamp(&path).ok().flatten().unwrap_or_default().to_text();
        self.files.insert(path, BuiltFile { text: Some(text), stamp, doubtful: false });
    }

    fn write_memo(&self) {
        let mut text = String::new();
        for (path, file) in &self.files {
            text.push_str(&file.stamp);
            text.push(' ');
            text.push_str(path.as_str());
            text.push('\n');
        }
        // Not synced and not atomic: losing it costs one extra history entry.
        let file = std::fs::File::create(&self.memo);
        let _ = file.and_then(|mut file| file.write_all(text.as_bytes()));
    }
}

/// Reads the stamps of the built files as last written.
fn read_memo(memo: &Path) -> BTreeMap<NotePath, String> {
    let text = std::fs::read_to_string(memo).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let files = lines.filter_map(|(stamp, path)| {
        Some((NotePath::parse_for_reading(path).ok()?, stamp.to_owned()))
    });
    // Listed files that are no longer needed are deleted, so a note must never count, whatever the
    // file lists.
    files.filter(|(path, _)| path.is_index()).collect()
}

/// Reads a built file. Special files and links count as missing here; staging rejects them.
fn read_built_file(folder: &Folder, path: &NotePath) -> Result<Option<(Vec<u8>, FileStamp)>> {
    match folder.read_file(path) {
        Err(NotebookError::Unreadable { .. } | NotebookError::PathEscapes(_)) => Ok(None),
        other => other,
    }
}
