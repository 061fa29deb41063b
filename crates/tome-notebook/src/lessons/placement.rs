//! Where entries are stored: `<type>/<type>.md` or `<type>/<topic>/<topic>.md`, with numbered files
//! beside a full one. A file over its limits is split: entries that share a tag move to a topic
//! folder, else the last entries move to a numbered file. Entries move verbatim; loose text stays.

use std::collections::BTreeMap;

use super::entry::LessonEntry;
use super::lesson_file::{FileBlock, LessonFile, count_bytes};
use super::limits::{FILE_BYTES_MAX, FILE_ENTRIES_MAX, NUMBERED_FILES_MAX, TOPIC_ENTRIES_MIN};
use super::{LessonKind, LessonTree, guides, rules};

/// Tags that do not name a topic.
const RESERVED_TAGS: &[&str] = &["success", "failure", "reconsolidated"];

/// An entry and its location.
#[derive(Debug, Clone)]
pub(super) struct LocatedEntry {
    pub(super) path: String,
    pub(super) line: usize,
    pub(super) block_index: usize,
    pub(super) entry: LessonEntry,
}

/// Collects every entry of a type, ordered by file and line.
pub(super) fn collect_entries(tree: &LessonTree, kind: LessonKind) -> Vec<LocatedEntry> {
    let files = tree.iter().filter(|(path, _)| LessonKind::from_path(path) == Some(kind));
    files.flat_map(|(path, text)| collect_file_entries(path, text)).collect()
}

pub(super) fn collect_file_entries(path: &str, text: &str) -> Vec<LocatedEntry> {
    let page = LessonFile::parse(text);
    let known = page.entries().map(|(at, block, entry)| LocatedEntry {
        path: path.to_owned(),
        line: block.line,
        block_index: at,
        entry: entry.clone(),
    });
    known.collect()
}

/// The default file for a new lesson.
pub(super) fn default_path(kind: LessonKind, topic: Option<&str>) -> String {
    let kind = kind.as_str();
    topic.map_or_else(|| format!("{kind}/{kind}.md"), |topic| format!("{kind}/{topic}/{topic}.md"))
}

/// Replaces an entry in its file.
pub(super) fn rewrite_entry(tree: &mut LessonTree, known: &LocatedEntry, entry: LessonEntry) {
    if let Some(text) = tree.get_mut(&known.path) {
        let mut page = LessonFile::parse(text);
        page.replace_entry(known.block_index, entry);
        *text = page.render();
    }
}

/// Adds an entry to a file or its first numbered sibling with space left. Returns the file used.
pub(super) fn add_entry(tree: &mut LessonTree, path: &str, raw: &str) -> String {
    NumberedFiles { path, excluded: None, number: 1 }.add_entry(tree, raw)
}

/// A file and its numbered siblings, filled in order.
struct NumberedFiles<'a> {
    path: &'a str,
    /// The file being split, which must not receive entries.
    excluded: Option<&'a str>,
    number: usize,
}

impl NumberedFiles<'_> {
    fn add_entry(&mut self, tree: &mut LessonTree, raw: &str) -> String {
        while self.number < NUMBERED_FILES_MAX {
            let path = numbered_path(self.path, self.number);
            let text = match tree.get(&path) {
                _ if self.excluded == Some(path.as_str())
                    || collides_ignoring_case(tree, &path) =>
                {
                    None
                }
                Some(text) => append_if_room(&LessonFile::parse(text), raw),
                None => Some(render_new_file(&path, raw)),
            };
            if let Some(text) = text {
                tree.insert(path.clone(), text);
                return path;
            }
            self.number += 1;
        }
        // Never reached in practice; append anyway, so that nothing is lost.
        let text = tree.get(self.path).map_or_else(String::new, Clone::clone);
        tree.insert(self.path.to_owned(), LessonFile::parse(&text).render_with_entry(raw));
        self.path.to_owned()
    }
}

fn render_new_file(path: &str, raw: &str) -> String {
    LessonFile::parse(&guides::initial_text(path)).render_with_entry(raw)
}

/// Appends an entry if it fits and it parses back unchanged.
fn append_if_room(page: &LessonFile, raw: &str) -> Option<String> {
    let count = page.entries().count();
    let fits = count < FILE_ENTRIES_MAX && page.entry_bytes() + count_bytes(raw) <= FILE_BYTES_MAX;
    if count > 0 && !fits {
        return None;
    }
    let text = page.render_with_entry(raw);
    let entry = LessonFile::parse(raw).entries().map(|(_, _, entry)| entry.clone()).next();
    let after = LessonFile::parse(&text);
    let whole = after.entries().count() == count + 1;
    let last = after.entries().last().map(|(_, _, entry)| entry.clone());
    (whole && last == entry).then_some(text)
}

/// `x.md`, `x-2.md`, `x-3.md`, …
fn numbered_path(path: &str, number: usize) -> String {
    match path.strip_suffix(".md") {
        Some(stem) if number > 1 => format!("{stem}-{number}.md"),
        _ => path.to_owned(),
    }
}

/// Whether a case-insensitive file system would confuse the path with an existing file.
pub(super) fn collides_ignoring_case(tree: &LessonTree, path: &str) -> bool {
    let lower = path.to_lowercase();
    !tree.contains_key(path) && tree.keys().any(|known| known.to_lowercase() == lower)
}

pub(super) fn exceeds_limits(page: &LessonFile) -> bool {
    let count = page.entries().count();
    count > FILE_ENTRIES_MAX || (count > 1 && page.entry_bytes() > FILE_BYTES_MAX)
}

/// Splits a file over its limits. Returns a description of each move.
pub(super) fn split_file(tree: &mut LessonTree, path: &str) -> Vec<String> {
    let (Some(kind), Some(text)) = (LessonKind::from_path(path), tree.get(path)) else {
        return Vec::new();
    };
    let mut page = LessonFile::parse(text);
    let mut moved: BTreeMap<String, usize> = BTreeMap::new();
    while exceeds_limits(&page) {
        let topic = find_common_topic(&page).filter(|_| path.matches('/').count() == 1);
        let (target, group) = match topic {
            Some(topic) => (default_path(kind, Some(&topic)), find_tagged_blocks(&page, &topic)),
            None => (unnumbered_path(tree, path), find_surplus_blocks(&page)),
        };
        let mut parts = NumberedFiles { path: &target, excluded: Some(path), number: 1 };
        for block in page.take_blocks(&group) {
            *moved.entry(parts.add_entry(tree, &block.raw)).or_default() += 1;
        }
    }
    if !moved.is_empty() {
        tree.insert(path.to_owned(), page.render_arranged());
    }
    let steps = moved.iter().map(|(to, count)| format!("moved {count} from {path} to {to}"));
    steps.collect()
}

/// The indexes of the entries that exceed the file's limits.
fn find_surplus_blocks(page: &LessonFile) -> Vec<usize> {
    let mut total = 0;
    let over = |(count, (at, block, _)): (usize, (usize, &FileBlock, &LessonEntry))| {
        total += count_bytes(&block.raw);
        (count > 0 && (count >= FILE_ENTRIES_MAX || total > FILE_BYTES_MAX)).then_some(at)
    };
    page.entries().enumerate().filter_map(over).collect()
}

/// The most common tag that is a valid topic and whose entries form a group that fits into a file.
fn find_common_topic(page: &LessonFile) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for tag in page.entries().flat_map(|(_, _, entry)| &entry.tags) {
        *counts.entry(tag).or_default() += 1;
    }
    let is_topic = |tag: &str| {
        !RESERVED_TAGS.contains(&tag)
            && LessonKind::parse(tag).is_none()
            && rules::is_valid_topic(tag)
    };
    counts
        .into_iter()
        .filter(|(tag, count)| {
            is_topic(tag) && (TOPIC_ENTRIES_MIN..=FILE_ENTRIES_MAX).contains(count)
        })
        // Ties go to the first in alphabetical order.
        .max_by(|a, b| a.1.cmp(&b.1).then(b.0.cmp(a.0)))
        .map(|(tag, _)| tag.to_owned())
}

fn find_tagged_blocks(page: &LessonFile, tag: &str) -> Vec<usize> {
    page.entries().filter(|(_, _, entry)| entry.has_tag(tag)).map(|(at, _, _)| at).collect()
}

/// `x.md` for `x-3.md`, if both exist.
fn unnumbered_path(tree: &LessonTree, path: &str) -> String {
    let first = path
        .strip_suffix(".md")
        .and_then(|stem| stem.rsplit_once('-'))
        .filter(|(_, number)| number.parse::<usize>().is_ok())
        .map(|(stem, _)| format!("{stem}.md"))
        .filter(|first| tree.contains_key(first));
    first.unwrap_or_else(|| path.to_owned())
}
