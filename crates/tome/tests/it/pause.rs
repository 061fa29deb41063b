//! Events that are not recorded: pauses and ignored paths, for hooks and imports.

use serde_json::{Value, json};
use tome_testkit::{CommandResult, World};

use crate::support::{prompt, status, texts, world};

fn read_file(world: &World, id: &str, cwd: &str, path: &str) -> String {
    world.hook(&["claude-code"], json!({
        "session_id": "s1", "cwd": cwd, "hook_event_name": "PostToolUse", "tool_name": "Read",
        "tool_use_id": id, "tool_input": {"file_path": path}, "tool_response": {"content": "hunter2 is here"},
    }).to_string());
    let events = world.events();
    events.last().unwrap()["tool"].to_string()
}

#[test]
fn a_paused_hook_records_nothing_and_prints_nothing() {
    let world = world();
    world.hook(&["claude-code"], prompt("before"));
    let paused = world.tome(&["pause", "1h", "--json"]).json();
    assert_eq!((&paused["paused"], paused["until"].is_string()), (&json!(true), true), "{paused}");
    let start = json!({
        "session_id": "s2", "cwd": "/app", "hook_event_name": "SessionStart", "source": "startup",
    });
    assert_eq!(world.hook_output(&["claude-code"], start.to_string()), None);
    for agent in ["claude-code", "codex", "gemini", "copilot", "opencode"] {
        assert_eq!(world.hook_output(&[agent], prompt("meanwhile")), None, "{agent}");
    }
    assert_eq!(texts(&world.events()), ["before"]);
    assert_eq!(status(&world)["recording"]["paused"], true);
    for args in [&["status"][..], &[]] {
        let shown = world.tome(args).stdout;
        assert!(shown.contains("paused for 59 min, until "), "{args:?}: {shown}");
    }
    let doctor = world.tome(&["doctor"]).stdout;
    assert!(doctor.contains("nothing is recorded"), "{doctor}");
    assert!(doctor.contains("run `tome unpause`"), "{doctor}");
    assert_eq!(world.tome(&["unpause"]).stdout, "recording again\n");
    assert_eq!(world.tome(&["unpause"]).stdout, "recording was not paused\n");
    let mut later: Value = serde_json::from_str(&prompt("after")).unwrap();
    later["prompt_id"] = json!("turn2");
    world.hook(&["claude-code"], later.to_string());
    assert_eq!(texts(&world.events()), ["before", "after"]);
    assert_eq!(world.tome(&["pause", "soon"]).code, 2);
    assert!(world.tome(&["pause"]).stdout.contains("paused until `tome unpause`"));
}

/// An agent's transcript holds what was said during a pause.
#[test]
fn an_import_leaves_out_pauses_and_ignored_folders() {
    let world = world();
    let (open, secret) = (world.folder("open"), world.folder("secret"));
    world.write("home/pauses.jsonl", "{\"v\":1,\"at\":1794735000000,\"until\":1794735060000}\n");
    let record = |n: u32, at: &str, cwd: &std::path::Path, text: &str| {
        json!({
            "type": "user", "uuid": format!("u{n}"), "sessionId": "s1", "timestamp": at, "cwd": cwd,
            "message": {"role": "user", "content": text},
        })
    };
    let lines = [
        record(1, "2026-11-15T09:29:59Z", &open, "before the pause"),
        record(2, "2026-11-15T09:30:30Z", &open, "during the pause"),
        record(3, "2026-11-15T09:31:00Z", &open, "after the pause"),
        record(4, "2026-11-15T09:32:00Z", &secret, "in the secret folder"),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let file = world.write("transcripts/s1.jsonl", &text);
    let setting = format!("capture.ignore={}", secret.display());
    let args = ["--set", &setting, "import", "--agent", "claude-code", file.to_str().unwrap()];
    let ran = world.tome(&args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran:?}");
    assert!(ran.stdout.contains("1 from a pause, 1 in ignored folders"), "{}", ran.stdout);
    let stored = world.events();
    let texts_kept: Vec<&str> =
        texts(&stored).into_iter().filter(|text| !text.is_empty()).collect();
    assert_eq!(texts_kept, ["before the pause", "after the pause"]);
}

#[test]
fn ignored_folders_are_silent_and_ignored_files_lose_their_content() {
    let world = world();
    let app = world.folder("app");
    world.folder("app/private");
    world.folder("app/.git");
    world.write("app/.git/HEAD", "ref: refs/heads/main\n");
    world.write("app/.tomeignore", "*.env\n/private/\n");
    world.write("config.toml", "[capture]\nignore = [\"*.pem\"]\n");
    let cwd = app.to_str().unwrap();
    let stored = read_file(&world, "t1", cwd, &format!("{cwd}/src/main.rs"));
    assert!(stored.contains("hunter2"), "{stored}");
    for (id, path) in [("t2", "prod.env"), ("t3", "deep/key.pem"), ("t4", "private/notes.txt")] {
        let stored = read_file(&world, id, cwd, &format!("{cwd}/{path}"));
        assert!(stored.contains("[ignored path]") && !stored.contains("hunter2"), "{stored}");
        assert!(stored.contains(path), "{stored}");
    }
    let count = world.events().len();
    let inside = app.join("private");
    let prompt = json!({
        "session_id": "s3", "cwd": inside, "hook_event_name": "UserPromptSubmit",
        "prompt": "a private word", "prompt_id": "p1",
    });
    assert_eq!(world.hook_output(&["claude-code"], prompt.to_string()), None);
    assert_eq!(world.events().len(), count);
    let shown = |folder: &std::path::Path| -> CommandResult {
        World::run(world.command(&["status"]).current_dir(folder), b"")
    };
    assert!(shown(&app).stdout.contains("3 ignore rules apply"), "{:?}", shown(&app));
    assert!(shown(&inside).stdout.contains("this folder is ignored"), "{:?}", shown(&inside));
    let doctor = World::run(world.command(&["doctor"]).current_dir(&inside), b"").stdout;
    assert!(doctor.contains("warn  capture      this folder is ignored"), "{doctor}");
    let set = world.tome(&["config", "set", "capture.ignore", "*.key"]);
    assert!(set.code == 0 && !set.stdout.contains("tome stop"), "hooks apply it at once: {set:?}");
    let stored = read_file(&world, "t5", cwd, &format!("{cwd}/server.key"));
    assert!(stored.contains("[ignored path]") && !stored.contains("hunter2"), "{stored}");
    let set = world.tome(&["config", "set", "store.idle_close", "1h"]);
    assert!(set.stdout.contains("takes effect when the daemon restarts"), "{set:?}");
    world.write("config.toml", "[capture]\nignore = [\"{a\"]\n");
    assert!(world.tome(&["events"]).stderr.contains("capture.ignore"));
}
