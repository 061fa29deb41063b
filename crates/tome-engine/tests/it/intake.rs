//! Ingesting events, and releasing a store afterwards.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde_json::json;
use tome_engine::{Intake, Sealer};
use tome_home::{EventQuery, Home, StoreMode, Stores};
use tome_ledger::StorageEngine;
use tome_model::{Clock, EventLine, Millis, SystemClock};
use tome_redact::Redactor;

use crate::engine_fixture::{EngineFixture, SUNDAY_MS};

fn prompt_line(id: &str) -> EventLine {
    EventLine {
        id: Some(id.into()),
        at: Millis(1_000_000),
        session_id: "s1".into(),
        agent: "codex".into(),
        cwd: "/nowhere/app".into(),
        kind: "user_message".into(),
        text: "hello".into(),
        ..EventLine::default()
    }
}

#[test]
fn after_the_reply_a_store_can_be_closed_and_reopened() {
    let folder = tome_testkit::temporary_folder();
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let open = || {
        let home = Home::at(folder.path());
        let mode = StoreMode::PerProject;
        let stores = Arc::new(Stores::new(home, mode, StorageEngine::DEFAULT, Arc::clone(&clock)));
        let sealer = Sealer::new(Redactor::new(&[]).unwrap(), 65_536);
        Intake::new(sealer, stores, Arc::clone(&clock))
    };
    let intake = open();
    let (done, answers) = mpsc::channel();
    // The callback is slow: whatever it still holds, it holds for a while.
    intake.submit(intake.prepare(vec![prompt_line("one").into_draft().unwrap()]), move |stored| {
        done.send(stored).unwrap();
        std::thread::sleep(Duration::from_millis(100));
    });
    assert!(answers.recv().unwrap().iter().all(Result::is_ok));
    drop(intake);
    let stored = open().ingest(vec![prompt_line("two").into_draft().unwrap()]);
    assert!(stored.iter().all(Result::is_ok), "{stored:?}");
}

/// A clock whose time is given.
struct FixedClock(Millis);

impl Clock for FixedClock {
    fn now(&self) -> Millis {
        self.0
    }
}

/// A repository at `main` with a linked worktree at `linked`, on the branch `side`.
fn create_repository(root: &std::path::Path) {
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        tome_home::write_atomic(&path, text.as_bytes()).unwrap();
    };
    std::fs::create_dir_all(root.join("main/.git/objects")).unwrap();
    write("main/.git/HEAD", "ref: refs/heads/main\n");
    write("main/.git/refs/heads/main", "0123456789abcdef0123456789abcdef01234567\n");
    let record = root.join("main/.git/worktrees/linked");
    write("linked/.git", &format!("gitdir: {}\n", record.display()));
    write("main/.git/worktrees/linked/commondir", "../..\n");
    write("main/.git/worktrees/linked/HEAD", "ref: refs/heads/side\n");
    let pointer = root.join("linked/.git");
    write("main/.git/worktrees/linked/gitdir", &format!("{}\n", pointer.display()));
}

#[test]
fn events_record_their_branch_and_worktree() {
    let folder = tome_testkit::temporary_folder();
    let root = folder.path().canonicalize().unwrap();
    create_repository(&root);
    let now = SystemClock.now();
    let clock: Arc<dyn Clock> = Arc::new(FixedClock(now));
    let home = Home::at(root.join("home"));
    let mode = StoreMode::PerProject;
    let stores = Arc::new(Stores::new(home, mode, StorageEngine::DEFAULT, Arc::clone(&clock)));
    let sealer = Sealer::new(Redactor::new(&[]).unwrap(), 65_536);
    let intake = Intake::new(sealer, Arc::clone(&stores), clock);
    let hour = 3_600_000;
    let cases = [
        ("main", "user_message", now, ("main", "")),
        ("linked", "session_start", now, ("side", "linked")),
        ("linked", "assistant_stop", now, ("side", "linked")),
        // Older than the worktree: nothing is known of it.
        ("linked", "user_message", Millis(now.0 - hour), ("", "")),
        // Longer ago than the branch is sure, but the worktree was there.
        ("linked", "user_message", Millis(now.0 + hour), ("", "linked")),
        ("linked", "tool_result", now, ("", "")),
    ];
    for (number, (cwd, kind, at, expected)) in cases.into_iter().enumerate() {
        let id = format!("e{number}");
        let line = EventLine {
            cwd: root.join(cwd).to_string_lossy().into_owned(),
            kind: kind.into(),
            at,
            ..prompt_line(&id)
        };
        let stored = intake.ingest(vec![line.into_draft().unwrap()]);
        assert!(stored.iter().all(Result::is_ok), "{stored:?}");
        let event = stores.find_event(&id, None).unwrap();
        let field = |name: &str| event.meta.get(name).and_then(|value| value.as_str());
        let worktree = field("worktree").unwrap_or_default();
        let worktree = worktree.strip_prefix(&format!("{}/", root.display())).unwrap_or(worktree);
        assert_eq!((field("branch").unwrap_or_default(), worktree), expected, "{cwd} {kind}");
    }
}

#[test]
fn a_time_may_be_rfc_3339_or_milliseconds() {
    let fixture = EngineFixture::new();
    for (id, at) in [
        ("ms", json!(SUNDAY_MS)),
        ("utc", json!("2026-03-15T09:30:00Z")),
        ("offset", json!("2026-03-15T10:30:00+01:00")),
        ("digits", json!(SUNDAY_MS.to_string())),
    ] {
        fixture.ingest([json!({"id": id, "at": at})]);
        let event = fixture.engine.stores().find_event(id, None).unwrap();
        assert_eq!(event.at, Millis(SUNDAY_MS), "{id}");
    }
}

#[test]
fn roles_follow_the_kind() {
    let fixture = EngineFixture::new();
    for (kind, role) in [
        ("user_message", "user"),
        ("assistant_message", "assistant"),
        ("assistant_stop", "assistant"),
        ("subagent_stop", "assistant"),
        ("tool_result", "tool"),
        ("session_start", "system"),
        ("subagent_start", "system"),
        ("session_end", "system"),
        ("compaction", "system"),
        ("unknown", "system"),
    ] {
        fixture.ingest([json!({"id": kind, "kind": kind})]);
        let event = fixture.engine.stores().find_event(kind, None).unwrap();
        assert_eq!(event.role.as_str(), role, "{kind}");
    }
}

#[test]
fn a_stored_event_is_never_changed() {
    let fixture = EngineFixture::new();
    fixture.ingest([json!({"id": "a", "at": 1_000, "text": "as it was"})]);
    fixture.ingest([json!({"id": "a", "at": 2_000, "text": "something else"})]);
    let query = EventQuery { events_max: 10, bytes_max: usize::MAX, ..EventQuery::default() };
    let events = fixture.engine.stores().query_events(&query).unwrap().events;
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!((events[0].text.as_str(), events[0].at), ("as it was", Millis(1_000)));
}
