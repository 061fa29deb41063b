//! Tests of the public API.

mod corrupt;
mod model;
mod search;

use std::path::Path;

use tome_model::Millis;

use super::*;
use crate::{ByteRange, EntryKey, IndexEntry, RecordKind};

/// A temporary folder for an index.
struct Fixture {
    home: tempfile::TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }
    fn folder(&self) -> PathBuf {
        self.home.path().join("finder").join("bm25")
    }
    fn make(&self) -> Bm25Index {
        Bm25Index::create(&self.folder()).unwrap()
    }
    fn open(&self) -> Result<Bm25Index, FinderError> {
        Bm25Index::open(&self.folder())
    }
}

fn event(seq: u64, text: &str) -> IndexEntry {
    IndexEntry {
        key: EntryKey::Event(seq),
        range: ByteRange { from: 0, to: u32::try_from(text.len()).unwrap() },
        source: RecordKind::Event,
        at: Millis(1_000 + seq),
        project: "/p".into(),
        session: "s".into(),
        agent: "a".into(),
        kind: "user_message".into(),
        line: u32::try_from(seq).unwrap(),
        title: String::new(),
        text: text.into(),
        keywords: String::new(),
    }
}

fn note(name: &str, text: &str) -> IndexEntry {
    IndexEntry {
        key: EntryKey::Named(name.into()),
        source: RecordKind::Note,
        session: String::new(),
        agent: String::new(),
        kind: String::new(),
        ..event(0, text)
    }
}

fn put(put: Vec<IndexEntry>, cursor: &str) -> IndexBatch {
    IndexBatch { removed: vec![], added: put, cursor: cursor.into() }
}

fn ask(words: &Bm25Index, text: &str) -> Vec<IndexHit> {
    words.search(&Bm25Query { text: text.into() }, &EntryFilter::default(), 100).unwrap()
}

fn keys(found: &[IndexHit]) -> Vec<EntryKey> {
    found.iter().map(|found| found.key.clone()).collect()
}

fn seqs(words: &Bm25Index, text: &str) -> Vec<u64> {
    let found = ask(words, text);
    found.iter().map(|found| if let EntryKey::Event(seq) = found.key { seq } else { 0 }).collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}
