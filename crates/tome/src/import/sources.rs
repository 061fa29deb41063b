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

use super::lines::LineReader;
use crate::agents::transcript::{detect_agent, parse_record};

/// Maximum folder depth, as protection against loops.
const DEPTH_MAX: usize = 12;

/// Lines read to detect which agent wrote a file.
const SNIFFED_LINES: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TranscriptFormat {
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
pub struct TranscriptSource {
    pub agent: Agent,
    pub path: PathBuf,
    pub format: TranscriptFormat,
    pub bytes: u64,
    pub modified: Option<Millis>,
}

impl TranscriptSource {
    /// Whether it was last written before this time, so that it has no later events. Not reliable
    /// for databases, which write to their log first.
    pub fn is_older_than(&self, since: Option<Millis>) -> bool {
        let is_file =
            !matches!(self.format, TranscriptFormat::Database | TranscriptFormat::Storage);
        is_file && since.zip(self.modified).is_some_and(|(since, at)| at < since)
    }
}

/// Finds the transcripts of these agents in their default locations. `env` reads a variable.
pub fn find_default_sources(
    agents: &[Agent],
    env: &dyn Fn(&str) -> Option<PathBuf>,
) -> Vec<TranscriptSource> {
    agents.iter().flat_map(|agent| find_agent_sources(agent, env)).collect()
}

pub fn find_sources_at(paths: &[PathBuf], agents: &[Agent]) -> Result<Vec<TranscriptSource>> {
    let mut sources = Vec::new();
    for path in paths {
        if !path.exists() {
            bail!("{} does not exist", path.display());
        }
        let before = sources.len();
        if path.is_dir() {
            visit_files(path, DEPTH_MAX, &mut |file| {
                sources.extend(detect_source(file));
                sources.extend(find_storage_of_session(file));
            });
        } else {
            sources.extend(detect_source(path));
        }
        // A file that is not recognized is assumed to belong to the agent on the command line.
        if let (true, [agent]) = (sources.len() == before && path.is_file(), agents) {
            sources.extend(build_source(agent.as_str(), path, detect_format(agent, path)));
        }
        if sources.len() == before {
            bail!("{} is not a known transcript; name its agent with --agent NAME", path.display());
        }
    }
    sources.retain(|source| agents.contains(&source.agent));
    sources.sort_by(|a, b| (&a.agent, &a.path).cmp(&(&b.agent, &b.path)));
    sources.dedup_by(|a, b| a.path == b.path);
    remove_duplicates(&mut sources);
    Ok(sources)
}

fn find_agent_sources(
    agent: &Agent,
    env: &dyn Fn(&str) -> Option<PathBuf>,
) -> Vec<TranscriptSource> {
    let set = |name: &str| env(name).filter(|path| !path.as_os_str().is_empty());
    let home = set("HOME").or_else(|| set("USERPROFILE")).unwrap_or_default();
    let name = agent.as_str();
    let mut sources = Vec::new();
    let mut add_files = |folder: &Path, form: TranscriptFormat, is_one: &dyn Fn(&Path) -> bool| {
        visit_files(folder, DEPTH_MAX, &mut |file| {
            if is_one(file) {
                sources.extend(build_source(name, file, detect_format(agent, file).or(Some(form))));
            }
        });
    };
    match name {
        "claude-code" => {
            let root = set("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home.join(".claude"));
            add_files(&root.join("projects"), TranscriptFormat::Lines, &is_claude_transcript);
        }
        "codex" => {
            let root = set("CODEX_HOME").unwrap_or_else(|| home.join(".codex"));
            for folder in ["sessions", "archived_sessions"] {
                add_files(&root.join(folder), TranscriptFormat::Lines, &is_rollout);
            }
        }
        "gemini" => {
            let root = set("GEMINI_CLI_HOME").unwrap_or(home).join(".gemini");
            add_files(&root.join("tmp"), TranscriptFormat::Updates, &is_chat);
        }
        "copilot" => {
            let root = set("COPILOT_HOME").unwrap_or_else(|| home.join(".copilot"));
            add_files(&root.join("session-state"), TranscriptFormat::Lines, &is_copilot_log);
        }
        "opencode" => {
            let data = set("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share"));
            let root = data.join("opencode");
            let database = set("OPENCODE_DB").unwrap_or_else(|| "opencode.db".into());
            sources.extend(build_source(
                name,
                &root.join(database),
                Some(TranscriptFormat::Database),
            ));
            sources.extend(find_storage(&root));
        }
        _ => {}
    }
    remove_duplicates(&mut sources);
    sources
}

/// Visits every file under a folder, in order of name.
fn visit_files(folder: &Path, depth: usize, found: &mut dyn FnMut(&Path)) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<DirEntry> = entries.flatten().collect();
    entries.sort_by_key(DirEntry::file_name);
    for entry in entries {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && depth > 0 => visit_files(&entry.path(), depth - 1, found),
            Ok(kind) if kind.is_dir() => {}
            Ok(_) => found(&entry.path()),
            Err(_) => {}
        }
    }
}

fn build_source(
    agent: &str,
    path: &Path,
    form: Option<TranscriptFormat>,
) -> Option<TranscriptSource> {
    let about = path.metadata().ok()?;
    let form = form?;
    if !about.is_file() && form != TranscriptFormat::Storage {
        return None;
    }
    let modified = about.modified().ok();
    let since_1970 = modified.and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
    let modified = since_1970.and_then(|past| u64::try_from(past.as_millis()).ok()).map(Millis);
    let agent = Agent::parse(agent).ok()?;
    Some(TranscriptSource {
        agent,
        path: path.to_path_buf(),
        format: form,
        bytes: about.len(),
        modified,
    })
}

fn file_name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

fn has_extension(path: &Path, end: &str) -> bool {
    path.extension().is_some_and(|found| found == end)
}

fn is_claude_transcript(path: &Path) -> bool {
    has_extension(path, "jsonl")
}

fn is_rollout(path: &Path) -> bool {
    let name = file_name(path);
    name.starts_with("rollout-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))
}

fn is_chat(path: &Path) -> bool {
    let in_chats = path.components().any(|part| part.as_os_str() == "chats");
    in_chats
        && file_name(path).starts_with("session-")
        && (has_extension(path, "json") || has_extension(path, "jsonl"))
}

fn is_copilot_log(path: &Path) -> bool {
    file_name(path) == "events.jsonl"
}

fn detect_format(agent: &Agent, path: &Path) -> Option<TranscriptFormat> {
    let name = file_name(path);
    Some(match agent.as_str() {
        "gemini" if has_extension(path, "json") => TranscriptFormat::Conversation,
        "gemini" => TranscriptFormat::Updates,
        "opencode" if path.is_dir() => TranscriptFormat::Storage,
        "opencode" => TranscriptFormat::Database,
        _ if name.ends_with(".zst") => TranscriptFormat::Compressed,
        _ => TranscriptFormat::Lines,
    })
}

fn detect_source(path: &Path) -> Option<TranscriptSource> {
    let name = file_name(path);
    let agent = match () {
        () if is_rollout(path) => "codex",
        () if is_chat(path) => "gemini",
        () if has_extension(path, "db") && name.starts_with("opencode") => "opencode",
        () if has_extension(path, "jsonl") => sniff_agent(path)?,
        () => return None,
    };
    build_source(agent, path, detect_format(&Agent::parse(agent).ok()?, path))
}

fn sniff_agent(path: &Path) -> Option<&'static str> {
    let mut lines = LineReader::new(open_regular(path, FinalLink::Follow).ok()?);
    for _ in 0..SNIFFED_LINES {
        let line = lines.next_line().ok()??;
        let record = parse_record(line.bytes).ok().flatten();
        if let Some(writer) = record.as_ref().and_then(detect_agent) {
            return Some(writer);
        }
    }
    None
}

/// Finds OpenCode's old folder of JSON files in a folder, or recognizes the folder itself.
fn find_storage(folder: &Path) -> Option<TranscriptSource> {
    let inside = folder.join("storage");
    let storage = [inside.as_path(), folder]
        .into_iter()
        .find(|storage| ["session", "message"].iter().all(|part| storage.join(part).is_dir()))?;
    build_source("opencode", storage, Some(TranscriptFormat::Storage))
}

/// Finds it by one of its sessions: `storage/session/<project>/ses_….json`.
fn find_storage_of_session(file: &Path) -> Option<TranscriptSource> {
    let is_session = file_name(file).starts_with("ses_") && has_extension(file, "json");
    find_storage(file.ancestors().nth(3).filter(|_| is_session)?)
}

/// A rollout exists twice while it is compressed, and a chat while it is converted: keep the plain
/// or the newer file.
fn remove_duplicates(sources: &mut Vec<TranscriptSource>) {
    let plain: std::collections::HashSet<PathBuf> = sources
        .iter()
        .filter(|source| {
            matches!(source.format, TranscriptFormat::Lines | TranscriptFormat::Updates)
        })
        .map(|source| source.path.clone())
        .collect();
    sources.retain(|source| match source.format {
        TranscriptFormat::Compressed => !plain.contains(&source.path.with_extension("")),
        TranscriptFormat::Conversation => !plain.contains(&source.path.with_extension("jsonl")),
        _ => true,
    });
}
