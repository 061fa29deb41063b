//! Installs Tome into Copilot CLI.
//!
//! Hooks are a separate file, the MCP server goes into `mcp-config.json` (`.github/mcp.json` in a
//! project). Payloads do not name their event, so the command line does. Timeouts are in seconds.
//! `preToolUse` is omitted, because a failing hook of that kind would block the tool.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tome_home::{FinalLink, open_regular};

use crate::agents::wiring::{
    Client, bundled, manifest, own, pretty, server_args, shared_skills,
    skill_folders_beside_shared, skill_in,
};
use crate::setup::{COMMANDS, Ground, Hint, Launch, Part, hooks_text, navigator};

pub(in crate::agents) static CLIENT: Client = Client {
    name: "copilot",
    title: "Copilot CLI",
    program: "copilot",
    traces: |ground| vec![folder(ground)],
    parts,
    bundle,
    takes_comments: true,
    skill_folders: |ground| {
        skill_folders_beside_shared(
            ground,
            &[".github/skills", ".claude/skills"],
            &[folder(ground).join("skills")],
        )
    },
    to_do: &[],
    off_switch: None,
};

/// Events with content of their own, in the dialect with the most fields.
const EVENTS: [(&str, u32); 10] = [
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

fn folder(ground: &Ground<'_>) -> PathBuf {
    ground.folder("COPILOT_HOME", ".copilot")
}

/// Hooks file relative to a project.
const IN_PROJECT: &str = ".github/hooks/tome.json";

/// Read limit for a hooks file; Tome's own has two kilobytes.
const HOOKS_BYTES_MAX: u64 = 64 * 1024;

/// Text that occurs only in Tome's own hooks file.
const OWN_HOOK: &str = "hook copilot sessionStart";

/// Returns whether Copilot CLI has hooks of its own for Tome in `cwd`, either the user's or the
/// project's. `var` reads an environment variable.
pub fn has_own_hooks(var: &dyn Fn(&str) -> Option<String>, cwd: &Path) -> bool {
    let named = |name: &str| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let of_person = named("COPILOT_HOME").or_else(|| Some(named("HOME")?.join(".copilot")));
    let of_person = of_person.map(|folder| folder.join("hooks/tome.json"));
    let of_projects = cwd.ancestors().map(|folder| folder.join(IN_PROJECT));
    // A repository may contain anything here: links, pipes, devices and long files are not read.
    let says = |path: PathBuf| {
        let mut text = String::new();
        let read = open_regular(&path, FinalLink::Refuse)
            .and_then(|file| file.take(HOOKS_BYTES_MAX).read_to_string(&mut text));
        read.is_ok() && text.contains(OWN_HOOK)
    };
    of_person.into_iter().chain(of_projects).any(says)
}

fn parts(ground: &Ground<'_>) -> Vec<Part> {
    let of_person = folder(ground);
    let hooks = ground.either(IN_PROJECT, of_person.join("hooks/tome.json"));
    let servers = ground.either(".github/mcp.json", of_person.join("mcp-config.json"));
    let agents = ground.either(".github/agents", of_person.join("agents"));
    vec![
        Part::text(hooks, hooks_of(&ground.launch), OWN_HOOK),
        Part::server(servers, "mcpServers", mcp(&ground.launch)),
        skill_in(&shared_skills(ground)),
        own(agents.join("memory-navigator.agent.md"), agent()),
    ]
}

fn hooks_of(launch: &Launch) -> String {
    let hook = |event: &str, timeout: u32| {
        let line = launch.line(&["hook", "copilot", event]);
        json!({ "type": "command", "bash": line, "powershell": line, "timeoutSec": timeout })
    };
    let hooks: Vec<(&str, Value)> =
        EVENTS.iter().map(|(event, timeout)| (*event, hook(event, *timeout))).collect();
    hooks_text(&[("version", json!(1))], &hooks)
}

fn mcp(launch: &Launch) -> Value {
    let args = server_args(launch, Some(CLIENT.name));
    json!({ "type": "local", "command": launch.program, "args": args, "tools": ["*"] })
}

fn agent() -> String {
    navigator("name: memory-navigator\n")
}

fn bundle(launch: &Launch) -> Vec<(String, String)> {
    let mut about = manifest();
    about.insert("skills".to_owned(), json!("./skills/"));
    about.insert("agents".to_owned(), json!("./agents/"));
    about.insert("commands".to_owned(), json!("./commands/"));
    about.insert("hooks".to_owned(), json!("./hooks.json"));
    about.insert("mcpServers".to_owned(), json!("./.mcp.json"));
    let mut files = vec![
        ("plugin.json".to_owned(), pretty(&Value::Object(about))),
        ("hooks.json".to_owned(), hooks_of(launch)),
        (".mcp.json".to_owned(), pretty(&json!({ "mcpServers": { "tome": mcp(launch) } }))),
        ("agents/memory-navigator.agent.md".to_owned(), agent()),
    ];
    files.extend(bundled());
    files.extend(
        COMMANDS
            .iter()
            .map(|command| (format!("commands/{}.md", command.name), command.markdown(Hint::Said))),
    );
    files
}
