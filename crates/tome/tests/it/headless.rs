//! Headless runs: `claude -p`, `codex exec`, `gemini -p`, `copilot -p`. A request from a hook would
//! change their output, so hooks must stay silent there and speak in interactive runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use tome_testkit::World;

use crate::injections::{edit, hook_with, injections, stop};
use crate::support::*;

/// One edit is enough work here, and the hook has plenty of time.
const FEW: [(&str, &str); 3] = [
    ("TOME_INJECT_STORE_TOOL_CALLS", "1"),
    ("TOME_HOOK_PATIENCE", "100"),
    ("TOME_INJECT_HEADLESS", "off"),
];

/// A client other than Claude Code: its invocation and payloads.
struct Client {
    agent: &'static str,
    /// Name of the program, which is also the process name.
    program: &'static str,
    script: &'static str,
    /// Arguments of an interactive run.
    attended: &'static [&'static str],
    /// Arguments of headless runs.
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

/// A project with a running daemon, so that only the run mode decides.
fn ready(world: &World) -> PathBuf {
    assert_eq!(world.tome(&["start"]).code, 0);
    world.folder("app")
}

#[test]
fn claude_code_is_asked_only_in_interactive_runs() {
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
    // The lessons are still missing; a resumed interactive session is asked.
    let mut last = stop(&app, "s1", false);
    last["last_assistant_message"] = json!("Done, with somebody there.");
    assert_eq!(says(&person, &last).unwrap()["decision"], "block");
    assert_eq!(strings(&injections(&world), "why"), ["store"]);
}

/// Whoever wants it can have it.
#[test]
fn headless_runs_are_asked_if_configured() {
    let world = world();
    let app = ready(&world);
    let env =
        [FEW[0], FEW[1], ("TOME_INJECT_HEADLESS", "on"), ("CLAUDE_CODE_SESSION_ATTENDED", "0")];
    assert_eq!(hook_with(&world, &["claude-code"], &edit(&app, "s1", 1), &env), None);
    let response = hook_with(&world, &["claude-code"], &stop(&app, "s1", false), &env);
    assert_eq!(response.unwrap()["decision"], "block");
}

/// Session starts are injected into headless runs too, because they do not change the task.
#[test]
fn a_headless_run_still_gets_its_start_injection() {
    let world = world();
    let app = ready(&world);
    let note = json!({"path": "facts/user.md", "content": "# User\n\n- prefers short answers\n"});
    let mut command = world.command(&["tool", "memory_write", "-"]);
    assert_eq!(World::run(command.current_dir(&app), note.to_string().as_bytes()).code, 0);
    let start = json!({"session_id": "s1", "cwd": app, "hook_event_name": "SessionStart",
                       "source": "startup"});
    let env = [FEW.as_slice(), &[("CLAUDE_CODE_SESSION_ATTENDED", "0")]].concat();
    let response = hook_with(&world, &["claude-code"], &start, &env).unwrap();
    let text = response["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(text.contains("prefers short answers"), "{text}");
}

/// Runs a hook in a terminal under a client with these arguments. The client is a shell with the
/// client's name.
fn in_terminal(world: &World, client: &Client, args: &[&str]) -> Option<Value> {
    let (event, payload) = (client.stop)(&world.folder("app"));
    let input = world.write("asked.json", &payload.to_string());
    let (output, complaints) = (world.path().join("said.json"), world.path().join("complaints"));
    let line = format!(
        "'{}' hook {} {} < '{}' > '{}' 2> '{}'\n",
        world.program().display(),
        client.agent,
        event.join(" "),
        input.display(),
        output.display(),
        complaints.display(),
    );
    // A separate shell: one that redirects a command's output may redirect its own with it.
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
    let output = std::fs::read_to_string(output).unwrap();
    (!output.is_empty()).then(|| serde_json::from_str(&output).unwrap())
}

fn check(client: &Client) {
    if !cfg!(target_os = "linux") || Command::new("script").arg("--version").output().is_err() {
        println!(
            "skipped: the clients' processes are looked up in /proc, and script makes the terminal"
        );
        return;
    }
    // A separate world for each, because a stop is answered only once.
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
    let response = in_terminal(&after_work(), client, client.attended).expect("a person is there");
    assert!(response["reason"].as_str().unwrap().contains("kind=\"store\""), "{response}");
}

#[test]
fn codex_is_asked_only_in_interactive_runs() {
    check(&CLIENTS[0]);
}

#[test]
fn gemini_is_asked_only_in_interactive_runs() {
    check(&CLIENTS[1]);
}

#[test]
fn copilot_is_asked_only_in_interactive_runs() {
    check(&CLIENTS[2]);
}
