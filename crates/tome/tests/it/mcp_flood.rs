//! A client that sends requests without reading responses is blocked by its own pipe before the
//! server's memory grows, and nothing is lost once it reads.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tome_testkit::eventually_within;

use crate::support::world;

/// More than fit into the pipe and into the server's queue together.
const REQUESTS: usize = 3_000;
/// Polls without a further request after which the writer is blocked.
const BLOCKED_POLLS: usize = 50;
/// Twice what the program and the requests in flight take.
const MEMORY_KIB_MAX: u64 = 100 * 1024;

fn peak_memory_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// The id of a response, and the response without it.
fn split_id(line: &str) -> (usize, String) {
    let (before, after) = line.split_once("\"id\":").unwrap();
    let digits = after.bytes().take_while(u8::is_ascii_digit).count();
    let (id, rest) = after.split_at(digits);
    (id.parse().unwrap(), [before, rest].concat())
}

#[test]
fn unread_responses_take_bounded_memory() {
    let world = world();
    let mut server = world
        .command(&["mcp", "--toolsets", "all"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut stdin, stdout) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
    let open = json!({"jsonrpc": "2.0", "id": "open", "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "flood", "version": "1"}}});
    writeln!(stdin, "{open}").unwrap();
    let mut stdout = BufReader::new(stdout);
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let writer = std::thread::spawn(move || {
        writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        for id in 0..REQUESTS {
            writeln!(stdin, "{}", json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"}))?;
            counter.store(id + 1, Ordering::Relaxed);
        }
        // Standard input stays open until all responses have arrived.
        Ok::<_, std::io::Error>(stdin)
    });
    // Nothing is read until the server accepts no more.
    let mut before = (usize::MAX, 0);
    let accepted = eventually_within(Duration::from_secs(40), || {
        let now = sent.load(Ordering::Relaxed);
        before = if now == before.0 { (now, before.1 + 1) } else { (now, 0) };
        (now == REQUESTS || (now > 0 && before.1 > BLOCKED_POLLS)).then_some(now)
    });
    assert!(accepted.unwrap() < REQUESTS, "the client is not blocked");
    // Only the first response is parsed: all others must be the same but for their id.
    let mut answered = BTreeSet::new();
    let mut expected = None;
    while answered.len() < REQUESTS {
        line.clear();
        assert_ne!(stdout.read_line(&mut line).unwrap(), 0, "{} answers", answered.len());
        let (id, rest) = split_id(&line);
        let expected = expected.get_or_insert_with(|| {
            let answer: Value = serde_json::from_str(&line).unwrap();
            assert!(answer["result"]["tools"].is_array(), "{answer}");
            rest.clone()
        });
        assert!(rest == *expected, "{line}");
        answered.insert(id);
    }
    let peak = peak_memory_kib(server.id());
    drop(writer.join().unwrap().unwrap());
    assert!(server.wait().unwrap().success());
    assert!(peak < MEMORY_KIB_MAX, "{peak} KiB");
}
