//! What a script is made of.

use serde_json::Value;

/// What the model answers to one request.
#[derive(Debug, Clone)]
pub enum Step {
    /// It calls tools, all at once.
    Use(Vec<Call>),
    /// It says something, and its turn is over.
    Say(&'static str),
}

/// A call of a tool.
#[derive(Debug, Clone)]
pub struct Call {
    /// The group that the tool is in, where the agent groups its tools (Codex).
    pub group: Option<&'static str>,
    pub tool: &'static str,
    pub arguments: Value,
}

impl Call {
    pub fn new(tool: &'static str, arguments: Value) -> Self {
        Self { group: None, tool, arguments }
    }

    pub fn within(self, group: &'static str) -> Self {
        Self { group: Some(group), ..self }
    }
}
