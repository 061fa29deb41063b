//! The injections that triggers can request.

/// The injection due in response to an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DueInjection {
    /// Lessons for this plan, and the request to replan if needed.
    Replan {
        /// The plan's steps, one per line, bounded: the query for lessons.
        about: String,
    },
    /// The request to store lessons.
    Store {
        /// The reason.
        why: StoreReason,
        /// Whether the user was frustrated meanwhile: the lesson is then a failure, and a strong
        /// signal.
        frustrated: bool,
    },
    /// A reminder that the session's overview is out of date.
    Overview {
        /// Rounds since it was written, or since the session began.
        rounds: u32,
    },
}

impl DueInjection {
    /// The name in the injection log.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Replan { .. } => "replan",
            Self::Store { .. } => "store",
            Self::Overview { .. } => "overview",
        }
    }
}

/// Why work is worth storing lessons from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreReason {
    /// It followed a plan with many steps.
    Plan,
    /// It took many tool calls and changed files.
    Work {
        /// Number of tool calls.
        tool_calls: u32,
    },
    /// The user was frustrated.
    Frustration,
}
