//! Reading the contents of one project and of all.

use std::sync::Arc;

use tome_contents::{Contents, ContentsListing, ContentsQuery, Depth, PageRequest};
use tome_home::{Home, HomeError, StoreMode, Stores};
use tome_ledger::StorageEngine;
use tome_model::GripId;

use super::*;

struct ContentsFixture {
    _folder: tempfile::TempDir,
    contents: Contents,
}

fn contents(stores: Stores) -> Contents {
    let clock = Arc::new(Ticking::default());
    Contents::new(Arc::new(stores), settings(), Arc::new(EchoSummarizer), clock)
}

/// One level of one project, or of all.
fn query(project: Option<&str>) -> ContentsQuery {
    let project = project.map(str::to_owned);
    ContentsQuery { project, agents: Vec::new(), depth: Depth::Levels(1), below_max: 100 }
}

/// Two projects: one with two months and two agents, one with a single day.
fn contents_fixture(mode: StoreMode) -> ContentsFixture {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(Ticking::default());
    let stores = Stores::new(Home::at(folder.path()), mode, StorageEngine::DEFAULT, clock);
    let a = stores.open_project("/nowhere/a").unwrap();
    for (n, time) in ["2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z"]
        .into_iter()
        .enumerate()
    {
        append(&a, "/nowhere/a", draft(&format!("a{n}"), "s1", at(time), &format!("a says {n}")));
    }
    let mut later = draft("a9", "s2", at("2026-04-02T09:00:00Z"), "a in april");
    later.agent = Agent::parse("gemini").unwrap();
    append(&a, "/nowhere/a", later);
    let b = stores.open_project("/nowhere/b").unwrap();
    append(&b, "/nowhere/b", draft("b0", "s3", at("2026-03-02T09:30:00Z"), "b says so"));
    drop((a, b));
    ContentsFixture { contents: contents(stores), _folder: folder }
}

fn render_listing(listing: &ContentsListing) -> String {
    let mut text = String::new();
    for entry in &listing.entries {
        let shares: Vec<String> = entry
            .shares
            .iter()
            .map(|share| format!("{} {}", share.project, share.events))
            .collect();
        let id = short(&entry.id);
        writeln!(text, "{id} {} events: {}", entry.events, shares.join(", ")).unwrap();
    }
    text
}

#[test]
fn the_tree_leads_from_years_to_events() {
    for mode in [StoreMode::PerProject, StoreMode::Unified] {
        let contents = &contents_fixture(mode).contents;
        let (root, ask) = (Some("/nowhere/a"), query(Some("/nowhere/a")));
        assert_eq!(
            render_listing(&contents.list_root(&ask).unwrap()),
            "toc:year:2026 4 events: /nowhere/a 4\n"
        );
        let walk = [
            (
                "toc:year:2026",
                "toc:month:2026-03 3 events: /nowhere/a 3\ntoc:month:2026-04 1 events: /nowhere/a 1\n",
            ),
            ("toc:month:2026-03", "toc:week:2026-W10 3 events: /nowhere/a 3\n"),
            ("toc:week:2026-W10", "toc:day:2026-03-02 3 events: /nowhere/a 3\n"),
        ];
        for (node, expected) in walk {
            assert_eq!(render_listing(&contents.list_below(&id(node), &ask).unwrap()), expected);
        }
        let segments = contents.list_below(&id("toc:day:2026-03-02"), &ask).unwrap();
        assert_eq!(segments.entries.len(), 3);
        let segment = segments.entries[1].id.as_str();
        let found = contents.find_node(segment, None, root).unwrap().remove(0);
        assert_eq!(
            (found.project.as_str(), found.node.title.as_str()),
            ("/nowhere/a", "a says 1 around a says 2")
        );
        contents.list_below(&found.node.id, &ask).unwrap_err();
        let grip = found.node.bullets[0].grips[0].as_str();
        let expanded = contents.find_grip(grip, (3, 3), root).unwrap();
        assert_eq!(expanded.events[0].text, "a says 1");
        // Events an hour away are not included.
        assert!(expanded.before.is_empty() && expanded.after.is_empty() && !expanded.shortened);
    }
}

#[test]
fn all_projects_are_merged_into_one_table_of_contents() {
    for mode in [StoreMode::PerProject, StoreMode::Unified] {
        let contents = &contents_fixture(mode).contents;
        let both = "5 events: /nowhere/a 4, /nowhere/b 1\n";
        assert_eq!(
            render_listing(&contents.list_root(&query(None)).unwrap()),
            format!("toc:year:2026 {both}")
        );
        let day = contents.list_below(&id("toc:day:2026-03-02"), &query(None)).unwrap();
        let projects: Vec<_> =
            day.entries.iter().map(|entry| entry.shares[0].project.as_str()).collect();
        assert_eq!(projects, ["/nowhere/a", "/nowhere/b", "/nowhere/a", "/nowhere/a"]);
        assert_eq!(contents.find_node("toc:year:2026", None, None).unwrap().len(), 2);

        // By agent, and the days of a month by time.
        let gemini = ContentsQuery { agents: vec![Agent::parse("gemini").unwrap()], ..query(None) };
        let months = contents.list_below(&id("toc:year:2026"), &gemini).unwrap();
        assert_eq!(render_listing(&months), "toc:month:2026-04 1 events: /nowhere/a 1\n");
        let days = contents.list_time("2026-03", &query(None)).unwrap();
        assert_eq!(
            render_listing(&days),
            "toc:day:2026-03-02 4 events: /nowhere/a 3, /nowhere/b 1\n"
        );
    }
}

/// The stores are read in an order that depends on when they were made.
#[test]
fn projects_are_listed_by_their_work_and_then_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(Ticking::default());
    let home = Home::at(folder.path());
    let stores = Stores::new(home, StoreMode::PerProject, StorageEngine::DEFAULT, clock);
    for (root, sessions, events) in
        [("e", 1, 1), ("b", 1, 1), ("d", 1, 1), ("a", 1, 1), ("c", 1, 2), ("f", 2, 2)]
    {
        let path = format!("/nowhere/{root}");
        let store = stores.open_project(&path).unwrap();
        for n in 0..events {
            let session = format!("{root}{}", n % sessions);
            let time = at(&format!("2026-03-02T09:0{n}:00Z"));
            append(&store, &path, draft(&format!("{root}-{n}"), &session, time, "It works"));
        }
    }
    let found = contents(stores).find_node("toc:day:2026-03-02", None, None).unwrap();
    let projects: Vec<&str> =
        found.iter().map(|one| one.project.trim_start_matches("/nowhere/")).collect();
    assert_eq!(projects, ["f", "c", "a", "b", "d", "e"]);
}

#[test]
fn listings_are_paged_in_both_directions() {
    let contents = &contents_fixture(StoreMode::PerProject).contents;
    for (node, entries_max, pages) in
        [("toc:day:2026-03-02", 3, 2), ("toc:day:2026-03-02", 1, 4), ("toc:year:2026", 1, 2)]
    {
        for newest_first in [false, true] {
            let whole = || contents.list_below(&id(node), &query(None)).unwrap();
            let ids = |listing: &ContentsListing| -> Vec<NodeId> {
                listing.entries.iter().map(|entry| entry.id.clone()).collect()
            };
            let mut expected = ids(&whole());
            if newest_first {
                expected.reverse();
            }
            let (mut seen, mut count, mut after) = (Vec::new(), 0, None);
            loop {
                let (page, next) =
                    whole().into_page(&PageRequest { newest_first, after, entries_max });
                assert!(page.entries.len() <= entries_max);
                seen.extend(ids(&page));
                count += 1;
                after = next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!((seen, count), (expected, pages));
        }
    }
}

#[test]
fn missing_items_are_reported_as_not_found() {
    let contents = &contents_fixture(StoreMode::PerProject).contents;
    let not_found = |error: HomeError| match error {
        HomeError::NotFound(what) => what,
        other => panic!("{other}"),
    };
    let error = contents.find_node("toc:day:2020-01-01", None, None).unwrap_err();
    assert!(not_found(error).starts_with("no node toc:day:2020-01-01"));
    let error = contents.find_node("toc:year:2026", Some(9), None).unwrap_err();
    assert!(not_found(error).starts_with("no version 9 of toc:year:2026"));
    let grip = GripId::from_excerpt(Millis(1), &EventId::parse("x").unwrap(), "x");
    let error = contents.find_grip(grip.as_str(), (3, 3), None).unwrap_err();
    assert_eq!(not_found(error), format!("no grip {grip}"));
    not_found(contents.list_below(&id("toc:day:2020-01-01"), &query(None)).unwrap_err());
    assert!(contents.list_root(&query(Some("/nowhere/c"))).unwrap().entries.is_empty());
    assert!(contents.find_node("toc:year:2026", None, Some("/nowhere/c")).is_err());
    assert_eq!(contents.node_versions("toc:year:2026", None).unwrap().len(), 2);
    assert!(contents.node_versions("toc:year:2025", None).is_err());
}

#[test]
fn a_grip_expands_within_its_session_and_project() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(Ticking::default());
    let stores =
        Stores::new(Home::at(folder.path()), StoreMode::Unified, StorageEngine::DEFAULT, clock);
    let store = stores.open_project("/nowhere/a").unwrap();
    for minute in 10..30 {
        let when = at(&format!("2026-03-02T09:{minute}:00Z"));
        let project = if minute % 5 == 0 { "/nowhere/b" } else { "/nowhere/a" };
        let session = if minute % 7 == 0 { "s2" } else { "s1" };
        let name = format!("m{minute}");
        append(&store, project, draft(&name, session, when, &name));
    }
    let huge = draft("huge", "s1", at("2026-03-02T09:40:00Z"), &"much ".repeat(200_000));
    append(&store, "/nowhere/a", huge);
    catch_up(&store, &settings());
    let contents = contents(stores);
    let expand = |grip: &Grip, around| {
        contents.find_grip(grip.id.as_str(), around, Some("/nowhere/a")).unwrap()
    };
    let texts = |events: &[Event]| {
        let texts: Vec<_> = events.iter().map(|event| event.text.clone()).collect();
        texts.join(" ")
    };
    let grips: Vec<_> = store.grips("/nowhere/a", None).map(Result::unwrap).collect();
    let grip = grips.iter().find(|grip| grip.excerpt == "m29").unwrap();
    let expanded = expand(grip, (3, 3));
    assert_eq!(texts(&expanded.before), "m24 m26 m27");
    assert_eq!(texts(&expanded.events), "m29");
    assert!(expanded.after.is_empty() && expanded.shortened, "a megabyte is too much");
    assert_eq!(expand(grip, (1_000, 0)).before.len(), 12);
}

#[test]
fn a_session_page_tells_a_check_that_still_fails_once() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(Ticking::default());
    let stores =
        Stores::new(Home::at(folder.path()), StoreMode::PerProject, StorageEngine::DEFAULT, clock);
    let store = stores.open_project("/nowhere/c").unwrap();
    let mut failed = draft("c0", "s4", at("2026-03-02T09:00:00Z"), "");
    failed.kind = EventKind::ToolResult;
    failed.role = Role::Tool;
    failed.tool = Some(tome_model::Tool {
        name: "Bash".to_owned(),
        input: serde_json::json!({"command": "cargo test"}),
        output: serde_json::json!("Exit code 101\nerror[E0308]: mismatched types"),
    });
    append(&store, "/nowhere/c", failed);
    drop(store);
    let page = contents(stores).session_page("s4", None).unwrap();
    let kinds: Vec<tome_model::FactKind> = page.facts.iter().map(|fact| fact.kind).collect();
    assert_eq!(kinds, [tome_model::FactKind::Open]);
}

/// Agents report the start of a session before its first prompt, sometimes long before.
#[test]
fn a_turn_on_a_session_page_begins_with_its_prompt() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(Ticking::default());
    let stores =
        Stores::new(Home::at(folder.path()), StoreMode::PerProject, StorageEngine::DEFAULT, clock);
    let store = stores.open_project("/nowhere/c").unwrap();
    let mut start = draft("c0", "s4", at("2026-03-02T09:00:00Z"), "");
    start.kind = EventKind::SessionStart;
    append(&store, "/nowhere/c", start);
    append(&store, "/nowhere/c", draft("c1", "s4", at("2026-03-02T09:25:00Z"), "Fix the lexer."));
    append(&store, "/nowhere/c", draft("c2", "s4", at("2026-03-02T09:40:00Z"), "Now the parser."));
    drop(store);
    let page = contents(stores).session_page("s4", None).unwrap();
    let times: Vec<_> = page.turns.iter().map(|turn| turn.at).collect();
    assert_eq!(times, [at("2026-03-02T09:25:00Z"), at("2026-03-02T09:40:00Z")]);
    assert_eq!(page.session.first_at, at("2026-03-02T09:00:00Z"));
}
