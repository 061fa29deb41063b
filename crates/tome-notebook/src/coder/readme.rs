//! README files: what lies in the notebook, built from the heads of its files and nothing else.
//!
//! ```text
//! - `memory-store-guide.md`
//! - `episodic/` (2 insights): concrete events and what they taught
//!   - `episodic/episodic.md` (2 insights): A title; Another
//! ```
//!
//! The root's lists every file with a few titles, a type's every title, a topic's the descriptions
//! too. Paths are those within the notebook; the same files give the same text.

use std::collections::{BTreeMap, BTreeSet};

use tome_text::truncate_chars;

use super::limits::{
    HEAD_DESCRIPTION_CHARS_MAX, HEAD_TITLES_MAX, ROOT_TITLES_MAX, TITLE_CHARS_MAX,
};
use super::page::Page;
use super::place::kind_of;
use super::{InsightKind, guides};

/// What READMEs are built from, kept a file so that a write need not read the others again.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FileHead {
    /// Title and description of its entries, shortened; not of more than a README lists.
    pub titles: Vec<(String, String)>,
    /// How many entries there are.
    pub entries: usize,
}

/// The head of a file's text.
pub(crate) fn head(text: &str) -> FileHead {
    let page = Page::parse(text);
    let titles = page.entries().take(HEAD_TITLES_MAX).map(|(_, _, entry)| {
        let title = shortened(&entry.title, TITLE_CHARS_MAX);
        (title, shortened(&entry.description, HEAD_DESCRIPTION_CHARS_MAX))
    });
    FileHead { titles: titles.collect(), entries: page.entries().count() }
}

/// The READMEs of the root, of each type's folder that is there, and of each topic's: path and text.
/// None for no files.
pub(crate) fn readmes(heads: &BTreeMap<String, FileHead>) -> BTreeMap<String, String> {
    let mut made = BTreeMap::new();
    if heads.is_empty() {
        return made;
    }
    made.insert("README.md".to_owned(), root(heads));
    for kind in InsightKind::ALL {
        let files: Vec<_> = heads.iter().filter(|(path, _)| kind_of(path) == Some(kind)).collect();
        if files.is_empty() {
            continue;
        }
        let folder = kind.as_str();
        let title = format!("# {folder}: {}", guides::meaning(kind));
        made.insert(format!("{folder}/README.md"), folder_text(&title, &files, Detail::Titles));
        for topic in files.iter().filter_map(|(path, _)| topic_of(path)).collect::<BTreeSet<_>>() {
            let below = format!("{folder}/{topic}/");
            let of_topic: Vec<_> =
                files.iter().filter(|(path, _)| path.starts_with(&below)).copied().collect();
            let title = format!("# {folder}/{topic}");
            let text = folder_text(&title, &of_topic, Detail::Descriptions);
            made.insert(format!("{below}README.md"), text);
        }
    }
    made
}

/// `rust` of `semantic/rust/rust.md`
fn topic_of(path: &str) -> Option<&str> {
    let (topic, _) = path.split_once('/')?.1.split_once('/')?;
    Some(topic)
}

fn root(heads: &BTreeMap<String, FileHead>) -> String {
    let mut text = "# The coder's memory\n\n\
        Lessons across projects. Built by Tome from the files below: change those, not this one. \
        `memory-recall-guide.md` says how to look something up, `memory-store-guide.md` how to add.\n\n"
        .to_owned();
    for (path, _) in heads.iter().filter(|(path, _)| kind_of(path).is_none()) {
        text += &format!("- `{path}`\n");
    }
    for kind in InsightKind::ALL {
        let files: Vec<_> = heads.iter().filter(|(path, _)| kind_of(path) == Some(kind)).collect();
        if files.is_empty() {
            continue;
        }
        let count = files.iter().map(|(_, head)| head.entries).sum();
        text +=
            &format!("- `{}/` ({}): {}\n", kind.as_str(), insights(count), guides::meaning(kind));
        for (path, head) in files {
            text += &format!("  - `{path}` ({}){}\n", insights(head.entries), few_titles(head));
        }
    }
    text
}

fn few_titles(head: &FileHead) -> String {
    let mut named: Vec<String> =
        head.titles.iter().take(ROOT_TITLES_MAX).map(|(title, _)| title.clone()).collect();
    if named.is_empty() {
        return String::new();
    }
    if head.entries > named.len() {
        named.push(format!("and {} more", head.entries - named.len()));
    }
    format!(": {}", named.join("; "))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Titles,
    Descriptions,
}

fn folder_text(title: &str, files: &[(&String, &FileHead)], detail: Detail) -> String {
    let mut text = format!("{title}\n\nBuilt by Tome from the files below: change those.\n\n");
    for (path, head) in files {
        text += &format!("- `{path}` ({})\n", insights(head.entries));
        for (title, description) in &head.titles {
            let more = detail == Detail::Descriptions && !description.is_empty();
            let more = if more { format!(": {description}") } else { String::new() };
            text += &format!("  - {title}{more}\n");
        }
        if head.entries > head.titles.len() {
            text += &format!("  - and {} more\n", head.entries - head.titles.len());
        }
    }
    text
}

fn insights(count: usize) -> String {
    if count == 1 { "1 insight".to_owned() } else { format!("{count} insights") }
}

/// A text on one line of at most so many characters and an ellipsis.
fn shortened(text: &str, chars_max: usize) -> String {
    truncate_chars(&text.replace(char::is_control, " "), chars_max + 1)
}
