//! Self-healing capture: the daemon reads transcripts and stores what hooks missed, like an import.

use std::time::Duration;

use serde_json::{Value, json};
use tome_testkit::{World, eventually_within};

use crate::import::{hooks, import, now_ms, settle};
use crate::support::{in_parallel, line_with, world};

/// Time limit for a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// Starts a daemon that reads transcripts after this much silence.
fn start_reading(world: &World, idle: &str) {
    let mut command = world.command(&["start"]);
    command.env("TOME_CAPTURE_TRANSCRIPTS", "on").env("TOME_CAPTURE_TRANSCRIPTS_IDLE", idle);
    let started = World::run(&mut command, b"");
    assert_eq!(started.code, 0, "{started:?}");
}

/// The result of `tome doctor --deep` for an agent.
fn coverage(world: &World, agent: &str) -> Value {
    let report = world.tome(&["doctor", "--deep", "--json"]).json();
    let agents = report["coverage"]["agents"].as_array().unwrap();
    agents.iter().find(|one| one["agent"] == agent).unwrap().clone()
}

/// Waits until everything in an agent's transcripts is stored without an import.
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

/// Runs the hooks of an agent under a patient daemon, then starts one that reads transcripts soon:
/// on a slow machine a session could otherwise fall silent between two hooks.
fn run_hooks(world: &World, agent: &str) {
    start_reading(world, "1h");
    let base_ms = now_ms();
    settle(world, base_ms);
    hooks(world, agent, base_ms);
    world.events();
    world.kill_daemon();
    start_reading(world, "1s");
}

/// Sessions that no hook reported, here those of the other agents, are left to `tome import`.
#[test]
fn transcripts_of_reported_sessions_are_completed() {
    in_parallel(["claude-code", "codex", "gemini", "copilot"], |agent| {
        let world = world();
        run_hooks(&world, agent);
        check_complete(&world, agent);
        assert!(world.events().iter().all(|event| event["agent"] == agent), "{agent}");
    });
}

/// Copilot CLI's hooks report the session's end, so nothing waits for silence.
#[test]
fn the_end_of_a_session_triggers_reading() {
    let world = world();
    start_reading(&world, "1h");
    let base_ms = now_ms();
    settle(&world, base_ms);
    hooks(&world, "copilot", base_ms);
    check_complete(&world, "copilot");
}

#[test]
fn transcripts_of_opencode_are_completed() {
    // A subagent has its own session, which the hooks of this fixture do not report.
    let world = world();
    run_hooks(&world, "opencode");
    let told = world.events()[0]["session_id"].as_str().unwrap().to_owned();
    let healed = eventually_within(PATIENCE, || {
        let gaps = coverage(&world, "opencode")["gaps"].clone();
        gaps.as_array().unwrap().iter().all(|gap| gap["session"] != told.as_str()).then_some(())
    });
    assert!(healed.is_some(), "{}", coverage(&world, "opencode"));
}

/// The same event under two ids.
#[test]
fn doctor_reports_duplicates() {
    let world = world();
    let base_ms = now_ms();
    settle(&world, base_ms);
    import(&world, &["--agent", "codex"]);
    let events = world.events();
    let prompt = events.iter().find(|event| event["kind"] == "user_message").unwrap();
    let at: tome_model::Millis = serde_json::from_value(prompt["at"].clone()).unwrap();
    let (session, text) = (&prompt["session_id"], &prompt["text"]);
    world.ingest(&line_with(&json!({
        "id": "twice", "session_id": session, "cwd": prompt["cwd"], "text": text,
        "at": at.0 + 5_000,
    })));
    assert_eq!(coverage(&world, "codex")["duplicates"], json!(["twice"]));
    let told = world.tome(&["doctor", "--deep"]).stdout;
    assert!(told.contains("codex: 1 event is stored twice, such as twice"), "{told}");
}
