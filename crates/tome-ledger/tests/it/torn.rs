//! fjall's journal after power loss: unsynced data is cut off, synced data stays.
//!
//! The tests copy the store of an open ledger, as a crash would leave it, and damage the copy.

use std::fs;
use std::path::{Path, PathBuf};

use tome_ledger::{AppendOutcome::*, EventRange, Ledger, ProjectionCommit, StorageEngine, repair};
use tome_model::SessionStats;

use crate::harness::*;

/// A store as a crash leaves it, while the original ledger continues.
struct Crash {
    harness: Harness,
}

impl Crash {
    /// The state after power loss: the counts are not synced and have not reached the disk.
    fn of(ledger: &Ledger) -> Self {
        let crash = Self::after_kill(ledger);
        fs::remove_file(crash.harness.dir().join("COUNTS")).unwrap();
        crash
    }

    /// The state after kill -9: everything that was written.
    fn after_kill(ledger: &Ledger) -> Self {
        let harness = Harness::new(StorageEngine::Fjall);
        copy_dir(ledger.path(), &harness.dir());
        Self { harness }
    }

    fn journal(&self) -> PathBuf {
        self.harness.dir().join("fjall/0.jnl")
    }

    /// The journal without trailing zeros.
    fn read(&self) -> Vec<u8> {
        content(&self.journal())
    }

    /// Changes the journal, except its trailing zeros.
    fn write(&self, bytes: &[u8]) {
        use std::io::Write;
        let mut file = fs::OpenOptions::new().write(true).open(self.journal()).unwrap();
        file.write_all(bytes).unwrap();
    }

    /// Inverts the bytes of these words in the journal.
    fn spoil(&self, words: &str) {
        let mut bytes = self.read();
        let at = offset_of(&bytes, words);
        for byte in &mut bytes[at..at + words.len()] {
            *byte = !*byte;
        }
        self.write(&bytes);
    }

    fn torn(&self) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(self.harness.dir())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with("torn-"))
            .collect();
        names.sort();
        names
    }

    fn check_refused(&self) {
        let before = self.read();
        let error = open_error(&self.harness.dir(), None);
        let text = std::error::Error::source(&error).unwrap().to_string();
        let journal = self.journal();
        assert!(text.contains(journal.to_str().unwrap()), "{text}");
        assert!(text.contains("restore the ledger from a backup"), "{text}");
        assert_eq!(self.read(), before);
        assert!(self.torn().is_empty());
    }
}

fn content(journal: &Path) -> Vec<u8> {
    let mut bytes = fs::read(journal).unwrap();
    while bytes.ends_with(&[0; 4096]) {
        bytes.truncate(bytes.len() - 4096);
    }
    let len = bytes.iter().rposition(|byte| *byte != 0);
    bytes.truncate(len.map_or(0, |last| last + 1));
    bytes
}

fn offset_of(bytes: &[u8], words: &str) -> usize {
    let mut windows = bytes.windows(words.len());
    windows.position(|bytes| bytes == words.as_bytes()).unwrap()
}

fn say(ledger: &Ledger, name: &str, at: u64) {
    let text = format!("the words of {name}");
    let appended = ledger.append(new_events([draft(name, at, &text)])).unwrap();
    assert_eq!(outcomes(&appended), [Stored]);
}

/// Checks that the ledger contains exactly these events, in this order, and accepts more.
fn check_holds(dir: &Path, names: &str) {
    {
        let ledger = Ledger::open(dir).unwrap();
        assert_eq!(ids_of(&ledger, &EventRange::default()), names);
        let count = names.split_whitespace().count() as u64;
        assert_eq!(ledger.last_seq(), count);
        let outbox = ledger.read_outbox(0, 100).unwrap();
        let arrived: Vec<&str> = outbox.iter().map(|one| one.position.id.as_str()).collect();
        assert_eq!(arrived.join(" "), names);
        say(&ledger, "later", 1_000);
        assert_eq!(ledger.last_seq(), count + 1);
    }
    let ledger = Ledger::open(dir).unwrap();
    assert_eq!(ids_of(&ledger, &EventRange::default()), format!("{names} later").trim_start());
}

#[test]
fn a_killed_process_leaves_no_damage() {
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = harness.open();
    for at in 1..12 {
        say(&ledger, &format!("e{at}"), at);
        let again = Crash::after_kill(&ledger).harness.open();
        assert_eq!((again.damage(), again.last_seq()), (vec![], at));
    }
}

/// The journal lost its end after its events were acknowledged: batches are torn or gone.
#[test]
fn a_lost_tail_of_acknowledged_events_is_reported() {
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = harness.open();
    say(&ledger, "e1", 1);
    let end = Crash::after_kill(&ledger).read().len() as u64;
    say(&ledger, "e2", 2);
    let torn = Crash::after_kill(&ledger);
    torn.spoil("the words of e2");
    let cut = Crash::after_kill(&ledger);
    let file = fs::OpenOptions::new().write(true).open(cut.journal()).unwrap();
    file.set_len(end).unwrap();
    for crash in [torn, cut] {
        let again = crash.harness.open();
        let damage = again.damage().join("; ");
        assert!(damage.contains("acknowledged events are missing: 2 were stored"), "{damage}");
        assert_eq!(ids_of(&again, &EventRange::default()), "e1");
        // A number is never reused, and the loss stays recorded.
        say(&again, "e3", 3);
        assert_eq!(again.last_seq(), 3);
        drop(again);
        let again = crash.harness.open();
        assert!(again.damage().join("; ").contains("events: 1 of 3 entries are missing"));
        let seqs: Vec<u64> =
            again.read_outbox(0, 9).unwrap().iter().map(|entry| entry.seq).collect();
        assert_eq!(seqs, [1, 3]);
        drop(again);
        let lost = stored(draft("e2", 2, "the words of e2"), id("e2"));
        let repaired = repair(&crash.harness.dir(), &mut [lost].into_iter(), "tally").unwrap();
        assert_eq!((repaired.kept, repaired.restored, repaired.lost), (2, 1, 0));
        let again = crash.harness.open();
        assert_eq!(
            (again.damage(), ids_of(&again, &EventRange::default())),
            (vec![], "e1 e2 e3".into())
        );
    }
}

#[test]
fn a_torn_last_batch_is_dropped() {
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = harness.open();
    say(&ledger, "e1", 1);
    say(&ledger, "e2", 2);
    let crash = Crash::of(&ledger);
    crash.spoil("the words of e2");
    let whole = crash.read();
    check_holds(&crash.harness.dir(), "e1");
    // The cut part is kept for inspection.
    assert_eq!(crash.torn(), ["torn-1.journal"]);
    let kept = fs::read(crash.harness.dir().join("torn-1.journal")).unwrap();
    assert!(kept == whole);
    let again = crash.harness.open();
    assert_eq!(
        outcomes(&again.append(new_events([draft("e2", 2, "the words of e2")])).unwrap()),
        [Stored]
    );
}

#[test]
fn a_torn_first_batch_leaves_an_empty_ledger() {
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = harness.open();
    say(&ledger, "e1", 1);
    let crash = Crash::of(&ledger);
    crash.spoil("the words of e1");
    check_holds(&crash.harness.dir(), "");
}

#[test]
fn a_journal_without_trailing_zeros_is_truncated() {
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = harness.open();
    say(&ledger, "e1", 1);
    say(&ledger, "e2", 2);
    let crash = Crash::of(&ledger);
    crash.spoil("the words of e2");
    let len = crash.read().len() as u64;
    let file = fs::OpenOptions::new().write(true).open(crash.journal());
    file.unwrap().set_len(len).unwrap();
    check_holds(&crash.harness.dir(), "e1");
}

#[test]
fn everything_after_the_first_torn_batch_is_dropped() {
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = harness.open();
    say(&ledger, "e1", 1);
    let mut tally = SessionStats::from_first_event(&ledger.event(&id("e1")).unwrap().unwrap());
    tally.project = "/home/dev/counted".into();
    // Not synced: it may be torn, and so may the next append.
    let work = |from_seq, upto_seq| ProjectionCommit {
        projection: "w".into(),
        from_seq,
        upto_seq,
        session_stats: vec![tally.clone()],
        ..ProjectionCommit::default()
    };
    ledger.commit(work(0, 1)).unwrap();
    say(&ledger, "e2", 2);
    let torn: [&[&str]; 3] =
        [&["/home/dev/counted"], &["/home/dev/counted", "the words of e2"], &["the words of e2"]];
    for words in torn {
        let crash = Crash::of(&ledger);
        words.iter().for_each(|words| crash.spoil(words));
        let cursor = u64::from(words.len() == 1 && words[0].ends_with("e2"));
        assert_eq!(crash.harness.open().cursor("w").unwrap(), cursor);
        check_holds(&crash.harness.dir(), "e1");
        let ledger = crash.harness.open();
        ledger.commit(work(cursor, 2)).unwrap();
        assert_eq!(ledger.cursor("w").unwrap(), 2);
    }
}

#[test]
fn a_large_group_is_kept_up_to_the_tear() {
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = harness.open();
    say(&ledger, "e1", 1);
    // One append of several batches, which are synced together.
    let drafts = || {
        let text = |n: u64| format!("number {n:04} {}", "x".repeat(3_000));
        (0..2_000u64).map(move |n| draft(&format!("n{n:04}"), 10 + n, &text(n)))
    };
    ledger.append(new_events(drafts())).unwrap();
    let crash = Crash::of(&ledger);
    crash.spoil("number 1000");
    let again = crash.harness.open();
    let kept = again.last_seq();
    assert!((2..1_001).contains(&kept), "{kept}");
    assert_eq!(read_all(&again, &EventRange::default()).len() as u64, kept);
    let appended = outcomes(&again.append(new_events(drafts())).unwrap());
    let (known, new) = appended.split_at(kept as usize - 1);
    assert!(known.iter().all(|one| *one == Duplicate));
    assert!(new.iter().all(|one| *one == Stored));
    assert_eq!(again.last_seq(), 2_001);
}

/// A sector that never reached the disk reads as zeros, wherever in the batch it was.
#[test]
fn any_lost_sector_costs_the_last_batch_only() {
    const SECTOR: usize = 512;
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = harness.open();
    say(&ledger, "e1", 1);
    let end = Crash::of(&ledger).read().len();
    let drafts = (0..4).map(|n| draft(&format!("n{n}"), 10 + n, &"y".repeat(900)));
    ledger.append(new_events(drafts)).unwrap();
    let whole = Crash::of(&ledger).read();
    for sector in end.div_ceil(SECTOR)..whole.len().div_ceil(SECTOR) {
        let crash = Crash::of(&ledger);
        let mut bytes = whole.clone();
        let until = bytes.len().min((sector + 1) * SECTOR);
        bytes[sector * SECTOR..until].fill(0);
        crash.write(&bytes);
        check_holds(&crash.harness.dir(), "e1");
    }
}

#[test]
fn damage_to_synced_data_is_an_error() {
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = harness.open();
    for (name, at) in [("e1", 1), ("e2", 2), ("e3", 3)] {
        say(&ledger, name, at);
    }
    for name in ["e1", "e2"] {
        let crash = Crash::of(&ledger);
        crash.spoil(&format!("the words of {name}"));
        crash.check_refused();
    }
    // fjall would take this for the end of the journal and cut it.
    let crash = Crash::of(&ledger);
    let mut bytes = crash.read();
    bytes[0] = 0x55;
    crash.write(&bytes);
    crash.check_refused();
}

#[test]
fn only_the_latest_copies_are_kept() {
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = harness.open();
    say(&ledger, "e1", 1);
    let mut crash = Crash::of(&ledger);
    for _ in 0..5 {
        crash.spoil("the words of e1");
        let ledger = crash.harness.open();
        say(&ledger, "e1", 1);
        crash = Crash::of(&ledger);
    }
    let kept = ["torn-3.journal", "torn-4.journal", "torn-5.journal"];
    assert_eq!(crash.torn(), kept);
}

#[test]
fn a_folder_with_content_is_not_treated_as_unfinished() {
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = harness.open();
    say(&ledger, "e1", 1);
    let crash = Crash::of(&ledger);
    let whole = crash.read();
    fs::remove_dir_all(crash.harness.dir().join("fjall/keyspaces")).unwrap();
    check_holds(&crash.harness.dir(), "");
    let aside = crash.harness.dir().join("fjall-aside-1/0.jnl");
    assert_eq!(content(&aside), whole);
}
