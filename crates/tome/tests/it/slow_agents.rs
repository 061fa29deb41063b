//! Agents that send their payload slowly, in pieces, or in bulk, and special files.

use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;
use tome_testkit::{CommandResult, World, eventually, eventually_within};

use crate::support::*;

/// Sends a payload in two pieces, with a pause, and waits for the hook.
fn in_two_pieces(world: &World, payload: &str, pause: Duration) {
    let mut child = world
        .command(&["hook", "claude-code"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let (first, second) = payload.as_bytes().split_at(payload.len() / 2);
    stdin.write_all(first).unwrap();
    let _ = eventually_within(pause, || None::<()>);
    // The hook may be gone by now; a background process reads the rest.
    let _ = stdin.write_all(second);
    drop(stdin);
    assert_eq!(CommandResult::from(child.wait_with_output().unwrap()), CommandResult::silent());
}

#[test]
fn a_payload_in_pieces_is_stored_completely() {
    let world = world();
    assert_eq!(world.tome(&["start"]).code, 0);
    for n in 0..12u32 {
        let words = format!("number {n} {}", "and more ".repeat(300));
        in_two_pieces(&world, &prompt(&words), Duration::from_millis(28 + u64::from(n)));
    }
    eventually("all of them", || (world.events().len() == 12).then_some(()));
    let events = world.events();
    assert!(strings(&events, "kind").iter().all(|kind| *kind == "user_message"), "{events:?}");
}

#[test]
fn a_payload_of_forty_megabytes_is_stored() {
    let world = world();
    assert_eq!(world.tome(&["start"]).code, 0);
    let output = format!("head {} tail", "0123456789abcdef".repeat(2_600_000));
    world.hook(&["claude-code"], tool_result("huge", &json!({"command": "cat"}), &json!(output)));
    let events = eventually_within(Duration::from_secs(60), || {
        Some(world.events()).filter(|events| !events.is_empty())
    });
    let events = events.unwrap();
    assert_eq!(events[0]["kind"], "tool_result");
    assert!(events[0]["tool"]["output"].as_str().unwrap().ends_with("cdef tail"));
    assert_eq!(status(&world)["lost"]["events"], 0);
}

/// The transcript's path comes from the payload and may be anything.
#[cfg(unix)]
#[test]
fn a_transcript_that_is_a_named_pipe_does_not_block() {
    let world = world();
    assert_eq!(world.tome(&["start"]).code, 0);
    let pipe = world.path().join("transcript");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let payload = json!({"sessionId": "s1", "cwd": "/app", "timestamp": 1_794_702_486_606u64,
                         "transcriptPath": pipe, "stopReason": "end_turn", "stop_hook_active": false});
    world.hook(&["copilot", "agentStop"], payload.to_string());
    assert_eq!(strings(&world.events(), "kind"), ["assistant_stop"]);
}

/// A check for the daemon must not mistake another process for it.
#[test]
fn stop_does_not_harm_another_process() {
    let world = world();
    std::fs::create_dir_all(world.home().join("run")).unwrap();
    let mut bystander = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    let signed = format!("{} 0.1.0\n", bystander.id());
    std::fs::write(world.home().join("run/daemon.lock"), signed).unwrap();
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..15 {
                    world.tome(&["status"]);
                }
            });
        }
        for _ in 0..15 {
            assert_eq!(world.tome(&["stop"]).code, 0);
        }
    });
    assert!(bystander.try_wait().unwrap().is_none(), "it was ended");
    bystander.kill().unwrap();
    bystander.wait().unwrap();
}

#[test]
fn a_stream_keeps_the_order_of_its_lines() {
    let world = world();
    let lines: String = (0..6_000).map(|n| line(&format!("n{n}"), 1_000, "at once")).collect();
    world.ingest(&lines);
    let expected: Vec<String> = (0..6_000).map(|n| format!("n{n}")).collect();
    assert_eq!(ids(&world.events()), expected);
}
