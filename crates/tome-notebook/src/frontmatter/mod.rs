//! The YAML header of a typed note, from which its index line is made.
//!
//! ```text
//! ---
//! name: User Preferences
//! description: "Editor settings: theme, keys"
//! type: user
//! updated: 2026-03-25
//! tags: [a key Tome does not know stays as it is]
//! ---
//!
//! The body.
//! ```
//!
//! People and other programs write it too, so parsing is lenient and never fails, and writing
//! touches only the keys above. Written values are valid YAML on one line; every other line is put
//! back byte for byte, with its comments and line ending.

mod block;
mod scalar;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};

use crate::NoteHeader;
use crate::lines::{detect_line_ending, strip_line_ending, trim_blank_end, trim_blank_start};
use block::{FrontmatterUnit, UnitKind};

/// The parsed keys of a frontmatter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Frontmatter {
    pub name: Option<String>,
    /// One-line summary.
    pub description: Option<String>,
    /// `type`, else `memory_type`; not validated.
    pub note_type: Option<String>,
    /// Day of the last change.
    pub updated: Option<String>,
}

/// Parses the known keys; the first occurrence of a key wins.
pub(crate) fn parse(text: &str) -> Frontmatter {
    let mut head = Frontmatter::default();
    let mut memory_type = None;
    for unit in block::find_block(text).map(|block| block.units).unwrap_or_default() {
        let UnitKind::Key { key, value } = unit.kind else { continue };
        let field = match key {
            "name" => &mut head.name,
            "description" => &mut head.description,
            "type" => &mut head.note_type,
            "memory_type" => &mut memory_type,
            "updated" => &mut head.updated,
            _ => continue,
        };
        if field.is_none() {
            *field = scalar::parse(value);
        }
    }
    head.note_type = head.note_type.or(memory_type);
    head
}

/// Returns the text after the frontmatter and the blank lines that follow it.
#[cfg(test)]
pub(crate) fn body(text: &str) -> &str {
    block::find_block(text).map_or(text, |block| trim_blank_start(block.after))
}

/// Length of the frontmatter in bytes, including both fences; 0 if there is none.
pub(crate) fn byte_len(text: &str) -> usize {
    block::find_block(text).map_or(0, |block| text.len() - block.after.len())
}

/// Renders a typed note. Unknown keys of `previous` are kept, and so are those of the body's own
/// frontmatter, if it has one; where both have a key, the body's value wins.
pub(crate) fn render_note(
    previous: Option<&str>,
    typed: &NoteHeader,
    today: &str,
    body: &str,
) -> String {
    let was = previous.and_then(block::find_block).map(|block| block.units).unwrap_or_default();
    let (given, content) = strip_frontmatter(body);
    let ending = if has_crlf_throughout(content, body) { "\r\n" } else { "\n" };
    let units = merge_units(was, given);
    let (loose, kept) = units.split_at(count_leading_loose(&units));

    let mut out = format!("---{ending}");
    out.extend(loose.iter().map(|unit| unit.text));
    for (key, value) in [
        ("name", scalar::render(&typed.name)),
        ("description", scalar::render(&typed.description)),
        ("type", typed.note_type.as_str().to_owned()),
        ("updated", today.to_owned()),
    ] {
        out.push_str(&format!("{key}: {value}{ending}"));
    }
    out.extend(kept.iter().map(|unit| unit.text));
    out.push_str("---");
    out.push_str(ending);
    if !content.is_empty() {
        out.extend([ending, trim_blank_end(content), ending]);
    }
    out
}

/// Strips the frontmatter from a body, repeatedly if it was wrapped more than once.
fn strip_frontmatter(body: &str) -> (Vec<FrontmatterUnit<'_>>, &str) {
    let mut units = Vec::new();
    let mut content = trim_blank_start(body);
    while let Some(block) =
        block::find_block(content).filter(block::FrontmatterBlock::is_deliberate)
    {
        units.extend(block.units);
        content = trim_blank_start(block.after);
    }
    (units, content)
}

fn has_crlf_throughout(content: &str, body: &str) -> bool {
    let text = if content.contains('\n') { content } else { body };
    !content.is_empty()
        && text.contains('\n')
        && text.split_inclusive('\n').all(|line| !line.ends_with('\n') || line.ends_with("\r\n"))
}

/// Merges the units that Tome does not write itself: the previous ones, with given values replacing
/// theirs, followed by the new ones.
fn merge_units<'a>(
    was: Vec<FrontmatterUnit<'a>>,
    given: Vec<FrontmatterUnit<'a>>,
) -> Vec<FrontmatterUnit<'a>> {
    let is_kept = |unit: &FrontmatterUnit<'_>| !unit.is_known();
    // Keys match by name, comments by text; the nth duplicate matches the nth.
    let same = |unit: &FrontmatterUnit<'a>| (unit.key().is_some(), unit.key().unwrap_or(unit.text));
    let given: Vec<FrontmatterUnit<'a>> = given.into_iter().filter(is_kept).collect();
    let mut waiting: HashMap<(bool, &str), VecDeque<usize>> = HashMap::new();
    for (at, unit) in given.iter().enumerate() {
        waiting.entry(same(unit)).or_default().push_back(at);
    }
    let mut is_taken = vec![false; given.len()];
    let mut units = Vec::new();
    for unit in was.into_iter().filter(is_kept) {
        let at = waiting.get_mut(&same(&unit)).and_then(VecDeque::pop_front);
        if let Some(taken) = at.and_then(|at| is_taken.get_mut(at)) {
            *taken = true;
        }
        units.push(at.and_then(|at| given.get(at).copied()).unwrap_or(unit));
    }
    units.extend(given.into_iter().zip(is_taken).filter(|(_, taken)| !taken).map(|(unit, _)| unit));
    units
}

/// Returns how many units must stay above the first key: an indented line among them would
/// otherwise become part of the value above it.
fn count_leading_loose(units: &[FrontmatterUnit<'_>]) -> usize {
    let before_keys = units.iter().position(|unit| unit.key().is_some()).unwrap_or(units.len());
    let loose = units.iter().take(before_keys).rposition(FrontmatterUnit::is_loose);
    loose.map_or(0, |at| at + 1)
}

/// Sets `updated` if the frontmatter has any known key. Every other byte stays.
pub(crate) fn set_updated(text: &str, today: &str) -> String {
    let Some(block) = block::find_block(text) else { return text.to_owned() };
    let last_known = block.units.iter().rposition(FrontmatterUnit::is_known);
    if last_known.is_none() || parse(text).updated.as_deref() == Some(today) {
        return text.to_owned();
    }
    let ending = detect_line_ending(text);
    let at = block.units.iter().position(|unit| unit.key() == Some("updated"));
    let mut out = block.open.to_owned();
    for (nth, unit) in block.units.iter().enumerate() {
        if at == Some(nth) {
            out.push_str(&replace_value(unit, today));
            continue;
        }
        out.push_str(unit.text);
        if at.is_none() && last_known == Some(nth) {
            out.push_str(&format!("updated: {today}{ending}"));
        }
    }
    out.push_str(block.close);
    out.push_str(block.after);
    out
}

/// Returns the unit with another value, keeping its comment and line ending.
fn replace_value(unit: &FrontmatterUnit<'_>, value: &str) -> String {
    let raw = unit.text.split_inclusive('\n').next().unwrap_or_default();
    let line = strip_line_ending(raw);
    let was = block::split_key(line).map(|(_, was)| was).unwrap_or_default();
    let lead = line.strip_suffix(was).unwrap_or(line);
    let ending = raw.strip_prefix(line).unwrap_or_default();
    let comment =
        scalar::find_comment(was).map(|comment| format!(" {comment}")).unwrap_or_default();
    format!("{lead} {value}{comment}{ending}")
}
