//! How Tome is wired into each coding agent: which files, what in them, and how the agent is found.
//! One file an agent (`*/wiring.rs`); here is what they share, and the list of them.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

pub use super::opencode::wiring::{PACKAGE as OPENCODE_PACKAGE, package_folder};
use super::{claude_code, codex, copilot, gemini, opencode};
use crate::setup::{self, Ground, Launch, Part};

/// One coding agent, as far as wiring goes.
#[derive(Debug)]
pub struct Client {
    /// As `tome hook` and `--agent` call it.
    pub name: &'static str,
    /// As people call it.
    pub title: &'static str,
    /// What is typed to start it.
    pub program: &'static str,
    /// Files and folders that it leaves behind where it has been used.
    pub traces: fn(&Ground<'_>) -> Vec<PathBuf>,
    /// What is to be where, for the person or for one project.
    pub parts: fn(&Ground<'_>) -> Vec<Part>,
    /// The same as a plugin that can be carried to other machines: paths in it, and contents.
    pub bundle: fn(&Launch) -> Vec<(String, String)>,
    /// Whether its settings may have comments and trailing commas.
    pub takes_comments: bool,
    /// The folders in which it looks for skills, of the person or of one project. Setup puts the skill
    /// into the first one.
    pub skill_folders: fn(&Ground<'_>) -> Vec<PathBuf>,
    /// What is left for the person to do.
    pub to_do: &'static [&'static str],
    /// A setting of the agent's own that keeps the wiring from working: its file, the way to it in
    /// there, and the value that does so.
    pub off_switch: Option<fn(&Ground<'_>) -> OffSwitch>,
}

/// A setting that turns all hooks off.
#[derive(Debug)]
pub struct OffSwitch {
    /// The file.
    pub path: PathBuf,
    /// The way to it, as a JSON pointer.
    pub pointer: &'static str,
    /// The value that turns them off.
    pub off: bool,
}

/// All agents that Tome can be wired into.
pub static CLIENTS: [&Client; 5] = [
    &claude_code::wiring::CLIENT,
    &codex::wiring::CLIENT,
    &gemini::wiring::CLIENT,
    &copilot::wiring::CLIENT,
    &opencode::wiring::CLIENT,
];

impl Client {
    /// What says that this agent is here: its program, or what it left behind.
    pub fn found(&self, ground: &Ground<'_>) -> Option<PathBuf> {
        let program = ground.program(self.program);
        program.or_else(|| (self.traces)(ground).into_iter().find(|path| path.exists()))
    }
}

/// The groups of hooks of agents that have Claude Code's shape: event, and how long a hook may take
/// in the agent's own unit. Without a matcher a hook hears of everything.
pub(super) fn groups(line: &str, events: &[(&'static str, u32)]) -> Vec<(&'static str, Value)> {
    let group = |timeout: u32| json!({ "hooks": [{ "type": "command", "command": line, "timeout": timeout }] });
    events.iter().map(|(event, timeout)| (*event, group(*timeout))).collect()
}

/// The same as a file of its own.
pub(super) fn hooks_file(groups: &[(&'static str, Value)]) -> String {
    let about = json!("Records what happens here in Tome's memory");
    setup::hooks_text(&[("description", about)], groups)
}

/// The MCP server, in the shape that most agents have, told whom it serves. A file that several
/// agents read names nobody: then a client's own name says who it is.
pub(super) fn server(launch: &Launch, agent: Option<&str>) -> Value {
    json!({ "command": launch.program, "args": server_args(launch, agent) })
}

/// What the program is called with as a server.
pub(super) fn server_args(launch: &Launch, agent: Option<&str>) -> Vec<String> {
    let mut words = vec!["mcp"];
    words.extend(agent.iter().flat_map(|agent| ["--agent", agent]));
    launch.args(&words)
}

/// A JSON file as people write it.
pub(super) fn pretty(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// A file of Tome's own that says what it is.
pub(super) fn own(path: PathBuf, content: String) -> Part {
    Part::text(path, content, setup::MARK)
}

/// The skill, in a folder of skills. Every agent but Claude Code reads `.agents/skills`, so that one
/// copy serves them.
pub(super) fn skill_in(folder: &Path) -> Part {
    own(folder.join(setup::SKILL_FILE), setup::skill())
}

/// Where agents look for skills that are not one agent's own.
pub(super) fn shared_skills(ground: &Ground<'_>) -> PathBuf {
    ground.either(".agents/skills", ground.home.join(".agents/skills"))
}

/// The shared folder of skills, and others that an agent reads: in a project, and of the person.
pub(super) fn skill_folders_beside_shared(
    ground: &Ground<'_>,
    in_project: &[&str],
    of_person: &[PathBuf],
) -> Vec<PathBuf> {
    let others = match &ground.project {
        Some(root) => in_project.iter().map(|folder| root.join(folder)).collect(),
        None => of_person.to_vec(),
    };
    std::iter::once(shared_skills(ground)).chain(others).collect()
}

/// What is the same in every bundle: the skill, and a page about it.
pub(super) fn bundled() -> [(String, String); 2] {
    [
        ("skills/tome-memory/SKILL.md".to_owned(), setup::skill()),
        ("README.md".to_owned(), setup::PLUGIN_README.to_owned()),
    ]
}

/// What a bundle's manifest says of it.
pub(super) fn manifest() -> Map<String, Value> {
    let about = json!({
        "name": "tome",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "The memory of coding agents: records sessions, finds them again with citations",
    });
    match about {
        Value::Object(about) => about,
        _ => Map::new(),
    }
}
