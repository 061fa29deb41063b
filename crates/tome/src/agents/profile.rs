//! Peculiarities of agents that code outside their folders depends on: one row per agent.

use tome_model::Agent;

/// Peculiarities of one agent.
#[derive(Debug, Clone, Copy)]
pub struct AgentProfile {
    name: &'static str,
    /// The event name of a hook call with several events at once. The agent expects no response.
    pub batch_event: Option<&'static str>,
    /// Whether it accepts text before a tool call.
    pub accepts_text_before_tools: bool,
    /// Whether the start text is still in its context after a resume.
    pub keeps_start_text: bool,
    /// Characters at the beginning of a session id that name its transcript, instead of the whole id.
    pub id_prefix_in_path: Option<usize>,
    /// Whether a transcript's folder is named after the session, instead of the file.
    pub names_folder_by_session: bool,
    /// Whether a transcript may begin with a copy of another session's history.
    pub copies_histories: bool,
    /// Whether a stop repeats the messages of its turn, so that a transcript has them a second time.
    pub repeats_messages_at_stop: bool,
    /// Whether hooks and transcripts may name the same subagent differently.
    pub renames_subagents: bool,
}

/// Unknown agents, and Claude Code, whose format most of them use.
const DEFAULT: AgentProfile = AgentProfile {
    name: "",
    batch_event: None,
    accepts_text_before_tools: false,
    keeps_start_text: true,
    id_prefix_in_path: None,
    names_folder_by_session: false,
    copies_histories: false,
    repeats_messages_at_stop: false,
    renames_subagents: false,
};

const PROFILES: [AgentProfile; 6] = [
    AgentProfile { name: "claude-code", accepts_text_before_tools: true, ..DEFAULT },
    AgentProfile { name: "qwen", accepts_text_before_tools: true, ..DEFAULT },
    AgentProfile { name: "codex", copies_histories: true, renames_subagents: true, ..DEFAULT },
    AgentProfile {
        name: "gemini",
        id_prefix_in_path: Some(8),
        repeats_messages_at_stop: true,
        ..DEFAULT
    },
    AgentProfile {
        name: "copilot",
        names_folder_by_session: true,
        renames_subagents: true,
        ..DEFAULT
    },
    AgentProfile {
        name: "opencode",
        batch_event: Some(super::opencode::hook::BATCH),
        // The start text is a part of the system prompt, which each process builds again.
        keeps_start_text: false,
        ..DEFAULT
    },
];

impl AgentProfile {
    pub fn of_agent(agent: &Agent) -> &'static Self {
        Self::by_name(agent.as_str())
    }

    /// Finds the profile of an agent by its name, which may be unknown or invalid.
    pub fn by_name(name: &str) -> &'static Self {
        PROFILES.iter().find(|profile| profile.name == name).unwrap_or(&DEFAULT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_agent_has_a_profile() {
        for name in Agent::KNOWN {
            assert_eq!(AgentProfile::by_name(name).name, name);
        }
    }
}
