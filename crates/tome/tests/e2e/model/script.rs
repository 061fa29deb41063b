//! Steps of a scripted model.

use serde_json::Value;

/// The response to one request.
#[derive(Debug, Clone)]
pub enum Step {
    /// Calls tools in parallel.
    Use(Vec<Call>),
    /// Replies and ends the turn.
    Say(&'static str),
    /// Replies and calls tools; the turn continues.
    SayAndUse(&'static str, Vec<Call>),
}

#[derive(Debug, Clone)]
pub struct Call {
    /// The group of the tool, for agents with tool groups (Codex).
    pub group: Option<&'static str>,
    pub tool: &'static str,
    pub arguments: Value,
}

impl Step {
    /// Returns text and calls.
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
