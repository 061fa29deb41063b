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
const FROM_USER_MIN: usize = 2;

/// Counts of what happened in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Activity {
    /// Prompts, replies and tool results.
    pub messages: usize,
    /// Prompts of the user.
    pub from_user: usize,
    /// Replies of the model.
    pub iterations: usize,
    /// Tool calls.
    pub actions: usize,
}

/// Why a session is not worth reflecting on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// Too few messages.
    FewMessages,
    /// Too few messages from the user.
    FewFromUser,
    /// A single reply without tool calls.
    NoAction,
}

/// Returns why to skip a session, or `None` if it is worth reflecting on.
pub fn gate(activity: &Activity) -> Option<Skip> {
    match activity {
        Activity { messages, .. } if *messages < MESSAGES_MIN => Some(Skip::FewMessages),
        Activity { from_user, .. } if *from_user < FROM_USER_MIN => Some(Skip::FewFromUser),
        Activity { iterations: 0 | 1, actions: 0, .. } => Some(Skip::NoAction),
        _ => None,
    }
}

impl Activity {
    /// Counts the events of any agent's session.
    pub fn of(events: &[Event]) -> Self {
        let mut counted = Self::default();
        // Calls with the same step belong to one reply. Without steps, each call counts as a reply.
        let mut steps = BTreeSet::new();
        for event in events {
            match event.kind {
                EventKind::UserMessage => counted.from_user += 1,
                EventKind::AssistantMessage | EventKind::AssistantStop if event.text.is_empty() => {
                    continue;
                }
                EventKind::AssistantStop => counted.iterations += 1,
                EventKind::AssistantMessage | EventKind::ToolResult => {
                    let step = event.meta.get("step").and_then(|step| step.as_str());
                    let is_new = steps.insert(step.unwrap_or(event.id.as_str()));
                    counted.iterations += usize::from(is_new);
                    counted.actions += usize::from(event.kind == EventKind::ToolResult);
                }
                _ => continue,
            }
            counted.messages += 1;
        }
        counted
    }
}

impl Skip {
    /// A description for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FewMessages => "fewer than 6 messages",
            Self::FewFromUser => "fewer than 2 messages from the user",
            Self::NoAction => "one reply without tool calls",
        }
    }
}
