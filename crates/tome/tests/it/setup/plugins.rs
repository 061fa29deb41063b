//! The plugins: the repository contains what is generated, and OpenCode's works. The latter runs
//! under Node and is skipped with a notice if that is missing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

use super::{done, one, read, run, world};
use crate::support::{daemon_up, in_parallel, strings};

fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let all = super::tree(folder).into_iter().filter(|(path, _)| path.is_file());
    all.map(|(path, _)| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.strip_prefix(folder).unwrap().to_path_buf(), text)
    })
    .collect()
}

#[test]
fn the_plugins_in_the_repository_are_up_to_date() {
    let world = world();
    let folder = world.folder("plugins");
    let ran = run(&world, &["--plugins", folder.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let committed = Path::new("../../plugins").canonicalize().unwrap();
    let (made, kept) = (files(&folder), files(&committed));
    assert_eq!(made.keys().collect::<Vec<_>>(), kept.keys().collect::<Vec<_>>());
    for (path, text) in made {
        let path = path.display();
        assert_eq!(
            text,
            kept[&PathBuf::from(path.to_string())],
            "{path}: `tome setup --plugins plugins`"
        );
    }
}

/// Every JSON file is valid, and every Markdown file with frontmatter has a description.
#[test]
fn the_plugins_are_complete() {
    let world = world();
    let folder = world.folder("plugins");
    assert_eq!(run(&world, &["--plugins", folder.to_str().unwrap()]).code, 0);
    for (path, text) in files(&folder) {
        let shown = path.display();
        match path.extension().and_then(|end| end.to_str()) {
            Some("json") => drop(serde_json::from_str::<Value>(&text).unwrap()),
            Some("toml") => {
                let command: toml::Table = text.parse().unwrap_or_else(|e| panic!("{shown}: {e}"));
                assert!(command["prompt"].as_str().unwrap().contains("{{args}}"), "{shown}");
            }
            Some("md") if !path.ends_with("README.md") => {
                let head = text.strip_prefix("---\n").and_then(|text| text.split_once("\n---\n"));
                let (head, body) = head.unwrap_or_else(|| panic!("{shown} has no frontmatter"));
                assert!(head.contains("description: "), "{shown}");
                assert!(
                    head.lines().all(|line| line.matches(": ").count() == 1),
                    "{shown}: {head}"
                );
                assert!(!body.contains("{{args}}"), "{shown}");
            }
            _ => {}
        }
        assert!(!text.contains(world.program().to_str().unwrap()), "{shown} runs tome by name");
    }
}

pub fn node() -> Option<Command> {
    let found = Command::new("node").arg("--version").output();
    if found.is_ok_and(|found| found.status.success()) {
        return Some(Command::new("node"));
    }
    println!("skipped: there is no node on the PATH to run OpenCode's plugin");
    None
}

/// Puts OpenCode's plugin, as written by setup, beside a driver; it runs this command for Tome, and waits
/// for its responses however busy the machine is.
pub fn write_plugin(world: &World, tome: &Value) {
    let plugin = read(world, ".config/opencode/plugins/tome.js");
    let plugin = with_constant(&plugin, "TOME", &tome.to_string());
    let plugin = with_constant(&plugin, "WAIT_MS", "600_000");
    world.write("driver/tome.mjs", &plugin);
}

/// Replaces the value of a constant of the plugin.
fn with_constant(plugin: &str, name: &str, value: &str) -> String {
    let start = plugin.find(&format!("const {name} = ")).unwrap();
    let end = start + plugin[start..].find('\n').unwrap();
    format!("{}const {name} = {value}{}", &plugin[..start], &plugin[end..])
}

/// Runs OpenCode's plugin through a session of the terminal interface, which runs plugins in a
/// worker; returns what it did.
fn session(world: &World, node: &mut Command, tome: &Value) -> Value {
    write_plugin(world, tome);
    world.write("driver/driver.mjs", DRIVER);
    let worker = "import { Worker } from 'node:worker_threads'\n\
                  new Worker(new URL('./driver.mjs', import.meta.url))\n";
    node.arg(world.write("driver/worker.mjs", worker))
        .env_clear()
        .current_dir(world.folder("elsewhere"));
    node.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    node.env("HOME", world.folder("person")).env("TMPDIR", world.folder("tmp"));
    node.env("TOME_DAEMON_IDLE_EXIT", "2m").env("TOME_HOOK_PATIENCE", "20");
    let ran = World::run(node, b"");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    ran.json()
}

const DRIVER: &str = r#"
import * as module from "./tome.mjs"
if (Object.keys(module).join() !== "Tome") throw new Error("OpenCode runs every export")
const prompted = []
const client = { session: { promptAsync: async (asked) => void prompted.push(asked) } }
const hooks = await module.Tome({ client, directory: "/app", worktree: "/app" })
const sessionID = "ses_1"
const bus = (type, properties) => hooks.event({ event: { type, properties } })
const part = (part) => bus("message.part.updated", { sessionID, part: { sessionID, messageID: "m2", ...part } })

await bus("session.created", { sessionID, info: { id: sessionID, directory: "/app", title: "t", time: { created: 1794735000000 } } })
await bus("session.updated", { sessionID, info: { id: sessionID } })
const title = { system: ["You are a title generator. Be brief."] }
await hooks["experimental.chat.system.transform"]({ sessionID }, title)
const system = { system: ["You are a coding agent."] }
await hooks["experimental.chat.system.transform"]({ sessionID }, system)
const resumed = { system: [] }
await hooks["experimental.chat.system.transform"]({ sessionID: "ses_0" }, resumed)
const message = { id: "msg_1", role: "user", sessionID, time: { created: 1794735001000 } }
const prompt = { message, parts: [{ type: "text", text: "fix the lexer", id: "p1", messageID: "msg_1", sessionID }] }
await hooks["chat.message"]({ sessionID }, prompt)
const tool = { title: "ls", output: "a.rs", metadata: { exit: 0 } }
await hooks["tool.execute.after"]({ tool: "bash", sessionID, callID: "call_000000001", args: { command: "ls" } }, tool)
const mcp = { content: [{ type: "text", text: "found" }] }
await hooks["tool.execute.after"]({ tool: "x_y", sessionID, callID: "call_000000002", args: {} }, mcp)
await part({ id: "p2", type: "text", text: "Do" })
await part({ id: "p2", type: "text", text: "Done.", time: { start: 1794735002000, end: 1794735003000 } })
await part({ id: "p3", type: "tool", tool: "edit", callID: "call_000000003", state: { status: "running", input: {} } })
await part({ id: "p3", type: "tool", tool: "edit", callID: "call_000000003", state: { status: "error", input: { a: 1 }, error: "no such file" } })
await bus("todo.updated", { sessionID, todos: [] })
const compaction = { context: [] }
await hooks["experimental.session.compacting"]({ sessionID }, compaction)
const summary = { id: "m3", role: "assistant", sessionID, summary: true }
await bus("message.updated", { sessionID, info: summary })
const during = { system: [] }
await hooks["experimental.chat.system.transform"]({ sessionID }, during)
await part({ id: "p4", messageID: "m3", type: "text", text: "We fixed the lexer.", time: { start: 1794735004000, end: 1794735005000 } })
await bus("session.compacted", { sessionID })
const after = { system: [] }
await hooks["experimental.chat.system.transform"]({ sessionID }, after)
await bus("session.idle", { sessionID })
const stopped = Date.now()
while (Date.now() === stopped);
await bus("session.idle", { sessionID })
await hooks.event({})
await hooks.event({ event: { type: "session.error", properties: { error: { name: "no session" } } } })
await hooks["experimental.chat.system.transform"](undefined, undefined)
await hooks.dispose()
console.log(JSON.stringify({ title, system, resumed, parts: prompt.parts, tool, mcp, compaction, during, after, prompted }))
"#;

#[test]
fn opencodes_plugin_reports_events() {
    let Some(mut node) = node() else { return };
    let world = one("opencode");
    done(&world, &[]);
    world.tome(&["start"]);
    daemon_up(&world);
    session(&world, &mut node, &json!([world.program(), "--home", world.home()]));
    let expected = [
        "assistant_message",
        "assistant_stop",
        "assistant_stop",
        "compaction",
        "session_end",
        "session_end",
        "session_start",
        "session_start",
        "tool_result",
        "tool_result",
        "tool_result",
        "user_message",
    ];
    // A hook that misses its deadline continues in a background process.
    let events = eventually("all events", || {
        let events = world.events();
        (events.len() >= expected.len()).then_some(events)
    });
    let mut kinds = strings(&events, "kind");
    kinds.sort_unstable();
    assert_eq!(kinds, expected, "{events:#?}");
    let compaction = events.iter().find(|event| event["kind"] == "compaction").unwrap();
    assert_eq!(compaction["text"], "We fixed the lexer.");
    let texts = strings(&events, "text");
    assert!(texts.contains(&"fix the lexer") && texts.contains(&"Done."), "{texts:?}");
    assert!(events.iter().all(|event| event["cwd"] == "/app"), "{events:#?}");
}

/// Responses are placed where the model reads them; at the end there is one nudge.
#[test]
fn opencodes_plugin_places_responses_where_the_model_reads_them() {
    let Some(mut node) = node() else { return };
    let world = one("opencode");
    done(&world, &[]);
    let fake = world.write(
        "driver/fake.sh",
        r#"cat >/dev/null
case "$3" in
session.idle) echo '{"decision": "block", "reason": "store it"}' ;;
*) printf '{"context": "memory of %s"}' "$3" ;;
esac"#,
    );
    let did = session(&world, &mut node, &json!(["sh", fake]));
    assert_eq!(did["title"]["system"].as_array().unwrap().len(), 1, "the title needs no memory");
    assert_eq!(did["system"]["system"][1], "memory of session.created");
    assert_eq!(did["resumed"]["system"][0], "memory of session.resumed");
    assert_eq!(did["after"]["system"], json!(["memory of session.compacted"]));
    let part = &did["parts"][1];
    assert_eq!(
        (&part["text"], &part["synthetic"]),
        (&json!("memory of chat.message"), &json!(true))
    );
    assert_eq!((&part["messageID"], &part["sessionID"]), (&json!("msg_1"), &json!("ses_1")));
    assert_eq!(did["tool"]["output"], "a.rs\n\nmemory of tool.execute.after");
    assert_eq!(did["mcp"]["content"][1]["text"], "memory of tool.execute.after");
    assert_eq!(did["compaction"]["context"], json!([]), "a summary is made of the session alone");
    assert_eq!(did["during"]["system"], json!([]));
    assert_eq!(did["prompted"].as_array().unwrap().len(), 1, "once: {did}");
    assert_eq!(did["prompted"][0]["body"]["parts"][0]["text"], "store it");
}

/// Without Tome, or with invalid responses, OpenCode behaves as without the plugin.
#[test]
fn opencodes_plugin_breaks_nothing() {
    in_parallel(["", "not json", "7", "{\"context\": 7}", "{\"context\": \"\"}"], |nonsense| {
        let Some(mut node) = node() else { return };
        let world = one("opencode");
        done(&world, &[]);
        let fake = world.write("driver/fake.sh", &format!("printf '%s' '{nonsense}'"));
        let tome = if nonsense.is_empty() { json!(["/no/such/tome"]) } else { json!(["sh", fake]) };
        let did = session(&world, &mut node, &tome);
        assert_eq!(did["system"]["system"], json!(["You are a coding agent."]));
        assert_eq!(did["parts"].as_array().unwrap().len(), 1);
        assert_eq!(did["tool"]["output"], "a.rs");
        assert_eq!(did["prompted"], json!([]));
    });
}
