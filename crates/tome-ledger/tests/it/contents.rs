//! The stored contents: versions, headers, grips and segments.

use proptest::prelude::*;
use tome_ledger::{
    GripWrite, Ledger, LedgerError, NodeChange, NodeHeader, NodeWrite, OrderKey, ProjectionCommit,
    SegmentEntry, SegmentStartReason, SegmentWrite, StorageEngine, TurnEntry,
};
use tome_model::{
    Agent, Bullet, EventKind, Fact, FactKind, Grip, GripId, Level, Millis, Node, NodeId, Period,
    SessionId, Work,
};

use crate::faulty_store;
use crate::harness::*;

on_every_engine!(
    versions_are_kept_and_the_latest_is_found,
    a_concurrently_changed_node_is_not_overwritten,
    removed_closed_nodes_stay_readable,
    headers_are_listed_by_prefix_after_an_id,
    projects_are_kept_separate,
    a_grip_of_a_closed_version_is_kept,
    segments_are_found_by_position,
    nodes_and_cursor_are_written_together,
);

pub(crate) fn node_id(text: &str) -> NodeId {
    NodeId::parse(text).unwrap()
}

pub(crate) fn order_key(at: u64, seq: u64) -> OrderKey {
    OrderKey { at: Millis(at), seq }
}

pub(crate) fn segment_id(at: u64) -> NodeId {
    let day = Period::day(2026, 3, 2).unwrap();
    NodeId::for_segment(&day, Millis(at), &session("s1"), &id("e1"))
}

pub(crate) fn node(of: &NodeId, version: u32, open: bool, title: &str) -> Node {
    Node {
        id: of.clone(),
        version,
        open,
        title: title.into(),
        bullets: vec![Bullet {
            text: "weiter: 続けて".into(),
            grips: vec![grip_of("續", of).id],
            unsupported: version > 1,
        }],
        keywords: vec!["lexer.rs".into(), "ключ".into()],
        children: vec![segment_id(7)],
        first_at: Millis(1_772_442_000_000),
        last_at: Millis(1_772_442_060_000),
        events: 2,
        tokens: u64::from(version) * 1_000_000,
        agents: vec![Agent::parse("codex").unwrap()],
        sessions: vec![session("s1"), session("s 2 é")],
        session_count: 300,
        source: Some((id("e1"), id("e2"))),
        summarizer: "extractive".into(),
        made_at: Millis(9),
        work: vec![Work {
            branch: Some("feature/ключ".into()),
            sessions: vec![session("s1")],
            turns: 3,
            commits: 1,
            weight: 70,
            facts: FactKind::ALL
                .into_iter()
                .map(|kind| {
                    let grips = vec![grip_of("續", of).id];
                    Fact::new(kind, "直した".into(), Millis(7), 5, grips).unwrap()
                })
                .collect(),
        }],
    }
}

pub(crate) fn grip_of(excerpt: &str, of: &NodeId) -> Grip {
    Grip {
        id: GripId::from_excerpt(Millis(5), &id("e1"), excerpt),
        node: of.clone(),
        excerpt: excerpt.into(),
        hash: "00ff".into(),
        first: id("e1"),
        last: id("e2"),
        at: Millis(5),
        kind: EventKind::AssistantStop,
    }
}

pub(crate) fn put(seen: u32, node: Node) -> NodeWrite {
    let (id, base) = (node.id.clone(), node.version);
    let change = NodeChange::Put { node: Box::new(node), base, firsts: [1, 2, 3, 4] };
    NodeWrite { project: PROJECT.into(), id, seen, change }
}

fn remove(seen: u32, id: &NodeId) -> NodeWrite {
    NodeWrite { project: PROJECT.into(), id: id.clone(), seen, change: NodeChange::Remove }
}

pub(crate) fn work(nodes: Vec<NodeWrite>) -> ProjectionCommit {
    ProjectionCommit { projection: "contents".into(), nodes, ..ProjectionCommit::default() }
}

fn head(ledger: &Ledger, id: &NodeId) -> Option<NodeHeader> {
    ledger.node_header(PROJECT, id).unwrap()
}

fn versions_are_kept_and_the_latest_is_found(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let day = node_id("toc:day:2026-03-02");
    {
        let ledger = harness.open();
        assert_eq!(ledger.node(PROJECT, &day, None).unwrap(), None);
        ledger.commit(work(vec![put(0, node(&day, 1, true, "a"))])).unwrap();
        ledger.commit(work(vec![put(1, node(&day, 1, false, "b"))])).unwrap();
        ledger.commit(work(vec![put(1, node(&day, 2, false, "c"))])).unwrap();
    }
    let ledger = harness.open();
    let nodes = [node(&day, 1, false, "b"), node(&day, 2, false, "c")];
    assert_eq!(ledger.node(PROJECT, &day, None).unwrap().as_ref(), Some(&nodes[1]));
    assert_eq!(ledger.node(PROJECT, &day, Some(1)).unwrap().as_ref(), Some(&nodes[0]));
    assert_eq!(ledger.node(PROJECT, &day, Some(3)).unwrap(), None);
    let versions = |after| {
        let found: Result<Vec<_>, _> = ledger.node_versions(PROJECT, &day, after).collect();
        found.unwrap()
    };
    assert_eq!(versions(0), nodes);
    assert_eq!(versions(1), nodes[1..]);
    let head = head(&ledger, &day).unwrap();
    assert!(head.matches_node(&nodes[1]) && !head.matches_node(&nodes[0]));
    assert_eq!((head.version, head.base, head.firsts), (2, 2, [1, 2, 3, 4]));
}

fn a_concurrently_changed_node_is_not_overwritten(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let (day, week) = (node_id("toc:day:2026-03-02"), node_id("toc:week:2026-W10"));
    ledger.commit(work(vec![put(0, node(&day, 1, false, "a"))])).unwrap();
    for seen in [0, 2] {
        let stale =
            work(vec![put(0, node(&week, 1, true, "w")), put(seen, node(&day, 2, true, "b"))]);
        let error = ledger.commit(stale).unwrap_err();
        let LedgerError::VersionConflict { latest: 1, .. } = &error else { panic!("{error}") };
        assert!(error.to_string().contains("toc:day:2026-03-02 is now at version 1"), "{error}");
    }
    assert_eq!(head(&ledger, &week), None, "all of it or nothing");
    assert!(ledger.write_failure().is_none(), "that is no failure of the disk");
    let mut nul = put(0, node(&week, 1, true, "w"));
    nul.project = "a\0b".into();
    assert!(ledger.commit(work(vec![nul])).unwrap_err().to_string().contains("0x00"));
}

fn removed_closed_nodes_stay_readable(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let (open, closed) = (segment_id(1), segment_id(2));
    let reopened = segment_id(3);
    ledger
        .commit(work(vec![
            put(0, node(&open, 1, true, "open")),
            put(0, node(&closed, 1, false, "closed")),
            put(0, node(&reopened, 1, false, "was closed")),
        ]))
        .unwrap();
    ledger.commit(work(vec![put(1, node(&reopened, 2, true, "open again"))])).unwrap();
    let gone = vec![remove(1, &open), remove(1, &closed), remove(2, &reopened)];
    ledger.commit(work(gone)).unwrap();
    assert_eq!(head(&ledger, &open), None);
    assert_eq!(ledger.node(PROJECT, &open, Some(1)).unwrap(), None);
    for (id, title) in [(&closed, "closed"), (&reopened, "was closed")] {
        let head = head(&ledger, id).unwrap();
        assert_eq!((head.removed, head.version, head.open), (true, 1, false));
        assert_eq!(ledger.node(PROJECT, id, None).unwrap(), None);
        assert_eq!(ledger.node(PROJECT, id, Some(1)).unwrap().unwrap().title, title);
    }
    assert_eq!(ledger.node(PROJECT, &reopened, Some(2)).unwrap(), None);
    // It may come back.
    ledger.commit(work(vec![put(1, node(&closed, 2, true, "back"))])).unwrap();
    assert_eq!(ledger.node(PROJECT, &closed, None).unwrap().unwrap().title, "back");
}

fn headers_are_listed_by_prefix_after_an_id(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let mut ids: Vec<NodeId> = (1..6).map(segment_id).collect();
    ids.sort();
    let others = [node_id("toc:day:2026-03-02"), node_id("toc:year:2026")];
    let all = ids.iter().chain(&others).map(|id| put(0, node(id, 1, true, "t"))).collect();
    ledger.commit(work(all)).unwrap();
    let listed = |prefix: &str, after: Option<&NodeId>| -> Vec<NodeId> {
        ledger.node_headers(PROJECT, prefix, after).map(|head| head.unwrap().id).collect()
    };
    assert_eq!(listed("toc:segment:2026-03-02:", None), ids);
    assert_eq!(listed("toc:segment:2026-03-02:", Some(&ids[2])), ids[3..]);
    assert_eq!(listed("toc:segment:2026-03-03:", None), []);
    assert_eq!(listed("toc:year:", None), [others[1].clone()]);
    assert_eq!(listed("", None).len(), 7);
    // A point before the prefix changes nothing.
    assert_eq!(listed("toc:year:", Some(&others[0])), [others[1].clone()]);
}

fn projects_are_kept_separate(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let day = node_id("toc:day:2026-03-02");
    let names = ["/a", "/a/b", "/a b", "/é"];
    for name in names {
        let mut write = put(0, node(&day, 1, true, name));
        write.project = name.into();
        let grip = GripWrite::Put { project: name.into(), grip: grip_of(name, &day), closed: true };
        ledger.commit(ProjectionCommit { grips: vec![grip], ..work(vec![write]) }).unwrap();
    }
    assert_eq!(ledger.contents_projects().unwrap(), ["/a", "/a b", "/a/b", "/é"]);
    for name in names {
        assert_eq!(ledger.node(name, &day, None).unwrap().unwrap().title, name);
        let heads: Vec<_> =
            ledger.node_headers(name, "", None).map(|head| head.unwrap().title).collect();
        assert_eq!(heads, [name]);
        let grips: Vec<_> = ledger.grips(name, None).map(|grip| grip.unwrap().excerpt).collect();
        assert_eq!(grips, [name]);
    }
}

fn a_grip_of_a_closed_version_is_kept(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let (of, other) = (segment_id(1), segment_id(2));
    let put = |excerpt: &str, of: &NodeId, closed| GripWrite::Put {
        project: PROJECT.into(),
        grip: grip_of(excerpt, of),
        closed,
    };
    let drop = |excerpt: &str, of: &NodeId| GripWrite::Drop {
        project: PROJECT.into(),
        id: grip_of(excerpt, of).id,
        node: of.clone(),
    };
    let commit =
        |grips: Vec<GripWrite>| ledger.commit(ProjectionCommit { grips, ..work(vec![]) }).unwrap();
    let there = |excerpt: &str| {
        ledger.grip(PROJECT, &grip_of(excerpt, &of).id).unwrap().map(|grip| grip.node)
    };
    commit(vec![put("open", &of, false), put("closed", &of, true), put("moved", &of, false)]);
    assert_eq!(ledger.grip(PROJECT, &grip_of("open", &of).id).unwrap(), Some(grip_of("open", &of)));
    // Another segment now owns one of them; a grip put in the same commit is not dropped.
    commit(vec![put("moved", &other, false), drop("moved", &of), put("closed", &other, false)]);
    assert_eq!(there("moved"), Some(other.clone()));
    commit(vec![drop("open", &of), drop("closed", &other), drop("moved", &of), drop("never", &of)]);
    assert_eq!(
        [there("open"), there("closed"), there("moved")],
        [None, Some(other.clone()), Some(other.clone())]
    );
    commit(vec![drop("moved", &other)]);
    assert_eq!(there("moved"), None);
    let left: Vec<_> = ledger.grips(PROJECT, None).map(|grip| grip.unwrap().excerpt).collect();
    assert_eq!(left, ["closed"]);
}

pub(crate) fn segment_entry(at: u64, seq: u64) -> SegmentEntry {
    SegmentEntry {
        id: segment_id(at),
        first: order_key(at, seq),
        last: order_key(at + 5, seq + 1),
        events: 2,
        weight: 70_000,
        began: SegmentStartReason::Midnight,
        ended: true,
        first_of: Some(Level::Week),
        continues_week: false,
        request: Some(order_key(at, seq)),
        turns: vec![TurnEntry {
            first: order_key(at, seq),
            has_prompt: true,
            objects: true,
            prompt_words: vec![3, u32::MAX],
            edited_files: vec![7],
        }],
    }
}

pub(crate) fn begins(
    project: &str,
    session: &SessionId,
    segment_entry: &SegmentEntry,
) -> SegmentWrite {
    SegmentWrite {
        project: project.into(),
        session: session.clone(),
        first: segment_entry.first,
        segment: Some(segment_entry.clone()),
    }
}

fn segments_are_found_by_position(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let all = [segment_entry(10, 4), segment_entry(10, 9), segment_entry(300, 2)];
    let mut segments = Vec::new();
    for name in ["s1", "s1 b"] {
        segments.extend(all.iter().map(|one| begins(PROJECT, &session(name), one)));
    }
    segments.push(begins("/other", &session("s1"), &segment_entry(1, 1)));
    ledger.commit(ProjectionCommit { segments, ..work(vec![]) }).unwrap();
    let one = session("s1");
    let before = |at, seq| ledger.segment_before(PROJECT, &one, order_key(at, seq)).unwrap();
    assert_eq!(before(10, 3), None);
    assert_eq!(before(10, 4), Some(all[0].clone()));
    assert_eq!(before(10, 10), Some(all[1].clone()));
    assert_eq!(before(u64::MAX, u64::MAX), Some(all[2].clone()));
    let from = |at, seq| -> Vec<SegmentEntry> {
        ledger.segments(PROJECT, &one, order_key(at, seq)).map(Result::unwrap).collect()
    };
    assert_eq!(from(0, 0), all);
    assert_eq!(from(10, 5), all[1..]);
    let gone = SegmentWrite { segment: None, ..begins(PROJECT, &one, &all[1]) };
    ledger.commit(ProjectionCommit { segments: vec![gone], ..work(vec![]) }).unwrap();
    assert_eq!(from(0, 0), [all[0].clone(), all[2].clone()]);
    assert_eq!(ledger.node_headers(PROJECT, "", None).count(), 0, "they are no nodes");
}

fn nodes_and_cursor_are_written_together(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let day = node_id("toc:day:2026-03-02");
    {
        let (ledger, controls) = faulty_store::open(&harness.dir(), engine);
        ledger.append(new_events([draft("e1", 1, "x"), draft("e2", 2, "y")])).unwrap();
        let work = |upto_seq| ProjectionCommit {
            upto_seq,
            memo: Some("these settings".into()),
            segments: vec![begins(PROJECT, &session("s1"), &segment_entry(1, 1))],
            ..work(vec![put(0, node(&day, 1, true, "a"))])
        };
        assert!(matches!(ledger.commit(work(3)).unwrap_err(), LedgerError::InvalidCommit { .. }));
        assert_eq!(head(&ledger, &day), None);
        controls.fail_writes.store(true, std::sync::atomic::Ordering::SeqCst);
        assert!(ledger.commit(work(2)).is_err());
    }
    let ledger = harness.open();
    assert_eq!((head(&ledger, &day), ledger.cursor("contents").unwrap()), (None, 0));
    assert_eq!(ledger.memo("contents").unwrap(), "");
    let memo = Some("these settings".to_owned());
    let both =
        ProjectionCommit { upto_seq: 2, memo, ..work(vec![put(0, node(&day, 1, true, "a"))]) };
    ledger.commit(both).unwrap();
    // A commit without a memo keeps the current one.
    ledger.commit(ProjectionCommit { from_seq: 2, upto_seq: 2, ..work(vec![]) }).unwrap();
    assert_eq!(ledger.cursor("contents").unwrap(), 2);
    assert_eq!(ledger.memo("contents").unwrap(), "these settings");
}

#[test]
fn sessions_and_positions_are_walked_without_reading_events() {
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = harness.open();
    for (n, name) in ["b", "a", "a b", "a"].into_iter().enumerate() {
        let mut draft = draft(&format!("e{n}"), 10 + n as u64, "x");
        draft.session = session(name);
        ledger.append(new_events([draft])).unwrap();
    }
    let mut found: Vec<SessionId> = Vec::new();
    while let Some(next) = ledger.next_session(found.last()).unwrap() {
        found.push(next);
    }
    assert_eq!(found, ["a", "a b", "b"].map(session));
    let range = tome_ledger::EventRange {
        session: Some(session("a")),
        ..tome_ledger::EventRange::default()
    };
    let positions: Vec<_> = ledger.positions(&range).map(|position| position.unwrap()).collect();
    let expected: Vec<_> = ledger.events(&range).map(|event| event.unwrap().0).collect();
    assert_eq!((positions.len(), &positions), (2, &expected));
    assert_eq!(ledger.position(&id("e3")).unwrap().as_ref(), positions.last());
    assert_eq!(ledger.position(&id("nobody")).unwrap(), None);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn nodes_round_trip(title in "\\PC{0,80}", texts in proptest::collection::vec("\\PC{0,300}", 0..30), n in any::<[u64; 4]>(), open: bool) {
        let harness = Harness::new(StorageEngine::Fjall);
        let ledger = harness.open();
        let id = segment_id(3);
        let mut made = node(&id, 7, open, &title);
        made.bullets = texts.iter().map(|text| Bullet { text: text.clone(), grips: vec![grip_of(text, &id).id], unsupported: open }).collect();
        made.keywords = texts.clone();
        made.source = None;
        (made.first_at, made.last_at, made.events, made.tokens) = (Millis(n[0]), Millis(n[1]), n[2], n[3]);
        let grips: Vec<GripWrite> = texts.iter().map(|text| GripWrite::Put { project: PROJECT.into(), grip: grip_of(text, &id), closed: open }).collect();
        ledger.commit(ProjectionCommit { grips, ..work(vec![put(0, made.clone())]) }).unwrap();
        prop_assert_eq!(ledger.node(PROJECT, &id, None).unwrap(), Some(made));
        for text in &texts {
            prop_assert_eq!(ledger.grip(PROJECT, &grip_of(text, &id).id).unwrap(), Some(grip_of(text, &id)));
        }
    }
}
