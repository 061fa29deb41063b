//! Installs Tome into Gemini CLI.
//!
//! Hooks and the MCP server go into `settings.json`. A hook is a named shell command line. Timeouts
//! are in milliseconds. Gemini CLI passes few environment variables on, so a non-default Tome home
//! is part of the command.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::agents::wiring::{
    Client, OffSwitch, bundled, hooks_file, manifest, own, pretty, server, shared_skills,
    skill_folders_beside_shared, skill_in,
};
use crate::setup::{COMMANDS, Form, Ground, Launch, Part, Server, navigator};

pub(in crate::agents) static CLIENT: Client = Client {
    name: "gemini",
    title: "Gemini CLI",
    program: "gemini",
    traces: |ground| vec![folder(ground)],
    parts,
    bundle,
    takes_comments: true,
    skill_folders: |ground| {
        skill_folders_beside_shared(ground, &[".gemini/skills"], &[folder(ground).join("skills")])
    },
    to_do: &[],
    off_switch: Some(|ground| OffSwitch {
        path: settings(ground),
        pointer: "/hooksConfig/enabled",
        off: false,
    }),
};

/// Events with content of their own. Omitted: what `AfterTool` repeats, what contains the whole
/// conversation (`BeforeModel`, `AfterModel`, `BeforeToolSelection`), and notifications.
/// `PreCompress` fires before every model turn; only a manual one is worth recording.
const EVENTS: [(&str, Option<&str>, u32); 6] = [
    ("SessionStart", None, 10_000),
    ("BeforeAgent", None, 5_000),
    ("AfterTool", None, 5_000),
    ("AfterAgent", None, 10_000),
    ("PreCompress", Some("manual"), 5_000),
    ("SessionEnd", None, 5_000),
];

fn folder(ground: &Ground<'_>) -> PathBuf {
    let home = ground.named("GEMINI_CLI_HOME").unwrap_or_else(|| ground.home.clone());
    home.join(".gemini")
}

fn settings(ground: &Ground<'_>) -> PathBuf {
    ground.either(".gemini", folder(ground)).join("settings.json")
}

fn parts(ground: &Ground<'_>) -> Vec<Part> {
    let own_folder = ground.either(".gemini", folder(ground));
    let hooks = named_groups(&ground.launch);
    let settings =
        server(&ground.launch, Some(CLIENT.name)).as_object().cloned().unwrap_or_default();
    let server = Some(Server { holder: "mcpServers", settings });
    let mut parts = vec![
        Part { path: own_folder.join("settings.json"), form: Form::Json { hooks, server } },
        skill_in(&shared_skills(ground)),
        own(own_folder.join("agents/memory-navigator.md"), agent()),
    ];
    parts.extend(COMMANDS.iter().map(|command| {
        own(own_folder.join("commands").join(format!("{}.toml", command.name)), command.toml())
    }));
    parts
}

fn named_groups(launch: &Launch) -> Vec<(&'static str, Value)> {
    let line = launch.line(&["hook", "gemini"]);
    let group = |matcher: Option<&str>, timeout: u32| {
        let hook =
            json!({ "name": "tome", "type": "command", "command": line, "timeout": timeout });
        match matcher {
            Some(matcher) => json!({ "matcher": matcher, "hooks": [hook] }),
            None => json!({ "hooks": [hook] }),
        }
    };
    EVENTS.iter().map(|(event, matcher, timeout)| (*event, group(*matcher, *timeout))).collect()
}

fn agent() -> String {
    navigator("name: memory-navigator\nkind: local\n")
}

fn bundle(launch: &Launch) -> Vec<(String, String)> {
    let mut about = manifest();
    about.insert("mcpServers".to_owned(), json!({ "tome": server(launch, Some(CLIENT.name)) }));
    let mut files = vec![
        ("gemini-extension.json".to_owned(), pretty(&Value::Object(about))),
        ("hooks/hooks.json".to_owned(), hooks_file(&named_groups(launch))),
        ("agents/memory-navigator.md".to_owned(), agent()),
    ];
    files.extend(bundled());
    files.extend(
        COMMANDS.iter().map(|command| (format!("commands/{}.toml", command.name), command.toml())),
    );
    files
}
