//! The current turn as seen by the script: the latest prompt, the tool calls since then, and the
//! injections in between.

use serde_json::Value;
use tome_engine::fenced_body;
use tome_llm::{Part, Reply, Role, Talk, ToolCall, ToolResult};

/// Prefixes of user messages that the program writes, not the person.
const OF_THE_PROGRAM: [&str; 6] = [
    "Available memory:",
    "Earlier turns have left this context",
    "The task at hand, as the person put it",
    "(The conversation goes on.)",
    "<context_meta>",
    "<tome-memory",
];

pub struct Turn<'t> {
    pub prompt: &'t str,
    pub done: Vec<Done<'t>>,
    /// Injections since the prompt.
    pub notes: Vec<&'t str>,
    /// Earlier calls, to make new ids unique.
    calls_before: usize,
}

pub struct Done<'t> {
    pub call: &'t ToolCall,
    pub result: &'t ToolResult,
}

impl<'t> Turn<'t> {
    pub fn of(talk: &'t Talk) -> Self {
        let mut turn = Self { prompt: "", done: Vec::new(), notes: Vec::new(), calls_before: 0 };
        let mut calls: Vec<&'t ToolCall> = Vec::new();
        for message in &talk.messages {
            for part in &message.parts {
                match part {
                    Part::Text(text) if message.role == Role::User => turn.hear(text),
                    Part::Text(_) => {}
                    Part::Call(call) => {
                        turn.calls_before += 1;
                        calls.push(call);
                    }
                    Part::Result(result) => {
                        let call = calls.iter().rev().find(|call| call.id == result.id);
                        turn.done.extend(call.map(|call| Done { call, result }));
                    }
                }
            }
        }
        turn
    }

    fn hear(&mut self, text: &'t str) {
        let opening = OF_THE_PROGRAM.iter().find(|opening| text.starts_with(**opening));
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

    pub fn last(&self, tool: &str) -> Option<&Done<'t>> {
        self.done.iter().rev().find(|done| done.call.name == tool)
    }

    pub fn calls(&self, said: &str, calls: Vec<(&str, Value)>) -> Reply {
        let calls = calls.into_iter().enumerate().map(|(n, (name, arguments))| ToolCall {
            id: format!("offline-{}", self.calls_before + n),
            name: name.to_owned(),
            arguments: arguments.to_string(),
        });
        Reply::calling(said, calls)
    }
}

impl Done<'_> {
    /// Returns the result, unless the call failed.
    pub fn text(&self) -> Option<&str> {
        (!self.result.failed).then(|| fenced_body(&self.result.text))
    }

    /// Returns the path in the call's arguments.
    pub fn path(&self) -> String {
        let given: Value = serde_json::from_str(&self.call.arguments).unwrap_or_default();
        given.get("path").and_then(Value::as_str).unwrap_or_default().to_owned()
    }
}
