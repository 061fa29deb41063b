//! Self-healing capture: the daemon reads transcripts by itself and stores what hooks missed, as an
//! import would.

use std::time::Duration;

use serde_json::{Value, json};
use tome_testkit::{World, eventually_within};

use crate::import::{hooks, import, now_ms, settle};
use crate::scene::{line_with, world};

/// A busy machine takes its time; nothing waits this long on an idle one.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a daemon that reads transcripts once a session has been silent for this long.
fn start_reading(world: &World, idle: &str) {
    let mut command = world.command(&["start"]);
    command.env("TOME_CAPTURE_TRANSCRIPTS", "on").env("TOME_CAPTURE_TRANSCRIPTS_IDLE", idle);
    let started = World::run(&mut command, b"");
    assert_eq!(started.code, 0, "{started:?}");
}

/// What `tome doctor --deep` says of an agent.
fn coverage(world: &World, agent: &str) -> Value {
    let report = world.tome(&["doctor", "--deep", "--json"]).json();
    let agents = report["coverage"]["agents"].as_array().unwrap();
    agents.iter().find(|one| one["agent"] == agent).unwrap().clone()
}

/// Waits until everything in an agent's transcripts is stored, though nobody imports it.
fn check_complete(world: &World, agent: &str) {
    let complete = eventually_within(PATIENCE, || {
        let covered = coverage(world, agent);
        (covered["missing"] == 0).then_some(covered)
    });
    let covered = complete.unwrap_or_else(|| panic!("{}", coverage(world, agent)));
    assert_eq!(covered["percent"], 100.0, "{covered}");
    assert_eq!(covered["duplicates"], json!([]), "{covered}");
    let before = world.events();
    assert_eq!(import(world, &["--agent", agent])["imported"], 0);
    assert_eq!(world.events(), before);
}

/// Runs the hooks of an agent under a daemon that waits, then starts one that reads transcripts soon:
/// on a slow machine a session could otherwise fall silent between two of its hooks.
fn run_hooks(world: &World, agent: &str) {
    start_reading(world, "1h");
    let base_ms = now_ms();
    settle(world, base_ms);
    hooks(world, agent, base_ms);
    world.events();
    world.kill_daemon();
    start_reading(world, "1s");
}

fn check_healed(agent: &str) {
    let world = world();
    run_hooks(&world, agent);
    check_complete(&world, agent);
}

#[test]
fn claude_code() {
    check_healed("claude-code");
}

#[test]
fn codex() {
    check_healed("codex");
}

#[test]
fn gemini() {
    check_healed("gemini");
}

#[test]
fn copilot() {
    check_healed("copilot");
}

/// The hooks of Copilot CLI tell when its session ends; nothing waits for silence then.
#[test]
fn the_end_of_a_session_is_enough() {
    let world = world();
    start_reading(&world, "1h");
    let base_ms = now_ms();
    settle(&world, base_ms);
    hooks(&world, "copilot", base_ms);
    check_complete(&world, "copilot");
}

#[test]
fn opencode() {
    // A subagent has a session of its own, which the hooks of this fixture do not tell of.
    let world = world();
    run_hooks(&world, "opencode");
    let told = world.events()[0]["session_id"].as_str().unwrap().to_owned();
    let healed = eventually_within(PATIENCE, || {
        let gaps = coverage(&world, "opencode")["gaps"].clone();
        gaps.as_array().unwrap().iter().all(|gap| gap["session"] != told.as_str()).then_some(())
    });
    assert!(healed.is_some(), "{}", coverage(&world, "opencode"));
}

/// History of sessions that no hook told of is left to `tome import`.
#[test]
fn other_sessions_are_left_alone() {
    let world = world();
    run_hooks(&world, "gemini");
    check_complete(&world, "gemini");
    assert!(world.events().iter().all(|event| event["agent"] == "gemini"));
}

/// One thing under two ids.
#[test]
fn doctor_names_what_is_stored_twice() {
    let world = world();
    let base_ms = now_ms();
    settle(&world, base_ms);
    import(&world, &["--agent", "codex"]);
    let events = world.events();
    let said = events.iter().find(|event| event["kind"] == "user_message").unwrap();
    let at: tome_model::Millis = serde_json::from_value(said["at"].clone()).unwrap();
    let (session, text) = (&said["session_id"], &said["text"]);
    world.ingest(&line_with(&json!({
        "id": "twice", "session_id": session, "cwd": said["cwd"], "text": text, "at": at.0 + 5_000,
    })));
    assert_eq!(coverage(&world, "codex")["duplicates"], json!(["twice"]));
    let told = world.tome(&["doctor", "--deep"]).stdout;
    assert!(told.contains("codex: 1 event is stored twice, such as twice"), "{told}");
}
