//! Progress events and results of a run.

use tome_llm::{End, Heard, ToolCall, ToolResult, Usage};

use crate::Reflection;
use crate::compaction::Compaction;

/// Progress of a run, reported to the callback of [`Agent::run`](crate::Agent::run).
#[derive(Debug, Clone, Copy)]
pub enum Said<'a> {
    /// The next piece of the model's text.
    Text(&'a str),
    /// Discard the text of this reply so far: the request failed and is being retried.
    Again,
    /// The model has started to write a tool call.
    Beginning {
        /// The tool's name.
        name: &'a str,
    },
    /// A tool is about to run.
    Calling(&'a ToolCall),
    /// A tool has finished.
    Called {
        /// The model's call.
        call: &'a ToolCall,
        /// The result of the call.
        result: &'a ToolResult,
    },
    /// Memory injected text into the conversation: lessons for a plan, the request to save what was
    /// learned, or the reminder to update the overview.
    Injected {
        /// `replan`, `store` or `overview`.
        why: &'static str,
        /// The injected text.
        text: &'a str,
    },
    /// Turns have left the context window and were summarized.
    Compacted(&'a Compaction),
    /// A reflection on turns that left the window has finished.
    Reflected(&'a Reflection),
}

impl<'a> Said<'a> {
    pub(super) fn of(heard: Heard<'a>) -> Self {
        match heard {
            Heard::Text(text) => Self::Text(text),
            Heard::Call { name } => Self::Beginning { name },
            Heard::Again => Self::Again,
        }
    }
}

/// The result of [`Agent::run`](crate::Agent::run).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// The model's final answer.
    pub text: String,
    /// Why the run ended.
    pub ended: Ended,
    /// Number of model requests.
    pub rounds: u32,
    /// Number of tool calls.
    pub calls: u32,
    /// Number of compactions.
    pub compactions: u32,
    /// Tokens used, including compactions.
    pub usage: Usage,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ended {
    /// The model finished its turn.
    #[default]
    Done,
    /// The last reply reached its token limit.
    Cut,
    /// The model refused to continue.
    Refused,
    /// The model was still calling tools when the round limit was reached.
    RoundsSpent,
    /// The run was cancelled.
    Stopped,
    /// The model or the memory failed. Only recorded in the session; [`Agent::run`](crate::Agent::run)
    /// returns the error itself.
    Failed,
}

impl Ended {
    pub(super) fn of(end: End) -> Self {
        match end {
            End::Done | End::Calls => Self::Done,
            End::Cut => Self::Cut,
            End::Refused => Self::Refused,
        }
    }

    /// The name under which the reason is recorded.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Cut => "cut",
            Self::Refused => "refused",
            Self::RoundsSpent => "rounds_spent",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }
}
