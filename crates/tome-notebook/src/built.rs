//! The files that Tome builds, as they lie on disk: which of them are Tome's own work, and which
//! somebody has changed by hand.
//!
//! `built` in the history's folder holds a line `<how the file looks> <path>` for each file as it was
//! last written. It is only a memory aid: where it is missing or wrong, an index that differs from a
//! rebuild is kept in the history before it is replaced, as if a person had written it.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use tome_model::Scope;

use crate::folder::{Folder, Keep, Staged, Stamp};
use crate::inventory::{Entry, Inventory};
use crate::path::NotePath;
use crate::{NotebookError, Result, index};

/// What is known of the built files.
pub(crate) struct Built {
    memo: PathBuf,
    files: BTreeMap<NotePath, OnDisk>,
}

struct OnDisk {
    /// What was last written; `None` before the first look.
    text: Option<String>,
    /// How the file looked then.
    stamp: String,
    /// Whether it may have been changed since.
    doubtful: bool,
}

/// What has to happen so that the built files are true.
#[derive(Default)]
pub(crate) struct Rebuild<'f> {
    staged: Vec<(NotePath, String, Staged<'f>)>,
    untouched: Vec<(NotePath, String)>,
    /// Built files whose folders are gone.
    stale: Vec<NotePath>,
    /// What people had written into them.
    pub by_hand: Vec<(NotePath, Vec<u8>)>,
}

impl Built {
    pub fn of(history: &Path) -> Self {
        let memo = history.join("built");
        let files = noted(&memo).into_iter();
        let files = files.map(|(path, stamp)| (path, OnDisk { text: None, stamp, doubtful: true }));
        Self { files: files.collect(), memo }
    }

    /// One of them was changed, perhaps by somebody else.
    pub fn doubt(&mut self, folder: &Folder, path: &NotePath) {
        if let Some(file) = self.files.get_mut(path) {
            let stamp = folder.stamp(path).ok().flatten();
            file.doubtful |= stamp.is_none_or(|stamp| stamp.to_text() != file.stamp);
        }
    }

    /// Whether any of them may not be as it was last written.
    pub fn is_doubtful(&self) -> bool {
        self.files.values().any(|file| file.doubtful)
    }

    /// Any of them may have been.
    pub fn doubt_all(&mut self) {
        self.files.values_mut().for_each(|file| file.doubtful = true);
    }

    /// What the built files should be after one note has changed, where that can be told from what
    /// they are.
    pub fn respliced(
        &self,
        scope: Scope,
        inventory: &Inventory,
        path: &NotePath,
        old: Option<&Entry>,
    ) -> Option<BTreeMap<NotePath, String>> {
        if scope != Scope::Project {
            return None;
        }
        let (index, file) = self.files.first_key_value()?;
        let text = file.text.as_deref().filter(|_| !file.doubtful)?;
        let text = index::respliced(text, inventory, path, old)?;
        Some(BTreeMap::from([(index.clone(), text)]))
    }

    /// Prepares everything that makes the built files what they should be.
    pub fn prepare<'f>(
        &self,
        folder: &'f Folder,
        wanted: BTreeMap<NotePath, String>,
    ) -> Result<Rebuild<'f>> {
        let mut rebuild = Rebuild::default();
        for path in self.files.keys().filter(|path| !wanted.contains_key(*path)) {
            rebuild.stale.push(path.clone());
            if let Some((bytes, stamp)) = read(folder, path)?
                && !self.is_own(path, &bytes, stamp)
            {
                rebuild.by_hand.push((path.clone(), bytes));
            }
        }
        for (path, text) in wanted {
            let known = self.files.get(&path);
            let trusted =
                known.filter(|known| !known.doubtful).and_then(|known| known.text.as_ref());
            if trusted == Some(&text) {
                continue;
            }
            let there = if trusted.is_some() { None } else { read(folder, &path)? };
            if let Some((bytes, stamp)) = there {
                if bytes == text.as_bytes() {
                    rebuild.untouched.push((path, text));
                    continue;
                }
                if !self.is_own(&path, &bytes, stamp) {
                    rebuild.by_hand.push((path.clone(), bytes));
                }
            }
            let staged = folder.stage(&path, text.as_bytes(), Keep::Rebuildable)?;
            rebuild.staged.push((path, text, staged));
        }
        Ok(rebuild)
    }

    /// Whether Tome built a file as it is; another process of Tome's may have since.
    fn is_own(&self, path: &NotePath, bytes: &[u8], stamp: Stamp) -> bool {
        let known = self.files.get(path).and_then(|known| known.text.as_ref());
        known.map(String::as_bytes) == Some(bytes)
            || noted(&self.memo).get(path) == Some(&stamp.to_text())
    }

    /// Puts what was prepared in its place.
    pub fn land(&mut self, folder: &Folder, rebuild: Rebuild<'_>) -> Result<()> {
        let changed = !(rebuild.staged.is_empty() && rebuild.stale.is_empty());
        for path in rebuild.stale {
            folder.remove(&path)?;
            folder.remove_empty_above(&path);
            self.files.remove(&path);
        }
        for (path, text, staged) in rebuild.staged {
            staged.land_over()?;
            self.know(folder, path, text);
        }
        for (path, text) in rebuild.untouched {
            self.know(folder, path, text);
        }
        if changed {
            self.note_down();
        }
        Ok(())
    }

    fn know(&mut self, folder: &Folder, path: NotePath, text: String) {
        let stamp = folder.stamp(&path).ok().flatten().unwrap_or_default().to_text();
        self.files.insert(path, OnDisk { text: Some(text), stamp, doubtful: false });
    }

    fn note_down(&self) {
        let mut text = String::new();
        for (path, file) in &self.files {
            text.push_str(&file.stamp);
            text.push(' ');
            text.push_str(path.as_str());
            text.push('\n');
        }
        // Not synced and not atomic: losing it costs an entry in the history, nothing else.
        let file = std::fs::File::create(&self.memo);
        let _ = file.and_then(|mut file| file.write_all(text.as_bytes()));
    }
}

/// How the built files looked when they were last written.
fn noted(memo: &Path) -> BTreeMap<NotePath, String> {
    let text = std::fs::read_to_string(memo).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    let files = lines
        .filter_map(|(stamp, path)| Some((NotePath::for_reading(path).ok()?, stamp.to_owned())));
    // What is listed here and not wanted is deleted: never a note, whatever the file says.
    files.filter(|(path, _)| path.is_index()).collect()
}

/// What is on disk where an index belongs; something that is no file is left for staging to refuse.
fn read(folder: &Folder, path: &NotePath) -> Result<Option<(Vec<u8>, Stamp)>> {
    match folder.read(path) {
        Err(NotebookError::Unreadable { .. } | NotebookError::Escapes(_)) => Ok(None),
        other => other,
    }
}
