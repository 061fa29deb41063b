//! What a conversation with a model is made of: messages, tool calls and their results, the tools on
//! offer, and what comes back, as it comes.
//!
//! The types are no provider's: each client translates them. Nothing here is split that a provider
//! wants whole; who builds a [`Talk`] keeps a call together with its result.

use std::sync::Arc;

use serde_json::Value;
use tome_text::budget_tokens;

use crate::{ModelFailure, Stop};

/// Takes part in a conversation. A call blocks until the reply is whole, the time is up, or `stop`
/// is thrown.
pub trait ChatModel: Send + Sync {
    /// Its name: `anthropic/claude-…`, `openai/…`.
    fn name(&self) -> &str;

    /// The next reply. What the model says is handed to `heard` piece by piece as it arrives.
    fn reply(
        &self,
        talk: &Talk,
        heard: &mut dyn FnMut(Heard<'_>),
        stop: &Stop,
    ) -> Result<Reply, ModelFailure>;
}

/// One request: everything the model is to see.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Talk {
    /// What stays the same from request to request comes first.
    pub system: Vec<SystemPart>,
    /// The tools on offer.
    pub tools: Vec<OfferedTool>,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// The reply may have so many tokens.
    pub tokens_max: u32,
}

/// A piece of the system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPart {
    /// Its words.
    pub text: String,
    /// What comes up to here stays the same: a provider's prefix cache may end here.
    pub cache_until_here: bool,
}

/// A tool as the model is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

/// One turn of the conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said, in order.
    pub parts: Vec<Part>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The person, or what answers in their stead: results of tools, notes of the program.
    User,
    /// The model.
    Assistant,
}

/// One piece of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Words.
    Text(String),
    /// The model wants a tool called. Only from the assistant.
    Call(ToolCall),
    /// What the tool answered. Only from the user, in the message after the call.
    Result(ToolResult),
}

/// One tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// Ties it to its result.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// The arguments as the model wrote them: meant to be a JSON object, and not always one.
    pub arguments: String,
}

/// What became of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call's id.
    pub id: String,
    /// What the model reads.
    pub text: String,
    /// Whether the tool refused or failed.
    pub failed: bool,
}

/// A piece of a reply on its way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard<'a> {
    /// The next words.
    Text(&'a str),
    /// A tool call has begun; its arguments follow with the whole reply.
    Call {
        /// Which tool.
        name: &'a str,
    },
    /// What came so far does not count: the reply failed on its way and is asked for again.
    Again,
}

/// A whole reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Text and calls, in order.
    pub parts: Vec<Part>,
    /// Why it ended.
    pub end: End,
    /// What it cost.
    pub usage: Usage,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The model has said what it wanted to say.
    Done,
    /// It waits for the results of its calls.
    Calls,
    /// There was no more room for it.
    Cut,
    /// It does not want to go on with this.
    Refused,
}

/// Tokens of one reply, or of many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Read afresh.
    pub input: u64,
    /// Read from the provider's cache.
    pub cache_read: u64,
    /// Read, and put into the cache.
    pub cache_written: u64,
    /// Said.
    pub output: u64,
}

impl Message {
    /// The person's words.
    pub fn user(text: impl Into<String>) -> Self {
        Self { role: Role::User, parts: vec![Part::Text(text.into())] }
    }

    /// The model's words.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self { role: Role::Assistant, parts: vec![Part::Text(text.into())] }
    }

    /// Its words, without calls and results.
    pub fn text(&self) -> String {
        text_of(&self.parts)
    }
}

impl Reply {
    /// Words, and nothing to follow; what they cost is estimated.
    pub fn said(text: impl Into<String>) -> Self {
        let text = text.into();
        let usage = Usage { output: budget_tokens(&text), ..Usage::default() };
        Self { parts: vec![Part::Text(text)], end: End::Done, usage }
    }

    /// Tools to be called, after words where there are any; what they cost is estimated.
    pub fn calling(text: &str, calls: impl IntoIterator<Item = ToolCall>) -> Self {
        let words = (!text.is_empty()).then(|| Part::Text(text.to_owned()));
        let parts: Vec<Part> = words.into_iter().chain(calls.into_iter().map(Part::Call)).collect();
        let output = parts.iter().map(Part::budget_tokens).sum();
        Self { parts, end: End::Calls, usage: Usage { output, ..Usage::default() } }
    }

    /// Its words.
    pub fn text(&self) -> String {
        text_of(&self.parts)
    }

    /// The tools it wants called, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::Call(call) => Some(call),
            Part::Text(_) | Part::Result(_) => None,
        })
    }
}

impl Talk {
    /// About how many tokens the model has to read, rather more than fewer; see [`budget_tokens`].
    pub fn budget_tokens(&self) -> u64 {
        let system = self.system.iter().map(|part| budget_tokens(&part.text));
        let tools = self.tools.iter().map(|tool| {
            budget_tokens(&tool.name)
                .saturating_add(budget_tokens(&tool.description))
                .saturating_add(budget_tokens(&tool.schema.to_string()))
        });
        let messages = self.messages.iter().flat_map(|message| &message.parts);
        let parts = messages.map(Part::budget_tokens);
        system.chain(tools).chain(parts).fold(0, u64::saturating_add)
    }
}

impl Part {
    /// About how many tokens it has.
    pub fn budget_tokens(&self) -> u64 {
        match self {
            Self::Text(text) => budget_tokens(text),
            Self::Call(call) => {
                budget_tokens(&call.name).saturating_add(budget_tokens(&call.arguments))
            }
            Self::Result(result) => budget_tokens(&result.text),
        }
    }
}

impl Usage {
    /// Everything the model read.
    pub fn read(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_written)
    }

    /// Both together.
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

fn text_of(parts: &[Part]) -> String {
    let mut said = String::new();
    for part in parts {
        if let Part::Text(text) = part {
            said.push_str(text);
        }
    }
    said
}

impl<M: ChatModel + ?Sized> ChatModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn reply(
        &self,
        talk: &Talk,
        heard: &mut dyn FnMut(Heard<'_>),
        stop: &Stop,
    ) -> Result<Reply, ModelFailure> {
        (**self).reply(talk, heard, stop)
    }
}

impl<M: ChatModel + ?Sized> ChatModel for Box<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn reply(
        &self,
        talk: &Talk,
        heard: &mut dyn FnMut(Heard<'_>),
        stop: &Stop,
    ) -> Result<Reply, ModelFailure> {
        (**self).reply(talk, heard, stop)
    }
}
