//! Progress events and results of a run.

use tome_llm::{StopReason, StreamEvent, ToolCall, ToolResult, Usage};

use crate::Reflection;
use crate::compaction::Compaction;

/// Progress of a run, reported to the callback of [`AgentLoop::run`](crate::AgentLoop::run).
#[derive(Debug, Clone, Copy)]
pub enum AgentEvent<'a> {
    /// The next piece of the model's text.
    Text(&'a str),
    /// Discard the text of this reply so far: the request failed and is being retried.
    Retry,
    /// The model has started to write a tool call.
    ToolCallStart {
        /// The tool's name.
        name: &'a str,
    },
    /// A tool is about to run.
    ToolStart(&'a ToolCall),
    /// A tool has finished.
    ToolEnd {
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

impl<'a> AgentEvent<'a> {
    pub(super) fn from_stream_event(event: StreamEvent<'a>) -> Self {
        match event {
            StreamEvent::Text(text) => Self::Text(text),
            StreamEvent::ToolCallStart { name } => Self::ToolCallStart { name },
            StreamEvent::Retry => Self::Retry,
        }
    }
}

/// The result of [`AgentLoop::run`](crate::AgentLoop::run).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentRun {
    /// The model's final answer.
    pub text: String,
    /// Why the run ended.
    pub finish_reason: FinishReason,
    /// Number of model requests.
    pub rounds: u32,
    /// Number of tool calls.
    pub tool_calls: u32,
    /// Number of compactions.
    pub compactions: u32,
    /// Tokens used, including compactions.
    pub usage: Usage,
}

/// Why a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FinishReason {
    /// The model finished its turn.
    #[default]
    Done,
    /// The last reply reached its token limit.
    MaxTokens,
    /// The model refused to continue.
    Refusal,
    /// The model was still calling tools when the round limit was reached.
    MaxRounds,
    /// The run was cancelled.
    Cancelled,
    /// The model or the memory failed. Only recorded in the session; [`AgentLoop::run`](crate::AgentLoop::run)
    /// returns the error itself.
    Failed,
}

impl FinishReason {
    pub(super) fn from_stop_reason(end: StopReason) -> Self {
        match end {
            StopReason::EndTurn | StopReason::ToolCalls => Self::Done,
            StopReason::MaxTokens => Self::MaxTokens,
            StopReason::Refusal => Self::Refusal,
        }
    }

    /// The name under which the reason is recorded.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::MaxTokens => "cut",
            Self::Refusal => "refused",
            Self::MaxRounds => "rounds_spent",
            Self::Cancelled => "stopped",
            Self::Failed => "failed",
        }
    }
}
