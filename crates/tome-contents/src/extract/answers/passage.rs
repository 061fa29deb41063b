//! The passage of an answer that a question is about.

use tome_text::count_words;

use crate::extract::answers::answer::find_conclusion;
use crate::extract::answers::statement::{AnswerSentence, ListItem, SURE, end_lead, join_items};
use crate::extract::language::cues::{Cue, find_cue, is_announcement, is_filler};
use crate::extract::language::prose::{MessageParts, ProseSentence, SentenceShape, split_message};
use crate::extract::language::text::to_lower;

/// Finds the passage of an answer that is about a question: the sentence with the highest relevance, and the
/// one that states the result. `relevance` counts what a sentence shares with the question; with nothing in
/// common, the conclusion alone is the answer, and if both are longer than `chars_max`, the relevant sentence
/// alone.
pub fn find_answer(
    answer: &str,
    relevance: &dyn Fn(&str) -> usize,
    chars_max: usize,
) -> Option<String> {
    let parts = split_message(answer);
    let conclusion = find_conclusion(&parts, "", false).filter(|found| found.score >= SURE);
    let mut best: Option<(usize, &ProseSentence<'_>)> = None;
    for sentence in parts.sentences.iter().filter(|sentence| is_statement(sentence)) {
        let score = relevance(&sentence.plain);
        if best.is_none_or(|(most, _)| score > most) {
            best = Some((score, sentence));
        }
    }
    let least = conclusion.as_ref().map_or(1, |found| relevance(&found.text));
    let best = best.filter(|(score, _)| *score > least).map(|(_, sentence)| sentence);
    match (best, conclusion) {
        (Some(best), Some(conclusion)) => {
            // In the order of the answer: addresses of its parts.
            let first = conclusion.raws.iter().map(|raw| raw.as_ptr()).min();
            let (best_at, text) = (best.raw.as_ptr(), &conclusion.text);
            let is_before = first.is_some_and(|first| best_at < first);
            let (one, other) = if is_before { (&best.plain, text) } else { (text, &best.plain) };
            let both = format!("{} {}", end_sentence(one), end_lead(other));
            Some(if both.chars().count() <= chars_max { both } else { best.plain.clone() })
        }
        (Some(best), None) => Some(best.plain.clone()),
        (None, Some(conclusion)) => Some(add_items(&parts, &conclusion, chars_max)),
        (None, None) => None,
    }
}

/// A conclusion that only introduces what follows comes with the items that follow, also below headings, up to
/// the next sentence.
fn add_items(
    parts: &MessageParts<'_>,
    conclusion: &AnswerSentence<'_>,
    chars_max: usize,
) -> String {
    let is_lead = conclusion.items.is_empty() && conclusion.text.ends_with([':', '：']);
    let last = conclusion.raws.iter().map(|raw| raw.as_ptr()).max();
    let next = parts.sentences.iter().position(|one| Some(one.raw.as_ptr()) > last);
    let Some(next) = next.filter(|next| is_lead && !parts.code.iter().any(|(at, _)| at == next))
    else {
        return end_lead(&conclusion.text);
    };
    let items: Vec<ListItem> = parts
        .sentences
        .iter()
        .skip(next)
        .take_while(|sentence| sentence.shape != SentenceShape::Running && !sentence.is_aside)
        .filter(|sentence| sentence.shape == SentenceShape::Item)
        .map(|sentence| ListItem::from_text(sentence.plain.clone()))
        .collect();
    match items.as_slice() {
        [] => end_lead(&conclusion.text),
        items => join_items(&conclusion.text, items, chars_max),
    }
}

/// Longer messages do more than announce the next step.
const NARRATION_BYTES_MAX: usize = 400;

/// Whether a message of an agent only announces its next steps: `Now fix the leak in the spawn functions.`
pub fn is_narration(message: &str) -> bool {
    if message.len() > NARRATION_BYTES_MAX || message.contains("```") {
        return false;
    }
    let parts = split_message(message);
    let announces = |sentence: &ProseSentence<'_>| {
        let text = &sentence.plain;
        let is_reasoned = matches!(find_cue(text), Some((Cue::Cause | Cue::Decision, _)));
        (is_announcement(text) || is_filler(text)) && !is_reasoned && !text.ends_with('?')
    };
    !parts.sentences.is_empty() && parts.sentences.iter().all(announces)
}

/// Whether a short message of an agent ends with its next step, possibly after a result: the work continues.
pub fn ends_with_announcement(message: &str) -> bool {
    if message.len() > NARRATION_BYTES_MAX {
        return false;
    }
    let parts = split_message(message);
    parts.sentences.last().is_some_and(|last| {
        is_announcement(&last.plain) && !last.plain.ends_with('?') && !offers(&last.plain)
    })
}

/// Whether a sentence waits for the user to continue: "Let me know if …", "I'll wait for your answer".
fn offers(plain: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 10] = [
        "let me know", "if you", "would you", "do you", "want me", "shall i", "should i", "feel free", "wait", " you ",
    ];
    let lower = to_lower(plain);
    WORDS.iter().any(|word| lower.contains(word))
}

/// Whether a sentence gives a reason.
pub fn states_cause(sentence: &str) -> bool {
    find_cue(sentence).is_some_and(|(cue, sure)| cue == Cue::Cause && sure >= 3)
}

fn is_statement(sentence: &ProseSentence<'_>) -> bool {
    let text = &sentence.plain;
    sentence.shape != SentenceShape::Heading
        && !sentence.is_aside
        && count_words(text) >= 3
        && !text.ends_with(['?', '？', ':', '：'])
        && !is_announcement(text)
        && !is_filler(text)
}

fn end_sentence(text: &str) -> String {
    let text = end_lead(text);
    let is_ended = text.ends_with(['.', '!', '。', '！', '?', ';', '…']);
    if is_ended { text } else { format!("{text}.") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &str = "I switched the loop of `scan` to characters; all 41 tests pass. Before, \
                          identifiers were read byte by byte.\n\nNo other lexer is affected.";

    #[track_caller]
    fn check_answer(words: &[&str], expected: Option<&str>) {
        let count = |sentence: &str| {
            let lower = sentence.to_lowercase();
            words.iter().filter(|word| lower.contains(**word)).count()
        };
        assert_eq!(find_answer(ANSWER, &count, 200).as_deref(), expected);
    }

    #[test]
    fn the_sentence_that_a_question_is_about_comes_with_the_conclusion() {
        let conclusion = "I switched the loop of `scan` to characters; all 41 tests pass.";
        check_answer(&[], Some(conclusion));
        check_answer(&["loop"], Some(conclusion));
        let cause = format!("{conclusion} Before, identifiers were read byte by byte.");
        check_answer(&["identifier", "split"], Some(&cause));
        let other = format!("{conclusion} No other lexer is affected.");
        check_answer(&["other", "lexer"], Some(&other));
        let short = find_answer(ANSWER, &|sentence| usize::from(sentence.contains("lexer")), 80);
        assert_eq!(short.as_deref(), Some("No other lexer is affected."));
    }

    #[test]
    fn a_lead_comes_with_the_items_below_it() {
        let answer = "Here's a summary of the review comments, filtering out the noise:\n\n\
                      ### Reviewer (anna) - CHANGES_REQUESTED\n\n\
                      1. **`lexer_test.rs:26`** — Run the tests of the lexer in parallel\n\n\
                      2. **General thought** — Guard against equal prefixes\n";
        let found = find_answer(answer, &|_| 0, 280).unwrap();
        assert!(found.contains("in parallel; ") && found.ends_with("equal prefixes"), "{found}");
    }

    #[test]
    fn without_a_conclusion_one_common_word_is_not_enough() {
        let find = |words: usize| find_answer("It may rain tomorrow in town.", &|_| words, 200);
        assert_eq!(find(1), None);
        assert_eq!(find(2).as_deref(), Some("It may rain tomorrow in town."));
    }

    #[test]
    fn announcements_alone_are_narration() {
        for message in ["Now fix the leak in `scan`.", "Let me look. I'll read the lexer first."] {
            assert!(is_narration(message), "{message}");
        }
        for message in [
            "Let me look. The leak is in `scan`.",
            "The tests pass.",
            "I'll keep SQLite, because Postgres needs a server.",
            "Should I drop the old interface?",
            "",
        ] {
            assert!(!is_narration(message), "{message}");
        }
    }
}
