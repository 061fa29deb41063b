//! Operations on the coder's notebook: storing, recalling, linting and tidying insights.

use std::collections::BTreeMap;

use tome_model::Scope;

use crate::coder::{self, Tree};
use crate::commit::Change;
use crate::notebook::{Make, Notebook, note};
use crate::path::NotePath;
use crate::shelf::Shelf;
use crate::{
    Ask, Author, Finding, InsightDraft, NotebookError, Recalled, Result, Stored, Tidied, edit,
};

impl Notebook {
    /// Stores insights, all or none (coder's notebook only).
    pub fn store(&self, by: &Author, drafts: &[InsightDraft]) -> Result<Vec<Stored>> {
        self.check_scope()?;
        // Reject drafts that violate the guide before the notebook is created.
        let today = self.clock.today();
        coder::store(&Tree::new(), drafts, &today).map_err(NotebookError::BreaksGuide)?;
        let stored = self.writing(Make::IfMissing, |shelf| {
            let mut tree = tree(shelf)?;
            let mut seeded = Vec::new();
            for (path, text) in coder::seeds() {
                if !tree.contains_key(path) && shelf.history.latest(path).is_none() {
                    tree.insert(path.to_owned(), text.to_owned());
                    seeded
                        .push(coder::Change { path: path.to_owned(), text: Some(text.to_owned()) });
                }
            }
            let (changes, stored) =
                coder::store(&tree, drafts, &today).map_err(NotebookError::BreaksGuide)?;
            seeded.extend(changes);
            self.apply(shelf, by, seeded)?;
            Ok(stored)
        })?;
        Ok(stored.unwrap_or_default())
    }

    /// Finds the most relevant insights, possibly none. Read-only.
    pub fn recall(&self, ask: &Ask) -> Result<Recalled> {
        self.check_scope()?;
        let tree = self.reading(tree)?.unwrap_or_default();
        coder::recall(&tree, ask).map_err(NotebookError::Invalid)
    }

    /// Checks every insight file against the store guide.
    pub fn lint(&self) -> Result<Vec<Finding>> {
        self.check_scope()?;
        let read = self.reading(|shelf| Ok((tree(shelf)?, readmes(shelf)?)))?;
        let (tree, readmes) = read.unwrap_or_default();
        Ok(coder::lint(&tree, &readmes))
    }

    /// Merges duplicate insights and splits oversized files, without losing content.
    pub fn tidy(&self, by: &Author) -> Result<Tidied> {
        self.check_scope()?;
        let tidied = self.writing(Make::Never, |shelf| {
            let (changes, tidied) = coder::tidy(&tree(shelf)?);
            self.apply(shelf, by, changes)?;
            Ok(tidied)
        })?;
        Ok(tidied.unwrap_or_default())
    }

    fn apply(&self, shelf: &mut Shelf, by: &Author, changes: Vec<coder::Change>) -> Result<()> {
        // The last change to a file wins.
        let changes: BTreeMap<String, Option<String>> =
            changes.into_iter().map(|change| (change.path, change.text)).collect();
        let mut planned = Vec::new();
        for (path, after) in changes {
            let path = NotePath::for_reading(&path)?;
            if let Some(text) = &after {
                edit::check_text(path.as_str(), text)?;
            }
            let before = shelf.folder.read(&path)?.map(|(bytes, _)| bytes);
            planned.push(Change { path, before, after: after.map(String::into_bytes) });
        }
        shelf.commit(by, self.clock.now(), planned)
    }

    fn check_scope(&self) -> Result<()> {
        if self.scope() == Scope::Coder {
            return Ok(());
        }
        Err(NotebookError::Invalid("insights belong in the coder's notebook".to_owned()))
    }
}

/// Loads all insight files and guides; skips those that are not UTF-8.
fn tree(shelf: &Shelf) -> Result<Tree> {
    let mut tree = Tree::new();
    for path in shelf.inventory.keys() {
        if let Ok(Some((bytes, _))) = shelf.folder.read(path)
            && let Ok(note) = note(path, bytes)
        {
            tree.insert(path.to_string(), note.text);
        }
    }
    Ok(tree)
}

/// Reads the READMEs as they are on disk.
fn readmes(shelf: &Shelf) -> Result<BTreeMap<String, String>> {
    let mut readmes = BTreeMap::new();
    for (path, _) in shelf.folder.walk(&mut |_| {}, false)?.found {
        if path.is_index()
            && let Some((bytes, _)) = shelf.folder.read(&path)?
        {
            readmes.insert(path.to_string(), String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(readmes)
}
