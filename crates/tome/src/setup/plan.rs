//! Plans and applies the changes of an installation.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use super::integration::AgentIntegration;
use super::undo_journal::{FileFormat, UndoEntry, UndoJournal, content_hash};
use super::{EditError, Environment, InstallContent, SKILL_FILE, SetupError, disk, edit, skills};

#[derive(Debug, Default)]
pub struct SetupPlan {
    /// One entry per path.
    pub files: Vec<FilePlan>,
}

#[derive(Debug)]
pub struct FilePlan {
    pub path: PathBuf,
    /// In order of installation.
    pub agents: Vec<&'static str>,
    /// The desired content.
    pub content: InstallContent,
    /// The current content.
    pub current: Option<Vec<u8>>,
    pub action: PlannedEdit,
}

#[derive(Debug)]
pub enum PlannedEdit {
    /// Already up to date.
    Keep,
    Create(String),
    Change(String),
    /// Not Tome's file, or changed by the user; with the reason.
    Leave(String),
    Refuse(SetupError),
}

impl FilePlan {
    pub fn new_text(&self) -> Option<&str> {
        match &self.action {
            PlannedEdit::Create(text) | PlannedEdit::Change(text) => Some(text),
            PlannedEdit::Keep | PlannedEdit::Leave(_) | PlannedEdit::Refuse(_) => None,
        }
    }

    /// Whether the current content contains parts of Tome.
    pub fn is_installed(&self) -> bool {
        let now = self.current.as_deref().and_then(|now| std::str::from_utf8(now).ok());
        now.is_some_and(|now| edit::contains_tome(&self.content, now))
    }
}

/// Compares the files of these agents with the disk.
pub fn build_plan(
    clients: &[&'static AgentIntegration],
    environment: &Environment<'_>,
    book: &UndoJournal,
) -> SetupPlan {
    let mut plan = SetupPlan::default();
    for client in clients {
        for mut part in (client.install_files)(environment) {
            if part.path.ends_with(SKILL_FILE) {
                let is_planned = |path: &PathBuf| plan.files.iter().any(|file| file.path == *path);
                match skills::choose_skill_file(client, environment, part.path, is_planned) {
                    Some(path) => part.path = path,
                    None => continue,
                }
            }
            if let Some(planned) = plan.files.iter_mut().find(|planned| planned.path == part.path) {
                planned.agents.push(client.name);
                continue;
            }
            let read = disk::read(&part.path).map_err(SetupError::disk(&part.path));
            let (now, action) = match read {
                Ok(now) => {
                    let action = decide_action(&part.path, &part.content, now.as_deref(), book);
                    (now, action)
                }
                Err(error) => (None, PlannedEdit::Refuse(error)),
            };
            let agents = vec![client.name];
            plan.files.push(FilePlan {
                path: part.path,
                agents,
                content: part.content,
                current: now,
                action,
            });
        }
    }
    plan
}

fn decide_action(
    path: &std::path::Path,
    form: &InstallContent,
    now: Option<&[u8]>,
    book: &UndoJournal,
) -> PlannedEdit {
    let refuse = |cause: EditError| {
        PlannedEdit::Refuse(SetupError::Text { path: path.display().to_string(), cause })
    };
    let text = match now.map(std::str::from_utf8).transpose() {
        Ok(text) => text,
        Err(error) => {
            let bytes = now.and_then(|now| now.get(..error.valid_up_to())).unwrap_or_default();
            let line = bytes.iter().filter(|byte| **byte == b'\n').count() + 1;
            return refuse(EditError::Broken { line, problem: "not UTF-8".to_owned() });
        }
    };
    if let (Some(text), InstallContent::Text { content, mark }) = (text, form) {
        let left_by_tome =
            book.entry(path).map(|entry| entry.after == content_hash(text.as_bytes()));
        match left_by_tome {
            _ if text == content => return PlannedEdit::Keep,
            Some(true) => {}
            Some(false) => return PlannedEdit::Leave("changed by you, left as it is".to_owned()),
            None if text.contains(mark) => {}
            None => return PlannedEdit::Leave("not Tome's file, left as it is".to_owned()),
        }
    }
    let after = match edit::install(form, text) {
        Ok(after) => after,
        Err(cause) => return refuse(cause),
    };
    match text {
        Some(text) if text == after => PlannedEdit::Keep,
        Some(_) => match disk::check_writable(path) {
            Ok(()) => PlannedEdit::Change(after),
            Err(cause) => PlannedEdit::Refuse(SetupError::disk(path)(cause)),
        },
        None => PlannedEdit::Create(after),
    }
}

/// Applies a plan: first writes the undo journal, then the files. Returns the files that failed;
/// the others are written.
pub fn apply_plan(
    plan: &SetupPlan,
    environment: &Environment<'_>,
    book: &mut UndoJournal,
) -> Result<Vec<SetupError>, std::io::Error> {
    let mut failed = Vec::new();
    let mut chosen = Vec::new();
    for file in &plan.files {
        match record_original(file, environment, book) {
            Ok(()) => chosen.push(file),
            Err(error) => failed.push(error),
        }
    }
    book.save()?;
    for file in chosen {
        let Some(text) = file.new_text() else { continue };
        let written = file.path.parent().map_or(Ok(()), fs::create_dir_all);
        let written = written.and_then(|()| disk::write(&file.path, text.as_bytes()));
        failed.extend(written.err().map(SetupError::disk(&file.path)));
    }
    Ok(failed)
}

/// Records the original content of a file in the undo journal.
fn record_original(
    file: &FilePlan,
    environment: &Environment<'_>,
    book: &mut UndoJournal,
) -> Result<(), SetupError> {
    let disk_error = || SetupError::disk(&file.path);
    let recorded = book.entry(&file.path).cloned();
    let mut agents: BTreeSet<String> =
        recorded.as_ref().map(|recorded| recorded.agents.clone()).unwrap_or_default();
    agents.extend(file.agents.iter().map(|agent| (*agent).to_owned()));
    let Some(text) = file.new_text() else {
        // Unchanged, but another agent may now use it.
        if let Some(recorded) = recorded.filter(|_| matches!(file.action, PlannedEdit::Keep)) {
            book.insert(UndoEntry { agents, ..recorded });
        }
        return Ok(());
    };
    let now = disk::read(&file.path).map_err(disk_error())?;
    if now != file.current {
        return Err(disk_error()(std::io::Error::other(
            "it changed in the meantime and was not touched; run `tome setup` again",
        )));
    }
    let mut entry = UndoEntry {
        path: file.path.clone(),
        agents,
        project: environment.project.clone(),
        form: FileFormat::from_content(&file.content),
        before: None,
        after: content_hash(text.as_bytes()),
        made: disk::missing_folders(&file.path),
    };
    let hash = now.as_deref().map(content_hash);
    match recorded {
        // As Tome left it, or restored by the user: the recorded original is still valid.
        Some(recorded) if hash == Some(recorded.after.clone()) || hash == recorded.before => {
            entry.before = recorded.before;
            entry.made = [recorded.made, entry.made].concat();
            entry.made.dedup();
        }
        // Changed since, or installed by hand: the original is the content without Tome's parts.
        recorded => {
            let bare =
                now.as_deref().map(|now| original_content(file, now, recorded.as_ref(), book));
            // If everything in it is Tome's, the file did not exist before.
            let is_ours = recorded.as_ref().is_some_and(|recorded| recorded.before.is_none())
                || matches!(file.content, InstallContent::Text { .. });
            let bare = bare.filter(|bare| !is_ours || !edit::is_blank(bare));
            entry.before =
                bare.map(|bare| book.store_original(&bare)).transpose().map_err(disk_error())?;
            entry.made =
                [recorded.map(|recorded| recorded.made).unwrap_or_default(), entry.made].concat();
        }
    }
    book.insert(entry);
    Ok(())
}

fn original_content(
    file: &FilePlan,
    now: &[u8],
    known: Option<&UndoEntry>,
    book: &UndoJournal,
) -> Vec<u8> {
    let before = known.and_then(|known| book.read_original(known).ok().flatten());
    let before = before.and_then(|before| String::from_utf8(before).ok());
    let text = std::str::from_utf8(now).unwrap_or_default();
    match edit::uninstall(&file.content, text, before.as_deref()) {
        Ok(bare) => bare.into_bytes(),
        Err(_) => now.to_vec(),
    }
}
