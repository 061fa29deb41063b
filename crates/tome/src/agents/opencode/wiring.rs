//! Installs Tome into OpenCode.
//!
//! OpenCode has no hooks in its settings: a small plugin passes events on and places the responses
//! where the model reads them. The MCP server goes into `opencode.json` or `opencode.jsonc`,
//! whichever exists; its command is a single list.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::agents::wiring::{
    Client, bundled, own, pretty, server_args, shared_skills, skill_folders_beside_shared, skill_in,
};
use crate::setup::{COMMANDS, Ground, Hint, Launch, Part, navigator, opencode_plugin};

pub(in crate::agents) static CLIENT: Client = Client {
    name: "opencode",
    title: "OpenCode",
    program: "opencode",
    traces: |ground| vec![folder(ground)],
    parts,
    bundle,
    takes_comments: true,
    skill_folders,
    to_do: &[
        "Start OpenCode once while online: it installs the package @opencode-ai/plugin for any plugin, and \
              until then a start without a network takes 80 seconds or more",
    ],
    off_switch: None,
};

fn folder(ground: &Ground<'_>) -> PathBuf {
    let config = ground.folder("XDG_CONFIG_HOME", ".config");
    ground.named("OPENCODE_CONFIG_DIR").unwrap_or_else(|| config.join("opencode"))
}

/// The package that OpenCode installs for any plugin. While it is missing, OpenCode retries before
/// every start.
pub const PACKAGE: &str = "@opencode-ai/plugin";

pub fn package_folder(ground: &Ground<'_>) -> PathBuf {
    folder(ground).join("node_modules").join(PACKAGE)
}

/// OpenCode also reads Claude Code's skills. Of two with the same name it uses the last.
fn skill_folders(ground: &Ground<'_>) -> Vec<PathBuf> {
    let of_person = [
        ground.folder("CLAUDE_CONFIG_DIR", ".claude").join("skills"),
        folder(ground).join("skills"),
        folder(ground).join("skill"),
    ];
    let in_project = [".claude/skills", ".opencode/skills", ".opencode/skill"];
    skill_folders_beside_shared(ground, &in_project, &of_person)
}

fn parts(ground: &Ground<'_>) -> Vec<Part> {
    let own_folder = ground.either(".opencode", folder(ground));
    let settings = settings_in(&ground.either("", folder(ground)));
    let mut parts = vec![
        own(own_folder.join("plugins/tome.js"), opencode_plugin(&ground.launch)),
        Part::server(settings, "mcp", mcp(&ground.launch)),
        skill_in(&shared_skills(ground)),
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
