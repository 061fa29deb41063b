//! The one-line summary of a file in `facts/` or `episodes/`, by which a reader decides whether to
//! open it.
//!
//! ```text
//! # 2026-02 Episodes
//!
//! > Summary: logger fix, short ID
//!
//! ## Logger fix
//! ```
//!
//! Every operation leaves a file with at most one such line and keeps all other lines. A line
//! within a code fence or the frontmatter does not count.

mod generate;
#[cfg(test)]
mod tests;

use crate::lines::{
    detect_line_ending, insert_block, strip_line_ending, trim_blank_end, trim_blank_start,
};
use crate::markdown_line::{LineContext, MarkdownLine, split_fragment_lines, split_lines};
use crate::title;
pub(crate) use generate::generate_summary;

const MARK: &str = "> Summary:";

/// Finds the first non-empty summary.
pub(crate) fn find_summary(text: &str) -> Option<String> {
    find_first_summary(split_lines(text)).map(str::to_owned)
}

fn find_first_summary<'a>(mut lines: impl Iterator<Item = MarkdownLine<'a>>) -> Option<&'a str> {
    lines.find_map(|line| parse_summary_line(&line).filter(|summary| !summary.is_empty()))
}

/// The text of a summary line, possibly empty; `None` for any other line.
fn parse_summary_line<'a>(line: &MarkdownLine<'a>) -> Option<&'a str> {
    if matches!(line.context, LineContext::Code | LineContext::Frontmatter) {
        return None;
    }
    Some(line.text.strip_prefix('>')?.trim_start().strip_prefix("Summary:")?.trim())
}

/// Sets the summary: replaces the existing ones, else inserts it below the title, else at the top.
/// If `summary` is empty, it is generated from the file.
pub(crate) fn set_summary(text: &str, summary: &str) -> String {
    let flat = flatten_summary(summary);
    let flat = if flat.is_empty() { generate_summary(text) } else { flat };
    if split_lines(text).any(|line| parse_summary_line(&line).is_some()) {
        return replace_summaries(text, &flat);
    }
    if flat.is_empty() { text.to_owned() } else { insert_summary(text, &flat) }
}

/// Ensures that a file has one summary: the first it has, else a generated one.
pub(crate) fn ensure_one_summary(text: &str) -> String {
    let first = find_summary(text);
    if first.is_some()
        && split_lines(text).filter_map(|line| parse_summary_line(&line)).count() == 1
    {
        return text.to_owned();
    }
    set_summary(text, &first.unwrap_or_default())
}

/// Appends an entry to a file, or starts the file with it. The summary is the given one, else the
/// entry's own, else generated from the result.
pub(crate) fn append_entry(
    previous: Option<&str>,
    path: &str,
    entry: &str,
    summary: Option<&str>,
) -> String {
    let brought = find_first_summary(split_fragment_lines(entry));
    let summary = summary.map(flatten_summary).filter(|summary| !summary.is_empty());
    let summary = summary.or_else(|| brought.map(str::to_owned));
    let joined = join_entry(previous.unwrap_or_default(), path, &remove_summaries(entry));
    let made = || Some(generate_summary(&joined)).filter(|made| !made.is_empty());
    let file = match summary.or_else(made) {
        Some(summary) => set_summary(&joined, &summary),
        None => ensure_one_summary(&joined),
    };
    trim_blank_end(&file).to_owned() + detect_line_ending(&joined)
}

/// Joins the file and the entry with one blank line between them.
fn join_entry(previous: &str, path: &str, entry: &str) -> String {
    let ending = detect_line_ending(if previous.trim().is_empty() { entry } else { previous });
    let previous = trim_blank_end(previous);
    let entry = trim_blank_end(trim_blank_start(entry));
    let has_title = split_fragment_lines(entry).next().and_then(|line| line.parse_heading());
    let mut out = previous.to_owned();
    if previous.trim_start_matches('\u{feff}').is_empty() && has_title.is_none_or(|(n, _)| n > 1) {
        out.push_str(&format!("# {}", title_for_new_file(path)));
    } else if let Some(fence) = split_lines(previous).find_unclosed_fence() {
        // Close the open code fence, or the entry would become code.
        out.push_str(&format!("{ending}{fence}"));
    }
    if !entry.is_empty() && !out.trim_start_matches('\u{feff}').is_empty() {
        out.push_str(ending);
        out.push_str(ending);
    }
    for (nth, raw) in entry.split_inclusive('\n').enumerate() {
        if nth > 0 {
            out.push_str(ending);
        }
        out.push_str(if raw.ends_with('\n') { strip_line_ending(raw) } else { raw });
    }
    out.push_str(ending);
    out
}

/// `2026-02 Episodes`, `User Facts`, `Anything else`.
fn title_for_new_file(path: &str) -> String {
    let title = title::from_path(path);
    match path.split('/').next() {
        Some("episodes") => format!("{title} Episodes"),
        Some("facts") => format!("{title} Facts"),
        _ => title,
    }
}

/// Flattens a summary to one line and strips a leading `> Summary:`.
fn flatten_summary(summary: &str) -> String {
    let is_break = |part: char| part.is_control() || matches!(part, '\u{2028}' | '\u{2029}');
    let parts = summary.split(is_break).map(str::trim).filter(|part| !part.is_empty());
    let flat = parts.collect::<Vec<_>>().join(" ");
    let bare = flat.strip_prefix(MARK).map(|bare| bare.trim_start().to_owned());
    bare.unwrap_or(flat)
}

/// Replaces the first summary line and removes the others.
fn replace_summaries(text: &str, summary: &str) -> String {
    let mut is_done = false;
    edit_lines(split_lines(text), |line| {
        parse_summary_line(line)?;
        if std::mem::replace(&mut is_done, true) {
            return Some(None);
        }
        let text = strip_line_ending(line.raw);
        let ending = line.raw.strip_prefix(text).unwrap_or_default();
        let bom = if line.raw.starts_with('\u{feff}') { "\u{feff}" } else { "" };
        Some(Some(format!("{bom}{}{ending}", format!("{MARK} {summary}").trim_end())))
    })
}

fn remove_summaries(entry: &str) -> String {
    edit_lines(split_fragment_lines(entry), |line| parse_summary_line(line).map(|_| None))
}

/// Returns the text with some lines replaced (`Some(Some(…))`) or removed (`Some(None)`). If a
/// removed line had a blank line on both sides, one of them is removed too.
fn edit_lines<'a>(
    lines: impl Iterator<Item = MarkdownLine<'a>>,
    mut change: impl FnMut(&MarkdownLine<'a>) -> Option<Option<String>>,
) -> String {
    let mut out = String::new();
    let mut was_blank = true;
    let mut has_gap = false;
    for line in lines {
        match change(&line) {
            Some(None) => {
                has_gap = was_blank;
                continue;
            }
            Some(Some(other)) => out.push_str(&other),
            None if has_gap && line.is_blank() => {
                has_gap = false;
                continue;
            }
            None => out.push_str(line.raw),
        }
        was_blank = line.is_blank();
        has_gap = false;
    }
    out
}

/// Inserts the summary below the title. A file that begins with a lower-level heading has no title,
/// and the summary would look like part of that section: it goes to the top.
fn insert_summary(text: &str, summary: &str) -> String {
    let mut head = 0;
    let mut at = 0;
    for line in split_lines(text) {
        at += line.raw.len();
        if line.context == LineContext::Frontmatter {
            head = at;
        } else if let Some((level, _)) = line.parse_heading() {
            head = if level == 1 { at } else { head };
            break;
        }
    }
    insert_block(text, head, &format!("{MARK} {summary}{}", detect_line_ending(text)))
}
