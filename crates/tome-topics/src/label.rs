//! Labels: the terms that distinguish a group from the others (class-based tf-idf).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tome_text::{StopClass, is_stop_word, stem};

use crate::limits::LABEL_TERMS_MAX;
use crate::path::base_name;
use crate::record::SegmentRecord;

/// Words of titles that say what was done, not to what.
#[rustfmt::skip]
const VERBS: [&str; 72] = [
    "rework", "reworked", "edit", "edited", "edits", "improved", "improves", "improving", "adjust",
    "adjusted", "tweak", "extend", "extended", "rename",
    "fix", "fixed", "fixes", "add", "added", "adds", "update", "updated", "remove", "removed",
    "implement", "implemented", "change", "changed", "refactor", "make", "use", "run", "test",
    "tests", "check", "review", "commit", "push", "merge", "create", "created", "improve", "ensure",
    "support", "allow", "handle", "feat", "chore", "docs", "failed", "passed", "changes", "file",
    "files", "code", "issue", "issues", "work", "all", "new", "now", "done", "complete", "completed",
    "need", "needs", "already", "still", "used", "using", "read", "write",
];

/// Words among these that name work together with its object.
#[rustfmt::skip]
const ACTIONS: [&str; 11] = [
    "fix", "add", "update", "remove", "refactor", "review", "test", "run", "create", "support",
    "implement",
];

/// Nouns that occur in every project: two words may name a subject with one of them, alone they do not.
#[rustfmt::skip]
const GENERIC_NOUNS: [&str; 68] = [
    "agent", "app", "application", "assistant", "area", "bit", "branch", "bug", "case", "command",
    "comment", "config", "content", "data", "detail", "directory", "doc", "documentation", "error",
    "example", "feature", "feedback", "flow", "folder", "format", "function", "information", "input",
    "instruction", "line", "list", "local", "logic", "main", "message", "method", "name", "number",
    "option", "output", "page", "part", "plan", "point", "problem", "project", "question", "result",
    "section", "session", "step", "string", "system", "task", "text", "thing", "time", "user", "value",
    "version", "unit", "status", "source", "generate", "interrupt", "enable", "disable", "validation",
];

/// The agents that do the work: alone they name no subject, even where they occur in paths.
#[rustfmt::skip]
const CLIENTS: [&str; 9] = [
    "claude", "claude-code", "codex", "copilot", "gemini", "gemini-cli", "opencode", "chatgpt", "anthropic",
];

/// First words of a title that is a remark or a question.
#[rustfmt::skip]
const REMARK_STARTS: [&str; 51] = [
    "i", "i'm", "i've", "i'd", "i'll", "we", "we're", "we've", "you", "it", "it's", "this", "that",
    "these", "there", "my", "our", "can", "could", "would", "should", "what", "what's", "why", "how",
    "when", "where", "which", "who", "is", "are", "do", "does", "did", "let's", "ok", "okay", "yes",
    "no", "not", "each", "some", "here", "please", "assistant:", "want", "let", "now", "first", "have",
    "so",
];

/// Terms of a label up to which words are added to names.
const WORDED_TERMS_MAX: usize = 2;

/// A term of a group while labels are made.
#[derive(Debug, Clone, Default)]
struct TermCount {
    shown: String,
    /// Segments of the group that have it.
    segments: u64,
    is_telling: bool,
}

/// The terms of one segment, each once: key, spelling, whether it is an identifier or bigram.
/// `files` are the base names of the files that the project changed: others, such as the agent's own plans, name
/// nothing of it.
fn segment_terms(
    segment: &SegmentRecord,
    files: &BTreeSet<&str>,
) -> BTreeMap<String, (String, bool)> {
    let mut terms: BTreeMap<String, (String, bool)> = BTreeMap::new();
    for term in
        segment.terms.iter().filter(|term| files.contains(term.as_str()) || !is_file_name(term))
    {
        let is_name = term.chars().any(|c| !c.is_alphanumeric() || c.is_ascii_digit())
            || term.chars().skip(1).any(char::is_uppercase);
        if is_content(term) || is_name && term.chars().count() > 2 {
            terms.insert(term_key(term), (term.clone(), is_name));
        }
    }
    for file in segment.changed_files() {
        let base = base_name(&file.path);
        terms.entry(term_key(base)).or_insert_with(|| (base.to_owned(), true));
    }
    // A word that also names a file, a folder or the branch names the subject of the work.
    let names = collect_anchors(segment);
    for (key, (_, is_name)) in &mut terms {
        *is_name |= names.contains(key);
    }
    let titles = segment.turns.iter().filter_map(|turn| turn.why.as_deref());
    for title in titles.chain([segment.title.as_str()]) {
        let mut before: Option<&str> = None;
        for word in title.split_whitespace() {
            let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
            let is_plain = bare.chars().all(|c| c.is_alphanumeric() || c == '-');
            if !is_plain || !is_content(bare) {
                let is_action = ACTIONS.contains(&bare.to_lowercase().as_str());
                before = (is_plain && is_action).then_some(bare);
                continue;
            }
            let is_named = names.contains(&term_key(bare));
            terms.entry(term_key(bare)).or_insert_with(|| (plain_word(bare), is_named));
            if let Some(before) = before {
                let pair = format!("{} {}", plain_word(before), plain_word(bare));
                let key = format!("{} {}", term_key(before), term_key(bare));
                terms.entry(key).or_insert((pair, true));
            }
            // A sentence ends a pair.
            before = (!word.ends_with(['.', ',', ':', ';', ')'])).then_some(bare);
        }
    }
    terms
}

/// Whether a word looks like the name of a file: letters after a dot.
fn is_file_name(word: &str) -> bool {
    let Some((name, extension)) = word.rsplit_once('.') else { return false };
    let is_extension = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    !name.is_empty()
        && !word.contains(char::is_whitespace)
        && (1..=5).contains(&extension.len())
        && extension.chars().all(is_extension)
        && extension.contains(|c: char| c.is_ascii_lowercase())
}

/// Whether a title only names the files that were changed.
fn is_file_list(title: &str) -> bool {
    const VERBS: [&str; 5] = ["changed ", "created ", "edited ", "deleted ", "renamed "];
    let lower = title.to_lowercase();
    let Some(files) = VERBS.iter().find_map(|verb| lower.strip_prefix(verb)) else { return false };
    let mut parts = files.split(", ").flat_map(|part| part.split(" and "));
    parts.all(|part| is_file_name(part) || part.ends_with(" more") || part.ends_with(" files"))
}

/// The words in the paths of changed files and in the branch.
fn collect_anchors(segment: &SegmentRecord) -> BTreeSet<String> {
    let paths = segment.changed_files().map(|file| file.path.as_str());
    let all = paths.chain(segment.branch.as_deref());
    let words = all.flat_map(|name| name.split(|c: char| !c.is_alphanumeric()));
    words.filter(|word| is_content(word)).map(term_key).collect()
}

fn is_content(word: &str) -> bool {
    let lower = word.to_lowercase();
    let letters = lower.chars().filter(|c| c.is_alphabetic()).count();
    // An abbreviation of two letters: PR, CI.
    let is_short_name = letters == 2 && word.chars().all(|c| c.is_ascii_uppercase());
    (letters >= 3 || is_short_name)
        && !is_stop_word(&lower, StopClass::FUNCTION | StopClass::FOREIGN | StopClass::COMMON)
        && !VERBS.contains(&lower.as_str())
}

/// A word as in the middle of a sentence; names keep their letters.
fn plain_word(word: &str) -> String {
    if word.chars().skip(1).any(char::is_uppercase) { word.to_owned() } else { word.to_lowercase() }
}

fn term_key(term: &str) -> String {
    stem(&term.to_lowercase()).into_owned()
}

pub(crate) struct GroupLabel {
    /// Up to three terms.
    pub terms: Vec<String>,
    /// Index of the segment whose title best describes the group.
    pub central: usize,
}

/// Returns the labels of groups of segments, given by their indexes.
pub(crate) fn label_groups(
    segments: &[Arc<SegmentRecord>],
    groups: &[Vec<usize>],
) -> Vec<GroupLabel> {
    let mut overall: BTreeMap<String, u64> = BTreeMap::new();
    let changed = segments.iter().flat_map(|segment| segment.changed_files());
    let files: BTreeSet<&str> = changed.map(|file| base_name(&file.path)).collect();
    let per_segment: Vec<BTreeMap<String, (String, bool)>> =
        segments.iter().map(|segment| segment_terms(segment, &files)).collect();
    for key in per_segment.iter().flat_map(BTreeMap::keys) {
        *overall.entry(key.clone()).or_insert(0) += 1;
    }
    let label = |group: &Vec<usize>| label_group(segments, &per_segment, &overall, group);
    groups.iter().map(label).collect()
}

fn label_group(
    segments: &[Arc<SegmentRecord>],
    per_segment: &[BTreeMap<String, (String, bool)>],
    overall: &BTreeMap<String, u64>,
    group: &[usize],
) -> GroupLabel {
    let mut counts: BTreeMap<&str, TermCount> = BTreeMap::new();
    for (key, (shown, is_telling)) in
        group.iter().filter_map(|index| per_segment.get(*index)).flatten()
    {
        let count = counts.entry(key).or_default();
        count.segments += 1;
        count.is_telling |= is_telling;
        if count.shown.is_empty() {
            count.shown.clone_from(shown);
        }
    }
    let all = per_segment.len() as u64;
    let mut scored: Vec<(u64, &str, &TermCount)> = counts
        .iter()
        .filter(|(_, count)| is_shared(count, group.len() as u64))
        .map(|(key, count)| {
            let everywhere = overall.get(*key).copied().unwrap_or(count.segments);
            let score = score_term(count, everywhere, all, group.len() as u64);
            (score, *key, count)
        })
        .collect();
    let all_scored = scored.clone();
    scored.retain(|(_, key, count)| is_specific(key, &count.shown));
    scored.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    // Names and pairs first; words only where there are few of those.
    scored.sort_by_key(|(_, _, count)| !count.is_telling);
    let mut label: Vec<String> = Vec::new();
    let mut words: BTreeSet<String> = BTreeSet::new();
    for (score, _, count) in scored {
        let own: BTreeSet<String> = split_term(&count.shown);
        let terms_max = if count.is_telling { LABEL_TERMS_MAX } else { WORDED_TERMS_MAX };
        let is_part = |term: &String| {
            let (term, shown) = (term.to_lowercase(), count.shown.to_lowercase());
            term.contains(&shown) || shown.contains(&term)
        };
        if label.len() < terms_max
            && score > 0
            && own.is_disjoint(&words)
            && !label.iter().any(is_part)
        {
            words.extend(own);
            label.push(count.shown.clone());
        }
    }
    let central = find_central(segments, &all_scored, &words, group);
    GroupLabel { terms: label, central }
}

/// Whether a term is specific by itself.
fn is_specific(key: &str, shown: &str) -> bool {
    let generic = || GENERIC_NOUNS.iter().chain(&CLIENTS);
    let is_generic = |word: &str| generic().any(|noun| term_key(noun) == word);
    if CLIENTS.contains(&shown.to_lowercase().as_str()) {
        return false;
    }
    let has_mark = shown.contains(|c: char| !c.is_alphanumeric() && c != ' ');
    has_mark || key.split(' ').any(|word| !is_generic(word))
}

/// The earliest segment whose title shares most terms with the label and the group. A remark or a
/// question describes the work less well than its name.
fn find_central(
    segments: &[Arc<SegmentRecord>],
    terms: &[(u64, &str, &TermCount)],
    label: &BTreeSet<String>,
    group: &[usize],
) -> usize {
    let score = |index: usize| -> u64 {
        let title = segments.get(index).map_or("", |segment| segment.title.as_str());
        let words: BTreeSet<String> = title
            .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | ':'))
            .map(|word| term_key(word.trim_matches(|c: char| !c.is_alphanumeric())))
            .collect();
        let known = terms.iter().filter(|(_, key, _)| words.contains(*key));
        let sum: u64 = known
            .map(|(score, key, _)| if label.contains(*key) { 4 * score } else { *score })
            .sum();
        let first = title.split_whitespace().next().unwrap_or_default().to_lowercase();
        let is_remark = REMARK_STARTS.contains(&first.as_str())
            || title.trim_end().ends_with(['?', ':', '…'])
            || is_file_list(title);
        // Every title counts for something.
        (sum + 1) * if is_remark { 1 } else { 4 }
    };
    let best = group.iter().copied().rev().max_by_key(|index| score(*index));
    best.unwrap_or_default()
}

/// Whether a term labels the group, and not a few segments of it: a name or a pair of words needs two
/// segments and a fifth of them all, a name of a small group one; a word most of them.
fn is_shared(count: &TermCount, group: u64) -> bool {
    let is_name = count.shown.contains(|c: char| !c.is_alphanumeric() && c != ' ')
        || count.shown.chars().skip(1).any(char::is_uppercase);
    match count.is_telling && is_name && !count.shown.contains(' ') {
        true => count.segments >= 2 && count.segments * 5 >= group || group == 2,
        false if count.is_telling => count.segments >= 2 && count.segments * 5 >= group,
        false => count.segments >= 2 && count.segments * 5 >= group * 3,
    }
}

/// Frequent in the group and rare elsewhere; identifiers and bigrams count half as much again.
fn score_term(count: &TermCount, everywhere: u64, all: u64, group: u64) -> u64 {
    let elsewhere = everywhere.saturating_sub(count.segments);
    // Share of the group that has it, and share of its uses that are in the group, in percent.
    let (inside, own) =
        (count.segments * 100 / group.max(1), count.segments * 100 / everywhere.max(1));
    if elsewhere * 3 > all {
        return 0;
    }
    let score = inside * own * own / 100;
    if count.is_telling { score * 3 / 2 } else { score }
}

/// The parts of a term: two terms of a label have none in common.
fn split_term(term: &str) -> BTreeSet<String> {
    let parts = term.split(|c: char| !c.is_alphanumeric());
    let parts = parts.filter(|part| part.chars().count() > 2);
    parts.map(term_key).chain([term_key(term)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_told_from_other_words() {
        for name in ["ingest_service.py", "draft-a-plan-for-eager-walrus.md", "a.b.ts"] {
            assert!(is_file_name(name), "{name}");
        }
        for other in ["1.2", "io.ErrorKind", ".rs", "parser", "two words.md", "e.g."] {
            assert!(!is_file_name(other), "{other}");
        }
        assert!(is_file_list("Changed ingest_service.py, test_ingest_service.py"));
        assert!(is_file_list("Created a.rs, b.rs and 3 more"));
        assert!(!is_file_list("Changed the parser in lexer.rs"));
        assert!(!is_file_list("Fix lexer.rs"));
    }
}
