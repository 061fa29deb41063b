//! Damage to the files of a fjall store is reported, hides nothing else, and can be repaired.

#![allow(clippy::disallowed_methods, reason = "these tests damage files on purpose")]

use std::fs;
use std::path::{Path, PathBuf};

use tome_ledger::{
    AppendOutcome, EventRange, Ledger, NewEvent, ScanDirection, StorageEngine, repair,
};
use tome_model::{DeliveryId, DeliveryPart, Draft, Event, Millis};

use crate::harness::*;

const COUNT: u64 = 300;

fn drafts() -> Vec<Draft> {
    // Incompressible text, so that the events fill many blocks.
    let text = |n: u64| {
        (0..120)
            .map(|k| format!("{:x} ", (n * 7919 + k * k * 104_729) % 99_991))
            .collect::<String>()
    };
    (1..=COUNT).map(|n| draft(&format!("event-{n:04}"), n, &text(n))).collect()
}

/// A closed store with all data in tables.
fn closed_store() -> Harness {
    let harness = Harness::new(StorageEngine::Fjall);
    let ledger = harness.open();
    for group in drafts().chunks(50) {
        ledger.append(new_events(group.to_vec())).unwrap();
    }
    harness
}

fn second_copies() -> Vec<Event> {
    drafts()
        .into_iter()
        .map(|draft| {
            let name = draft.identity.event_id(0);
            stored(draft, name)
        })
        .collect()
}

fn keyspaces(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> =
        fs::read_dir(dir.join("fjall/keyspaces")).unwrap().map(|it| it.unwrap().path()).collect();
    found.sort();
    found
}

/// The largest table of the store, which contains events.
fn largest_table(dir: &Path) -> PathBuf {
    let tables = keyspaces(dir)
        .into_iter()
        .flat_map(|keyspace| fs::read_dir(keyspace.join("tables")).unwrap());
    tables.map(|it| it.unwrap().path()).max_by_key(|path| path.metadata().unwrap().len()).unwrap()
}

fn spoil_middle(path: &Path, len: usize) {
    let mut bytes = fs::read(path).unwrap();
    // `current` begins with the version number; fjall reads nothing else of it.
    let middle = if path.ends_with("current") { 0 } else { bytes.len() / 2 };
    for byte in &mut bytes[middle..middle + len] {
        *byte = !*byte;
    }
    fs::write(path, bytes).unwrap();
}

/// Repairs a store and checks that everything is back and stays.
fn check_repaired(dir: &Path) {
    let repaired = repair(dir, &mut second_copies().into_iter(), "tally").unwrap();
    assert_eq!((repaired.kept + repaired.restored, repaired.lost), (COUNT, 0), "{repaired:?}");
    assert!(repaired.set_aside.is_dir());
    let ledger = Ledger::open(dir).unwrap();
    assert_eq!(ledger.damage(), Vec::<String>::new());
    assert_eq!(ledger.verify().unwrap(), Vec::<String>::new());
    let all: Vec<Event> = read_all(&ledger, &EventRange::default());
    assert_eq!(all, second_copies());
    let again = ledger.append(new_events(drafts())).unwrap();
    assert!(again.iter().all(|one| one.outcome == AppendOutcome::Duplicate));
}

#[test]
fn an_intact_store_is_not_reported_as_damaged() {
    let harness = closed_store();
    for _ in 0..3 {
        let ledger = harness.open();
        assert_eq!(ledger.damage(), Vec::<String>::new());
        assert_eq!(ledger.verify().unwrap(), Vec::<String>::new());
        ledger.compact().unwrap();
    }
    let ledger = harness.open();
    assert_eq!((ledger.verify().unwrap(), ledger.last_seq()), (vec![], COUNT));
}

#[test]
fn a_bad_block_hides_only_its_own_events() {
    let harness = closed_store();
    spoil_middle(&largest_table(&harness.dir()), 20);
    let ledger = harness.open();
    let forward = read_all(&ledger, &EventRange::default()).len() as u64;
    assert!(forward < COUNT && forward > COUNT * 8 / 10, "{forward}");
    let damage = ledger.damage().join("; ");
    assert!(damage.contains("events: a block does not match its checksum"), "{damage}");
    let backward = EventRange { direction: ScanDirection::Backward, ..EventRange::default() };
    assert_eq!(read_all(&ledger, &backward).len() as u64, forward);
    let of_session = EventRange { session: Some(session("s1")), ..EventRange::default() };
    assert_eq!(read_all(&ledger, &of_session).len() as u64, forward);
    // The last events come after the bad block and are readable.
    let last = ledger.event(&id(&format!("event-{COUNT:04}"))).unwrap();
    assert!(last.is_some());
    let lost =
        (1..=COUNT).map(|n| id(&format!("event-{n:04}"))).find(|id| ledger.event(id).is_err());
    let error = ledger.event(&lost.unwrap()).unwrap_err();
    assert!(error.to_string().contains("damaged or missing"), "{error}");
    // It still accepts events.
    let more = ledger.append(new_events([draft("one-more", 5_000, "x")])).unwrap();
    assert_eq!(outcomes(&more), [AppendOutcome::Stored]);
    assert!(!ledger.verify().unwrap().is_empty());
}

#[test]
fn a_bad_block_is_repaired_from_second_copies() {
    let harness = closed_store();
    spoil_middle(&largest_table(&harness.dir()), 20);
    check_repaired(&harness.dir());
}

#[test]
fn a_repair_without_second_copies_reports_lost_events() {
    let harness = closed_store();
    spoil_middle(&largest_table(&harness.dir()), 20);
    let repaired = repair(&harness.dir(), &mut std::iter::empty(), "tally").unwrap();
    assert_eq!((repaired.kept + repaired.lost, repaired.restored), (COUNT, 0));
    assert!(repaired.lost > 0);
    let ledger = harness.open();
    // The loss is recorded and is not reported again.
    assert_eq!(ledger.damage(), Vec::<String>::new());
    assert_eq!(ledger.last_seq(), COUNT);
    let more = ledger.append(new_events([draft("one-more", 5_000, "x")])).unwrap();
    assert_eq!(outcomes(&more), [AppendOutcome::Stored]);
    drop(ledger);
    assert_eq!(harness.open().damage(), Vec::<String>::new());
}

/// A delivery that arrives again after a repair brings back its lost event, and no other twice.
#[test]
fn a_lost_event_can_be_delivered_again_after_a_repair() {
    let deliveries = || -> Vec<NewEvent> {
        let parts = (1..=COUNT)
            .map(|n| DeliveryPart { id: DeliveryId::new(Millis(ARRIVED.0 + n), [5; 10]), part: 0 });
        new_events(drafts())
            .into_iter()
            .zip(parts)
            .map(|(event, part)| event.with_delivery(Some(part)))
            .collect()
    };
    let harness = Harness::new(StorageEngine::Fjall);
    harness.open().append(deliveries()).unwrap();
    spoil_middle(&largest_table(&harness.dir()), 20);
    let repaired = repair(&harness.dir(), &mut std::iter::empty(), "tally").unwrap();
    assert!(repaired.lost > 0);
    let ledger = harness.open();
    let again = ledger.append(deliveries()).unwrap();
    let stored = again.iter().filter(|one| one.outcome == AppendOutcome::Stored).count();
    assert_eq!(stored as u64, repaired.lost);
    assert_eq!(read_all(&ledger, &EventRange::default()), second_copies());
}

/// Whatever is deleted or damaged, the loss is reported, and a repair restores everything.
#[test]
fn every_deleted_or_corrupted_file_is_detected() {
    let whole = closed_store();
    drop(whole.open());
    let mut files = Vec::new();
    for keyspace in keyspaces(&whole.dir()) {
        files.push(keyspace.clone());
        files.push(keyspace.join("current"));
        files.extend(fs::read_dir(keyspace.join("tables")).unwrap().map(|it| it.unwrap().path()));
        // Versions before the current one remain on disk.
        let current = fs::read(keyspace.join("current")).unwrap();
        let version = u64::from_le_bytes(current[..8].try_into().unwrap());
        files.push(keyspace.join(format!("v{version}")));
    }
    files.push(whole.dir().join("fjall/keyspaces"));
    files.push(whole.dir().join("fjall"));
    assert!(files.len() > 15, "{files:?}");
    for file in files {
        let inside = file.strip_prefix(whole.dir()).unwrap();
        for is_deleted in [true, false] {
            let harness = Harness::new(StorageEngine::Fjall);
            copy_dir(&whole.dir(), &harness.dir());
            let target = harness.dir().join(inside);
            match (is_deleted, target.is_dir()) {
                (true, true) => fs::remove_dir_all(&target).unwrap(),
                (true, false) => fs::remove_file(&target).unwrap(),
                (false, true) => continue,
                (false, false) => {
                    let len = target.metadata().unwrap().len().min(16) as usize / 2;
                    spoil_middle(&target, len.max(1));
                }
            }
            let is_noticed = match Ledger::open(&harness.dir()) {
                Err(_) => true,
                Ok(ledger) => {
                    let is_whole = read_all(&ledger, &EventRange::default()).len() as u64 == COUNT;
                    !ledger.damage().is_empty()
                        || (is_whole && !ledger.verify().unwrap().is_empty())
                }
            };
            let done = if is_deleted { "deleted" } else { "spoiled" };
            assert!(is_noticed, "{} {done}", inside.display());
            check_repaired(&harness.dir());
        }
    }
}

#[test]
fn an_unexpected_folder_is_named_in_the_error() {
    let harness = closed_store();
    fs::create_dir(harness.dir().join("fjall/keyspaces/backup")).unwrap();
    let error = open_error(&harness.dir(), None);
    let text = std::error::Error::source(&error).unwrap().to_string();
    assert!(text.contains("keyspaces/backup does not belong there"), "{text}");
}

#[test]
fn an_interrupted_repair_is_finished_by_the_next_open() {
    let harness = closed_store();
    let dir = harness.dir();
    // The state after the first of the two renames.
    fs::rename(&dir, dir.with_file_name("ledger-repairing")).unwrap();
    fs::write(dir.with_file_name("ledger-repairing").join("COMPLETE"), b"").unwrap();
    assert_eq!(harness.open().last_seq(), COUNT);
    assert!(!dir.join("COMPLETE").exists());
}

#[test]
fn damage_in_the_middle_of_the_journal_is_repaired() {
    let harness = Harness::new(StorageEngine::Fjall);
    let crashed = Harness::new(StorageEngine::Fjall);
    {
        let ledger = harness.open();
        for group in drafts().chunks(50) {
            ledger.append(new_events(group.to_vec())).unwrap();
        }
        copy_dir(ledger.path(), &crashed.dir());
    }
    let journal = crashed.dir().join("fjall/0.jnl");
    let mut bytes = fs::read(&journal).unwrap();
    let at = bytes.windows(10).position(|window| window == b"event-0170").unwrap();
    bytes[at] = b'#';
    fs::write(&journal, bytes).unwrap();
    assert!(Ledger::open(&crashed.dir()).is_err());
    // All but one batch are readable, and that one has second copies.
    let repaired = repair(&crashed.dir(), &mut second_copies().into_iter(), "tally").unwrap();
    assert_eq!((repaired.kept, repaired.restored, repaired.lost), (COUNT - 50, 50, 0));
    let ledger = Ledger::open(&crashed.dir()).unwrap();
    assert_eq!(read_all(&ledger, &EventRange::default()), second_copies());
}
