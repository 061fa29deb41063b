//! Scores how well a sentence of a prompt states the request.
//!
//! The weights are those of a conditional logit model: of 361 prompts of more than one sentence, from public
//! sessions in 94 projects, readers chose the sentence that a stranger would want to read. With projects held
//! out, the best sentence is the chosen one, or as good, in 85 of 100 prompts that have one.

use tome_text::count_words;

use crate::extract::language::clause::is_main_clause;
use crate::extract::language::courtesy::is_polite;
use crate::extract::language::prose::{ProseSentence, SentenceShape};
use crate::extract::language::text::{begins_with_any, to_lower};
use crate::extract::turns::reference::refers_without_naming;

/// A hundred points of score are one unit of the model's log odds.
const POINTS: f64 = 100.0;

/// Whether the sentence with the best of these scores is likely the right one. This holds for six of ten
/// prompts, of which 88 of 100 get a good choice; of the others, half do.
pub(crate) fn is_sure(best: i32, scores: &[i32]) -> bool {
    const SCORE_MIN: i32 = 250;
    const PROBABILITY_MIN: f64 = 0.5;
    let weigh = |score: &i32| (f64::from(score - best) / POINTS).exp();
    let all: f64 = scores.iter().map(weigh).sum();
    best >= SCORE_MIN && all * PROBABILITY_MIN <= 1.0
}

/// Sentences of a prompt that are compared.
pub(crate) const SENTENCES_MAX: usize = 40;

/// A sentence of a prompt, with the features that are scored.
pub(crate) struct PromptSentence<'s, 'a> {
    pub(crate) sentence: &'s ProseSentence<'a>,
    /// Reduced to its request.
    pub(crate) text: &'s str,
    pub(crate) position: usize,
    pub(crate) is_last: bool,
    /// Whether the sentence before it is a short one that ends with a colon.
    pub(crate) is_led_in: bool,
    /// Whether it is worded as a question or an order.
    pub(crate) is_request: bool,
    /// How much it says.
    pub(crate) weight: u32,
}

impl PromptSentence<'_, '_> {
    pub(crate) fn score(&self) -> i32 {
        let when = |holds: bool, weight: i32| if holds { weight } else { 0 };
        let plain = &self.sentence.plain;
        let position = match self.position {
            0 => 200,
            1 => 108,
            2 => 68,
            _ => 0,
        };
        position
            + score_length(count_words(self.text))
            + i32::try_from(self.weight.min(10)).unwrap_or(0) * 114 / 10
            + when(self.is_request, 121)
            + when(self.is_led_in, 81)
            + when(self.is_last, 55)
            + when(is_polite(plain), 52)
            + when(states_wish(plain), 56)
            + when(!self.is_request && refers_without_naming(self.text), -30)
            + when(is_rule(self.text), -93)
            + when(self.sentence.shape == SentenceShape::Item, -90)
            + when(self.sentence.indent > 1, -162)
            + when(!is_main_clause(self.text), -62)
            // Too rare to be learned: a role that the prompt gives the agent, and a quotation.
            + when(begins_with_any(self.text, ROLES) || self.sentence.raw.starts_with("> "), -300)
    }
}

fn score_length(words: usize) -> i32 {
    match words {
        0..=1 => -215,
        2..=3 => -159,
        4..=6 => -47,
        7..=12 => 0,
        13..=24 => 48,
        25..=40 => 112,
        _ => 91,
    }
}

/// Beginnings of sentences that give the agent a role. "You are not handling null" does not.
#[rustfmt::skip]
const ROLES: &[&str] = &[
    "you are a", "you are an", "you are the", "you are my", "you're a", "you're an", "act as",
    "you are generating", "you are writing", "you are working", "you are building", "you are creating",
    "you are updating",
];

/// Whether a sentence describes how to work rather than what to do.
fn is_rule(text: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "do not", "don't", "dont", "never", "always", "must", "should", "make sure", "ensure", "note",
        "important", "you must", "you should", "avoid", "keep", "only", "no",
    ];
    begins_with_any(text, STARTS)
}

/// Whether a sentence states a wish of its author.
pub(crate) fn states_wish(text: &str) -> bool {
    #[rustfmt::skip]
    const WISHES: [&str; 11] = [
        "i want", "we want", "i need", "we need", "i'd like", "would like", "my task", "my goal", "the goal",
        "the task", "we should",
    ];
    let lower = to_lower(text);
    WISHES.iter().any(|wish| lower.contains(wish))
}
