//! The daemon: how it starts, stops and cleans up, and who has access.

use std::io::Write;
use std::process::{Child, Stdio};

use serde_json::{Value, json};
use tome_testkit::{CommandResult, Signal, World, eventually, send_signal};

use crate::support::{daemon_gone, daemon_up, ids, line, list, prompt, status, texts, world};

/// Several batches of `tome ingest`.
const STREAMED: u64 = 4_000;

/// Runs the daemon in the foreground as a child of the test.
fn foreground(world: &World, args: &[&str]) -> Child {
    let child = world
        .command(&[args, &["daemon"]].concat())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(daemon_up(world), child.id());
    child
}

#[test]
fn any_client_starts_the_daemon() {
    for args in [&["ingest"][..], &["start"], &["admin", "flush"]] {
        let world = world();
        world.tome(args);
        assert!(world.daemon_pid().is_some(), "tome {args:?}");
    }
    let stored = world();
    stored.ingest(&line("a", 1_000, "a"));
    for args in [&["events"][..], &["show", "nothing"]] {
        stored.tome(&["stop"]);
        stored.tome(args);
        assert!(stored.daemon_pid().is_some(), "tome {args:?}");
    }
    // Nothing is stored yet.
    for args in [
        &[][..],
        &["events"],
        &["status"],
        &["doctor"],
        &["config"],
        &["stop"],
        &["completions", "bash"],
        &["man"],
    ] {
        let world = world();
        world.tome(args);
        assert!(world.daemon_pid().is_none(), "tome {args:?}");
    }
}

#[test]
fn start_status_and_stop_report_the_daemon() {
    let world = world();
    let away = world.tome(&["status"]);
    assert_eq!(away.code, 0);
    assert!(away.stdout.contains("not running"), "{}", away.stdout);
    assert_eq!(status(&world)["daemon"], json!({"running": false}));
    let started = world.tome(&["start", "--json"]).json();
    assert_eq!(started["pid"], world.daemon_pid().unwrap());
    assert_eq!(world.tome(&["start", "--json"]).json(), started, "once");
    let running = status(&world);
    assert_eq!(running["daemon"]["pid"], started["pid"]);
    assert_eq!(running["daemon"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(running["daemon"]["endpoints"], json!([world.socket()]));
    let stopped = world.tome(&["stop", "--json"]).json();
    assert_eq!(stopped, json!({"running": false, "stopped_pid": started["pid"]}));
    assert!(world.daemon_pid().is_none());
    let again = world.tome(&["stop"]);
    assert_eq!((again.code, again.stdout.as_str()), (0, "daemon was not running\n"));
}

/// Bytes that the file system has allocated for the home.
#[cfg(unix)]
#[test]
fn status_reports_the_disk_usage_of_the_whole_home() {
    use std::io::Write;
    let world = world();
    world.ingest(&line("a", 1_000, "a"));
    let mut file = std::fs::File::create(world.home().join("some-file")).unwrap();
    file.write_all(&[7; 3 << 20]).unwrap();
    file.sync_all().unwrap();
    file.set_len(1 << 30).unwrap();
    let found = status(&world)["daemon"]["disk_bytes"].as_u64().unwrap();
    assert!((3 << 20..1 << 29).contains(&found), "{found}");
}

#[test]
fn a_second_daemon_cannot_start() {
    let world = world();
    let mut first = foreground(&world, &[]);
    let second = world.tome(&["daemon"]);
    assert_eq!(second.code, 1);
    let pid = first.id().to_string();
    assert!(second.stderr.contains("already") && second.stderr.contains(&pid), "{}", second.stderr);
    assert_eq!(world.daemon_pid(), Some(first.id()), "the first goes on");
    world.ingest(&line("a", 1_000, "a"));
    send_signal(first.id(), Signal::Term);
    first.wait().unwrap();
}

#[test]
fn sigterm_finishes_cleanly_and_removes_the_socket() {
    let world = world();
    let child = foreground(&world, &[]);
    world.ingest(&line("a", 1_000, "a"));
    send_signal(child.id(), Signal::Term);
    let ran = CommandResult::from(child.wait_with_output().unwrap());
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(!world.socket().exists());
    assert_eq!(ids(&world.events()), ["a"]);
}

/// After SIGTERM in the middle of a bulk stream, everything counted as stored is there.
#[test]
fn sigterm_finishes_work_in_flight() {
    let world = world();
    let child = foreground(&world, &[]);
    let lines: Vec<String> = (0..STREAMED)
        .map(|n| line(&format!("n{n}"), n, "some words of an event that is on its way"))
        .collect();
    let (before, after) = lines.split_at(lines.len() / 2);
    let (input, mut pen) = std::io::pipe().unwrap();
    let args = ["ingest", "--json", "--set", "daemon.autostart=false"];
    let ingest =
        world.command(&args).stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    pen.write_all(before.concat().as_bytes()).unwrap();
    eventually("the first events", || {
        let created = status(&world)["daemon"]["created"].as_u64();
        created.filter(|created| *created > 0)
    });
    // The input is still open, so the stream is under way.
    send_signal(child.id(), Signal::Term);
    // The rest meets a daemon that stops, and `ingest` may have given up.
    let _ = pen.write_all(after.concat().as_bytes());
    drop(pen);
    let ran = CommandResult::from(ingest.unwrap().wait_with_output().unwrap());
    let ended = CommandResult::from(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let told = if ran.code == 0 {
        ran.json()["created"].as_u64().unwrap()
    } else {
        let error: Value = serde_json::from_str(&ran.stderr).unwrap();
        let count = error["error"].as_str().unwrap().split_whitespace().next().unwrap();
        count.replace(',', "").parse().unwrap()
    };
    let stored = list(&world, &["--limit", "0"]).len() as u64;
    assert!(stored >= told, "{told} were acknowledged, {stored} are there");
    world.ingest(&lines.concat());
    assert_eq!(list(&world, &["--limit", "0"]).len(), lines.len());
}

/// A client that arrives during shutdown gets the next daemon.
#[test]
fn a_client_during_shutdown_gets_a_new_daemon() {
    let world = world();
    for n in 0..8 {
        let lines: String =
            (0..200).map(|i| line(&format!("n{n}-{i}"), n * 1_000 + i, "words")).collect();
        world.ingest(&lines);
        send_signal(world.daemon_pid().unwrap(), Signal::Term);
        let ran = world.tome(&["events", "--json", "-n", "1"]);
        assert_eq!(ran.code, 0, "round {n}: {}", ran.stderr);
    }
}

/// The same after a crash, however soon the client arrives.
#[test]
fn a_client_right_after_a_crash_gets_a_new_daemon() {
    let world = world();
    world.ingest(&line("a", 1_000, "a"));
    for n in 0..12 {
        send_signal(daemon_up(&world), Signal::Kill);
        let ran = world.tome(&["events", "--json"]);
        assert_eq!(ran.code, 0, "round {n}: {}", ran.stderr);
        assert_eq!(ids(&ran.json_lines()), ["a"]);
    }
}

#[test]
fn a_crash_leaves_nothing_that_blocks_the_next_client() {
    let world = world();
    world.ingest(&line("a", 1_000, "a"));
    let dead = world.kill_daemon().unwrap();
    assert!(world.socket().exists(), "a stale socket");
    let lock = std::fs::read_to_string(world.home().join("run/daemon.lock")).unwrap();
    assert!(lock.starts_with(&dead.to_string()), "a stale lock");
    assert_eq!(status(&world)["daemon"], json!({"running": false}));
    assert_eq!(ids(&world.events()), ["a"]);
    assert_ne!(world.daemon_pid(), Some(dead));
}

/// A lock file that names another program's process must not affect that process.
#[test]
fn a_stale_lock_does_not_harm_another_process() {
    let world = world();
    let mut stranger = std::process::Command::new("sleep").arg("60").spawn().unwrap();
    std::fs::create_dir_all(world.home().join("run")).unwrap();
    std::fs::write(world.home().join("run/daemon.lock"), format!("{} 0.0.1\n", stranger.id()))
        .unwrap();
    assert_eq!(world.tome(&["stop", "--force"]).code, 0);
    world.ingest(&line("a", 1_000, "a"));
    assert!(stranger.try_wait().unwrap().is_none(), "still there");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
}

#[test]
fn an_idle_daemon_exits() {
    let world = world();
    let mut command = world.command(&["start"]);
    World::run(command.env("TOME_DAEMON_IDLE_EXIT", "300ms"), b"");
    daemon_gone(&world);
    assert!(!world.socket().exists());
    let log = std::fs::read_to_string(world.home().join("run/daemon.log")).unwrap();
    assert!(log.contains("idle"), "{log}");
    assert_eq!(world.tome(&["events"]).code, 0, "and comes back");
}

#[test]
fn twenty_concurrent_clients_start_one_daemon() {
    let world = world();
    std::thread::scope(|scope| {
        for n in 0..20 {
            let world = &world;
            scope.spawn(move || world.ingest(&line(&format!("n{n:02}"), n, "at once")));
        }
    });
    let events = world.events();
    assert_eq!(events.len(), 20);
    let log = std::fs::read_to_string(world.home().join("run/daemon.log")).unwrap();
    assert_eq!(log.matches("listening at").count(), 1, "{log}");
}

/// A status request must not prevent the daemon from starting.
#[test]
fn a_status_request_does_not_block_a_start() {
    let world = world();
    let over = std::sync::atomic::AtomicBool::new(false);
    let over = &over;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(std::sync::atomic::Ordering::SeqCst) {
                world.tome(&["status"]);
            }
        });
        for n in 0..10 {
            let started = world.tome(&["start"]);
            let stopped = world.tome(&["stop"]);
            if (started.code, stopped.code) != (0, 0) {
                over.store(true, std::sync::atomic::Ordering::SeqCst);
            }
            assert_eq!((started.code, started.stderr.as_str()), (0, ""), "round {n}");
            assert_eq!((stopped.code, stopped.stderr.as_str()), (0, ""), "round {n}");
        }
        over.store(true, std::sync::atomic::Ordering::SeqCst);
    });
}

#[test]
fn without_autostart_only_start_starts_the_daemon() {
    let world = world();
    let quiet = |args: &[&str]| {
        let mut command = world.command(args);
        World::run(command.env("TOME_DAEMON_AUTOSTART", "false"), b"")
    };
    let ran = quiet(&["admin", "flush"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""));
    assert!(ran.stderr.contains("tome"), "{}", ran.stderr);
    World::run_hook_command(
        world.command(&["hook", "codex"]).env("TOME_DAEMON_AUTOSTART", "false"),
        prompt("waits"),
    );
    assert!(world.daemon_pid().is_none());
    assert_eq!(quiet(&["start"]).code, 0);
    assert!(world.daemon_pid().is_some());
    assert_eq!(texts(&world.events()), ["waits"]);
}

/// Health and reflection answer any gRPC client on the socket.
#[test]
fn standard_health_and_reflection_are_served() {
    let world = world();
    world.tome(&["start"]);
    let socket = world.socket();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let channel = crate::daemon_tcp::over_socket(&socket).await;
        let health = crate::daemon_tcp::health(channel.clone()).await.unwrap();
        assert_eq!(health, "Serving");
        let services = crate::daemon_tcp::services(channel).await.unwrap();
        for name in [
            "tome.v1.Capture",
            "tome.v1.Events",
            "tome.v1.Daemon",
            "tome.v1.Tools",
            "tome.v1.Notebook",
            "grpc.health.v1.Health",
        ] {
            assert!(services.contains(&name.to_owned()), "{services:?}");
        }
    });
}
