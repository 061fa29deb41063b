//! The conclusion of an agent's final answer: the sentence that says what came out, and the question
//! that it leaves to the user.

use std::collections::BTreeSet;

use tome_text::count_words;

use super::cues::{Cue, find_cue, is_announcement, is_filler};
use super::prose::{MessageParts, SentenceShape};
use super::terms::{TermKind, TextTerm, extract_terms};
use super::text::{
    begins_with_any, may_begin_with, plain_text, strip_prefix_ignoring_case, to_lower,
};

/// A sentence of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AnswerSentence<'a> {
    /// Verbatim: the sentence, and the first items of the list that it introduces.
    pub(super) raws: Vec<&'a str>,
    /// Without Markdown and without the words that tie it to its neighbours.
    pub(super) text: String,
    /// The sentence alone, without the list.
    pub(super) lead: String,
    pub(super) score: i32,
    /// Whether it is an item of a list: one result among several.
    pub(super) is_item: bool,
}

/// Removes the label before a conclusion: `Root cause: …`.
pub(super) fn strip_verdict(text: &str) -> &str {
    VERDICTS
        .iter()
        .filter(|label| may_begin_with(text, label))
        .find_map(|label| strip_prefix_ignoring_case(text, label)?.strip_prefix([':', '：']))
        .map_or(text, str::trim_start)
}

/// Labels that agents put before a conclusion.
#[rustfmt::skip]
const VERDICTS: &[&str] = &[
    "verdict", "conclusion", "root cause", "the root cause", "recommendation", "my recommendation",
    "bottom line", "tl;dr", "in short", "result", "the fix", "the problem", "the issue", "the bug",
    "the cause", "the reason", "answer", "short answer", "problem", "fix", "solution", "结论", "原因", "結論", "вывод", "причина",
    "fazit", "ursache",
];

/// Words before a conclusion that say nothing by themselves.
#[rustfmt::skip]
const OPENINGS: &[&str] = &[
    "done", "fixed", "perfect", "great", "good news", "all set", "all done", "all green",
    "you're right", "you are right", "good catch", "good question", "great question", "excellent",
    "interesting", "because", "so", "and", "but", "actually", "then", "indeed", "confirmed", "agreed",
    "here's the thing", "in summary", "to summarize", "summary", "готово", "完成", "好的", "fertig",
];

/// Finds the sentence that states the conclusion of an answer, with the list that it introduces.
pub(super) fn find_conclusion<'a>(parts: &MessageParts<'a>) -> Option<AnswerSentence<'a>> {
    let mut best: Option<AnswerSentence<'a>> = None;
    for (place, sentence) in parts.sentences.iter().enumerate() {
        let lead = strip_announcement(&strip_opening(&sentence.plain));
        let mut text = lead.clone();
        let mut raws = vec![sentence.raw];
        let mut shape = sentence.shape;
        if shape != SentenceShape::Item && lead.ends_with([':', '：']) {
            let items = list_items(parts, place, &lead);
            if items.len() >= 2 && !is_filler(&lead) {
                let heads: Vec<String> = items.iter().map(|raw| item_head(raw)).collect();
                text = format!("{lead} {}", heads.join("; "));
                raws.extend(items.iter().take(2));
                shape = SentenceShape::Running;
            }
        }
        let Some(score) = score_conclusion(&text, &lead, place, shape) else { continue };
        // A heading over a list says less than a sentence.
        let score = score - i32::from(sentence.shape == SentenceShape::Heading) * 5;
        if score > 0 && best.as_ref().is_none_or(|best| score > best.score) {
            let is_item = shape == SentenceShape::Item;
            best = Some(AnswerSentence { raws, text, lead, score, is_item });
        }
    }
    best
}

/// Whether a text has a word of its own beside "fixed", "change" and the names of files.
pub(super) fn says_what(text: &str) -> bool {
    let terms = extract_terms(text);
    let says = |term: &&TextTerm<'_>| {
        term.kind != TermKind::File && !is_generic_word(&to_lower(term.text))
    };
    terms.iter().any(|term| says(&term)) || text.chars().any(tome_text::is_han_or_kana)
}

/// The first items of the list, or rows of the table, that a sentence introduces.
fn list_items<'a>(parts: &MessageParts<'a>, place: usize, lead: &str) -> Vec<&'a str> {
    const ITEMS_MAX: usize = 4;
    let rows = parts.rows.iter().filter(|(before, _)| *before == place + 1);
    let rows: Vec<Vec<&str>> = rows
        .take(ITEMS_MAX)
        .map(|(_, row)| row.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    // A table of results; any other compares or lists things that were not done.
    if !rows.is_empty() {
        let is_result = matches!(find_cue(lead), Some((Cue::Outcome, 2..)));
        return if is_result { choose_column(&rows) } else { Vec::new() };
    }
    parts
        .sentences
        .iter()
        .skip(place + 1)
        .take_while(|sentence| sentence.shape == SentenceShape::Item)
        .filter(|sentence| begins_item(sentence.raw))
        .map(|sentence| sentence.raw)
        .take(ITEMS_MAX)
        .collect()
}

/// The column with the most words among those whose cells all differ.
fn choose_column<'a>(rows: &[Vec<&'a str>]) -> Vec<&'a str> {
    let columns = rows.iter().map(Vec::len).min().unwrap_or(0);
    let cells = |column: usize| rows.iter().filter_map(move |row| row.get(column).copied());
    let is_distinct = |column: &usize| {
        let heads: BTreeSet<String> = cells(*column).map(item_head).collect();
        heads.len() == rows.len()
    };
    let words = |column: &usize| cells(*column).map(count_words).sum::<usize>();
    let best = (0..columns).filter(is_distinct).max_by_key(words);
    best.map(|column| cells(column).collect()).unwrap_or_default()
}

/// Removes "Here's a summary of" before a list: "Here's a summary of what was fixed:" is "Fixed:".
fn strip_announcement(lead: &str) -> String {
    const STARTS: [&str; 4] = ["here's", "here is", "here’s", "here are"];
    const KINDS: [&str; 6] =
        ["summary of ", "overview of ", "breakdown of ", "recap of ", "list of ", "status of "];
    let announces = begins_with_any(lead, &STARTS);
    let rest = KINDS.iter().find_map(|kind| Some(lead.split_once(kind)?.1));
    let Some(rest) = rest.filter(|_| announces) else { return lead.to_owned() };
    let done = ["what was ", "what i ", "what we ", "what has been ", "what "]
        .iter()
        .find_map(|start| rest.strip_prefix(start));
    super::clause::capitalize(done.unwrap_or(rest))
}

/// Whether a sentence begins an item; an item may have several.
fn begins_item(raw: &str) -> bool {
    let bare = raw.trim_start();
    bare.starts_with(['-', '*', '•', '·'])
        || bare.starts_with(|c: char| c.is_ascii_digit())
            && bare.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(['.', ')'])
}

/// The subject of an item: its words before a dash or colon, or its first ones.
fn item_head(raw: &str) -> String {
    let bold = raw.split_once("**").and_then(|(_, rest)| rest.split_once("**"));
    if let Some((bold, _)) = bold.filter(|(bold, _)| count_words(bold) >= 3) {
        return tome_text::truncate_words(plain_text(bold).trim_end_matches(['.', ':']), 70);
    }
    let text = plain_text(raw);
    let cut = [" — ", " – ", " - ", ": "].iter().filter_map(|mark| text.find(mark)).min();
    let head = cut.and_then(|at| text.get(..at)).filter(|head| count_words(head) >= 2);
    tome_text::truncate_words(head.unwrap_or(&text), 60).trim_end_matches('.').to_owned()
}

/// A conclusion with at least this score says what came out.
pub(super) const SURE: i32 = 6;

/// Whether a sentence says only that something is done, and not what.
fn is_generic(text: &str, terms: &[TextTerm<'_>]) -> bool {
    let says = |term: &&TextTerm<'_>| {
        term.kind != TermKind::Word || !is_generic_word(&to_lower(term.text))
    };
    terms.iter().filter(says).count() < 2 && !text.chars().any(tome_text::is_han_or_kana)
}

/// Words that any work is reported with.
fn is_generic_word(lower: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "fix", "fixes", "fixed", "complete", "completed", "done", "committed", "commit", "pushed",
        "push", "bug", "change", "changes", "changed", "ready", "work", "works", "working",
        "updated", "update", "test", "tests", "pass", "passes", "passing", "lint", "linting",
        "clean", "build", "implementation", "implemented", "task", "successfully", "everything",
        "review", "issue", "issues", "problem", "comment", "comments", "file", "files", "code",
        "correct", "correctly", "expected", "yes", "addressed", "resolved",
    ];
    WORDS.contains(&lower)
}

/// Scores how well a sentence states a conclusion; `None` if it cannot.
fn score_conclusion(text: &str, lead: &str, place: usize, shape: SentenceShape) -> Option<i32> {
    let words = count_words(text);
    if words < 3
        || text.ends_with(['?', '？'])
        || shape == SentenceShape::Heading
        || is_announcement(text)
    {
        return None;
    }
    let terms = extract_terms(text);
    if is_about_layout(text) && !has_identifier(&terms) {
        return None;
    }
    let verdict = begins_with_any(text, VERDICTS);
    let lead_in = text.ends_with([':', '：']);
    if lead_in && !verdict && words < 12 {
        return None;
    }
    let length = match words {
        0..=4 => -3,
        5..=6 => 0,
        7..=36 => 3,
        _ => 0,
    };
    let names = terms.iter().filter(|term| term.kind != TermKind::Word).count();
    let cue = match find_cue(text) {
        Some((Cue::Cause, sure)) => i32::try_from(sure).unwrap_or(0) + 2,
        Some((Cue::Outcome | Cue::Decision, sure)) => i32::try_from(sure).unwrap_or(0),
        None => 0,
    };
    // An item that reports nothing is one finding among several.
    if shape == SentenceShape::Item && cue == 0 {
        return None;
    }
    let first = match place {
        0 => 5,
        1 => 3,
        2 => 1,
        _ => 0,
    };
    let item = if shape == SentenceShape::Item { -2 } else { 1 };
    // "All 15 tests pass." is true and says nothing about the work.
    let checks = is_check_report(lead) && !names_subject(lead);
    Some(
        length
            + cue
            + first
            + item
            + i32::try_from(names.min(2)).unwrap_or(0) * 2
            + i32::from(verdict) * if is_complaint(text) { 3 } else { 6 }
            - i32::from(lead_in) * 4
            - i32::from(checks) * 7
            - i32::from(!(verdict && text.contains([':', '：'])) && is_generic(text, &terms)) * 8
            - i32::from(names == 0 && counts_only(text)) * 6
            - i32::from(is_step(text)) * 6
            - i32::from(is_filler(text)) * 5
            - i32::from(shape == SentenceShape::Item && text.contains(" already ")) * 4
            - i32::from(begins_with_pronoun(text)) * 3,
    )
}

/// Whether a labelled sentence tells the problem; the one about its solution says more.
fn is_complaint(text: &str) -> bool {
    begins_with_any(text, &["problem", "the problem", "the issue", "the bug"])
}

/// Whether a sentence refers to things by their numbers: "Fix items 1, 2 and 5".
fn counts_only(text: &str) -> bool {
    let numbers = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit()));
    numbers.count() >= 3
}

/// Whether a text names a function, type or test, and not only files.
pub(super) fn names_subject(text: &str) -> bool {
    has_identifier(&extract_terms(text))
}

fn has_identifier(terms: &[TextTerm<'_>]) -> bool {
    terms.iter().any(|term| term.kind == TermKind::Identifier)
}

/// Whether a sentence is about spaces and the order of lines.
fn is_about_layout(text: &str) -> bool {
    const WORDS: [&str; 7] =
        ["formatting", "alignment", "whitespace", "indentation", "gofmt", "prettier", "rustfmt"];
    let lower = to_lower(text);
    WORDS.iter().any(|word| lower.contains(word))
}

/// Whether a sentence leads on to the next step.
fn is_step(text: &str) -> bool {
    begins_with_any(text, &["now for", "now the", "next", "next up", "now we", "the next"])
}

/// Whether a sentence only reports that checks passed.
pub(super) fn is_check_report(text: &str) -> bool {
    const PASSES: [&str; 7] = ["pass", "passes", "passed", "passing", "green", "clean", "succeed"];
    const CHECKS: [&str; 9] =
        ["test", "tests", "lint", "linter", "build", "check", "checks", "ci", "everything"];
    const PHRASES: [&str; 3] = ["0 issues", "no errors", "build is fine"];
    let lower = text.to_lowercase();
    let mut passes = PHRASES.iter().any(|phrase| lower.contains(phrase));
    let mut checks = false;
    for word in lower.split(|c: char| !c.is_alphanumeric() && c != '_') {
        passes |= PASSES.contains(&word);
        checks |= CHECKS.contains(&word) || word == "all";
    }
    passes && checks && count_words(text) <= 14
}

/// Whether a sentence begins by pointing at something said before.
pub(super) fn begins_with_pronoun(text: &str) -> bool {
    const WORDS: [&str; 14] = [
        "it", "this", "that", "these", "those", "they", "both", "he", "she", "its", "there",
        "here", "which", "each",
    ];
    WORDS.iter().filter(|word| may_begin_with(text, word)).any(|word| {
        strip_prefix_ignoring_case(text, word).is_some_and(|rest| {
            // "Both `a` and `b`" names what it is about.
            rest.starts_with([' ', '\'', '’', ',']) && !rest.starts_with(" `")
        })
    })
}

/// Removes openings such as "Done." or "Done —" if a sentence follows them.
fn strip_opening(text: &str) -> String {
    let mut rest = text;
    for _ in 0..3 {
        let mut openings = OPENINGS.iter().filter(|word| may_begin_with(rest, word));
        let cut = openings.find_map(|word| {
            let after = strip_prefix_ignoring_case(rest, word)?;
            let bare = after.trim_start_matches([' ', '.', ',', '!', '-', '–', '—', ':']);
            let ended = after.starts_with(['.', ',', '!', ':'])
                || after.starts_with(" —")
                || after.starts_with(" - ")
                || after.starts_with(" –");
            let tie = matches!(*word, "because" | "so" | "and" | "but" | "then");
            ((ended || tie && after.starts_with(' ')) && count_words(bare) >= 3).then_some(bare)
        });
        match cut {
            Some(cut) => rest = cut,
            None => break,
        }
    }
    super::clause::capitalize(rest)
}

/// Finds the question that an answer ends with: the longest among its last sentences.
pub(super) fn find_closing_question<'a>(parts: &MessageParts<'a>) -> Option<AnswerSentence<'a>> {
    const LAST: usize = 3;
    let last = parts.sentences.last()?;
    if !last.plain.ends_with(['?', '？']) {
        return None;
    }
    let from = parts.sentences.len().saturating_sub(LAST);
    parts
        .sentences
        .iter()
        .skip(from)
        .map(|sentence| (sentence.raw, sentence.plain.clone()))
        .filter(|(_, text)| text.ends_with(['?', '？']) && count_words(text) >= 4)
        .map(|(raw, text)| AnswerSentence {
            raws: vec![raw],
            score: i32::try_from(count_words(&text)).unwrap_or(0),
            lead: text.clone(),
            text,
            is_item: false,
        })
        .max_by_key(|sentence| sentence.score)
}
