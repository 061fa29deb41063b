//! Identifies the caller, its project and its session, from the flags written by setup, the
//! client's name, and the environment variables that agents pass to their servers.
//!
//! An agent started by another agent inherits its variables, so a variable counts only if the
//! client is the agent that sets it, or an unknown one.

use std::path::Path;

use tome_model::{Agent, truncate_to};

use super::limits::CLIENT_NAME_BYTES_MAX;

/// Substrings of client names and the agents they identify; the first match wins.
const CLIENT_NAME_PARTS: [(&str, &str); 5] = [
    ("claude", "claude-code"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("copilot", "copilot"),
    ("opencode", "opencode"),
];

/// Variables with the session and the project folder, per agent.
const AGENT_VARIABLES: [(&str, &str, &str); 2] = [
    ("claude-code", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR"),
    ("gemini", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR"),
];

#[derive(Debug, Clone, Default)]
pub struct ServerEnvironment {
    /// From `--agent`, which setup writes.
    pub agent: Option<Agent>,
    /// From a flag.
    pub session: Option<String>,
    /// From a flag; absolute.
    pub project: Option<String>,
    /// Working directory; empty if unknown.
    pub cwd: String,
    pub variables: AgentVariables,
}

/// Agent, session and folder from the environment variables of agents.
#[derive(Debug, Clone, Default)]
pub struct AgentVariables(Vec<(&'static str, Option<String>, Option<String>)>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpCaller {
    /// As recorded in the history of notes.
    pub agent: String,
    pub session: Option<String>,
    /// Determines the project.
    pub cwd: String,
}

impl AgentVariables {
    /// `var` reads an environment variable.
    pub fn from_env(var: &dyn Fn(&str) -> Option<String>) -> Self {
        let non_empty = |name| var(name).filter(|value| !value.trim().is_empty());
        let folder = |name| non_empty(name).filter(|folder| Path::new(folder).is_absolute());
        let read = AGENT_VARIABLES
            .into_iter()
            .map(|(agent, session, project)| (agent, non_empty(session), folder(project)))
            .filter(|(_, session, project)| session.is_some() || project.is_some());
        Self(read.collect())
    }
}

impl ServerEnvironment {
    /// Identifies the caller, given the name that the client reports.
    pub fn identify_caller(&self, client: Option<&str>) -> McpCaller {
        let named = self
            .agent
            .as_ref()
            .map(Agent::as_str)
            .or_else(|| client.and_then(agent_from_client_name));
        let variables = self.variables.0.iter().find(|(agent, session, _)| match named {
            Some(named) => named == *agent,
            // Several agents set the folder variable of another; only a session is unambiguous.
            None => session.is_some(),
        });
        let (agent, session, project) = match variables {
            Some((agent, session, project)) => (Some(*agent), session.clone(), project.clone()),
            None => (None, None, None),
        };
        let agent = named
            .or(agent)
            .map_or_else(|| sanitize_client_name(client.unwrap_or("mcp")), str::to_owned);
        McpCaller {
            agent,
            session: self.session.clone().or(session),
            cwd: self.project.clone().or(project).unwrap_or_else(|| self.cwd.clone()),
        }
    }
}

fn agent_from_client_name(client: &str) -> Option<&'static str> {
    let client = client.to_lowercase();
    CLIENT_NAME_PARTS.into_iter().find(|(part, _)| client.contains(part)).map(|(_, agent)| agent)
}

/// Converts a client's name to a valid agent name.
fn sanitize_client_name(client: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '-' };
    let name: String = client.trim().to_lowercase().chars().map(keep).collect();
    match truncate_to(&name, CLIENT_NAME_BYTES_MAX) {
        "" => "mcp".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(vars: &[(&str, &str)]) -> ServerEnvironment {
        let var = |name: &str| {
            let found = vars.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let variables = AgentVariables::from_env(&var);
        ServerEnvironment { cwd: "/stands".into(), variables, ..ServerEnvironment::default() }
    }

    fn who(agent: &str, session: Option<&str>, cwd: &str) -> McpCaller {
        McpCaller { agent: agent.into(), session: session.map(str::to_owned), cwd: cwd.into() }
    }

    #[test]
    fn the_client_name_identifies_the_agent_and_variables_its_session() {
        let bare = with(&[]);
        for (client, agent) in [
            (Some("claude-code"), "claude-code"),
            (Some("codex-mcp-client"), "codex"),
            (Some("gemini-cli-mcp-client"), "gemini"),
            (Some("github-copilot-developer"), "copilot"),
            (Some("opencode"), "opencode"),
            (Some("My Editor 2"), "my-editor-2"),
            (Some(""), "mcp"),
            (None, "mcp"),
        ] {
            assert_eq!(bare.identify_caller(client), who(agent, None, "/stands"), "{client:?}");
        }
        let claude = with(&[("CLAUDE_CODE_SESSION_ID", "c1"), ("CLAUDE_PROJECT_DIR", "/app")]);
        let expected = who("claude-code", Some("c1"), "/app");
        assert_eq!(claude.identify_caller(Some("claude-code")), expected);
        assert_eq!(
            claude.identify_caller(Some("some client")),
            expected,
            "no other agent is named"
        );
        assert_eq!(claude.identify_caller(Some("codex-mcp-client")), who("codex", None, "/stands"));
    }

    #[test]
    fn a_folder_variable_alone_does_not_identify_an_agent() {
        let folder = with(&[("CLAUDE_PROJECT_DIR", "/app")]);
        assert_eq!(folder.identify_caller(Some("qwen")), who("qwen", None, "/stands"));
        assert_eq!(folder.identify_caller(Some("claude-code")), who("claude-code", None, "/app"));
        let relative = with(&[("GEMINI_SESSION_ID", "g"), ("GEMINI_PROJECT_DIR", "app")]);
        assert_eq!(relative.identify_caller(None), who("gemini", Some("g"), "/stands"));
    }

    #[test]
    fn flags_override_names_and_variables() {
        let flagged = ServerEnvironment {
            agent: Some(Agent::parse("gemini").unwrap()),
            session: Some("mine".into()),
            project: Some("/there".into()),
            ..with(&[("CLAUDE_CODE_SESSION_ID", "c1"), ("CLAUDE_PROJECT_DIR", "/app")])
        };
        assert_eq!(
            flagged.identify_caller(Some("claude-code")),
            who("gemini", Some("mine"), "/there")
        );
    }
}
