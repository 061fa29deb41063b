//! The current turn as seen by the script: the latest prompt, the tool calls since then, and the
//! injections in between.

use serde_json::Value;
use tome_engine::strip_fence;
use tome_llm::{ChatRequest, ChatResponse, ChatRole, ContentPart, ToolCall, ToolResult};

/// Prefixes of user messages that the program writes, not the person.
const PROGRAM_PREFIXES: [&str; 6] = [
    "Available memory:",
    "Earlier turns have left this context",
    "The task at hand, as the person put it",
    "(The conversation goes on.)",
    "<context_meta>",
    "<tome-memory",
];

pub struct OfflineTurn<'t> {
    pub prompt: &'t str,
    pub done: Vec<CompletedCall<'t>>,
    /// Injections since the prompt.
    pub notes: Vec<&'t str>,
    /// Earlier calls, to make new ids unique.
    calls_before: usize,
}

pub struct CompletedCall<'t> {
    pub call: &'t ToolCall,
    pub result: &'t ToolResult,
}

impl<'t> OfflineTurn<'t> {
    pub fn from_request(request: &'t ChatRequest) -> Self {
        let mut turn = Self { prompt: "", done: Vec::new(), notes: Vec::new(), calls_before: 0 };
        let mut calls: Vec<&'t ToolCall> = Vec::new();
        for message in &request.messages {
            for part in &message.parts {
                match part {
                    ContentPart::Text(text) if message.role == ChatRole::User => {
                        turn.add_user_text(text);
                    }
                    ContentPart::Text(_) => {}
                    ContentPart::ToolCall(call) => {
                        turn.calls_before += 1;
                        calls.push(call);
                    }
                    ContentPart::ToolResult(result) => {
                        let call = calls.iter().rev().find(|call| call.id == result.id);
                        turn.done.extend(call.map(|call| CompletedCall { call, result }));
                    }
                }
            }
        }
        turn
    }

    fn add_user_text(&mut self, text: &'t str) {
        let opening = PROGRAM_PREFIXES.iter().find(|opening| text.starts_with(**opening));
        match opening {
            Some(&"<tome-memory") => self.notes.push(text),
            Some(_) => {}
            None => {
                self.prompt = text;
                self.done.clear();
                self.notes.clear();
            }
        }
    }

    pub fn last_call(&self, tool: &str) -> Option<&CompletedCall<'t>> {
        self.done.iter().rev().find(|done| done.call.name == tool)
    }

    pub fn call_tools(&self, text: &str, calls: Vec<(&str, Value)>) -> ChatResponse {
        let calls = calls.into_iter().enumerate().map(|(n, (name, arguments))| ToolCall {
            id: format!("offline-{}", self.calls_before + n),
            name: name.to_owned(),
            arguments: arguments.to_string(),
        });
        ChatResponse::from_calls(text, calls)
    }
}

impl CompletedCall<'_> {
    /// Returns the result, unless the call failed.
    pub fn text(&self) -> Option<&str> {
        (!self.result.failed).then(|| strip_fence(&self.result.text))
    }

    /// Returns the path in the call's arguments.
    pub fn path(&self) -> String {
        let given: Value = serde_json::from_str(&self.call.arguments).unwrap_or_default();
        given.get("path").and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}
