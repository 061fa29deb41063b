//! Between two clusterings: new segments join, ids lead on, bad input.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tome_model::{FileAction, Millis};
use tome_topics::{
    ErrorRecord, FileLookup, FileRecord, GroupIds, MoveRecord, SegmentRecord, TopicKind, TopicMap,
};

use crate::generated::*;

fn group_of(map: &TopicMap, id: &str) -> Option<String> {
    let all = map.group_ids().groups.clone().into_iter();
    all.filter(|(_, members)| members.contains(id)).map(|(id, _)| id).next()
}

#[test]
fn a_new_segment_joins_the_nearest_group() {
    let known: Vec<SegmentRecord> = (0..24).map(|number| segment(number, number % 3)).collect();
    let map = build(&known);
    assert_eq!(map.status().groups, 3);
    let none = BTreeSet::new();
    for work in 0..3 {
        let new = segment(100 + work, work);
        let joined = map.join(vec![new.clone()], &none);
        let home = group_of(&map, known[work].id.as_str());
        assert!(home.is_some());
        assert_eq!(group_of(&joined, new.id.as_str()), home);
        // The same group as when all are clustered again.
        let mut all = known.clone();
        all.push(new);
        assert_eq!(memberships(&build(&all)), memberships(&joined));
        let labels = |map: &TopicMap| -> BTreeSet<String> {
            map.top(TopicKind::Group, 9).into_iter().map(|topic| topic.label).collect()
        };
        assert_eq!(labels(&joined), labels(&map));
    }
    let mut other = segment(101, 17);
    other.title = "Something else".to_owned();
    let joined = map.join(vec![other.clone()], &none);
    assert_eq!(group_of(&joined, other.id.as_str()), None, "nothing in common");
    assert_eq!(joined.status().ungrouped, 1);
    let FileLookup::Found(page) = joined.file_page("src/widget17.rs") else { panic!("no page") };
    assert_eq!(page.entries.len(), 1, "its file has a page at once");
    // A changed segment stays where it is, a dropped one is gone.
    let mut changed = known[0].clone();
    changed.title = "Renamed".to_owned();
    let dropped: BTreeSet<String> = [known[1].id.as_str().to_owned()].into();
    let later = map.join(vec![changed], &dropped);
    assert_eq!(later.status().segments, 23);
    assert_eq!(group_of(&later, known[0].id.as_str()), group_of(&map, known[0].id.as_str()));
    assert_eq!(later.group_ids().groups.len(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Segments that join one by one, change and are dropped give the same files, commands, errors and
    /// branches as a rebuild. They are in a group only with segments that a rebuild groups with them,
    /// and clustering again gives what a rebuild gives.
    #[test]
    fn joining_agrees_with_a_rebuild(
        works in proptest::collection::vec(0_usize..5, 10..40),
        steps in proptest::collection::vec((any::<usize>(), 0_u8..8), 1..20),
    ) {
        let mut segments: Vec<SegmentRecord> =
            works.iter().enumerate().map(|(number, work)| segment(number * 2, *work)).collect();
        let mut map = build(&segments);
        for (step, (seed, action)) in steps.into_iter().enumerate() {
            let at = seed % segments.len();
            let (mut changed, mut dropped) = (Vec::new(), BTreeSet::new());
            match action {
                0 => dropped = [segments.remove(at).id.as_str().to_owned()].into(),
                1 | 2 => {
                    let error = ErrorRecord {
                        text: format!("overflow at line {seed}"),
                        command: "cargo test".to_owned(),
                        number: 3,
                    };
                    segments[at].turns[0].errors.push(error);
                    changed.push(segments[at].clone());
                }
                3 => {
                    let (from, to) = ("src/widget0.rs".to_owned(), format!("src/moved{step}.rs"));
                    let (number, at_ms) = (segments[at].number + 2, segments[at].first_at);
                    let moved = MoveRecord { from, to, number, at: at_ms };
                    segments[at].turns[0].moves.push(moved);
                    changed.push(segments[at].clone());
                }
                // Before, between and after the known ones.
                _ => {
                    let new = segment(seed % 80 * 2 + 1, seed % 5);
                    segments.retain(|one| one.id != new.id);
                    segments.push(new.clone());
                    changed.push(new);
                }
            }
            if segments.is_empty() {
                break;
            }
            map = map.join(changed, &dropped);
        }
        let rebuilt = TopicMap::build(segments, map.group_ids());
        prop_assert_eq!(map.status().named, rebuilt.status().named);
        prop_assert_eq!(map.status().segments, rebuilt.status().segments);
        for kind in TopicKind::ALL.into_iter().filter(|kind| *kind != TopicKind::Group) {
            prop_assert_eq!(map.top(kind, 500), rebuilt.top(kind, 500));
        }
        for file in map.top(TopicKind::File, 500) {
            let (one, other) = (map.page(&file.id).unwrap(), rebuilt.page(&file.id).unwrap());
            prop_assert_eq!((one.entries, one.commits), (other.entries, other.commits));
        }
        let again = map.cluster_again(map.group_ids());
        prop_assert_eq!(again.group_ids(), rebuilt.group_ids());
        prop_assert_eq!(again.top(TopicKind::Group, 99), rebuilt.top(TopicKind::Group, 99));
    }

    /// Where every kind of work has a group already, new segments are where a rebuild puts them.
    #[test]
    fn joined_segments_are_in_the_group_of_a_rebuild(
        works in proptest::collection::vec(0_usize..3, 1..16),
    ) {
        let mut segments: Vec<SegmentRecord> =
            (0..24).map(|number| segment(number, number % 3)).collect();
        let mut map = build(&segments);
        for (step, work) in works.into_iter().enumerate() {
            let new = segment(30 + step, work);
            segments.push(new.clone());
            map = map.join(vec![new], &BTreeSet::new());
        }
        prop_assert_eq!(memberships(&map), memberships(&build(&segments)));
    }
}

#[test]
fn known_groups_are_restored_without_clustering() {
    let known: Vec<SegmentRecord> = (0..24).map(|number| segment(number, number % 3)).collect();
    let map = build(&known);
    let restored = TopicMap::restore(known, map.group_ids());
    assert_eq!(restored.top(TopicKind::Group, 9).len(), 3);
    assert_eq!(memberships(&restored), memberships(&map));
    assert_eq!(restored.group_ids(), map.group_ids());
    assert_eq!(TopicMap::restore(Vec::new(), map.group_ids()).status().groups, 0);
}

/// Two groups merge while a person looks at one of them: its id leads to the merged group.
#[test]
fn a_topic_that_merged_still_opens() {
    let mut segments: Vec<SegmentRecord> =
        (0..20).map(|number| segment(number, if number < 14 { 1 } else { 2 })).collect();
    let before = build(&segments);
    let ids: Vec<String> =
        before.top(TopicKind::Group, 9).into_iter().map(|topic| topic.id).collect();
    assert_eq!(ids.len(), 2);
    for one in &mut segments {
        one.branch = Some("feature/both".to_owned());
        one.vector = segment(0, 1).vector;
    }
    let after = TopicMap::build(segments, before.group_ids());
    assert_eq!(after.status().groups, 1);
    let pages: Vec<_> = ids.iter().map(|id| after.page(id).expect("a page")).collect();
    assert_eq!(pages[0].topic.id, pages[1].topic.id);
    assert_eq!(pages.iter().filter(|page| page.forwarded_from.is_some()).count(), 1);
}

#[test]
fn ids_of_another_home_are_not_found() {
    let ours = build(&(0..8).map(|number| segment(number, 1)).collect::<Vec<_>>());
    let other = build(&(200..208).map(|number| segment(number, 2)).collect::<Vec<_>>());
    for topic in other.top(TopicKind::Group, 9) {
        assert_eq!(ours.page(&topic.id), None);
        assert_eq!(ours.resolve(&topic.id), None);
    }
}

/// Paths that no person would choose, in several scripts: each has a page or none, and nothing panics.
#[test]
fn unusual_paths_are_topics() {
    let long = format!("src/{}.rs", "x".repeat(3_000));
    let paths =
        ["src/日本語.rs", "src/файл.rs", "مجلد/ملف.rs", "a b/c\u{301}.rs", "\u{1b}[2J.rs", &long];
    let segments: Vec<SegmentRecord> = (0..12)
        .map(|number| {
            let mut one = segment(number, 1);
            one.title = format!("変更 {}", paths[number % paths.len()]);
            one.turns[0].files = vec![FileRecord {
                path: paths[number % paths.len()].to_owned(),
                action: FileAction::Changed,
                times: 1,
                number: 1,
            }];
            one
        })
        .collect();
    let map = build(&segments);
    for path in paths {
        let FileLookup::Found(page) = map.file_page(path) else { panic!("no page of {path:?}") };
        assert_eq!(page.entries.len(), 2);
        assert_eq!(map.last_decision(path), None);
    }
    for path in ["../outside.rs", "/etc/passwd", "", "..", "\0"] {
        assert!(!matches!(map.file_page(path), FileLookup::Found(_)), "{path:?}");
        assert_eq!(map.last_decision(path), None);
    }
    assert!(!map.search("файл", 5).is_empty());
}

#[test]
fn recent_and_shared_groups_are_found() {
    let segments: Vec<SegmentRecord> = (0..24).map(|number| segment(number, number / 12)).collect();
    let map = build(&segments);
    let recent = map.recent_groups(segments[13].first_at, 9);
    assert_eq!(recent.len(), 1, "{recent:?}");
    assert_eq!(map.recent_groups(Millis(0), 9).len(), 2);
    assert!(map.recent_groups(Millis(u64::MAX), 9).is_empty());
    let start_of = |number: usize| (segments[number].session.as_str(), segments[number].first_at);
    let shared = map.shared_group([start_of(12), start_of(20), start_of(1)].into_iter());
    assert_eq!(shared.map(|topic| topic.id), Some(recent[0].id.clone()));
    assert_eq!(map.shared_group([start_of(1), start_of(20)].into_iter()), None, "one each");
    assert_eq!(map.shared_group([("unknown", Millis(1))].into_iter()), None);
    let empty = TopicMap::build(Vec::new(), &GroupIds::default());
    assert_eq!(empty.shared_group([start_of(1)].into_iter()), None);
}
