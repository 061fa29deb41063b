//! The rules of the store guide. Each check returns the problem and its fix. Storing rejects
//! violations; `lint` reports them.

use tome_text::is_display_control;

use super::entry::{is_block_line, normalize_tag};
use super::limits::{
    CONTENT_CHARS_MAX, DESCRIPTION_CHARS_MAX, SENTENCES_MAX, SENTENCES_MIN, TAG_CHARS_MAX,
    TAGS_MAX, TAGS_MIN, TITLE_CHARS_MAX, TITLE_CHARS_MIN, TOPIC_CHARS_MAX,
};
use super::sentence::split_sentences;
use super::{LessonDraft, LessonKind};
use crate::limits::LESSONS_MAX;

/// Names reserved by an operating system for devices, or by Tome for indexes.
const RESERVED_TOPICS: &[&str] = &["readme", "con", "prn", "aux", "nul"];

/// Lists all problems of a store call; empty if it is valid.
pub(super) fn check_drafts(drafts: &[LessonDraft]) -> Vec<String> {
    if drafts.is_empty() {
        return vec![format!("no insights given: pass 1 to {LESSONS_MAX}")];
    }
    if drafts.len() > LESSONS_MAX {
        return vec![format!(
            "{} insights in one call, the limit is {LESSONS_MAX}: keep those that are \
             non-obvious, universal, actionable and generalizable",
            drafts.len()
        )];
    }
    let named = |(at, draft): (usize, &LessonDraft)| {
        let which = if drafts.len() > 1 { format!("insight {}: ", at + 1) } else { String::new() };
        check_draft(draft).into_iter().map(move |problem| format!("{which}{problem}"))
    };
    drafts.iter().enumerate().flat_map(named).collect()
}

fn check_draft(draft: &LessonDraft) -> Vec<String> {
    let mut found = Vec::new();
    found.extend(check_title(&draft.title));
    found.extend(check_description(&draft.description));
    found.extend(check_length("description", &draft.description, DESCRIPTION_CHARS_MAX));
    found.extend(check_content(&draft.content));
    found.extend(check_length("content", &draft.content, CONTENT_CHARS_MAX));
    found.extend(check_draft_tags(draft.kind, &draft.tags));
    found.extend(draft.topic.as_deref().and_then(check_topic));
    let texts = [&draft.title, &draft.description, &draft.content];
    if texts.iter().any(|text| text.contains(|c: char| c != '\r' && is_display_control(c))) {
        found.push("it contains control characters: remove them".to_owned());
    }
    found
}

pub(super) fn check_title(title: &str) -> Option<String> {
    let chars = title.trim().chars().count();
    if title.trim().contains(['\n', '\r']) {
        return Some("the title has more than one line: use a single line".to_owned());
    }
    let fits = (TITLE_CHARS_MIN..=TITLE_CHARS_MAX).contains(&chars);
    (!fits).then(|| {
        format!("the title has {chars} characters: it needs {TITLE_CHARS_MIN} to {TITLE_CHARS_MAX}")
    })
}

pub(super) fn check_description(description: &str) -> Option<String> {
    match split_sentences(description).len() {
        0 => Some("there is no description: describe the subject in one sentence".to_owned()),
        1 => None,
        count => Some(format!(
            "the description has {count} sentences: it needs exactly one; move the rest into the \
             content"
        )),
    }
}

pub(super) fn check_content(content: &str) -> Vec<String> {
    let mut problems = Vec::new();
    if content.trim().lines().any(|line| line.trim().is_empty()) {
        problems.push("the content has several paragraphs: make it one".to_owned());
    }
    if content.lines().any(is_block_line) {
        problems.push(
            "the content has a list, heading, table, quote or code block: write plain sentences"
                .to_owned(),
        );
    }
    let count = split_sentences(content).len();
    if !(SENTENCES_MIN..=SENTENCES_MAX).contains(&count) {
        problems.push(format!(
            "the content has {}: it needs {SENTENCES_MIN} to {SENTENCES_MAX}",
            if count == 1 { "1 sentence".to_owned() } else { format!("{count} sentences") }
        ));
    }
    problems
}

fn check_draft_tags(kind: LessonKind, given: &[String]) -> Vec<String> {
    let mut tags: Vec<String> = given.iter().map(|tag| normalize_tag(tag)).collect();
    tags.sort();
    tags.dedup();
    let mut problems = check_outcome_tag(&tags).into_iter().collect::<Vec<_>>();
    if tags.len() < TAGS_MIN {
        problems.push(format!(
            "there are fewer than {TAGS_MIN} tags: besides #success or #failure name the subject, \
             such as #rust or #testing"
        ));
    }
    if tags.len() > TAGS_MAX {
        problems.push(format!("there are {} tags: the limit is {TAGS_MAX}", tags.len()));
    }
    problems.extend(tags.iter().filter_map(|one| check_tag(one)));
    problems.extend(check_kind_tags(kind, &tags));
    problems
}

/// Checks the tags of a stored entry, which may have any number after merging.
pub(super) fn check_entry_tags(kind: LessonKind, tags: &[String]) -> Vec<String> {
    let mut found = check_outcome_tag(tags).into_iter().collect::<Vec<_>>();
    if tags.len() < TAGS_MIN {
        found.push(format!("there are fewer than {TAGS_MIN} tags: name the subject"));
    }
    if !tags.iter().any(|tag| tag == kind.as_str()) {
        found.push(format!("the tag of its type is missing: add #{kind}", kind = kind.as_str()));
    }
    found.extend(tags.iter().filter_map(|one| check_tag(one)));
    found.extend(check_kind_tags(kind, tags));
    found
}

fn check_outcome_tag(tags: &[String]) -> Option<String> {
    match tags.iter().filter(|tag| matches!(tag.as_str(), "success" | "failure")).count() {
        0 => Some(
            "neither #success nor #failure is among the tags: add the one that applies".to_owned(),
        ),
        1 => None,
        _ => Some("both #success and #failure are among the tags: keep one".to_owned()),
    }
}

fn check_kind_tags(kind: LessonKind, tags: &[String]) -> Option<String> {
    let other = |other: &LessonKind| *other != kind && tags.iter().any(|tag| tag == other.as_str());
    LessonKind::ALL.into_iter().find(other).map(|other| {
        format!(
            "the tag #{} names another type than {}: remove it or change the type",
            other.as_str(),
            kind.as_str()
        )
    })
}

fn check_tag(tag: &str) -> Option<String> {
    let ok = |c: char| (c.is_alphanumeric() && !c.is_uppercase()) || matches!(c, '-' | '_');
    let fits = (1..=TAG_CHARS_MAX).contains(&tag.chars().count());
    let worded = tag.chars().any(char::is_alphanumeric);
    (!(fits && worded && tag.chars().all(ok))).then(|| {
        format!("the tag {tag:?} is invalid: use letters, digits, - and _, at most {TAG_CHARS_MAX}")
    })
}

/// Checks a topic, which names a folder directly below its type's.
pub(super) fn check_topic(topic: &str) -> Option<String> {
    if topic.contains(['/', '\\']) {
        return Some(format!(
            "the topic {topic:?} contains a slash: lessons are at most two folders deep, so a \
             topic is a single name"
        ));
    }
    (!is_valid_topic(topic)).then(|| {
        format!(
            "the topic {topic:?} cannot be a folder: use a to z, 0 to 9, - and _, beginning with a \
             letter or digit, at most {TOPIC_CHARS_MAX}, and no name that an operating system reserves"
        )
    })
}

/// Whether a name is a safe folder name on every system.
pub(super) fn is_valid_topic(topic: &str) -> bool {
    let ok = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    let device = |prefix: &str| {
        let digits = topic.strip_prefix(prefix).unwrap_or_default();
        digits.len() == 1 && digits.bytes().all(|b| b.is_ascii_digit())
    };
    (1..=TOPIC_CHARS_MAX).contains(&topic.len())
        && topic.chars().all(ok)
        && topic.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !RESERVED_TOPICS.contains(&topic)
        && !device("com")
        && !device("lpt")
}

fn check_length(what: &str, text: &str, chars_max: usize) -> Option<String> {
    let chars = text.chars().count();
    (chars > chars_max)
        .then(|| format!("the {what} has {chars} characters: the limit is {chars_max}, shorten it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> LessonDraft {
        LessonDraft {
            kind: LessonKind::Semantic,
            title: "Hold no lock across an await".into(),
            description: "A lock held across an await can stop every task.".into(),
            content:
                "The runtime may park the task. Another one then waits for ever. Drop it first."
                    .into(),
            tags: vec!["#rust".into(), "Failure".into()],
            topic: None,
        }
    }

    /// Changes a valid draft and expects one problem that contains this text.
    fn check(change: impl Fn(&mut LessonDraft), complaint: &str) {
        let mut draft = good();
        change(&mut draft);
        let found = check_drafts(&[draft]);
        let [problem] = found.as_slice() else { panic!("{complaint}: {found:?}") };
        assert!(problem.contains(complaint), "{problem} should speak of {complaint}");
    }

    #[test]
    fn valid_lessons_are_accepted() {
        assert_eq!(check_drafts(&[good()]), Vec::<String>::new());
        assert_eq!(check_drafts(&[good(), good(), good()]), Vec::<String>::new());
        let mut with_topic = good();
        with_topic.topic = Some("async-rust_2".into());
        with_topic.tags = vec!["success".into(), "语言".into(), "semantic".into()];
        assert_eq!(check_drafts(&[with_topic]), Vec::<String>::new());
    }

    #[test]
    fn every_rule_is_enforced() {
        check(|d| d.title = "ab".into(), "has 2 characters");
        check(|d| d.title = "x".repeat(101), "has 101 characters");
        check(|d| d.title = "one line\nand another".into(), "more than one line");
        check(|d| d.description = "One. Two.".into(), "2 sentences");
        check(|d| d.description = " ".into(), "no description");
        check(|d| d.description = format!("{}.", "x".repeat(400)), "401 characters");
        check(|d| d.content = "One. Two.".into(), "has 2 sentences");
        check(|d| d.content = "One.".into(), "has 1 sentence:");
        check(|d| d.content = "One. Two. Three. Four. Five. Six.".into(), "has 6 sentences");
        check(|d| d.content = "One. Two.\n\nThree.".into(), "several paragraphs");
        check(|d| d.content = "One. Two.\n- Three.".into(), "list");
        check(|d| d.content = "One. Two.\n1) Three.".into(), "list");
        check(|d| d.content = "# Head\nOne. Two. Three.".into(), "heading");
        check(|d| d.content = format!("One. Two. {}.", "x".repeat(3_000)), "characters");
        check(|d| d.content = "One. Two. Three\0.".into(), "control");
        check(|d| d.tags = vec!["rust".into(), "testing".into()], "neither #success nor #failure");
        check(|d| d.tags = vec!["success".into(), "failure".into()], "both");
        check(|d| d.tags = vec!["success".into()], "fewer than 2");
        check(|d| d.tags = vec!["success".into(), "two words".into()], "\"two words\"");
        check(|d| d.tags = vec!["success".into(), "c++".into()], "\"c++\"");
        check(|d| d.tags = vec!["success".into(), "--".into()], "\"--\"");
        check(|d| d.tags = vec!["success".into(), "episodic".into()], "another type");
        check(|d| d.tags.extend((0..9).map(|n| format!("t{n}"))), "11 tags");
        check(|d| d.topic = Some("a/b".into()), "two folders deep");
        for topic in ["..", "", "Rust", "a b", "ü", ".x", "-x", "readme", "nul", "com1", "a.md"] {
            check(|d| d.topic = Some(topic.into()), "cannot be a folder");
        }
    }

    #[test]
    fn a_call_is_accepted_or_rejected_as_a_whole() {
        assert!(check_drafts(&[])[0].contains("no insight"));
        assert!(check_drafts(&vec![good(); 4])[0].contains("4 insights"));
        let mut bad = good();
        bad.title = String::new();
        bad.description = String::new();
        let found = check_drafts(&[good(), bad]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().all(|problem| problem.starts_with("insight 2: ")), "{found:?}");
    }
}
