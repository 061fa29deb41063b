//! Projections: results and cursors are written together, and cursors never move backwards.

use tome_ledger::{Ledger, LedgerError, ProjectionCommit, StorageEngine};
use tome_model::SessionStats;

use crate::harness::*;

on_every_engine!(
    results_and_cursor_are_written_together,
    a_cursor_never_goes_back_nor_ahead,
    flushing_and_compacting_lose_nothing,
);

fn stats_of(ledger: &Ledger, name: &str) -> SessionStats {
    SessionStats::from_first_event(&ledger.event(&id(name)).unwrap().unwrap())
}

fn work(from_seq: u64, upto_seq: u64, session_stats: Vec<SessionStats>) -> ProjectionCommit {
    ProjectionCommit {
        projection: "tally".into(),
        from_seq,
        upto_seq,
        session_stats,
        ..ProjectionCommit::default()
    }
}

fn results_and_cursor_are_written_together(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let expected = {
        let ledger = harness.open();
        assert_eq!(ledger.cursor("tally").unwrap(), 0);
        assert_eq!(ledger.all_session_stats().unwrap(), []);
        let mut other = tool("b", 20);
        other.session = session("s0");
        ledger.append(new_events([draft("a", 10, "hi"), other])).unwrap();
        let session_stats = vec![stats_of(&ledger, "a"), stats_of(&ledger, "b")];
        ledger.commit(work(0, 2, session_stats.clone())).unwrap();
        session_stats
    };
    let ledger = harness.open();
    assert_eq!(ledger.cursor("tally").unwrap(), 2);
    assert_eq!(ledger.cursor("finder").unwrap(), 0);
    assert_eq!(ledger.session_stats(&session("s1"), PROJECT).unwrap().as_ref(), Some(&expected[0]));
    assert_eq!(ledger.session_stats(&session("s2"), PROJECT).unwrap(), None);
    let sorted = [expected[1].clone(), expected[0].clone()];
    assert_eq!(ledger.all_session_stats().unwrap(), sorted);
}

fn a_cursor_never_goes_back_nor_ahead(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    ledger.append(new_events([draft("a", 10, "x"), draft("b", 20, "x")])).unwrap();
    ledger.commit(work(0, 2, Vec::new())).unwrap();
    ledger.commit(work(2, 2, Vec::new())).unwrap();
    // A projection that started before that commit is too late.
    let late = ledger.commit(work(0, 2, vec![stats_of(&ledger, "a")])).unwrap_err();
    assert_eq!(
        late.to_string(),
        "projection \"tally\" cannot go from 2 to 2: another commit has moved it"
    );
    let back = ledger.commit(work(2, 1, vec![stats_of(&ledger, "a")])).unwrap_err();
    assert_eq!(
        back.to_string(),
        "projection \"tally\" cannot go from 2 to 1: a cursor never moves backwards"
    );
    let ahead = ledger.commit(work(2, 3, Vec::new())).unwrap_err();
    assert!(matches!(ahead, LedgerError::InvalidCommit { at: 2, upto: 3, .. }), "{ahead}");
    assert_eq!(ledger.cursor("tally").unwrap(), 2);
    assert_eq!(ledger.all_session_stats().unwrap(), []);
    assert!(ledger.cursor("").is_err());
    // None of this disables writes.
    assert_eq!(ledger.write_failure(), None);
}

fn flushing_and_compacting_lose_nothing(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    for round in 0..4u64 {
        let drafts = (0..50).map(|n| tool(&format!("e{round}-{n}"), n * 7 + round));
        ledger.append(new_events(drafts)).unwrap();
        let tally = stats_of(&ledger, &format!("e{round}-0"));
        let from = ledger.cursor("tally").unwrap();
        ledger.commit(work(from, ledger.last_seq(), vec![tally])).unwrap();
        match round {
            0 | 2 => ledger.flush().unwrap(),
            1 => ledger.compact().unwrap(),
            _ => {}
        }
    }
    let before = read_all(&ledger, &tome_ledger::EventRange::default());
    assert_eq!(before.len(), 200);
    ledger.compact().unwrap();
    assert_eq!(read_all(&ledger, &tome_ledger::EventRange::default()), before);
    assert!(ledger.disk_bytes() > 1000);
    drop(ledger);
    let ledger = harness.open();
    assert_eq!(read_all(&ledger, &tome_ledger::EventRange::default()), before);
    assert_eq!(ledger.cursor("tally").unwrap(), 200);
    assert_eq!(ledger.all_session_stats().unwrap().len(), 1);
}
