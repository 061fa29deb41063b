//! The spool: events that hooks write while the daemon is stopped, hung or dead.

use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use tome_testkit::{Signal, World, eventually, send_signal};

use crate::support::{daemon_up, in_parallel, line, prompt, status, texts, tool_result, world};

/// A world whose daemon is started only by `tome start`.
fn quiet_world() -> World {
    let world = world();
    std::fs::write(world.config_file(), "[daemon]\nautostart = false\n").unwrap();
    world
}

fn start(world: &World) {
    let ran = world.tome(&["start"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
}

fn spool_file(world: &World) -> PathBuf {
    world.home().join("spool/events.jsonl")
}

fn spooled(world: &World) -> Vec<Value> {
    let text = std::fs::read_to_string(spool_file(world)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn waiting(world: &World) -> u64 {
    status(world)["spool"]["waiting_events"].as_u64().unwrap()
}

#[test]
fn events_without_a_daemon_are_spooled_and_stored_once() {
    let world = quiet_world();
    for n in 0..3 {
        world.hook(&["claude-code"], prompt(&format!("prompt {n}")));
    }
    let lines = spooled(&world);
    assert_eq!(texts(&lines), ["prompt 0", "prompt 1", "prompt 2"]);
    assert_eq!(lines[0]["kind"], "user_message");
    assert_eq!(waiting(&world), 3);
    start(&world);
    eventually("the spool to be drained", || (waiting(&world) == 0).then_some(()));
    assert_eq!(texts(&world.events()), ["prompt 0", "prompt 1", "prompt 2"]);
    assert_eq!(status(&world)["daemon"]["drained"], 3);
    assert!(!spool_file(&world).exists());
    // Again: nothing is left that could be stored twice.
    assert_eq!(world.tome(&["stop"]).code, 0);
    start(&world);
    assert_eq!(world.events().len(), 3);
    assert_eq!(status(&world)["daemon"]["drained"], 0);
}

#[test]
fn the_spool_is_drained_while_the_daemon_runs() {
    let world = quiet_world();
    start(&world);
    // Written by a hook whose daemon was slow: a line appears while the daemon runs.
    std::fs::create_dir_all(world.home().join("spool")).unwrap();
    std::fs::write(spool_file(&world), line("late", 1_000, "came by the spool")).unwrap();
    // Without any request the daemon finds it.
    eventually("the daemon to look at the spool", || (!spool_file(&world).exists()).then_some(()));
    assert_eq!(texts(&world.events()), ["came by the spool"]);
}

#[test]
fn a_hung_daemon_causes_neither_delay_nor_duplicates() {
    let world = quiet_world();
    start(&world);
    world.ingest(&line("before", 1_000, "before"));
    let pid = world.daemon_pid().unwrap();
    assert!(send_signal(pid, Signal::Stop));
    world.hook(&["claude-code"], prompt("while it hangs"));
    world.hook(&["claude-code"], tool_result("call", &json!({"command": "ls"}), &json!("x")));
    let stopping = json!({"session_id": "s1", "cwd": "/app", "hook_event_name": "Stop", "last_assistant_message": "Done."});
    world.hook(&["claude-code"], stopping.to_string());
    // A hook that misses its deadline leaves its event to a background process.
    eventually("the events in the spool", || (spooled(&world).len() >= 3).then_some(()));
    assert!(send_signal(pid, Signal::Continue));
    // The daemon may also have received them through the socket: they are the same events.
    eventually("the spool to be drained", || (waiting(&world) == 0).then_some(()));
    let events = world.events();
    assert_eq!(texts(&events), ["before", "while it hangs", "", "Done."]);
}

#[test]
fn commands_do_not_hang_with_a_hung_daemon() {
    let world = quiet_world();
    start(&world);
    let pid = world.daemon_pid().unwrap();
    assert!(send_signal(pid, Signal::Stop));
    in_parallel([&["status", "--json"][..], &["doctor", "--json"]], |args| {
        let ran =
            World::run_within(&mut world.command(args), b"", std::time::Duration::from_secs(20));
        assert_eq!(ran.code, 1, "{args:?}");
        assert!(ran.stdout.contains(&pid.to_string()), "{}", ran.stdout);
    });
    send_signal(pid, Signal::Continue);
}

#[test]
fn a_stale_socket_counts_as_no_daemon() {
    let world = quiet_world();
    start(&world);
    world.kill_daemon().unwrap();
    assert!(world.socket().exists(), "a crash leaves its socket");
    world.hook(&["claude-code"], prompt("to nobody"));
    assert_eq!(texts(&spooled(&world)), ["to nobody"]);
    start(&world);
    assert_eq!(texts(&world.events()), ["to nobody"]);
}

#[test]
fn a_torn_line_is_set_aside_and_the_rest_is_stored() {
    let world = quiet_world();
    world.hook(&["claude-code"], prompt("whole"));
    let mut file = std::fs::OpenOptions::new().append(true).open(spool_file(&world)).unwrap();
    file.write_all(b"{\"id\":\"torn\",\"at\":\"2026-11-15T0").unwrap();
    // An event after the crash is not appended to the torn line.
    world.hook(&["claude-code"], prompt("after the crash"));
    file.write_all(b"\xff\xfe garbage\n\n{\"half\":").unwrap();
    drop(file);
    start(&world);
    let events = eventually("what is whole", || {
        let events = world.events();
        (events.len() == 2).then_some(events)
    });
    assert_eq!(texts(&events), ["whole", "after the crash"]);
    let status = status(&world);
    assert_eq!(status["spool"]["waiting_events"], 0);
    assert_eq!(status["spool"]["damaged_lines"], 3);
    let aside = std::fs::read(world.home().join("spool/damaged.jsonl")).unwrap();
    assert!(
        aside.starts_with(b"{\"id\":\"torn\",\"at\":\"2026-11-15T0\n\xff\xfe garbage\n{\"half\":")
    );
}

/// A daemon died between taking the spool and deleting it: its file is drained without duplicates.
#[test]
fn a_spool_file_taken_by_a_dead_daemon_is_drained_once() {
    let world = quiet_world();
    start(&world);
    world.ingest(&line("known", 1_000, "known"));
    world.kill_daemon();
    let spool = world.home().join("spool");
    std::fs::create_dir_all(&spool).unwrap();
    let taken = line("known", 1_000, "known") + &line("new", 2_000, "new");
    std::fs::write(spool.join("draining-000001794735000-0.jsonl"), &taken).unwrap();
    std::fs::write(
        spool.join("draining-000001794735000-1.jsonl"),
        line("third", 3_000, "third") + &taken,
    )
    .unwrap();
    std::fs::write(spool_file(&world), line("fourth", 4_000, "fourth")).unwrap();
    start(&world);
    eventually("the spool to be drained", || (waiting(&world) == 0).then_some(()));
    assert_eq!(texts(&world.events()), ["known", "new", "third", "fourth"]);
}

/// An event that the ledger rejects must not block all others.
#[test]
fn an_event_that_cannot_be_stored_does_not_block_the_spool() {
    let world = quiet_world();
    let deep = format!("{}1{}", "[".repeat(110), "]".repeat(110));
    let payload = tool_result("deep", &json!("HERE"), &json!("x")).replace("\"HERE\"", &deep);
    world.hook(&["claude-code"], payload);
    world.hook(&["claude-code"], prompt("behind it"));
    start(&world);
    let stored = eventually("the event behind it", || {
        let events = world.events();
        let stored: Vec<String> = texts(&events).iter().map(ToString::to_string).collect();
        stored.contains(&"behind it".to_owned()).then_some(stored)
    });
    assert!(!stored.is_empty());
    eventually("the spool to be drained", || (waiting(&world) == 0).then_some(()));
}

/// The same while the daemon runs: the event is kept or set aside, and hooks continue.
#[test]
fn an_event_rejected_by_the_daemon_does_not_block_the_spool() {
    let world = quiet_world();
    start(&world);
    let deep = format!("{}1{}", "[".repeat(110), "]".repeat(110));
    let payload = tool_result("deep", &json!("HERE"), &json!("x")).replace("\"HERE\"", &deep);
    world.hook(&["claude-code"], payload);
    world.hook(&["claude-code"], prompt("behind it"));
    assert!(texts(&world.events()).contains(&"behind it"));
    eventually("the spool to be drained", || (waiting(&world) == 0).then_some(()));
}

#[test]
fn many_concurrent_hooks_without_a_daemon_lose_nothing() {
    let world = quiet_world();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let world = &world;
            scope.spawn(move || {
                for n in 0..5 {
                    world.hook(&["claude-code"], prompt(&format!("{writer} says {n}")));
                }
            });
        }
    });
    let counted = status(&world)["lost"]["events"].as_u64().unwrap();
    // A hook that misses its deadline leaves its event to a background process and may have spooled
    // it by then.
    eventually("the events in the spool", || {
        (spooled(&world).len() as u64 + counted >= 20).then_some(())
    });
    assert_eq!(counted, 0, "the disk is fine: nothing is lost");
    start(&world);
    assert_eq!(world.events().len(), 20);
}

/// The daemon is stopped while hooks run: each event is stored or spooled.
#[test]
fn hooks_lose_nothing_while_the_daemon_restarts() {
    let world = world();
    std::thread::scope(|scope| {
        let hooks = scope.spawn(|| {
            for n in 0..20 {
                world.hook(&["claude-code"], prompt(&format!("number {n}")));
            }
        });
        while !hooks.is_finished() {
            assert_eq!(world.tome(&["stop"]).code, 0);
            assert_eq!(world.tome(&["start"]).code, 0);
        }
    });
    daemon_up(&world);
    assert_eq!(status(&world)["lost"]["events"], 0);
    assert_eq!(world.events().len(), 20);
}
