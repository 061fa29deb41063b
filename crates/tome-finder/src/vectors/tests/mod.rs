//! Tests of the public API: results compared with a scan of every entry, and damaged files.

mod answers;
mod damage;

use std::sync::Arc;

use tome_model::Millis;

use crate::{
    ByteRange, EmbedError, Embedder, EntryKey, IndexBatch, IndexEntry, RecordKind, StaticEmbedder,
    VectorIndex,
};

/// Parses the text as a list of numbers, which makes vectors predictable.
pub(super) struct Numbers {
    pub(super) dimensions: usize,
}

impl Embedder for Numbers {
    fn name(&self) -> &str {
        "numbers/1"
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let vector = |text: &&str| {
            let numbers = text.split_whitespace().filter_map(|word| word.parse::<f32>().ok());
            let mut numbers: Vec<f32> = numbers.collect();
            numbers.resize(self.dimensions, 0.0);
            let length = numbers.iter().map(|it| it * it).sum::<f32>().sqrt();
            if length > 0.0 {
                numbers.iter_mut().for_each(|it| *it /= length);
            }
            numbers
        };
        Ok(texts.iter().map(vector).collect())
    }
}

pub(super) fn builtin() -> Arc<dyn Embedder> {
    Arc::new(StaticEmbedder)
}

pub(super) fn event(seq: u64, text: &str) -> IndexEntry {
    IndexEntry {
        key: EntryKey::Event(seq),
        range: ByteRange { from: 0, to: u32::try_from(text.len()).unwrap() },
        source: RecordKind::Event,
        at: Millis(1_000 + seq),
        project: "/p".to_owned(),
        session: format!("s{}", seq % 3),
        agent: "claude".to_owned(),
        kind: if seq.is_multiple_of(2) { "user_message" } else { "tool_result" }.to_owned(),
        line: u32::try_from(seq).unwrap() + 1,
        title: String::new(),
        text: text.to_owned(),
        keywords: String::new(),
    }
}

pub(super) fn note(name: &str, part: u32, text: &str) -> IndexEntry {
    IndexEntry {
        key: EntryKey::Named(name.to_owned()),
        range: ByteRange { from: part, to: part + 1 },
        source: RecordKind::Note,
        at: Millis(5_000),
        project: "/p".to_owned(),
        session: String::new(),
        agent: String::new(),
        kind: String::new(),
        line: part,
        title: name.to_owned(),
        text: text.to_owned(),
        keywords: String::new(),
    }
}

pub(super) fn put(entries: Vec<IndexEntry>, cursor: &str) -> IndexBatch {
    IndexBatch { removed: Vec::new(), added: entries, cursor: cursor.to_owned() }
}

pub(super) const SENTENCES: [&str; 8] = [
    "the database migration failed on the staging server",
    "we decided to use tokio for the async runtime",
    "the parser does not handle unicode identifiers",
    "pancakes with maple syrup for breakfast",
    "rename the column before dropping the old table",
    "the tests are flaky because of a race in the socket code",
    "write the changelog entry for the release",
    "我们昨天讨论了数据库的迁移",
];

/// An index with these sentences as events 1, 2, 3 and so on.
pub(super) fn with_sentences(folder: &std::path::Path) -> VectorIndex {
    let index = VectorIndex::create(folder, builtin()).unwrap();
    let events = (1..).zip(SENTENCES).map(|(seq, text)| event(seq, text)).collect();
    index.write(put(events, "8")).unwrap();
    index
}
