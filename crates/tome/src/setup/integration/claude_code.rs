//! Installs Tome into Claude Code.
//!
//! Hooks go into `settings.json` (`settings.local.json` in a project, because the program's path is
//! machine-specific), the MCP server into `.claude.json` (`.mcp.json` in a project). A hook is a
//! shell command line, because not every version supports `args`. Timeouts are in seconds. Settings
//! must be plain JSON: Claude Code ignores a file with comments. Copilot CLI also runs the hooks of
//! a project's `.claude`.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{
    AgentIntegration, OffSwitch, build_hook_groups, bundle_manifest, common_bundle_files,
    mcp_server_settings, owned_file, render_hooks_file, skill_file, to_pretty_json,
};
use crate::setup::{
    ArgumentHint, COMMANDS, Environment, InstallFile, LaunchCommand, render_navigator,
};

pub static INTEGRATION: AgentIntegration = AgentIntegration {
    name: "claude-code",
    title: "Claude Code",
    program: "claude",
    traces: |environment| vec![config_folder(environment), state_file(environment)],
    install_files,
    bundle,
    allows_comments: false,
    skill_folders: |environment| {
        vec![environment.project_or_user(".claude", config_folder(environment)).join("skills")]
    },
    manual_steps: &[],
    off_switch: Some(|environment| OffSwitch {
        path: settings_file(environment),
        pointer: "/disableAllHooks",
        off: true,
    }),
};

/// Tools that edit files or start a subagent: memory may inject a text before they run.
const NOTICED_TOOLS: &str = "Edit|Write|MultiEdit|NotebookEdit|Agent|Task";

/// Events with content of their own. Omitted: events that another one repeats (`PermissionRequest`, `PostToolBatch`, `MessageDisplay`, `UserPromptExpansion`, `PreCompact`),
/// and events about the program rather than the work.
const HOOK_EVENTS: [(&str, u32); 10] = [
    ("SessionStart", 10),
    ("UserPromptSubmit", 5),
    ("PostToolUse", 5),
    ("PostToolUseFailure", 5),
    ("Stop", 10),
    ("StopFailure", 5),
    ("SubagentStart", 5),
    ("SubagentStop", 5),
    ("PostCompact", 5),
    ("SessionEnd", 5),
];

fn config_folder(environment: &Environment<'_>) -> PathBuf {
    environment.folder_or_default("CLAUDE_CONFIG_DIR", ".claude")
}

/// Claude Code's state file, which holds the user-level MCP servers.
fn state_file(environment: &Environment<'_>) -> PathBuf {
    let moved = environment.folder_from_var("CLAUDE_CONFIG_DIR");
    moved.unwrap_or_else(|| environment.home.clone()).join(".claude.json")
}

fn settings_file(environment: &Environment<'_>) -> PathBuf {
    environment.project_or_user(
        ".claude/settings.local.json",
        config_folder(environment).join("settings.json"),
    )
}

/// The hooks, with `PreToolUse` for the tools before which memory may inject a text. It records
/// nothing, and a failing hook does not block the tool in Claude Code.
fn all_hook_groups(line: &str) -> Vec<(&'static str, Value)> {
    let hook = json!({ "type": "command", "command": line, "timeout": 5 });
    let mut groups = build_hook_groups(line, &HOOK_EVENTS);
    groups.push(("PreToolUse", json!({ "matcher": NOTICED_TOOLS, "hooks": [hook] })));
    groups
}

fn install_files(environment: &Environment<'_>) -> Vec<InstallFile> {
    let own_folder = environment.project_or_user(".claude", config_folder(environment));
    let line = environment.launch.shell_line(&["hook", "claude-code"]);
    // Copilot CLI also reads a project's `.mcp.json`, so it names no agent.
    let server = mcp_server_settings(
        &environment.launch,
        environment.project.is_none().then_some(INTEGRATION.name),
    );
    // Copilot CLI runs the hooks of a project's `.claude` too, and there a failing `PreToolUse` blocks.
    let hooks = match environment.project {
        Some(_) => build_hook_groups(&line, &HOOK_EVENTS),
        None => all_hook_groups(&line),
    };
    let mut parts = vec![
        InstallFile::with_hooks(settings_file(environment), hooks),
        InstallFile::with_server(
            environment.project_or_user(".mcp.json", state_file(environment)),
            "mcpServers",
            server,
        ),
        skill_file(&own_folder.join("skills")),
        owned_file(own_folder.join("agents/memory-navigator.md"), navigator_agent()),
    ];
    parts.extend(COMMANDS.iter().map(|command| {
        let path = own_folder.join("commands").join(format!("{}.md", command.name));
        owned_file(path, command.to_markdown(ArgumentHint::Include))
    }));
    parts
}

fn navigator_agent() -> String {
    render_navigator("name: memory-navigator\ndisallowedTools: Write, Edit, NotebookEdit\n")
}

fn bundle(launch: &LaunchCommand) -> Vec<(String, String)> {
    let mut about = bundle_manifest();
    about.insert("license".to_owned(), json!("MIT OR Apache-2.0"));
    about.insert("author".to_owned(), json!({ "name": "Tome" }));
    about.insert("keywords".to_owned(), json!(["memory", "recall", "history"]));
    let line = launch.shell_line(&["hook", "claude-code"]);
    let mut files = vec![
        (".claude-plugin/plugin.json".to_owned(), to_pretty_json(&Value::Object(about))),
        ("hooks/hooks.json".to_owned(), render_hooks_file(&all_hook_groups(&line))),
        (
            ".mcp.json".to_owned(),
            to_pretty_json(
                &json!({ "mcpServers": { "tome": mcp_server_settings(launch, Some(INTEGRATION.name)) } }),
            ),
        ),
        ("agents/memory-navigator.md".to_owned(), navigator_agent()),
    ];
    files.extend(common_bundle_files());
    files.extend(COMMANDS.iter().map(|command| {
        (format!("commands/{}.md", command.name), command.to_markdown(ArgumentHint::Include))
    }));
    files
}
