//! State kept per session: the hints it was given, hints that came too late, and trigger state. One
//! small file per session in the project's folder, replaced atomically:
//!
//! ```text
//! <project's folder>/triggers/<session>
//!     {"v":1,"given":["memory/lexer.md", …],"late":[{"key":…,"line":…}],"tasks":[…]} \n
//!     TriggerState as JSON
//! ```
//!
//! Not a source of truth: a missing or damaged file starts over, and at worst a hint is repeated.
//! So it is renamed into place without a sync: a killed daemon loses nothing, a power failure at
//! most the last step.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::hints::{HINTS_MAX, PromptHint};
use tome_home::layout::session_dir_name;
use tome_home::{HomeError, layout};

/// Sessions kept per project; the longest inactive are deleted first.
const SESSIONS_MAX: usize = 64;
/// Hints kept per session; the oldest are dropped first.
const GIVEN_MAX: usize = 512;
/// Tasks kept per session: subagents that were never started leave theirs behind.
const TASKS_MAX: usize = 16;
/// Characters of a task: its beginning shows its topic.
const TASK_CHARS_MAX: usize = 600;
/// A larger file was not written here.
const FILE_BYTES_MAX: u64 = 512 * 1024;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct InjectionState {
    /// Keys of the hints given, the oldest first.
    given: Vec<String>,
    /// Hints found after the hook's deadline.
    late: Vec<PromptHint>,
    /// Tasks of subagents that have not started yet, the oldest first.
    tasks: Vec<SubagentTask>,
    /// Whether it was given its start text.
    pub started: bool,
    /// Serialized `TriggerState`.
    pub triggers: Vec<u8>,
}

/// The task of a subagent, as the agent that starts it phrases it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubagentTask {
    /// The kind of subagent.
    pub kind: String,
    /// The task, as the agent phrased it.
    pub text: String,
}

/// The hints of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionHints {
    /// Keys of the hints it was given.
    pub given: BTreeSet<String>,
    /// Hints too late for their prompt, which may be given with the next.
    pub late: Vec<PromptHint>,
    /// Whether it was given its start text, which is still in its context when it is resumed.
    pub started: bool,
}

#[derive(Serialize, Deserialize)]
struct StateHeader {
    v: u32,
    given: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    late: Vec<PromptHint>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<SubagentTask>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    started: bool,
}

impl InjectionState {
    /// Reads the state of a session; empty if it is missing or unreadable.
    pub(super) fn load(project: &Path, session: &str) -> Self {
        Self::parse_file(&state_path(project, session)).unwrap_or_default()
    }

    fn parse_file(path: &Path) -> Option<Self> {
        if path.metadata().ok()?.len() > FILE_BYTES_MAX {
            return None;
        }
        let bytes = std::fs::read(path).ok()?;
        let end = memchr::memchr(b'\n', &bytes)?;
        let head: StateHeader = serde_json::from_slice(bytes.get(..end)?).ok()?;
        let triggers = bytes.get(end + 1..)?.to_vec();
        let StateHeader { v, given, late, tasks, started } = head;
        (v == 1).then_some(Self { given, late, tasks, started, triggers })
    }

    pub(super) fn save(&self, project: &Path, session: &str) -> Result<(), HomeError> {
        let path = state_path(project, session);
        let folder = layout::trigger_state_dir(project);
        let write = || -> std::io::Result<()> {
            if !path.exists() {
                std::fs::create_dir_all(&folder)?;
                delete_oldest(&folder)?;
            }
            let mut file = tempfile::Builder::new().prefix(".new").tempfile_in(&folder)?;
            let (given, late) = (self.given.clone(), self.late.clone());
            let tasks = self.tasks.clone();
            let head = StateHeader { v: 1, given, late, tasks, started: self.started };
            serde_json::to_writer(&mut file, &head)?;
            file.write_all(b"\n")?;
            file.write_all(&self.triggers)?;
            file.persist(&path).map_err(|failed| failed.error)?;
            Ok(())
        };
        write().map_err(HomeError::file("write", &path))
    }

    pub(super) fn hints(&self) -> SessionHints {
        let given = self.given.iter().cloned().collect();
        SessionHints { given, late: self.late.clone(), started: self.started }
    }

    /// Adds hints that came too late, for the next prompt. Newer ones replace older ones beyond the
    /// limit.
    pub(super) fn defer_hints(&mut self, hints: Vec<PromptHint>) {
        let before = std::mem::take(&mut self.late);
        for hint in hints.into_iter().chain(before) {
            let is_known =
                self.given.contains(&hint.key) || self.late.iter().any(|late| late.key == hint.key);
            if !is_known && self.late.len() < HINTS_MAX {
                self.late.push(hint);
            }
        }
    }

    /// Records the hints given now and drops all late hints.
    pub(super) fn mark_given(&mut self, keys: impl IntoIterator<Item = String>) {
        self.add_given(keys);
        self.late.clear();
    }

    /// Records keys that are not given again.
    pub(super) fn add_given(&mut self, keys: impl IntoIterator<Item = String>) {
        for key in keys {
            if !self.given.contains(&key) {
                self.given.push(key);
            }
        }
        self.given.drain(..self.given.len().saturating_sub(GIVEN_MAX));
    }

    pub(super) fn add_task(&mut self, task: SubagentTask) {
        let text: String = task.text.chars().take(TASK_CHARS_MAX).collect();
        self.tasks.push(SubagentTask { text, ..task });
        self.tasks.drain(..self.tasks.len().saturating_sub(TASKS_MAX));
    }

    /// Removes the oldest task of a kind of subagent.
    pub(super) fn take_task(&mut self, kind: &str) -> Option<String> {
        let at = self.tasks.iter().position(|task| task.kind == kind)?;
        Some(self.tasks.remove(at).text)
    }
}

fn state_path(project: &Path, session: &str) -> PathBuf {
    layout::trigger_state_dir(project).join(session_dir_name(session))
}

/// Deletes the oldest files to make space for one more session.
fn delete_oldest(folder: &Path) -> std::io::Result<()> {
    let mut files: Vec<(SystemTime, PathBuf)> = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        files.push((entry.metadata()?.modified()?, entry.path()));
    }
    files.sort();
    let surplus = (files.len() + 1).saturating_sub(SESSIONS_MAX);
    for (_, path) in files.iter().take(surplus) {
        std::fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_state_is_loaded_and_old_sessions_are_dropped() {
        let folder = tempfile::tempdir().unwrap();
        for n in 0..SESSIONS_MAX + 9 {
            let mut one = InjectionState::load(folder.path(), &format!("s{n}"));
            assert_eq!(one, InjectionState::default());
            one.triggers = b"state\nof two lines".to_vec();
            one.mark_given((0..GIVEN_MAX + n).map(|hint| format!("memory/{hint}.md")));
            one.save(folder.path(), &format!("s{n}")).unwrap();
            assert_eq!(InjectionState::load(folder.path(), &format!("s{n}")), one);
            assert!(one.hints().given.len() <= GIVEN_MAX);
        }
        let left = std::fs::read_dir(layout::trigger_state_dir(folder.path())).unwrap().count();
        assert_eq!(left, SESSIONS_MAX);
    }

    #[test]
    fn late_hints_wait_for_the_next_prompt_and_never_come_twice() {
        let folder = tempfile::tempdir().unwrap();
        let hint = |key: &str| PromptHint { key: key.to_owned(), line: format!("- {key}") };
        let hints = |keys: &[&str]| keys.iter().map(|key| hint(key)).collect::<Vec<_>>();
        let mut one = InjectionState::default();
        one.mark_given(["a".to_owned()]);
        one.defer_hints(hints(&["a", "b", "c"]));
        assert_eq!(one.hints().late, hints(&["b", "c"]), "a was given");
        one.defer_hints(hints(&["d", "b"]));
        assert_eq!(one.hints().late, hints(&["d", "b", "c"]), "the newest first, none twice");
        one.defer_hints(hints(&["e"]));
        assert_eq!(one.hints().late, hints(&["e", "d", "b"]));
        one.save(folder.path(), "s").unwrap();
        assert_eq!(InjectionState::load(folder.path(), "s"), one);
        one.mark_given(["e".to_owned()]);
        assert_eq!(one.hints().late, []);
        one.defer_hints(hints(&["e", "b"]));
        assert_eq!(one.hints().late, hints(&["b"]));
    }

    #[test]
    fn a_damaged_state_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        InjectionState::default().save(folder.path(), "../s").unwrap();
        for bytes in [&b""[..], b"{\"v\":1}", b"{\"v\":2,\"given\":[]}\n", b"\xff\n"] {
            #[expect(clippy::disallowed_methods, reason = "a test damages a file")]
            std::fs::write(state_path(folder.path(), "../s"), bytes).unwrap();
            assert_eq!(InjectionState::load(folder.path(), "../s"), InjectionState::default());
        }
    }
}
