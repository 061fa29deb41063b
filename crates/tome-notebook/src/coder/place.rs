//! Where entries are stored: `<type>/<type>.md` or `<type>/<topic>/<topic>.md`, with numbered files
//! beside a full one. A file over its limits is split: entries that share a tag move to a topic
//! folder, else the last entries move to a numbered file. Entries move verbatim; loose text stays.

use std::collections::BTreeMap;

use super::entry::Entry;
use super::limits::{FILE_BYTES_MAX, FILE_ENTRIES_MAX, PARTS_MAX, TOPIC_ENTRIES_MIN};
use super::page::{Block, Page, bytes};
use super::{InsightKind, Tree, guides, rules};

/// Tags that do not name a topic.
const DUTIES: &[&str] = &["success", "failure", "reconsolidated"];

/// An entry and its location.
#[derive(Debug, Clone)]
pub(super) struct Known {
    pub(super) path: String,
    pub(super) line: usize,
    /// Index of its block.
    pub(super) at: usize,
    pub(super) raw: String,
    pub(super) entry: Entry,
}

/// The type whose folder contains a path.
pub(super) fn kind_of(path: &str) -> Option<InsightKind> {
    InsightKind::named(path.split_once('/')?.0)
}

/// Collects every entry of a type, ordered by file and line.
pub(super) fn entries(tree: &Tree, kind: InsightKind) -> Vec<Known> {
    let files = tree.iter().filter(|(path, _)| kind_of(path) == Some(kind));
    files.flat_map(|(path, text)| entries_of(path, text)).collect()
}

pub(super) fn entries_of(path: &str, text: &str) -> Vec<Known> {
    let page = Page::parse(text);
    let known = page.entries().map(|(at, block, entry)| Known {
        path: path.to_owned(),
        line: block.line,
        at,
        raw: block.raw.trim_end().to_owned(),
        entry: entry.clone(),
    });
    known.collect()
}

/// The default file for a new insight.
pub(super) fn home(kind: InsightKind, topic: Option<&str>) -> String {
    let kind = kind.as_str();
    topic.map_or_else(|| format!("{kind}/{kind}.md"), |topic| format!("{kind}/{topic}/{topic}.md"))
}

/// Replaces an entry in its file.
pub(super) fn rewrite(tree: &mut Tree, known: &Known, entry: Entry) {
    if let Some(text) = tree.get_mut(&known.path) {
        let mut page = Page::parse(text);
        page.replace(known.at, entry);
        *text = page.text();
    }
}

/// Adds an entry to a file or its first numbered sibling with room. Returns the file used.
pub(super) fn add(tree: &mut Tree, path: &str, raw: &str) -> String {
    Parts { path, except: None, number: 1 }.add(tree, raw)
}

/// A file and its numbered siblings, filled in order.
struct Parts<'a> {
    path: &'a str,
    /// The file being split, which must not receive entries.
    except: Option<&'a str>,
    number: usize,
}

impl Parts<'_> {
    fn add(&mut self, tree: &mut Tree, raw: &str) -> String {
        while self.number < PARTS_MAX {
            let path = part(self.path, self.number);
            let text = match tree.get(&path) {
                _ if self.except == Some(path.as_str()) || is_taken(tree, &path) => None,
                Some(text) => grown(&Page::parse(text), raw),
                None => Some(begun(&path, raw)),
            };
            if let Some(text) = text {
                tree.insert(path.clone(), text);
                return path;
            }
            self.number += 1;
        }
        // Never reached in practice; append anyway, so that nothing is lost.
        let text = tree.get(self.path).map_or_else(String::new, Clone::clone);
        tree.insert(self.path.to_owned(), Page::parse(&text).with_last(raw));
        self.path.to_owned()
    }
}

fn begun(path: &str, raw: &str) -> String {
    Page::parse(&guides::heading(path)).with_last(raw)
}

/// Appends an entry if there is room and it parses back unchanged.
fn grown(page: &Page, raw: &str) -> Option<String> {
    let count = page.entries().count();
    let room = count < FILE_ENTRIES_MAX && page.entry_bytes() + bytes(raw) <= FILE_BYTES_MAX;
    if count > 0 && !room {
        return None;
    }
    let text = page.with_last(raw);
    let entry = Page::parse(raw).entries().map(|(_, _, entry)| entry.clone()).next();
    let after = Page::parse(&text);
    let whole = after.entries().count() == count + 1;
    let last = after.entries().last().map(|(_, _, entry)| entry.clone());
    (whole && last == entry).then_some(text)
}

/// `x.md`, `x-2.md`, `x-3.md`, …
fn part(path: &str, number: usize) -> String {
    match path.strip_suffix(".md") {
        Some(stem) if number > 1 => format!("{stem}-{number}.md"),
        _ => path.to_owned(),
    }
}

/// Whether a case-insensitive file system would confuse the path with an existing file.
pub(super) fn is_taken(tree: &Tree, path: &str) -> bool {
    let lower = path.to_lowercase();
    !tree.contains_key(path) && tree.keys().any(|known| known.to_lowercase() == lower)
}

pub(super) fn is_overlong(page: &Page) -> bool {
    let count = page.entries().count();
    count > FILE_ENTRIES_MAX || (count > 1 && page.entry_bytes() > FILE_BYTES_MAX)
}

/// Splits a file over its limits. Returns a description of each move.
pub(super) fn relieve(tree: &mut Tree, path: &str) -> Vec<String> {
    let (Some(kind), Some(text)) = (kind_of(path), tree.get(path)) else { return Vec::new() };
    let mut page = Page::parse(text);
    let mut moved: BTreeMap<String, usize> = BTreeMap::new();
    while is_overlong(&page) {
        let topic = common_topic(&page).filter(|_| path.matches('/').count() == 1);
        let (target, group) = match topic {
            Some(topic) => (home(kind, Some(&topic)), tagged(&page, &topic)),
            None => (first_part(tree, path), surplus(&page)),
        };
        let mut parts = Parts { path: &target, except: Some(path), number: 1 };
        for block in page.take(&group) {
            *moved.entry(parts.add(tree, &block.raw)).or_default() += 1;
        }
    }
    if !moved.is_empty() {
        tree.insert(path.to_owned(), page.arranged());
    }
    let said = moved.iter().map(|(to, count)| format!("moved {count} from {path} to {to}"));
    said.collect()
}

/// The indexes of the entries that exceed the file's limits.
fn surplus(page: &Page) -> Vec<usize> {
    let mut total = 0;
    let over = |(count, (at, block, _)): (usize, (usize, &Block, &Entry))| {
        total += bytes(&block.raw);
        (count > 0 && (count >= FILE_ENTRIES_MAX || total > FILE_BYTES_MAX)).then_some(at)
    };
    page.entries().enumerate().filter_map(over).collect()
}

/// The most common tag that is a valid topic and whose entries form a group that fits into a file.
fn common_topic(page: &Page) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for tag in page.entries().flat_map(|(_, _, entry)| &entry.tags) {
        *counts.entry(tag).or_default() += 1;
    }
    let is_topic = |tag: &str| {
        !DUTIES.contains(&tag) && InsightKind::named(tag).is_none() && rules::is_topic(tag)
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

fn tagged(page: &Page, tag: &str) -> Vec<usize> {
    page.entries().filter(|(_, _, entry)| entry.has_tag(tag)).map(|(at, _, _)| at).collect()
}

/// `x.md` for `x-3.md`, if both exist.
fn first_part(tree: &Tree, path: &str) -> String {
    let first = path
        .strip_suffix(".md")
        .and_then(|stem| stem.rsplit_once('-'))
        .filter(|(_, number)| number.parse::<usize>().is_ok())
        .map(|(stem, _)| format!("{stem}.md"))
        .filter(|first| tree.contains_key(first));
    first.unwrap_or_else(|| path.to_owned())
}
