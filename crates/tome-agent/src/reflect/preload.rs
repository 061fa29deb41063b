//! What is known already, for a reflector to look at before it writes: all facts in full, and the
//! episodes a line each, the newest first.

use serde_json::{Value, json};

use crate::{MemoryError, MemoryTools};

/// The facts and the index of episodes, within so many characters together. What is left out is said.
pub(super) fn known(tools: &dyn MemoryTools, chars_max: usize) -> Result<String, MemoryError> {
    let listed = tools.call("memory_list", "{}")?;
    let notes = listed.json.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut paths: Vec<&str> = notes.iter().filter_map(|note| note.get("path")?.as_str()).collect();
    paths.sort_unstable();
    let mut text = Text { text: String::new(), left: chars_max };
    text.line("### Facts");
    for path in paths.iter().filter(|path| path.starts_with("facts/")) {
        let content = read(tools, path)?;
        text.whole(path, &content);
    }
    text.line("### Episodes, the newest first");
    // Named by month: the last name is the newest, and the last entry of a file is.
    for path in paths.iter().rev().filter(|path| path.starts_with("episodes/")) {
        if text.left == 0 {
            break;
        }
        for entry in entries(&read(tools, path)?).iter().rev() {
            text.line(&format!("- {path}: {entry}"));
        }
    }
    Ok(text.text)
}

fn read(tools: &dyn MemoryTools, path: &str) -> Result<String, MemoryError> {
    let answer = tools.call("memory_read", &json!({ "path": path }).to_string())?;
    let text = answer.json.get("content").and_then(Value::as_str).unwrap_or_default();
    Ok(text.to_owned())
}

/// The entries of a file of episodes: their titles and summaries.
fn entries(text: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(title) = line.strip_prefix("## ") {
            entries.push(title.to_owned());
        } else if let (Some(summary), Some(last)) =
            (line.strip_prefix("- Summary:"), entries.last_mut())
        {
            last.push_str(&format!(" ({})", summary.trim()));
        }
    }
    entries
}

struct Text {
    text: String,
    left: usize,
}

impl Text {
    fn line(&mut self, line: &str) {
        let chars = line.chars().count() + 1;
        if self.left < chars {
            self.left = 0;
            return;
        }
        self.left -= chars;
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A file in full, or as much of it as there is room for.
    fn whole(&mut self, path: &str, content: &str) {
        let head = format!("#### {path}\n");
        let more = format!("\n[cut: memory_read {path} has all of it]\n");
        let chars = head.chars().count() + content.chars().count() + 1;
        if chars <= self.left {
            self.left -= chars;
            self.text.push_str(&format!("{head}{content}\n"));
            return;
        }
        let room = self.left.saturating_sub(head.chars().count() + more.chars().count());
        if room > 0 {
            let kept: String = content.chars().take(room).collect();
            self.text.push_str(&format!("{head}{kept}{more}"));
        }
        self.left = 0;
    }
}
