//! Installs Tome into Claude Code.
//!
//! Hooks go into `settings.json` (`settings.local.json` in a project, because the program's path is
//! machine-specific), the MCP server into `.claude.json` (`.mcp.json` in a project). A hook is a
//! shell command line, because not every version supports `args`. Timeouts are in seconds. Settings
//! must be plain JSON: Claude Code ignores a file with comments. Copilot CLI also runs the hooks of
//! a project's `.claude`.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::agents::wiring::{
    Client, OffSwitch, bundled, groups, hooks_file, manifest, own, pretty, server, skill_in,
};
use crate::setup::{COMMANDS, Ground, Hint, Launch, Part, navigator};

pub(in crate::agents) static CLIENT: Client = Client {
    name: "claude-code",
    title: "Claude Code",
    program: "claude",
    traces: |ground| vec![folder(ground), state(ground)],
    parts,
    bundle,
    takes_comments: false,
    skill_folders: |ground| vec![ground.either(".claude", folder(ground)).join("skills")],
    to_do: &[],
    off_switch: Some(|ground| OffSwitch {
        path: settings(ground),
        pointer: "/disableAllHooks",
        off: true,
    }),
};

/// Events with content of their own. Omitted: events that another one repeats (`PreToolUse`,
/// `PermissionRequest`, `PostToolBatch`, `MessageDisplay`, `UserPromptExpansion`, `PreCompact`),
/// and events about the program rather than the work.
const EVENTS: [(&str, u32); 10] = [
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

fn folder(ground: &Ground<'_>) -> PathBuf {
    ground.folder("CLAUDE_CONFIG_DIR", ".claude")
}

/// Claude Code's state file, which holds the user-level MCP servers.
fn state(ground: &Ground<'_>) -> PathBuf {
    let moved = ground.named("CLAUDE_CONFIG_DIR");
    moved.unwrap_or_else(|| ground.home.clone()).join(".claude.json")
}

fn settings(ground: &Ground<'_>) -> PathBuf {
    ground.either(".claude/settings.local.json", folder(ground).join("settings.json"))
}

fn parts(ground: &Ground<'_>) -> Vec<Part> {
    let own_folder = ground.either(".claude", folder(ground));
    let line = ground.launch.line(&["hook", "claude-code"]);
    // Copilot CLI also reads a project's `.mcp.json`, so it names no agent.
    let server = server(&ground.launch, ground.project.is_none().then_some(CLIENT.name));
    let mut parts = vec![
        Part::hooks(settings(ground), groups(&line, &EVENTS)),
        Part::server(ground.either(".mcp.json", state(ground)), "mcpServers", server),
        skill_in(&own_folder.join("skills")),
        own(own_folder.join("agents/memory-navigator.md"), agent()),
    ];
    parts.extend(COMMANDS.iter().map(|command| {
        let path = own_folder.join("commands").join(format!("{}.md", command.name));
        own(path, command.markdown(Hint::Said))
    }));
    parts
}

fn agent() -> String {
    navigator("name: memory-navigator\ndisallowedTools: Write, Edit, NotebookEdit\n")
}

fn bundle(launch: &Launch) -> Vec<(String, String)> {
    let mut about = manifest();
    about.insert("license".to_owned(), json!("MIT OR Apache-2.0"));
    about.insert("author".to_owned(), json!({ "name": "Tome" }));
    about.insert("keywords".to_owned(), json!(["memory", "recall", "history"]));
    let line = launch.line(&["hook", "claude-code"]);
    let mut files = vec![
        (".claude-plugin/plugin.json".to_owned(), pretty(&Value::Object(about))),
        ("hooks/hooks.json".to_owned(), hooks_file(&groups(&line, &EVENTS))),
        (
            ".mcp.json".to_owned(),
            pretty(&json!({ "mcpServers": { "tome": server(launch, Some(CLIENT.name)) } })),
        ),
        ("agents/memory-navigator.md".to_owned(), agent()),
    ];
    files.extend(bundled());
    files.extend(
        COMMANDS
            .iter()
            .map(|command| (format!("commands/{}.md", command.name), command.markdown(Hint::Said))),
    );
    files
}
