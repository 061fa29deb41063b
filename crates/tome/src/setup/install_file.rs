//! Files to install with their contents, and how to recognize Tome's own commands in them.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::hook;
use crate::platform;

/// A file and the content it should have.
#[derive(Debug, Clone, PartialEq)]
pub struct InstallFile {
    pub path: PathBuf,
    pub content: InstallContent,
}

#[derive(Debug, Clone, PartialEq)]
pub enum InstallContent {
    /// An agent's JSON file with some members of Tome.
    Json {
        /// Event name and hook group, for the lists under `hooks`.
        hooks: Vec<(&'static str, Value)>,
        server: Option<McpServerEntry>,
    },
    /// An agent's TOML file with the MCP server under `mcp_servers`.
    Toml { program: String, args: Vec<String> },
    /// A file that belongs to Tome.
    Text {
        content: String,
        /// Text that only Tome's files contain.
        mark: &'static str,
    },
}

/// Entry of the MCP server `tome`.
#[derive(Debug, Clone, PartialEq)]
pub struct McpServerEntry {
    /// Key of the object that contains the servers.
    pub holder: &'static str,
    pub settings: Map<String, Value>,
}

impl InstallFile {
    pub fn owned_text(path: PathBuf, content: impl Into<String>, mark: &'static str) -> Self {
        Self { path, content: InstallContent::Text { content: content.into(), mark } }
    }

    pub fn with_hooks(path: PathBuf, hooks: Vec<(&'static str, Value)>) -> Self {
        Self { path, content: InstallContent::Json { hooks, server: None } }
    }

    pub fn with_server(path: PathBuf, holder: &'static str, settings: Value) -> Self {
        let settings = match settings {
            Value::Object(settings) => settings,
            _ => Map::new(),
        };
        let server = Some(McpServerEntry { holder, settings });
        Self { path, content: InstallContent::Json { hooks: Vec::new(), server } }
    }
}

/// A command split into words.
pub struct CommandWords(Vec<String>);

impl CommandWords {
    /// Reads `command` (a shell line, a program or a list) and `args` of a hook or server.
    pub fn from_settings(settings: &Value) -> Self {
        let mut words = match settings.get("command") {
            Some(Value::String(line)) if settings.get("args").is_some() => vec![line.clone()],
            Some(Value::String(line)) => split_shell_words(line),
            Some(Value::Array(words)) => collect_strings(words),
            _ => Vec::new(),
        };
        if let Some(Value::Array(args)) = settings.get("args") {
            words.extend(collect_strings(args));
        }
        Self(words)
    }

    /// Whether this runs a hook of any Tome installation.
    pub fn is_hook(&self) -> bool {
        self.args_after_tome()
            .is_some_and(|rest| hook::args::parse_hook_command_line(rest).is_some())
    }

    pub fn is_server(&self) -> bool {
        self.args_after_tome().is_some_and(|rest| rest.iter().any(|word| word == "mcp"))
    }

    /// Returns the arguments after `tome`, which may be preceded by variable assignments.
    fn args_after_tome(&self) -> Option<&[String]> {
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let sets = |word: &String| word.split_once('=').is_some_and(|(name, _)| is_name(name));
        let at = self.0.iter().position(|word| !sets(word))?;
        let name = Path::new(self.0.get(at)?).file_stem()?;
        (name == "tome").then(|| self.0.get(at + 1..).unwrap_or_default())
    }
}

fn collect_strings(values: &[Value]) -> Vec<String> {
    values.iter().filter_map(|value| value.as_str().map(str::to_owned)).collect()
}

/// Splits a shell line into words, honoring quotes and backslashes only.
pub fn split_shell_words(line: &str) -> Vec<String> {
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
            (None, '\\') if platform::HAS_POSIX_SHELL => {
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
    fn tomes_own_commands_are_recognized() {
        let is_hook = |settings: Value| CommandWords::from_settings(&settings).is_hook();
        assert!(is_hook(json!({"command": "tome hook codex"})));
        assert!(is_hook(json!({"command": "'/my tools/tome' --home /x hook gemini"})));
        assert!(is_hook(json!({"command": "/x/tome", "args": ["hook", "claude-code"]})));
        assert!(is_hook(json!({"command": "TOME_HOME=/x /opt/tome hook codex"})));
        for other in ["tome recall x", "gnome hook codex", "echo tome hook codex", "", "tomes hook"]
        {
            assert!(!is_hook(json!({"command": other})), "{other}");
        }
        assert!(!is_hook(json!({"prompt": "tome hook codex"})));
        let is_server = |settings: Value| CommandWords::from_settings(&settings).is_server();
        assert!(is_server(json!({"command": "/x/tome", "args": ["mcp"]})));
        assert!(is_server(json!({"command": ["/x/tome", "--home", "/y", "mcp"]})));
        assert!(!is_server(json!({"command": "npx", "args": ["tome", "mcp"]})));
    }
}
