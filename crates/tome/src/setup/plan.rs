//! What would have to change on the disk, and the changing.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::record::{Book, Entry, Shape, hash_of};
use super::{EditError, Form, Ground, SKILL_FILE, SetupError, disk, edit, skills};
use crate::agents::wiring::Client;

/// What is to be done to the files of some agents.
#[derive(Debug, Default)]
pub struct Plan {
    /// Each file once.
    pub files: Vec<FilePlan>,
}

/// What is to be done to one file.
#[derive(Debug)]
pub struct FilePlan {
    /// Which.
    pub path: PathBuf,
    /// For which agents, the first one first.
    pub agents: Vec<&'static str>,
    /// What should be in it.
    pub form: Form,
    /// What is in it now.
    pub now: Option<Vec<u8>>,
    /// What to do.
    pub action: Action,
}

/// What is to be done to a file.
#[derive(Debug)]
pub enum Action {
    /// It is as it should be.
    Keep,
    /// Make it.
    Create(String),
    /// Change what it says.
    Change(String),
    /// Not Tome's business: somebody else's file, or one that the person changed.
    Leave(String),
    /// It cannot be done.
    Refuse(SetupError),
}

impl FilePlan {
    /// The new text, where there is one.
    pub fn text(&self) -> Option<&str> {
        match &self.action {
            Action::Create(text) | Action::Change(text) => Some(text),
            Action::Keep | Action::Leave(_) | Action::Refuse(_) => None,
        }
    }

    /// Whether Tome has anything in this file now.
    pub fn is_wired(&self) -> bool {
        let now = self.now.as_deref().and_then(|now| std::str::from_utf8(now).ok());
        now.is_some_and(|now| edit::holds_ours(&self.form, now))
    }
}

/// Looks at all files of these agents.
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
            return refuse(EditError::Broken { line, problem: "it is not UTF-8".to_owned() });
        }
    };
    if let (Some(text), Form::Text { content, mark }) = (text, form) {
        let left_by_tome = book.entry(path).map(|entry| entry.after == hash_of(text.as_bytes()));
        match left_by_tome {
            _ if text == content => return Action::Keep,
            Some(true) => {}
            Some(false) => return Action::Leave("you have changed it; it stays so".to_owned()),
            None if text.contains(mark) => {}
            None => return Action::Leave("it is somebody else's; it stays so".to_owned()),
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

/// Does it: first the record, then the files. Each file that failed is named with why; the others
/// are done.
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

/// Notes down what a file is before it is changed.
fn record(file: &FilePlan, ground: &Ground<'_>, book: &mut Book) -> Result<(), SetupError> {
    let disk_error = || SetupError::disk(&file.path);
    let known = book.entry(&file.path).cloned();
    let mut agents: BTreeSet<String> =
        known.as_ref().map(|known| known.agents.clone()).unwrap_or_default();
    agents.extend(file.agents.iter().map(|agent| (*agent).to_owned()));
    let Some(text) = file.text() else {
        // Nothing to change, but another agent may have come to use it.
        if let Some(known) = known.filter(|_| matches!(file.action, Action::Keep)) {
            book.put(Entry { agents, ..known });
        }
        return Ok(());
    };
    let now = disk::read(&file.path).map_err(disk_error())?;
    if now != file.now {
        return Err(disk_error()(std::io::Error::other(
            "it was changed meanwhile and was not touched; run `tome setup` again",
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
        // As Tome left it, or as it was before: what it was then is still what it was.
        Some(known) if hash == Some(known.after.clone()) || hash == known.before => {
            entry.before = known.before;
            entry.made = [known.made, entry.made].concat();
            entry.made.dedup();
        }
        // Changed since, or wired by hand: what it is without Tome is what it was.
        known => {
            let bare = now.as_deref().map(|now| bare(file, now, known.as_ref(), book));
            // Where all of it is Tome's, it was not there.
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

/// What a file says without Tome's parts.
fn bare(file: &FilePlan, now: &[u8], known: Option<&Entry>, book: &Book) -> Vec<u8> {
    let before = known.and_then(|known| book.before(known).ok().flatten());
    let before = before.and_then(|before| String::from_utf8(before).ok());
    let text = std::str::from_utf8(now).unwrap_or_default();
    match edit::unwire(&file.form, text, before.as_deref()) {
        Ok(bare) => bare.into_bytes(),
        Err(_) => now.to_vec(),
    }
}
