//! The tools, implemented once for every face: their schemas, their arguments, their answers.

use std::sync::Arc;

use serde_json::Value;

use crate::{Notebooks, Redactor};

/// The tools over the notebooks.
#[allow(dead_code)]
pub struct Tools {
    notebooks: Arc<Notebooks>,
    redactor: Arc<Redactor>,
}

/// One tool as it is offered.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// The set it belongs to: `notes`, `coder` or `anthropic`.
    pub toolset: &'static str,
    /// What it does, for a model.
    pub description: &'static str,
    /// The JSON schema of its arguments.
    pub schema: Value,
}

/// Who calls, and from where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// The working directory, absolute; says which project is meant.
    pub cwd: Option<String>,
    /// The agent; `None` for a person.
    pub agent: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// The command a person used (`tome memory write`), for the history instead of the tool's name.
    pub command: Option<String>,
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// For a model to read: the tool's own words, or its JSON.
    pub text: String,
    /// For a program: a JSON value. Of a failure `{"error": …, "kind": …}`.
    pub json: Value,
    /// Set when the tool refused or failed; nothing was changed then.
    pub failure: Option<Failure>,
    /// Secrets that were cut from what was to be written.
    pub secrets_cut: usize,
}

/// Why a tool did not do it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// The arguments cannot be taken.
    Invalid,
    /// What was asked for is not there.
    NotFound,
    /// It was changed since it was read, or exists already.
    Conflict,
    /// The disk or the notebook failed.
    Failed,
}

#[allow(unused_variables, clippy::todo)]
impl Tools {
    /// The tools over these notebooks. What they write is redacted first.
    pub fn new(notebooks: Arc<Notebooks>, redactor: Arc<Redactor>) -> Self {
        Self { notebooks, redactor }
    }

    /// Every tool there is.
    pub fn list() -> Vec<ToolSpec> {
        todo!()
    }

    /// Calls a tool with a JSON object; `None` when there is no tool of this name.
    pub fn call(&self, name: &str, arguments: &str, caller: &Caller) -> Option<ToolAnswer> {
        todo!()
    }
}
