//! The queue when its file cannot be written, and when the clock is set back.

use std::path::Path;
use std::time::Duration;

use serde_json::Map;
use tome_model::{Agent, Event, EventId, EventKind, Millis, Role, SessionId};

use super::{AttemptOutcome, Conditions, Hold, ReflectionQueue};

const NOW_MS: u64 = 1_794_735_000_000;
const RETRY_AFTER_MS: u64 = 600_000;

fn now(ms: u64) -> Conditions<'static> {
    let idle = Some(Duration::from_secs(1_800));
    Conditions { ms, day: "2026-11-15", daily_tokens: 1_000, idle }
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

/// Queues a session that ended at this time.
fn end_session(queue: &ReflectionQueue, ms: u64) {
    let events = [(1, event(ms, EventKind::UserMessage)), (2, event(ms, EventKind::SessionEnd))];
    queue.record_events(Path::new("/app/ledger"), &events).unwrap();
}

/// No model call was made, so no attempt is lost, however often the disk is full.
#[test]
fn an_attempt_that_cannot_be_recorded_does_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let (run, away) = (folder.path().join("run"), folder.path().join("away"));
    std::fs::create_dir(&run).unwrap();
    let path = run.join("reflections.json");
    let queue = ReflectionQueue::open(path.clone());
    end_session(&queue, NOW_MS);
    let mut at = NOW_MS + 10_000;
    std::fs::rename(&run, &away).unwrap();
    for _ in 0..3 {
        queue.begin_next(&now(at)).unwrap_err();
        // The session is delayed, so that the log does not fill up too.
        assert_eq!(queue.begin_next(&now(at + 1_000)).unwrap(), None);
        at += RETRY_AFTER_MS;
    }
    std::fs::rename(&away, &run).unwrap();
    let first = queue.begin_next(&now(at)).unwrap().unwrap();
    assert_eq!(first.tries, 1);
    assert!(queue.status(true).unwrap().left.is_empty());

    // After two attempts interrupted by a crash the session is abandoned, but only once that is
    // saved.
    let queue = ReflectionQueue::open(path.clone());
    assert_eq!(queue.begin_next(&now(at)).unwrap().unwrap().tries, 2);
    let queue = ReflectionQueue::open(path);
    std::fs::rename(&run, &away).unwrap();
    queue.begin_next(&now(at)).unwrap_err();
    assert_eq!(queue.status(true).unwrap().waiting, 1);
    std::fs::rename(&away, &run).unwrap();
    assert_eq!(queue.begin_next(&now(at + RETRY_AFTER_MS)).unwrap(), None);
    let status = queue.status(true).unwrap();
    assert_eq!((status.waiting, status.left.len()), (0, 1));
}

#[test]
fn a_clock_set_back_does_not_delay_reflections() {
    let folder = tempfile::tempdir().unwrap();
    let queue = ReflectionQueue::open(folder.path().join("reflections.json"));
    let day_ms = 24 * 60 * 60 * 1_000;
    end_session(&queue, NOW_MS + day_ms);
    let tried = queue.begin_next(&now(NOW_MS)).unwrap().unwrap();
    let hold = |ms| AttemptOutcome::Failed {
        why: "down".to_owned(),
        hold: Some(Hold::after_failure(ms)),
        counts: false,
    };
    queue.finish(&tried, hold(NOW_MS), NOW_MS).unwrap();
    assert_eq!(queue.begin_next(&now(NOW_MS + 1_000)).unwrap(), None);
    queue.finish(&tried, hold(NOW_MS + day_ms), NOW_MS).unwrap();
    assert_eq!(queue.begin_next(&now(NOW_MS)).unwrap().unwrap().tries, 1);
}

/// A session that continues after the clock was set back is not over because of earlier events.
#[test]
fn silence_is_counted_from_the_last_arrival() {
    let folder = tempfile::tempdir().unwrap();
    let queue = ReflectionQueue::open(folder.path().join("reflections.json"));
    let store = Path::new("/app/ledger");
    let later = NOW_MS + 24 * 60 * 60 * 1_000;
    queue.record_events(store, &[(1, event(later, EventKind::UserMessage))]).unwrap();
    queue.record_events(store, &[(2, event(NOW_MS, EventKind::UserMessage))]).unwrap();
    assert_eq!(queue.begin_next(&now(NOW_MS + 1_000)).unwrap(), None);
    assert!(queue.begin_next(&now(NOW_MS + 1_800_000)).unwrap().is_some());
}

/// Hooks that miss a busy daemon leave their events in the spool, from where they arrive later.
#[test]
fn an_early_end_event_ends_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let queue = ReflectionQueue::open(folder.path().join("reflections.json"));
    let record = |seq: u64, ms: u64, kind: EventKind| {
        queue.record_events(Path::new("/app/ledger"), &[(seq, event(ms, kind))]).unwrap();
    };
    let due = |ms: u64| queue.begin_next(&now(ms)).unwrap();
    record(1, NOW_MS + 50, EventKind::Compaction);
    assert_eq!(due(NOW_MS + 10_000), None, "nothing was said");
    assert_eq!(queue.status(true).unwrap().waiting, 0);
    record(2, NOW_MS + 10, EventKind::UserMessage);
    record(3, NOW_MS + 20, EventKind::AssistantStop);
    let ended = due(NOW_MS + 10_000).unwrap();
    assert_eq!((ended.first_seq, ended.last_seq), (1, 3));
    let done = AttemptOutcome::Done { written: Vec::new() };
    queue.finish(&ended, done, NOW_MS + 10_000).unwrap();

    // The end of an empty continuation does not interrupt the next one.
    record(4, NOW_MS + 20_000, EventKind::Compaction);
    record(5, NOW_MS + 30_000, EventKind::UserMessage);
    assert_eq!(due(NOW_MS + 40_000), None, "the session goes on");
    record(6, NOW_MS + 50_000, EventKind::SessionEnd);
    assert_eq!(due(NOW_MS + 60_000).unwrap().first_seq, 5);
}
