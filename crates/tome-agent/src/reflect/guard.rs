//! The tools as a reflector has them: facts and episodes of the project, nothing else. It works on words
//! that came from anywhere, so what it must not do it cannot do.

use serde_json::{Value, json};
use tome_engine::{Failure, ToolAnswer, ToolSpec};

use crate::{MemoryError, MemorySet, MemoryTools};

/// Where a reflector writes.
const FOLDERS: [&str; 2] = ["facts/", "episodes/"];

pub(super) struct Guarded<'t>(pub &'t dyn MemoryTools);

impl MemoryTools for Guarded<'_> {
    fn tools(&self) -> Vec<ToolSpec> {
        self.0.tools().into_iter().filter(|tool| MemorySet::Reflection.has(tool)).collect()
    }

    fn call(&self, tool: &str, arguments: &str) -> Result<ToolAnswer, MemoryError> {
        let given: Value = serde_json::from_str(arguments).unwrap_or_default();
        let text = |name: &str| given.get(name).and_then(Value::as_str).unwrap_or_default().trim();
        let path = match text("path") {
            "" => text("filename"),
            path => path,
        };
        let path = path.trim_start_matches("./");
        if !matches!(text("scope"), "" | "project") {
            return Ok(refused("leave out scope: only the notes of the project can be reached"));
        }
        if tool != "memory_read" && !FOLDERS.iter().any(|folder| path.starts_with(folder)) {
            return Ok(refused("write to facts/<name>.md or episodes/YYYY-MM.md, nothing else"));
        }
        if tool == "memory_append" && self.has_entry(path, text("entry"))? {
            return Ok(refused("there is an entry of this title: change it with memory_patch"));
        }
        self.0.call(tool, arguments)
    }
}

impl Guarded<'_> {
    /// Whether a file has an entry of the same title already.
    fn has_entry(&self, path: &str, entry: &str) -> Result<bool, MemoryError> {
        let is_title = |line: &&str| line.starts_with("## ");
        let Some(title) = entry.lines().map(str::trim).find(is_title) else { return Ok(false) };
        let file = self.0.call("memory_read", &json!({ "path": path }).to_string())?;
        let text = file.json.get("content").and_then(Value::as_str).unwrap_or_default();
        Ok(text.lines().any(|line| line.trim().eq_ignore_ascii_case(title)))
    }
}

fn refused(said: &str) -> ToolAnswer {
    let failure = Failure::Invalid;
    let json = json!({ "error": said, "kind": failure.as_str() });
    ToolAnswer { text: said.to_owned(), json, failure: Some(failure), secrets_cut: 0 }
}
