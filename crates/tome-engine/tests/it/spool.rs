//! The spool: every record is read back exactly once, wherever a crash truncated the file.

use std::fs::OpenOptions;

use proptest::prelude::*;
use tome_engine::{Spool, SpoolLine};
use tome_home::Home;
use tome_model::{Draft, EventLine, Millis};

fn draft(text: &str, at: u64) -> Draft {
    let line = EventLine {
        at: Millis(at),
        session_id: "s1".into(),
        agent: "codex".into(),
        cwd: "/app".into(),
        kind: "user_message".into(),
        text: text.into(),
        ..EventLine::default()
    };
    line.into_draft().unwrap()
}

/// Drains the spool; returns the texts in order and the number of damaged lines.
fn drain(spool: &Spool) -> (Vec<String>, usize) {
    let (mut texts, mut damaged) = (Vec::new(), 0);
    for file in spool.take_files(Millis(7)).unwrap() {
        for line in file.read_lines().unwrap() {
            match line.unwrap() {
                SpoolLine::Draft(delivered, _) => texts.push(delivered.draft.text),
                SpoolLine::Damaged(_) => damaged += 1,
            }
        }
        file.delete().unwrap();
    }
    (texts, damaged)
}

#[test]
fn reading_an_empty_spool_creates_no_files() {
    let folder = tome_testkit::temporary_folder();
    let spool = Spool::new(&Home::at(folder.path()));
    assert!(!spool.has_work(Millis(7)));
    assert!(spool.take_files(Millis(1)).unwrap().is_empty());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_batch_of_a_crashed_daemon_is_drained() {
    let folder = tome_testkit::temporary_folder();
    let spool = Spool::new(&Home::at(folder.path()));
    spool.append(vec![draft("first", 1)]).unwrap();
    // The daemon dies after it took the batch and before it deleted the file.
    drop(spool.take_files(Millis(7)).unwrap());
    spool.append(vec![draft("second", 2)]).unwrap();
    assert_eq!(spool.count_waiting().events, 2);
    assert_eq!(drain(&spool), (vec!["first".into(), "second".into()], 0));
    assert!(!spool.has_work(Millis(7)));
}

#[test]
fn held_events_are_retried_with_backoff() {
    let folder = tome_testkit::temporary_folder();
    let home = Home::at(folder.path());
    let spool = Spool::new(&home);
    spool.append(vec![draft("held", 1)]).unwrap();
    let line = std::fs::read(home.spool().join("events.jsonl")).unwrap();
    let file = spool.take_files(Millis(0)).unwrap().pop().unwrap();
    spool.append_held(&line).unwrap();
    file.delete().unwrap();
    assert!(spool.record_failure("no room", Millis(10_000)));
    assert!(!spool.record_failure("no room", Millis(10_001)), "already reported");
    assert!(!spool.has_work(Millis(10_002)));
    assert!(spool.take_files(Millis(10_002)).unwrap().is_empty());
    assert_eq!(spool.count_waiting().events, 1);
    // New events are not delayed.
    spool.append(vec![draft("fresh", 2)]).unwrap();
    let fresh = spool.take_files(Millis(10_003)).unwrap();
    assert_eq!(fresh.len(), 1);
    drop(fresh);
    let due = |after| spool.has_work(Millis(after));
    assert!(!due(11_499) && due(11_500));
    assert!(!spool.record_failure("no room", Millis(11_500)));
    assert!(!due(14_499) && due(14_500));
    spool.clear_failures();
    assert_eq!(drain(&spool), (vec!["fresh".into(), "held".into()], 0));
    assert!(spool.record_failure("no room", Millis(20_000)), "reported again");
}

#[test]
fn a_stuck_lock_delays_only_the_files_it_protects() {
    let folder = tome_testkit::temporary_folder();
    let home = Home::at(folder.path());
    let spool = Spool::new(&home);
    spool.append(vec![draft("first", 1)]).unwrap();
    drop(spool.take_files(Millis(7)).unwrap());
    spool.append(vec![draft("second", 2)]).unwrap();
    let lock = OpenOptions::new().write(true).open(home.spool().join("lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(drain(&spool), (vec!["first".into()], 0));
    spool.append_damaged(b"x\n").unwrap();
    spool.append_held(b"y\n").unwrap();
    drop(lock);
    assert_eq!(drain(&spool), (vec!["second".into()], 1));
}

proptest! {
    #[test]
    fn truncation_loses_at_most_one_line(
        texts in proptest::collection::vec("\\PC{0,40}", 1..6),
        cut in any::<proptest::sample::Index>(),
    ) {
        let folder = tome_testkit::temporary_folder();
        let home = Home::at(folder.path());
        let spool = Spool::new(&home);
        for (at, text) in (1..).zip(&texts) {
            spool.append(vec![draft(text, at)]).unwrap();
        }
        let path = home.spool().join("events.jsonl");
        let bytes = std::fs::read(&path).unwrap();
        let cut = cut.index(bytes.len() + 1);
        OpenOptions::new().write(true).open(&path).unwrap().set_len(cut as u64).unwrap();
        let kept = &bytes[..cut];
        let whole = kept.iter().filter(|byte| **byte == b'\n').count();
        let torn = &kept[kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)..];

        spool.append(vec![draft("afterwards", 99)]).unwrap();
        let (read, damaged) = drain(&spool);
        // A cut right before the newline leaves a complete line.
        let still_whole = usize::from(!torn.is_empty() && bytes.get(cut) == Some(&b'\n'));
        let mut expected: Vec<String> = texts[..whole + still_whole].to_vec();
        expected.push("afterwards".into());
        prop_assert_eq!(read, expected);
        prop_assert_eq!(damaged, usize::from(!torn.is_empty()) - still_whole);
    }
}
