//! Names of coding agents.

use serde::{Deserialize, Serialize};

use crate::{InvalidInput, limits};

/// The name of a coding agent. Five are built in; any other name in the same alphabet is accepted,
/// so that scripts can record other agents.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Agent(String);

impl Agent {
    /// The agents whose hooks Tome supports.
    pub const KNOWN: [&str; 5] = ["claude-code", "codex", "gemini", "copilot", "opencode"];

    /// Validates a name: lowercase letters, digits, `.`, `_` and `-`. `claude` means `claude-code`.
    pub fn parse(name: &str) -> Result<Self, InvalidInput> {
        let name = name.trim();
        if name.is_empty() {
            return Err(InvalidInput::Missing { field: "agent" });
        }
        let fits = name.len() <= limits::AGENT_BYTES_MAX
            && name
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b));
        if !fits {
            return Err(InvalidInput::invalid(
                "agent",
                format!(
                    "{:?} is not a name: use up to {} lowercase letters, digits, '.', '_' or '-'",
                    crate::truncate_to(name, 80),
                    limits::AGENT_BYTES_MAX
                ),
            ));
        }
        Ok(Self(if name == "claude" { "claude-code" } else { name }.to_owned()))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Agent {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl TryFrom<String> for Agent {
    type Error = InvalidInput;
    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::parse(&name)
    }
}

impl From<Agent> for String {
    fn from(agent: Agent) -> Self {
        agent.0
    }
}
