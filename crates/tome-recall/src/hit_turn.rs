//! Finds the turn around a hit in the messages: the prompt that led to it, and what the agent said in
//! the end. A hit is often the question, or a step on the way.

use std::collections::BTreeSet;

use tome_ledger::{EventRange, Ledger, OrderKey, ScanDirection};
use tome_model::{Event, EventKind};

use super::other_statements::query_words;
use crate::RecallError;

/// Events read before and after a hit; a longer turn is shown without its other end.
const EVENTS_MAX: usize = 120;
const PROMPT_CHARS_MAX: usize = 140;
const ANSWER_CHARS_MAX: usize = 280;

/// The turn around a hit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HitTurn {
    /// Number of its prompt, by which hits of one turn are recognized.
    pub prompt_number: Option<u64>,
    /// The prompt, unless it is the hit itself.
    pub prompt: Option<TurnPart>,
    /// The passage of the agent's final message about the query, unless that message is the hit itself.
    pub answer: Option<TurnPart>,
}

/// A message of a turn, in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnPart {
    /// Number of the event; `tome show` opens it.
    pub number: u64,
    /// One line.
    pub text: String,
}

/// Reads the turn around an event.
pub(super) fn load_turn(
    ledger: &Ledger,
    hit: &Event,
    order_key: OrderKey,
    query: &QueryWords,
) -> Result<HitTurn, RecallError> {
    let scan = |direction| EventRange {
        session: Some(hit.session.clone()),
        after: Some(order_key),
        direction,
        ..EventRange::default()
    };
    let mut turn = HitTurn::default();
    if tome_contents::is_prompt(hit) {
        turn.prompt_number = Some(order_key.seq);
    } else {
        for pair in ledger.events(&scan(ScanDirection::Backward)).take(EVENTS_MAX) {
            let (position, event) = pair?;
            if tome_contents::is_prompt(&event) {
                let number = position.order_key().seq;
                let text = tome_text::collapse_whitespace(&tome_contents::prompt_text(&event.text));
                let text = tome_text::truncate_words(&text, PROMPT_CHARS_MAX);
                turn.prompt_number = Some(number);
                turn.prompt = Some(TurnPart { number, text }).filter(|part| !part.text.is_empty());
                break;
            }
        }
    }
    let mut last: Option<(u64, Event)> = None;
    for pair in ledger.events(&scan(ScanDirection::Forward)).take(EVENTS_MAX) {
        let (position, event) = pair?;
        if tome_contents::is_prompt(&event) {
            break;
        }
        if is_answer(&event) {
            last = Some((position.order_key().seq, event));
        }
    }
    turn.answer = last.and_then(|(number, event)| {
        let text = tome_contents::find_answer(
            &event.text,
            &|sentence| query.relevance(sentence),
            ANSWER_CHARS_MAX,
        )?;
        let text = tome_text::collapse_whitespace(&text);
        Some(TurnPart { number, text: tome_text::truncate_words(&text, ANSWER_CHARS_MAX) })
    });
    Ok(turn)
}

/// A query in the form in which the sentences of an answer are compared with it.
pub(super) struct QueryWords {
    words: BTreeSet<String>,
    asks_why: bool,
}

impl QueryWords {
    pub(super) fn new(query: &str) -> Self {
        let first = query.split_whitespace().next().unwrap_or_default();
        Self { words: query_words(query), asks_why: first.eq_ignore_ascii_case("why") }
    }

    /// Number of its words in a sentence; a cause counts as one if it asks for causes.
    fn relevance(&self, sentence: &str) -> usize {
        let shared = query_words(sentence).intersection(&self.words).count();
        let is_cause = self.asks_why && shared > 0 && tome_contents::states_cause(sentence);
        shared + usize::from(is_cause)
    }
}

fn is_answer(event: &Event) -> bool {
    matches!(event.kind, EventKind::AssistantMessage | EventKind::AssistantStop)
        && !event.is_from_subagent()
        && !event.text.trim().is_empty()
        && !tome_contents::is_service_error(event)
}
