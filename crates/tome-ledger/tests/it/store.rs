//! The store's directory: lock, engine and format.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use tome_ledger::{EventRange, Ledger, LedgerError, StorageEngine};

use crate::harness::*;

on_every_engine!(
    an_open_ledger_is_locked,
    a_closed_ledger_can_be_opened_at_once,
    starting_child_processes_do_not_keep_the_lock,
    the_recorded_engine_is_the_default,
    the_other_engine_is_refused,
    a_newer_format_is_refused,
    a_damaged_description_is_refused,
    an_interrupted_creation_is_resumed,
    events_survive_a_copy_of_the_open_store,
);

fn description(dir: &Path) -> String {
    fs::read_to_string(dir.join("STORE")).unwrap()
}

fn describe(dir: &Path, text: impl AsRef<[u8]>) {
    use std::io::Write;
    let mut file = fs::File::create(dir.join("STORE")).unwrap();
    file.write_all(text.as_ref()).unwrap();
}

fn an_open_ledger_is_locked(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let ledger = harness.open();
    assert_eq!((ledger.path(), ledger.engine()), (harness.dir().as_path(), engine));
    let error = open_error(&harness.dir(), None);
    assert!(matches!(error, LedgerError::Locked { .. }), "{error}");
    assert!(error.to_string().contains(harness.dir().to_str().unwrap()), "{error}");
}

fn a_closed_ledger_can_be_opened_at_once(engine: StorageEngine) {
    let harness = Harness::new(engine);
    for round in 0..5 {
        let ledger = harness.open();
        assert_eq!(ledger.last_seq(), round);
        ledger.append(new_events([draft(&format!("e{round}"), round, "x")])).unwrap();
    }
}

fn starting_child_processes_do_not_keep_the_lock(engine: StorageEngine) {
    let harness = Harness::new(engine);
    drop(harness.open());
    let starting = AtomicBool::new(true);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            // A child has a copy of every open file until it runs its program.
            scope.spawn(|| {
                let program = std::env::current_exe().unwrap();
                while starting.load(Ordering::Relaxed) {
                    let mut child = Command::new(&program);
                    child.arg("--list").stdout(Stdio::null());
                    child.status().unwrap();
                }
            });
        }
        let opened: Vec<_> = (0..40).map(|_| Ledger::open(&harness.dir()).map(drop)).collect();
        starting.store(false, Ordering::Relaxed);
        assert!(opened.iter().all(Result::is_ok), "{opened:?}");
    });
}

fn the_recorded_engine_is_the_default(engine: StorageEngine) {
    let harness = Harness::new(engine);
    drop(harness.open());
    let text = description(&harness.dir());
    assert!(text.contains(&format!("engine = \"{engine}\"")) && text.contains("format = 1"));
    assert_eq!(Ledger::open(&harness.dir()).unwrap().engine(), engine);
}

fn the_other_engine_is_refused(engine: StorageEngine) {
    let harness = Harness::new(engine);
    drop(harness.open());
    let other = match engine {
        StorageEngine::Fjall => StorageEngine::RocksDb,
        StorageEngine::RocksDb => StorageEngine::Fjall,
    };
    let error = open_error(&harness.dir(), Some(other));
    assert!(matches!(error, LedgerError::WrongEngine { .. }), "{error}");
    assert!(error.to_string().ends_with(&format!("open it with {engine}")), "{error}");
    assert_eq!(harness.open().last_seq(), 0);
}

fn a_newer_format_is_refused(engine: StorageEngine) {
    let harness = Harness::new(engine);
    drop(harness.open());
    describe(&harness.dir(), "how = \"unheard of\"\nformat = 2\n");
    let error = open_error(&harness.dir(), None);
    assert!(matches!(error, LedgerError::NewerFormat { found: 2, known: 1, .. }), "{error}");
    assert!(error.to_string().contains("upgrade Tome"), "{error}");
}

fn a_damaged_description_is_refused(engine: StorageEngine) {
    let harness = Harness::new(engine);
    harness.open().append(new_events([draft("e", 1, "x")])).unwrap();
    let whole = description(&harness.dir());
    let damaged: [&[u8]; 6] = [
        b"",
        b"\xff\xfe\x00",
        b"engine = \"fjall\"\n",
        b"format = 1\n",
        b"format = 0\nengine = \"fjall\"\n",
        b"format = 1\nengine = \"leveldb\"\n",
    ];
    for text in damaged {
        describe(&harness.dir(), text);
        let error = open_error(&harness.dir(), None);
        assert!(matches!(error, LedgerError::DamagedFile { .. }), "{text:?}: {error}");
        assert!(error.to_string().contains("STORE is damaged"), "{error}");
    }
    // Nothing else was changed.
    describe(&harness.dir(), whole);
    assert_eq!(harness.open().last_seq(), 1);
}

fn an_interrupted_creation_is_resumed(engine: StorageEngine) {
    // Only the description; only a half-written one; and the first of the engine's files as well.
    let whole = {
        let harness = Harness::new(engine);
        drop(harness.open());
        description(&harness.dir())
    };
    let cuts: [&dyn Fn(&Path); 4] = [
        &|dir| describe(dir, &whole),
        &|dir| drop(fs::File::create(dir.join("STORE.new")).unwrap()),
        &|dir| {
            describe(dir, &whole);
            fs::create_dir(dir.join(engine.as_str())).unwrap();
            drop(fs::File::create(dir.join(engine.as_str()).join("lock")).unwrap());
        },
        &|dir| {
            if engine == StorageEngine::Fjall {
                describe(dir, &whole);
                fs::create_dir_all(dir.join("fjall/keyspaces")).unwrap();
                for name in ["lock", "0.jnl", "version"] {
                    drop(fs::File::create(dir.join("fjall").join(name)).unwrap());
                }
            }
        },
    ];
    for cut in cuts {
        let harness = Harness::new(engine);
        fs::create_dir(harness.dir()).unwrap();
        cut(&harness.dir());
        harness.open().append(new_events([draft("e", 1, "x")])).unwrap();
        assert_eq!(ids_of(&harness.open(), &EventRange::default()), "e");
    }
}

/// The files of an open ledger are what a killed process leaves behind.
fn events_survive_a_copy_of_the_open_store(engine: StorageEngine) {
    let harness = Harness::new(engine);
    let crashed = Harness::new(engine);
    let ledger = harness.open();
    let drafts = |from: u64| (from..from + 100).map(|n| draft(&format!("e{n}"), n, "said"));
    ledger.append(new_events(drafts(0))).unwrap();
    ledger.flush().unwrap();
    ledger.append(new_events(drafts(100))).unwrap();
    let before = read_all(&ledger, &EventRange::default());
    copy_dir(&harness.dir(), &crashed.dir());
    drop(ledger);
    let ledger = crashed.open();
    assert_eq!(read_all(&ledger, &EventRange::default()), before);
    assert_eq!(ledger.last_seq(), 200);
    assert!(ledger.append(new_events(drafts(0))).is_ok());
    assert_eq!(ledger.last_seq(), 200);
}

/// Backup tools copy sparse files in full length.
#[test]
fn a_new_store_is_small_and_grows_with_its_events() {
    let harness = Harness::new(StorageEngine::Fjall);
    let crashed = Harness::new(StorageEngine::Fjall);
    let ledger = harness.open();
    ledger.append(new_events([draft("first", 0, "said")])).unwrap();
    let length = length_of(&harness.dir());
    assert!(length < 2 << 20, "{length} bytes for one event");
    // Past the length that the journal began with, not flushed, and hard to compress.
    let word = |n: u64| format!("{:x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    for n in 0..200 {
        let text: String = (n * 1_000..(n + 1) * 1_000).map(word).collect();
        ledger.append(new_events([draft(&format!("e{n}"), n, &text)])).unwrap();
    }
    assert!(length_of(&harness.dir()) > length, "the journal did not grow");
    let before = read_all(&ledger, &EventRange::default());
    copy_dir(&harness.dir(), &crashed.dir());
    assert_eq!(read_all(&crashed.open(), &EventRange::default()), before);
    assert_eq!(before.len(), 201);
}

fn length_of(dir: &Path) -> u64 {
    let length = |entry: fs::DirEntry| match entry.metadata().unwrap() {
        meta if meta.is_dir() => length_of(&entry.path()),
        meta => meta.len(),
    };
    fs::read_dir(dir).unwrap().map(|entry| length(entry.unwrap())).sum()
}

#[test]
fn a_path_that_is_a_file_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("file");
    drop(fs::File::create(&path).unwrap());
    for path in [path.clone(), path.join("below")] {
        let error = open_error(&path, None);
        assert!(matches!(error, LedgerError::NotADirectory { .. }), "{error}");
        assert!(error.to_string().contains(path.to_str().unwrap()), "{error}");
    }
}

#[cfg(not(feature = "rocksdb"))]
#[test]
fn an_unavailable_engine_is_named_in_the_error() {
    let home = tempfile::tempdir().unwrap();
    let error = open_error(home.path(), Some(StorageEngine::RocksDb)).to_string();
    assert!(error.ends_with("use a build with the cargo feature `rocksdb`"), "{error}");
    describe(home.path(), "engine = \"rocksdb\"\nformat = 1\n");
    let error = open_error(home.path(), None);
    assert!(matches!(error, LedgerError::EngineUnavailable { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn store_files_are_readable_by_the_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let harness = Harness::new(StorageEngine::DEFAULT);
    drop(harness.open());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&harness.dir()), 0o700);
    assert_eq!(mode(&harness.dir().join("STORE")), 0o600);
}
