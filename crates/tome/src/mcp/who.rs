//! Who calls, from where, in which session: from the flags that the setup wrote, the name that the
//! client gives itself, and the variables that it hands to its servers.
//!
//! An agent may be started by another one and inherit its variables, so a variable counts only where
//! the client is the agent that sets it, or says nothing of which agent it is.

use std::path::Path;

use tome_model::{Agent, truncate_to};

use super::limits::CLIENT_NAME_BYTES_MAX;

/// What agents call themselves, and who they are. The first that occurs in a name counts.
const NAMES: [(&str, &str); 5] = [
    ("claude", "claude-code"),
    ("codex", "codex"),
    ("gemini", "gemini"),
    ("copilot", "copilot"),
    ("opencode", "opencode"),
];

/// The variables in which agents name their session and their project's folder.
const VARIABLES: [(&str, &str, &str); 2] = [
    ("claude-code", "CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR"),
    ("gemini", "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR"),
];

/// What the server was started with.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    /// The agent that the setup named.
    pub agent: Option<Agent>,
    /// The session that somebody named.
    pub session: Option<String>,
    /// The folder that somebody named, absolute.
    pub project: Option<String>,
    /// Where the process stands; empty where that cannot be told.
    pub cwd: String,
    /// What the variables say.
    pub variables: Variables,
}

/// What agents say in variables: who, which session, which folder.
#[derive(Debug, Clone, Default)]
pub struct Variables(Vec<(&'static str, Option<String>, Option<String>)>);

/// The caller of one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Who {
    /// As the history of the notes names it.
    pub agent: String,
    /// Its session, where that is known.
    pub session: Option<String>,
    /// Says which project is meant.
    pub cwd: String,
}

impl Variables {
    /// Reads them. `var` is the environment.
    pub fn read(var: &dyn Fn(&str) -> Option<String>) -> Self {
        let said = |name| var(name).filter(|value| !value.trim().is_empty());
        let folder = |name| said(name).filter(|folder| Path::new(folder).is_absolute());
        let read = VARIABLES
            .into_iter()
            .map(|(agent, session, project)| (agent, said(session), folder(project)))
            .filter(|(_, session, project)| session.is_some() || project.is_some());
        Self(read.collect())
    }
}

impl Surroundings {
    /// The caller, whose client gives itself this name.
    pub fn caller(&self, client: Option<&str>) -> Who {
        let named = self.agent.as_ref().map(Agent::as_str).or_else(|| client.and_then(known));
        let said = self.variables.0.iter().find(|(agent, session, _)| match named {
            Some(named) => named == *agent,
            // Several agents set the folder of another; only a session says whose it is.
            None => session.is_some(),
        });
        let (agent, session, project) = match said {
            Some((agent, session, project)) => (Some(*agent), session.clone(), project.clone()),
            None => (None, None, None),
        };
        let agent = named.or(agent).map_or_else(|| plain(client.unwrap_or("mcp")), str::to_owned);
        Who {
            agent,
            session: self.session.clone().or(session),
            cwd: self.project.clone().or(project).unwrap_or_else(|| self.cwd.clone()),
        }
    }
}

fn known(client: &str) -> Option<&'static str> {
    let client = client.to_lowercase();
    NAMES.into_iter().find(|(part, _)| client.contains(part)).map(|(_, agent)| agent)
}

/// A client's name as the name of an agent.
fn plain(client: &str) -> String {
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

    fn with(vars: &[(&str, &str)]) -> Surroundings {
        let var = |name: &str| {
            let found = vars.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let variables = Variables::read(&var);
        Surroundings { cwd: "/stands".into(), variables, ..Surroundings::default() }
    }

    fn who(agent: &str, session: Option<&str>, cwd: &str) -> Who {
        Who { agent: agent.into(), session: session.map(str::to_owned), cwd: cwd.into() }
    }

    #[test]
    fn the_client_says_who_it_is_and_its_variables_the_rest() {
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
            assert_eq!(bare.caller(client), who(agent, None, "/stands"), "{client:?}");
        }
        let claude = with(&[("CLAUDE_CODE_SESSION_ID", "c1"), ("CLAUDE_PROJECT_DIR", "/app")]);
        let expected = who("claude-code", Some("c1"), "/app");
        assert_eq!(claude.caller(Some("claude-code")), expected);
        assert_eq!(claude.caller(Some("some client")), expected, "nobody else is named");
        assert_eq!(claude.caller(Some("codex-mcp-client")), who("codex", None, "/stands"));
    }

    #[test]
    fn a_folder_alone_says_nothing_of_whose_it_is() {
        let folder = with(&[("CLAUDE_PROJECT_DIR", "/app")]);
        assert_eq!(folder.caller(Some("qwen")), who("qwen", None, "/stands"));
        assert_eq!(folder.caller(Some("claude-code")), who("claude-code", None, "/app"));
        let relative = with(&[("GEMINI_SESSION_ID", "g"), ("GEMINI_PROJECT_DIR", "app")]);
        assert_eq!(relative.caller(None), who("gemini", Some("g"), "/stands"));
    }

    #[test]
    fn flags_come_first() {
        let flagged = Surroundings {
            agent: Some(Agent::parse("gemini").unwrap()),
            session: Some("mine".into()),
            project: Some("/there".into()),
            ..with(&[("CLAUDE_CODE_SESSION_ID", "c1"), ("CLAUDE_PROJECT_DIR", "/app")])
        };
        assert_eq!(flagged.caller(Some("claude-code")), who("gemini", Some("mine"), "/there"));
    }
}
