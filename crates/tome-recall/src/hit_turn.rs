//! Finds the turn around a hit in the messages: the prompt that led to it, and what the agent said in
//! the end. A hit is often the question, or a step on the way.

use std::collections::BTreeSet;

use tome_contents::PromptReply;
use tome_ledger::{EventRange, Ledger, OrderKey, ScanDirection};
use tome_model::Event;

use super::corrections::{self, is_answer};
use super::other_statements::{OtherStatement, StatementRelation, query_words};
use crate::RecallError;

/// Events read before and after a hit; a longer turn is shown without its other end.
pub(super) const EVENTS_MAX: usize = 120;
/// Of a prompt above a hit, and in the outline of a turn.
const PROMPT_CHARS_MAX: usize = 140;
const OUTLINE_CHARS_MAX: usize = 270;
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
    /// The user's own words in its prompt and the passage of its final message about the query, whatever the hit is.
    pub outline: TurnOutline,
    /// Whether it ends without a word of the agent.
    pub is_unanswered: bool,
    /// The branch that the agent was on, if known.
    pub branch: Option<String>,
}

/// The prompt of a turn and its result, one line each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnOutline {
    /// The user's own words in the prompt, without what was pasted.
    pub prompt: Option<TurnPart>,
    /// The passage of the agent's final message.
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

/// The event of a hit and the turn around it.
pub(super) struct LoadedTurn {
    pub event: Event,
    pub turn: HitTurn,
    /// The later message that contradicts the hit, or the answer that is shown with it.
    pub correction: Option<OtherStatement>,
}

/// Reads the turn around an event; `None` if there is no such event.
pub(super) fn load_turn(
    ledger: &Ledger,
    order_key: OrderKey,
    query: &QueryWords,
) -> Result<Option<LoadedTurn>, RecallError> {
    let Some(hit) = ledger.event_by_order(order_key)? else { return Ok(None) };
    let events = TurnEvents::read(ledger, &hit, order_key)?;
    let mut turn = HitTurn { branch: events.find_branch(order_key.seq), ..HitTurn::default() };
    if let Some((number, prompt)) =
        events.own().next().filter(|(_, event)| tome_contents::is_prompt(event))
    {
        let text = tome_text::collapse_whitespace(&tome_contents::describe_prompt(&prompt.text));
        let text = tome_text::truncate_words(&text, OUTLINE_CHARS_MAX);
        turn.outline.prompt = Some(TurnPart { number, text }).filter(|part| !part.text.is_empty());
        turn.prompt_number = Some(number);
    }
    let at = events.own().position(|(number, _)| number == order_key.seq).unwrap_or(0);
    let last_answer = events.own().enumerate().filter(|(_, (_, event))| is_answer(event)).last();
    let answer_at = last_answer.map(|(answer_at, _)| answer_at);
    turn.is_unanswered =
        answer_at.is_none_or(|answer_at| answer_at < at) && events.own_len <= EVENTS_MAX;
    turn.outline.answer = last_answer.and_then(|(_, (number, event))| {
        let text = tome_contents::find_answer(
            &event.text,
            &|sentence| query.relevance(sentence),
            ANSWER_CHARS_MAX,
        )?;
        let text = tome_text::collapse_whitespace(&text);
        Some(TurnPart { number, text: tome_text::truncate_words(&text, ANSWER_CHARS_MAX) })
    });
    let TurnOutline { prompt, answer } = &turn.outline;
    let above = prompt.clone().filter(|part| part.number != order_key.seq);
    turn.prompt = above.map(|part| TurnPart {
        text: tome_text::truncate_words(&part.text, PROMPT_CHARS_MAX),
        ..part
    });
    turn.answer = answer.clone().filter(|_| answer_at.is_some_and(|answer_at| answer_at > at));
    let concerns = |sentence: &str| query.relevance(sentence) > 0;
    let answer = turn.answer.as_ref().and(last_answer).map(|(_, answer)| answer);
    let correction = events.find_contradiction(ledger, &hit, order_key, answer, concerns)?;
    Ok(Some(LoadedTurn { event: hit, turn, correction }))
}

/// Finds the later message that contradicts an event, or the answer to it if it is a prompt.
pub(super) fn load_correction(
    ledger: &Ledger,
    hit: &Event,
    order_key: OrderKey,
) -> Result<Option<OtherStatement>, RecallError> {
    let is_prompt = tome_contents::is_prompt(hit);
    if !is_prompt && !is_answer(hit) {
        return Ok(None);
    }
    let events = TurnEvents::read(ledger, hit, order_key)?;
    let answer = events.own().filter(|(_, event)| is_prompt && is_answer(event)).last();
    events.find_contradiction(ledger, hit, order_key, answer, |_| true)
}

/// The events of a turn, followed by the prompt of the next turn, and by the rest of that turn if its prompt
/// only consents.
struct TurnEvents {
    events: Vec<Event>,
    /// Their numbers.
    numbers: Vec<u64>,
    /// How many of them belong to the turn itself.
    own_len: usize,
    /// How the next prompt refers to the turn.
    reply: PromptReply,
}

impl TurnEvents {
    fn read(ledger: &Ledger, hit: &Event, order_key: OrderKey) -> Result<Self, RecallError> {
        let scan = |direction| EventRange {
            session: Some(hit.session.clone()),
            after: Some(order_key),
            direction,
            ..EventRange::default()
        };
        let (mut events, mut numbers) = (vec![hit.clone()], vec![order_key.seq]);
        if !tome_contents::is_prompt(hit) {
            for pair in ledger.events(&scan(ScanDirection::Backward)).take(EVENTS_MAX) {
                let (position, event) = pair?;
                let begins_turn = tome_contents::is_prompt(&event);
                events.push(event);
                numbers.push(position.order_key().seq);
                if begins_turn {
                    break;
                }
            }
            events.reverse();
            numbers.reverse();
        }
        let (mut own_len, mut reply) = (None, PromptReply::Neutral);
        for pair in ledger.events(&scan(ScanDirection::Forward)).take(EVENTS_MAX) {
            let (position, event) = pair?;
            let begins_turn = tome_contents::is_prompt(&event);
            if begins_turn && own_len.is_some() {
                break;
            }
            if begins_turn {
                own_len = Some(events.len());
                reply = PromptReply::classify(&tome_contents::prompt_text(&event.text));
            }
            events.push(event);
            numbers.push(position.order_key().seq);
            if begins_turn && reply != PromptReply::Consents {
                break;
            }
        }
        let own_len = own_len.unwrap_or(events.len());
        Ok(Self { events, numbers, own_len, reply })
    }

    /// The events of the turn itself, in order.
    fn own(&self) -> impl Iterator<Item = (u64, &Event)> {
        self.numbers.iter().copied().zip(&self.events).take(self.own_len)
    }

    /// The branch that is recorded last up to an event, or else first after it.
    fn find_branch(&self, number: u64) -> Option<String> {
        let recorded = |(at, event): (u64, &Event)| {
            let branch = event.meta.get("branch").and_then(serde_json::Value::as_str);
            // In the middle of a rebase git is on no branch.
            let branch = branch.filter(|branch| !matches!(*branch, "" | "HEAD"))?;
            Some((at, branch.to_owned()))
        };
        let (before, after): (Vec<_>, Vec<_>) =
            self.own().filter_map(recorded).partition(|(at, _)| *at <= number);
        before.into_iter().next_back().or_else(|| after.into_iter().next()).map(|(_, name)| name)
    }

    /// Finds the later message that contradicts a hit of the turn, or the answer that is shown with it.
    fn find_contradiction(
        &self,
        ledger: &Ledger,
        hit: &Event,
        order_key: OrderKey,
        answer: Option<(u64, &Event)>,
        concerns: impl Fn(&str) -> bool,
    ) -> Result<Option<OtherStatement>, RecallError> {
        // A reply speaks against the agent's answer, not against a prompt or the output of a tool.
        let reply = if is_answer(hit) { self.find_correction() } else { None };
        if reply.is_some() {
            return Ok(reply);
        }
        if let Some(found) = corrections::find_correction(ledger, hit, order_key, &concerns)? {
            return Ok(Some(found));
        }
        let Some((seq, answer)) = answer else { return Ok(None) };
        let order_key = OrderKey { at: answer.at, seq };
        corrections::find_correction(ledger, answer, order_key, concerns)
    }

    fn find_correction(&self) -> Option<OtherStatement> {
        if self.reply == PromptReply::Neutral {
            return None;
        }
        let found = tome_contents::find_correction(&self.events, self.own_len)?;
        let number = *self.numbers.get(found.event)?;
        let at = self.events.get(found.event)?.at;
        Some(OtherStatement::new(StatementRelation::Opposite, number, at, &found.text))
    }
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
