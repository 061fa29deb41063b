//! Installs Tome into Codex.
//!
//! Hooks go into `hooks.json`, which Codex parses strictly; the MCP server into `config.toml`. A
//! hook is a shell command line. Timeouts are in seconds, at most three at session end. Codex runs
//! a hook only after the user has reviewed and trusted it; setup leaves that to the user.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::{
    AgentIntegration, build_hook_groups, bundle_manifest, common_bundle_files, mcp_server_args,
    mcp_server_settings, render_hooks_file, shared_skills_folder, skill_file,
    skill_folders_with_shared, to_pretty_json,
};
use crate::setup::{Environment, InstallContent, InstallFile, LaunchCommand};

pub static INTEGRATION: AgentIntegration = AgentIntegration {
    name: "codex",
    title: "Codex",
    program: "codex",
    traces: |environment| vec![codex_config_folder(environment)],
    install_files,
    bundle,
    allows_comments: false,
    skill_folders: |environment| {
        skill_folders_with_shared(
            environment,
            &[".codex/skills"],
            &[codex_config_folder(environment).join("skills")],
        )
    },
    manual_steps: &[
        "Codex runs hooks only after you trust them: start codex, type /hooks and trust Tome's",
    ],
    off_switch: None,
};

/// Events with content of their own. `PostToolUse` repeats `PreToolUse` and `PermissionRequest`,
/// and `PostCompact` repeats `PreCompact`; `PreModelRequest` carries nothing; versions that do not
/// know `Interrupt` reject the whole file.
const HOOK_EVENTS: [(&str, u32); 8] = [
    ("SessionStart", 10),
    ("UserPromptSubmit", 5),
    ("PostToolUse", 5),
    ("Stop", 10),
    ("SubagentStart", 5),
    ("SubagentStop", 5),
    ("PostCompact", 5),
    ("SessionEnd", 3),
];

pub fn codex_config_folder(environment: &Environment<'_>) -> PathBuf {
    environment.folder_or_default("CODEX_HOME", ".codex")
}

fn install_files(environment: &Environment<'_>) -> Vec<InstallFile> {
    let own_folder = environment.project_or_user(".codex", codex_config_folder(environment));
    let line = environment.launch.shell_line(&["hook", "codex"]);
    let (program, args) = (
        environment.launch.program.clone(),
        mcp_server_args(&environment.launch, Some(INTEGRATION.name)),
    );
    vec![
        InstallFile::with_hooks(
            own_folder.join("hooks.json"),
            build_hook_groups(&line, &HOOK_EVENTS),
        ),
        InstallFile {
            path: own_folder.join("config.toml"),
            content: InstallContent::Toml { program, args },
        },
        skill_file(&shared_skills_folder(environment)),
    ]
}

fn bundle(launch: &LaunchCommand) -> Vec<(String, String)> {
    let mut about = bundle_manifest();
    about.insert("skills".to_owned(), json!("./skills/"));
    about.insert("hooks".to_owned(), json!("./hooks/hooks.json"));
    about.insert("mcpServers".to_owned(), json!("./.mcp.json"));
    let line = launch.shell_line(&["hook", "codex"]);
    let mut files = vec![
        (".codex-plugin/plugin.json".to_owned(), to_pretty_json(&Value::Object(about))),
        ("hooks/hooks.json".to_owned(), render_hooks_file(&build_hook_groups(&line, &HOOK_EVENTS))),
        (
            ".mcp.json".to_owned(),
            to_pretty_json(
                &json!({ "mcpServers": { "tome": mcp_server_settings(launch, Some(INTEGRATION.name)) } }),
            ),
        ),
    ];
    files.extend(common_bundle_files());
    files
}
