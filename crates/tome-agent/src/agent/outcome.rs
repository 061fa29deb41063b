//! What an agent tells while it works, and when it is done.

use tome_llm::{End, Heard, ToolCall, ToolResult, Usage};

use crate::Reflection;
use crate::compaction::Compaction;

/// Something that happened on the way.
#[derive(Debug, Clone, Copy)]
pub enum Said<'a> {
    /// The next words of the model.
    Text(&'a str),
    /// What came of this reply so far does not count: it is asked for again.
    Again,
    /// The model begins to write a call.
    Beginning {
        /// Of which tool.
        name: &'a str,
    },
    /// A tool is about to be run.
    Calling(&'a ToolCall),
    /// A tool was run.
    Called {
        /// The call.
        call: &'a ToolCall,
        /// What came of it.
        result: &'a ToolResult,
    },
    /// Memory spoke up: lessons for a plan, the request to store, the reminder of the overview.
    Injected {
        /// `replan`, `store` or `overview`.
        why: &'static str,
        /// What the model was told.
        text: &'a str,
    },
    /// Turns have left the window.
    Compacted(&'a Compaction),
    /// Turns that left the window were reflected on.
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

/// A run that is over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Run {
    /// The answer: what the model said when it was done.
    pub text: String,
    /// How it ended.
    pub ended: Ended,
    /// Replies that were asked for.
    pub rounds: u32,
    /// Tools that were called.
    pub calls: u32,
    /// Times that turns left the window.
    pub compactions: u32,
    /// What it cost, compactions included.
    pub usage: Usage,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ended {
    /// The model was done.
    #[default]
    Done,
    /// Its last reply was cut off: there was no more room for it.
    Cut,
    /// It did not want to go on.
    Refused,
    /// It called tools until the rounds were used up.
    RoundsSpent,
    /// The person stopped it.
    Stopped,
    /// The model failed, or memory did not take what happened. (`Agent::run` says how, as an error.)
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

    /// Its name.
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
