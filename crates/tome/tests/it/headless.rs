//! Runs with nobody at the keyboard: `claude -p`, `codex exec`, `gemini -p`, `copilot -p`. A hook that
//! asks for more there changes what the run prints, so it must be silent; and speak where a person is.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tome_testkit::World;

use crate::injections::{edit, hook_with, injections, stop};
use crate::scene::*;

/// One edit is work enough here, and the hook is in no hurry.
const FEW: [(&str, &str); 3] = [
    ("TOME_INJECT_STORE_TOOL_CALLS", "1"),
    ("TOME_HOOK_PATIENCE", "40"),
    ("TOME_INJECT_HEADLESS", "off"),
];

/// A client that is not Claude Code: how it is called, and its payloads.
struct Client {
    agent: &'static str,
    /// The program whose name the process has, and the name of what it runs.
    program: &'static str,
    script: &'static str,
    /// Called so, a person takes part.
    attended: &'static [&'static str],
    /// Called so, nobody does.
    headless: &'static [&'static [&'static str]],
    edit: fn(&Path) -> (Vec<&'static str>, Value),
    stop: fn(&Path) -> (Vec<&'static str>, Value),
}

const CLIENTS: [Client; 3] = [
    Client {
        agent: "codex",
        program: "codex",
        script: "codex.sh",
        attended: &["-m", "big"],
        headless: &[&["exec", "--json", "fix it"], &["-m", "big", "e", "fix it"]],
        edit: |app| (vec![], edit(app, "s1", 1)),
        stop: |app| (vec![], stop(app, "s1", false)),
    },
    Client {
        agent: "gemini",
        program: "node",
        script: "gemini.js",
        attended: &["-m", "flash"],
        headless: &[&["-p", "fix it"], &["--prompt=fix it"], &["fix"], &["--yolo", "fix it"]],
        edit: |app| {
            let payload = json!({"session_id": "s1", "cwd": app, "hook_event_name": "AfterTool",
                "timestamp": "2026-11-15T09:30:00.000Z", "tool_name": "replace",
                "tool_input": {"file_path": "src/a.rs"}, "tool_response": {"llmContent": "ok"}});
            (vec![], payload)
        },
        stop: |app| {
            let payload = json!({"session_id": "s1", "cwd": app, "hook_event_name": "AfterAgent",
                "timestamp": "2026-11-15T09:30:01.000Z", "prompt": "fix it",
                "prompt_response": "Fixed.", "stop_hook_active": false});
            (vec![], payload)
        },
    },
    Client {
        agent: "copilot",
        program: "copilot",
        script: "copilot.sh",
        attended: &["--allow-all-tools"],
        headless: &[&["-p", "fix it", "--allow-all-tools"], &["--prompt", "fix it"]],
        edit: |app| {
            let payload = json!({"sessionId": "s1", "cwd": app, "timestamp": MORNING_MS,
                "toolName": "edit", "toolArgs": {"path": "src/a.rs"},
                "toolResult": {"resultType": "success", "textResultForLlm": "edited"}});
            (vec!["postToolUse"], payload)
        },
        stop: |app| {
            let payload = json!({"sessionId": "s1", "cwd": app, "timestamp": MORNING_MS + 1_000,
                "stopReason": "end_turn", "stop_hook_active": false});
            (vec!["agentStop"], payload)
        },
    },
];

/// A project with a daemon that is there, so that only presence decides what is said.
fn ready(world: &World) -> PathBuf {
    assert_eq!(world.tome(&["start"]).code, 0);
    world.folder("app")
}

#[test]
fn claude_code_is_asked_only_where_somebody_is_there() {
    let world = world();
    let app = ready(&world);
    let says = |env: &[(&str, &str)], payload: &Value| {
        let env = [FEW.as_slice(), env].concat();
        hook_with(&world, &["claude-code"], payload, &env)
    };
    let print = [("CLAUDE_CODE_SESSION_ATTENDED", "0"), ("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")];
    let sdk = [("CLAUDE_CODE_ENTRYPOINT", "sdk-ts")];
    let server = [("CLAUDE_CODE_SESSION_ATTENDED", "1"), ("CI", "true")];
    let person = [("CLAUDE_CODE_SESSION_ATTENDED", "1"), ("CLAUDE_CODE_ENTRYPOINT", "cli")];
    assert_eq!(says(&print, &edit(&app, "s1", 1)), None);
    for env in [&print[..], &sdk, &server, &[]] {
        assert_eq!(says(env, &stop(&app, "s1", false)), None, "{env:?}");
    }
    // The work is still without lessons; whoever takes the session up again is asked.
    let mut last = stop(&app, "s1", false);
    last["last_assistant_message"] = json!("Done, with somebody there.");
    assert_eq!(says(&person, &last).unwrap()["decision"], "block");
    assert_eq!(strings(&injections(&world), "why"), ["store"]);
}

/// Whoever wants it can have it.
#[test]
fn headless_runs_are_asked_where_that_is_configured() {
    let world = world();
    let app = ready(&world);
    let env =
        [FEW[0], FEW[1], ("TOME_INJECT_HEADLESS", "on"), ("CLAUDE_CODE_SESSION_ATTENDED", "0")];
    assert_eq!(hook_with(&world, &["claude-code"], &edit(&app, "s1", 1), &env), None);
    let said = hook_with(&world, &["claude-code"], &stop(&app, "s1", false), &env);
    assert_eq!(said.unwrap()["decision"], "block");
}

/// What is known is told to headless runs too: a start does not change what is asked for.
#[test]
fn a_headless_run_still_starts_with_what_is_known() {
    let world = world();
    let app = ready(&world);
    let note = json!({"path": "facts/user.md", "content": "# User\n\n- prefers short answers\n"});
    let mut command = world.command(&["tool", "memory_write", "-"]);
    assert_eq!(World::run(command.current_dir(&app), note.to_string().as_bytes()).code, 0);
    let start = json!({"session_id": "s1", "cwd": app, "hook_event_name": "SessionStart",
                       "source": "startup"});
    let env = [FEW.as_slice(), &[("CLAUDE_CODE_SESSION_ATTENDED", "0")]].concat();
    let said = hook_with(&world, &["claude-code"], &start, &env).unwrap();
    let text = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(text.contains("prefers short answers"), "{text}");
}

/// Runs a hook as a client does that was called like this, in a terminal. The client is a shell under
/// the client's name.
fn in_terminal(world: &World, client: &Client, args: &[&str]) -> Option<Value> {
    let (event, payload) = (client.stop)(&world.folder("app"));
    let asked = world.write("asked.json", &payload.to_string());
    let (said, complaints) = (world.path().join("said.json"), world.path().join("complaints"));
    let line = format!(
        "'{}' hook {} {} < '{}' > '{}' 2> '{}'\n",
        world.program().display(),
        client.agent,
        event.join(" "),
        asked.display(),
        said.display(),
        complaints.display(),
    );
    // A shell of its own: one that redirects a command's output may redirect its own with it.
    let hook = world.write("hook.sh", &line);
    let script = world.write(client.script, &format!("sh '{}'\ntrue\n", hook.display()));
    let program = world.folder("bin").join(client.program);
    std::fs::copy("/bin/sh", &program).unwrap();
    let words: Vec<String> = [program.to_str().unwrap(), script.to_str().unwrap()]
        .iter()
        .chain(args)
        .map(|word| format!("'{word}'"))
        .collect();
    let mut command = Command::new("script");
    let here = world.command(&[]);
    command.args(["-qec", &words.join(" "), "/dev/null"]).env_clear();
    command.envs(here.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("SHELL", "/bin/sh").current_dir(world.folder("elsewhere"));
    command.envs(FEW);
    let ran = World::run(&mut command, b"");
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(std::fs::read_to_string(complaints).unwrap(), "");
    let said = std::fs::read_to_string(said).unwrap();
    (!said.is_empty()).then(|| serde_json::from_str(&said).unwrap())
}

fn check(client: &Client) {
    if !cfg!(target_os = "linux") || Command::new("script").arg("--version").output().is_err() {
        println!(
            "skipped: the clients' processes are looked up in /proc, and script makes the terminal"
        );
        return;
    }
    // Each in a world of its own: a stop that was seen is not answered again.
    let after_work = || {
        let world = world();
        let app = ready(&world);
        let (event, payload) = (client.edit)(&app);
        let args = [&[client.agent], event.as_slice()].concat();
        assert_eq!(hook_with(&world, &args, &payload, &FEW), None);
        world
    };
    let world = after_work();
    let (event, payload) = (client.stop)(&world.folder("app"));
    let args = [&[client.agent], event.as_slice()].concat();
    assert_eq!(hook_with(&world, &args, &payload, &FEW), None, "no terminal");
    for headless in client.headless {
        let world = after_work();
        assert_eq!(in_terminal(&world, client, headless), None, "{headless:?}");
        assert_eq!(injections(&world), Vec::<Value>::new(), "{headless:?}");
    }
    let said = in_terminal(&after_work(), client, client.attended).expect("a person is there");
    assert!(said["reason"].as_str().unwrap().contains("kind=\"store\""), "{said}");
}

#[test]
fn codex_is_asked_only_where_somebody_is_there() {
    check(&CLIENTS[0]);
}

#[test]
fn gemini_is_asked_only_where_somebody_is_there() {
    check(&CLIENTS[1]);
}

#[test]
fn copilot_is_asked_only_where_somebody_is_there() {
    check(&CLIENTS[2]);
}
