//! Search results, compared with a plain implementation.

use std::collections::HashMap;
use std::sync::Arc;

use proptest::prelude::*;
use tempfile::TempDir;
use tome_model::Millis;

use super::{Numbers, SENTENCES, builtin, event, note, put, with_sentences};
use crate::{
    ByteRange, Embedder, EntryFilter, EntryKey, IndexBatch, IndexEntry, IndexHit, RecordKind,
    StaticEmbedder, VectorIndex,
};

fn keys(found: &[IndexHit]) -> Vec<EntryKey> {
    found.iter().map(|found| found.key.clone()).collect()
}

fn search_by_vector(
    index: &VectorIndex,
    vector: &[f32],
    filter: &EntryFilter,
    limit: usize,
) -> Vec<IndexHit> {
    index.search_by_similarity(&index.prepare_query_vector(vector).unwrap(), filter, limit).unwrap()
}

#[test]
fn a_paraphrase_is_found() {
    let folder = TempDir::new().unwrap();
    let index = with_sentences(&folder.path().join("vectors"));
    let found = index.search("async library choice", &EntryFilter::default(), 2).unwrap();
    let first = found.first().unwrap();
    assert_eq!(first.key, EntryKey::Event(2));
    assert_eq!((first.at, first.line, first.source), (Millis(1_002), 3, RecordKind::Event));
    assert_eq!(first.range, event(2, SENTENCES[1]).range);
    assert_eq!(found.len(), 2);
    assert_eq!(index.entry_count(), 8);
    assert_eq!(index.cursor(), "8");
}

#[test]
fn an_empty_query_or_index_finds_nothing() {
    let folder = TempDir::new().unwrap();
    let empty = VectorIndex::create(&folder.path().join("empty"), builtin()).unwrap();
    assert_eq!(empty.search("anything", &EntryFilter::default(), 5).unwrap(), []);
    let index = with_sentences(&folder.path().join("vectors"));
    for text in ["", "  \n", "\0\u{1}", &"x".repeat(100_000)] {
        assert_eq!(index.search(text, &EntryFilter::default(), 5).unwrap(), [], "{text:.20?}");
    }
    assert_eq!(index.search("tokio", &EntryFilter::default(), 0).unwrap(), []);
    assert!(index.search("tokio", &EntryFilter::default(), usize::MAX).unwrap().len() <= 8);
}

#[test]
fn event_similarity_equals_the_score_of_a_search() {
    let folder = TempDir::new().unwrap();
    let index = with_sentences(&folder.path().join("vectors"));
    let long: Vec<IndexEntry> = (0..20)
        .map(|n: u32| IndexEntry {
            range: ByteRange { from: n, to: n + 1 },
            ..event(9, SENTENCES[n as usize % SENTENCES.len()])
        })
        .collect();
    index.write(put(long, "9")).unwrap();
    index.write(put(vec![event(10, ""), event(11, SENTENCES[1])], "11")).unwrap();
    let query_vector = index.embed_query("which async runtime").unwrap();
    let found = index.search_vector(&query_vector, &EntryFilter::default(), 99).unwrap();
    // Same scores as the search; an event with many chunks is compared by the named ones only.
    for seq in 1..=11 {
        let named = [ByteRange { from: 1, to: 2 }, ByteRange { from: 9, to: 10 }];
        let similar = index.event_similarity(&query_vector, seq, &named).unwrap();
        let is_compared = |one: &&IndexHit| {
            one.key == EntryKey::Event(seq) && (seq != 9 || named.contains(&one.range))
        };
        let searched: Vec<IndexHit> = found.iter().filter(is_compared).cloned().collect();
        assert_eq!(similar, searched, "{seq}");
    }
    assert_eq!(index.event_similarity(&query_vector, 9, &[]).unwrap(), []);
    assert_eq!(index.event_similarity(&query_vector, 12, &[]).unwrap(), []);
    assert!(!index.event_similarity(&query_vector, 11, &[]).unwrap().is_empty());
}

#[test]
fn an_entry_without_a_vector_is_kept_and_never_found() {
    let folder = TempDir::new().unwrap();
    let index = VectorIndex::create(folder.path(), builtin()).unwrap();
    index.write(put(vec![event(1, ""), note("n", 0, "")], "")).unwrap();
    index.write(put(vec![event(2, "\u{1}\u{2}"), event(3, "a kitchen table")], "")).unwrap();
    assert_eq!(index.entry_count(), 4);
    let found = index.search("the table in a kitchen", &EntryFilter::default(), 9).unwrap();
    assert!(
        !keys(&found).contains(&EntryKey::Event(1)) && !keys(&found).contains(&EntryKey::Event(2))
    );
    assert!(keys(&found).contains(&EntryKey::Event(3)));
}

#[test]
fn a_named_entry_can_be_replaced_and_removed() {
    let folder = TempDir::new().unwrap();
    let index = VectorIndex::create(folder.path(), builtin()).unwrap();
    let write = |gone: &[&str], entries: Vec<IndexEntry>| {
        let gone = gone.iter().map(|name| (*name).to_owned()).collect();
        index.write(IndexBatch { removed: gone, added: entries, cursor: String::new() }).unwrap();
    };
    write(
        &[],
        vec![note("a", 0, "boats and sails"), note("a", 1, "harbours"), note("b", 0, "trees")],
    );
    write(&["a", "a", "unknown"], vec![note("a", 0, "mountains")]);
    assert_eq!(
        index.list_named(),
        [("a".to_owned(), Millis(5_000)), ("b".to_owned(), Millis(5_000))]
    );
    assert_eq!(index.entry_count(), 2);
    let found = index.search("sailing boats", &EntryFilter::default(), 9).unwrap();
    assert!(found.iter().all(|found| found.range.from == 0), "{found:?}");
    write(&["a"], Vec::new());
    assert_eq!(index.list_named(), [("b".to_owned(), Millis(5_000))]);
    let found = index.search("a mountain of trees", &EntryFilter::default(), 9).unwrap();
    assert_eq!(keys(&found), [EntryKey::Named("b".to_owned())]);
}

#[test]
fn rare_tokens_of_the_index_weigh_more_in_a_query() {
    let folder = TempDir::new().unwrap();
    let index = VectorIndex::create(folder.path(), builtin()).unwrap();
    let texts = ["we went camping", "my violin lesson", "the dog is ill", "a new job at the bank"];
    let events = (0..80).zip(texts.iter().cycle());
    let events = events.map(|(seq, text)| event(seq, &format!("Caroline: {text}")));
    index.write(put(events.collect(), "")).unwrap();
    let found = index.search("Caroline's music", &EntryFilter::default(), 10).unwrap();
    let violin: Vec<_> = (0..10).map(|i| EntryKey::Event(i * 4 + 1)).collect();
    assert_eq!(keys(&found), violin);
}

#[test]
fn a_selective_filter_still_finds_its_matches() {
    let folder = TempDir::new().unwrap();
    let index = VectorIndex::create(folder.path(), builtin()).unwrap();
    let mut entries: Vec<_> = (0..3_000).map(|seq| event(seq, "the sea and the ships")).collect();
    let mut far = event(3_000, "a chimney sweep");
    far.session = "other".to_owned();
    entries.push(far);
    index.write(put(entries, "")).unwrap();
    let filter = EntryFilter { session: Some("other".to_owned()), ..EntryFilter::default() };
    let found = index.search("ships at sea and a sweep", &filter, 5).unwrap();
    assert_eq!(keys(&found), [EntryKey::Event(3_000)]);
    // Ties are sorted by key, however many there are.
    let found = index.search("the sea and the ships", &EntryFilter::default(), 3).unwrap();
    assert_eq!(keys(&found), [EntryKey::Event(0), EntryKey::Event(1), EntryKey::Event(2)]);
}

#[test]
fn long_runs_of_one_session_are_filtered() {
    let folder = TempDir::new().unwrap();
    let index = VectorIndex::create(folder.path(), builtin()).unwrap();
    let entry = |seq: u64| {
        let session = format!("long {}", seq / 600);
        IndexEntry {
            session,
            kind: "user_message".to_owned(),
            ..event(seq, "the sea and the ships")
        }
    };
    index.write(put((0..1_800).map(entry).collect(), "")).unwrap();
    let filter = EntryFilter { session: Some("long 1".to_owned()), ..EntryFilter::default() };
    let found = index.search("the sea and the ships", &filter, 700).unwrap();
    assert_eq!(keys(&found), (600..1_200).map(EntryKey::Event).collect::<Vec<_>>());
}

#[test]
fn files_with_mostly_dead_rows_are_compacted() {
    let folder = TempDir::new().unwrap();
    let index = VectorIndex::create(folder.path(), builtin()).unwrap();
    let notes = |word: &str| {
        (0..700).map(|i| note(&format!("n{i}"), 0, &format!("{word} {i}"))).collect::<Vec<_>>()
    };
    let gone: Vec<String> = (0..700).map(|i| format!("n{i}")).collect();
    index.write(put(SENTENCES.iter().zip(1..).map(|(t, s)| event(s, t)).collect(), "1")).unwrap();
    index.write(put(notes("boat"), "2")).unwrap();
    let before = index.search("tokio runtime", &EntryFilter::default(), 5).unwrap();
    for cursor in ["3", "4"] {
        let batch =
            IndexBatch { removed: gone.clone(), added: notes("boat"), cursor: cursor.to_owned() };
        index.write(batch).unwrap();
    }
    let files = std::fs::read_dir(folder.path()).unwrap().flatten();
    let mut names: Vec<_> = files.map(|it| it.file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["head", "levels-2", "log-2", "signs-2"]);
    let rows = std::fs::metadata(folder.path().join("levels-2")).unwrap().len() / 132;
    assert_eq!(rows, 708);
    let answers = |index: &VectorIndex| {
        assert_eq!((index.entry_count(), index.cursor().as_str()), (708, "4"));
        assert_eq!(index.list_named().len(), 700);
        assert!(index.is_intact());
        assert_eq!(index.search("tokio runtime", &EntryFilter::default(), 5).unwrap(), before);
    };
    answers(&index);
    answers(&VectorIndex::open(folder.path(), builtin()).unwrap());
}

#[test]
fn vectors_of_any_dimension_are_searchable() {
    for dimensions in [1, 3, 64, 100, 1_536] {
        let folder = TempDir::new().unwrap();
        let index = VectorIndex::create(folder.path(), Arc::new(Numbers { dimensions })).unwrap();
        index.write(put(vec![event(1, "1 0.1 0.1"), event(2, "-1 0.1 -0.1")], "")).unwrap();
        let mut query_vector = vec![0.0; dimensions];
        query_vector[0] = -2.0;
        let found = search_by_vector(&index, &query_vector, &EntryFilter::default(), 5);
        assert_eq!(keys(&found), [EntryKey::Event(2)], "{dimensions}");
        assert!(index.prepare_query_vector(&[]).is_err());
        assert!(index.prepare_query_vector(&vec![f32::NAN; dimensions]).is_err());
    }
}

/// Second implementation of the filter.
fn passes(filter: &EntryFilter, entry: &IndexEntry) -> bool {
    (filter.sources.is_empty() || filter.sources.contains(&entry.source))
        && filter.project.as_ref().is_none_or(|it| *it == entry.project)
        && filter.session.as_ref().is_none_or(|it| *it == entry.session)
        && (filter.agents.is_empty() || filter.agents.contains(&entry.agent))
        && (filter.kinds.is_empty() || filter.kinds.contains(&entry.kind))
        && filter.from.is_none_or(|it| entry.at >= it)
        && filter.to.is_none_or(|it| entry.at < it)
}

fn entries() -> impl Strategy<Value = Vec<(u8, u8, usize)>> {
    proptest::collection::vec((0..4_u8, 0..8_u8, 0..SENTENCES.len()), 1..12)
}

fn filters() -> impl Strategy<Value = EntryFilter> {
    let text =
        |texts: &'static [&'static str]| proptest::option::of(proptest::sample::select(texts));
    let any_time = || proptest::option::of((990..1_030_u64).prop_map(Millis));
    let sources = proptest::sample::subsequence(
        vec![RecordKind::Event, RecordKind::Note, RecordKind::Grip],
        0..=2,
    );
    (
        sources,
        text(&["/p", "/q"]),
        text(&["s0", "s1"]),
        text(&["claude"]),
        text(&["user_message"]),
        any_time(),
        any_time(),
    )
        .prop_map(|(sources, project, session, agent, kind, from, to)| EntryFilter {
            sources,
            project: project.map(str::to_owned),
            session: session.map(str::to_owned),
            agents: agent.into_iter().map(str::to_owned).collect(),
            kinds: kind.into_iter().map(str::to_owned).collect(),
            from,
            to,
        })
}

/// Reference implementation: a plain list of entries.
#[derive(Default)]
struct Plain(Vec<IndexEntry>);

impl Plain {
    fn write(&mut self, batch: &IndexBatch) {
        self.0.retain(|entry| match &entry.key {
            EntryKey::Named(name) => !batch.removed.contains(name),
            EntryKey::Event(_) => true,
        });
        self.0.extend(batch.added.iter().cloned());
    }

    fn search(
        &self,
        query_vector: &[f32],
        filter: &EntryFilter,
    ) -> Vec<((RecordKind, EntryKey, u32), f32)> {
        let passing = self.0.iter().filter(|entry| passes(filter, entry));
        let similarities = passing.map(|entry| {
            let text = format!("{}\n{}", entry.title, entry.text);
            let vector = StaticEmbedder.embed(&[&text]).unwrap().pop().unwrap();
            let similarity = vector.iter().zip(query_vector).map(|(one, other)| one * other).sum();
            ((entry.source, entry.key.clone(), entry.range.from), similarity)
        });
        similarities.collect()
    }
}

/// Builds batches from triples of action, name and sentence.
fn batches(seeds: &[Vec<(u8, u8, usize)>]) -> Vec<IndexBatch> {
    let mut seq = 0;
    let mut batches = Vec::new();
    for (i, seed) in seeds.iter().enumerate() {
        let mut batch = IndexBatch { cursor: i.to_string(), ..IndexBatch::default() };
        for (kind, name, sentence) in seed {
            let name = format!("n{name}");
            if *kind < 2 {
                seq += 1;
                let mut entry = event(seq, SENTENCES[*sentence]);
                entry.project = if seq % 5 == 0 { "/q" } else { "/p" }.to_owned();
                batch.added.push(entry);
                continue;
            }
            batch.added.retain(|entry| entry.key != EntryKey::Named(name.clone()));
            batch.removed.push(name.clone());
            if *kind == 2 {
                batch.added.push(note(&name, 0, SENTENCES[*sentence]));
                batch.added.push(note(&name, 1, SENTENCES[(sentence + 1) % 8]));
            }
        }
        batches.push(batch);
    }
    batches
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn search_agrees_with_an_exhaustive_scan(
        seeds in proptest::collection::vec(entries(), 1..6),
        filter in filters(),
        query in proptest::sample::select(&SENTENCES[..]),
    ) {
        let folder = TempDir::new().unwrap();
        let mut plain = Plain::default();
        let mut index = VectorIndex::create(folder.path(), builtin()).unwrap();
        let query_vector = StaticEmbedder.embed(&[query]).unwrap().pop().unwrap();
        for (i, batch) in batches(&seeds).into_iter().enumerate() {
            plain.write(&batch);
            index.write(batch).unwrap();
            if i % 2 == 1 {
                index = VectorIndex::open(folder.path(), builtin()).unwrap();
            }
        }
        let found = search_by_vector(&index, &query_vector, &filter, 1_000);
        prop_assert!(found.windows(2).all(|two| two[0].score >= two[1].score));
        let found: HashMap<_, _> = found
            .into_iter()
            .map(|it| ((it.source, it.key, it.range.from), it.score))
            .collect();
        let expected = plain.search(&query_vector, &filter);
        for (entry, similarity) in &expected {
            // Quantization to five bits loses some precision.
            match found.get(entry) {
                Some(score) => prop_assert!((score - similarity).abs() < 0.04, "{score} {similarity}"),
                None => prop_assert!(*similarity < 0.04, "{entry:?} is missing"),
            }
        }
        let expected: HashMap<_, _> = expected.into_iter().collect();
        for entry in found.keys() {
            prop_assert!(expected.contains_key(entry), "{entry:?} should not be found");
        }
        prop_assert_eq!(index.entry_count(), plain.0.len());
        let mut names: Vec<_> = plain.0.iter().filter_map(|entry| match &entry.key {
            EntryKey::Named(name) => Some((name.clone(), entry.at)),
            EntryKey::Event(_) => None,
        }).collect();
        names.sort();
        names.dedup();
        prop_assert_eq!(index.list_named(), names);
    }

    #[test]
    fn a_rebuilt_index_returns_the_same_hits(
        seeds in proptest::collection::vec(entries(), 1..6),
        filter in filters(),
        limit in 1..12_usize,
        query in proptest::sample::select(&SENTENCES[..]),
    ) {
        let folder = TempDir::new().unwrap();
        let index = VectorIndex::create(&folder.path().join("first"), builtin()).unwrap();
        let mut plain = Plain::default();
        for batch in batches(&seeds) {
            plain.write(&batch);
            index.write(batch).unwrap();
        }
        let again = VectorIndex::create(&folder.path().join("again"), builtin()).unwrap();
        let mut entries = plain.0;
        entries.reverse();
        again.write(put(entries, "")).unwrap();
        let answer = index.search(query, &filter, limit).unwrap();
        prop_assert_eq!(&again.search(query, &filter, limit).unwrap(), &answer);
        let opened = VectorIndex::open(&folder.path().join("first"), builtin()).unwrap();
        prop_assert_eq!(&opened.search(query, &filter, limit).unwrap(), &answer);
    }
}

#[test]
fn the_line_of_an_event_is_found_by_its_number() {
    let folder = TempDir::new().unwrap();
    let index = VectorIndex::create(folder.path(), builtin()).unwrap();
    let chunks = |seq: u64| {
        let mut pieces = vec![event(seq, "one"), event(seq, "two")];
        pieces.truncate(if seq.is_multiple_of(5) { 2 } else { 1 });
        pieces
    };
    let events = (1..=700).filter(|seq| seq % 7 != 0).flat_map(chunks).collect();
    index.write(put(events, "700")).unwrap();
    for seq in 0..=702 {
        let is_there = (1..=700).contains(&seq) && seq % 7 != 0;
        let expected = is_there.then(|| u32::try_from(seq).unwrap() + 1);
        assert_eq!(index.event_line(seq), expected, "{seq}");
    }
}
