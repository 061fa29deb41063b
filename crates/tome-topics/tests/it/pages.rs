//! Order of arrival, growth, rebuilds, pages.

use proptest::prelude::*;
use tome_model::{FactKind, FileAction, Millis};
use tome_topics::{
    ErrorRecord, FactRecord, FileLookup, FileRecord, GroupIds, MoveRecord, ProblemState,
    SegmentRecord, TopicKind, TopicMap,
};

use crate::generated::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The same segments give the same topics, labels, relations and pages in any order.
    #[test]
    fn order_of_arrival_does_not_matter(
        works in proptest::collection::vec(0_usize..6, 0..60),
        seed in any::<u64>(),
    ) {
        let segments: Vec<SegmentRecord> =
            works.iter().enumerate().map(|(number, work)| segment(number, *work)).collect();
        let mut shuffled = segments.clone();
        shuffled.sort_by_key(|one| tome_model::hash_parts("test", &[&seed.to_string(), one.id.as_str()]));
        shuffled.extend(segments.iter().take(3).cloned());
        let (one, other) = (build(&segments), build(&shuffled));
        prop_assert_eq!(one.group_ids(), other.group_ids());
        prop_assert_eq!(one.status(), other.status());
        for kind in TopicKind::ALL {
            prop_assert_eq!(one.top(kind, 100), other.top(kind, 100));
            for topic in one.top(kind, 100) {
                prop_assert_eq!(one.page(&topic.id), other.page(&topic.id));
            }
        }
    }

    /// While segments are added, most of a group stays under its id, every id leads somewhere as long as
    /// one of its segments is in a group, and a rebuild gives the same topics under the same ids.
    #[test]
    fn ids_stay_under_growth(
        works in proptest::collection::vec(0_usize..5, 8..50),
        steps in proptest::collection::vec(1_usize..6, 1..8),
    ) {
        let segments: Vec<SegmentRecord> =
            works.iter().enumerate().map(|(number, work)| segment(number, *work)).collect();
        let mut names = GroupIds::default();
        let mut given: std::collections::BTreeSet<String> = std::collections::BTreeSet::new();
        let mut count = 4;
        for step in steps {
            count = (count + step).min(segments.len());
            let map = TopicMap::build(segments[..count].to_vec(), &names);
            for (id, before) in &names.groups {
                let now = map.group_ids().groups.clone().into_iter().max_by_key(|(_, now)| {
                    now.intersection(before).count()
                });
                let resolved = map.resolve(id);
                // A small group may dissolve: all of its segments are in none.
                let is_left =
                    now.as_ref().is_some_and(|(_, now)| now.intersection(before).count() > 0);
                prop_assert!(resolved.is_some() || !is_left);
                if let Some((now, members)) = now
                    && members.intersection(before).count() * 2 > before.len()
                {
                    prop_assert_eq!(resolved.unwrap(), now);
                }
            }
            names = map.group_ids().clone();
            given.extend(names.groups.keys().cloned());
            let rebuilt = TopicMap::build(segments[..count].to_vec(), &names);
            prop_assert_eq!(&names.groups, &rebuilt.group_ids().groups);
            prop_assert_eq!(memberships(&rebuilt), memberships(&build(&segments[..count])));
        }
        let map = TopicMap::build(segments[..count].to_vec(), &names);
        let leads = |id: &String| names.resolve(id).is_some();
        for id in given.into_iter().filter(leads) {
            prop_assert!(map.resolve(&id).is_some_and(|id| map.page(&id).is_some()), "{id}");
        }
    }
}

#[test]
fn separate_work_is_grouped_and_labeled() {
    let segments: Vec<SegmentRecord> =
        (0..60).map(|number| segment(number, number * 7 % 5)).collect();
    let map = build(&segments);
    let groups = map.top(TopicKind::Group, 20);
    assert_eq!(groups.len(), 5, "{groups:#?}");
    for group in &groups {
        assert!(group.label.contains("widget"), "{}", group.label);
        assert!(group.label.split(", ").count() <= 3, "{}", group.label);
        assert_eq!(group.activity.segments, 12);
    }
    assert_eq!(map.status().ungrouped, 0);
    let files = map.top(TopicKind::File, 3);
    assert_eq!(files[0].label, "Cargo.toml", "most days");
    let page = map.page(&groups[0].id).unwrap();
    assert!(page.sessions.len() > 1 && !page.weeks.is_empty());
    assert_eq!(page.decisions.len(), 1);
}

#[test]
fn few_segments_form_no_groups() {
    let empty = build(&[]);
    assert_eq!(empty.status(), tome_topics::TopicStatus::default());
    assert!(empty.search("parser", 5).is_empty() && empty.page("t-abcdef").is_none());
    assert_eq!(empty.file_page("src/x.rs"), FileLookup::Unknown(Vec::new()));
    let one = build(&[segment(0, 1)]);
    assert_eq!((one.status().groups, one.status().ungrouped), (0, 1));
    assert_eq!(one.top(TopicKind::File, 5).len(), 2);
}

/// A repository where every session touches the same file: that file joins nothing.
#[test]
fn a_file_of_every_segment_links_no_segments() {
    let segments: Vec<SegmentRecord> = (0..40)
        .map(|number| {
            let mut one = segment(number, number);
            one.vector = Vec::new();
            one.branch = None;
            one.terms = Vec::new();
            one.turns[0].files.retain(|file| file.path == "Cargo.toml");
            one.turns[0].files.push(FileRecord {
                path: "src/main.rs".to_owned(),
                action: FileAction::Changed,
                times: 1,
                number: 1,
            });
            one
        })
        .collect();
    let map = build(&segments);
    assert_eq!((map.status().groups, map.status().ungrouped), (0, 40));
    assert_eq!(map.top(TopicKind::File, 1)[0].activity.segments, 40);
}

#[test]
fn topics_are_found_by_words() {
    let segments: Vec<SegmentRecord> = (0..20).map(|number| segment(number, number % 4)).collect();
    let map = build(&segments);
    let found = map.search("widget2", 10);
    assert!(found.iter().any(|topic| topic.id == "file:src/widget2.rs"), "{found:#?}");
    assert!(found.iter().any(|topic| topic.kind == TopicKind::Group));
    assert!(found.iter().all(|topic| !topic.label.contains("widget1")), "{found:#?}");
    assert!(map.search("the of", 10).is_empty() || map.search("zebra", 10).is_empty());
    assert!(map.search("zebra", 10).is_empty() && map.search("", 10).is_empty());
    assert_eq!(map.search("cargo test", 1)[0].id, "command:cargo test");
}

#[test]
fn a_file_page_follows_renames() {
    let mut segments: Vec<SegmentRecord> = (0..6).map(|number| segment(number, 0)).collect();
    let at = segments[3].first_at;
    for later in &mut segments[3..] {
        later.turns[0].files[0].path = "lib/gadget.rs".to_owned();
        later.facts[0].text = "Keep gadget.rs small because it is read often".to_owned();
    }
    segments[3].turns[0].moves.push(MoveRecord {
        from: "src/widget0.rs".to_owned(),
        to: "lib/gadget.rs".to_owned(),
        number: 31,
        at,
    });
    let map = build(&segments);
    let FileLookup::Found(page) = map.file_page("src/widget0.rs") else { panic!("not found") };
    assert_eq!(page.topic.label, "lib/gadget.rs");
    assert_eq!(page.forwarded_from.as_deref(), Some("src/widget0.rs"));
    assert_eq!(page.former_names, ["src/widget0.rs"]);
    assert_eq!(page.entries_total, 6);
    assert!(page.entries.iter().any(|entry| entry.detail.contains("renamed from src/widget0.rs")));
    assert_eq!(page.decisions.len(), 2, "about both names");
    let FileLookup::Found(by_base) = map.file_page("gadget.rs") else { panic!("not found") };
    assert_eq!(by_base.topic, page.topic);
    assert!(matches!(map.file_page("gadgets.rs"), FileLookup::Unknown(_)));
}

#[test]
fn problems_show_whether_they_were_solved() {
    let mut segments: Vec<SegmentRecord> = (0..3).map(|number| segment(number, 0)).collect();
    let problem = |text: &str, number: u64, at: Millis| FactRecord {
        kind: FactKind::Problem,
        text: text.to_owned(),
        weight: 6,
        number,
        at,
        turn: 0,
    };
    let (first, last) = (segments[0].first_at, Millis(segments[2].first_at.0 + 1));
    let fixed = "`cargo test` failed: 2 in widget0.rs — passed after changes to widget0.rs";
    segments[0].facts.push(problem("`cargo test` failed: overflow in widget0.rs", 4, first));
    segments[1].facts.push(problem(fixed, 14, first));
    segments[2].facts.push(problem("`cargo test` failed: widget0.rs is stuck", 24, last));
    segments[2].turns[0].errors.push(ErrorRecord {
        text: "widget0.rs is stuck".to_owned(),
        command: "cargo test".to_owned(),
        number: 24,
    });
    let map = build(&segments);
    let FileLookup::Found(page) = map.file_page("src/widget0.rs") else { panic!("not found") };
    let states: Vec<ProblemState> = page.problems.iter().map(|(_, state)| *state).collect();
    assert_eq!(states[0], ProblemState::Open);
    assert!(
        states.contains(&ProblemState::Fixed) && states.contains(&ProblemState::PassedLater(15))
    );
    let error = map.top(TopicKind::Error, 1);
    let page = map.page(&error[0].id).unwrap();
    assert_eq!(page.entries[0].detail, "`cargo test` failed");
}

#[test]
fn records_round_trip_as_text() {
    let one = segment(7, 3);
    let text = serde_json::to_string(&one).unwrap();
    assert_eq!(serde_json::from_str::<SegmentRecord>(&text).unwrap(), one);
}

/// Enough segments for several threads to look for neighbors: the order still does not matter.
#[test]
fn many_segments_in_any_order_give_the_same_groups() {
    let segments: Vec<SegmentRecord> =
        (0..2_200).map(|number| segment(number, number % 40)).collect();
    let mut reversed = segments.clone();
    reversed.reverse();
    let (one, other) = (build(&segments), build(&reversed));
    assert_eq!(one.group_ids(), other.group_ids());
    assert!(one.status().groups >= 40, "{:?}", one.status());
}
