//! Finds the transcripts of each agent.
//!
//! ```text
//! claude-code  $CLAUDE_CONFIG_DIR, else ~/.claude        projects/*/*.jsonl, */subagents/*.jsonl
//! codex        $CODEX_HOME, else ~/.codex                {sessions,archived_sessions}/**/rollout-*.jsonl[.zst]
//! gemini       $GEMINI_CLI_HOME/.gemini, else ~/.gemini  tmp/*/chats/**/session-*.json[l]
//! copilot      $COPILOT_HOME, else ~/.copilot            session-state/*/events.jsonl
//! opencode     $OPENCODE_DB; $XDG_DATA_HOME/opencode,    opencode.db, storage/
//!              else ~/.local/share/opencode
//! ```
//!
//! Paths given on the command line are searched instead; files found there are recognized by their
//! name and first lines. Links to folders are not followed.

use std::fs::DirEntry;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use tome_home::{FinalLink, open_regular};
use tome_model::{Agent, Millis};

use super::lines::Lines;
use crate::agents::transcript::{record_of, writer_of};

/// Maximum folder depth, as protection against loops.
const DEPTH_MAX: usize = 12;

/// Lines read to detect which agent wrote a file.
const SNIFFED_LINES: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// JSONL.
    Lines,
    /// Zstandard-compressed JSONL.
    Compressed,
    /// Gemini CLI's update log.
    Updates,
    /// Gemini CLI's old format, one JSON value per chat.
    Conversation,
    Database,
    /// OpenCode's old folder of JSON files.
    Storage,
}

/// A transcript, or a store of many.
#[derive(Debug, Clone)]
pub struct Source {
    pub agent: Agent,
    pub path: PathBuf,
    pub form: Form,
    pub bytes: u64,
    pub modified: Option<Millis>,
}

impl Source {
    /// Whether it was last written before this time, so that it has no later events. Not reliable
    /// for databases, which write to their log first.
    pub fn is_older_than(&self, since: Option<Millis>) -> bool {
        let is_file = !matches!(self.form, Form::Database | Form::Storage);
        is_file && since.zip(self.modified).is_some_and(|(since, at)| at < since)
    }
}

/// Finds the transcripts of these agents in their default locations. `env` reads a variable.
pub fn at_home(agents: &[Agent], env: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<Source> {
    agents.iter().flat_map(|agent| of_agent(agent, env)).collect()
}

pub fn at_paths(paths: &[PathBuf], agents: &[Agent]) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in paths {
        if !path.exists() {
            bail!("{} does not exist", path.display());
        }
        let before = sources.len();
        if path.is_dir() {
            walk(path, DEPTH_MAX, &mut |file| {
                sources.extend(sniffed(file));
                sources.extend(storage_of(file));
            });
        } else {
            sources.extend(sniffed(path));
        }
        // A file that is not recognized is assumed to belong to the agent on the command line.
        if let (true, [agent]) = (sources.len() == before && path.is_file(), agents) {
            sources.extend(source(agent.as_str(), path, form_of(agent, path)));
        }
        if sources.len() == before {
            bail!("{} is not a known transcript; name its agent with --agent NAME", path.display());
        }
    }
    sources.retain(|source| agents.contains(&source.agent));
    sources.sort_by(|a, b| (&a.agent, &a.path).cmp(&(&b.agent, &b.path)));
    sources.dedup_by(|a, b| a.path == b.path);
    without_twins(&mut sources);
    Ok(sources)
}

fn of_agent(agent: &Agent, env: &dyn Fn(&str) -> Option<PathBuf>) -> Vec<Source> {
    let set = |name: &str| env(name).filter(|path| !path.as_os_str().is_empty());
    let home = set("HOME").or_else(|| set("USERPROFILE")).unwrap_or_default();
    let name = agent.as_str();
    let mut sources = Vec::new();
    let mut look = |folder: &Path, form: Form, is_one: &dyn Fn(&Path) -> bool| {
        walk(folder, DEPTH_MAX, &mut |file| {
            if is_one(file) {
                sources.extend(source(name, file, form_of(agent, file).or(Some(form))));
            }
        });
    };
    match name {
        "claude-code" => {
            let root = set("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude"));
            look(&root.join("projects"), Form::Lines, &is_claude);
        }
        "codex" => {
            let root = set("CODEX_HOME").unwrap_or_else(|| home.join(".codex"));
            for folder in ["sessions", "archived_sessions"] {
                look(&root.join(folder), Form::Lines, &is_rollout);
            }
        }
        "gemini" => {
            let root = set("GEMINI_CLI_HOME").unwrap_or(home).join(".gemini");
            look(&root.join("tmp"), Form::Updates, &is_chat);
        }
        "copilot" => {
            let root = set("COPILOT_HOME").unwrap_or_else(|| home.join(".copilot"));
            look(&root.join("session-state"), Form::Lines, &is_copilot);
        }
        "opencode" => {
            let data = set("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share"));
            let root = data.join("opencode");
            let database = set("OPENCODE_DB").unwrap_or_else(|| "opencode.db".into());
            sources.extend(source(name, &root.join(database), Some(Form::Database)));
            sources.extend(storage_at(&root));
        }
        _ => {}
    }
    without_twins(&mut sources);
    sources
}

/// Visits every file under a folder, in order of name.
fn walk(folder: &Path, depth: usize, found: &mut dyn FnMut(&Path)) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<DirEntry> = entries.flatten().collect();
    entries.sort_by_key(DirEntry::file_name);
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => walk(&entry.path(), depth - 1, found),
            Ok(kind) if kind.is_dir() => {}
            Ok(_) => found(&entry.path()),
            Err(_) => {}
        }
    }
}

fn source(agent: &str, path: &Path, form: Option<Form>) -> Option<Source> {
    let about = path.metadata().ok()?;
    let form = form?;
    if !about.is_file() && form != Form::Storage {
        return None;
    }
    let modified = about.modified().ok();
    let since_1970 = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let modified = since_1970.and_then(|past| u64::try_from(past.as_millis()).ok()).map(Millis);
    let agent = Agent::parse(agent).ok()?;
    Some(Source { agent, path: path.to_path_buf(), form, bytes: about.len(), modified })
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn ends(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|found| found == end)
}

fn is_claude(path: &Path) -> bool {
    ends(path, "jsonl")
}

fn is_rollout(path: &Path) -> bool {
    let name = name_of(path);
    name.starts_with("rollout-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))
}

fn is_chat(path: &Path) -> bool {
    let in_chats = path.components().any(|part| part.as_os_str() == "chats");
    in_chats && name_of(path).starts_with("session-") && (ends(path, "json") || ends(path, "jsonl"))
}

fn is_copilot(path: &Path) -> bool {
    name_of(path) == "events.jsonl"
}

fn form_of(agent: &Agent, path: &Path) -> Option<Form> {
    let name = name_of(path);
    Some(match agent.as_str() {
        "gemini" if ends(path, "json") => Form::Conversation,
        "gemini" => Form::Updates,
        "opencode" if path.is_dir() => Form::Storage,
        "opencode" => Form::Database,
        _ if name.ends_with(".zst") => Form::Compressed,
        _ => Form::Lines,
    })
}

fn sniffed(path: &Path) -> Option<Source> {
    let name = name_of(path);
    let agent = match () {
        () if is_rollout(path) => "codex",
        () if is_chat(path) => "gemini",
        () if ends(path, "db") && name.starts_with("opencode") => "opencode",
        () if ends(path, "jsonl") => writer(path)?,
        () => return None,
    };
    source(agent, path, form_of(&Agent::parse(agent).ok()?, path))
}

fn writer(path: &Path) -> Option<&'static str> {
    let mut lines = Lines::new(open_regular(path, FinalLink::Follow).ok()?);
    for _ in 0..SNIFFED_LINES {
        let line = lines.next().ok()??;
        let record = record_of(line.bytes).ok().flatten();
        if let Some(writer) = record.as_ref().and_then(writer_of) {
            return Some(writer);
        }
    }
    None
}

/// Finds OpenCode's old folder of JSON files in a folder, or recognizes the folder itself.
fn storage_at(folder: &Path) -> Option<Source> {
    let inside = folder.join("storage");
    let storage = [inside.as_path(), folder]
        .into_iter()
        .find(|storage| ["session", "message"].iter().all(|part| storage.join(part).is_dir()))?;
    source("opencode", storage, Some(Form::Storage))
}

/// Finds it by one of its sessions: `storage/session/<project>/ses_….json`.
fn storage_of(file: &Path) -> Option<Source> {
    let is_session = name_of(file).starts_with("ses_") && ends(file, "json");
    storage_at(file.ancestors().nth(3).filter(|_| is_session)?)
}

/// A rollout exists twice while it is compressed, and a chat while it is converted: keep the plain
/// or the newer file.
fn without_twins(sources: &mut Vec<Source>) {
    let plain: std::collections::HashSet<PathBuf> = sources
        .iter()
        .filter(|source| matches!(source.form, Form::Lines | Form::Updates))
        .map(|source| source.path.clone())
        .collect();
    sources.retain(|source| match source.form {
        Form::Compressed => !plain.contains(&source.path.with_extension("")),
        Form::Conversation => !plain.contains(&source.path.with_extension("jsonl")),
        _ => true,
    });
}
