//! Disk failures: nothing acknowledged is lost, and no further writes are accepted.

use std::sync::atomic::Ordering::SeqCst;

use tome_ledger::{
    AppendOutcome::*, EventRange, Ledger, LedgerError, ProjectionCommit, StorageEngine,
};

use crate::faulty_store;
use crate::harness::*;

on_every_engine!(
    a_failed_write_stops_all_writes_until_reopened,
    a_failed_sync_acknowledges_nothing,
    a_failed_commit_stops_all_writes,
    a_failed_read_fails_only_its_append,
    a_panicking_callback_does_not_stop_the_writer,
    a_callback_may_drop_the_last_reference,
);

fn check_refusing(ledger: &Ledger, cause: &str) {
    assert_eq!(ledger.write_failure().as_deref(), Some(cause));
    let work = ProjectionCommit {
        projection: "w".into(),
        from_seq: 0,
        upto_seq: 0,
        session_stats: Vec::new(),
        ..ProjectionCommit::default()
    };
    let errors = [
        ledger.append(new_events([draft("later", 9, "x")])).unwrap_err(),
        ledger.commit(work).unwrap_err(),
        ledger.flush().unwrap_err(),
        ledger.compact().unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, LedgerError::WritesDisabled { .. }), "{error}");
        let text = error.to_string();
        let path = ledger.path().to_str().unwrap();
        assert!(text.contains(cause) && text.contains(path) && text.contains("reopen"), "{text}");
    }
}

fn a_failed_write_stops_all_writes_until_reopened(engine: StorageEngine) {
    let harness = Harness::new(engine);
    {
        let (ledger, controls) = faulty_store::open(&harness.dir(), engine);
        ledger.append(new_events([draft("a", 1, "x")])).unwrap();
        controls.fail_writes.store(true, SeqCst);
        let error = ledger.append(new_events([draft("b", 2, "x")])).unwrap_err();
        assert!(error.to_string().contains("no space left on device"), "{error}");
        // The disk works again, but its content is unknown.
        controls.fail_writes.store(false, SeqCst);
        check_refusing(&ledger, "no space left on device");
        assert_eq!(ids_of(&ledger, &EventRange::default()), "a");
        assert_eq!(ledger.event(&id("a")).unwrap().unwrap().text, "x");
        assert_eq!(ledger.last_seq(), 1);
    }
    let ledger = harness.open();
    assert_eq!(ids_of(&ledger, &EventRange::default()), "a");
    assert_eq!(outcomes(&ledger.append(new_events([draft("b", 2, "x")])).unwrap()), [Stored]);
    assert_eq!(ledger.last_seq(), 2);
}

fn a_failed_sync_acknowledges_nothing(engine: StorageEngine) {
    let harness = Harness::new(engine);
    {
        let (ledger, controls) = faulty_store::open(&harness.dir(), engine);
        ledger.append(new_events([draft("a", 1, "x")])).unwrap();
        controls.fail_syncs.store(true, SeqCst);
        let error = ledger.append(new_events([draft("b", 2, "x")])).unwrap_err();
        assert!(matches!(error, LedgerError::WritesDisabled { .. }), "{error}");
        controls.fail_syncs.store(false, SeqCst);
        check_refusing(&ledger, "input/output error");
    }
    // `b` may or may not be stored; appending it again stores it once.
    let ledger = harness.open();
    ledger.append(new_events([draft("b", 2, "x")])).unwrap();
    assert_eq!(ids_of(&ledger, &EventRange::default()), "a b");
    let seqs: Vec<u64> = ledger.read_outbox(0, 10).unwrap().iter().map(|entry| entry.seq).collect();
    assert_eq!(seqs, [1, 2]);
}

fn a_failed_commit_stops_all_writes(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let (ledger, controls) = faulty_store::open(&harness.dir(), engine);
    ledger.append(new_events([draft("a", 1, "x")])).unwrap();
    controls.fail_writes.store(true, SeqCst);
    let work = ProjectionCommit {
        projection: "w".into(),
        from_seq: 0,
        upto_seq: 1,
        session_stats: Vec::new(),
        ..ProjectionCommit::default()
    };
    assert!(ledger.commit(work).is_err());
    check_refusing(&ledger, "no space left on device");
    assert_eq!(ledger.cursor("w").unwrap(), 0);
}

fn a_failed_read_fails_only_its_append(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let (ledger, controls) = faulty_store::open(&harness.dir(), engine);
    controls.fail_reads.store(true, SeqCst);
    let error = ledger.append(new_events([draft("a", 1, "x")])).unwrap_err();
    assert!(matches!(error, LedgerError::Storage { .. }), "{error}");
    assert_eq!(ledger.write_failure(), None);
    controls.fail_reads.store(false, SeqCst);
    assert_eq!(outcomes(&ledger.append(new_events([draft("a", 1, "x")])).unwrap()), [Stored]);
}

fn a_panicking_callback_does_not_stop_the_writer(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    ledger.append_with_callback(new_events([draft("a", 1, "x")]), |_| {
        std::panic::resume_unwind(Box::new("a caller's mistake"));
    });
    assert_eq!(outcomes(&ledger.append(new_events([draft("a", 1, "x")])).unwrap()), [Duplicate]);
}

fn a_callback_may_drop_the_last_reference(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let (ledger, controls) = faulty_store::open(&harness.dir(), engine);
    let ledger = std::sync::Arc::new(ledger);
    let (sender, receiver) = std::sync::mpsc::channel();
    let closed = controls.gate.lock().unwrap();
    let share = std::sync::Arc::clone(&ledger);
    ledger.append_with_callback(new_events([draft("a", 1, "x")]), move |result| {
        result.unwrap();
        drop(share);
        sender.send(()).unwrap();
    });
    drop(ledger);
    drop(closed);
    receiver.recv().unwrap();
    // The writer closes the store on its own, together with its controls.
    while std::sync::Arc::strong_count(&controls) > 1 {
        std::thread::yield_now();
    }
    assert_eq!(ids_of(&harness.open(), &EventRange::default()), "a");
}
