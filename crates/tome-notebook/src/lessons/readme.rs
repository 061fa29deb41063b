//! Renders the README files of the coder's notebook from the heads of its files.
//!
//! ```text
//! - `memory-store-guide.md`
//! - `episodic/` (2 insights): concrete events and what they taught
//!   - `episodic/episodic.md` (2 insights): A title; Another
//! ```
//!
//! The root README lists every file with a few titles, a type's README every title, a topic's
//! README also the descriptions. Paths are relative to the notebook; the output is deterministic.

use std::collections::{BTreeMap, BTreeSet};

use tome_text::{count_noun, truncate_chars};

use super::lesson_file::LessonFile;
use super::limits::{
    HEAD_DESCRIPTION_CHARS_MAX, HEAD_TITLES_MAX, ROOT_TITLES_MAX, TITLE_CHARS_MAX,
};
use super::{LessonKind, guides};

/// The part of a file that READMEs show, cached per file so that a write need not re-read the
/// others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct FileHead {
    /// Shortened titles and descriptions of the entries, up to `HEAD_TITLES_MAX`.
    pub titles: Vec<(String, String)>,
    /// Total number of entries.
    pub entries: usize,
}

pub(crate) fn extract_head(text: &str) -> FileHead {
    let page = LessonFile::parse(text);
    let titles = page.entries().take(HEAD_TITLES_MAX).map(|(_, _, entry)| {
        let title = shorten_text(&entry.title, TITLE_CHARS_MAX);
        (title, shorten_text(&entry.description, HEAD_DESCRIPTION_CHARS_MAX))
    });
    FileHead { titles: titles.collect(), entries: page.entries().count() }
}

/// Renders the READMEs of the root, of each existing type folder and of each topic folder, by path;
/// empty if there are no files.
pub(crate) fn render_readmes(heads: &BTreeMap<String, FileHead>) -> BTreeMap<String, String> {
    let mut readmes = BTreeMap::new();
    if heads.is_empty() {
        return readmes;
    }
    readmes.insert("README.md".to_owned(), render_root(heads));
    for kind in LessonKind::ALL {
        let files: Vec<_> =
            heads.iter().filter(|(path, _)| LessonKind::from_path(path) == Some(kind)).collect();
        if files.is_empty() {
            continue;
        }
        let folder = kind.as_str();
        let title = format!("# {folder}: {}", guides::describe_kind(kind));
        readmes.insert(
            format!("{folder}/README.md"),
            render_folder(&title, &files, ReadmeDetail::Titles),
        );
        for topic in files.iter().filter_map(|(path, _)| topic_of(path)).collect::<BTreeSet<_>>() {
            let below = format!("{folder}/{topic}/");
            let of_topic: Vec<_> =
                files.iter().filter(|(path, _)| path.starts_with(&below)).copied().collect();
            let title = format!("# {folder}/{topic}");
            let text = render_folder(&title, &of_topic, ReadmeDetail::Descriptions);
            readmes.insert(format!("{below}README.md"), text);
        }
    }
    readmes
}

/// `rust` for `semantic/rust/rust.md`.
fn topic_of(path: &str) -> Option<&str> {
    let (topic, _) = path.split_once('/')?.1.split_once('/')?;
    Some(topic)
}

fn render_root(heads: &BTreeMap<String, FileHead>) -> String {
    let mut text = "# The coder's memory\n\n\
        Lessons across projects. Generated from the files below: edit those, not this one. \
        `memory-recall-guide.md` explains how to look something up, `memory-store-guide.md` how to add to it.\n\n"
        .to_owned();
    for (path, _) in heads.iter().filter(|(path, _)| LessonKind::from_path(path).is_none()) {
        text += &format!("- `{path}`\n");
    }
    for kind in LessonKind::ALL {
        let files: Vec<_> =
            heads.iter().filter(|(path, _)| LessonKind::from_path(path) == Some(kind)).collect();
        if files.is_empty() {
            continue;
        }
        let count = files.iter().map(|(_, head)| head.entries).sum();
        text += &format!(
            "- `{}/` ({}): {}\n",
            kind.as_str(),
            render_count(count),
            guides::describe_kind(kind)
        );
        for (path, head) in files {
            text += &format!(
                "  - `{path}` ({}){}\n",
                render_count(head.entries),
                render_few_titles(head)
            );
        }
    }
    text
}

fn render_few_titles(head: &FileHead) -> String {
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
enum ReadmeDetail {
    Titles,
    Descriptions,
}

fn render_folder(title: &str, files: &[(&String, &FileHead)], detail: ReadmeDetail) -> String {
    let mut text = format!("{title}\n\nGenerated from the files below: edit those.\n\n");
    for (path, head) in files {
        text += &format!("- `{path}` ({})\n", render_count(head.entries));
        for (title, description) in &head.titles {
            let more = detail == ReadmeDetail::Descriptions && !description.is_empty();
            let more = if more { format!(": {description}") } else { String::new() };
            text += &format!("  - {title}{more}\n");
        }
        if head.entries > head.titles.len() {
            text += &format!("  - and {} more\n", head.entries - head.titles.len());
        }
    }
    text
}

fn render_count(count: usize) -> String {
    count_noun(count as u64, "insight", "insights")
}

/// Shortens to one line of at most `chars_max` characters and an ellipsis.
fn shorten_text(text: &str, chars_max: usize) -> String {
    truncate_chars(&text.replace(char::is_control, " "), chars_max + 1)
}
