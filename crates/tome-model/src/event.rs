//! The event: one thing that happened. Never changed once it is stored.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Agent, EventId, Millis, ModelError, SessionId};

/// One thing that happened. Its JSON can be read back: transcripts are second copies of events.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Stable: the same thing seen again has the same id.
    pub id: EventId,
    /// When it happened.
    pub at: Millis,
    /// When Tome got it.
    pub arrived: Millis,
    /// The run of the agent it belongs to.
    #[serde(rename = "session_id")]
    pub session: SessionId,
    /// Which coding agent.
    pub agent: Agent,
    /// The root of the code base it belongs to.
    pub project: String,
    /// Where the agent stood.
    pub cwd: String,
    /// What happened.
    pub kind: EventKind,
    /// Whose words `text` are.
    pub role: Role,
    /// What was said; empty where the tool says it all.
    pub text: String,
    /// The tool call, for `tool_result`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// What else the agent said about it: reasons, sources, subagent ids.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// A tool call and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The tool's name as the agent calls it.
    pub name: String,
    /// What it was called with.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// What it answered.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output: Value,
}

macro_rules! named {
    ($(#[$doc:meta])* $name:ident, $field:literal { $($(#[$vdoc:meta])* $variant:ident = $code:literal : $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(into = "&'static str", try_from = "String")]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// All of them, in the order of their codes.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name, as it is written everywhere.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The number that stands for it on disk. Never reused.
            pub const fn code(self) -> u8 {
                match self { $(Self::$variant => $code),+ }
            }

            /// The one that a number on disk stands for.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }
        }

        impl FromStr for $name {
            type Err = ModelError;
            fn from_str(text: &str) -> Result<Self, ModelError> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => {
                        let names: Vec<&str> = Self::ALL.iter().map(|one| one.as_str()).collect();
                        Err(ModelError::invalid($field, format!(
                            "{:?} is not known: use one of {}", crate::truncate_to(text, 80), names.join(", "))))
                    }
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = ModelError;
            fn try_from(text: String) -> Result<Self, ModelError> {
                text.parse()
            }
        }

        impl From<$name> for &'static str {
            fn from(one: $name) -> Self {
                one.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

named! {
    /// What happened.
    EventKind, "kind" {
        /// Something that Tome does not know; kept with what it said.
        Unknown = 0: "unknown",
        /// A session began, was resumed, or went on after a compaction.
        SessionStart = 1: "session_start",
        /// The person said something.
        UserMessage = 2: "user_message",
        /// The agent said something on its way.
        AssistantMessage = 3: "assistant_message",
        /// A tool was called and answered.
        ToolResult = 4: "tool_result",
        /// The agent finished its turn, with its final words.
        AssistantStop = 5: "assistant_stop",
        /// A subagent was started.
        SubagentStart = 6: "subagent_start",
        /// A subagent finished, with its final words.
        SubagentStop = 7: "subagent_stop",
        /// The session ended.
        SessionEnd = 8: "session_end",
        /// The agent's context was compacted.
        Compaction = 9: "compaction",
    }
}

named! {
    /// Whose words an event holds.
    Role, "role" {
        /// The person.
        User = 1: "user",
        /// The agent.
        Assistant = 2: "assistant",
        /// A tool.
        Tool = 3: "tool",
        /// The agent's harness.
        System = 4: "system",
    }
}

impl EventKind {
    /// Whose words an event of this kind holds unless it says otherwise.
    pub const fn default_role(self) -> Role {
        match self {
            Self::UserMessage => Role::User,
            Self::AssistantMessage | Self::AssistantStop | Self::SubagentStop => Role::Assistant,
            Self::ToolResult => Role::Tool,
            Self::Unknown
            | Self::SessionStart
            | Self::SubagentStart
            | Self::SessionEnd
            | Self::Compaction => Role::System,
        }
    }
}
