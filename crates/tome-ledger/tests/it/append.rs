//! Appending: new events, duplicates, and events that cannot be stored.

use serde_json::Value;
use tome_ledger::{AppendOutcome::*, EventRange, LedgerError, StorageEngine};
use tome_model::{Identity, Millis, Tool, limits::DUPLICATE_WINDOW_MS};

use crate::harness::*;

on_every_engine!(
    an_event_is_stored_once,
    an_append_returns_one_result_per_event,
    repeated_text_is_another_event,
    text_reported_twice_is_one_event,
    thousands_of_repetitions_stay_cheap_and_exact,
    a_late_repetition_matches_the_occurrence_of_its_time,
    a_bad_event_fails_its_own_append_only,
    a_huge_append_is_stored_completely,
    an_empty_append_stores_nothing,
);

fn an_event_is_stored_once(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let draft = tool("e1", 1000);
    {
        let ledger = harness.open();
        let first = ledger.append(new_events([draft.clone()])).unwrap();
        assert_eq!((first[0].id.as_str(), first[0].outcome), ("e1", Stored));
        let again = ledger.append(new_events([draft.clone()])).unwrap();
        assert_eq!((again[0].id.as_str(), again[0].outcome), ("e1", Duplicate));
    }
    let ledger = harness.open();
    // A different time or text does not matter: the id identifies an event.
    let other = crate::harness::draft("e1", 9000, "something else");
    assert_eq!(outcomes(&ledger.append(new_events([other])).unwrap()), [Duplicate]);
    assert_eq!(ledger.event(&id("e1")).unwrap(), Some(stored(draft, id("e1"))));
    assert_eq!(read_all(&ledger, &EventRange::default()).len(), 1);
    assert_eq!(ledger.last_seq(), 1);
    assert_eq!(ledger.event(&id("e2")).unwrap(), None);
}

fn an_append_returns_one_result_per_event(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let drafts = ["a", "b", "a", "c", "b"].map(|name| draft(name, 5, "x"));
    let appended = ledger.append(new_events(drafts)).unwrap();
    let ids: Vec<&str> = appended.iter().map(|one| one.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "a", "c", "b"]);
    assert_eq!(outcomes(&appended), [Stored, Stored, Duplicate, Stored, Duplicate]);
    assert_eq!(ledger.last_seq(), 3);
}

fn repeated_text_is_another_event(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let prompt = |at| words("continue", at);
    let appended =
        ledger.append(new_events([prompt(10_000), prompt(20_000), prompt(30_000)])).unwrap();
    assert_eq!(outcomes(&appended), [Stored, Stored, Stored]);
    let again =
        ledger.append(new_events([prompt(30_001), prompt(19_999), prompt(10_000)])).unwrap();
    assert_eq!(outcomes(&again), [Duplicate, Duplicate, Duplicate]);
    let ids: Vec<_> = again.iter().rev().map(|one| &one.id).collect();
    assert_eq!(ids, appended.iter().map(|one| &one.id).collect::<Vec<_>>());
}

fn text_reported_twice_is_one_event(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let prompt = |at| words("fix it", at);
    let first = ledger.append(new_events([prompt(10_000)])).unwrap();
    for at in [10_000, 10_000 + DUPLICATE_WINDOW_MS, 10_000 - DUPLICATE_WINDOW_MS] {
        let seen = ledger.append(new_events([prompt(at)])).unwrap();
        assert_eq!((&seen[0].id, seen[0].outcome), (&first[0].id, Duplicate), "at {at}");
    }
    let later = ledger.append(new_events([prompt(10_000 + DUPLICATE_WINDOW_MS + 1)])).unwrap();
    assert_eq!(outcomes(&later), [Stored]);
    assert_eq!(ledger.event(&first[0].id).unwrap().unwrap().at, Millis(10_000));
}

fn thousands_of_repetitions_stay_cheap_and_exact(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let prompt = |n: u64| words("go on", n * (DUPLICATE_WINDOW_MS + 1));
    const TIMES: u64 = 3_000;
    {
        let ledger = harness.open();
        for from in (0..TIMES).step_by(500) {
            let appended = ledger.append(new_events((from..from + 500).map(prompt))).unwrap();
            assert!(appended.iter().all(|one| one.outcome == Stored));
        }
    }
    let ledger = harness.open();
    let again = ledger.append(new_events((0..TIMES).map(prompt))).unwrap();
    assert!(again.iter().all(|one| one.outcome == Duplicate));
    let ids: std::collections::HashSet<_> = again.iter().map(|one| &one.id).collect();
    assert_eq!(ids.len() as u64, TIMES);
    assert_eq!(ledger.last_seq(), TIMES);
    for (n, one) in (0..TIMES).zip(&again) {
        assert_eq!(ledger.event(&one.id).unwrap().unwrap().at, prompt(n).at);
    }
}

fn a_late_repetition_matches_the_occurrence_of_its_time(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let prompt = |n: u64| words("yes", n * 10_000);
    // They arrive out of order, and far more of them than are checked one by one.
    let order: Vec<u64> = (0..100).map(|n| n * 37 % 100).collect();
    let stored = ledger.append(new_events(order.iter().map(|n| prompt(*n)))).unwrap();
    assert!(stored.iter().all(|one| one.outcome == Stored));
    for (n, one) in order.iter().zip(&stored) {
        let mut near = prompt(*n);
        near.at.0 += DUPLICATE_WINDOW_MS;
        let seen = ledger.append(new_events([near])).unwrap();
        assert_eq!((&seen[0].id, seen[0].outcome), (&one.id, Duplicate));
    }
}

fn a_bad_event_fails_its_own_append_only(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let mut deep = draft("deep", 1, "x");
    let nested = (0..200).fold(Value::Null, |inner, _| Value::Array(vec![inner]));
    deep.tool = Some(Tool { name: "t".into(), input: nested, output: Value::Null });
    let error = ledger.append(new_events([draft("ok1", 1, "x"), deep])).unwrap_err();
    assert!(error.to_string().starts_with("event deep cannot be stored: its JSON"), "{error}");

    let mut nul = draft("nul", 1, "x");
    nul.identity = Identity::ByText("a\0b".into());
    let error = ledger.append(new_events([nul])).unwrap_err();
    assert!(matches!(error, LedgerError::Rejected { .. }), "{error}");

    let huge = draft("huge", 1, &"x".repeat(17 * 1024 * 1024));
    let error = ledger.append(new_events([huge])).unwrap_err();
    assert!(error.to_string().contains("shorten it"), "{error}");

    // Nothing of the rejected appends was stored, and the ledger still works.
    assert_eq!(ledger.last_seq(), 0);
    assert_eq!(ledger.write_failure(), None);
    assert_eq!(outcomes(&ledger.append(new_events([draft("ok1", 1, "x")])).unwrap()), [Stored]);
}

fn a_huge_append_is_stored_completely(engine: StorageEngine) {
    let harness = Harness::new(engine);
    // Larger than a batch and than a group.
    let text: String =
        (0u32..).map(|n| format!("{:x} ", n.wrapping_mul(2_654_435_761))).take(200).collect();
    let count = 9_000;
    let drafts = (0..count).map(|n| draft(&format!("e{n}"), n, &text));
    let ledger = harness.open();
    let appended = ledger.append(new_events(drafts)).unwrap();
    assert!(appended.iter().all(|one| one.outcome == Stored));
    assert_eq!(ledger.last_seq(), count);
    drop(ledger);
    let ledger = harness.open();
    assert_eq!(ledger.last_seq(), count);
    assert_eq!(ledger.events(&EventRange::default()).count() as u64, count);
}

fn an_empty_append_stores_nothing(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    assert_eq!(ledger.append(Vec::new()).unwrap(), []);
    assert_eq!(ledger.last_seq(), 0);
}
