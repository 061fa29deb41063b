//! Installs Tome into OpenCode.
//!
//! OpenCode has no hooks in its settings: a small plugin passes events on and places the responses
//! where the model reads them. The MCP server goes into `opencode.json` or `opencode.jsonc`,
//! whichever exists; its command is a single list.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{
    AgentIntegration, common_bundle_files, mcp_server_args, owned_file, shared_skills_folder,
    skill_file, skill_folders_with_shared, to_pretty_json,
};
use crate::setup::{
    ArgumentHint, COMMANDS, Environment, InstallFile, LaunchCommand, render_navigator,
    render_opencode_plugin,
};

pub static INTEGRATION: AgentIntegration = AgentIntegration {
    name: "opencode",
    title: "OpenCode",
    program: "opencode",
    traces: |environment| vec![config_folder(environment)],
    install_files,
    bundle,
    allows_comments: true,
    skill_folders,
    manual_steps: &[
        "Start OpenCode once while online: it installs the package @opencode-ai/plugin for any plugin, and \
              until then a start without a network takes 80 seconds or more",
    ],
    off_switch: None,
};

fn config_folder(environment: &Environment<'_>) -> PathBuf {
    let config = environment.folder_or_default("XDG_CONFIG_HOME", ".config");
    environment.folder_from_var("OPENCODE_CONFIG_DIR").unwrap_or_else(|| config.join("opencode"))
}

/// The package that OpenCode installs for any plugin. While it is missing, OpenCode retries before
/// every start.
pub const PLUGIN_PACKAGE: &str = "@opencode-ai/plugin";

pub fn plugin_package_folder(environment: &Environment<'_>) -> PathBuf {
    config_folder(environment).join("node_modules").join(PLUGIN_PACKAGE)
}

/// OpenCode also reads Claude Code's skills. It uses the last of two with the same name.
fn skill_folders(environment: &Environment<'_>) -> Vec<PathBuf> {
    let of_person = [
        environment.folder_or_default("CLAUDE_CONFIG_DIR", ".claude").join("skills"),
        config_folder(environment).join("skills"),
        config_folder(environment).join("skill"),
    ];
    let in_project = [".claude/skills", ".opencode/skills", ".opencode/skill"];
    skill_folders_with_shared(environment, &in_project, &of_person)
}

fn install_files(environment: &Environment<'_>) -> Vec<InstallFile> {
    let own_folder = environment.project_or_user(".opencode", config_folder(environment));
    let settings = find_settings_file(&environment.project_or_user("", config_folder(environment)));
    let mut parts = vec![
        owned_file(own_folder.join("plugins/tome.js"), render_opencode_plugin(&environment.launch)),
        InstallFile::with_server(settings, "mcp", mcp_server_settings(&environment.launch)),
        skill_file(&shared_skills_folder(environment)),
        owned_file(own_folder.join("agents/memory-navigator.md"), navigator_agent()),
    ];
    parts.extend(COMMANDS.iter().map(|command| {
        let path = own_folder.join("commands").join(format!("{}.md", command.name));
        owned_file(path, command.to_markdown(ArgumentHint::Omit))
    }));
    parts
}

fn find_settings_file(folder: &Path) -> PathBuf {
    let with_comments = folder.join("opencode.jsonc");
    if with_comments.exists() { with_comments } else { folder.join("opencode.json") }
}

fn mcp_server_settings(launch: &LaunchCommand) -> Value {
    let mut command = vec![launch.program.clone()];
    command.extend(mcp_server_args(launch, Some(INTEGRATION.name)));
    json!({ "type": "local", "command": command, "enabled": true })
}

fn navigator_agent() -> String {
    render_navigator("mode: subagent\n")
}

fn bundle(launch: &LaunchCommand) -> Vec<(String, String)> {
    let settings = json!({ "mcp": { "tome": mcp_server_settings(launch) } });
    let mut files = vec![
        ("plugins/tome.js".to_owned(), render_opencode_plugin(launch)),
        ("opencode.json".to_owned(), to_pretty_json(&settings)),
        ("agents/memory-navigator.md".to_owned(), navigator_agent()),
    ];
    files.extend(common_bundle_files());
    files.extend(COMMANDS.iter().map(|command| {
        (format!("commands/{}.md", command.name), command.to_markdown(ArgumentHint::Omit))
    }));
    files
}
