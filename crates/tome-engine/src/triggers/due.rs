//! What is due.

/// What is due, in answer to the event that was just seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Due {
    /// The best insights for this plan, and the request to replan if needed.
    Replan {
        /// The plan's steps, one a line, bounded: what to recall insights by.
        about: String,
    },
    /// The request to store what was learned.
    Store {
        /// What made the work worth it.
        why: Why,
        /// Whether the person was frustrated meanwhile: the lesson is a failure, and a strong one.
        frustrated: bool,
    },
    /// A reminder that the session's overview has not changed for a while.
    Overview {
        /// Rounds since it was written, or since the session began.
        rounds: u32,
    },
}

impl Due {
    /// Its name, for lists of what was injected.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Replan { .. } => "replan",
            Self::Store { .. } => "store",
            Self::Overview { .. } => "overview",
        }
    }
}

/// What made work worth storing lessons of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// It followed a plan with many steps.
    Plan,
    /// It took many tool calls, and something was changed.
    Work {
        /// How many.
        tool_calls: u32,
    },
    /// The person's words: something went wrong.
    Frustration,
}
