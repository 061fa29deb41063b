//! Installs Tome into Copilot CLI.
//!
//! Hooks are a separate file, the MCP server goes into `mcp-config.json` (`.github/mcp.json` in a
//! project). Payloads do not name their event, so the command line does. Timeouts are in seconds.
//! `preToolUse` is omitted, because a failing hook of that kind would block the tool.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{
    AgentIntegration, bundle_manifest, common_bundle_files, mcp_server_args, owned_file,
    shared_skills_folder, skill_file, skill_folders_with_shared, to_pretty_json,
};
use crate::hook::copilot_hooks::{OWN_HOOK_MARK, PROJECT_HOOKS_FILE};
use crate::setup::json_text::render_hooks_json;
use crate::setup::{
    ArgumentHint, COMMANDS, Environment, InstallFile, LaunchCommand, render_navigator,
};

pub static INTEGRATION: AgentIntegration = AgentIntegration {
    name: "copilot",
    title: "Copilot CLI",
    program: "copilot",
    traces: |environment| vec![config_folder(environment)],
    install_files,
    bundle,
    allows_comments: true,
    skill_folders: |environment| {
        skill_folders_with_shared(
            environment,
            &[".github/skills", ".claude/skills"],
            &[config_folder(environment).join("skills")],
        )
    },
    manual_steps: &[],
    off_switch: None,
};

/// Events with content of their own, in the dialect with the most fields.
const HOOK_EVENTS: [(&str, u32); 10] = [
    ("sessionStart", 10),
    ("userPromptSubmitted", 5),
    ("postToolUse", 5),
    ("postToolUseFailure", 5),
    ("agentStop", 10),
    ("subagentStart", 5),
    ("subagentStop", 5),
    ("preCompact", 10),
    ("errorOccurred", 5),
    ("sessionEnd", 5),
];

fn config_folder(environment: &Environment<'_>) -> PathBuf {
    environment.folder_or_default("COPILOT_HOME", ".copilot")
}

fn install_files(environment: &Environment<'_>) -> Vec<InstallFile> {
    let of_person = config_folder(environment);
    let hooks = environment.project_or_user(PROJECT_HOOKS_FILE, of_person.join("hooks/tome.json"));
    let servers =
        environment.project_or_user(".github/mcp.json", of_person.join("mcp-config.json"));
    let agents = environment.project_or_user(".github/agents", of_person.join("agents"));
    vec![
        InstallFile::owned_text(hooks, render_hooks(&environment.launch), OWN_HOOK_MARK),
        InstallFile::with_server(servers, "mcpServers", mcp_server_settings(&environment.launch)),
        skill_file(&shared_skills_folder(environment)),
        owned_file(agents.join("memory-navigator.agent.md"), navigator_agent()),
    ]
}

fn render_hooks(launch: &LaunchCommand) -> String {
    let hook = |event: &str, timeout: u32| {
        let line = launch.shell_line(&["hook", "copilot", event]);
        json!({ "type": "command", "bash": line, "powershell": line, "timeoutSec": timeout })
    };
    let hooks: Vec<(&str, Value)> =
        HOOK_EVENTS.iter().map(|(event, timeout)| (*event, hook(event, *timeout))).collect();
    render_hooks_json(&[("version", json!(1))], &hooks)
}

fn mcp_server_settings(launch: &LaunchCommand) -> Value {
    let args = mcp_server_args(launch, Some(INTEGRATION.name));
    json!({ "type": "local", "command": launch.program, "args": args, "tools": ["*"] })
}

fn navigator_agent() -> String {
    render_navigator("name: memory-navigator\n")
}

fn bundle(launch: &LaunchCommand) -> Vec<(String, String)> {
    let mut about = bundle_manifest();
    about.insert("skills".to_owned(), json!("./skills/"));
    about.insert("agents".to_owned(), json!("./agents/"));
    about.insert("commands".to_owned(), json!("./commands/"));
    about.insert("hooks".to_owned(), json!("./hooks.json"));
    about.insert("mcpServers".to_owned(), json!("./.mcp.json"));
    let mut files = vec![
        ("plugin.json".to_owned(), to_pretty_json(&Value::Object(about))),
        ("hooks.json".to_owned(), render_hooks(launch)),
        (
            ".mcp.json".to_owned(),
            to_pretty_json(&json!({ "mcpServers": { "tome": mcp_server_settings(launch) } })),
        ),
        ("agents/memory-navigator.agent.md".to_owned(), navigator_agent()),
    ];
    files.extend(common_bundle_files());
    files.extend(COMMANDS.iter().map(|command| {
        (format!("commands/{}.md", command.name), command.to_markdown(ArgumentHint::Include))
    }));
    files
}
