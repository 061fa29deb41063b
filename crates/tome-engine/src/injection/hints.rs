//! Hints at a prompt: at most three cited hits. Since the user did not ask for them, they must be
//! relevant and new: nothing from this session, and no hint twice.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tome_model::EventKind;

use super::compose::{InjectionText, TextFrame, compose};
use super::section::{TextBlock, TextSection};
use super::token_budget::TokenBudget;
use crate::quote::{HitOrigin, classify_origin, format_minute, name_speaker, quote_line};
use tome_recall::RecallHit;

/// Limit of hints per prompt.
pub const HINTS_MAX: usize = 3;
/// Token budget of all hints, including the marks.
pub const HINT_TOKENS_MAX: u64 = 300;

/// Characters of a hint's text.
const HINT_CHARS_MAX: usize = 220;
/// Characters of a prompt that is shown with its answer.
const ASKED_CHARS_MAX: usize = 90;

/// A hit worth showing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptHint {
    /// Identity for deduplication: two hits in the same note are the same hint.
    pub key: String,
    /// The injected line.
    pub line: String,
}

/// Chooses the hits that become hints for a prompt: hits from other sessions that this one was not
/// given yet and that add something to the prompt and the other hints. Skips earlier prompts that
/// asked the same. Text from outside ranks below that of the user, the agent and notes, and is
/// never a hint on its own.
pub fn choose_hints(
    hits: &[RecallHit],
    session: &str,
    prompt: &str,
    given: &BTreeSet<String>,
) -> Vec<PromptHint> {
    let mut hints: Vec<PromptHint> = Vec::new();
    let prompt = &normalize_words(prompt);
    let mut covered = vec![prompt.clone()];
    let mut hits: Vec<&RecallHit> = hits.iter().collect();
    hits.sort_by_key(|hit| classify_origin(hit));
    for hit in hits {
        if hints.is_empty() && classify_origin(hit) == HitOrigin::External {
            break;
        }
        let key = hint_key(hit);
        let is_own = hit.session.as_deref() == Some(session);
        let is_known = given.contains(&key) || hints.iter().any(|hint| hint.key == key);
        let words = normalize_words(&hit.text);
        let is_covered = covered.iter().any(|text| text.contains(&words));
        if is_own || is_known || is_covered || is_same_question(hit, &words, prompt) {
            continue;
        }
        covered.push(words);
        hints.push(PromptHint { line: render_hint_line(hit), key });
        if hints.len() == HINTS_MAX {
            break;
        }
    }
    hints
}

/// Appends hints that were too late for the previous prompt, up to the limit; skips those already
/// given and duplicates.
pub fn append_late_hints(
    fresh: Vec<PromptHint>,
    late: Vec<PromptHint>,
    given: &BTreeSet<String>,
) -> Vec<PromptHint> {
    let mut hints = fresh;
    for hint in late {
        let is_known = given.contains(&hint.key) || hints.iter().any(|one| one.key == hint.key);
        if !is_known && hints.len() < HINTS_MAX {
            hints.push(hint);
        }
    }
    hints
}

/// Whether a hit is an earlier prompt in nearly the same words, which answers nothing.
fn is_same_question(hit: &RecallHit, words: &str, prompt: &str) -> bool {
    let words = words.split_whitespace();
    let (shared, other): (Vec<&str>, Vec<&str>) =
        words.partition(|word| prompt.contains(&format!(" {word} ")));
    hit.kind == EventKind::UserMessage.as_str() && shared.len() >= other.len().saturating_mul(2)
}

/// Lowercased words of a text, each between spaces; a single space if there are none.
fn normalize_words(text: &str) -> String {
    let mut words = String::from(" ");
    for word in tome_text::plain_words(text) {
        words.push_str(&word);
        words.push(' ');
    }
    words
}

/// The key of a note is its file, wherever the match is; that of an event is its citation.
fn hint_key(hit: &RecallHit) -> String {
    match &hit.file {
        Some(file) if !file.ends_with("messages.jsonl") => file.clone(),
        _ => hit.citation.clone(),
    }
}

fn render_hint_line(hit: &RecallHit) -> String {
    let when = hit.at.map(|at| format!("{}, ", format_minute(at))).unwrap_or_default();
    let who = name_speaker(hit);
    let said = match &hit.turn.answer {
        // The answer is more useful than the prompt.
        Some(answer) => format!(
            "{} → agent: {}",
            quote_line(&hit.text, ASKED_CHARS_MAX),
            quote_line(&answer.text, HINT_CHARS_MAX)
        ),
        None => quote_line(&hit.text, HINT_CHARS_MAX),
    };
    format!("- {when}{who}: {said} [{}]", quote_line(&hit.id, 300))
}

/// Composes as many hints as the budget allows; also returns their number.
pub fn render_hints(hints: &[PromptHint], budget: TokenBudget) -> Option<(InjectionText, usize)> {
    let budget = TokenBudget { tokens: budget.tokens.min(HINT_TOKENS_MAX), ..budget };
    let frame = TextFrame { kind: "hints", above: Vec::new(), below: Vec::new() };
    (1..=hints.len()).rev().find_map(|count| {
        let composed = compose(&frame, &[hints_section(hints.get(..count)?)], budget)?;
        composed.cut.is_empty().then_some((composed, count))
    })
}

pub(super) fn hints_section(hints: &[PromptHint]) -> TextSection {
    TextSection {
        name: "Possibly relevant, from memory",
        about: "Found by Tome, not said by the user. memory_show or `tome show` opens a citation."
            .to_owned(),
        blocks: hints.iter().map(|hint| TextBlock::from_line(&hint.line)).collect(),
        noun: ("hint", "hints"),
        rest: "recall_memory",
        quoted: Some("earlier sessions and notes".to_owned()),
        share: 100,
    }
}
