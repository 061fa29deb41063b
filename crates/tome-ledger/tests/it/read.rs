//! Reading: ranges in both directions, pages, sessions, ids.

use tome_ledger::{EventPosition, EventRange, Ledger, OrderKey, ScanDirection, StorageEngine};
use tome_model::Millis;

use crate::harness::*;

on_every_engine!(
    ranges_include_their_start_and_exclude_their_end,
    pages_continue_where_the_last_one_ended,
    an_event_is_read_by_its_order_key_alone,
    a_session_range_excludes_other_sessions,
    invalid_ranges_are_empty,
    ids_are_found_by_prefix,
    the_outbox_keeps_the_order_of_arrival,
);

/// a at 10, c and then b at 20, d at 30, e at 40; b and d belong to s2. They arrive in another
/// order: d, a, c, e, b.
fn timeline(engine: StorageEngine) -> Ledger {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let event = |name: &str, at, of_session| {
        let mut draft = draft(name, at, name);
        draft.session = session(of_session);
        draft
    };
    let drafts = [
        event("d", 30, "s2"),
        event("a", 10, "s1"),
        event("c", 20, "s1"),
        event("e", 40, "s1"),
        event("b", 20, "s2"),
    ];
    ledger.append(new_events(drafts)).unwrap();
    ledger
}

fn range(from: Option<u64>, to: Option<u64>) -> EventRange {
    EventRange { from: from.map(Millis), to: to.map(Millis), ..EventRange::default() }
}

fn backward(range: EventRange) -> EventRange {
    EventRange { direction: ScanDirection::Backward, ..range }
}

fn after(at: u64, seq: u64) -> Option<OrderKey> {
    let at = Millis(at);
    Some(OrderKey { at, seq })
}

fn an_event_is_read_by_its_order_key_alone(engine: StorageEngine) {
    let ledger = timeline(engine);
    let id_at = |at, seq| {
        let event = ledger.event_by_order(OrderKey { at: Millis(at), seq }).unwrap();
        event.map(|event| event.id.to_string())
    };
    for found in ledger.events(&EventRange::default()) {
        let (position, event) = found.unwrap();
        assert_eq!(ledger.event_by_order(position.order_key()).unwrap(), Some(event));
    }
    // Between two events, before the first and after the last.
    for (at, seq) in [(20, 4), (20, 1), (10, 3), (0, 0), (40, 5), (u64::MAX, u64::MAX)] {
        assert_eq!(id_at(at, seq), None, "{at} {seq}");
    }
}

fn ranges_include_their_start_and_exclude_their_end(engine: StorageEngine) {
    let ledger = timeline(engine);
    let check = |from, to, expected: &str| {
        assert_eq!(ids_of(&ledger, &range(from, to)), expected);
        let reversed: Vec<&str> = expected.split_whitespace().rev().collect();
        assert_eq!(ids_of(&ledger, &backward(range(from, to))), reversed.join(" "));
    };
    check(None, None, "a c b d e");
    check(Some(20), None, "c b d e");
    check(Some(21), None, "d e");
    check(None, Some(20), "a");
    check(Some(20), Some(40), "c b d");
    check(Some(u64::MAX), None, "");
    check(None, Some(0), "");
    check(Some(0), Some(u64::MAX), "a c b d e");
}

fn pages_continue_where_the_last_one_ended(engine: StorageEngine) {
    let ledger = timeline(engine);
    for direction in [ScanDirection::Forward, ScanDirection::Backward] {
        let mut range = EventRange { direction, ..range(Some(10), Some(40)) };
        let mut seen = Vec::new();
        while let Some((at, event)) = ledger.events(&range).next().transpose().unwrap() {
            seen.push(event.id.to_string());
            range.after = Some(at.order_key());
        }
        if direction == ScanDirection::Backward {
            seen.reverse();
        }
        assert_eq!(seen.join(" "), "a c b d");
    }
    // A point between events, or outside of the range, works as well.
    let from = |after| EventRange { after, ..range(Some(20), Some(40)) };
    assert_eq!(ids_of(&ledger, &from(after(20, 4))), "b d");
    assert_eq!(ids_of(&ledger, &from(after(5, 9))), "c b d");
    assert_eq!(ids_of(&ledger, &from(after(50, 1))), "");
    assert_eq!(ids_of(&ledger, &backward(from(after(50, 1)))), "d b c");
    assert_eq!(ids_of(&ledger, &backward(from(after(20, 5)))), "c");
    assert_eq!(ids_of(&ledger, &backward(from(after(20, 3)))), "");
}

fn a_session_range_excludes_other_sessions(engine: StorageEngine) {
    let ledger = timeline(engine);
    let session_range =
        |name: &str| EventRange { session: Some(session(name)), ..EventRange::default() };
    assert_eq!(ids_of(&ledger, &session_range("s1")), "a c e");
    assert_eq!(ids_of(&ledger, &backward(session_range("s2"))), "d b");
    assert_eq!(ids_of(&ledger, &session_range("s")), "");
    let late = EventRange { from: Some(Millis(20)), ..session_range("s1") };
    assert_eq!(ids_of(&ledger, &late), "c e");
    let page = EventRange { after: after(20, 3), ..session_range("s1") };
    assert_eq!(ids_of(&ledger, &page), "e");
    assert_eq!(ids_of(&ledger, &backward(page)), "a");
}

fn invalid_ranges_are_empty(engine: StorageEngine) {
    let ledger = timeline(engine);
    assert_eq!(ids_of(&ledger, &range(Some(30), Some(20))), "");
    assert_eq!(ids_of(&ledger, &range(Some(20), Some(20))), "");
    assert_eq!(ids_of(&ledger, &backward(range(Some(30), Some(20)))), "");
    let behind = EventRange { after: after(40, 4), ..range(None, Some(20)) };
    assert_eq!(ids_of(&ledger, &behind), "");
}

fn ids_are_found_by_prefix(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let names = ["ab", "abc", "abd", "b", "~~"];
    ledger.append(new_events(names.map(|name| draft(name, 1, "x")))).unwrap();
    let find = |prefix: &str, limit| {
        let ids = ledger.ids_with_prefix(prefix, limit).unwrap();
        ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(find("ab", 10), "ab abc abd");
    assert_eq!(find("ab", 2), "ab abc");
    assert_eq!(find("abcd", 10), "");
    assert_eq!(find("", 10), "ab abc abd b ~~");
    assert_eq!(find("~", 10), "~~");
}

fn the_outbox_keeps_the_order_of_arrival(engine: StorageEngine) {
    let ledger = timeline(engine);
    let names = |after, limit| {
        let entries = ledger.read_outbox(after, limit).unwrap();
        let names = entries.iter().map(|entry| {
            let event = ledger.event_at(&entry.position).unwrap().unwrap();
            format!("{}{}", entry.seq, event.id)
        });
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(0, 10), "1d 2a 3c 4e 5b");
    assert_eq!(names(2, 2), "3c 4e");
    assert_eq!(names(5, 10), "");
    assert_eq!(names(u64::MAX, 10), "");
    assert_eq!(ledger.last_seq(), 5);
    let nowhere = EventPosition { at: Millis(11), seq: 2, id: id("a") };
    assert_eq!(ledger.event_at(&nowhere).unwrap(), None);
}
