//! Plans and applies the changes of an installation.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::record::{Book, Entry, Shape, hash_of};
use super::{EditError, Form, Ground, SKILL_FILE, SetupError, disk, edit, skills};
use crate::agents::wiring::Client;

#[derive(Debug, Default)]
pub struct Plan {
    /// One entry per path.
    pub files: Vec<FilePlan>,
}

#[derive(Debug)]
pub struct FilePlan {
    pub path: PathBuf,
    /// In order of installation.
    pub agents: Vec<&'static str>,
    /// The desired content.
    pub form: Form,
    /// The current content.
    pub now: Option<Vec<u8>>,
    pub action: Action,
}

#[derive(Debug)]
pub enum Action {
    /// Already up to date.
    Keep,
    Create(String),
    Change(String),
    /// Not Tome's file, or changed by the user; with the reason.
    Leave(String),
    Refuse(SetupError),
}

impl FilePlan {
    pub fn text(&self) -> Option<&str> {
        match &self.action {
            Action::Create(text) | Action::Change(text) => Some(text),
            Action::Keep | Action::Leave(_) | Action::Refuse(_) => None,
        }
    }

    /// Whether the current content contains parts of Tome.
    pub fn is_wired(&self) -> bool {
        let now = self.now.as_deref().and_then(|now| std::str::from_utf8(now).ok());
        now.is_some_and(|now| edit::holds_ours(&self.form, now))
    }
}

/// Compares the files of these agents with the disk.
pub fn plan(clients: &[&'static Client], ground: &Ground<'_>, book: &Book) -> Plan {
    let mut plan = Plan::default();
    for client in clients {
        for mut part in (client.parts)(ground) {
            if part.path.ends_with(SKILL_FILE) {
                match skills::choose_file(client, ground, part.path, &plan.files) {
                    Some(path) => part.path = path,
                    None => continue,
                }
            }
            if let Some(known) = plan.files.iter_mut().find(|known| known.path == part.path) {
                known.agents.push(client.name);
                continue;
            }
            let read = disk::read(&part.path).map_err(SetupError::disk(&part.path));
            let (now, action) = match read {
                Ok(now) => {
                    let action = action(&part.path, &part.form, now.as_deref(), book);
                    (now, action)
                }
                Err(error) => (None, Action::Refuse(error)),
            };
            let agents = vec![client.name];
            plan.files.push(FilePlan { path: part.path, agents, form: part.form, now, action });
        }
    }
    plan
}

fn action(path: &std::path::Path, form: &Form, now: Option<&[u8]>, book: &Book) -> Action {
    let refuse = |cause: EditError| {
        Action::Refuse(SetupError::Text { path: path.display().to_string(), cause })
    };
    let text = match now.map(std::str::from_utf8).transpose() {
        Ok(text) => text,
        Err(error) => {
            let bytes = now.and_then(|now| now.get(..error.valid_up_to())).unwrap_or_default();
            let line = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            return refuse(EditError::Broken { line, problem: "not UTF-8".to_owned() });
        }
    };
    if let (Some(text), Form::Text { content, mark }) = (text, form) {
        let left_by_tome = book.entry(path).map(|entry| entry.after == hash_of(text.as_bytes()));
        match left_by_tome {
            _ if text == content => return Action::Keep,
            Some(true) => {}
            Some(false) => return Action::Leave("changed by you, left as it is".to_owned()),
            None if text.contains(mark) => {}
            None => return Action::Leave("not Tome's file, left as it is".to_owned()),
        }
    }
    let after = match edit::wire(form, text) {
        Ok(after) => after,
        Err(cause) => return refuse(cause),
    };
    match text {
        Some(text) if text == after => Action::Keep,
        Some(_) => match disk::may_write(path) {
            Ok(()) => Action::Change(after),
            Err(cause) => Action::Refuse(SetupError::disk(path)(cause)),
        },
        None => Action::Create(after),
    }
}

/// Applies a plan: first writes the undo journal, then the files. Returns the files that failed;
/// the others are written.
pub fn apply(
    plan: &Plan,
    ground: &Ground<'_>,
    book: &mut Book,
) -> Result<Vec<SetupError>, std::io::Error> {
    let mut failed = Vec::new();
    let mut chosen = Vec::new();
    for file in &plan.files {
        match record(file, ground, book) {
            Ok(()) => chosen.push(file),
            Err(error) => failed.push(error),
        }
    }
    book.save()?;
    for file in chosen {
        let Some(text) = file.text() else { continue };
        let written = file.path.parent().map_or(Ok(()), fs::create_dir_all);
        let written = written.and_then(|()| disk::write(&file.path, text.as_bytes()));
        failed.extend(written.err().map(SetupError::disk(&file.path)));
    }
    Ok(failed)
}

/// Records the original content of a file in the undo journal.
fn record(file: &FilePlan, ground: &Ground<'_>, book: &mut Book) -> Result<(), SetupError> {
    let disk_error = || SetupError::disk(&file.path);
    let known = book.entry(&file.path).cloned();
    let mut agents: BTreeSet<String> =
        known.as_ref().map(|known| known.agents.clone()).unwrap_or_default();
    agents.extend(file.agents.iter().map(|agent| (*agent).to_owned()));
    let Some(text) = file.text() else {
        // Unchanged, but another agent may now use it.
        if let Some(known) = known.filter(|_| matches!(file.action, Action::Keep)) {
            book.put(Entry { agents, ..known });
        }
        return Ok(());
    };
    let now = disk::read(&file.path).map_err(disk_error())?;
    if now != file.now {
        return Err(disk_error()(std::io::Error::other(
            "it changed in the meantime and was not touched; run `tome setup` again",
        )));
    }
    let mut entry = Entry {
        path: file.path.clone(),
        agents,
        project: ground.project.clone(),
        form: Shape::of(&file.form),
        before: None,
        after: hash_of(text.as_bytes()),
        made: disk::missing_folders(&file.path),
    };
    let hash = now.as_deref().map(hash_of);
    match known {
        // As Tome left it, or restored by the user: the recorded original is still valid.
        Some(known) if hash == Some(known.after.clone()) || hash == known.before => {
            entry.before = known.before;
            entry.made = [known.made, entry.made].concat();
            entry.made.dedup();
        }
        // Changed since, or installed by hand: the original is the content without Tome's parts.
        known => {
            let bare = now.as_deref().map(|now| bare(file, now, known.as_ref(), book));
            // If everything in it is Tome's, the file did not exist before.
            let is_ours = known.as_ref().is_some_and(|known| known.before.is_none())
                || matches!(file.form, Form::Text { .. });
            let bare = bare.filter(|bare| !is_ours || !edit::is_nothing(bare));
            entry.before = bare.map(|bare| book.keep(&bare)).transpose().map_err(disk_error())?;
            entry.made = [known.map(|known| known.made).unwrap_or_default(), entry.made].concat();
        }
    }
    book.put(entry);
    Ok(())
}

fn bare(file: &FilePlan, now: &[u8], known: Option<&Entry>, book: &Book) -> Vec<u8> {
    let before = known.and_then(|known| book.before(known).ok().flatten());
    let before = before.and_then(|before| String::from_utf8(before).ok());
    let text = std::str::from_utf8(now).unwrap_or_default();
    match edit::unwire(&file.form, text, before.as_deref()) {
        Ok(bare) => bare.into_bytes(),
        Err(_) => now.to_vec(),
    }
}
