//! A delivery that arrives twice is stored once, whatever its content the second time.

use tome_ledger::{AppendOutcome, AppendedEvent, Ledger, NewEvent, StorageEngine, repair};
use tome_model::{DeliveryId, DeliveryPart, Draft, Millis};

use crate::harness::{ARRIVED, Harness, PROJECT, draft, words};

on_every_engine!(
    a_delivery_is_stored_once,
    parts_of_a_delivery_are_separate_events,
    the_same_text_in_another_delivery_is_distinguished_by_time,
    old_deliveries_are_forgotten,
    a_repaired_ledger_recognizes_deliveries,
);

const DAY_MS: u64 = 24 * 3_600 * 1_000;

fn delivery(at: u64, part: u16) -> DeliveryPart {
    DeliveryPart { id: DeliveryId::new(Millis(at), [5; 10]), part }
}

fn append(ledger: &Ledger, draft: Draft, part: DeliveryPart, arrived: Millis) -> AppendedEvent {
    let event = NewEvent::encode(draft, PROJECT.into(), arrived).with_delivery(Some(part));
    ledger.append(vec![event]).unwrap().pop().unwrap()
}

fn a_delivery_is_stored_once(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let part = delivery(ARRIVED.0, 0);
    let first = append(&harness.open(), words("done", 1_000), part, ARRIVED);
    assert_eq!(first.outcome, AppendOutcome::Stored);
    // It arrives again much later, after a restart of the ledger, with more content.
    let ledger = harness.open();
    for draft in [words("done", 9_000_000), words("done, and more", 1_000), draft("x", 1, "x")] {
        let again = append(&ledger, draft, part, ARRIVED);
        assert_eq!(
            again,
            AppendedEvent { id: first.id.clone(), outcome: AppendOutcome::Duplicate }
        );
    }
    assert_eq!(ledger.last_seq(), 1);
    assert!(ledger.has_delivery(part.id).unwrap());
    assert!(!ledger.has_delivery(delivery(ARRIVED.0 + 1, 0).id).unwrap());
}

fn parts_of_a_delivery_are_separate_events(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let events = [("one", 0), ("two", 1), ("one again", 0)].map(|(text, part)| {
        let part = delivery(ARRIVED.0, part);
        NewEvent::encode(words(text, 1_000), PROJECT.into(), ARRIVED).with_delivery(Some(part))
    });
    // Also within one append, before anything is written.
    let appended = ledger.append(events.into()).unwrap();
    assert_eq!(ledger.last_seq(), 2);
    assert_eq!(appended[0].id, appended[2].id);
}

/// Two hooks of the same agent report the same words at once; later the words are repeated.
fn the_same_text_in_another_delivery_is_distinguished_by_time(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    let at = [1_000, 1_500, 9_000];
    let outcomes =
        at.map(|at| append(&ledger, words("go on", at), delivery(at, 0), ARRIVED).outcome);
    assert_eq!(outcomes, [AppendOutcome::Stored, AppendOutcome::Duplicate, AppendOutcome::Stored]);
    assert!(
        ledger.has_delivery(delivery(1_500, 0).id).unwrap(),
        "it arrived, and brought nothing new"
    );
}

fn old_deliveries_are_forgotten(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let old = delivery(ARRIVED.0, 0);
    append(&harness.open(), words("old", 1_000), old, ARRIVED);
    let later = |days: u64| Millis(ARRIVED.0 + days * DAY_MS);
    let ledger = harness.open();
    append(&ledger, words("new", 2_000), delivery(later(29).0, 0), later(29));
    assert!(ledger.has_delivery(old.id).unwrap());
    drop(ledger);
    let ledger = harness.open();
    append(&ledger, words("newer", 3_000), delivery(later(31).0, 0), later(31));
    assert!(!ledger.has_delivery(old.id).unwrap());
    assert!(ledger.has_delivery(delivery(later(29).0, 0).id).unwrap());
}

fn a_repaired_ledger_recognizes_deliveries(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let part = delivery(ARRIVED.0, 0);
    let first = append(&harness.open(), words("done", 1_000), part, ARRIVED);
    repair(&harness.dir(), &mut std::iter::empty(), "tally").unwrap();
    let ledger = harness.open();
    let again = append(&ledger, words("done, and more", 9_000_000), part, ARRIVED);
    assert_eq!(again, AppendedEvent { id: first.id, outcome: AppendOutcome::Duplicate });
    assert!(ledger.has_delivery(part.id).unwrap());
}
