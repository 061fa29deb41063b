//! Checks a whole notebook against the store guide. Every finding includes the fix.

use std::collections::BTreeMap;

use tome_text::normalize_sentence;

use super::entry::LessonEntry;
use super::lesson_file::{LessonFile, is_separator, parse_label};
use super::limits::{FILE_BYTES_MAX, FILE_ENTRIES_MAX};
use super::placement::{self, LocatedEntry};
use super::readme::{extract_head, render_readmes};
use super::similarity::{LessonProfile, SimilarityIndex, is_contradiction};
use super::{LessonKind, LessonTree, LintFinding, guides, rules};
use crate::limits::CODER_FOLDERS_MAX;

/// Lists all violations of the guide, ordered by file and line. `on_disk` holds the current
/// READMEs.
pub(crate) fn lint(tree: &LessonTree, on_disk: &BTreeMap<String, String>) -> Vec<LintFinding> {
    let mut found = Vec::new();
    for (path, text) in tree {
        found.extend(check_location(path));
        if let Some(kind) = LessonKind::from_path(path) {
            found.extend(check_file(path, kind, &LessonFile::parse(text)));
        }
    }
    for kind in LessonKind::ALL {
        found.extend(find_duplicates(&placement::collect_entries(tree, kind)));
    }
    found.extend(check_readmes(tree, on_disk));
    found.sort_by(|a, b| (&a.path, a.line).cmp(&(&b.path, b.line)));
    found
}

fn build_finding(path: &str, line: usize, problem: impl Into<String>) -> LintFinding {
    LintFinding { path: path.to_owned(), line, problem: problem.into() }
}

fn check_location(path: &str) -> Option<LintFinding> {
    let is_guide = guides().iter().any(|(guide, _)| *guide == path);
    if LessonKind::from_path(path).is_none() && !is_guide {
        let problem = "it is outside episodic/, procedural/ and semantic/, where recall does not find \
                       it: move it into one of them";
        return Some(build_finding(path, 0, problem));
    }
    (path.matches('/').count() > CODER_FOLDERS_MAX).then(|| {
        let problem = format!(
            "it is more than {CODER_FOLDERS_MAX} folders deep: move it up, or run `tome coder tidy`"
        );
        build_finding(path, 0, problem)
    })
}

fn check_file(path: &str, kind: LessonKind, page: &LessonFile) -> Vec<LintFinding> {
    let mut findings = Vec::new();
    if placement::exceeds_limits(page) {
        findings.push(build_finding(
            path,
            0,
            format!(
                "it has {} lessons in {} bytes (at most {FILE_ENTRIES_MAX} and {FILE_BYTES_MAX}): \
             run `tome coder tidy` to split it",
                page.entries().count(),
                page.entry_bytes(),
            ),
        ));
    }
    for (at, block) in page.blocks.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| page.blocks.get(at));
        let problems = match &block.entry {
            None => check_loose_text(block.line, &block.raw),
            Some(read) => check_entry(kind, block.line, &block.raw, read),
        };
        findings
            .extend(problems.into_iter().map(|(line, problem)| build_finding(path, line, problem)));
        let earlier = page.entries().next().is_some_and(|(first, _, _)| first < at);
        let separated = before
            .is_some_and(|before| before.entry.is_none() && before.raw.lines().any(is_separator));
        if block.entry.is_some() && earlier && !separated {
            let problem =
                "it is not separated from the previous entry: add a --- line between blank lines";
            findings.push(build_finding(path, block.line, problem));
        }
    }
    findings
}

/// Finds field labels outside entries.
fn check_loose_text(first: usize, raw: &str) -> Vec<(usize, String)> {
    // Labels in fenced code are examples.
    let mut fenced = false;
    let mut findings = Vec::new();
    for (at, line) in raw.lines().enumerate() {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
        }
        if let Some((name, _)) = parse_label(line).filter(|_| !fenced)
            && ["title", "description", "content", "tags"].contains(&name.to_lowercase().as_str())
        {
            let problem = format!(
                "**{name}:** is outside an entry: an entry begins with **Title:** and a title, \
                 and has only its fields between that and **Tags:**"
            );
            findings.push((first + at, problem));
        }
    }
    findings
}

fn check_entry(
    kind: LessonKind,
    first: usize,
    raw: &str,
    entry: &LessonEntry,
) -> Vec<(usize, String)> {
    let at = |name: &str| {
        let is = |line: &str| {
            parse_label(line).is_some_and(|(label, _)| label.eq_ignore_ascii_case(name))
        };
        raw.lines().position(is).map(|at| first + at)
    };
    let or_first = |line: Option<usize>| line.unwrap_or(first);
    let mut problems: Vec<(usize, String)> = Vec::new();
    problems.extend(rules::check_title(&entry.title).map(|problem| (first, problem)));
    let description = rules::check_description(&entry.description);
    problems.extend(description.map(|problem| (or_first(at("description")), problem)));
    let content = rules::check_content(&entry.content).into_iter();
    problems.extend(content.map(|problem| (or_first(at("content")), problem)));
    let tags = rules::check_entry_tags(kind, &entry.tags).into_iter();
    problems.extend(tags.map(|problem| (or_first(at("tags")), problem)));
    if let Some(line) = at("description").filter(|line| *line != first + 1) {
        problems.push((line, "the description must be on the line below the title".to_owned()));
    }
    for name in ["content", "tags"] {
        let line = at(name).filter(|line| {
            let above = line.checked_sub(first + 1).and_then(|above| raw.lines().nth(above));
            above.is_some_and(|above| !above.trim().is_empty())
        });
        problems
            .extend(line.map(|line| (line, format!("there is no blank line above **{name}:**"))));
    }
    problems
}

/// Finds duplicate titles and entries that say the same.
fn find_duplicates(entries: &[LocatedEntry]) -> Vec<LintFinding> {
    let profiles: Vec<LessonProfile> =
        entries.iter().map(|known| LessonProfile::from_entry(&known.entry)).collect();
    let mut neighbors = SimilarityIndex::new(&profiles);
    let mut titles: BTreeMap<String, &LocatedEntry> = BTreeMap::new();
    let mut findings = Vec::new();
    for (number, (known, profile)) in entries.iter().zip(&profiles).enumerate() {
        let similar = neighbors.find_same(profile, &profiles).into_iter();
        let mut similar = similar.filter_map(|other| entries.get(other));
        let same = similar.find(|earlier| !is_contradiction(&known.entry, &earlier.entry));
        let titled = titles.insert(normalize_sentence(&known.entry.title), known);
        if let Some(earlier) = same {
            findings.push(duplicate_finding(
                known,
                "it says the same as",
                earlier,
                "run `tome coder tidy`",
            ));
        } else {
            neighbors.insert(number, profile);
            let earlier = titled.into_iter();
            findings.extend(earlier.map(|earlier| {
                duplicate_finding(
                    known,
                    "it has the same title as",
                    earlier,
                    "give it a different title",
                )
            }));
        }
    }
    findings
}

fn duplicate_finding(
    known: &LocatedEntry,
    what: &str,
    earlier: &LocatedEntry,
    instead: &str,
) -> LintFinding {
    let LocatedEntry { path, line, entry, .. } = earlier;
    let problem = format!("{what} \"{}\" ({path}, line {line}): {instead}", entry.title);
    build_finding(&known.path, known.line, problem)
}

/// Finds READMEs that differ from a rebuild.
fn check_readmes(tree: &LessonTree, on_disk: &BTreeMap<String, String>) -> Vec<LintFinding> {
    let heads = tree.iter().map(|(path, text)| (path.clone(), extract_head(text))).collect();
    let right = render_readmes(&heads);
    let mut findings = Vec::new();
    for (path, text) in &right {
        match on_disk.get(path) {
            None => {
                findings.push(build_finding(path, 0, "it is missing: the next write creates it"));
            }
            Some(found_text) if found_text != text => {
                findings.push(build_finding(
                    path,
                    0,
                    "it is out of date: the next write rebuilds it",
                ));
            }
            Some(_) => {}
        }
    }
    let stray = on_disk.keys().filter(|path| !right.contains_key(*path));
    findings
        .extend(stray.map(|path| build_finding(path, 0, "its folder has no lessons: delete it")));
    findings
}
