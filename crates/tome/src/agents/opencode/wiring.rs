//! How Tome is wired into OpenCode.
//!
//! OpenCode has no hooks in its settings: a plugin of a page or two hands on what happens, and puts
//! the answers where the model reads them. The MCP server goes into `opencode.json` or
//! `opencode.jsonc`, whichever is there; its command is one list.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::agents::wiring::{Client, bundled, own, pretty, server_args, skill_in};
use crate::setup::{COMMANDS, Ground, Hint, Launch, Part, navigator, opencode_plugin};

pub(in crate::agents) static CLIENT: Client = Client {
    name: "opencode",
    title: "OpenCode",
    program: "opencode",
    traces: |ground| vec![folder(ground)],
    parts,
    bundle,
    takes_comments: true,
    to_do: &[],
    off_switch: None,
};

fn folder(ground: &Ground<'_>) -> PathBuf {
    let config = ground.folder("XDG_CONFIG_HOME", ".config");
    ground.named("OPENCODE_CONFIG_DIR").unwrap_or_else(|| config.join("opencode"))
}

fn parts(ground: &Ground<'_>) -> Vec<Part> {
    let own_folder = ground.either(".opencode", folder(ground));
    let settings = settings_in(&ground.either("", folder(ground)));
    let mut parts = vec![
        own(own_folder.join("plugins/tome.js"), opencode_plugin(&ground.launch)),
        Part::server(settings, "mcp", mcp(&ground.launch)),
        skill_in(&own_folder.join("skills")),
        own(own_folder.join("agents/memory-navigator.md"), agent()),
    ];
    parts.extend(COMMANDS.iter().map(|command| {
        let path = own_folder.join("commands").join(format!("{}.md", command.name));
        own(path, command.markdown(Hint::Left))
    }));
    parts
}

fn settings_in(folder: &Path) -> PathBuf {
    let with_comments = folder.join("opencode.jsonc");
    if with_comments.exists() { with_comments } else { folder.join("opencode.json") }
}

fn mcp(launch: &Launch) -> Value {
    let mut command = vec![launch.program.clone()];
    command.extend(server_args(launch, Some(CLIENT.name)));
    json!({ "type": "local", "command": command, "enabled": true })
}

fn agent() -> String {
    navigator("mode: subagent\n")
}

fn bundle(launch: &Launch) -> Vec<(String, String)> {
    let settings = json!({ "mcp": { "tome": mcp(launch) } });
    let mut files = vec![
        ("plugins/tome.js".to_owned(), opencode_plugin(launch)),
        ("opencode.json".to_owned(), pretty(&settings)),
        ("agents/memory-navigator.md".to_owned(), agent()),
    ];
    files.extend(bundled());
    files.extend(
        COMMANDS
            .iter()
            .map(|command| (format!("commands/{}.md", command.name), command.markdown(Hint::Left))),
    );
    files
}
