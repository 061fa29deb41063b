//! What is wired: one part for each file, and how Tome's own is told apart in it.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::hook;

/// One file and what should be in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Which file.
    pub path: PathBuf,
    /// What.
    pub form: Form,
}

/// What should be in a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Form {
    /// A JSON file of the agent's, in which some members are Tome's.
    Json {
        /// Under `hooks`: event, and the group of hooks to be in its list.
        hooks: Vec<(&'static str, Value)>,
        /// The MCP server.
        server: Option<Server>,
    },
    /// A TOML file of the agent's, with the MCP server under `mcp_servers`.
    Toml {
        /// What is run.
        program: String,
        /// With what.
        args: Vec<String>,
    },
    /// A file that is all Tome's.
    Text {
        /// All of it.
        content: String,
        /// What only a file of Tome's holds.
        mark: &'static str,
    },
}

/// An MCP server called tome.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// The member that holds servers.
    pub holder: &'static str,
    /// The server's settings.
    pub settings: Map<String, Value>,
}

impl Part {
    /// A file that is all Tome's.
    pub fn text(path: PathBuf, content: impl Into<String>, mark: &'static str) -> Self {
        Self { path, form: Form::Text { content: content.into(), mark } }
    }

    /// A JSON file with hooks.
    pub fn hooks(path: PathBuf, hooks: Vec<(&'static str, Value)>) -> Self {
        Self { path, form: Form::Json { hooks, server: None } }
    }

    /// A JSON file with the MCP server.
    pub fn server(path: PathBuf, holder: &'static str, settings: Value) -> Self {
        let settings = match settings {
            Value::Object(settings) => settings,
            _ => Map::new(),
        };
        let server = Some(Server { holder, settings });
        Self { path, form: Form::Json { hooks: Vec::new(), server } }
    }
}

/// A command as a list of words.
pub struct Words(Vec<String>);

impl Words {
    /// The words of a hook's or a server's `command` (a line, a program or a list) and `args`.
    pub fn of(settings: &Value) -> Self {
        let mut words = match settings.get("command") {
            Some(Value::String(line)) if settings.get("args").is_some() => vec![line.clone()],
            Some(Value::String(line)) => split_words(line),
            Some(Value::Array(words)) => strings(words),
            _ => Vec::new(),
        };
        if let Some(Value::Array(args)) = settings.get("args") {
            words.extend(strings(args));
        }
        Self(words)
    }

    /// Whether this runs a hook of Tome's, wherever that Tome is.
    pub fn is_hook(&self) -> bool {
        self.after_program().is_some_and(|rest| hook::args::read(rest).is_some())
    }

    /// Whether this runs Tome's MCP server.
    pub fn is_server(&self) -> bool {
        self.after_program().is_some_and(|rest| rest.iter().any(|word| word == "mcp"))
    }

    /// What follows `tome`; variables may be set before it.
    fn after_program(&self) -> Option<&[String]> {
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let sets = |word: &String| word.split_once('=').is_some_and(|(name, _)| is_name(name));
        let at = self.0.iter().position(|word| !sets(word))?;
        let name = Path::new(self.0.get(at)?).file_stem()?;
        (name == "tome").then(|| self.0.get(at + 1..).unwrap_or_default())
    }
}

fn strings(values: &[Value]) -> Vec<String> {
    values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

/// The words of a shell's line, as far as quotes go.
pub fn split_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = line.chars();
    let mut quote = None;
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '\\') if !cfg!(windows) => {
                word.get_or_insert_default().extend(chars.next());
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn tomes_own_commands_are_told_apart() {
        let is_hook = |settings: Value| Words::of(&settings).is_hook();
        assert!(is_hook(json!({"command": "tome hook codex"})));
        assert!(is_hook(json!({"command": "'/my tools/tome' --home /x hook gemini"})));
        assert!(is_hook(json!({"command": "/x/tome", "args": ["hook", "claude-code"]})));
        assert!(is_hook(json!({"command": "TOME_HOME=/x /opt/tome hook codex"})));
        for other in ["tome recall x", "gnome hook codex", "echo tome hook codex", "", "tomes hook"]
        {
            assert!(!is_hook(json!({"command": other})), "{other}");
        }
        assert!(!is_hook(json!({"prompt": "tome hook codex"})));
        let is_server = |settings: Value| Words::of(&settings).is_server();
        assert!(is_server(json!({"command": "/x/tome", "args": ["mcp"]})));
        assert!(is_server(json!({"command": ["/x/tome", "--home", "/y", "mcp"]})));
        assert!(!is_server(json!({"command": "npx", "args": ["tome", "mcp"]})));
    }
}
