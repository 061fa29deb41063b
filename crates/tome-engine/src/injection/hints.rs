//! Hints at a prompt: at most three cited hits that nobody asked for. So they have to be good, and
//! new: not what this session has said itself, and none of them twice.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use tome_model::EventKind;

use super::compose::{Composed, Frame, compose};
use super::piece::{Block, Piece};
use super::room::Room;
use super::start::minute;
use crate::quote::{Standing, quote_line, speaker_of_hit, standing_of_hit};
use tome_recall::RecallHit;

/// At most so many.
pub const HINTS_MAX: usize = 3;
/// And so many tokens, marks and all.
pub const HINT_TOKENS_MAX: u64 = 300;

/// Characters of what a hint says.
const HINT_CHARS_MAX: usize = 220;

/// A hit that is worth a hint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// What it is known by: two hits of the same note are the same hint.
    pub key: String,
    /// The line that is injected.
    pub line: String,
}

/// The hits that become hints for a prompt: those of other sessions that this one has not been given,
/// and that say something that the prompt and the hints before them do not. Whoever asks the same again
/// is not told the question. Text that came from outside is never promoted: it stands below what the
/// user, the agent or a note said, and is no hint by itself.
pub fn choose_hints(
    hits: &[RecallHit],
    session: &str,
    prompt: &str,
    given: &BTreeSet<String>,
) -> Vec<Hint> {
    let mut hints: Vec<Hint> = Vec::new();
    let prompt = &words_of(prompt);
    let mut said = vec![prompt.clone()];
    let mut hits: Vec<&RecallHit> = hits.iter().collect();
    hits.sort_by_key(|hit| standing_of_hit(hit));
    for hit in hits {
        if hints.is_empty() && standing_of_hit(hit) == Standing::Outside {
            break;
        }
        let key = key_of(hit);
        let is_own = hit.session.as_deref() == Some(session);
        let is_known = given.contains(&key) || hints.iter().any(|hint| hint.key == key);
        let words = words_of(&hit.text);
        let is_said = said.iter().any(|said| said.contains(&words));
        if is_own || is_known || is_said || is_the_question(hit, &words, prompt) {
            continue;
        }
        said.push(words);
        hints.push(Hint { line: line_of(hit), key });
        if hints.len() == HINTS_MAX {
            break;
        }
    }
    hints
}

/// The hints for this prompt, and behind them those that came too late for the one before, as far as
/// there is room: none that was given, none twice.
pub fn with_late(fresh: Vec<Hint>, late: Vec<Hint>, given: &BTreeSet<String>) -> Vec<Hint> {
    let mut hints = fresh;
    for hint in late {
        let is_known = given.contains(&hint.key) || hints.iter().any(|one| one.key == hint.key);
        if !is_known && hints.len() < HINTS_MAX {
            hints.push(hint);
        }
    }
    hints
}

/// Whether a hit is what a person asked before in nearly the same words: it answers nothing.
fn is_the_question(hit: &RecallHit, words: &str, prompt: &str) -> bool {
    let words = words.split_whitespace();
    let (asked, other): (Vec<&str>, Vec<&str>) =
        words.partition(|word| prompt.contains(&format!(" {word} ")));
    hit.kind == EventKind::UserMessage.as_str() && asked.len() >= other.len().saturating_mul(2)
}

/// The words of a text in lower case, each between spaces; one space where there is none.
fn words_of(text: &str) -> String {
    let mut words = String::from(" ");
    for word in tome_text::plain_words(text) {
        words.push_str(&word);
        words.push(' ');
    }
    words
}

/// A note is one hint wherever in it the words stand; an event is one by itself.
fn key_of(hit: &RecallHit) -> String {
    match &hit.file {
        Some(file) if !file.ends_with("messages.jsonl") => file.clone(),
        _ => hit.citation.clone(),
    }
}

fn line_of(hit: &RecallHit) -> String {
    let when = hit.at.map(|at| format!("{}, ", minute(at))).unwrap_or_default();
    let who = speaker_of_hit(hit);
    let text = quote_line(&hit.text, HINT_CHARS_MAX);
    format!("- {when}{who}: {text} [{}]", quote_line(&hit.citation, 300))
}

/// The text of some hints, as many of them as there is room for, and how many that are.
pub fn hints_text(hints: &[Hint], room: Room) -> Option<(Composed, usize)> {
    let room = Room { tokens: room.tokens.min(HINT_TOKENS_MAX), ..room };
    let frame = Frame { kind: "hints", above: Vec::new(), below: Vec::new() };
    (1..=hints.len()).rev().find_map(|count| {
        let composed = compose(&frame, &[piece(hints.get(..count)?)], room)?;
        composed.cut.is_empty().then_some((composed, count))
    })
}

fn piece(hints: &[Hint]) -> Piece {
    Piece {
        name: "Perhaps relevant, from memory",
        about: "Found by Tome, not said by the user. memory_show or `tome show` opens a citation."
            .to_owned(),
        blocks: hints.iter().map(|hint| Block::line(&hint.line)).collect(),
        noun: ("hint", "hints"),
        rest: "recall_memory",
        quoted: Some("earlier sessions and notes".to_owned()),
        share: 100,
    }
}
