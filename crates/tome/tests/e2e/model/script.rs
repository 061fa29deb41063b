//! What a script is made of.

use serde_json::Value;

/// What the model answers to one request.
#[derive(Debug, Clone)]
pub enum Step {
    /// It calls tools, all at once.
    Use(Vec<Call>),
    /// It says something, and its turn is over.
    Say(&'static str),
    /// It says something and calls tools: its turn goes on.
    SayAndUse(&'static str, Vec<Call>),
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct Call {
    /// The group that the tool is in, where the agent groups its tools (Codex).
    pub group: Option<&'static str>,
    pub tool: &'static str,
    pub arguments: Value,
}

impl Step {
    /// What it says, and what it calls.
    pub fn parts(&self) -> (Option<&str>, &[Call]) {
        match self {
            Self::Use(calls) => (None, calls),
            Self::Say(text) => (Some(text), &[]),
            Self::SayAndUse(text, calls) => (Some(text), calls),
        }
    }
}

impl Call {
    pub fn new(tool: &'static str, arguments: Value) -> Self {
        Self { group: None, tool, arguments }
    }

    pub fn within(self, group: &'static str) -> Self {
        Self { group: Some(group), ..self }
    }
}
