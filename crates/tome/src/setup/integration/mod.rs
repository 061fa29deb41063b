//! Installs Tome into coding agents: which files, their contents, and how to detect the agent. One
//! file per agent; this module has the shared parts and the list of agents.

mod claude_code;
mod codex;
mod copilot;
mod gemini;
mod opencode;

use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use super::json_text::render_hooks_json;
use super::{
    Environment, InstallFile, LaunchCommand, OWNERSHIP_MARK, PLUGIN_README, SKILL_FILE,
    render_skill,
};
pub use codex::codex_config_folder;
pub use opencode::{PLUGIN_PACKAGE as OPENCODE_PACKAGE, plugin_package_folder};

/// One coding agent, as seen by setup.
#[derive(Debug)]
pub struct AgentIntegration {
    /// Name for `tome hook` and `--agent`.
    pub name: &'static str,
    /// Display name.
    pub title: &'static str,
    /// Name of the executable.
    pub program: &'static str,
    /// Files and folders that exist where the agent has been used.
    pub traces: fn(&Environment<'_>) -> Vec<PathBuf>,
    /// The files to install, for the user or for one project.
    pub install_files: fn(&Environment<'_>) -> Vec<InstallFile>,
    /// The same as a portable plugin: relative paths and contents.
    pub bundle: fn(&LaunchCommand) -> Vec<(String, String)>,
    pub allows_comments: bool,
    /// Folders in which the agent looks for skills. Setup installs the skill into the first one.
    pub skill_folders: fn(&Environment<'_>) -> Vec<PathBuf>,
    /// Steps left to the user.
    pub manual_steps: &'static [&'static str],
    /// A setting of the agent that disables all hooks.
    pub off_switch: Option<fn(&Environment<'_>) -> OffSwitch>,
}

#[derive(Debug)]
pub struct OffSwitch {
    pub path: PathBuf,
    /// JSON pointer to the setting.
    pub pointer: &'static str,
    /// The value that disables the hooks.
    pub off: bool,
}

pub static INTEGRATIONS: [&AgentIntegration; 5] = [
    &claude_code::INTEGRATION,
    &codex::INTEGRATION,
    &gemini::INTEGRATION,
    &copilot::INTEGRATION,
    &opencode::INTEGRATION,
];

/// Such as `Claude Code, Codex and Gemini CLI`.
pub fn name_agents(agents: &[&'static AgentIntegration]) -> String {
    let titles: Vec<&str> = agents.iter().map(|agent| agent.title).collect();
    match titles.as_slice() {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

impl AgentIntegration {
    /// Returns the agent's executable, or else a file or folder that it created.
    pub fn find_installation(&self, environment: &Environment<'_>) -> Option<PathBuf> {
        let program = environment.find_program(self.program);
        program.or_else(|| (self.traces)(environment).into_iter().find(|path| path.exists()))
    }
}

/// Builds the hook groups of agents with Claude Code's format. Timeouts are in the agent's own
/// unit. A hook without a matcher runs for every tool.
fn build_hook_groups(line: &str, events: &[(&'static str, u32)]) -> Vec<(&'static str, Value)> {
    let group = |timeout: u32| json!({ "hooks": [{ "type": "command", "command": line, "timeout": timeout }] });
    events.iter().map(|(event, timeout)| (*event, group(*timeout))).collect()
}

/// Renders the hook groups as a separate file.
fn render_hooks_file(groups: &[(&'static str, Value)]) -> String {
    let about = json!("Records what happens here in Tome's memory");
    render_hooks_json(&[("description", about)], groups)
}

/// The MCP server entry in the shape that most agents share. A file that several agents read passes
/// no agent name; the client's own name identifies it then.
fn mcp_server_settings(launch: &LaunchCommand, agent: Option<&str>) -> Value {
    json!({ "command": launch.program, "args": mcp_server_args(launch, agent) })
}

fn mcp_server_args(launch: &LaunchCommand, agent: Option<&str>) -> Vec<String> {
    let mut words = vec!["mcp"];
    words.extend(agent.iter().flat_map(|agent| ["--agent", agent]));
    launch.args(&words)
}

fn to_pretty_json(value: &Value) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// A file owned by Tome, marked as such.
fn owned_file(path: PathBuf, content: String) -> InstallFile {
    InstallFile::owned_text(path, content, OWNERSHIP_MARK)
}

/// The skill in a skills folder. Every agent except Claude Code reads `.agents/skills`, so one copy
/// serves them all.
fn skill_file(folder: &Path) -> InstallFile {
    owned_file(folder.join(SKILL_FILE), render_skill())
}

fn shared_skills_folder(environment: &Environment<'_>) -> PathBuf {
    environment.project_or_user(".agents/skills", environment.home.join(".agents/skills"))
}

/// The shared skills folder, followed by the agent's own folders in the project or in the home.
fn skill_folders_with_shared(
    environment: &Environment<'_>,
    in_project: &[&str],
    of_person: &[PathBuf],
) -> Vec<PathBuf> {
    let others = match &environment.project {
        Some(root) => in_project.iter().map(|folder| root.join(folder)).collect(),
        None => of_person.to_vec(),
    };
    std::iter::once(shared_skills_folder(environment)).chain(others).collect()
}

/// Files that every bundle contains: the skill and a README.
fn common_bundle_files() -> [(String, String); 2] {
    [
        ("skills/tome-memory/SKILL.md".to_owned(), render_skill()),
        ("README.md".to_owned(), PLUGIN_README.to_owned()),
    ]
}

fn bundle_manifest() -> Map<String, Value> {
    let about = json!({
        "name": "tome",
        "version": env!("CARGO_PKG_VERSION"),
        "description": "Memory for coding agents: records sessions and searches them, with citations",
    });
    match about {
        Value::Object(about) => about,
        _ => Map::new(),
    }
}
