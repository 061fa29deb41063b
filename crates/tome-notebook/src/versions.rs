//! The history as it is asked for: what happened, what a note said, bringing it back.

use crate::commit::Change;
use crate::history::{GONE, History, version_of};
use crate::notebook::{Make, Notebook, note};
use crate::path::NotePath;
use crate::{Author, Note, NotebookError, Result, Version, Written, edit};

/// Of a version at least so many digits are needed.
const VERSION_DIGITS_MIN: usize = 4;

impl Notebook {
    /// The history, oldest first: of one note (also a deleted one), or of all.
    pub fn log(&self, path: Option<&str>) -> Result<Vec<Version>> {
        let path = path.map(NotePath::for_reading).transpose()?;
        let path = path.as_ref().map(NotePath::as_str);
        let versions = self.reading(|shelf| shelf.history.log(path))?;
        let versions = match versions {
            Some(versions) => versions,
            // The folder is gone, and what was in it can still be got back.
            None => History::of(self.history()).log(path)?,
        };
        match path {
            Some(path) if versions.is_empty() => {
                self.read(path)?;
                Ok(versions)
            }
            _ => Ok(versions),
        }
    }

    /// A note's text at a version (or the beginning of one).
    pub fn version(&self, path: &str, version: &str) -> Result<Note> {
        let path = NotePath::for_reading(path)?;
        self.refresh()?;
        let bytes = self.content_at(&path, version)?;
        note(&path, bytes)
    }

    /// Brings a version back: the one given, else the last before the present one (of a deleted
    /// note: its last).
    pub fn restore(&self, by: &Author, path: &str, version: Option<&str>) -> Result<Written> {
        let path = NotePath::for_writing(self.scope, path)?;
        edit::check_allowed(&self.rules, self.scope, &path)?;
        if !self.root().exists() {
            // What cannot be brought back makes no notebook.
            match version {
                Some(version) => self.content_at(&path, version)?,
                None => previous(&History::of(self.history()), &path, None)?,
            };
        }
        let restored = self.writing(Make::IfMissing, |shelf| {
            let before = shelf.folder.read(&path)?.map(|(bytes, _)| bytes);
            let after = match version {
                Some(version) => self.content_at(&path, version)?,
                None => previous(&shelf.history, &path, before.as_deref())?,
            };
            let sizes = [(&path, after.len())];
            edit::check_budget(&self.rules, self.scope, &sizes, &shelf.inventory)?;
            let (bytes, version) = (after.len() as u64, version_of(&after));
            let change = Change { path: path.clone(), before, after: Some(after) };
            shelf.commit(by, self.clock.now(), vec![change])?;
            Ok(Written { path: path.to_string(), bytes, version, applied: 0 })
        })?;
        restored.ok_or_else(|| NotebookError::missing(path.as_str()))
    }

    fn content_at(&self, path: &NotePath, version: &str) -> Result<Vec<u8>> {
        if version.len() < VERSION_DIGITS_MIN || version == GONE {
            let said = format!(
                "{version:?} is not a version: give at least {VERSION_DIGITS_MIN} digits of one that `tome memory log {path}` lists"
            );
            return Err(NotebookError::Invalid(said));
        }
        let mut found: Option<(String, Vec<u8>)> = None;
        let mut ambiguous = false;
        History::of(self.history()).each_content(path.as_str(), &mut |known, content| {
            let is_other = |(other, _): &(String, Vec<u8>)| other != known;
            match content {
                _ if !known.starts_with(version) => {}
                _ if found.as_ref().is_some_and(is_other) => ambiguous = true,
                Some(content) => found = Some((known.to_owned(), content.to_vec())),
                None => {}
            }
        })?;
        if ambiguous {
            let said = format!("{version} is the beginning of several versions: give more of it");
            return Err(NotebookError::Invalid(said));
        }
        found.map(|(_, content)| content).ok_or_else(|| NotebookError::NotFound {
            path: format!("version {version} of {path}"),
            hint: Some(format!("`tome memory log {path}` lists its versions")),
        })
    }
}

/// The last content that is not the present one.
fn previous(history: &History, path: &NotePath, now: Option<&[u8]>) -> Result<Vec<u8>> {
    let mut last = None;
    history.each_content(path.as_str(), &mut |_, content| {
        if content.is_some() && content != now {
            last = content.map(<[u8]>::to_vec);
        }
    })?;
    last.ok_or_else(|| NotebookError::NotFound {
        path: format!("an earlier version of {path}"),
        hint: Some("`tome memory log` lists what there is".to_owned()),
    })
}
