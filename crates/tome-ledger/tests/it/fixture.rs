//! Stores in the form in which each format was first written. They must open forever.
//!
//! A new format gets its own folder; an old folder is never rewritten. To create the folder of the
//! current format, if it does not exist yet:
//!
//! ```text
//! TOME_WRITE_FIXTURE=1 cargo test -p tome-ledger --test it fixture
//! ```

use std::path::{Path, PathBuf};

use tome_ledger::{EventRange, GripWrite, Ledger, ProjectionCommit, SegmentEntry, StorageEngine};
use tome_model::{Draft, Fact, FactKind, Node, SessionStats};

use crate::contents;
use crate::harness::*;

fn folder() -> PathBuf {
    PathBuf::from("tests/fixtures/store-v1-fjall")
}

/// Everything a store can contain: short and long texts, words and ids, a tool, a projection's results.
fn content() -> Vec<Draft> {
    let long = "A reply that goes on and on. ".repeat(400);
    vec![
        draft("e1", 1_794_702_485_884, "fix the lexer"),
        tool("e2", 1_794_702_486_000),
        draft("e3", 1_794_702_480_000, &long),
        words("weiter, bitte: 続けて", 1_794_702_490_000),
        words("weiter, bitte: 続けて", 1_794_702_499_000),
    ]
}

fn write(dir: &Path) {
    let ledger = Ledger::open_with(dir, StorageEngine::Fjall).unwrap();
    ledger.append(new_events(content())).unwrap();
    let mut tally = SessionStats::from_first_event(&ledger.event(&id("e1")).unwrap().unwrap());
    tally.count_event(&ledger.event(&id("e2")).unwrap().unwrap());
    ledger
        .commit(ProjectionCommit {
            projection: "tally".into(),
            from_seq: 0,
            upto_seq: 2,
            session_stats: vec![tally],
            ..ProjectionCommit::default()
        })
        .unwrap();
}

/// Git does not store empty folders, and families without a table have one.
fn restore_empty_folders(dir: &Path) {
    for family in std::fs::read_dir(dir.join("fjall/keyspaces")).unwrap() {
        std::fs::create_dir_all(family.unwrap().path().join("tables")).unwrap();
    }
}

#[test]
fn a_store_of_format_1_opens() {
    if std::env::var_os("TOME_WRITE_FIXTURE").is_some() && !folder().exists() {
        write(&folder());
    }
    let harness = Harness::new(StorageEngine::Fjall);
    copy_dir(&folder(), &harness.dir());
    restore_empty_folders(&harness.dir());
    let ledger = Ledger::open(&harness.dir()).unwrap();
    assert_eq!(ledger.engine(), StorageEngine::Fjall);

    let outbox = ledger.read_outbox(0, 10).unwrap();
    let events = outbox.iter().map(|entry| ledger.event_at(&entry.position).unwrap().unwrap());
    let expected = content().into_iter().zip(&outbox);
    let expected = expected.map(|(draft, entry)| stored(draft, entry.position.id.clone()));
    assert_eq!(events.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    let order: Vec<u64> = outbox.iter().map(|entry| entry.seq).collect();
    assert_eq!(order, [1, 2, 3, 4, 5]);

    let first = "e3 e1 e2 ";
    assert!(ids_of(&ledger, &EventRange::default()).starts_with(first));
    assert_eq!(ledger.cursor("tally").unwrap(), 2);
    let tally = ledger.session_stats(&session("s1"), PROJECT).unwrap().unwrap();
    assert_eq!((tally.events, tally.user_messages, tally.tool_results), (2, 1, 1));

    // It also accepts events, and duplicates are still recognized.
    let again = ledger.append(new_events(content())).unwrap();
    assert!(again.iter().all(|one| one.outcome == tome_ledger::AppendOutcome::Duplicate));
    let more = ledger.append(new_events([draft("e6", 1, "x")])).unwrap();
    assert_eq!((more[0].outcome, ledger.last_seq()), (tome_ledger::AppendOutcome::Stored, 6));
}

fn contents_folder() -> PathBuf {
    PathBuf::from("tests/fixtures/store-v1-contents-fjall")
}

/// Written since segments know their request.
fn newer_contents_folder() -> PathBuf {
    PathBuf::from("tests/fixtures/store-v2-contents-fjall")
}

/// Everything that the projection of the contents can write.
fn contents_work() -> ProjectionCommit {
    let (day, of) = (contents::node_id("toc:day:2026-03-02"), contents::segment_id(7));
    let put = |excerpt, closed| {
        let grip = contents::grip_of(excerpt, &of);
        GripWrite::Put { project: PROJECT.into(), grip, closed }
    };
    ProjectionCommit {
        upto_seq: 5,
        memo: Some("scheme 1".into()),
        segments: vec![contents::begins(PROJECT, &session("s1"), &contents::segment_entry(7, 3))],
        grips: vec![put("fix the lexer: 続けて", true), put("open", false)],
        ..contents::work(vec![
            contents::put(0, contents::node(&of, 1, true, "a segment")),
            contents::put(0, contents::node(&day, 1, false, &"a long day ".repeat(600))),
        ])
    }
}

/// Opens a copy of a fixture store with contents. Writes the fixture first if `TOME_WRITE_FIXTURE` is set.
fn open_contents(fixture: &Path, harness: &Harness) -> Ledger {
    if std::env::var_os("TOME_WRITE_FIXTURE").is_some() && !fixture.exists() {
        let ledger = Ledger::open_with(fixture, StorageEngine::Fjall).unwrap();
        ledger.append(new_events(content())).unwrap();
        ledger.commit(contents_work()).unwrap();
    }
    copy_dir(fixture, &harness.dir());
    restore_empty_folders(&harness.dir());
    Ledger::open(&harness.dir()).unwrap()
}

#[test]
fn a_store_with_segments_of_version_2_opens() {
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = open_contents(&newer_contents_folder(), &harness);
    let known = ledger.segments(PROJECT, &session("s1"), contents::order_key(0, 0));
    let known: Vec<_> = known.map(Result::unwrap).collect();
    // And before segments knew their turns.
    let expected = SegmentEntry { turns: Vec::new(), ..contents::segment_entry(7, 3) };
    assert_eq!(known, [expected]);
    let mut node = contents::node(&contents::segment_id(7), 1, true, "a segment");
    // It was written before these kinds of facts.
    let is_newer = |fact: &Fact| matches!(fact.kind, FactKind::Issue | FactKind::UndoneCommit);
    node.work.iter_mut().for_each(|work| work.facts.retain(|fact| !is_newer(fact)));
    assert_eq!(ledger.node(PROJECT, &node.id, None).unwrap(), Some(node));
}

#[test]
fn a_store_with_contents_opens() {
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = open_contents(&contents_folder(), &harness);
    let (day, of) = (contents::node_id("toc:day:2026-03-02"), contents::segment_id(7));
    let long = "a long day ".repeat(600);
    let nodes = [contents::node(&of, 1, true, "a segment"), contents::node(&day, 1, false, &long)];
    // They were written before nodes had facts.
    for node in nodes.map(|node| Node { work: Vec::new(), ..node }) {
        let head = ledger.node_header(PROJECT, &node.id).unwrap().unwrap();
        assert!(head.matches_node(&node) && head.firsts == [1, 2, 3, 4]);
        assert_eq!(ledger.node(PROJECT, &node.id, None).unwrap(), Some(node));
    }
    let grips: Vec<_> = ledger.grips(PROJECT, None).map(|grip| grip.unwrap().excerpt).collect();
    assert!(grips.contains(&"open".to_owned()) && grips.len() == 2, "{grips:?}");
    let known = ledger.segments(PROJECT, &session("s1"), contents::order_key(0, 0));
    let known: Vec<_> = known.map(Result::unwrap).collect();
    // And before segments knew their request.
    let entry = contents::segment_entry(7, 3);
    assert_eq!(known, [SegmentEntry { request: None, turns: Vec::new(), ..entry }]);
    assert_eq!(ledger.cursor("contents").unwrap(), 5);
    assert_eq!(ledger.memo("contents").unwrap(), "scheme 1");

    // The store predates the log of changed nodes: each node gets its row when it changes.
    assert_eq!(
        (ledger.changed_nodes(0, 9).unwrap(), ledger.last_node_change().unwrap()),
        (vec![], 0)
    );
    let again = contents::put(1, contents::node(&of, 1, true, "changed"));
    ledger
        .commit(ProjectionCommit { from_seq: 5, upto_seq: 5, ..contents::work(vec![again]) })
        .unwrap();
    let changed = ledger.changed_nodes(0, 9).unwrap();
    assert_eq!((changed.len(), &changed[0].id), (1, &of));
}
