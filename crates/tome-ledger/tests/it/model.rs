//! The ledger against a simple model of it, with random operations.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tome_ledger::{
    AppendOutcome, EventPosition, EventRange, Ledger, OrderKey, ScanDirection, StorageEngine,
};
use tome_model::{Draft, Event, EventId, Identity, Millis, limits::DUPLICATE_WINDOW_MS};

use crate::harness::*;

/// A simple and slow reference implementation of the ledger.
#[derive(Default)]
struct Model {
    events: BTreeMap<EventPosition, Event>,
    arrivals: Vec<EventPosition>,
}

impl Model {
    fn find(&self, id: &EventId) -> Option<&Event> {
        self.events.values().find(|event| event.id == *id)
    }

    fn append(&mut self, draft: &Draft) -> (EventId, AppendOutcome) {
        let mut occurrence = 0;
        let id = loop {
            let id = draft.identity.event_id(occurrence);
            match (self.find(&id), &draft.identity) {
                (None, _) => break id,
                (Some(_), Identity::Fixed(_)) => return (id, AppendOutcome::Duplicate),
                (Some(event), _) if event.at.distance_ms(draft.at) <= DUPLICATE_WINDOW_MS => {
                    return (id, AppendOutcome::Duplicate);
                }
                (Some(_), Identity::ByText(_)) => occurrence += 1,
            }
        };
        let position =
            EventPosition { at: draft.at, seq: self.arrivals.len() as u64 + 1, id: id.clone() };
        self.arrivals.push(position.clone());
        self.events.insert(position, stored(draft.clone(), id.clone()));
        (id, AppendOutcome::Stored)
    }

    fn read(&self, range: &EventRange) -> Vec<(EventPosition, Event)> {
        let wanted = |(position, event): &(&EventPosition, &Event)| {
            range.from.is_none_or(|from| event.at >= from)
                && range.to.is_none_or(|to| event.at < to)
                && range.session.as_ref().is_none_or(|session| event.session == *session)
                && range.after.as_ref().is_none_or(|after| match range.direction {
                    ScanDirection::Forward => position.order_key() > *after,
                    ScanDirection::Backward => position.order_key() < *after,
                })
        };
        let mut events: Vec<(EventPosition, Event)> = self
            .events
            .iter()
            .filter(wanted)
            .map(|(position, event)| (position.clone(), event.clone()))
            .collect();
        if range.direction == ScanDirection::Backward {
            events.reverse();
        }
        events
    }
}

#[derive(Debug, Clone)]
enum Step {
    Append(Vec<Draft>),
    Read(EventRange),
    Reopen,
    Flush,
    Compact,
}

/// Few ids, few words, few times, so that collisions are common.
fn a_draft() -> impl Strategy<Value = Draft> {
    (0u8..30, 0u64..60, 0u8..3, any::<bool>(), 0u8..4).prop_map(|(name, at, of, fixed, long)| {
        let at = at * 700;
        let mut draft = if fixed {
            draft(&format!("e{name}"), at, "fixed")
        } else {
            words(["go on", "yes"][usize::from(name % 2)], at)
        };
        if fixed {
            draft.session = session(["s1", "s10", "s2"][usize::from(of)]);
            draft.text = draft.text.repeat(if long == 0 { 2_000 } else { 1 });
        }
        draft
    })
}

fn a_range() -> impl Strategy<Value = EventRange> {
    let any_time = || proptest::option::of((0u64..45_000).prop_map(Millis));
    let after = proptest::option::of(
        (0u64..60, 0u64..100).prop_map(|(at, seq)| OrderKey { at: Millis(at * 700), seq }),
    );
    let session =
        proptest::option::of((0usize..4).prop_map(|n| session(["s1", "s10", "s2", "s"][n])));
    (any_time(), any_time(), session, after, any::<bool>()).prop_map(
        |(from, to, session, after, back)| {
            let direction = if back { ScanDirection::Backward } else { ScanDirection::Forward };
            EventRange { from, to, session, after, direction }
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => proptest::collection::vec(a_draft(), 1..12).prop_map(Step::Append),
        8 => a_range().prop_map(Step::Read),
        1 => Just(Step::Reopen),
        1 => Just(Step::Flush),
        1 => Just(Step::Compact),
    ];
    proptest::collection::vec(step, 1..20)
}

fn check(engine: StorageEngine, steps: &[Step]) {
    let harness = Harness::new(engine);
    let mut ledger = harness.open();
    let mut model = Model::default();
    for step in steps {
        match step {
            Step::Append(drafts) => check_append(&ledger, &mut model, drafts),
            Step::Read(range) => assert_eq!(read_events(&ledger, range), model.read(range)),
            Step::Flush => ledger.flush().unwrap(),
            Step::Compact => ledger.compact().unwrap(),
            Step::Reopen => {
                drop(ledger);
                ledger = harness.open();
            }
        }
    }
    drop(ledger);
    check_whole(&harness.open(), &model);
}

fn read_events(ledger: &Ledger, range: &EventRange) -> Vec<(EventPosition, Event)> {
    ledger.events(range).collect::<Result<_, _>>().unwrap()
}

fn check_append(ledger: &Ledger, model: &mut Model, drafts: &[Draft]) {
    let answers = ledger.append(new_events(drafts.to_vec())).unwrap();
    for (draft, answer) in drafts.iter().zip(answers) {
        assert_eq!((answer.id, answer.outcome), model.append(draft));
    }
}

fn check_whole(ledger: &Ledger, model: &Model) {
    assert_eq!(read_events(ledger, &EventRange::default()), model.read(&EventRange::default()));
    let outbox = ledger.read_outbox(0, usize::MAX).unwrap();
    let arrivals: Vec<EventPosition> = outbox.into_iter().map(|entry| entry.position).collect();
    assert_eq!(arrivals, model.arrivals);
    assert_eq!(ledger.last_seq() as usize, model.arrivals.len());
    for event in model.events.values() {
        assert_eq!(ledger.event(&event.id).unwrap().as_ref(), Some(event));
    }
    let mut ids: Vec<EventId> = model.events.keys().map(|position| position.id.clone()).collect();
    ids.sort();
    assert_eq!(ledger.ids_with_prefix("", usize::MAX).unwrap(), ids);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 16, ..ProptestConfig::default() })]

    #[test]
    fn fjall_agrees_with_the_model(steps in steps()) {
        check(StorageEngine::Fjall, &steps);
    }

    #[cfg(feature = "rocksdb")]
    #[test]
    fn rocksdb_agrees_with_the_model(steps in steps()) {
        check(StorageEngine::RocksDb, &steps);
    }
}
