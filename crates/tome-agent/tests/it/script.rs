//! A model with scripted replies that records its requests.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use tome_agent::model::{
    CancelToken, ChatModel, ChatRequest, ChatResponse, ChatRole, ContentPart, ModelFailure,
    StopReason, StreamEvent, ToolCall, Usage,
};

type Next = Box<dyn FnMut(&ChatRequest) -> Result<ChatResponse, ModelFailure> + Send>;

pub struct Script {
    next: Mutex<Next>,
    pub requests: Mutex<Vec<ChatRequest>>,
}

impl Script {
    /// Replies with the result of a function.
    pub fn by(
        next: impl FnMut(&ChatRequest) -> Result<ChatResponse, ModelFailure> + Send + 'static,
    ) -> Arc<Self> {
        Arc::new(Self { next: Mutex::new(Box::new(next)), requests: Mutex::default() })
    }

    /// Replies with these in order, then always with `ok`.
    pub fn of(replies: Vec<Result<ChatResponse, ModelFailure>>) -> Arc<Self> {
        let mut replies = replies.into_iter();
        Self::by(move |_| replies.next().unwrap_or_else(|| Ok(says("ok"))))
    }

    pub fn last(&self) -> ChatRequest {
        self.requests.lock().unwrap().last().unwrap().clone()
    }

    pub fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

impl ChatModel for Script {
    fn name(&self) -> &str {
        "scripted/test"
    }

    fn reply(
        &self,
        request: &ChatRequest,
        on_event: &mut dyn FnMut(StreamEvent<'_>),
        _: &CancelToken,
    ) -> Result<ChatResponse, ModelFailure> {
        check(request);
        self.requests.lock().unwrap().push(request.clone());
        let reply = (self.next.lock().unwrap())(request)?;
        for part in &reply.parts {
            match part {
                ContentPart::Text(text) => on_event(StreamEvent::Text(text)),
                ContentPart::ToolCall(call) => {
                    on_event(StreamEvent::ToolCallStart { name: &call.name });
                }
                ContentPart::ToolResult(_) => {}
            }
        }
        Ok(reply)
    }
}

const USAGE: Usage = Usage { input: 10, cache_read: 5, cache_written: 1, output: 2 };

pub fn says(text: &str) -> ChatResponse {
    ChatResponse {
        parts: vec![ContentPart::Text(text.to_owned())],
        stop_reason: StopReason::EndTurn,
        usage: USAGE,
    }
}

/// A reply that calls tools: `(name, arguments)`.
pub fn calls(calls: &[(&str, &str)]) -> ChatResponse {
    let call = |(n, (name, arguments)): (usize, &(&str, &str))| {
        let (name, arguments) = ((*name).to_owned(), (*arguments).to_owned());
        ContentPart::ToolCall(ToolCall { id: format!("c{n}"), name, arguments })
    };
    let parts = calls.iter().enumerate().map(call).collect();
    ChatResponse { parts, stop_reason: StopReason::ToolCalls, usage: USAGE }
}

/// Checks the rules that every provider enforces.
pub fn check(request: &ChatRequest) {
    let messages = &request.messages;
    assert_eq!(messages.first().map(|first| first.role), Some(ChatRole::User), "{messages:#?}");
    assert_eq!(messages.last().map(|last| last.role), Some(ChatRole::User), "{messages:#?}");
    let mut open: Vec<String> = Vec::new();
    for pair in messages.windows(2) {
        assert_ne!(pair[0].role, pair[1].role, "{messages:#?}");
    }
    for message in messages {
        assert!(!message.parts.is_empty());
        let results: Vec<String> = message
            .parts
            .iter()
            .filter_map(|part| match part {
                ContentPart::ToolResult(result) => Some(result.id.clone()),
                _ => None,
            })
            .collect();
        assert_eq!(results, open, "each call has its result, in the message behind it");
        open.clear();
        let mut is_behind_results = false;
        for part in &message.parts {
            match part {
                ContentPart::Text(text) => {
                    assert!(!text.is_empty());
                    is_behind_results = true;
                }
                ContentPart::ToolCall(call) => {
                    assert_eq!(message.role, ChatRole::Assistant);
                    open.push(call.id.clone());
                }
                ContentPart::ToolResult(result) => {
                    assert_eq!(message.role, ChatRole::User);
                    assert!(!is_behind_results && !result.text.is_empty(), "{message:#?}");
                }
            }
        }
        assert_eq!(open.iter().collect::<HashSet<_>>().len(), open.len(), "{open:?}");
    }
    assert!(open.is_empty());
}

/// All texts of a request.
pub fn words(request: &ChatRequest) -> String {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let words = parts.map(|part| match part {
        ContentPart::Text(text) => text.as_str(),
        ContentPart::ToolCall(call) => call.arguments.as_str(),
        ContentPart::ToolResult(result) => result.text.as_str(),
    });
    words.collect::<Vec<_>>().join("\n")
}
