//! The log of changed nodes against a plain model of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;

use proptest::prelude::*;
use tome_ledger::{Ledger, NodeChange, NodeChangeEntry, NodeWrite, StorageEngine};
use tome_model::NodeId;

use crate::contents::{node, put, segment_id, work};
use crate::faulty_store;
use crate::harness::*;

on_every_engine!(
    a_node_has_one_row_that_moves_to_the_end,
    removed_nodes_are_still_listed_as_changed,
    a_page_of_changes_ends_at_its_limit,
    change_numbers_are_never_reused,
);

fn remove(project: &str, seen: u32, id: &NodeId) -> NodeWrite {
    NodeWrite { project: project.into(), id: id.clone(), seen, change: NodeChange::Remove }
}

fn all(ledger: &Ledger) -> Vec<NodeChangeEntry> {
    ledger.changed_nodes(0, usize::MAX).unwrap()
}

fn ids(changed: &[NodeChangeEntry]) -> Vec<NodeId> {
    changed.iter().map(|one| one.id.clone()).collect()
}

fn a_node_has_one_row_that_moves_to_the_end(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    assert_eq!((all(&ledger), ledger.last_node_change().unwrap()), (vec![], 0));
    let (a, b) = (segment_id(1), segment_id(2));
    ledger
        .commit(work(vec![put(0, node(&a, 1, true, "a")), put(0, node(&b, 1, true, "b"))]))
        .unwrap();
    let first = all(&ledger);
    assert_eq!(ids(&first), [a.clone(), b.clone()]);
    assert_eq!(first[0].project, PROJECT);
    ledger.commit(work(vec![put(1, node(&a, 1, true, "a2"))])).unwrap();
    let second = all(&ledger);
    assert_eq!(ids(&second), [b.clone(), a.clone()]);
    assert_eq!((second[0].seq, second[1].seq), (first[1].seq, first[1].seq + 1));
    assert_eq!(ledger.last_node_change().unwrap(), second[1].seq);
    // A rejected commit changes nothing.
    assert!(ledger.commit(work(vec![put(7, node(&b, 8, true, "b"))])).is_err());
    assert_eq!(all(&ledger), second);
    // Neither does a commit without nodes.
    ledger.commit(work(vec![])).unwrap();
    assert_eq!(all(&ledger), second);
}

fn removed_nodes_are_still_listed_as_changed(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let (open, closed) = (segment_id(1), segment_id(2));
    let put_both = [put(0, node(&open, 1, true, "o")), put(0, node(&closed, 1, false, "c"))];
    ledger.commit(work(put_both.to_vec())).unwrap();
    let seen = ledger.last_node_change().unwrap();
    ledger.commit(work(vec![remove(PROJECT, 1, &open), remove(PROJECT, 1, &closed)])).unwrap();
    assert_eq!(ledger.node_header(PROJECT, &open).unwrap(), None);
    assert_eq!(ids(&ledger.changed_nodes(seen, 10).unwrap()), [open.clone(), closed.clone()]);
    // A node that comes back has a single row again.
    ledger.commit(work(vec![put(0, node(&open, 1, true, "again"))])).unwrap();
    assert_eq!(ids(&all(&ledger)), [closed.clone(), open]);
    // A node that never existed has none.
    ledger.commit(work(vec![remove(PROJECT, 0, &segment_id(9))])).unwrap();
    assert_eq!(all(&ledger).len(), 2);
}

fn a_page_of_changes_ends_at_its_limit(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let nodes: Vec<NodeId> = (1..8).map(segment_id).collect();
    ledger.commit(work(nodes.iter().map(|id| put(0, node(id, 1, true, "t"))).collect())).unwrap();
    let (mut after, mut found) = (0, Vec::new());
    loop {
        let page = ledger.changed_nodes(after, 3).unwrap();
        let Some(last) = page.last() else { break };
        assert!(page.len() <= 3);
        after = last.seq;
        found.extend(ids(&page));
    }
    assert_eq!((found, after), (nodes, ledger.last_node_change().unwrap()));
    assert_eq!(ledger.changed_nodes(0, 0).unwrap(), []);
    assert_eq!(ledger.changed_nodes(u64::MAX, 9).unwrap(), []);
}

/// Power loss may remove changes that a consumer has seen: their numbers must not be reused.
fn change_numbers_are_never_reused(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let power_cut = Harness::new(engine);
    let id = segment_id(1);
    let (ledger, controls) = faulty_store::open(&harness.dir(), engine);
    ledger.commit(work(vec![put(0, node(&id, 1, true, "kept"))])).unwrap();
    assert_eq!(controls.syncs.load(Ordering::SeqCst), 1, "numbers are reserved for good");
    copy_dir(&harness.dir(), &power_cut.dir());
    ledger.commit(work(vec![put(0, node(&segment_id(2), 1, true, "lost"))])).unwrap();
    assert_eq!(controls.syncs.load(Ordering::SeqCst), 1, "once an opening");
    let mut seen = vec![ledger.last_node_change().unwrap()];
    for _ in 0..3 {
        let ledger = power_cut.open();
        ledger.commit(work(vec![put(1, node(&id, 1, true, "new"))])).unwrap();
        let number = ledger.last_node_change().unwrap();
        assert!(seen.iter().all(|before| number > *before), "{number} after {seen:?}");
        seen.push(number);
    }
}

/// An operation on a node of a project.
#[derive(Debug, Clone)]
enum Step {
    Commit(Vec<(u8, u64, bool)>),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let writes = proptest::collection::vec((0u8..2, 0u64..6, any::<bool>()), 0..5);
    prop_oneof![6 => writes.prop_map(Step::Commit), 1 => Just(Step::Reopen)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn followers_see_every_changed_node_once(steps in proptest::collection::vec(step(), 1..25)) {
        let harness = Harness::new(StorageEngine::Fjall);
        let mut ledger = harness.open();
        // All nodes that ever changed, and a consumer's copy of their titles.
        let mut model: BTreeSet<(String, NodeId)> = BTreeSet::new();
        let mut copy: BTreeMap<(String, NodeId), String> = BTreeMap::new();
        let mut after = 0;
        for (n, step) in steps.into_iter().enumerate() {
            let Step::Commit(writes) = step else {
                drop(ledger);
                ledger = harness.open();
                continue;
            };
            let mut nodes = BTreeMap::new();
            for (project, at, goes) in writes {
                let (project, id) = (format!("/p{project}"), segment_id(at));
                let seen = ledger.node_header(&project, &id).unwrap().map_or(0, |head| head.version);
                let write = if goes { remove(&project, seen, &id) } else {
                        let version = seen.max(1) + u32::from(n % 3 == 0);
                        let node = node(&id, version, n % 2 == 0, &format!("title {n}"));
                        NodeWrite { project: project.clone(), ..put(seen, node) }
                    };
                nodes.insert((project, id), write);
            }
            for ((project, id), write) in &nodes {
                // Removing a missing node does not count as a change.
                if write.change != NodeChange::Remove || ledger.node_header(project, id).unwrap().is_some() {
                    model.insert((project.clone(), id.clone()));
                }
            }
            ledger.commit(work(nodes.into_values().collect())).unwrap();
            for one in ledger.changed_nodes(after, usize::MAX).unwrap() {
                prop_assert!(one.seq > after);
                after = one.seq;
                let key = (one.project.clone(), one.id.clone());
                match ledger.node(&one.project, &one.id, None).unwrap() {
                    Some(node) => copy.insert(key, node.title),
                    None => copy.remove(&key),
                };
            }
            prop_assert_eq!(after, ledger.last_node_change().unwrap());
        }
        let rows = all(&ledger);
        let known: Vec<_> = rows.iter().map(|one| (one.project.clone(), one.id.clone())).collect();
        let mut sorted = known.clone();
        sorted.sort();
        sorted.dedup();
        prop_assert_eq!(sorted.len(), known.len(), "one row a node");
        prop_assert_eq!(sorted, model.into_iter().collect::<Vec<_>>());
        let mut titles = BTreeMap::new();
        for project in ["/p0", "/p1"] {
            for head in ledger.node_headers(project, "", None) {
                let head = head.unwrap();
                if !head.removed {
                    titles.insert((project.to_owned(), head.id), head.title);
                }
            }
        }
        prop_assert_eq!(copy, titles);
    }
}
