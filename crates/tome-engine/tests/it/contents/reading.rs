//! The way back, over one project and over all.

use std::sync::Arc;

use tome_engine::{Browse, ContentsReader, EngineError, Home, Listing, StoreMode, Stores};
use tome_ledger::Engine;
use tome_model::GripId;

use super::*;

struct Scene {
    _folder: tempfile::TempDir,
    stores: Stores,
}

/// Two projects: one worked on in two months by two agents, one on one day.
fn scene(mode: StoreMode) -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(Ticking::default());
    let stores = Stores::new(Home::at(folder.path()), mode, Engine::DEFAULT, clock);
    let a = stores.of_project("/nowhere/a").unwrap();
    for (n, time) in ["2026-03-02T09:00:00Z", "2026-03-02T10:00:00Z", "2026-03-02T11:00:00Z"]
        .into_iter()
        .enumerate()
    {
        append(&a, "/nowhere/a", draft(&format!("a{n}"), "s1", at(time), &format!("a says {n}")));
    }
    let mut later = draft("a9", "s2", at("2026-04-02T09:00:00Z"), "a in april");
    later.agent = Agent::parse("gemini").unwrap();
    append(&a, "/nowhere/a", later);
    let b = stores.of_project("/nowhere/b").unwrap();
    append(&b, "/nowhere/b", draft("b0", "s3", at("2026-03-02T09:30:00Z"), "b says so"));
    for store in [&a, &b] {
        caught_up(store, &settings());
    }
    Scene { _folder: folder, stores }
}

fn told(listing: &Listing) -> String {
    let mut text = String::new();
    for line in &listing.lines {
        let parts: Vec<String> = line
            .parts
            .iter()
            .map(|part| format!("{} {}", part.project, part.head.events))
            .collect();
        let id = short(&line.id);
        writeln!(text, "{id} {} events: {}", line.events(), parts.join(", ")).unwrap();
    }
    text
}

#[test]
fn one_walks_from_the_years_to_what_was_said() {
    for mode in [StoreMode::PerProject, StoreMode::Unified] {
        let scene = scene(mode);
        let reader = ContentsReader::of_project(&scene.stores, "/nowhere/a");
        let all = Browse::default();
        assert_eq!(told(&reader.root(&all).unwrap()), "toc:year:2026 4 events: /nowhere/a 4\n");
        let walk = [
            (
                "toc:year:2026",
                "toc:month:2026-03 3 events: /nowhere/a 3\ntoc:month:2026-04 1 events: /nowhere/a 1\n",
            ),
            ("toc:month:2026-03", "toc:week:2026-W10 3 events: /nowhere/a 3\n"),
            ("toc:week:2026-W10", "toc:day:2026-03-02 3 events: /nowhere/a 3\n"),
        ];
        for (node, expected) in walk {
            assert_eq!(told(&reader.children(&id(node), &all).unwrap()), expected);
        }
        let segments = reader.children(&id("toc:day:2026-03-02"), &all).unwrap();
        assert_eq!(segments.lines.len(), 3);
        let found = reader.node(&segments.lines[1].id, None).unwrap().remove(0);
        assert_eq!((found.project.as_str(), found.node.title.as_str()), ("/nowhere/a", "a says 1"));
        assert!(reader.children(&found.node.id, &all).unwrap().lines.is_empty());
        let expanded = reader.expand(&found.node.bullets[0].grips[0], 3, 3).unwrap();
        assert_eq!(expanded.events[0].text, "a says 1");
        // What lies an hour away is not around it.
        assert!(expanded.before.is_empty() && expanded.after.is_empty() && !expanded.shortened);
    }
}

#[test]
fn all_projects_are_one_calendar() {
    for mode in [StoreMode::PerProject, StoreMode::Unified] {
        let scene = scene(mode);
        let reader = ContentsReader::of_all(&scene.stores);
        let all = Browse::default();
        let both = "5 events: /nowhere/a 4, /nowhere/b 1\n";
        assert_eq!(told(&reader.root(&all).unwrap()), format!("toc:year:2026 {both}"));
        let day = reader.children(&id("toc:day:2026-03-02"), &all).unwrap();
        let projects: Vec<_> =
            day.lines.iter().map(|line| line.parts[0].project.as_str()).collect();
        assert_eq!(projects, ["/nowhere/a", "/nowhere/b", "/nowhere/a", "/nowhere/a"]);
        assert_eq!(reader.node(&id("toc:year:2026"), None).unwrap().len(), 2);

        // By agent, and the days of a month by name.
        let gemini = Browse { agents: vec![Agent::parse("gemini").unwrap()], ..all };
        let months = reader.children(&id("toc:year:2026"), &gemini).unwrap();
        assert_eq!(told(&months), "toc:month:2026-04 1 events: /nowhere/a 1\n");
        let march = id("toc:month:2026-03").period().unwrap();
        let days: Vec<NodeId> = march.days().map(|day| day.id()).collect();
        let days = reader.lines(&days, &Browse::default()).unwrap();
        assert_eq!(told(&days), "toc:day:2026-03-02 4 events: /nowhere/a 3, /nowhere/b 1\n");
    }
}

#[test]
fn lists_come_in_pages() {
    for mode in [StoreMode::PerProject, StoreMode::Unified] {
        let scene = scene(mode);
        let reader = ContentsReader::of_all(&scene.stores);
        for (node, lines_max, pages) in
            [("toc:day:2026-03-02", 3, 2), ("toc:day:2026-03-02", 1, 4), ("toc:year:2026", 1, 2)]
        {
            let whole = reader.children(&id(node), &Browse::default()).unwrap().lines;
            let mut browse = Browse { lines_max, ..Browse::default() };
            let (mut lines, mut count) = (Vec::new(), 0);
            loop {
                let page = reader.children(&id(node), &browse).unwrap();
                assert!(page.lines.len() <= lines_max);
                lines.extend(page.lines);
                count += 1;
                browse.after = page.more_after;
                if browse.after.is_none() {
                    break;
                }
            }
            assert_eq!((lines, count), (whole, pages));
        }
        for wrong in ["toc:day:2026-03-02", "x", ""] {
            let browse = Browse { after: Some(wrong.into()), ..Browse::default() };
            let error = reader.children(&id("toc:day:2026-03-02"), &browse).unwrap_err();
            assert_eq!(error.to_string(), "continuation was not made by this list");
        }
    }
}

#[test]
fn what_is_not_there_is_said_to_be() {
    let scene = scene(StoreMode::PerProject);
    let reader = ContentsReader::of_all(&scene.stores);
    let not_found = |error: EngineError| match error {
        EngineError::NotFound(what) => what,
        other => panic!("{other}"),
    };
    let error = reader.node(&id("toc:day:2020-01-01"), None).unwrap_err();
    assert_eq!(not_found(error), "there is no node toc:day:2020-01-01");
    let error = reader.node(&id("toc:year:2026"), Some(9)).unwrap_err();
    assert_eq!(not_found(error), "there is no node toc:year:2026 at version 9");
    let grip = GripId::of(Millis(1), &EventId::parse("x").unwrap(), "x");
    let error = reader.expand(&grip, 3, 3).unwrap_err();
    assert_eq!(not_found(error), format!("there is no grip {grip}"));
    assert!(
        reader.children(&id("toc:day:2020-01-01"), &Browse::default()).unwrap().lines.is_empty()
    );
    let nobody = ContentsReader::of_project(&scene.stores, "/nowhere/c");
    assert!(nobody.root(&Browse::default()).unwrap().lines.is_empty());
    assert!(nobody.node(&id("toc:year:2026"), None).is_err());
    assert_eq!(reader.versions(&id("toc:year:2026"), 0).unwrap().len(), 2);
    assert!(reader.versions(&id("toc:year:2025"), 0).is_err());
}

#[test]
fn a_grip_shows_what_was_around_it_in_its_session_and_project() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Arc::new(Ticking::default());
    let stores = Stores::new(Home::at(folder.path()), StoreMode::Unified, Engine::DEFAULT, clock);
    let store = stores.of_project("/nowhere/a").unwrap();
    for minute in 10..30 {
        let when = at(&format!("2026-03-02T09:{minute}:00Z"));
        let project = if minute % 5 == 0 { "/nowhere/b" } else { "/nowhere/a" };
        let session = if minute % 7 == 0 { "s2" } else { "s1" };
        let name = format!("m{minute}");
        append(&store, project, draft(&name, session, when, &name));
    }
    let huge = draft("huge", "s1", at("2026-03-02T09:40:00Z"), &"much ".repeat(200_000));
    append(&store, "/nowhere/a", huge);
    caught_up(&store, &settings());
    let reader = ContentsReader::of_project(&stores, "/nowhere/a");
    let texts = |events: &[Event]| {
        let texts: Vec<_> = events.iter().map(|event| event.text.clone()).collect();
        texts.join(" ")
    };
    let grips: Vec<_> = store.grips("/nowhere/a", None).map(Result::unwrap).collect();
    let grip = grips.iter().find(|grip| grip.excerpt == "m29").unwrap();
    let expanded = reader.expand(&grip.id, 3, 3).unwrap();
    assert_eq!(texts(&expanded.before), "m24 m26 m27");
    assert_eq!(texts(&expanded.events), "m29");
    assert!(expanded.after.is_empty() && expanded.shortened, "a megabyte is too much");
    assert_eq!(reader.expand(&grip.id, 1_000, 0).unwrap().before.len(), 12);
}
