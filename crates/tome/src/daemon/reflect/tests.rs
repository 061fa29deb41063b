//! The book when its file cannot be written, and when the clock is put back.

use std::path::Path;
use std::time::Duration;

use serde_json::Map;
use tome_model::{Agent, Event, EventId, EventKind, Millis, Role, SessionId};

use super::queue::{Came, Hold, Now, Queue};

const NOW_MS: u64 = 1_794_735_000_000;
const REST_MS: u64 = 600_000;

fn now(ms: u64) -> Now<'static> {
    let idle = Some(Duration::from_secs(1_800));
    Now { ms, day: "2026-11-15", daily_tokens: 1_000, idle }
}

fn event(ms: u64, kind: EventKind) -> Event {
    Event {
        id: EventId::parse("e1").unwrap(),
        at: Millis(ms),
        arrived: Millis(ms),
        session: SessionId::parse("s1").unwrap(),
        agent: Agent::parse("codex").unwrap(),
        project: "/app".to_owned(),
        cwd: "/app".to_owned(),
        kind,
        role: Role::User,
        text: "words".to_owned(),
        tool: None,
        meta: Map::new(),
    }
}

/// A session that ended then.
fn hear(book: &Queue, ms: u64) {
    let events = [(1, event(ms, EventKind::UserMessage)), (2, event(ms, EventKind::SessionEnd))];
    book.heard(Path::new("/app/ledger"), &events).unwrap();
}

/// No model was asked, so no try is lost, however often the disk is full.
#[test]
fn a_try_that_cannot_be_written_down_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let (run, away) = (folder.path().join("run"), folder.path().join("away"));
    std::fs::create_dir(&run).unwrap();
    let path = run.join("reflections.json");
    let book = Queue::open(path.clone());
    hear(&book, NOW_MS);
    let mut at = NOW_MS + 10_000;
    std::fs::rename(&run, &away).unwrap();
    for _ in 0..3 {
        book.begin(&now(at)).unwrap_err();
        // It rests, so that the log is not filled too.
        assert_eq!(book.begin(&now(at + 1_000)).unwrap(), None);
        at += REST_MS;
    }
    std::fs::rename(&away, &run).unwrap();
    let first = book.begin(&now(at)).unwrap().unwrap();
    assert_eq!(first.tries, 1);
    assert!(book.status(true).unwrap().left.is_empty());

    // Two tries that a crash ended: it is left alone once that is written down, and not before.
    let book = Queue::open(path.clone());
    assert_eq!(book.begin(&now(at)).unwrap().unwrap().tries, 2);
    let book = Queue::open(path);
    std::fs::rename(&run, &away).unwrap();
    book.begin(&now(at)).unwrap_err();
    assert_eq!(book.status(true).unwrap().waiting, 1);
    std::fs::rename(&away, &run).unwrap();
    assert_eq!(book.begin(&now(at + REST_MS)).unwrap(), None);
    let seen = book.status(true).unwrap();
    assert_eq!((seen.waiting, seen.left.len()), (0, 1));
}

#[test]
fn a_clock_that_is_put_back_holds_nothing_up() {
    let folder = tempfile::tempdir().unwrap();
    let book = Queue::open(folder.path().join("reflections.json"));
    let day_ms = 24 * 60 * 60 * 1_000;
    hear(&book, NOW_MS + day_ms);
    let tried = book.begin(&now(NOW_MS)).unwrap().unwrap();
    let hold =
        |ms| Came::Failed { why: "down".to_owned(), hold: Some(Hold::resting(ms)), counts: false };
    book.end(&tried, hold(NOW_MS), NOW_MS).unwrap();
    assert_eq!(book.begin(&now(NOW_MS + 1_000)).unwrap(), None);
    book.end(&tried, hold(NOW_MS + day_ms), NOW_MS).unwrap();
    assert_eq!(book.begin(&now(NOW_MS)).unwrap().unwrap().tries, 1);
}

/// What goes on after the clock was put back is not over because of what came before.
#[test]
fn silence_is_counted_from_the_last_arrival() {
    let folder = tempfile::tempdir().unwrap();
    let book = Queue::open(folder.path().join("reflections.json"));
    let store = Path::new("/app/ledger");
    let later = NOW_MS + 24 * 60 * 60 * 1_000;
    book.heard(store, &[(1, event(later, EventKind::UserMessage))]).unwrap();
    book.heard(store, &[(2, event(NOW_MS, EventKind::UserMessage))]).unwrap();
    assert_eq!(book.begin(&now(NOW_MS + 1_000)).unwrap(), None);
    assert!(book.begin(&now(NOW_MS + 1_800_000)).unwrap().is_some());
}
