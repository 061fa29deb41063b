//! Events: immutable once stored.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Agent, EventId, InvalidInput, Millis, SessionId};

/// An event of a session. Its JSON can be parsed back: transcripts serve as backups.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// Stable: a duplicate has the same id.
    pub id: EventId,
    /// When it happened.
    pub at: Millis,
    /// When Tome received it.
    pub arrived: Millis,
    /// The session it belongs to.
    #[serde(rename = "session_id")]
    pub session: SessionId,
    /// The coding agent.
    pub agent: Agent,
    /// The root of its project.
    pub project: String,
    /// The agent's working directory.
    pub cwd: String,
    /// The kind of event.
    pub kind: EventKind,
    /// The author of `text`.
    pub role: Role,
    /// The message; may be empty for a tool call.
    pub text: String,
    /// The tool call, for `tool_result`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<Tool>,
    /// Further fields of the agent's payload: reasons, sources, subagent ids.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
}

/// A tool call with its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tool {
    /// The tool's name, as the agent reports it.
    pub name: String,
    /// The arguments.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub input: Value,
    /// The result.
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
            /// All values, in the order of their codes.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The name used in JSON and on the command line.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text),+ }
            }

            /// The code on disk. Never reused.
            pub const fn code(self) -> u8 {
                match self { $(Self::$variant => $code),+ }
            }

            /// The value of a code on disk.
            pub const fn from_code(code: u8) -> Option<Self> {
                match code { $($code => Some(Self::$variant),)+ _ => None }
            }
        }

        impl FromStr for $name {
            type Err = InvalidInput;
            fn from_str(text: &str) -> Result<Self, InvalidInput> {
                match text {
                    $($text => Ok(Self::$variant),)+
                    _ => {
                        let names: Vec<&str> = Self::ALL.iter().map(|one| one.as_str()).collect();
                        Err(InvalidInput::invalid($field, format!(
                            "{:?} is not known: use one of {}", crate::truncate_to(text, 80), names.join(", "))))
                    }
                }
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidInput;
            fn try_from(text: String) -> Result<Self, InvalidInput> {
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
    /// The kind of an event.
    EventKind, "kind" {
        /// An event that Tome does not know; its payload is kept.
        Unknown = 0: "unknown",
        /// A session began, was resumed, or continues after a compaction.
        SessionStart = 1: "session_start",
        /// A prompt of the user.
        UserMessage = 2: "user_message",
        /// A message of the agent during its turn.
        AssistantMessage = 3: "assistant_message",
        /// A tool call with its result.
        ToolResult = 4: "tool_result",
        /// The agent ended its turn, with its final message.
        AssistantStop = 5: "assistant_stop",
        /// A subagent started.
        SubagentStart = 6: "subagent_start",
        /// A subagent finished, with its final message.
        SubagentStop = 7: "subagent_stop",
        /// The session ended.
        SessionEnd = 8: "session_end",
        /// The agent's context was compacted.
        Compaction = 9: "compaction",
    }
}

named! {
    /// The author of an event's text.
    Role, "role" {
        /// The user.
        User = 1: "user",
        /// The agent.
        Assistant = 2: "assistant",
        /// A tool.
        Tool = 3: "tool",
        /// The agent's harness.
        System = 4: "system",
    }
}

/// Meta key of tool calls without a result: the id of the call.
pub const NO_RESULT_META_KEY: &str = "no_result";

impl Event {
    /// Whether it happened in a subagent that works inside this session. A subagent with a session of
    /// its own speaks for that session.
    pub fn is_from_subagent(&self) -> bool {
        let subagent = self.meta.get("subagent").filter(|id| !id.is_null());
        subagent.is_some_and(|id| id.as_str() != Some(self.session.as_str()))
    }

    /// Whether its payload marks it as failed.
    pub fn is_marked_failed(&self) -> bool {
        is_marked_failed(&self.meta, self.tool.as_ref())
    }

    /// Whether it is a tool call whose result was never recorded, so that its effect is unknown.
    pub fn has_no_result(&self) -> bool {
        self.meta.contains_key(NO_RESULT_META_KEY)
    }
}

/// Whether the payload of an event marks it as failed: its own flag, or that of its tool's result.
pub fn is_marked_failed(meta: &Map<String, Value>, tool: Option<&Tool>) -> bool {
    let is_set = |value: Option<&Value>| value == Some(&Value::Bool(true));
    let output = tool.map(|tool| &tool.output);
    is_set(meta.get("failed"))
        || ["is_error", "isError"].iter().any(|name| is_set(output.and_then(|it| it.get(name))))
}

impl EventKind {
    /// The author of events of this kind, unless the event names another.
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
