//! The contents do not depend on arrival order, batches or crashes.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use proptest::prelude::*;
use tome_contents::{
    ContentsSettings, Extractive, catch_up_contents, cut_segments, rebuild_contents,
    verify_contents,
};
use tome_ledger::{EventRange, Ledger};
use tome_model::{Draft, EventKind, Zone};

use super::memory::Memory;
use super::*;

/// Thresholds small enough for a few events to reach all of them.
fn small(zone: &str) -> ContentsSettings {
    let mut settings = ContentsSettings::in_zone(Zone::parse(zone).unwrap());
    settings.gap_ms = 600_000;
    settings.tokens_max = 60;
    settings.overlap_tokens_max = 30;
    settings
}

#[derive(Debug, Clone)]
struct Arrival {
    project: String,
    draft: Draft,
}

fn arrival(n: usize, (who, minute, kind, words): (u8, u32, u8, u8)) -> Arrival {
    // Around the end of a year in the middle of a week, some of it on the next day.
    let start = at("2026-12-31T22:40:00Z").0;
    let at = Millis(start + u64::from(minute) * 60_000);
    // Some say what is wanted, or that it does not work: the segments around them depend on that.
    let begin = match words % 4 {
        0 => "Add retry to the upload client ",
        1 => "it still fails ",
        _ => "",
    };
    let text = begin.to_owned() + &"word ".repeat(usize::from(words)) + &n.to_string();
    let mut draft = draft(&format!("e{n}"), ["s1", "s2"][usize::from(who % 2)], at, &text);
    draft.kind = match kind {
        0 => EventKind::SessionEnd,
        1 => EventKind::Compaction,
        2..4 => EventKind::ToolResult,
        _ => EventKind::UserMessage,
    };
    if kind == 5 {
        draft.agent = Agent::parse("gemini").unwrap();
    }
    Arrival { project: ["/a", "/b"][usize::from(who / 2 % 2)].into(), draft }
}

fn history() -> impl Strategy<Value = Vec<Arrival>> {
    let minute =
        prop_oneof![8 => 50..100u32, 3 => 0..180u32, 1 => 1_400..1_600u32, 1 => 20_000..20_100u32];
    let one = (0..4u8, minute, 0..24u8, 0..12u8);
    proptest::collection::vec(one, 1..50)
        .prop_map(|all| all.into_iter().enumerate().map(|(n, one)| arrival(n, one)).collect())
}

/// One step: how many events arrive before the contents catch up, the batch size, and which writes
/// fails (0 for none).
#[derive(Debug, Clone, Copy)]
struct ProcessStep {
    events: usize,
    batch: usize,
    killed_at: usize,
}

fn steps() -> impl Strategy<Value = Vec<ProcessStep>> {
    let step = (1..12usize, 1..9usize, 0..5usize);
    let step = step.prop_map(|(events, batch, killed_at)| ProcessStep { events, batch, killed_at });
    proptest::collection::vec(step, 1..10)
}

fn store(ledger: &Ledger, arrivals: &[Arrival]) {
    let new = arrivals.iter().cloned();
    let new = new.map(|one| NewEvent::encode(one.draft, one.project, Millis(1)));
    ledger.append(new.collect()).unwrap();
}

fn process_in_steps(
    arrivals: &[Arrival],
    steps: &[ProcessStep],
    settings: &ContentsSettings,
    summarizer: &dyn Summarizer,
) -> Memory {
    let memory = Memory::default();
    let mut rest = arrivals;
    for step in steps.iter().cycle() {
        let (now, later) = rest.split_at(step.events.min(rest.len()));
        let ledger = memory.open();
        store(&ledger, now);
        memory.fails_in.store(step.killed_at, Ordering::SeqCst);
        let settings = ContentsSettings { batch_events: step.batch, ..settings.clone() };
        let caught_up = catch_up_contents(&ledger, &settings, summarizer, &Ticking::default());
        assert!(caught_up.is_ok() || step.killed_at > 0, "{caught_up:?}");
        memory.fails_in.store(0, Ordering::SeqCst);
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    catch_up_contents(&memory.open(), settings, summarizer, &Ticking::default()).unwrap();
    memory
}

fn process_at_once(
    arrivals: &[Arrival],
    settings: &ContentsSettings,
    summarizer: &dyn Summarizer,
) -> Memory {
    let memory = Memory::default();
    let ledger = memory.open();
    store(&ledger, arrivals);
    catch_up_contents(&ledger, settings, summarizer, &Ticking::default()).unwrap();
    drop(ledger);
    memory
}

/// The segments as the pure function cuts them, by project and first event id.
fn cut(ledger: &Ledger, settings: &ContentsSettings) -> BTreeMap<(String, String), Vec<String>> {
    let mut sessions: BTreeMap<(String, SessionId), Vec<Event>> = BTreeMap::new();
    for event in ledger.events(&EventRange::default()) {
        let (_, event) = event.unwrap();
        sessions.entry((event.project.clone(), event.session.clone())).or_default().push(event);
    }
    let mut found = BTreeMap::new();
    for ((project, _), events) in sessions {
        for segment in cut_segments(&events, settings) {
            let ids = events[segment.events].iter().map(|event| event.id.to_string());
            let ids: Vec<String> = ids.collect();
            found.insert((project.clone(), ids[0].clone()), ids);
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn incremental_and_one_shot_processing_give_the_same_contents(arrivals in history(), steps in steps(), zone in 0..3usize) {
        let settings = small(["UTC", "Asia/Kathmandu", "America/St_Johns"][zone]);
        let memory = process_in_steps(&arrivals, &steps, &settings, &EchoSummarizer);
        let ledger = memory.open();
        let expected = latest(&process_at_once(&arrivals, &settings, &EchoSummarizer).open());
        prop_assert_eq!(&latest(&ledger), &expected);

        // Every event is in the segment that the pure function assigns.
        let cut = cut(&ledger, &settings);
        let nodes: BTreeMap<_, _> = expected
            .iter()
            .filter(|(_, (node, _))| node.source.is_some())
            .map(|((project, _), (node, _))| {
                let (first, last) = node.source.clone().unwrap();
                ((project.clone(), first.to_string()), (last.to_string(), node.events))
            })
            .collect();
        let cut: BTreeMap<_, _> = cut
            .into_iter()
            .map(|(key, ids)| (key, (ids.last().unwrap().clone(), ids.len() as u64)))
            .collect();
        prop_assert_eq!(nodes, cut);

        // It verifies, and a rebuild changes nothing.
        let report = verify_contents(&ledger, &settings).unwrap();
        prop_assert!(report.is_ok(), "{:?}", report);
        let rebuilt = rebuild_contents(&ledger, &settings, &EchoSummarizer, &Ticking::default()).unwrap();
        prop_assert_eq!((rebuilt.nodes, rebuilt.removed), (0, 0));
        prop_assert_eq!(&latest(&ledger), &expected);
    }

    #[test]
    fn changed_settings_rebuild_the_contents(arrivals in history(), steps in steps(), killed_at in 0..6usize) {
        let (before, after) = (small("UTC"), small("Pacific/Kiritimati"));
        let memory = process_in_steps(&arrivals, &steps, &before, &EchoSummarizer);
        memory.fails_in.store(killed_at, Ordering::SeqCst);
        let _ = catch_up_contents(&memory.open(), &after, &EchoSummarizer, &Ticking::default());
        memory.fails_in.store(0, Ordering::SeqCst);
        let ledger = memory.open();
        catch_up(&ledger, &after);
        prop_assert_eq!(latest(&ledger), latest(&process_at_once(&arrivals, &after, &EchoSummarizer).open()));
        prop_assert_eq!(catch_up(&ledger, &after), ContentsCatchUpReport::default());
        let report = verify_contents(&ledger, &after).unwrap();
        prop_assert!(report.is_ok(), "{:?}", report);
    }

    #[test]
    fn every_session_is_counted_once_per_period(arrivals in history()) {
        let settings = small("UTC");
        let ledger = process_at_once(&arrivals, &settings, &EchoSummarizer).open();
        prop_assert!(latest(&ledger).keys().any(|(_, id)| id.as_str().starts_with("toc:year:")));
        for ((project, id), (node, _)) in latest(&ledger) {
            let Some(period) = id.period().filter(|_| node.source.is_none()) else { continue };
            let days: Vec<_> = match period.children().as_slice() {
                [] => vec![period],
                _ => arrivals.iter().map(|one| tome_model::Period::day_containing(one.draft.at, &settings.zone))
                    .filter(|day| day.ancestors().any(|above| above == period)).collect(),
            };
            let mut sessions: Vec<_> = arrivals.iter().filter(|one| one.project == project)
                .filter(|one| days.contains(&tome_model::Period::day_containing(one.draft.at, &settings.zone)))
                .map(|one| one.draft.session.clone()).collect();
            sessions.sort();
            sessions.dedup();
            prop_assert_eq!(node.session_count, sessions.len() as u64, "{}", id);
            let mut named = node.sessions.clone();
            named.sort();
            prop_assert_eq!(named, sessions);
        }
    }

    #[test]
    fn incremental_processing_is_stable_with_the_built_in_summarizer(arrivals in history(), steps in steps()) {
        let settings = small("UTC");
        let memory = process_in_steps(&arrivals, &steps, &settings, &Extractive);
        let ledger = memory.open();
        prop_assert_eq!(latest(&ledger), latest(&process_at_once(&arrivals, &settings, &Extractive).open()));
        let rebuilt = rebuild_contents(&ledger, &settings, &Extractive, &Ticking::default()).unwrap();
        prop_assert_eq!((rebuilt.nodes, rebuilt.removed), (0, 0));
    }
}
