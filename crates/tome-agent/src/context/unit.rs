//! The smallest part of a conversation that can leave the context window: a prompt, a reply, or a
//! reply's tool calls with all their results.

use serde_json::json;
use tome_llm::{ChatMessage, ChatRole, ContentPart, ToolCall, ToolResult};
use tome_model::truncate_to;
use tome_text::estimate_tokens_conservatively;

use super::cap::cap_tokens;
use crate::SessionEvent;
use crate::limits::{PART_OVERHEAD_TOKENS, SUMMARIZED_TEXT_BYTES_MAX};

/// One part of a conversation. Every tool call has its result in the message that follows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextUnit {
    messages: Vec<ChatMessage>,
    events: Vec<SessionEvent>,
    opens_turn: bool,
    tokens: u64,
}

impl ContextUnit {
    /// Creates a unit from a prompt and text injected with it.
    pub fn prompt(text: &str, notes: Vec<String>, events: Vec<SessionEvent>) -> Self {
        let mut parts = vec![ContentPart::Text(text.to_owned())];
        parts.extend(notes.into_iter().map(ContentPart::Text));
        Self::from_messages(vec![ChatMessage { role: ChatRole::User, parts }], events, true)
    }

    /// Creates a unit from a reply without tool calls. An empty text makes an empty unit.
    pub fn reply(text: &str, events: Vec<SessionEvent>) -> Self {
        let message = (!text.trim().is_empty()).then(|| ChatMessage::assistant(text));
        Self::from_messages(message.into_iter().collect(), events, false)
    }

    /// Creates a unit from injected text alone.
    pub fn note(text: String) -> Self {
        Self::from_messages(vec![ChatMessage::user(text)], Vec::new(), false)
    }

    /// Creates a unit from a reply with tool calls, their results and injected text. A call without a
    /// result gets an error result; a result without a call is dropped.
    pub fn step(
        reply_parts: Vec<ContentPart>,
        results: &[ToolResult],
        notes: Vec<String>,
        events: Vec<SessionEvent>,
    ) -> Self {
        let is_kept = |part: &ContentPart| match part {
            ContentPart::Text(text) => !text.trim().is_empty(),
            ContentPart::ToolCall(_) => true,
            ContentPart::ToolResult(_) => false,
        };
        let reply_parts: Vec<ContentPart> = reply_parts.into_iter().filter(is_kept).collect();
        let mut answers: Vec<ContentPart> = Vec::new();
        for part in &reply_parts {
            let ContentPart::ToolCall(call) = part else { continue };
            let result = results.iter().find(|result| result.id == call.id);
            answers.push(ContentPart::ToolResult(
                result.cloned().unwrap_or_else(|| missing_result(call)),
            ));
        }
        answers.extend(notes.into_iter().map(ContentPart::Text));
        let mut messages = vec![ChatMessage { role: ChatRole::Assistant, parts: reply_parts }];
        messages.push(ChatMessage { role: ChatRole::User, parts: answers });
        messages.retain(|message| !message.parts.is_empty());
        Self::from_messages(messages, events, false)
    }

    fn from_messages(
        messages: Vec<ChatMessage>,
        events: Vec<SessionEvent>,
        opens_turn: bool,
    ) -> Self {
        let events = events.into_iter().map(truncate_event).collect();
        let tokens = messages.iter().map(message_tokens).sum();
        Self { messages, events, opens_turn, tokens }
    }

    /// The messages of this unit.
    pub fn messages(&self) -> &[ChatMessage] {
        &self.messages
    }

    /// The events this unit consists of, with long texts cut.
    pub fn events(&self) -> &[SessionEvent] {
        &self.events
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
            Some(last) if last.role == ChatRole::User => last.parts.push(ContentPart::Text(note)),
            _ => self.messages.push(ChatMessage::user(note)),
        }
        self.tokens = self.messages.iter().map(message_tokens).sum();
    }

    /// Removes injected texts that begin with `opening`.
    pub(super) fn remove_notes(&mut self, opening: &str) {
        let is_other = |part: &ContentPart| match part {
            ContentPart::Text(text) => !text.starts_with(opening),
            ContentPart::ToolCall(_) | ContentPart::ToolResult(_) => true,
        };
        for message in self.messages.iter_mut().filter(|message| message.role == ChatRole::User) {
            // The first part is the message itself.
            let mut n = 0;
            message.parts.retain(|part| {
                n += 1;
                n == 1 || is_other(part)
            });
        }
        self.tokens = self.messages.iter().map(message_tokens).sum();
    }

    /// Cuts texts until the unit fits the token budget.
    pub fn shrink_to(&mut self, tokens_max: u64) {
        let parts: u64 = self.messages.iter().map(|message| message.parts.len() as u64).sum();
        let overhead = parts.saturating_mul(2 * PART_OVERHEAD_TOKENS);
        let each = tokens_max.saturating_sub(overhead) / parts.max(1);
        for part in self.messages.iter_mut().flat_map(|message| &mut message.parts) {
            shrink_part(part, each);
        }
        self.tokens = self.messages.iter().map(message_tokens).sum();
    }
}

/// Estimates the tokens of a message.
pub(super) fn message_tokens(message: &ChatMessage) -> u64 {
    message.parts.iter().map(part_tokens).sum::<u64>() + PART_OVERHEAD_TOKENS
}

fn part_tokens(part: &ContentPart) -> u64 {
    let words = match part {
        ContentPart::Text(text) => estimate_tokens_conservatively(text),
        ContentPart::ToolCall(call) => {
            estimate_tokens_conservatively(&call.name)
                + estimate_tokens_conservatively(&call.id)
                + estimate_tokens_conservatively(&call.arguments)
        }
        ContentPart::ToolResult(result) => {
            estimate_tokens_conservatively(&result.id)
                + estimate_tokens_conservatively(&result.text)
        }
    };
    words + PART_OVERHEAD_TOKENS
}

/// The mark where a text is cut; the full text is in memory.
const CUT_MARK: &str =
    "cut here; recall_memory (scope messages) with words of this text finds the rest";

fn shrink_part(part: &mut ContentPart, tokens_max: u64) {
    match part {
        ContentPart::Text(text) => *text = non_empty_text(cap_tokens(text, tokens_max, CUT_MARK)),
        ContentPart::ToolResult(result) => {
            let budget = tokens_max.saturating_sub(estimate_tokens_conservatively(&result.id));
            result.text = non_empty_text(cap_tokens(&result.text, budget, CUT_MARK));
        }
        ContentPart::ToolCall(call) => {
            let budget = tokens_max.saturating_sub(
                estimate_tokens_conservatively(&call.name)
                    + estimate_tokens_conservatively(&call.id),
            );
            if estimate_tokens_conservatively(&call.arguments) > budget {
                // Keep a JSON object, as providers require.
                let head = truncate_to(&call.arguments, usize::try_from(budget).unwrap_or(0));
                let cut = json!({ "cut": head }).to_string();
                call.arguments = if estimate_tokens_conservatively(&cut) <= budget {
                    cut
                } else {
                    "{}".to_owned()
                };
            }
        }
    }
}

/// Replaces an empty text, because providers reject those.
fn non_empty_text(text: String) -> String {
    if text.is_empty() { "…".to_owned() } else { text }
}

fn missing_result(call: &ToolCall) -> ToolResult {
    let text = "Error: this call has no result".to_owned();
    ToolResult { id: call.id.clone(), text, failed: true }
}

/// Cuts an event's texts to what a summarizer needs.
fn truncate_event(mut event: SessionEvent) -> SessionEvent {
    event.text = tome_model::cap_text(&event.text, SUMMARIZED_TEXT_BYTES_MAX).text;
    if let Some(tool) = &mut event.tool {
        for value in [&mut tool.input, &mut tool.output] {
            let (capped, _) =
                tome_model::cap_json(std::mem::take(value), SUMMARIZED_TEXT_BYTES_MAX);
            *value = capped;
        }
    }
    event
}
