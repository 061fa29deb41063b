//! Parses a recall query: the keywords of a question and the insight types it is about.

use std::collections::BTreeSet;

use tome_text::{CHINESE_QUESTION_WORDS, StopClass, collapse_whitespace, is_stop_word};

use super::limits::{KEYWORDS_MAX, KEYWORDS_MIN, QUESTION_CHARS_MAX};
use super::terms::{TextWord, is_ignored, split_words, stem_of};
use super::{InsightKind, InsightQuery};

const EPISODIC_CUES: &[&str] = &[
    "last time",
    "happened",
    "went wrong",
    "have we",
    "did we",
    "did i",
    "have i",
    "ever ",
    "in the past",
    "past experience",
    "experience with",
    "incident",
    "remember when",
    "tried",
    "seen before",
    "上次",
    "发生",
    "经历",
    "以前",
    "曾经",
];
const PROCEDURAL_CUES: &[&str] = &[
    "how to",
    "how do",
    "how can",
    "how should",
    "how would",
    "steps",
    "step by step",
    "procedure",
    "recipe",
    "workflow",
    "walk me through",
    "如何",
    "怎么",
    "怎样",
    "步骤",
];
const SEMANTIC_CUES: &[&str] = &[
    "why ",
    "principle",
    "rule of thumb",
    "best practice",
    "in general",
    "trade-off",
    "tradeoff",
    "should i ",
    "should we ",
    "when should",
    "difference between",
    "为什么",
    "原则",
    "原理",
];

/// Returns the keywords of a query, or why it is invalid. A question yields at most `KEYWORDS_MAX`
/// keywords; an explicit list must have `KEYWORDS_MIN` to `KEYWORDS_MAX`.
pub(super) fn select_keywords(
    ask: &InsightQuery,
    count: impl Fn(&str) -> usize,
) -> Result<Vec<String>, String> {
    let question = ask.question.as_deref().map(str::trim).filter(|question| !question.is_empty());
    let mut given: Vec<String> = Vec::new();
    for keyword in ask.keywords.iter().map(|keyword| collapse_whitespace(keyword)) {
        let known = given.iter().any(|known| known.to_lowercase() == keyword.to_lowercase());
        if !known && !split_words(&keyword).is_empty() {
            given.push(keyword);
        }
    }
    match (ask.keywords.is_empty(), question) {
        (true, None) => Err(format!(
            "empty query: give a question, or {KEYWORDS_MIN} to {KEYWORDS_MAX} keywords"
        )),
        (true, Some(question)) => Ok(extract_keywords(question, count)),
        (false, _) if (KEYWORDS_MIN..=KEYWORDS_MAX).contains(&given.len()) => Ok(given),
        (false, _) => Err(format!(
            "{} different keywords: give {KEYWORDS_MIN} to {KEYWORDS_MAX}, or ask a question",
            given.len()
        )),
    }
}

/// The types that a question is about; all if it contains no cue.
pub(super) fn guess_kinds(question: &str) -> Vec<InsightKind> {
    let asked = format!("{} ", collapse_whitespace(&cap_question(question)).to_lowercase());
    let cues = [
        (InsightKind::Episodic, EPISODIC_CUES),
        (InsightKind::Procedural, PROCEDURAL_CUES),
        (InsightKind::Semantic, SEMANTIC_CUES),
    ];
    let asked_for = |cues: &[&str]| cues.iter().any(|cue| has_cue(&asked, cue));
    let picked: Vec<_> =
        cues.iter().filter(|(_, cues)| asked_for(cues)).map(|(kind, _)| *kind).collect();
    if picked.is_empty() { InsightKind::ALL.to_vec() } else { picked }
}

/// Whether a question contains a cue at the beginning of a word.
fn has_cue(asked: &str, cue: &str) -> bool {
    if !cue.is_ascii() {
        return asked.contains(cue);
    }
    asked.match_indices(cue).any(|(at, _)| {
        let before = asked.get(..at).and_then(|text| text.chars().next_back());
        !before.is_some_and(char::is_alphanumeric)
    })
}

fn cap_question(question: &str) -> String {
    question.chars().take(QUESTION_CHARS_MAX).collect()
}

/// Picks keywords: identifiers first, then words in few insights, then words in none.
fn extract_keywords(question: &str, count: impl Fn(&str) -> usize) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut found: Vec<(usize, usize, String)> = Vec::new();
    for candidate in collect_candidates(&cap_question(question)) {
        if seen.insert(stem_of(&candidate)) {
            let rank = match count(&candidate) {
                _ if is_identifier(&candidate) => 0,
                0 => usize::MAX,
                count => count,
            };
            found.push((rank, found.len(), candidate));
        }
    }
    found.sort();
    found.truncate(KEYWORDS_MAX);
    found.sort_by_key(|(_, order, _)| *order);
    found.into_iter().map(|(_, _, keyword)| keyword).collect()
}

fn collect_candidates(question: &str) -> Vec<String> {
    let mut found = Vec::new();
    for chunk in question.split_whitespace() {
        let bare = chunk.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        if is_identifier(bare) && bare.is_ascii() {
            found.push(bare.to_owned());
            continue;
        }
        for word in split_words(bare) {
            match word {
                TextWord::Spaced(word) => {
                    found.extend(Some(word).filter(|word| is_informative(word)));
                }
                TextWord::Unspaced(run) => found.extend(split_unspaced_run(&run)),
            }
        }
    }
    found
}

fn is_informative(word: &str) -> bool {
    let lower = word.to_lowercase();
    let long = word.chars().count() > 1;
    long && !is_ignored(&lower) && !is_stop_word(&lower, StopClass::ASKING)
}

/// Splits a run without spaces at its question words.
fn split_unspaced_run(run: &str) -> Vec<String> {
    let mut rest = run.to_owned();
    for asking in CHINESE_QUESTION_WORDS {
        rest = rest.replace(asking, " ");
    }
    rest.split_whitespace().map(str::to_owned).collect()
}

/// Recognizes `snake_case`, `a::b`, `camelCase`, `main.rs` and `E0382`.
fn is_identifier(word: &str) -> bool {
    let lowered = word.chars().any(char::is_lowercase);
    let hump = word.chars().skip(1).any(char::is_uppercase) && lowered;
    let digit = word.chars().any(|c| c.is_ascii_digit()) && word.chars().any(char::is_alphabetic);
    let joint = ["_", "::", ".", "/"].iter().any(|joint| word.contains(joint));
    let worded = word.chars().filter(|c| c.is_alphanumeric()).count() > 1;
    worded && (hump || digit || joint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use InsightKind::{Episodic, Procedural, Semantic};

    #[test]
    fn a_question_picks_its_types() {
        for (question, expected) in [
            ("What happened last time with the flaky tests?", &[Episodic][..]),
            ("How do I release a crate?", &[Procedural]),
            ("What are the steps to rotate a key?", &[Procedural]),
            ("Why is optimistic locking faster?", &[Semantic]),
            ("What principle should guide retries?", &[Semantic]),
            ("Have we tried sharding, and how do I set it up?", &[Episodic, Procedural]),
            ("tokio deadlock mutex", &InsightKind::ALL),
            ("show to whom", &InsightKind::ALL),
            ("如何避免死锁?", &[Procedural]),
            ("为什么会死锁?", &[Semantic]),
        ] {
            assert_eq!(guess_kinds(question), expected, "{question}");
        }
    }

    #[test]
    fn keywords_are_given_or_taken_from_the_question() {
        let asked = |question: &str, given: &[&str]| {
            let ask = InsightQuery {
                question: Some(question.to_owned()),
                keywords: given.iter().map(|keyword| (*keyword).to_owned()).collect(),
                kinds: Vec::new(),
            };
            select_keywords(&ask, str::len)
        };
        assert_eq!(
            asked("How do I avoid a deadlock in tokio::spawn?", &[]).unwrap(),
            ["deadlock", "tokio::spawn"]
        );
        assert_eq!(asked("如何处理数据库死锁?", &[]).unwrap(), ["处理数据库死锁"]);
        assert_eq!(asked("ignored", &["a b", "c", "d"]).unwrap(), ["a b", "c", "d"]);
        assert_eq!(asked("What is it about?", &[]).unwrap(), Vec::<String>::new());
        let long: String = (0..30).map(|n| format!("{} ", "word".repeat(n + 1))).collect();
        let found = asked(&format!("{long} fooBar"), &[]).unwrap();
        assert_eq!(found.len(), 8);
        assert!(found.contains(&"fooBar".to_owned()) && found.contains(&"word".to_owned()));
        for (question, given) in [
            (" ", &[][..]),
            ("", &["one", "two"]),
            ("", &["a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1", "i1"]),
            ("x", &["one", "One", "?"]),
        ] {
            let refused = asked(question, given).unwrap_err();
            assert!(refused.contains("3 to 8"), "{refused}");
        }
    }
}
