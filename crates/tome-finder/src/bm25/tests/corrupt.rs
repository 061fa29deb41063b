//! Damaged files are reported.

use std::fs;

use super::*;

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

fn some(words: &Bm25Index) {
    for seq in 0..20 {
        words.write(put(vec![event(seq, "some words of an event")], &seq.to_string())).unwrap();
    }
    words
        .write(IndexBatch {
            removed: vec!["n".into()],
            added: vec![note("n", "some words of a note")],
            cursor: "end".into(),
        })
        .unwrap();
    words
        .write(IndexBatch { removed: vec!["n".into()], added: vec![], cursor: "end".into() })
        .unwrap();
}

#[test]
fn opening_an_absent_or_empty_folder_reports_missing() {
    let fixture = Fixture::new();
    assert!(matches!(fixture.open(), Err(FinderError::Missing(_))));
    fs::create_dir_all(fixture.folder()).unwrap();
    assert!(matches!(fixture.open(), Err(FinderError::Missing(_))));
}

#[test]
fn creating_an_index_replaces_existing_files() {
    let fixture = Fixture::new();
    fs::create_dir_all(fixture.folder().join("foreign")).unwrap();
    fixture.make();
    assert!(!fixture.folder().join("foreign").exists());
    fs::remove_dir_all(fixture.folder()).unwrap();
    fs::File::create(fixture.folder()).unwrap();
    let words = fixture.make();
    assert_eq!((words.cursor().as_str(), words.entry_count()), ("", 0));
    assert!(words.is_intact());
}

#[test]
fn missing_truncated_and_overwritten_files_are_detected() {
    let fixture = Fixture::new();
    let words = fixture.make();
    some(&words);
    while !words.release_writer().unwrap() {}
    let expected = ask(&words, "some words");
    drop(words);
    for file in files(&fixture.folder()) {
        let name = file.file_name().unwrap();
        for change in ["missing", "empty", "half", "garbage"] {
            let other = Fixture::new();
            copy(&fixture.folder(), &other.folder());
            let path = other.folder().join(name);
            let bytes = fs::read(&path).unwrap();
            let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
            match change {
                "missing" => fs::remove_file(&path).unwrap(),
                "empty" => file.set_len(0).unwrap(),
                "half" => file.set_len(bytes.len() as u64 / 2).unwrap(),
                _ => fs::copy(std::env::current_exe().unwrap(), &path).map(|_| ()).unwrap(),
            }
            // Reported, or harmless: never a different result, never a panic.
            match other.open() {
                Ok(words) => {
                    let found = words.search(
                        &Bm25Query { text: "some words".into() },
                        &EntryFilter::default(),
                        100,
                    );
                    if let Ok(found) = found {
                        assert_eq!(found, expected, "{name:?} {change}");
                    }
                }
                Err(FinderError::Missing(_) | FinderError::Damaged { .. }) => {}
                Err(other) => panic!("{name:?} {change}: {other}"),
            }
        }
    }
}

#[test]
fn a_single_changed_byte_is_detected() {
    let fixture = Fixture::new();
    let words = fixture.make();
    some(&words);
    while !words.release_writer().unwrap() {}
    drop(words);
    let is_checked = |file: &&PathBuf| file.extension().is_none_or(|ending| ending != "lock");
    for file in files(&fixture.folder()).iter().filter(is_checked) {
        let whole = fs::read(file).unwrap();
        for at in (0..whole.len()).step_by(whole.len() / 7 + 1).chain([whole.len() - 1]) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x10;
            std::io::Write::write_all(&mut fs::File::create(file).unwrap(), &bytes).unwrap();
            let name = file.file_name().unwrap();
            assert!(
                matches!(fixture.open(), Err(FinderError::Damaged { .. })),
                "{name:?} at {at} of {}",
                whole.len()
            );
        }
        std::io::Write::write_all(&mut fs::File::create(file).unwrap(), &whole).unwrap();
    }
    assert_eq!(fixture.open().unwrap().entry_count(), 20);
}

#[test]
fn truncating_files_of_an_open_index_does_not_crash() {
    let fixture = Fixture::new();
    let words = fixture.make();
    // Long postings lists are read from disk on demand.
    let many = |seq: u64| {
        let text: String = (0..800).map(|n| format!("w{} ", (seq * 7 + n) % 2_000)).collect();
        event(seq, &format!("every {text}"))
    };
    words.write(put((0..250).map(many).collect(), "end")).unwrap();
    while !words.release_writer().unwrap() {}
    let lists = files(&fixture.folder());
    let lists = lists.iter().filter(|file| file.extension().is_some_and(|of| of == "idx"));
    assert!(lists.map(|file| fs::metadata(file).unwrap().len()).max().unwrap() > 256 << 10);
    assert_eq!(ask(&words, "every").len(), 100);
    for file in files(&fixture.folder()) {
        fs::OpenOptions::new().write(true).open(file).unwrap().set_len(100).unwrap();
    }
    assert!(!words.is_intact());
    let query = Bm25Query { text: "every w77 w1888".into() };
    let answered = words.search(&query, &EntryFilter::default(), 100);
    assert!(matches!(answered, Err(FinderError::Damaged { .. })), "{answered:?}");
    assert!(words.write(put(vec![event(9_999, "more")], "more")).is_err());
}

#[test]
fn the_index_stays_readable_during_writes() {
    let fixture = Fixture::new();
    let words = fixture.make();
    let is_done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for seq in 0..12 {
                words.write(put(vec![event(seq, "one more")], &seq.to_string())).unwrap();
            }
            is_done.store(true, std::sync::atomic::Ordering::Release);
        });
        while !is_done.load(std::sync::atomic::Ordering::Acquire) {
            assert!(words.is_intact());
        }
    });
}

#[test]
fn foreign_files_are_ignored() {
    let fixture = Fixture::new();
    let words = fixture.make();
    some(&words);
    std::io::Write::write_all(&mut fs::File::create(fixture.folder().join("x.idx")).unwrap(), b"?")
        .unwrap();
    fs::create_dir(fixture.folder().join("y")).unwrap();
    assert!(words.is_intact());
    drop(words);
    let words = fixture.open().unwrap();
    some(&words);
    assert_eq!(ask(&words, "words").len(), 40);
}

#[test]
fn an_index_of_another_scheme_is_damaged() {
    let fixture = Fixture::new();
    drop(fixture.make());
    let meta = fixture.folder().join(META);
    let text = fs::read_to_string(&meta).unwrap();
    let other = text.replace("\\\"cut\\\":", "\\\"cut\\\":9");
    assert_ne!(text, other);
    std::io::Write::write_all(&mut fs::File::create(&meta).unwrap(), other.as_bytes()).unwrap();
    assert!(matches!(fixture.open(), Err(FinderError::Damaged { .. })));
}

#[test]
fn an_open_index_detects_deleted_files_and_still_answers() {
    let fixture = Fixture::new();
    let words = fixture.make();
    some(&words);
    while !words.release_writer().unwrap() {}
    assert!(words.is_intact());
    let before = ask(&words, "some words");
    let gone = files(&fixture.folder())
        .into_iter()
        .find(|file| file.extension().is_some_and(|ending| ending == "term"));
    fs::remove_file(gone.unwrap()).unwrap();
    assert!(!words.is_intact());
    fs::remove_dir_all(fixture.folder()).unwrap();
    assert!(!words.is_intact());
    assert_eq!(ask(&words, "some words"), before);
    assert!(words.write(put(vec![event(99, "more")], "more")).is_err());
    assert_eq!(words.cursor(), "end");
}

#[cfg(unix)]
#[test]
fn index_files_are_readable_by_the_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let fixture = Fixture::new();
    let words = fixture.make();
    some(&words);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&fixture.folder()), 0o700);
    for file in files(&fixture.folder()) {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[test]
fn uncommitted_entries_are_dropped_and_leave_no_lock() {
    let fixture = Fixture::new();
    let words = fixture.make();
    words.write(put(vec![event(1, "first")], "1")).unwrap();
    // As after a kill: the folder while a writer is open, plus a partially written file.
    let killed = Fixture::new();
    copy(&fixture.folder(), &killed.folder());
    fs::File::create(killed.folder().join("0123456789abcdef0123456789abcdef.idx")).unwrap();
    let again = killed.open().unwrap();
    assert_eq!(again.cursor(), "1");
    again.write(put(vec![event(2, "second")], "2")).unwrap();
    assert_eq!(seqs(&again, "first second"), [1, 2]);
    assert_eq!(seqs(&words, "first second"), [1]);
}

#[test]
fn many_small_writes_make_few_segments() {
    let fixture = Fixture::new();
    let words = fixture.make();
    for seq in 0..40 {
        let gone = if seq % 3 == 0 { vec!["n".to_owned()] } else { vec![] };
        let put = vec![event(seq, "one more"), note("n", "replaced")];
        words.write(IndexBatch { removed: gone, added: put, cursor: seq.to_string() }).unwrap();
    }
    while !words.release_writer().unwrap() {}
    assert!(words.snapshot().segments.len() < 5, "{}", words.snapshot().segments.len());
    assert_eq!(words.entry_count(), 41);
    assert!(words.is_intact());
    let segments = files(&fixture.folder())
        .iter()
        .filter(|file| file.extension().is_some_and(|of| of == "idx"))
        .count();
    assert!(segments < 5, "{segments}");
    drop(words);
    assert_eq!(fixture.open().unwrap().entry_count(), 41);
}
