//! Whether there is anything worth thinking about.
//!
//! | what happened | |
//! | --- | --- |
//! | fewer than 6 messages | skipped |
//! | fewer than 2 of them from the person | skipped |
//! | one reply, and no tool called | skipped |
//! | anything else | reflected on |

use std::collections::BTreeSet;

use tome_model::{Event, EventKind};

/// Fewer messages are no task.
const MESSAGES_MIN: usize = 6;
/// Nor is a conversation in which the person said less often something.
const FROM_USER_MIN: usize = 2;

/// What happened, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Activity {
    /// Prompts, replies and results of tools.
    pub messages: usize,
    /// Prompts.
    pub from_user: usize,
    /// Replies of the model.
    pub iterations: usize,
    /// Tools that were called.
    pub actions: usize,
}

/// Why there is nothing to reflect on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Skip {
    /// There are too few messages.
    FewMessages,
    /// There are too few from the person.
    FewFromUser,
    /// One reply, and nothing was done.
    NoAction,
}

/// Why a conversation is skipped; `None` where it is reflected on.
pub fn gate(activity: &Activity) -> Option<Skip> {
    match activity {
        Activity { messages, .. } if *messages < MESSAGES_MIN => Some(Skip::FewMessages),
        Activity { from_user, .. } if *from_user < FROM_USER_MIN => Some(Skip::FewFromUser),
        Activity { iterations: 0 | 1, actions: 0, .. } => Some(Skip::NoAction),
        _ => None,
    }
}

impl Activity {
    /// Counts events, whichever agent's they are.
    pub fn of(events: &[Event]) -> Self {
        let mut counted = Self::default();
        // Calls that were made together are of one reply; agents that do not say so make one a reply.
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
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FewMessages => "fewer than 6 messages",
            Self::FewFromUser => "fewer than 2 messages from the person",
            Self::NoAction => "one reply, and no tool called",
        }
    }
}
