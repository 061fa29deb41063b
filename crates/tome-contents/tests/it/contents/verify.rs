//! Damage is found by verification and repaired by a rebuild.

use tome_contents::{
    ContentsRebuildReport, ContentsVerifyReport, rebuild_contents, verify_contents,
};
use tome_ledger::Family;

use super::memory::Memory;
use super::*;

const EVENTS: &str = "s1 2026-03-02T09:00:00Z parser
     s1 2026-03-02T09:10:00Z bye
     s2 2026-03-03T10:00:00Z lexer";

fn recorded_ledger() -> (Memory, Ledger) {
    let memory = Memory::default();
    let ledger = memory.open();
    record_events(&ledger, EVENTS);
    catch_up(&ledger, &settings());
    (memory, ledger)
}

fn report(ledger: &Ledger) -> ContentsVerifyReport {
    verify_contents(ledger, &settings()).unwrap()
}

fn rebuilt(ledger: &Ledger) -> ContentsRebuildReport {
    rebuild_contents(ledger, &settings(), &EchoSummarizer, &Ticking::default()).unwrap()
}

#[test]
fn new_contents_verify_without_problems() {
    let (_, ledger) = recorded_ledger();
    let report = report(&ledger);
    assert_eq!((report.nodes, report.grips, report.problem_count), (7, 3, 0));
    let rebuilt = rebuilt(&ledger);
    assert_eq!((rebuilt.sessions, rebuilt.compared), (2, 7));
    assert_eq!((rebuilt.nodes, rebuilt.removed), (0, 0));
}

#[test]
fn lost_grips_are_reported_and_restored() {
    let (memory, ledger) = recorded_ledger();
    let before = latest(&ledger);
    memory.lose(Family::Grips);
    let found = report(&ledger);
    assert!(!found.is_ok());
    assert!(found.problems.iter().all(|problem| problem.contains("grip:")), "{found:?}");
    rebuilt(&ledger);
    assert!(report(&ledger).is_ok());
    assert_eq!(latest(&ledger), before);
}

#[test]
fn lost_contents_are_rebuilt() {
    let (memory, ledger) = recorded_ledger();
    let before = latest(&ledger);
    for family in [Family::TocNodes, Family::TocLatest, Family::Grips] {
        memory.lose(family);
    }
    assert_eq!(rebuilt(&ledger).nodes, 7);
    assert_eq!(latest(&ledger), before);
    // Also without a cursor.
    for family in [Family::TocNodes, Family::TocLatest, Family::Grips, Family::Checkpoints] {
        memory.lose(family);
    }
    catch_up(&ledger, &settings());
    assert_eq!(latest(&ledger), before);
}

#[test]
fn an_altered_excerpt_is_found() {
    let (memory, ledger) = recorded_ledger();
    memory.spoil(Family::Grips, |value| {
        let offset = value.windows(6).position(|six| six == b"parser");
        if let Some(offset) = offset {
            value[offset..offset + 6].copy_from_slice(b"barser");
        }
    });
    let problems = report(&ledger).problems.join("\n");
    assert!(problems.contains("hash does not match the excerpt"), "{problems}");
    assert!(problems.contains("excerpt is not in its event"), "{problems}");
    rebuilt(&ledger);
    assert!(report(&ledger).is_ok());
}

#[test]
fn an_altered_node_is_found_and_rebuilt() {
    let (memory, ledger) = recorded_ledger();
    let before = latest(&ledger);
    memory.spoil(Family::TocNodes, |value| {
        let offset = value.windows(6).position(|six| six == b"parser");
        if let Some(offset) = offset {
            value[offset..offset + 6].copy_from_slice(b"barser");
        }
    });
    assert!(!report(&ledger).is_ok());
    assert!(rebuilt(&ledger).nodes > 0);
    assert_eq!(latest(&ledger), before);
    assert!(report(&ledger).is_ok());
}

#[test]
fn an_unknown_format_version_is_reported() {
    let (memory, ledger) = recorded_ledger();
    memory.spoil(Family::TocNodes, |value| value[0] = 9);
    let problems = report(&ledger).problems.join("\n");
    assert!(problems.contains("unknown version 9: upgrade Tome"), "{problems}");
    assert!(ledger.node(PROJECT, &id("toc:day:2026-03-02"), None).is_err());
}
