//! The types of a conversation: requests, messages, tool calls, stream events and responses.
//!
//! They are independent of any provider; each client translates them. The builder of a [`ChatRequest`]
//! must keep each tool call together with its result.

use std::sync::Arc;

use serde_json::Value;
use tome_text::estimate_tokens_conservatively;

use crate::{CancelToken, ModelFailure};

/// A model that takes part in a conversation. A call blocks until the reply is complete, the timeout
/// expires, or the call is cancelled.
pub trait ChatModel: Send + Sync {
    /// The model's name: `anthropic/claude-…`, `openai/…`.
    fn name(&self) -> &str;

    /// Requests the next reply. Reports each piece of it to the callback as it arrives.
    fn reply(
        &self,
        request: &ChatRequest,
        on_event: &mut dyn FnMut(StreamEvent<'_>),
        stop: &CancelToken,
    ) -> Result<ChatResponse, ModelFailure>;
}

/// A request: everything the model sees.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ChatRequest {
    /// The system prompt, most stable parts first, so that providers can cache the prefix.
    pub system: Vec<SystemPart>,
    /// The tools the model may call.
    pub tools: Vec<ToolDefinition>,
    /// The conversation, oldest first.
    pub messages: Vec<ChatMessage>,
    /// Maximum tokens of the reply.
    pub tokens_max: u32,
}

/// A part of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPart {
    /// The text.
    pub text: String,
    /// Whether everything up to here stays the same, so that a provider may cache it.
    pub cache_breakpoint: bool,
}

/// A tool as it is described to the model.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDefinition {
    /// The tool's name.
    pub name: String,
    /// Its purpose, for the model.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

/// A message of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// The author.
    pub role: ChatRole,
    /// The content, in order.
    pub parts: Vec<ContentPart>,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatRole {
    /// The user; also carries tool results and injected text.
    User,
    /// The model.
    Assistant,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContentPart {
    /// Text of the user or the model.
    Text(String),
    /// A tool call, only in messages of the assistant.
    ToolCall(ToolCall),
    /// A tool result, only in the user message that follows the call.
    ToolResult(ToolResult),
}

/// A tool call of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Matches the call with its result.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them: usually, but not always, a JSON object.
    pub arguments: String,
}

/// The answer to a [`ToolCall`] with the same id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call's id.
    pub id: String,
    /// The text for the model.
    pub text: String,
    /// Whether the call failed.
    pub failed: bool,
}

/// A piece of a reply as it arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEvent<'a> {
    /// The next piece of text.
    Text(&'a str),
    /// A tool call has begun; its arguments are in the complete reply.
    ToolCallStart {
        /// The tool's name.
        name: &'a str,
    },
    /// Discard what has arrived so far: the reply failed and is being retried.
    Retry,
}

/// A complete reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatResponse {
    /// Text and tool calls, in order.
    pub parts: Vec<ContentPart>,
    /// Why it ended.
    pub stop_reason: StopReason,
    /// Tokens used.
    pub usage: Usage,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The model finished its turn.
    EndTurn,
    /// The model waits for the results of its tool calls.
    ToolCalls,
    /// The reply reached the token limit.
    MaxTokens,
    /// The model or the provider refused.
    Refusal,
}

/// Token usage of one reply, or a total.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Uncached input.
    pub input: u64,
    /// Input read from the provider's cache.
    pub cache_read: u64,
    /// Input written to the provider's cache.
    pub cache_written: u64,
    /// Output.
    pub output: u64,
}

impl ChatMessage {
    /// Creates a user message.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: ChatRole::User, parts: vec![ContentPart::Text(text.into())] }
    }

    /// Creates an assistant message.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: ChatRole::Assistant, parts: vec![ContentPart::Text(text.into())] }
    }

    /// The text, without tool calls and results.
    pub fn text(&self) -> String {
        concat_text(&self.parts)
    }
}

impl ChatResponse {
    /// Creates a reply with text only. Its usage is estimated.
    pub fn from_text(text: impl Into<String>) -> Self {
        let text = text.into();
        let usage = Usage { output: estimate_tokens_conservatively(&text), ..Usage::default() };
        Self { parts: vec![ContentPart::Text(text)], stop_reason: StopReason::EndTurn, usage }
    }

    /// Creates a reply with tool calls, after text if it is not empty. Its usage is estimated.
    pub fn from_calls(text: &str, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        let words = (!text.is_empty()).then(|| ContentPart::Text(text.to_owned()));
        let parts: Vec<ContentPart> =
            words.into_iter().chain(calls.into_iter().map(ContentPart::ToolCall)).collect();
        let output = parts.iter().map(ContentPart::estimate_tokens_conservatively).sum();
        Self {
            parts,
            stop_reason: StopReason::ToolCalls,
            usage: Usage { output, ..Usage::default() },
        }
    }

    /// The text of the reply.
    pub fn text(&self) -> String {
        concat_text(&self.parts)
    }

    /// The tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            ContentPart::ToolCall(call) => Some(call),
            ContentPart::Text(_) | ContentPart::ToolResult(_) => None,
        })
    }
}

impl ChatRequest {
    /// Estimates the input tokens, erring on the high side; see [`estimate_tokens_conservatively`].
    pub fn estimate_tokens_conservatively(&self) -> u64 {
        let system = self.system.iter().map(|part| estimate_tokens_conservatively(&part.text));
        let tools = self.tools.iter().map(|tool| {
            estimate_tokens_conservatively(&tool.name)
                .saturating_add(estimate_tokens_conservatively(&tool.description))
                .saturating_add(estimate_tokens_conservatively(&tool.schema.to_string()))
        });
        let messages = self.messages.iter().flat_map(|message| &message.parts);
        let parts = messages.map(ContentPart::estimate_tokens_conservatively);
        system.chain(tools).chain(parts).fold(0, u64::saturating_add)
    }
}

impl ContentPart {
    /// Estimates the tokens of this part.
    pub fn estimate_tokens_conservatively(&self) -> u64 {
        match self {
            Self::Text(text) => estimate_tokens_conservatively(text),
            Self::ToolCall(call) => estimate_tokens_conservatively(&call.name)
                .saturating_add(estimate_tokens_conservatively(&call.arguments)),
            Self::ToolResult(result) => estimate_tokens_conservatively(&result.text),
        }
    }
}

impl Usage {
    /// Total input tokens, cached or not.
    pub fn input_total(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_written)
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_written: self.cache_written.saturating_add(other.cache_written),
            output: self.output.saturating_add(other.output),
        }
    }
}

fn concat_text(parts: &[ContentPart]) -> String {
    let mut all = String::new();
    for part in parts {
        if let ContentPart::Text(text) = part {
            all.push_str(text);
        }
    }
    all
}

impl<M: ChatModel + ?Sized> ChatModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn reply(
        &self,
        request: &ChatRequest,
        on_event: &mut dyn FnMut(StreamEvent<'_>),
        stop: &CancelToken,
    ) -> Result<ChatResponse, ModelFailure> {
        (**self).reply(request, on_event, stop)
    }
}

impl<M: ChatModel + ?Sized> ChatModel for Box<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn reply(
        &self,
        request: &ChatRequest,
        on_event: &mut dyn FnMut(StreamEvent<'_>),
        stop: &CancelToken,
    ) -> Result<ChatResponse, ModelFailure> {
        (**self).reply(request, on_event, stop)
    }
}
