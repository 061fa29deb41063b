//! Decides whether a session has enough activity for a reflection.
//!
//! | activity | |
//! | --- | --- |
//! | fewer than 6 messages | skipped |
//! | fewer than 2 messages from the user | skipped |
//! | one reply without tool calls | skipped |
//! | anything else | reflected on |

use std::collections::BTreeSet;

use tome_model::{Event, EventKind};

const MESSAGES_MIN: usize = 6;
const USER_MESSAGES_MIN: usize = 2;

/// Counts of what happened in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionActivity {
    /// Prompts, replies and tool results.
    pub messages: usize,
    /// Prompts of the user.
    pub user_messages: usize,
    /// Replies of the model.
    pub replies: usize,
    /// Tool calls.
    pub tool_calls: usize,
}

/// Why a session is not worth reflecting on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkipReason {
    /// Too few messages.
    FewMessages,
    /// Too few messages from the user.
    FewUserMessages,
    /// A single reply without tool calls.
    NoToolCalls,
}

/// Returns why to skip a session, or `None` if it is worth reflecting on.
pub fn find_skip_reason(activity: &SessionActivity) -> Option<SkipReason> {
    match activity {
        SessionActivity { messages, .. } if *messages < MESSAGES_MIN => {
            Some(SkipReason::FewMessages)
        }
        SessionActivity { user_messages: from_user, .. } if *from_user < USER_MESSAGES_MIN => {
            Some(SkipReason::FewUserMessages)
        }
        SessionActivity { replies: 0 | 1, tool_calls: 0, .. } => Some(SkipReason::NoToolCalls),
        _ => None,
    }
}

impl SessionActivity {
    /// Counts the events of any agent's session.
    pub fn from_events(events: &[Event]) -> Self {
        let mut counted = Self::default();
        // Calls with the same step belong to one reply. Without steps, each call counts as a reply.
        let mut steps = BTreeSet::new();
        for event in events {
            match event.kind {
                EventKind::UserMessage => counted.user_messages += 1,
                EventKind::AssistantMessage | EventKind::AssistantStop if event.text.is_empty() => {
                    continue;
                }
                EventKind::AssistantStop => counted.replies += 1,
                EventKind::AssistantMessage | EventKind::ToolResult => {
                    let step = event.meta.get("step").and_then(|step| step.as_str());
                    let is_new = steps.insert(step.unwrap_or(event.id.as_str()));
                    counted.replies += usize::from(is_new);
                    counted.tool_calls += usize::from(event.kind == EventKind::ToolResult);
                }
                _ => continue,
            }
            counted.messages += 1;
        }
        counted
    }
}

impl SkipReason {
    /// A description for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FewMessages => "fewer than 6 messages",
            Self::FewUserMessages => "fewer than 2 messages from the user",
            Self::NoToolCalls => "one reply without tool calls",
        }
    }
}
