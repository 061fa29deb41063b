//! Collects the existing notes for a reflection: the paths of all facts and episodes, the facts in
//! full, and one line per episode, newest first.
//!
//! Each section and each file gets a share of the budget, so that one long file does not displace the
//! others. Omissions are stated.

use serde_json::{Value, json};

use crate::{MemoryError, MemoryTools};

/// The existing notes as text, and the paths of files included in full.
pub(super) struct KnownNotes {
    pub text: String,
    pub complete_paths: Vec<String>,
}

/// Characters reserved for a section's heading and its note on omissions.
const SECTION_OVERHEAD_CHARS: usize = 100;

/// Collects the existing notes within a character limit.
pub(super) fn load_known_notes(
    tools: &dyn MemoryTools,
    chars_max: usize,
) -> Result<KnownNotes, MemoryError> {
    let listed = tools.call_tool("memory_list", "{}")?;
    let notes = listed.json.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut paths: Vec<&str> = notes.iter().filter_map(|note| note.get("path")?.as_str()).collect();
    paths.sort_unstable();
    let in_folder =
        |folder: &'static str| paths.iter().copied().filter(move |path| path.starts_with(folder));
    let names = render_file_names(in_folder("facts/").chain(in_folder("episodes/")), chars_max / 2);
    let left = chars_max.saturating_sub(count_chars(&names));
    let lines = collect_episodes(tools, in_folder("episodes/"), left)?;
    // Facts get what the episodes do not need, and at least two thirds.
    let wanted =
        lines.iter().map(|line| count_chars(line) + 1).sum::<usize>() + SECTION_OVERHEAD_CHARS;
    let mut loaded = KnownNotes { text: names, complete_paths: Vec::new() };
    loaded.push_facts(tools, in_folder("facts/"), left - wanted.min(left / 3))?;
    let left = chars_max.saturating_sub(count_chars(&loaded.text));
    let heading = "### Episodes, the newest first\n";
    loaded.text.push_str(&render_list_within(heading, &lines, left, "older episodes are left out"));
    Ok(loaded)
}

fn render_file_names<'p>(paths: impl Iterator<Item = &'p str>, chars_max: usize) -> String {
    let lines: Vec<String> = paths.map(|path| format!("- {path}")).collect();
    render_list_within("### Files that exist\n", &lines, chars_max, "more files exist")
}

/// Collects episode entries, newest first, until they exceed the limit.
fn collect_episodes<'p>(
    tools: &dyn MemoryTools,
    paths: impl DoubleEndedIterator<Item = &'p str>,
    chars_max: usize,
) -> Result<Vec<String>, MemoryError> {
    let (mut lines, mut spent) = (Vec::new(), 0);
    // Files are named by month and entries are appended, so the last ones are the newest.
    for path in paths.rev() {
        if spent > chars_max {
            lines.push(format!("- {path} and older files: memory_read has them"));
            break;
        }
        for entry in parse_entries(&read_note(tools, path)?).iter().rev() {
            let line = format!("- {path}: {entry}");
            spent += count_chars(&line) + 1;
            lines.push(line);
        }
    }
    Ok(lines)
}

impl KnownNotes {
    /// Appends the fact files, each in full or cut to its share.
    fn push_facts<'p>(
        &mut self,
        tools: &dyn MemoryTools,
        paths: impl Iterator<Item = &'p str>,
        chars_max: usize,
    ) -> Result<(), MemoryError> {
        let mut files = Vec::new();
        for path in paths {
            let content = read_note(tools, path)?;
            files.push((path, format!("#### {path}\n{content}\n")));
        }
        let sizes: Vec<usize> = files.iter().map(|(_, text)| count_chars(text)).collect();
        self.text.push_str("### Facts\n");
        let mut hidden = 0;
        let shares = split_budget(&sizes, chars_max.saturating_sub(SECTION_OVERHEAD_CHARS));
        for ((path, text), share) in files.iter().zip(shares) {
            let more = format!("\n[cut: memory_read {path} has all of it]\n");
            let head = count_chars(path) + count_chars(&more) + "#### \n".len();
            if count_chars(text) <= share {
                self.text.push_str(text);
                self.complete_paths.push((*path).to_owned());
            } else if share > head {
                self.text.extend(text.chars().take(share - count_chars(&more)));
                self.text.push_str(&more);
            } else {
                hidden += 1;
            }
        }
        if hidden > 0 {
            self.text.push_str(&format!("[{hidden} files are not shown: memory_read has them]\n"));
        }
        Ok(())
    }
}

/// Splits a budget: what a small file does not need goes to the larger ones.
fn split_budget(sizes: &[usize], budget: usize) -> Vec<usize> {
    let mut by_size: Vec<(usize, usize)> = sizes.iter().copied().enumerate().collect();
    by_size.sort_unstable_by_key(|(_, size)| *size);
    let (mut left, mut to_go) = (budget, sizes.len());
    let mut shares: Vec<(usize, usize)> = Vec::with_capacity(sizes.len());
    for (n, size) in by_size {
        let share = size.min(left / to_go.max(1));
        left -= share;
        to_go -= 1;
        shares.push((n, share));
    }
    shares.sort_unstable();
    shares.into_iter().map(|(_, share)| share).collect()
}

/// Renders the lines that fit below a heading, and the number of those that do not.
fn render_list_within(heading: &str, lines: &[String], chars_max: usize, more: &str) -> String {
    let mut text = heading.to_owned();
    let mut left = chars_max.saturating_sub(SECTION_OVERHEAD_CHARS);
    for (n, line) in lines.iter().enumerate() {
        let Some(rest) = left.checked_sub(count_chars(line) + 1) else {
            text.push_str(&format!("[{} {more}]\n", lines.len() - n));
            break;
        };
        left = rest;
        text.push_str(line);
        text.push('\n');
    }
    text
}

fn count_chars(text: &str) -> usize {
    text.chars().count()
}

fn read_note(tools: &dyn MemoryTools, path: &str) -> Result<String, MemoryError> {
    let answer = tools.call_tool("memory_read", &json!({ "path": path }).to_string())?;
    let text = answer.json.get("content").and_then(Value::as_str).unwrap_or_default();
    Ok(text.to_owned())
}

/// Parses the titles and summaries of an episode file.
fn parse_entries(text: &str) -> Vec<String> {
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
