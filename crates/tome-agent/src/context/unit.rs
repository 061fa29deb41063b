//! The smallest part of a conversation that can leave the context window: a prompt, a reply, or a
//! reply's tool calls with all their results.

use serde_json::json;
use tome_llm::{Message, Part, Role, ToolCall, ToolResult};
use tome_model::truncate_to;
use tome_text::budget_tokens;

use super::cap::cap_tokens;
use crate::Moment;
use crate::limits::{PART_TOKENS, SUMMARIZED_BYTES_MAX};

/// One part of a conversation. Every tool call has its result in the message that follows it.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    messages: Vec<Message>,
    moments: Vec<Moment>,
    opens_turn: bool,
    tokens: u64,
}

impl Unit {
    /// Creates a unit from a prompt and text injected with it.
    pub fn prompt(text: &str, notes: Vec<String>, moments: Vec<Moment>) -> Self {
        let mut parts = vec![Part::Text(text.to_owned())];
        parts.extend(notes.into_iter().map(Part::Text));
        Self::made(vec![Message { role: Role::User, parts }], moments, true)
    }

    /// Creates a unit from a reply without tool calls. An empty text makes an empty unit.
    pub fn reply(text: &str, moments: Vec<Moment>) -> Self {
        let said = (!text.trim().is_empty()).then(|| Message::assistant(text));
        Self::made(said.into_iter().collect(), moments, false)
    }

    /// Creates a unit from injected text alone.
    pub fn note(text: String) -> Self {
        Self::made(vec![Message::user(text)], Vec::new(), false)
    }

    /// Creates a unit from a reply with tool calls, their results and injected text. A call without a
    /// result gets an error result; a result without a call is dropped.
    pub fn step(
        said: Vec<Part>,
        results: &[ToolResult],
        notes: Vec<String>,
        moments: Vec<Moment>,
    ) -> Self {
        let is_said = |part: &Part| match part {
            Part::Text(text) => !text.trim().is_empty(),
            Part::Call(_) => true,
            Part::Result(_) => false,
        };
        let said: Vec<Part> = said.into_iter().filter(is_said).collect();
        let mut answers: Vec<Part> = Vec::new();
        for part in &said {
            let Part::Call(call) = part else { continue };
            let result = results.iter().find(|result| result.id == call.id);
            answers.push(Part::Result(result.cloned().unwrap_or_else(|| lost(call))));
        }
        answers.extend(notes.into_iter().map(Part::Text));
        let mut messages = vec![Message { role: Role::Assistant, parts: said }];
        messages.push(Message { role: Role::User, parts: answers });
        messages.retain(|message| !message.parts.is_empty());
        Self::made(messages, moments, false)
    }

    fn made(messages: Vec<Message>, moments: Vec<Moment>, opens_turn: bool) -> Self {
        let moments = moments.into_iter().map(shortened).collect();
        let tokens = messages.iter().map(cost).sum();
        Self { messages, moments, opens_turn, tokens }
    }

    /// The messages of this unit.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The events this unit consists of, with long texts cut.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// Whether this is a prompt, which starts a turn.
    pub fn opens_turn(&self) -> bool {
        self.opens_turn
    }

    /// Estimated tokens.
    pub fn tokens(&self) -> u64 {
        self.tokens
    }

    /// Appends injected text.
    pub fn add_note(&mut self, note: String) {
        match self.messages.last_mut() {
            Some(last) if last.role == Role::User => last.parts.push(Part::Text(note)),
            _ => self.messages.push(Message::user(note)),
        }
        self.tokens = self.messages.iter().map(cost).sum();
    }

    /// Removes injected texts that begin with `opening`.
    pub(super) fn remove_notes(&mut self, opening: &str) {
        let is_other = |part: &Part| match part {
            Part::Text(text) => !text.starts_with(opening),
            Part::Call(_) | Part::Result(_) => true,
        };
        for message in self.messages.iter_mut().filter(|message| message.role == Role::User) {
            // The first part is the message itself.
            let mut n = 0;
            message.parts.retain(|part| {
                n += 1;
                n == 1 || is_other(part)
            });
        }
        self.tokens = self.messages.iter().map(cost).sum();
    }

    /// Cuts texts until the unit fits the token budget.
    pub fn shrink_to(&mut self, tokens_max: u64) {
        let parts: u64 = self.messages.iter().map(|message| message.parts.len() as u64).sum();
        let overhead = parts.saturating_mul(2 * PART_TOKENS);
        let each = tokens_max.saturating_sub(overhead) / parts.max(1);
        for part in self.messages.iter_mut().flat_map(|message| &mut message.parts) {
            shrink(part, each);
        }
        self.tokens = self.messages.iter().map(cost).sum();
    }
}

/// Estimates the tokens of a message.
pub(super) fn cost(message: &Message) -> u64 {
    message.parts.iter().map(part_cost).sum::<u64>() + PART_TOKENS
}

fn part_cost(part: &Part) -> u64 {
    let words = match part {
        Part::Text(text) => budget_tokens(text),
        Part::Call(call) => {
            budget_tokens(&call.name) + budget_tokens(&call.id) + budget_tokens(&call.arguments)
        }
        Part::Result(result) => budget_tokens(&result.id) + budget_tokens(&result.text),
    };
    words + PART_TOKENS
}

/// The mark where a text is cut; the full text is in memory.
const CUT: &str = "cut here; recall_memory (scope messages) with words of this text finds the rest";

fn shrink(part: &mut Part, tokens_max: u64) {
    match part {
        Part::Text(text) => *text = nonempty(cap_tokens(text, tokens_max, CUT)),
        Part::Result(result) => {
            let room = tokens_max.saturating_sub(budget_tokens(&result.id));
            result.text = nonempty(cap_tokens(&result.text, room, CUT));
        }
        Part::Call(call) => {
            let room =
                tokens_max.saturating_sub(budget_tokens(&call.name) + budget_tokens(&call.id));
            if budget_tokens(&call.arguments) > room {
                // Keep a JSON object, as providers require.
                let head = truncate_to(&call.arguments, usize::try_from(room).unwrap_or(0));
                let cut = json!({ "cut": head }).to_string();
                call.arguments = if budget_tokens(&cut) <= room { cut } else { "{}".to_owned() };
            }
        }
    }
}

/// Replaces an empty text, because providers reject those.
fn nonempty(text: String) -> String {
    if text.is_empty() { "…".to_owned() } else { text }
}

fn lost(call: &ToolCall) -> ToolResult {
    let text = "Error: this call has no result".to_owned();
    ToolResult { id: call.id.clone(), text, failed: true }
}

/// Cuts an event's texts to what a summarizer needs.
fn shortened(mut moment: Moment) -> Moment {
    moment.text = tome_model::cap_text(&moment.text, SUMMARIZED_BYTES_MAX).text;
    if let Some(tool) = &mut moment.tool {
        for value in [&mut tool.input, &mut tool.output] {
            let (capped, _) = tome_model::cap_json(std::mem::take(value), SUMMARIZED_BYTES_MAX);
            *value = capped;
        }
    }
    moment
}
