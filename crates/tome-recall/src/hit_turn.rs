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

/// Reads the turns around the hits of an answer. Several hits are often in one turn, which is read once.
pub(super) struct TurnReader {
    query: QueryWords,
    /// With the index set of each turn.
    read: Vec<(usize, ReadTurn)>,
}

impl TurnReader {
    pub(super) fn new(query: &str) -> Self {
        Self { query: QueryWords::new(query), read: Vec::new() }
    }

    /// Reads the turn around an event of an index set; `None` if there is no such event.
    pub(super) fn load_turn(
        &mut self,
        set_index: usize,
        ledger: &Ledger,
        order_key: OrderKey,
    ) -> Result<Option<LoadedTurn>, RecallError> {
        let holds = |(set, turn): &(usize, ReadTurn)| {
            *set == set_index
                && turn.events.is_whole
                && turn.events.own_index(order_key.seq).is_some()
        };
        let at = match self.read.iter().position(holds) {
            Some(at) => at,
            None => {
                let Some(hit) = ledger.event_by_order(order_key)? else { return Ok(None) };
                let events = TurnEvents::read(ledger, &hit, order_key)?;
                self.read.push((set_index, ReadTurn::new(events, &self.query)));
                self.read.len() - 1
            }
        };
        let Some((_, turn)) = self.read.get_mut(at) else { return Ok(None) };
        turn.describe_hit(ledger, order_key, &self.query)
    }
}

/// A turn, and what is the same for all of its hits.
struct ReadTurn {
    events: TurnEvents,
    outline: TurnOutline,
    prompt_number: Option<u64>,
    /// Index of the agent's last message.
    answer_index: Option<usize>,
    /// The later message that contradicts it, read when a hit first needs it.
    answer_correction: Option<Option<OtherStatement>>,
}

impl ReadTurn {
    fn new(events: TurnEvents, query: &QueryWords) -> Self {
        let prompt = events.own().next().filter(|(_, event)| tome_contents::is_prompt(event));
        let prompt_number = prompt.map(|(number, _)| number);
        let prompt = prompt.and_then(|(number, prompt)| {
            let text =
                tome_text::collapse_whitespace(&tome_contents::describe_prompt(&prompt.text));
            let text = tome_text::truncate_words(&text, OUTLINE_CHARS_MAX);
            Some(TurnPart { number, text }).filter(|part| !part.text.is_empty())
        });
        let last = events.own().enumerate().filter(|(_, (_, event))| is_answer(event)).last();
        let answer_index = last.map(|(index, _)| index);
        let answer = last.and_then(|(_, (number, event))| {
            let relevance = |sentence: &str| query.relevance(sentence);
            let text = tome_contents::find_answer(&event.text, &relevance, ANSWER_CHARS_MAX)?;
            let text = tome_text::collapse_whitespace(&text);
            Some(TurnPart { number, text: tome_text::truncate_words(&text, ANSWER_CHARS_MAX) })
        });
        let outline = TurnOutline { prompt, answer };
        Self { events, outline, prompt_number, answer_index, answer_correction: None }
    }

    fn describe_hit(
        &mut self,
        ledger: &Ledger,
        order_key: OrderKey,
        query: &QueryWords,
    ) -> Result<Option<LoadedTurn>, RecallError> {
        let index = self.events.own_index(order_key.seq).unwrap_or(0);
        let Some((_, event)) = self.events.own().nth(index) else { return Ok(None) };
        let event = event.clone();
        let is_answered = self.answer_index.is_some_and(|answer| answer > index);
        let above = self.outline.prompt.clone().filter(|part| part.number != order_key.seq);
        let turn = HitTurn {
            prompt_number: self.prompt_number,
            prompt: above.map(|part| TurnPart {
                text: tome_text::truncate_words(&part.text, PROMPT_CHARS_MAX),
                ..part
            }),
            answer: self.outline.answer.clone().filter(|_| is_answered),
            outline: self.outline.clone(),
            is_unanswered: self.answer_index.is_none_or(|answer| answer < index)
                && self.events.own_len <= EVENTS_MAX,
            branch: self.events.find_branch(order_key.seq),
        };
        let concerns = |sentence: &str| query.relevance(sentence) > 0;
        let mut correction = self.events.find_contradiction(ledger, &event, order_key, concerns)?;
        if correction.is_none() && turn.answer.is_some() {
            correction = self.find_answer_correction(ledger, concerns)?;
        }
        Ok(Some(LoadedTurn { event, turn, correction }))
    }

    fn find_answer_correction(
        &mut self,
        ledger: &Ledger,
        concerns: impl Fn(&str) -> bool,
    ) -> Result<Option<OtherStatement>, RecallError> {
        if let Some(known) = &self.answer_correction {
            return Ok(known.clone());
        }
        let answer = self.answer_index.and_then(|index| self.events.own().nth(index));
        let found = find_later_correction(ledger, answer, concerns)?;
        self.answer_correction = Some(found.clone());
        Ok(found)
    }
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
    let found = events.find_contradiction(ledger, hit, order_key, |_| true)?;
    if found.is_some() {
        return Ok(found);
    }
    let answer = events.own().filter(|(_, event)| is_prompt && is_answer(event)).last();
    find_later_correction(ledger, answer, |_| true)
}

/// Finds the later message that takes back an answer.
fn find_later_correction(
    ledger: &Ledger,
    answer: Option<(u64, &Event)>,
    concerns: impl Fn(&str) -> bool,
) -> Result<Option<OtherStatement>, RecallError> {
    let Some((seq, answer)) = answer else { return Ok(None) };
    corrections::find_correction(ledger, answer, OrderKey { at: answer.at, seq }, concerns)
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
    /// Whether both ends of the turn were reached, so that they are the same from every event of it.
    is_whole: bool,
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
        let begins_with_prompt = events.first().is_some_and(tome_contents::is_prompt);
        let (mut own_len, mut reply) = (None, PromptReply::Neutral);
        let mut read_forward = 0;
        for pair in ledger.events(&scan(ScanDirection::Forward)).take(EVENTS_MAX) {
            let (position, event) = pair?;
            read_forward += 1;
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
        let is_whole = begins_with_prompt && read_forward < EVENTS_MAX;
        let own_len = own_len.unwrap_or(events.len());
        Ok(Self { events, numbers, own_len, reply, is_whole })
    }

    /// The events of the turn itself, in order.
    fn own(&self) -> impl Iterator<Item = (u64, &Event)> {
        self.numbers.iter().copied().zip(&self.events).take(self.own_len)
    }

    /// Index of an event of the turn itself.
    fn own_index(&self, number: u64) -> Option<usize> {
        self.own().position(|(own, _)| own == number)
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

    /// Finds the later message that contradicts a hit of the turn.
    fn find_contradiction(
        &self,
        ledger: &Ledger,
        hit: &Event,
        order_key: OrderKey,
        concerns: impl Fn(&str) -> bool,
    ) -> Result<Option<OtherStatement>, RecallError> {
        // A reply speaks against the agent's answer, not against a prompt or the output of a tool.
        let reply = if is_answer(hit) { self.find_correction() } else { None };
        match reply {
            Some(_) => Ok(reply),
            None => corrections::find_correction(ledger, hit, order_key, concerns),
        }
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
