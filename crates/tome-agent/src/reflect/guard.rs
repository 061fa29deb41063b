//! Restricts the tools of a reflection to facts and episodes of the project. The transcript may contain
//! hostile text, so the limits are enforced here instead of only being stated in the prompt.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use tome_engine::{ToolAnswer, ToolFailure, ToolSpec};

use crate::{MemoryError, MemoryToolSet, MemoryTools};

// Folders a reflection may write to.
const WRITABLE_FOLDERS: [&str; 2] = ["facts/", EPISODES];
const EPISODES: &str = "episodes/";

pub(super) struct GuardedTools<'t> {
    tools: &'t dyn MemoryTools,
    /// Files that the model has seen completely; it may overwrite only these.
    seen: Mutex<HashSet<String>>,
}

impl MemoryTools for GuardedTools<'_> {
    fn tools(&self) -> Vec<ToolSpec> {
        self.tools
            .tools()
            .into_iter()
            .filter(|tool| MemoryToolSet::Reflection.contains(tool))
            .collect()
    }

    fn call_tool(&self, tool: &str, arguments: &str) -> Result<ToolAnswer, MemoryError> {
        let parsed: Value = serde_json::from_str(arguments).unwrap_or_default();
        let text = |name: &str| parsed.get(name).and_then(Value::as_str).unwrap_or_default().trim();
        let path = call_path(&parsed);
        if !matches!(text("scope"), "" | "project") {
            return Ok(refuse("omit scope: only the project's notes are accessible"));
        }
        if tool != "memory_read" && !WRITABLE_FOLDERS.iter().any(|folder| path.starts_with(folder))
        {
            return Ok(refuse("write to facts/<name>.md or episodes/YYYY-MM.md, nothing else"));
        }
        if tool == "memory_append" && !path.starts_with(EPISODES) {
            return Ok(refuse(
                "append to episodes/YYYY-MM.md only; change facts with memory_patch",
            ));
        }
        if tool == "memory_append" && self.has_entry(path, text("entry"))? {
            return Ok(refuse("an entry with this title exists: change it with memory_patch"));
        }
        if tool == "memory_write" && !self.has_seen(path) && self.note_exists(path)? {
            return Ok(refuse(
                "the file exists: read it with memory_read first, or use memory_patch",
            ));
        }
        self.tools.call_tool(tool, arguments)
    }
}

impl<'t> GuardedTools<'t> {
    pub(super) fn new(tools: &'t dyn MemoryTools) -> Self {
        Self { tools, seen: Mutex::default() }
    }

    /// Records that the model has seen or written the whole file.
    pub(super) fn mark_seen(&self, path: &str) {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
    }

    fn has_seen(&self, path: &str) -> bool {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).contains(path)
    }

    /// Whether the file exists. An invalid path counts as missing: the tool itself rejects it.
    fn note_exists(&self, path: &str) -> Result<bool, MemoryError> {
        let file = self.tools.call_tool("memory_read", &json!({ "path": path }).to_string())?;
        Ok(!matches!(file.failure, Some(ToolFailure::NotFound | ToolFailure::Invalid)))
    }

    /// Whether the file already has an entry with one of the titles in `entry`.
    fn has_entry(&self, path: &str, entry: &str) -> Result<bool, MemoryError> {
        let is_title = |line: &&str| line.starts_with("## ");
        let titles: Vec<&str> = entry.lines().map(str::trim).filter(is_title).collect();
        if titles.is_empty() {
            return Ok(false);
        }
        let file = self.tools.call_tool("memory_read", &json!({ "path": path }).to_string())?;
        let text = file.json.get("content").and_then(Value::as_str).unwrap_or_default();
        let is_there = |line: &str| titles.iter().any(|title| line.eq_ignore_ascii_case(title));
        Ok(text.lines().map(str::trim).any(is_there))
    }
}

/// Returns the path in a call's arguments.
pub(super) fn call_path(arguments: &Value) -> &str {
    let text = |name| arguments.get(name).and_then(Value::as_str).unwrap_or_default().trim();
    let path = match text("path") {
        "" => text("filename"),
        path => path,
    };
    path.trim_start_matches("./")
}

fn refuse(message: &str) -> ToolAnswer {
    let failure = ToolFailure::Invalid;
    let json = json!({ "error": message, "kind": failure.as_str() });
    ToolAnswer { text: message.to_owned(), json, failure: Some(failure), secrets_cut: 0 }
}
