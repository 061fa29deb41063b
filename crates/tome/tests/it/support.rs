//! Shared helpers: worlds, lines and payloads, and ways to inspect the results.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

/// Base of all timelines: 2026-11-15T09:30:00Z.
pub const MORNING_MS: u64 = 1_794_735_000_000;

pub fn world() -> World {
    World::new(env!("CARGO_BIN_EXE_tome"))
}

/// A line for `tome ingest`: a user message of session `s1` in `/app`.
pub fn line(id: &str, at_ms: u64, text: &str) -> String {
    line_with(&json!({"id": id, "at": at_ms, "text": text}))
}

/// A line for `tome ingest` with these fields and defaults. A session belongs to one project, so a
/// line with another folder gets another session unless it names one.
pub fn line_with(fields: &Value) -> String {
    let session = fields["cwd"].as_str().map_or("s1".to_owned(), |cwd| match cwd {
        "/app" => "s1".to_owned(),
        cwd => {
            let name: String = cwd.chars().filter(|c| !c.is_control()).take(50).collect();
            format!("s1 in {name} {}", cwd.len())
        }
    });
    let mut line = json!({
        "session_id": session, "agent": "codex", "cwd": "/app", "kind": "user_message",
        "text": "hello", "at": MORNING_MS,
    });
    for (name, value) in fields.as_object().unwrap() {
        line[name] = value.clone();
    }
    format!("{line}\n")
}

/// A prompt payload of Claude Code.
pub fn prompt(text: &str) -> String {
    json!({
        "session_id": "s1", "cwd": "/app", "hook_event_name": "UserPromptSubmit",
        "prompt": text, "prompt_id": "turn1",
    })
    .to_string()
}

/// A tool result payload of Claude Code.
pub fn tool_result(id: &str, input: &Value, output: &Value) -> String {
    json!({
        "session_id": "s1", "cwd": "/app", "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_use_id": id, "tool_input": input, "tool_response": output,
    })
    .to_string()
}

pub fn texts(events: &[Value]) -> Vec<&str> {
    strings(events, "text")
}

pub fn ids(events: &[Value]) -> Vec<&str> {
    strings(events, "id")
}

/// One field of every event.
pub fn strings<'a>(events: &'a [Value], field: &str) -> Vec<&'a str> {
    events.iter().map(|event| event[field].as_str().unwrap()).collect()
}

/// Events listed by `tome events` with these arguments.
pub fn list(world: &World, args: &[&str]) -> Vec<Value> {
    let args = [&["events", "--json"], args].concat();
    let ran = world.tome(&args);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "tome {args:?}");
    ran.json_lines()
}

/// The output of `tome status` as JSON.
pub fn status(world: &World) -> Value {
    world.tome(&["status", "--json"]).json()
}

/// Waits until a daemon answers; returns its process id.
pub fn daemon_up(world: &World) -> u32 {
    eventually("a daemon that answers", || {
        let status = status(world);
        let answers = status["daemon"]["answers"].as_bool()?;
        answers.then(|| status["daemon"]["pid"].as_u64())?
    })
    .try_into()
    .unwrap()
}

/// Waits until no daemon is running.
pub fn daemon_gone(world: &World) {
    eventually("the daemon to be gone", || world.daemon_pid().is_none().then_some(()));
}

/// Runs a check for each case on a thread of its own: most of them wait for a daemon of their own.
pub fn in_parallel<T: Send>(cases: impl IntoIterator<Item = T>, check: impl Fn(T) + Send + Sync) {
    std::thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| check(case));
        }
    });
}

/// Runs a test again inside a mount namespace. Returns `true` inside, where the test continues.
pub fn runs_in_namespace(test: &str) -> bool {
    const INSIDE: &str = "TEST_INSIDE_A_NAMESPACE";
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let possible = Command::new("unshare").args(["-rm", "true"]).output();
    if !possible.is_ok_and(|ran| ran.status.success()) {
        println!("skipped: no mount namespace can be made here");
        return false;
    }
    let output = Command::new("unshare")
        .arg("-rm")
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let out = String::from_utf8_lossy(&output.stdout).into_owned();
    let text = format!("{out}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "inside the namespace:\n{text}");
    false
}

/// Waits until a query is answered by indexes that have read everything: only then can a hint be strong.
pub fn wait_for_indexes(world: &World, app: &Path, query: &str) {
    eventually("the indexes", || {
        let args = ["recall", query, "--project", app.to_str().unwrap(), "--json"];
        let answer = world.tome(&args).json();
        (answer["tier"] == "fused" && answer["behind"] == 0).then_some(())
    });
}
