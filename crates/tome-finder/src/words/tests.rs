//! Tests of the public API.

mod corrupt;
mod model;
mod search;

use std::path::Path;

use tome_model::Millis;

use super::*;
use crate::{Entry, Key, Part, Source};

/// A temporary folder for an index.
struct Scene {
    home: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        Self { home: tempfile::tempdir().unwrap() }
    }
    fn folder(&self) -> PathBuf {
        self.home.path().join("finder").join("bm25")
    }
    fn make(&self) -> Words {
        Words::make(&self.folder()).unwrap()
    }
    fn open(&self) -> Result<Words, FinderError> {
        Words::open(&self.folder())
    }
}

fn event(seq: u64, text: &str) -> Entry {
    Entry {
        key: Key::Event(seq),
        part: Part { from: 0, to: u32::try_from(text.len()).unwrap() },
        source: Source::Event,
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

fn note(name: &str, text: &str) -> Entry {
    Entry {
        key: Key::Named(name.into()),
        source: Source::Note,
        session: String::new(),
        agent: String::new(),
        kind: String::new(),
        ..event(0, text)
    }
}

fn put(put: Vec<Entry>, cursor: &str) -> Batch {
    Batch { gone: vec![], put, cursor: cursor.into() }
}

fn ask(words: &Words, text: &str) -> Vec<Found> {
    words.search(&WordsQuery { text: text.into() }, &Filter::default(), 100).unwrap()
}

fn keys(found: &[Found]) -> Vec<Key> {
    found.iter().map(|found| found.key.clone()).collect()
}

fn seqs(words: &Words, text: &str) -> Vec<u64> {
    let found = ask(words, text);
    found.iter().map(|found| if let Key::Event(seq) = found.key { seq } else { 0 }).collect()
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}
