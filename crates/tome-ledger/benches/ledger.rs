//! Benchmarks of the ledger, printed as a table: `cargo bench -p tome-ledger`.
//!
//! Without a harness: each line is one measurement on a store in a temporary folder, which must be on a
//! real disk (`TMPDIR`) for the synced lines to be meaningful.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a benchmark prints, and stops when something is wrong"
)]

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Map, json};
use tome_ledger::{EventRange, Ledger, NewEvent, ScanDirection, StorageEngine};
use tome_model::{Agent, Draft, EventId, EventKind, Identity, Millis, Role, SessionId, Tool};

const BULK: usize = 200_000;
const BATCH: usize = 1_000;

fn main() {
    for engine in StorageEngine::AVAILABLE {
        println!("\n{engine}");
        let home = tempfile::tempdir().unwrap();
        many_stores(*engine, home.path());
        open_new(*engine, &home.path().join("new"));
        let bulk = home.path().join("bulk");
        encode();
        append_bulk(*engine, &bulk);
        open_closed(*engine, &bulk);
        read(*engine, &bulk);
        append_synced(*engine, &home.path().join("synced"));
    }
}

fn open_new(engine: StorageEngine, dir: &Path) {
    let (ledger, took) = timed(|| Ledger::open_with(dir, engine).unwrap());
    line("open, new store", &ms(took));
    let ((), took) = timed(|| drop(ledger));
    line("close, empty store", &ms(took));
    let (ledger, took) = timed(|| Ledger::open_with(dir, engine).unwrap());
    line("open, empty store", &ms(took));
    line("disk, empty store", &format!("{} KB", ledger.disk_bytes() / 1024));
}

fn encode() {
    let drafts: Vec<Draft> = (0..20_000).map(draft).collect();
    let (events, took) = timed(|| drafts.into_iter().map(new_event).collect::<Vec<_>>());
    let bytes: usize = events.iter().map(NewEvent::bytes_len).sum();
    line("encode 1 KB events, one thread", &rate(events.len(), took));
    line("encoded, with its frame in memory", &format!("{} B/event", bytes / events.len()));
}

fn append_bulk(engine: StorageEngine, dir: &Path) {
    let ledger = Arc::new(Ledger::open_with(dir, engine).unwrap());
    let all: Vec<NewEvent> = (0..BULK).map(draft).map(new_event).collect();
    let batches: Vec<Vec<NewEvent>> = all.chunks(BATCH).map(<[NewEvent]>::to_vec).collect();
    drop(all);
    let ((), took) = timed(|| {
        let (sender, receiver) = std::sync::mpsc::channel();
        for batch in batches {
            let sender = sender.clone();
            ledger.append_with_callback(batch, move |result| {
                sender.send(result.unwrap().len()).unwrap();
            });
        }
        drop(sender);
        assert_eq!(receiver.iter().sum::<usize>(), BULK);
    });
    line("append 200,000 encoded, queued by 1,000", &rate(BULK, took));
    line("resident memory, after the bulk", &format!("{:.1} MB", resident_mb()));

    let again: Vec<NewEvent> = (0..20_000).map(draft).map(new_event).collect();
    let (_, took) = timed(|| ledger.append(again).unwrap());
    line("append 20,000 known ones", &rate(20_000, took));

    let ((), took) = timed(|| {
        for from in (0..50_000).step_by(BATCH) {
            let events = (BULK + from..BULK + from + BATCH).map(draft).map(new_event);
            ledger.append(events.collect()).unwrap();
        }
    });
    line("encode and append 50,000, 1,000 a time", &rate(50_000, took));
    let ((), took) = timed(|| drop(ledger));
    line("close, 250,000 events", &ms(took));
}

fn open_closed(engine: StorageEngine, dir: &Path) {
    let times = (0..5).map(|_| timed(|| drop(Ledger::open_with(dir, engine).unwrap())).1);
    line("open and close, 250,000 events", &ms(times.min().unwrap()));
    let (ledger, took) = timed(|| Ledger::open_with(dir, engine).unwrap());
    line("open, 250,000 events", &ms(took));
    line("disk", &format!("{} B/event", ledger.disk_bytes() / ledger.last_seq()));
    let ((), took) = timed(|| ledger.compact().unwrap());
    line("compact", &ms(took));
    // fjall deletes old tables when it is opened again.
    drop(ledger);
    let ledger = Ledger::open_with(dir, engine).unwrap();
    line("disk, compacted", &format!("{} B/event", ledger.disk_bytes() / ledger.last_seq()));
}

fn read(engine: StorageEngine, dir: &Path) {
    let ledger = Ledger::open_with(dir, engine).unwrap();
    for direction in [ScanDirection::Forward, ScanDirection::Backward] {
        let range = EventRange {
            from: (direction == ScanDirection::Forward).then_some(Millis(1_794_702_500_000)),
            direction,
            ..EventRange::default()
        };
        let (count, took) =
            timed(|| ledger.events(&range).take(10_000).map(Result::unwrap).count());
        assert_eq!(count, 10_000);
        line(&format!("scan 10,000 events, {direction:?}").to_lowercase(), &ms(took));
    }
    let session = EventRange {
        session: Some(SessionId::parse("session-3").unwrap()),
        ..EventRange::default()
    };
    let (count, took) = timed(|| ledger.events(&session).map(Result::unwrap).count());
    line(&format!("scan a session of {count}"), &ms(took));
    let ids: Vec<EventId> = (0..10_000).map(|n| event_id(n * 17 % BULK)).collect();
    let (_, took) = timed(|| {
        for id in &ids {
            black_box(ledger.event(id).unwrap().unwrap());
        }
    });
    line("get by id", &each(ids.len(), took));
    let none: Vec<EventId> = (0..10_000).map(|n| event_id(n + 1_000_000)).collect();
    let (_, took) = timed(|| {
        for id in &none {
            assert!(ledger.event(id).unwrap().is_none());
        }
    });
    line("get by id, unknown", &each(none.len(), took));
}

fn append_synced(engine: StorageEngine, dir: &Path) {
    let ledger = Arc::new(Ledger::open_with(dir, engine).unwrap());
    let count = 400;
    let fsync = fsync_time(dir, count);
    line("write and fdatasync 1 KB, plain file", &each(count, fsync));
    let (_, took) = timed(|| {
        for n in 0..count {
            ledger.append(vec![new_event(draft(n))]).unwrap();
        }
    });
    line(
        "append, 1 thread, one at a time",
        &format!("{}   {}", each(count, took), rate(count, took)),
    );
    for threads in [8, 32] {
        let (_, took) = timed(|| {
            std::thread::scope(|scope| {
                for thread in 0..threads {
                    let ledger = &ledger;
                    scope.spawn(move || {
                        for n in 0..count {
                            let event = new_event(draft((threads + thread) * 10_000 + n));
                            ledger.append(vec![event]).unwrap();
                        }
                    });
                }
            });
        });
        line(&format!("append, {threads} threads, one at a time"), &rate(threads * count, took));
    }
}

fn many_stores(engine: StorageEngine, home: &Path) {
    let before = resident_mb();
    let ledgers: Vec<Ledger> = (0..10)
        .map(|n| {
            let ledger = Ledger::open_with(&home.join(format!("many{n}")), engine).unwrap();
            ledger.append((0..100).map(draft).map(new_event).collect()).unwrap();
            ledger.flush().unwrap();
            ledger
        })
        .collect();
    let each = (resident_mb() - before) / 10.0;
    line("resident memory of an idle store of 100", &format!("{each:.2} MB"));
    drop(ledgers);
}

fn event_id(n: usize) -> EventId {
    EventId::derive(&["bench", &n.to_string()])
}

/// About a kilobyte: half of the events are prompts and replies, half are tool results.
fn draft(n: usize) -> Draft {
    let mut draft = Draft {
        identity: Identity::Fixed(event_id(n)),
        at: Millis(1_794_702_485_000 + n as u64 * 40),
        session: SessionId::parse(&format!("session-{}", n / 200 % 40)).unwrap(),
        agent: Agent::parse("claude-code").unwrap(),
        cwd: "/home/dev/projects/compiler/crates/lexer".into(),
        project: None,
        kind: EventKind::AssistantMessage,
        role: Role::Assistant,
        text: prose(n, 900),
        tool: None,
        meta: Map::new(),
    };
    if n % 2 == 1 {
        draft.kind = EventKind::ToolResult;
        draft.role = Role::Tool;
        draft.text = String::new();
        draft.tool = Some(Tool {
            name: "Bash".into(),
            input: json!({"command": format!("cargo test -p lexer {n}"), "description": prose(n, 60)}),
            output: json!({"stdout": prose(n + 1, 750), "stderr": "", "interrupted": false}),
        });
    }
    draft
}

fn new_event(draft: Draft) -> NewEvent {
    NewEvent::encode(draft, "/home/dev/projects/compiler".into(), Millis(1_794_702_490_000))
}

/// Text that differs from event to event and compresses about as well as real text.
fn prose(seed: usize, bytes: usize) -> String {
    const WORDS: &str = "the lexer token stream returns an error when unicode identifiers begin \
        with a digit so parse_ident has to check peek() first and then advance cargo test shows \
        that crates/lexer/src/scan.rs:214 panics with index out of bounds after refactoring we \
        should add a regression test fix borrow checker complaint about mutable reference lifetime \
        of buffer move allocation outside loop because profile says memcpy dominates";
    let words: Vec<&str> = WORDS.split_whitespace().collect();
    let mut text = String::with_capacity(bytes + 16);
    let mut state = seed as u64 | 1 << 40;
    while text.len() < bytes {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let pick = (state >> 33) as usize;
        if pick.is_multiple_of(7) {
            text.push_str(&format!("{:x} ", state >> 40));
        } else {
            text.push_str(words[pick % words.len()]);
            text.push(' ');
        }
    }
    text
}

fn fsync_time(dir: &Path, count: usize) -> Duration {
    use std::io::Write;
    let mut file = std::fs::File::create(dir.join("plain")).unwrap();
    let block = [7u8; 1024];
    let ((), took) = timed(|| {
        for _ in 0..count {
            file.write_all(&block).unwrap();
            file.sync_data().unwrap();
        }
    });
    took
}

fn resident_mb() -> f64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: f64 = text.split(' ').nth(1).and_then(|n| n.parse().ok()).unwrap_or(0.0);
    pages * 4096.0 / 1e6
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}

fn ms(took: Duration) -> String {
    format!("{:.1} ms", took.as_secs_f64() * 1e3)
}

fn each(count: usize, took: Duration) -> String {
    format!("{:.1} µs each", took.as_secs_f64() * 1e6 / count as f64)
}

fn rate(count: usize, took: Duration) -> String {
    format!("{:.0} events/s", count as f64 / took.as_secs_f64())
}

fn line(what: &str, result: &str) {
    println!("  {what:<42} {result}");
}
