//! Reads a query over the lessons: its keywords, and the types that a question is about.

use std::collections::BTreeSet;

use tome_home::HomeError;
use tome_model::InvalidInput;
use tome_notebook::LessonKind;
use tome_text::{
    CHINESE_QUESTION_WORDS, StopClass, collapse_whitespace, is_stop_word, plain_words,
    stemmed_terms,
};

use super::LessonQuery;

/// Keywords of a query: fewer match everything.
const KEYWORDS_MIN: usize = 3;
/// More have no match in common.
const KEYWORDS_MAX: usize = 8;
/// Characters of a question that are read for its keywords and types.
const QUESTION_CHARS_MAX: usize = 4_000;

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

/// Returns the keywords of a query, or why it is invalid: those of an explicit list, or else the
/// telling words of the question.
pub(super) fn select_keywords(query: &LessonQuery) -> Result<Vec<String>, HomeError> {
    let mut keywords: Vec<String> = Vec::new();
    for keyword in query.keywords.iter().map(|keyword| collapse_whitespace(keyword)) {
        let is_known = keywords.iter().any(|other| other.to_lowercase() == keyword.to_lowercase());
        if !is_known && plain_words(&keyword).next().is_some() {
            keywords.push(keyword);
        }
    }
    let question = query.question.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let problem = match (query.keywords.is_empty(), question) {
        (true, Some(question)) => return Ok(extract_keywords(question)),
        (true, None) => {
            format!("are missing: give {KEYWORDS_MIN} to {KEYWORDS_MAX}, or ask a question")
        }
        (false, _) if (KEYWORDS_MIN..=KEYWORDS_MAX).contains(&keywords.len()) => {
            return Ok(keywords);
        }
        (false, _) => format!(
            "must be {KEYWORDS_MIN} to {KEYWORDS_MAX} different ones, not {}; or ask a question",
            keywords.len()
        ),
    };
    Err(InvalidInput::invalid("keywords", problem).into())
}

/// The types that a question is about; all if it contains no cue.
pub(super) fn guess_kinds(question: &str) -> Vec<LessonKind> {
    let normalized = format!("{} ", collapse_whitespace(&cap_question(question)).to_lowercase());
    let cues = [
        (LessonKind::Episodic, EPISODIC_CUES),
        (LessonKind::Procedural, PROCEDURAL_CUES),
        (LessonKind::Semantic, SEMANTIC_CUES),
    ];
    let has_any_cue = |cues: &[&str]| cues.iter().any(|cue| has_cue(&normalized, cue));
    let picked: Vec<_> =
        cues.iter().filter(|(_, cues)| has_any_cue(cues)).map(|(kind, _)| *kind).collect();
    if picked.is_empty() { LessonKind::ALL.to_vec() } else { picked }
}

/// Whether a question contains a cue at the beginning of a word.
fn has_cue(question: &str, cue: &str) -> bool {
    if !cue.is_ascii() {
        return question.contains(cue);
    }
    question.match_indices(cue).any(|(at, _)| {
        let before = question.get(..at).and_then(|text| text.chars().next_back());
        !before.is_some_and(char::is_alphanumeric)
    })
}

/// The first telling words of a question, each once.
fn extract_keywords(question: &str) -> Vec<String> {
    let mut text = cap_question(question);
    for asking in CHINESE_QUESTION_WORDS {
        text = text.replace(asking, " ");
    }
    let mut seen = BTreeSet::new();
    let mut keywords = Vec::new();
    for chunk in text.split_whitespace() {
        let word = chunk.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let is_telling = plain_words(word).any(|part| {
            part.chars().count() > 1
                && !is_stop_word(&part, StopClass::FUNCTION | StopClass::ASKING)
        });
        if is_telling && seen.insert(stemmed_terms(word)) {
            keywords.push(word.to_owned());
        }
    }
    keywords.truncate(KEYWORDS_MAX);
    keywords
}

fn cap_question(question: &str) -> String {
    question.chars().take(QUESTION_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use LessonKind::{Episodic, Procedural, Semantic};

    #[test]
    fn a_question_picks_its_types() {
        for (question, expected) in [
            ("What happened last time with the flaky tests?", &[Episodic][..]),
            ("How do I release a crate?", &[Procedural]),
            ("What are the steps to rotate a key?", &[Procedural]),
            ("Why is optimistic locking faster?", &[Semantic]),
            ("What principle should guide retries?", &[Semantic]),
            ("Have we tried sharding, and how do I set it up?", &[Episodic, Procedural]),
            ("tokio deadlock mutex", &LessonKind::ALL),
            ("show to whom", &LessonKind::ALL),
            ("如何避免死锁?", &[Procedural]),
            ("为什么会死锁?", &[Semantic]),
        ] {
            assert_eq!(guess_kinds(question), expected, "{question}");
        }
    }

    #[test]
    fn keywords_are_given_or_taken_from_the_question() {
        let keywords = |question: &str, given: &[&str]| {
            select_keywords(&LessonQuery {
                question: Some(question.to_owned()),
                keywords: given.iter().map(|keyword| (*keyword).to_owned()).collect(),
                kinds: Vec::new(),
            })
        };
        assert_eq!(
            keywords("How do I avoid a deadlock in tokio::spawn?", &[]).unwrap(),
            ["avoid", "deadlock", "tokio::spawn"]
        );
        assert_eq!(keywords("如何处理数据库死锁?", &[]).unwrap(), ["处理数据库死锁"]);
        assert_eq!(keywords("ignored", &["a b", "c", "d"]).unwrap(), ["a b", "c", "d"]);
        assert_eq!(keywords("What is it about?", &[]).unwrap(), Vec::<String>::new());
        for (question, given) in [
            (" ", &[][..]),
            ("", &["one", "two"]),
            ("", &["a1", "b1", "c1", "d1", "e1", "f1", "g1", "h1", "i1"]),
            ("x", &["one", "One", "?"]),
        ] {
            let refused = keywords(question, given).unwrap_err().to_string();
            assert!(refused.contains("3 to 8"), "{refused}");
        }
    }
}
