//! Scores results by how likely they are misleading or useless to a reader who did not follow the session.
//!
//! The weights are those of a logistic model: of 414 results of agents in 97 public sessions of 35 repositories,
//! readers found 80 false, mostly because the session later overturned them, and another 86 useless. With owners of
//! repositories held out, leaving out the four tenths with the highest scores leaves 14 of 100 false and 31 false or
//! useless, instead of 19 and 40.

use tome_text::count_words;

use crate::extract::answers::informative::begins_with_pronoun;
use crate::extract::language::similarity::TermSet;
use crate::extract::language::text::to_lower;
use crate::extract::turns::reaction::{Reaction, classify_reaction};

/// Of results with a higher score, six of ten are false or useless.
const DOUBTFUL_MIN: i32 = -30;
/// The same for a question with its answer that nobody objects to: even a short one may be the finding of a session.
const PAIR_DOUBTFUL_MIN: i32 = 40;
/// Seven of ten results have a higher score.
const SURE_MAX: i32 = -85;
/// Points of score that cost one point of weight.
const POINTS_PER_WEIGHT: i32 = 8;

/// Characters of an answer that has little content besides its conclusion.
const SHORT_ANSWER_CHARS: usize = 250;
/// Words shared with the prompt that count.
const SHARED_MAX: usize = 4;
/// Characters of a prompt that are read for an objection.
const OBJECTION_CHARS_MAX: usize = 300;
/// Score of a sentence in its answer above which it no longer matters.
const SENTENCE_SCORE_MAX: i32 = 900;

/// A result, and the turn that it comes from.
pub(crate) struct TurnResult<'t> {
    /// The conclusion, without the request.
    pub(crate) text: &'t str,
    /// The whole answer.
    pub(crate) answer: &'t str,
    pub(crate) prompt: &'t str,
    /// The score of its sentence among those of the answer.
    pub(crate) sentence_score: i32,
    pub(crate) has_items: bool,
    /// Whether it is shown together with its request.
    pub(crate) has_request: bool,
    /// Whether that is a question, to which even a short answer is informative.
    pub(crate) answers_question: bool,
    pub(crate) has_edits: bool,
    /// The next prompt of the session.
    pub(crate) next_prompt: Option<&'t str>,
    pub(crate) next_has_edits: bool,
}

impl TurnResult<'_> {
    /// Whether the result is better left out.
    pub(crate) fn is_doubtful(&self) -> bool {
        let is_pair = self.has_request && self.answers_question && !self.is_objected_to();
        self.score() > if is_pair { PAIR_DOUBTFUL_MIN } else { DOUBTFUL_MIN }
    }

    /// The weight that a result loses because it may be useless or false.
    pub(crate) fn doubt(&self) -> u32 {
        let above = (self.score() - SURE_MAX).max(0);
        u32::try_from(above / POINTS_PER_WEIGHT).unwrap_or(0)
    }

    fn is_objected_to(&self) -> bool {
        let next = self.next_prompt.map(|next| tome_text::first_chars(next, OBJECTION_CHARS_MAX));
        next.is_some_and(|next| count_objections(next) > 0)
    }

    fn score(&self) -> i32 {
        self.score_text() + self.score_next()
    }

    fn score_text(&self) -> i32 {
        let when = |holds: bool, weight: i32| if holds { weight } else { 0 };
        let text = self.text;
        let lower = to_lower(text);
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric() && c != '\'').collect();
        let has = |list: &[&str]| words.iter().any(|word| list.contains(word));
        let is_short = self.answer.chars().nth(SHORT_ANSWER_CHARS).is_none();
        let shared = TermSet::from_text(text).count_shared(&TermSet::from_text(self.prompt));
        let shared = i32::try_from(shared.min(SHARED_MAX)).unwrap_or(0);
        let prompt = tome_text::first_chars(self.prompt, OBJECTION_CHARS_MAX);
        // The lists of words are English ones.
        let is_latin = text.chars().filter(|c| *c > LATIN_LAST && c.is_alphabetic()).count() <= 5;
        let length = match count_words(text) {
            0..=7 => 15,
            8..=13 => 21,
            _ => 0,
        };
        101 + length - shared * 9 - self.sentence_score.clamp(0, SENTENCE_SCORE_MAX) / 100 * 21
            + when(has(DONE), -10)
            + when(!is_latin, -5)
            + when(self.has_request, -42)
            + when(self.has_edits, -54)
            + when(text.contains('`'), -30)
            + when(text.matches('`').count() >= 4, -29)
            + when(has(CAUSES), 8)
            + when(text.chars().any(|c| c.is_ascii_digit()), -25)
            + when(self.has_items, -8)
            + when(is_short, 24)
            + when(has(&["i", "i've", "i'm", "we", "we've"]), 24)
            + when(begins_with_pronoun(text), 23)
            + when(has(HEDGES), -4)
            + when(has(&["you", "your"]), -14)
            + when(self.answers_question, 15)
            + when(text.ends_with([':', '：', '…']), 9)
            + when(SUCCESS.iter().any(|mark| lower.contains(mark)), 12)
            + when(has(&["now", "current", "currently", "already", "yet"]), 14)
            + when(count_objections(text) > 0, 9)
            + when(count_objections(prompt) > 0, 24)
    }

    /// Scores the next prompt.
    fn score_next(&self) -> i32 {
        let Some(next) = self.next_prompt else { return -52 };
        let when = |holds: bool, weight: i32| if holds { weight } else { 0 };
        let next = tome_text::first_chars(next, OBJECTION_CHARS_MAX);
        let objections = count_objections(next);
        let shared = TermSet::from_text(self.text).count_shared(&TermSet::from_text(next));
        let confirms = classify_reaction(next) == Reaction::Confirmation && objections == 0;
        when(confirms, -5)
            + when(objections > 0, 47)
            + when(objections > 1, 4)
            + when(shared > 0, 18)
            + when(self.next_has_edits, -19)
    }
}

/// Whether a prompt reports a problem.
pub(crate) fn has_objection(prompt: &str) -> bool {
    count_objections(prompt) > 0
}

/// Counts the words of a prompt that report a problem.
fn count_objections(text: &str) -> usize {
    #[rustfmt::skip]
    const WORDS: &[&str] = &[
        "not", "no", "cannot", "cant", "dont", "doesnt", "isnt", "still", "again", "wrong", "fail", "fails", "failed",
        "failing", "error", "errors", "broken", "issue", "problem", "crash", "crashes", "crashing", "missing",
        "nothing", "never", "bug", "why", "stuck", "but", "wait", "instead", "actually", "hmm", "não", "nao", "erro",
        "ainda", "pas", "toujours", "erreur", "encore", "marche", "aucun", "todavía", "sigue", "falla", "не", "нет",
        "ошибка", "снова", "опять", "почему", "không", "lỗi", "vẫn", "chưa", "nicht", "immer", "fehler", "kein",
    ];
    #[rustfmt::skip]
    const WIDE: &[&str] = &[
        "不", "没", "錯", "错", "失败", "失敗", "还是", "問題", "问题", "ない", "ません", "エラー", "まだ", "おかし", "안 ", "오류", "아직",
    ];
    let lower = to_lower(text).replace('’', "'");
    let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let of_words = words.filter(|word| WORDS.contains(word) || word.ends_with("n't")).count();
    of_words + WIDE.iter().filter(|mark| lower.contains(**mark)).count()
}

/// Parts of words that report success.
#[rustfmt::skip]
const SUCCESS: &[&str] = &[
    "success", "now work", "deployed", "is live", "all set", "ready", "works", "complete", "fixed", "resolved",
    "成功", "完成", "修正し", "готов", "успешно", "исправ", "corrig", "sucesso", "terminé", "déploy", "thành công",
];

/// The last letter of Latin with its additions.
const LATIN_LAST: char = '\u{24f}';

/// Words that report finished work.
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

    fn result<'t>(text: &'t str, answer: &'t str, next_prompt: Option<&'t str>) -> TurnResult<'t> {
        TurnResult {
            text,
            answer,
            prompt: "Make the retries of the uploader wait longer",
            sentence_score: 400,
            has_items: false,
            has_request: false,
            answers_question: false,
            has_edits: next_prompt.is_none(),
            next_prompt,
            next_has_edits: false,
        }
    }

    #[test]
    fn a_result_that_names_a_change_is_told_and_a_status_is_not() {
        let text = "Added `Backoff::exponential` to the uploader's retries, up to 30 s.";
        let answer = format!("{text} {}", "More is said about it below. ".repeat(12));
        assert!(!result(text, &answer, None).is_doubtful());
        let text = "I'm ready when you are.";
        assert!(result(text, text, Some("Add a test")).is_doubtful());
    }

    #[test]
    fn an_objection_of_the_next_prompt_speaks_against_a_result() {
        let text = "The uploader now waits longer.";
        let doubt = |next| result(text, text, Some(next)).doubt();
        assert!(doubt("The uploader still doesn't wait") > doubt("Great, commit that"));
        assert!(doubt("Le téléversement ne marche toujours pas") > doubt("Merci"));
    }
}
