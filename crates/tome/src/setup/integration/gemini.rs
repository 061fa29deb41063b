//! Installs Tome into Gemini CLI.
//!
//! Hooks and the MCP server go into `settings.json`. A hook is a named shell command line. Timeouts
//! are in milliseconds. Gemini CLI passes few environment variables on, so a non-default Tome home
//! is part of the command.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{
    AgentIntegration, OffSwitch, bundle_manifest, common_bundle_files, mcp_server_settings,
    owned_file, render_hooks_file, shared_skills_folder, skill_file, skill_folders_with_shared,
    to_pretty_json,
};
use crate::setup::{
    COMMANDS, Environment, InstallContent, InstallFile, LaunchCommand, McpServerEntry,
    render_navigator,
};

pub static INTEGRATION: AgentIntegration = AgentIntegration {
    name: "gemini",
    title: "Gemini CLI",
    program: "gemini",
    traces: |environment| vec![config_folder(environment)],
    install_files,
    bundle,
    allows_comments: true,
    skill_folders: |environment| {
        skill_folders_with_shared(
            environment,
            &[".gemini/skills"],
            &[config_folder(environment).join("skills")],
        )
    },
    manual_steps: &[],
    off_switch: Some(|environment| OffSwitch {
        path: settings_file(environment),
        pointer: "/hooksConfig/enabled",
        off: false,
    }),
};

/// Events with content of their own. Omitted: what `AfterTool` repeats, what contains the whole
/// conversation (`BeforeModel`, `AfterModel`, `BeforeToolSelection`), and notifications.
/// `PreCompress` fires before every model turn; only a manual one is worth recording.
const HOOK_EVENTS: [(&str, Option<&str>, u32); 6] = [
    ("SessionStart", None, 10_000),
    ("BeforeAgent", None, 5_000),
    ("AfterTool", None, 5_000),
    ("AfterAgent", None, 10_000),
    ("PreCompress", Some("manual"), 5_000),
    ("SessionEnd", None, 5_000),
];

fn config_folder(environment: &Environment<'_>) -> PathBuf {
    let home =
        environment.folder_from_var("GEMINI_CLI_HOME").unwrap_or_else(|| environment.home.clone());
    home.join(".gemini")
}

fn settings_file(environment: &Environment<'_>) -> PathBuf {
    environment.project_or_user(".gemini", config_folder(environment)).join("settings.json")
}

fn install_files(environment: &Environment<'_>) -> Vec<InstallFile> {
    let own_folder = environment.project_or_user(".gemini", config_folder(environment));
    let hooks = hook_groups(&environment.launch);
    let settings = mcp_server_settings(&environment.launch, Some(INTEGRATION.name))
        .as_object()
        .cloned()
        .unwrap_or_default();
    let server = Some(McpServerEntry { holder: "mcpServers", settings });
    let mut parts = vec![
        InstallFile {
            path: own_folder.join("settings.json"),
            content: InstallContent::Json { hooks, server },
        },
        skill_file(&shared_skills_folder(environment)),
        owned_file(own_folder.join("agents/memory-navigator.md"), navigator_agent()),
    ];
    parts.extend(COMMANDS.iter().map(|command| {
        owned_file(
            own_folder.join("commands").join(format!("{}.toml", command.name)),
            command.to_toml(),
        )
    }));
    parts
}

fn hook_groups(launch: &LaunchCommand) -> Vec<(&'static str, Value)> {
    let line = launch.shell_line(&["hook", "gemini"]);
    let group = |matcher: Option<&str>, timeout: u32| {
        let hook =
            json!({ "name": "tome", "type": "command", "command": line, "timeout": timeout });
        match matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": [hook] }),
            None => json!({ "hooks": [hook] }),
        }
    };
    HOOK_EVENTS
        .iter()
        .map(|(event, matcher, timeout)| (*event, group(*matcher, *timeout)))
        .collect()
}

fn navigator_agent() -> String {
    render_navigator("name: memory-navigator\nkind: local\n")
}

fn bundle(launch: &LaunchCommand) -> Vec<(String, String)> {
    let mut about = bundle_manifest();
    about.insert(
        "mcpServers".to_owned(),
        json!({ "tome": mcp_server_settings(launch, Some(INTEGRATION.name)) }),
    );
    let mut files = vec![
        ("gemini-extension.json".to_owned(), to_pretty_json(&Value::Object(about))),
        ("hooks/hooks.json".to_owned(), render_hooks_file(&hook_groups(launch))),
        ("agents/memory-navigator.md".to_owned(), navigator_agent()),
    ];
    files.extend(common_bundle_files());
    files.extend(
        COMMANDS
            .iter()
            .map(|command| (format!("commands/{}.toml", command.name), command.to_toml())),
    );
    files
}
