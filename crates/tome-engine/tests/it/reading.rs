//! Reading events back across several projects.

use std::sync::Arc;

use proptest::prelude::*;
use tome_engine::{Intake, Sealer};
use tome_home::{EventQuery, Home, StoreMode, Stores, catch_up_session_stats};
use tome_ledger::{AppendOutcome, StorageEngine};
use tome_model::{Clock, Draft, EventLine, Millis, SessionId};
use tome_redact::Redactor;
use tome_testkit::TickingClock;

struct StoresFixture {
    _folder: tempfile::TempDir,
    stores: Arc<Stores>,
    intake: Intake,
}

fn stores_fixture(mode: StoreMode) -> StoresFixture {
    let folder = tome_testkit::temporary_folder();
    let clock: Arc<dyn Clock> = Arc::new(TickingClock::starting_at(Millis(1_000_000)));
    let stores = Arc::new(Stores::new(
        Home::at(folder.path()),
        mode,
        StorageEngine::DEFAULT,
        Arc::clone(&clock),
    ));
    let sealer = Sealer::new(Redactor::new(&[]).unwrap(), 65_536);
    StoresFixture {
        _folder: folder,
        intake: Intake::new(sealer, Arc::clone(&stores), clock),
        stores,
    }
}

fn draft(cwd: &str, at: u64) -> Draft {
    let line = EventLine {
        at: Millis(at),
        session_id: format!("s{cwd}"),
        agent: "codex".into(),
        cwd: cwd.into(),
        kind: "user_message".into(),
        text: format!("{at} in {cwd}"),
        ..EventLine::default()
    };
    line.into_draft().unwrap()
}

fn texts(fixture: &StoresFixture, question: &EventQuery) -> Vec<String> {
    let answer = fixture.stores.query_events(question).unwrap();
    answer.events.into_iter().map(|event| event.text).collect()
}

fn everything() -> EventQuery {
    EventQuery { events_max: 1_000, bytes_max: usize::MAX, ..EventQuery::default() }
}

#[test]
fn projects_are_merged_by_event_time() {
    for mode in [StoreMode::PerProject, StoreMode::Unified] {
        let fixture = stores_fixture(mode);
        let drafts =
            vec![draft("/nowhere/a", 30), draft("/nowhere/b", 20), draft("/nowhere/a", 10)];
        assert!(fixture.intake.ingest(drafts.clone()).iter().all(|one| {
            one.as_ref().is_ok_and(|appended| appended.outcome == AppendOutcome::Stored)
        }));
        assert!(fixture.intake.ingest(drafts).iter().all(|one| {
            one.as_ref().is_ok_and(|appended| appended.outcome == AppendOutcome::Duplicate)
        }));
        let all = ["10 in /nowhere/a", "20 in /nowhere/b", "30 in /nowhere/a"];
        assert_eq!(texts(&fixture, &everything()), all);
        let newest = EventQuery { newest_first: true, ..everything() };
        assert_eq!(texts(&fixture, &newest), [all[2], all[1], all[0]]);
        let one = EventQuery { project: Some("/nowhere/b".into()), ..everything() };
        assert_eq!(texts(&fixture, &one), [all[1]]);
        let range = EventQuery { from: Some(Millis(20)), to: Some(Millis(30)), ..everything() };
        assert_eq!(texts(&fixture, &range), [all[1]]);
    }
}

/// Reads all pages of a query; returns the texts.
fn paged(fixture: &StoresFixture, mut question: EventQuery) -> Vec<String> {
    let mut paged = Vec::new();
    loop {
        let answer = fixture.stores.query_events(&question).unwrap();
        assert!(answer.events.len() <= question.events_max);
        paged.extend(answer.events.into_iter().map(|event| event.text));
        match answer.more_after {
            Some(after) => question.after = Some(after),
            None => return paged,
        }
    }
}

const CWDS: [&str; 3] = ["/nowhere/a", "/nowhere/b", "/nowhere/c"];

/// The `n`th event: its project, time and, if given, an id that other projects use too.
fn arrival(n: usize, which: usize, at: u64, id: Option<usize>) -> Draft {
    let line = EventLine {
        id: id.map(|id| format!("n{id}")),
        at: Millis(at),
        // A session belongs to one project, but two agents may use the same id.
        session_id: "s".into(),
        agent: format!("agent-{which}"),
        cwd: CWDS[which].into(),
        kind: "user_message".into(),
        text: format!("{at} {which} {n:02}"),
        ..EventLine::default()
    };
    line.into_draft().unwrap()
}

/// Project and time of events in order of arrival; many share a time.
fn arrivals() -> impl Strategy<Value = Vec<(usize, u64)>> {
    proptest::collection::vec((0..CWDS.len(), 0u64..4), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn pages_add_up_to_the_full_listing(
        arrivals in arrivals(), shared_ids: bool, of_session: bool,
    ) {
        let fixture = stores_fixture(StoreMode::PerProject);
        let mut counts = [0; CWDS.len()];
        let drafts = arrivals.iter().enumerate().map(|(n, &(which, at))| {
            counts[which] += 1;
            arrival(n, which, at, shared_ids.then_some(counts[which]))
        });
        fixture.intake.ingest(drafts.collect());
        // Texts sort as events do: by time, project, arrival.
        let mut expected: Vec<String> = arrivals.iter().enumerate()
            .map(|(n, (which, at))| format!("{at} {which} {n:02}")).collect();
        let question = |newest_first| EventQuery {
            session: of_session.then(|| SessionId::parse("s").unwrap()),
            newest_first,
            ..everything()
        };
        let whole = texts(&fixture, &question(false));
        let mut sorted = whole.clone();
        sorted.sort();
        expected.sort();
        prop_assert_eq!(&sorted, &expected);
        let reversed: Vec<String> = whole.iter().rev().cloned().collect();
        prop_assert_eq!(&texts(&fixture, &question(true)), &reversed);
        for events_max in 1..=arrivals.len() {
            let page = |newest_first| EventQuery { events_max, ..question(newest_first) };
            prop_assert_eq!(&paged(&fixture, page(false)), &whole);
            prop_assert_eq!(&paged(&fixture, page(true)), &reversed);
        }
    }

    #[test]
    fn unified_and_per_project_stores_give_the_same_events(arrivals in arrivals()) {
        let in_mode = |mode| {
            let fixture = stores_fixture(mode);
            let drafts = arrivals.iter().enumerate();
            let drafts = drafts.map(|(n, &(which, at))| arrival(n, which, at, None));
            fixture.intake.ingest(drafts.collect());
            texts(&fixture, &everything())
        };
        // Sorted by time; within a time and a project, in order of arrival.
        let by_project = |mut texts: Vec<String>| {
            texts.sort_by_key(|text| text.split(' ').take(2).map(str::to_owned).collect::<Vec<_>>());
            texts
        };
        let (several, one) = (in_mode(StoreMode::PerProject), in_mode(StoreMode::Unified));
        for texts in [&several, &one] {
            prop_assert!(texts.is_sorted_by_key(|text| text.split(' ').next().map(str::to_owned)));
            let grouped = by_project(texts.clone());
            prop_assert!(grouped.is_sorted(), "{:?}", grouped);
        }
        prop_assert_eq!(by_project(several), by_project(one));
    }
}

/// More projects than are read, or kept open, at a time.
#[test]
fn many_projects_are_read_a_few_at_a_time() {
    const PROJECTS: u64 = 27;
    let fixture = stores_fixture(StoreMode::PerProject);
    for n in 0..PROJECTS {
        let cwd = format!("/nowhere/p{n:02}");
        fixture.intake.ingest((0..3).map(|k| draft(&cwd, n % 7 + 10 * k)).collect());
    }
    let whole = texts(&fixture, &everything());
    assert_eq!(whole.len() as u64, 3 * PROJECTS);
    assert!(fixture.stores.open_stores().len() <= 12, "{}", fixture.stores.open_stores().len());
    let moment = |text: &String| text.split(' ').next().unwrap().parse::<u64>().unwrap();
    assert!(whole.is_sorted_by_key(moment));
    let reversed: Vec<String> = whole.iter().rev().cloned().collect();
    for events_max in [30, 80, 81] {
        let page = EventQuery { events_max, ..everything() };
        assert_eq!(paged(&fixture, page.clone()), whole);
        assert_eq!(paged(&fixture, EventQuery { newest_first: true, ..page }), reversed);
    }
    let small = EventQuery { bytes_max: 9_000, ..everything() };
    assert_eq!(paged(&fixture, small), whole);
    let exact = EventQuery { events_max: 81, ..everything() };
    assert_eq!(fixture.stores.query_events(&exact).unwrap().more_after, None);
    // A single event, by its id and by a prefix of it.
    let event = fixture.stores.query_events(&everything()).unwrap().events.pop().unwrap();
    let id = event.id.as_str();
    assert_eq!(fixture.stores.find_event(id, None).unwrap(), event);
    assert_eq!(fixture.stores.find_event(id.split_at(id.len() - 1).0, None).unwrap(), event);
}

#[test]
fn an_unreadable_store_is_skipped_and_named() {
    let fixture = stores_fixture(StoreMode::PerProject);
    fixture.intake.ingest(vec![draft("/nowhere/a", 1), draft("/nowhere/b", 2)]);
    let bad = fixture.stores.find_store_path("/nowhere/b").unwrap();
    fixture.stores.close_idle(0);
    std::fs::write(bad.join("STORE"), "no such thing\n").unwrap();
    let answer = fixture.stores.query_events(&everything()).unwrap();
    assert_eq!(answer.events.len(), 1);
    assert_eq!(answer.skipped.len(), 1);
    assert!(answer.skipped[0].contains(bad.to_str().unwrap()), "{:?}", answer.skipped);
    let alone = EventQuery { project: Some("/nowhere/b".into()), ..everything() };
    assert!(fixture.stores.query_events(&alone).is_err());
    let id = answer.events[0].id.as_str();
    assert!(fixture.stores.find_event(id, None).is_ok());
    let missing = fixture.stores.find_event("missing", None).unwrap_err().to_string();
    assert!(missing.contains("no event missing") && missing.contains("STORE"), "{missing}");
    // Its events are rejected, those of other stores are not.
    let answers = fixture.intake.ingest(vec![draft("/nowhere/b", 3), draft("/nowhere/a", 4)]);
    assert!(answers[0].is_err() && answers[1].is_ok());
}

#[test]
fn a_forged_continuation_is_rejected() {
    let fixture = stores_fixture(StoreMode::PerProject);
    fixture.intake.ingest(vec![draft("/nowhere/a", 1), draft("/nowhere/a", 2)]);
    let mut question = EventQuery { events_max: 1, ..everything() };
    let made = fixture.stores.query_events(&question).unwrap().more_after.unwrap();
    for text in ["", "1", "1:2", "1:2:", "x:1:a", "1:x:a", "01:1:a", "+1:1:a", "1:e1"] {
        question.after = Some(text.to_owned());
        let error = fixture.stores.query_events(&question).unwrap_err().to_string();
        assert!(error.contains("continuation"), "{error}");
        assert!(error.contains("not made by GetEvents"), "{error}");
    }
    question.after = Some(made);
    assert_eq!(texts(&fixture, &question), ["2 in /nowhere/a"]);
}

#[test]
fn session_statistics_do_not_change_when_they_catch_up_again() {
    let fixture = stores_fixture(StoreMode::PerProject);
    fixture.intake.ingest((0..5).map(|at| draft("/nowhere/a", at)).collect());
    let store = fixture.stores.open_project("/nowhere/a").unwrap();
    assert_eq!(catch_up_session_stats(&store).unwrap(), 5);
    assert_eq!(catch_up_session_stats(&store).unwrap(), 0);
    fixture.intake.ingest(vec![draft("/nowhere/a", 9)]);
    assert_eq!(catch_up_session_stats(&store).unwrap(), 1);
    let tallies = store.all_session_stats().unwrap();
    assert_eq!(tallies.len(), 1);
    assert_eq!(
        (tallies[0].events, tallies[0].first_at, tallies[0].last_at),
        (6, Millis(0), Millis(9))
    );
}

#[test]
fn upkeep_does_not_keep_a_store_open() {
    let fixture = stores_fixture(StoreMode::PerProject);
    let store = fixture.stores.open_project("/nowhere/a").unwrap();
    let path = store.path().to_path_buf();
    drop(store);
    // Each look at the clock is a millisecond.
    for _ in 0..10 {
        drop(fixture.stores.open_for_upkeep(&path).unwrap());
    }
    assert_eq!(fixture.stores.close_idle(10), 1);
    // One that upkeep has opened stays open as long as any other.
    drop(fixture.stores.open_for_upkeep(&path).unwrap());
    assert_eq!(fixture.stores.close_idle(10), 0);
    // And use does keep it open.
    for _ in 0..10 {
        drop(fixture.stores.open(&path).unwrap());
    }
    assert_eq!(fixture.stores.close_idle(10), 0);
}

#[test]
fn an_idle_store_is_closed_and_reopened() {
    let fixture = stores_fixture(StoreMode::PerProject);
    fixture.intake.ingest(vec![draft("/nowhere/a", 1)]);
    assert_eq!(fixture.stores.open_stores().len(), 1);
    let held = fixture.stores.open_project("/nowhere/a").unwrap();
    assert_eq!(fixture.stores.close_idle(0), 0);
    drop(held);
    // The writer thread releases the store shortly after it replied.
    let closed = (0..1_000_000).any(|_| {
        std::thread::yield_now();
        fixture.stores.close_idle(0) == 1
    });
    assert!(closed);
    assert!(fixture.stores.open_stores().is_empty());
    assert_eq!(texts(&fixture, &everything()), ["1 in /nowhere/a"]);
}
