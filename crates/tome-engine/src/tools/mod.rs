//! The tools for agents, implemented once for every interface (MCP, gRPC, library): schemas,
//! arguments, answers. `registry.rs` has one row per tool.
//!
//! A tool parses all its arguments before it acts, so bad input changes nothing. Everything it
//! writes is redacted first. Answers are bounded in size.

mod answer;
mod anthropic;
mod args;
mod call;
mod coder;
mod contents;
mod notes;
mod quoting;
mod recall;
mod registry;
mod session_page;
mod show;
mod toolsets;
mod topics;

use std::sync::Arc;

use serde_json::Value;

use tome_contents::Contents;
use tome_home::Notebooks;
use tome_recall::Recall;
use tome_redact::Redactor;

use answer::ToolError;
use args::ToolArgs;
use call::ToolInvocation;

use crate::topics::Topics;

pub use toolsets::{CORE_TOOLS, DEFAULT_TOOLSET, Toolsets};

/// The tools over notebooks, contents and recall.
pub struct Tools {
    notebooks: Arc<Notebooks>,
    contents: Option<Arc<Contents>>,
    recall: Option<Arc<Recall>>,
    topics: Option<Arc<Topics>>,
    redactor: Arc<Redactor>,
}

/// Name, schema and effect of one tool.
#[derive(Debug, Clone)]
pub struct ToolSpec {
    /// Name, as in a call.
    pub name: &'static str,
    /// Its toolset: `recall`, `notes`, `coder`, `contents`, `topics` or `anthropic`.
    pub toolset: &'static str,
    /// Description for the model.
    pub description: &'static str,
    /// JSON schema of its arguments.
    pub schema: Value,
    /// Effect of a call on stored data.
    pub effect: ToolEffect,
    run: ToolFn,
}

/// Effect of a call on stored data. Replaced and deleted content stays in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    /// Only reads.
    Reads,
    /// Adds; a repeated call adds again.
    Adds,
    /// Replaces text; a repeated call may replace more.
    Replaces,
    /// Replaces or deletes; a repeated call changes nothing more.
    ReplacesIdempotently,
}

/// The caller of a tool and its context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caller {
    /// Absolute working directory; determines the project.
    pub cwd: Option<String>,
    /// The agent; `None` for a person.
    pub agent: Option<String>,
    /// The agent's session.
    pub session: Option<String>,
    /// The command a person used (`tome memory write`), recorded in the history instead of the
    /// tool's name.
    pub command: Option<String>,
}

/// Answer of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolAnswer {
    /// For a model: a sentence or JSON. Recorded text is quoted, unless the caller is a person.
    pub text: String,
    /// For programs: JSON with verbatim texts. For a failure, `{"error": …, "kind": …}`.
    pub json: Value,
    /// Set if the tool refused or failed; nothing was changed then.
    pub failure: Option<ToolFailure>,
    /// Number of texts that were redacted before they were written.
    pub secrets_cut: usize,
}

/// Kinds of failures of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolFailure {
    /// The arguments are invalid.
    Invalid,
    /// The requested item does not exist.
    NotFound,
    /// The note changed since it was read, or exists already.
    Conflict,
    /// The disk or the notebook failed.
    Failed,
}

impl ToolFailure {
    /// The name in an answer's JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::NotFound => "not_found",
            Self::Conflict => "conflict",
            Self::Failed => "failed",
        }
    }
}

impl Tools {
    /// Creates the tools over notebooks; everything they write is redacted first.
    pub fn new(notebooks: Arc<Notebooks>, redactor: Arc<Redactor>) -> Self {
        Self { notebooks, contents: None, recall: None, topics: None, redactor }
    }

    /// Adds the contents; without them, the tools that read them return an error.
    #[must_use]
    pub fn with_contents(mut self, contents: Arc<Contents>) -> Self {
        self.contents = Some(contents);
        self
    }

    /// Adds recall; without it, the tools that use it return an error.
    #[must_use]
    pub fn with_recall(mut self, recall: Arc<Recall>) -> Self {
        self.recall = Some(recall);
        self
    }

    /// Adds topics; without them, the tools that read them return an error.
    #[must_use]
    pub fn with_topics(mut self, topics: Arc<Topics>) -> Self {
        self.topics = Some(topics);
        self
    }

    /// Lists all tools.
    pub fn specs() -> Vec<ToolSpec> {
        registry::all_tools().to_vec()
    }

    /// Calls a tool with a JSON object; `None` if there is no tool of this name.
    pub fn call(&self, name: &str, arguments: &str, caller: &Caller) -> Option<ToolAnswer> {
        let tool = registry::find_tool(name)?;
        let call = ToolInvocation::new(self, tool.name, caller);
        let args = ToolArgs::parse(tool.name, arguments);
        let answer = args.and_then(|mut args| (tool.run)(&call, &mut args));
        let answer =
            answer.map_or_else(ToolError::into_answer, |answer| call.add_redactions(answer));
        Some(if call.is_for_person() { answer } else { quoting::quote_answer(tool, answer) })
    }
}

/// The implementation of a tool: parses all arguments, then acts.
type ToolFn = fn(&ToolInvocation<'_>, &mut ToolArgs) -> Result<ToolAnswer, ToolError>;
