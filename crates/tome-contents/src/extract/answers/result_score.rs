//! Scores results by how likely they are useless to a reader who did not follow the session.
//!
//! The weights are those of a logistic model: of 673 results of agents in public sessions, readers found 208
//! useless. With projects held out, leaving out the quarter with the highest scores leaves 23 of 100 useless
//! instead of 31. Only the worst of them are left out, and the others shown where there is room: the short
//! answer to a question looks much like a mere status.

use tome_text::count_words;

use crate::extract::answers::answer::begins_with_pronoun;
use crate::extract::language::similarity::TermSet;
use crate::extract::language::text::to_lower;

/// Of results with a higher score, three of four are useless or wrong.
const USELESS_MIN: i32 = 0;
/// The same for a result that is shown together with its request.
const ANSWER_USELESS_MIN: i32 = 24;
/// Three of four results have a lower score.
const DOUBTFUL_MIN: i32 = -40;
/// Points of score that cost one point of weight.
const POINTS_PER_WEIGHT: i32 = 6;

/// Characters of an answer that says little beside its conclusion.
const SHORT_ANSWER_CHARS: usize = 250;
/// Words shared with the prompt that count.
const SHARED_MAX: usize = 4;

/// A result, and the turn that it comes from.
pub(crate) struct TurnResult<'t> {
    /// The conclusion, without the request.
    pub(crate) text: &'t str,
    /// The whole answer.
    pub(crate) answer: &'t str,
    pub(crate) prompt: &'t str,
    /// Whether it is shown together with its request.
    pub(crate) has_request: bool,
    /// Whether that is a question, to which even a short answer tells something.
    pub(crate) answers_question: bool,
    pub(crate) has_edits: bool,
}

impl TurnResult<'_> {
    pub(crate) fn is_useless(&self) -> bool {
        let least = if self.has_request { ANSWER_USELESS_MIN } else { USELESS_MIN };
        !self.answers_question && self.score() > least
    }

    /// The weight that a result loses to others, because it may tell little.
    pub(crate) fn doubt(&self) -> u32 {
        let above = (self.score() - DOUBTFUL_MIN).max(0);
        u32::try_from(above / POINTS_PER_WEIGHT).unwrap_or(0)
    }

    fn score(&self) -> i32 {
        let when = |holds: bool, weight: i32| if holds { weight } else { 0 };
        let text = self.text;
        let lower = to_lower(text);
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
        let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
        let is_short = self.answer.chars().nth(SHORT_ANSWER_CHARS).is_none();
        let shared = TermSet::from_text(text).count_shared(&TermSet::from_text(self.prompt));
        let shared = i32::try_from(shared.min(SHARED_MAX)).unwrap_or(0);
        let length = match count_words(text) {
            0..=7 => 59,
            8..=13 => 49,
            _ => 0,
        };
        // The lists of words are English ones.
        let is_latin = text.chars().filter(|c| *c > LATIN_LAST && c.is_alphabetic()).count() <= 5;
        24 + length - shared * 34 / 4
            + when(has(DONE), -79)
            + when(!is_latin, -74)
            + when(self.has_request, -63)
            + when(self.has_edits, -59)
            + when(text.contains('`'), -48)
            + when(text.matches('`').count() >= 4, -17)
            + when(has(CAUSES), -39)
            + when(text.chars().any(|c| c.is_ascii_digit()), -31)
            + when(text.contains("; "), -18)
            + when(is_short, 79)
            + when(has(&["i", "i've", "i'm", "we", "we've"]), 53)
            + when(begins_with_pronoun(text), 41)
            + when(has(HEDGES), 34)
            + when(has(&["you", "your"]), 31)
    }
}

/// The last letter of Latin with its additions.
const LATIN_LAST: char = '\u{24f}';

/// Words that tell what was done.
#[rustfmt::skip]
const DONE: &[&str] = &[
    "added", "fixed", "changed", "updated", "removed", "renamed", "created", "replaced", "implemented", "moved",
    "switched", "reverted", "refactored", "now",
];

const CAUSES: &[&str] = &["because", "cause", "caused", "due", "reason", "problem", "issue", "bug"];

#[rustfmt::skip]
const HEDGES: &[&str] = &[
    "should", "likely", "probably", "might", "may", "could", "would", "seems", "appears", "perhaps", "if",
];

#[cfg(test)]
mod tests {
    use super::TurnResult;

    #[test]
    fn a_result_that_names_a_change_is_useful_and_a_status_is_not() {
        let is_useful = |text: &str, has_edits: bool| {
            let answer = format!("{text} {}", "More is said about it below. ".repeat(12));
            let prompt = "Make the retries of the uploader wait longer";
            let result = TurnResult {
                text,
                answer: if has_edits { &answer } else { text },
                prompt,
                has_request: false,
                answers_question: false,
                has_edits,
            };
            !result.is_useless()
        };
        assert!(is_useful(
            "Added `Backoff::exponential` to the uploader's retries, up to 30 s.",
            true
        ));
        assert!(!is_useful("I'm ready when you are.", false));
        assert!(!is_useful("That should work for you now if I read it right.", false));
    }
}
