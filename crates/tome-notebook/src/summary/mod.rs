//! The summary of a file in `facts/` or `episodes/`: one line, by which a reader decides whether the
//! file is worth opening.
//!
//! ```text
//! # 2026-02 Episodes
//!
//! > Summary: logger fix, short ID
//!
//! ## Logger fix
//! ```
//!
//! Whatever is done to it, a file has one such line and keeps every other. A line within a code fence
//! or the frontmatter is no summary. What is given is stored as it is, on one line.

mod made;
#[cfg(test)]
mod tests;

use crate::line::{self, Line, Place, ending_of, fragment_lines, lines, without_ending};
use crate::title;
pub(crate) use made::made_from;

const MARK: &str = "> Summary:";

/// The summary of a file, if it has one.
pub(crate) fn of(text: &str) -> Option<String> {
    first_of(lines(text)).map(str::to_owned)
}

fn first_of<'a>(mut lines: impl Iterator<Item = Line<'a>>) -> Option<&'a str> {
    lines.find_map(|line| said(&line).filter(|said| !said.is_empty()))
}

/// What a summary line says, which may be nothing; none if it is another line.
fn said<'a>(line: &Line<'a>) -> Option<&'a str> {
    if matches!(line.place, Place::Code | Place::Frontmatter) {
        return None;
    }
    Some(line.text.strip_prefix('>')?.trim_start().strip_prefix("Summary:")?.trim())
}

/// Gives a file this summary: in place of the first one it has, else below its title, else at the
/// top. An empty one is made from the file, if that gives something.
pub(crate) fn set(text: &str, summary: &str) -> String {
    let flat = flattened(summary);
    let flat = if flat.is_empty() { made_from(text) } else { flat };
    if lines(text).any(|line| said(&line).is_some()) {
        return replaced(text, &flat);
    }
    if flat.is_empty() { text.to_owned() } else { inserted(text, &flat) }
}

/// Sees to it that a file has one summary: the first it has, else one made from it.
pub(crate) fn settle(text: &str) -> String {
    let first = of(text);
    if first.is_some() && lines(text).filter_map(|line| said(&line)).count() == 1 {
        return text.to_owned();
    }
    set(text, &first.unwrap_or_default())
}

/// Adds an entry at the end of a file, or begins the file. The summary is the given one, else the
/// one that the entry brings, else one made from the file as it is now.
pub(crate) fn append(
    previous: Option<&str>,
    path: &str,
    entry: &str,
    summary: Option<&str>,
) -> String {
    let brought = first_of(fragment_lines(entry));
    let summary = summary.map(flattened).filter(|summary| !summary.is_empty());
    let summary = summary.or_else(|| brought.map(str::to_owned));
    let joined = joined(previous.unwrap_or_default(), path, &without_summaries(entry));
    let made = || Some(made_from(&joined)).filter(|made| !made.is_empty());
    let file = match summary.or_else(made) {
        Some(summary) => set(&joined, &summary),
        None => settle(&joined),
    };
    line::trim_blank_end(&file).to_owned() + ending_of(&joined)
}

/// The file with the entry, separated by one blank line.
fn joined(previous: &str, path: &str, entry: &str) -> String {
    let ending = ending_of(if previous.trim().is_empty() { entry } else { previous });
    let previous = line::trim_blank_end(previous);
    let entry = line::trim_blank_end(line::trim_blank_start(entry));
    let has_title = fragment_lines(entry).next().and_then(|line| line.heading());
    let mut out = previous.to_owned();
    if previous.trim_start_matches('\u{feff}').is_empty() && has_title.is_none_or(|(n, _)| n > 1) {
        out.push_str(&format!("# {}", title_for(path)));
    } else if let Some(fence) = lines(previous).unclosed_fence() {
        // Else the entry would be code.
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
        out.push_str(if raw.ends_with('\n') { without_ending(raw) } else { raw });
    }
    out.push_str(ending);
    out
}

/// `2026-02 Episodes`, `User Facts`, `Anything else`.
fn title_for(path: &str) -> String {
    let title = title::for_path(path);
    match path.split('/').next() {
        Some("episodes") => format!("{title} Episodes"),
        Some("facts") => format!("{title} Facts"),
        _ => title,
    }
}

/// On one line, and without the mark that some give with it.
fn flattened(summary: &str) -> String {
    let is_break = |part: char| part.is_control() || matches!(part, '\u{2028}' | '\u{2029}');
    let parts = summary.split(is_break).map(str::trim).filter(|part| !part.is_empty());
    let flat = parts.collect::<Vec<_>>().join(" ");
    let bare = flat.strip_prefix(MARK).map(|bare| bare.trim_start().to_owned());
    bare.unwrap_or(flat)
}

/// The first summary line becomes this one, the others go.
fn replaced(text: &str, summary: &str) -> String {
    let mut is_done = false;
    without_lines(lines(text), |line| {
        said(line)?;
        if std::mem::replace(&mut is_done, true) {
            return Some(None);
        }
        let text = without_ending(line.raw);
        let ending = line.raw.strip_prefix(text).unwrap_or_default();
        let bom = if line.raw.starts_with('\u{feff}') { "\u{feff}" } else { "" };
        Some(Some(format!("{bom}{}{ending}", format!("{MARK} {summary}").trim_end())))
    })
}

fn without_summaries(entry: &str) -> String {
    without_lines(fragment_lines(entry), |line| said(line).map(|_| None))
}

/// The text with some lines changed (`Some(Some(…))`) or left out (`Some(None)`). Where a line that
/// is left out stood between two blank ones, one of them goes with it.
fn without_lines<'a>(
    lines: impl Iterator<Item = Line<'a>>,
    mut change: impl FnMut(&Line<'a>) -> Option<Option<String>>,
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

/// Puts the summary below the title. A file that begins with another heading has no title, and its
/// summary would look like part of that section: it goes to the top.
fn inserted(text: &str, summary: &str) -> String {
    let mut head = 0;
    let mut at = 0;
    for line in lines(text) {
        at += line.raw.len();
        if line.place == Place::Frontmatter {
            head = at;
        } else if let Some((level, _)) = line.heading() {
            head = if level == 1 { at } else { head };
            break;
        }
    }
    line::inserted(text, head, &format!("{MARK} {summary}{}", ending_of(text)))
}
