//! Answers of tools as an agent is told of them.

use serde_json::Value;
use tome_llm::tokens_about;
use tome_notebook::{InsightKind, RecalledInsight};

/// What is shown of a note's summary.
const SUMMARY_CHARS_MAX: usize = 160;

/// The index as a first message: what `memory_list` answers for the project and for the coder.
/// `None` where neither has a note. What does not fit is counted.
///
/// ```text
/// Available memory:
/// - facts/user.md (320B): user name, language, role
/// - episodes/2026-02.md (1.2KB): logger fix, short ID
///
/// Use memory_read to load relevant files before responding.
/// ```
pub fn index_text(project: &Value, coder: &Value, tokens_max: u64) -> Option<String> {
    let project = listed(project, "");
    let coder = listed(coder, ", scope coder");
    if project.is_empty() && coder.is_empty() {
        return None;
    }
    let mut text = String::from("Available memory:\n");
    let (mut left, mut cut) = (tokens_max, 0_usize);
    for line in project.iter().chain(&coder) {
        match left.checked_sub(tokens_about(line) + 1) {
            Some(rest) if cut == 0 => {
                left = rest;
                text.push_str(line);
                text.push('\n');
            }
            _ => cut += 1,
        }
    }
    if cut > 0 {
        text.push_str(&format!("- … and {cut} more: memory_list shows them all\n"));
    }
    text.push_str("\nUse memory_read to load relevant files before responding.");
    Some(text)
}

fn listed(notes: &Value, behind_size: &str) -> Vec<String> {
    let notes = notes.as_array().map(Vec::as_slice).unwrap_or_default();
    let line = |note: &Value| {
        let path = note.get("path")?.as_str().filter(|path| !path.is_empty())?;
        let size = size(note.get("size").and_then(Value::as_u64).unwrap_or(0));
        let summary = note.get("summary").and_then(Value::as_str).unwrap_or_default();
        let summary = one_line(summary);
        let colon = if summary.is_empty() { "" } else { ": " };
        Some(format!("- {path} ({size}{behind_size}){colon}{summary}"))
    };
    notes.iter().filter_map(line).collect()
}

fn size(bytes: u64) -> String {
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    let tenths = bytes.saturating_mul(10) / 1024;
    format!("{}.{}KB", tenths / 10, tenths % 10)
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().take(SUMMARY_CHARS_MAX).collect()
}

/// The insights of an answer of `coder_memory_recall`.
pub(super) fn insights(answer: &Value) -> Vec<RecalledInsight> {
    let insight = |one: &Value| {
        let text = |name: &str| Some(one.get(name)?.as_str()?.to_owned());
        Some(RecalledInsight {
            kind: InsightKind::named(&text("type")?)?,
            title: text("title")?,
            path: text("path")?,
            line: one.get("line")?.as_u64().and_then(|line| line.try_into().ok())?,
            text: text("text")?,
            why: text("why")?,
        })
    };
    let all = answer.get("insights").and_then(Value::as_array).map(Vec::as_slice);
    all.unwrap_or_default().iter().filter_map(insight).collect()
}
