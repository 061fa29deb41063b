//! The tools, implemented once for every face: their schemas, their arguments, their answers.
//!
//! A tool takes all of its arguments before it does anything, so that bad input changes nothing.
//! Everything it would write is redacted first. An answer is bounded, whatever came in.

mod answer;
mod anthropic;
mod args;
mod call;
mod coder;
mod contents;
mod notes;
mod quoted;
mod recall;
mod show;
mod specs;

use std::sync::Arc;

use serde_json::Value;

use tome_contents::Calendar;
use tome_home::Notebooks;
use tome_recall::Recall;
use tome_redact::Redactor;

use answer::Refusal;
use args::Args;
use call::Call;

/// The tools over the notebooks, the contents and recall.
pub struct Tools {
    notebooks: Arc<Notebooks>,
    calendar: Option<Arc<Calendar>>,
    recall: Option<Arc<Recall>>,
    redactor: Arc<Redactor>,
}

/// One tool as it is offered.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: &'static str,
    /// The set it belongs to: `recall`, `notes`, `coder`, `contents` or `anthropic`.
    pub toolset: &'static str,
    /// What it does, for a model.
    pub description: &'static str,
    /// The JSON schema of its arguments.
    pub schema: Value,
    /// What a call does to what is kept.
    pub effect: Effect,
}

/// What calling a tool does to what is kept. Whatever it replaces or deletes stays in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It only looks.
    Reads,
    /// It adds, and adds again when it is called again.
    Adds,
    /// It replaces text; called again, it may replace more.
    Replaces,
    /// It replaces or deletes; the same call again changes nothing more.
    Settles,
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
    /// For a model to read: the tool's own words, or its JSON. Recorded text is quoted in it, unless a
    /// person called.
    pub text: String,
    /// For a program: a JSON value, with texts as they were recorded. Of a failure
    /// `{"error": …, "kind": …}`.
    pub json: Value,
    /// Set when the tool refused or failed; nothing was changed then.
    pub failure: Option<Failure>,
    /// Texts from which secrets were cut before they were written.
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

impl Failure {
    /// As it stands in an answer's JSON.
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
    /// The tools over these notebooks. What they write is redacted first.
    pub fn new(notebooks: Arc<Notebooks>, redactor: Arc<Redactor>) -> Self {
        Self { notebooks, calendar: None, recall: None, redactor }
    }

    /// The same with the contents. Without them, the tools that read them say so.
    #[must_use]
    pub fn with_calendar(mut self, calendar: Arc<Calendar>) -> Self {
        self.calendar = Some(calendar);
        self
    }

    /// The same with recall. Without it, the tools that ask it say so.
    #[must_use]
    pub fn with_recall(mut self, recall: Arc<Recall>) -> Self {
        self.recall = Some(recall);
        self
    }

    /// Every tool there is.
    pub fn list() -> Vec<ToolSpec> {
        specs::all()
    }

    /// Calls a tool with a JSON object; `None` when there is no tool of this name.
    pub fn call(&self, name: &str, arguments: &str, caller: &Caller) -> Option<ToolAnswer> {
        let (tool, run) = runner(name)?;
        let call = Call::new(self, tool, caller);
        let answer = Args::parse(tool, arguments).and_then(|mut args| run(&call, &mut args));
        let answer = answer.map_or_else(Refusal::into_answer, |answer| call.sign(answer));
        Some(if call.is_for_person() { answer } else { quoted::quote_answer(tool, answer) })
    }
}

/// What a tool does: takes its arguments, all of them, then acts.
type Run = fn(&Call<'_>, &mut Args) -> Result<ToolAnswer, Refusal>;

fn runner(name: &str) -> Option<(&'static str, Run)> {
    Some(match name {
        "recall_memory" => ("recall_memory", recall::recall_memory),
        "memory_show" => ("memory_show", show::memory_show),
        "teleport_query" => ("teleport_query", recall::teleport_query),
        "memory_list" => ("memory_list", notes::list),
        "memory_view" => ("memory_view", notes::view),
        "memory_read" => ("memory_read", notes::read),
        "memory_write" => ("memory_write", notes::write),
        "memory_append" => ("memory_append", notes::append),
        "memory_patch" => ("memory_patch", notes::patch),
        "memory_update" => ("memory_update", notes::update),
        "memory_delete" => ("memory_delete", notes::delete),
        "coder_memory_recall" => ("coder_memory_recall", coder::recall),
        "coder_memory_store" => ("coder_memory_store", coder::store),
        "get_toc_root" => ("get_toc_root", contents::get_toc_root),
        "get_node" => ("get_node", contents::get_node),
        "browse_toc" => ("browse_toc", contents::browse_toc),
        "get_events" => ("get_events", contents::get_events),
        "expand_grip" => ("expand_grip", contents::expand_grip),
        "memory" => ("memory", anthropic::memory),
        _ => return None,
    })
}
