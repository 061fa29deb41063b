//! The tools as a reflector has them: facts and episodes of the project, nothing else. It works on words
//! that came from anywhere, so what it must not do it cannot do.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use tome_engine::{Failure, ToolAnswer, ToolSpec};

use crate::{MemoryError, MemorySet, MemoryTools};

/// Where a reflector writes.
const FOLDERS: [&str; 2] = ["facts/", EPISODES];
const EPISODES: &str = "episodes/";

pub(super) struct Guarded<'t> {
    tools: &'t dyn MemoryTools,
    /// Files that the model has seen whole: only those may it write anew.
    seen: Mutex<HashSet<String>>,
}

impl MemoryTools for Guarded<'_> {
    fn tools(&self) -> Vec<ToolSpec> {
        self.tools.tools().into_iter().filter(|tool| MemorySet::Reflection.has(tool)).collect()
    }

    fn call(&self, tool: &str, arguments: &str) -> Result<ToolAnswer, MemoryError> {
        let given: Value = serde_json::from_str(arguments).unwrap_or_default();
        let text = |name: &str| given.get(name).and_then(Value::as_str).unwrap_or_default().trim();
        let path = path_of(&given);
        if !matches!(text("scope"), "" | "project") {
            return Ok(refused("leave out scope: only the notes of the project can be reached"));
        }
        if tool != "memory_read" && !FOLDERS.iter().any(|folder| path.starts_with(folder)) {
            return Ok(refused("write to facts/<name>.md or episodes/YYYY-MM.md, nothing else"));
        }
        if tool == "memory_append" && !path.starts_with(EPISODES) {
            return Ok(refused(
                "append to episodes/YYYY-MM.md only; change facts with memory_patch",
            ));
        }
        if tool == "memory_append" && self.has_entry(path, text("entry"))? {
            return Ok(refused("there is an entry of this title: change it with memory_patch"));
        }
        if tool == "memory_write" && !self.has_seen(path) && self.exists(path)? {
            return Ok(refused("it exists: memory_read it first, or memory_patch it"));
        }
        self.tools.call(tool, arguments)
    }
}

impl<'t> Guarded<'t> {
    pub(super) fn new(tools: &'t dyn MemoryTools) -> Self {
        Self { tools, seen: Mutex::default() }
    }

    /// The model has been shown a file whole, or has written it.
    pub(super) fn saw(&self, path: &str) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
    }

    fn has_seen(&self, path: &str) -> bool {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }

    /// Whether there is a file. What cannot be named at all the tool itself refuses.
    fn exists(&self, path: &str) -> Result<bool, MemoryError> {
        let file = self.tools.call("memory_read", &json!({ "path": path }).to_string())?;
        Ok(!matches!(file.failure, Some(Failure::NotFound | Failure::Invalid)))
    }

    /// Whether a file has an entry of one of the same titles already.
    fn has_entry(&self, path: &str, entry: &str) -> Result<bool, MemoryError> {
        let is_title = |line: &&str| line.starts_with("## ");
        let titles: Vec<&str> = entry.lines().map(str::trim).filter(is_title).collect();
        if titles.is_empty() {
            return Ok(false);
        }
        let file = self.tools.call("memory_read", &json!({ "path": path }).to_string())?;
        let text = file.json.get("content").and_then(Value::as_str).unwrap_or_default();
        let is_there = |line: &str| titles.iter().any(|title| line.eq_ignore_ascii_case(title));
        Ok(text.lines().map(str::trim).any(is_there))
    }
}

/// Which file a call is about.
pub(super) fn path_of(arguments: &Value) -> &str {
    let text = |name| arguments.get(name).and_then(Value::as_str).unwrap_or_default().trim();
    let path = match text("path") {
        "" => text("filename"),
        path => path,
    };
    path.trim_start_matches("./")
}

fn refused(said: &str) -> ToolAnswer {
    let failure = Failure::Invalid;
    let json = json!({ "error": said, "kind": failure.as_str() });
    ToolAnswer { text: said.to_owned(), json, failure: Some(failure), secrets_cut: 0 }
}
