//! Installs Tome into Codex.
//!
//! Hooks go into `hooks.json`, which Codex parses strictly; the MCP server into `config.toml`. A
//! hook is a shell command line. Timeouts are in seconds, at most three at session end. Codex runs
//! a hook only after the user has reviewed and trusted it; setup leaves that to the user.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::agents::wiring::{
    Client, bundled, groups, hooks_file, manifest, pretty, server, server_args, shared_skills,
    skill_folders_beside_shared, skill_in,
};
use crate::setup::{Form, Ground, Launch, Part};

pub(in crate::agents) static CLIENT: Client = Client {
    name: "codex",
    title: "Codex",
    program: "codex",
    traces: |ground| vec![folder(ground)],
    parts,
    bundle,
    takes_comments: false,
    skill_folders: |ground| {
        skill_folders_beside_shared(ground, &[".codex/skills"], &[folder(ground).join("skills")])
    },
    to_do: &[
        "Codex runs hooks only after you trust them: start codex, type /hooks and trust Tome's",
    ],
    off_switch: None,
};

/// Events with content of their own. `PostToolUse` repeats `PreToolUse` and `PermissionRequest`,
/// and `PostCompact` repeats `PreCompact`; `PreModelRequest` carries nothing; versions that do not
/// know `Interrupt` reject the whole file.
const EVENTS: [(&str, u32); 8] = [
    ("SessionStart", 10),
    ("UserPromptSubmit", 5),
    ("PostToolUse", 5),
    ("Stop", 10),
    ("SubagentStart", 5),
    ("SubagentStop", 5),
    ("PostCompact", 5),
    ("SessionEnd", 3),
];

fn folder(ground: &Ground<'_>) -> PathBuf {
    ground.folder("CODEX_HOME", ".codex")
}

fn parts(ground: &Ground<'_>) -> Vec<Part> {
    let own_folder = ground.either(".codex", folder(ground));
    let line = ground.launch.line(&["hook", "codex"]);
    let (program, args) =
        (ground.launch.program.clone(), server_args(&ground.launch, Some(CLIENT.name)));
    vec![
        Part::hooks(own_folder.join("hooks.json"), groups(&line, &EVENTS)),
        Part { path: own_folder.join("config.toml"), form: Form::Toml { program, args } },
        skill_in(&shared_skills(ground)),
    ]
}

fn bundle(launch: &Launch) -> Vec<(String, String)> {
    let mut about = manifest();
    about.insert("skills".to_owned(), json!("./skills/"));
    about.insert("hooks".to_owned(), json!("./hooks/hooks.json"));
    about.insert("mcpServers".to_owned(), json!("./.mcp.json"));
    let line = launch.line(&["hook", "codex"]);
    let mut files = vec![
        (".codex-plugin/plugin.json".to_owned(), pretty(&Value::Object(about))),
        ("hooks/hooks.json".to_owned(), hooks_file(&groups(&line, &EVENTS))),
        (
            ".mcp.json".to_owned(),
            pretty(&json!({ "mcpServers": { "tome": server(launch, Some(CLIENT.name)) } })),
        ),
    ];
    files.extend(bundled());
    files
}
