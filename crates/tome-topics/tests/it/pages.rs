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
    assert_eq!(page.entries.len(), 6);
    assert!(page.entries.iter().any(|entry| entry.detail.contains("renamed from src/widget0.rs")));
    assert_eq!(page.decisions.len(), 2, "about both names");
    let FileLookup::Found(by_base) = map.file_page("gadget.rs") else { panic!("not found") };
    assert_eq!(by_base.topic, page.topic);
    assert!(matches!(map.file_page("gadgets.rs"), FileLookup::Unknown(_)));
}

fn rename(from: &str, to: &str, number: u64, at: Millis) -> MoveRecord {
    MoveRecord { from: from.to_owned(), to: to.to_owned(), number, at }
}

fn page_of(map: &TopicMap, path: &str) -> tome_topics::TopicPage {
    let FileLookup::Found(page) = map.file_page(path) else { panic!("no page of {path}") };
    *page
}

/// Segments that change `src/date.rs` until the fourth renames it to `src/calendar.rs`.
fn renamed() -> Vec<SegmentRecord> {
    let mut segments: Vec<SegmentRecord> = (0..8).map(|number| segment(number, 0)).collect();
    for (number, one) in segments.iter_mut().enumerate() {
        let file = &mut one.turns[0].files[0];
        file.path = if number < 4 { "src/date.rs" } else { "src/calendar.rs" }.to_owned();
        one.facts[0].text = "Parse dates in date.rs by hand because it is faster".to_owned();
        one.facts[0].weight = if number == 0 { 8 } else { 1 };
        if number > 0 {
            one.facts.clear();
        }
    }
    let at = Millis(segments[3].first_at.0 + 30_000);
    segments[3].turns[0].moves.push(rename("src/date.rs", "src/calendar.rs", 36, at));
    segments
}

#[test]
fn reads_of_an_old_name_do_not_undo_a_rename() {
    let mut segments = renamed();
    let mut read = segments[6].turns[0].files[0].clone();
    (read.path, read.action) = ("src/date.rs".to_owned(), FileAction::Read);
    segments[6].turns[0].files.push(read);
    let map = build(&segments);
    let page = page_of(&map, "src/date.rs");
    assert_eq!((page.topic.label.as_str(), page.entries.len()), ("src/calendar.rs", 8));
    assert_eq!(page.decisions.len(), 1);
    assert!(map.last_decision("src/calendar.rs").is_some());
    assert_eq!(map.last_decision("src/date.rs"), None, "an edit would create another file");
}

#[test]
fn a_new_file_under_an_old_name_has_its_own_history() {
    let mut segments = renamed();
    for (one, action) in segments[6..].iter_mut().zip([FileAction::Created, FileAction::Changed]) {
        one.turns[0].files[0].path = "src/date.rs".to_owned();
        one.turns[0].files[0].action = action;
    }
    let map = build(&segments);
    let (old, new) = (page_of(&map, "src/calendar.rs"), page_of(&map, "src/date.rs"));
    assert_eq!((old.entries.len(), new.entries.len()), (6, 2));
    assert_eq!((old.former_names.len(), new.former_names.len()), (1, 0));
    assert_eq!((old.decisions.len(), new.decisions.len()), (1, 0));
    assert_eq!(map.last_decision("src/date.rs"), None);
    assert!(map.last_decision("src/calendar.rs").is_some());
    // Within one turn the order of its events counts.
    let mut segments = renamed();
    segments.truncate(5);
    let mut again = segments[3].turns[0].files[0].clone();
    (again.action, again.number) = (FileAction::Created, 38);
    segments[3].turns[0].files.push(again);
    let map = build(&segments);
    assert_eq!(page_of(&map, "src/date.rs").entries[0].detail, "created");
}

#[test]
fn a_rename_that_was_undone_outside_does_not_count() {
    let mut segments = renamed();
    for one in &mut segments[4..] {
        one.turns[0].files[0].path = "src/date.rs".to_owned();
    }
    let map = build(&segments);
    let page = page_of(&map, "src/date.rs");
    assert_eq!((page.topic.label.as_str(), page.entries.len()), ("src/date.rs", 8));
    assert_eq!(map.last_decision("src/date.rs"), None, "it may be another file");
}

#[test]
fn a_session_that_only_renames_is_listed() {
    let mut segments = renamed();
    segments[3].turns[0].files.clear();
    // A folder is renamed, too.
    let mut folder = segment(8, 5);
    folder.turns[0].files.clear();
    let at = folder.first_at;
    folder.turns[0].moves.push(rename("src", "lib", 86, at));
    let mut alone = segment(9, 5);
    alone.turns[0].files.clear();
    alone.turns[0].moves.push(rename("util.py", "core/util.py", 96, alone.first_at));
    segments.extend([folder, alone]);
    let map = build(&segments);
    let page = page_of(&map, "src/date.rs");
    assert_eq!(page.topic.label, "lib/calendar.rs");
    assert_eq!(page.former_names, ["src/calendar.rs", "src/date.rs"]);
    let details: Vec<&str> = page.entries.iter().map(|entry| entry.detail.as_str()).collect();
    assert_eq!(details[0], "renamed from src/calendar.rs");
    assert!(details.contains(&"renamed from src/date.rs"), "{details:?}");
    assert_eq!(page_of(&map, "util.py").entries[0].detail, "renamed from util.py");
}

#[test]
fn commits_of_a_later_turn_are_listed() {
    let mut segments: Vec<SegmentRecord> = (0..6).map(|number| segment(number, 0)).collect();
    let session = segments[0].session.clone();
    let commit = |one: &mut SegmentRecord, text: &str| {
        let (at, number) = (one.first_at, one.number + 4);
        let text = text.to_owned();
        one.facts.push(FactRecord { kind: FactKind::Commit, text, weight: 5, number, at, turn: 0 });
    };
    // The second to fourth segment change no file, and one of them is of another session.
    for one in &mut segments[1..4] {
        one.turns[0].files.clear();
        one.session = session.clone();
    }
    segments[2].session = segments[5].session.clone();
    commit(&mut segments[1], "Committed: make the widget faster");
    commit(&mut segments[2], "Committed: elsewhere");
    commit(&mut segments[3], "Committed: something else");
    let page = page_of(&build(&segments), "src/widget0.rs");
    let commits: Vec<&str> = page.commits.iter().map(|fact| fact.text.as_str()).collect();
    assert_eq!(commits, ["Committed: make the widget faster"]);
}

#[test]
fn a_folder_is_no_file() {
    let map = build(&[segment(0, 0), segment(1, 1)]);
    let FileLookup::Folder { id, files, files_total } = map.file_page("src") else {
        panic!("no folder")
    };
    assert_eq!((id.as_deref(), files_total), (Some("folder:src/"), 2));
    assert_eq!(files, ["src/widget0.rs", "src/widget1.rs"]);
    let FileLookup::Folder { files_total, .. } = map.file_page(".") else { panic!("no root") };
    assert_eq!(files_total, 3);
    assert!(matches!(map.file_page("sr"), FileLookup::Unknown(_)));
}

#[test]
fn agents_and_verbs_are_no_labels() {
    let mut segments: Vec<SegmentRecord> =
        (0..12).map(|number| segment(number, number / 6)).collect();
    for one in &mut segments {
        one.turns[0].files[0].path = format!("hooks/claude/{}", one.turns[0].files[0].path);
        one.title = "Rework and improve the worker of Claude".to_owned();
        one.terms = ["claude", "Rework", "Edited", "claude-code"].map(str::to_owned).to_vec();
    }
    for topic in build(&segments).top(TopicKind::Group, 9) {
        let label = topic.label.to_lowercase();
        let words: Vec<&str> = label.split(", ").collect();
        for word in ["claude", "claude-code", "rework", "edited", "improve worker"] {
            assert!(!words.contains(&word), "{label}");
        }
    }
}

#[test]
fn a_problem_that_came_back_is_open() {
    let mut segments: Vec<SegmentRecord> = (0..3).map(|number| segment(number, 0)).collect();
    segments[1].turns[0].commands[0].number = 15;
    segments[2].turns[0].commands.clear();
    for (index, end) in [(0, " — passed in a later run"), (2, "")] {
        let one = &mut segments[index];
        let (number, at) = (one.number + 3, Millis(one.first_at.0 + 1));
        let text = format!("`cargo test` failed: overflow at widget0.rs:{index}{end}");
        one.facts.push(FactRecord {
            kind: FactKind::Problem,
            text,
            weight: 6,
            number,
            at,
            turn: 0,
        });
    }
    let page = page_of(&build(&segments), "src/widget0.rs");
    assert_eq!(page.problems.len(), 1, "{:?}", page.problems);
    assert_eq!((page.problems[0].1, page.problems[0].0.number), (ProblemState::Open, 24));
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

/// The page of an error lists its failures, not others of the same turns.
#[test]
fn the_page_of_an_error_has_no_other_error() {
    let mut one = segment(0, 1);
    let (at, number) = (one.first_at, one.number + 2);
    let message = "FAILED tests/test_lexer.py::test_numbers";
    one.turns[0].errors.push(ErrorRecord {
        text: message.to_owned(),
        command: "pytest".to_owned(),
        number,
    });
    one.facts = ["E999 cannot parse", &format!("{message} — passed after the fix")]
        .iter()
        .map(|text| FactRecord {
            kind: FactKind::Problem,
            text: format!("`pytest` failed: {text}"),
            weight: 5,
            number,
            at,
            turn: 0,
        })
        .collect();
    let map = build(&[one]);
    let topic = map.top(TopicKind::Error, 1).remove(0);
    let page = map.page(&topic.id).unwrap();
    assert_eq!(page.problems.len(), 1, "{:?}", page.problems);
    assert!(page.problems[0].0.text.contains(message), "{:?}", page.problems);
}

/// A title that only names files describes a group less well than one that says what was done, and files
/// that the project does not have are in no label.
#[test]
fn a_group_is_not_named_by_other_files() {
    let mut segments: Vec<SegmentRecord> = (0..8).map(|number| segment(number * 3, 1)).collect();
    for one in &mut segments {
        one.terms.push("draft-a-plan-for-eager-walrus.md".to_owned());
    }
    segments[0].title = "Changed widget1.rs, Cargo.toml".to_owned();
    segments[2].title = "Changed widget1.rs, Cargo.toml".to_owned();
    let group = build(&segments).top(TopicKind::Group, 1).remove(0);
    assert_eq!(group.title, "Work on the widget1 parser");
    assert!(!group.label.contains("walrus"), "{}", group.label);
}
