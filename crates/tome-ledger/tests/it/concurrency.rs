//! Concurrency: each append is answered once, each event is stored once, and syncs are shared.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc;

use tome_ledger::{AppendOutcome::*, EventRange, StorageEngine};

use crate::faulty_store;
use crate::harness::*;

on_every_engine!(
    concurrent_appends_share_a_sync,
    every_event_of_many_threads_is_stored_once,
    a_closing_ledger_finishes_queued_appends,
);

fn concurrent_appends_share_a_sync(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let (ledger, controls) = faulty_store::open(&harness.dir(), engine);
    let (sender, receiver) = mpsc::channel();
    let append = |name: &str| {
        let sender = sender.clone();
        ledger.append_with_callback(new_events([draft(name, 1, "x")]), move |result| {
            sender.send(result.unwrap().remove(0)).unwrap();
        });
    };
    {
        // The writer is blocked in its first write while the others queue up.
        let _closed = controls.gate.lock().unwrap();
        append("first");
        while ledger.queue_len() > 0 {
            std::thread::yield_now();
        }
        (0..50).for_each(|n| append(&format!("e{n}")));
        append("e7");
    }
    let answers: Vec<_> = receiver.iter().take(52).collect();
    assert_eq!(controls.syncs.load(SeqCst), 2);
    assert_eq!(controls.writes.load(SeqCst), 2);
    assert_eq!(answers.iter().filter(|one| one.outcome == Stored).count(), 51);
    assert_eq!((answers[51].id.as_str(), answers[51].outcome), ("e7", Duplicate));
    // Duplicates need no sync.
    assert_eq!(outcomes(&ledger.append(new_events([draft("e7", 1, "x")])).unwrap()), [Duplicate]);
    assert_eq!(controls.syncs.load(SeqCst), 2);
}

fn every_event_of_many_threads_is_stored_once(engine: StorageEngine) {
    const THREADS: u64 = 8;
    const EACH: u64 = 40;
    let harness = Harness::new(engine);
    let (ledger, controls) = faulty_store::open(&harness.dir(), engine);
    let stored: u64 = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|thread| {
                let ledger = &ledger;
                scope.spawn(move || {
                    let mut stored = 0;
                    for n in 0..EACH {
                        // Each event comes from two threads; half of them have no id.
                        let name = format!("e{}-{n}", thread / 2);
                        let draft = match n % 2 {
                            0 => draft(&name, n, &name),
                            _ => words(&name, n),
                        };
                        let answer = ledger.append(new_events([draft])).unwrap();
                        assert!(ledger.event(&answer[0].id).unwrap().is_some());
                        stored += u64::from(answer[0].outcome == Stored);
                    }
                    stored
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    let distinct = THREADS / 2 * EACH;
    assert_eq!(stored, distinct);
    assert_eq!(ledger.last_seq(), distinct);
    assert!(controls.syncs.load(SeqCst) as u64 <= distinct);
    let seqs: Vec<u64> =
        ledger.read_outbox(0, 1000).unwrap().iter().map(|entry| entry.seq).collect();
    assert_eq!(seqs, (1..=distinct).collect::<Vec<_>>());
    drop(ledger);
    assert_eq!(harness.open().events(&EventRange::default()).count() as u64, distinct);
}

fn a_closing_ledger_finishes_queued_appends(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let (sender, receiver) = mpsc::channel();
    let ledger = harness.open();
    for n in 0..100 {
        let sender = sender.clone();
        let events = new_events([draft(&format!("e{n}"), n, "x")]);
        ledger.append_with_callback(events, move |result| sender.send(result.is_ok()).unwrap());
    }
    drop((ledger, sender));
    assert_eq!(receiver.iter().filter(|stored| *stored).count(), 100);
    assert_eq!(harness.open().last_seq(), 100);
}
