//! Compares results, filters and rebuilds with a plain model.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use proptest::prelude::*;
use tome_text::{TokenKind, stem, stemmed_terms, tokenize};

use super::query::TermFields;
use super::*;

/// Words of the generated entries; some share a stem, some are identifiers or paths.
const VOCABULARY: [&str; 16] = [
    "parser",
    "parsing",
    "quote",
    "nested",
    "файл",
    "解析",
    "src/main.rs",
    "foo_bar",
    "E0308",
    "v1.2.3",
    "3f9a2b1c4d",
    "the",
    "run",
    "running",
    "fooBar",
    "x",
];

#[derive(Debug, Clone)]
enum Step {
    Put(Vec<IndexEntry>),
    Gone(Vec<u8>),
    Reopen,
}

fn text() -> impl Strategy<Value = String> {
    proptest::collection::vec(0..VOCABULARY.len(), 1..12)
        .prop_map(|words| words.iter().map(|at| VOCABULARY[*at]).collect::<Vec<_>>().join(" "))
}

fn name(number: u8) -> String {
    format!("note-{number}")
}

fn entry() -> impl Strategy<Value = IndexEntry> {
    (text(), text(), 0..6_usize, 0..4_u8, 0..3_u8, 0..3_u8, 0..50_u64).prop_map(
        |(text, title, source, named, session, agent, at)| {
            let source = RecordKind::ALL[source];
            let is_event = source == RecordKind::Event;
            IndexEntry {
                key: if is_event { EntryKey::Event(0) } else { EntryKey::Named(name(named)) },
                source,
                at: Millis(at),
                session: format!("s{session}"),
                agent: if is_event { format!("a{agent}") } else { String::new() },
                kind: if is_event { format!("k{}", agent % 2) } else { String::new() },
                title: if is_event { String::new() } else { title },
                ..event(0, &text)
            }
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => proptest::collection::vec(entry(), 0..6).prop_map(Step::Put),
        2 => proptest::collection::vec(0..4_u8, 1..3).prop_map(Step::Gone),
        1 => Just(Step::Reopen),
    ];
    proptest::collection::vec(step, 1..12)
}

fn filter() -> impl Strategy<Value = EntryFilter> {
    let few = |of: &'static str| {
        proptest::collection::vec(0..4_u8, 0..3)
            .prop_map(move |these| these.iter().map(|at| format!("{of}{at}")).collect::<Vec<_>>())
    };
    let any_time = || proptest::option::of((0..60_u64).prop_map(Millis));
    (
        proptest::collection::vec(0..6_usize, 0..3),
        proptest::option::weighted(0.2, prop_oneof![Just("/p".to_owned()), Just("/q".to_owned())]),
        proptest::option::weighted(0.3, (0..4_u8).prop_map(|at| format!("s{at}"))),
        few("a"),
        few("k"),
        any_time(),
        any_time(),
    )
        .prop_map(|(sources, project, session, agents, kinds, from, to)| EntryFilter {
            sources: sources.into_iter().map(|at| RecordKind::ALL[at]).collect(),
            project,
            session,
            agents,
            kinds,
            from,
            to,
        })
}

fn lets_through(filter: &EntryFilter, entry: &IndexEntry) -> bool {
    (filter.sources.is_empty() || filter.sources.contains(&entry.source))
        && filter.project.as_ref().is_none_or(|project| *project == entry.project)
        && filter.session.as_ref().is_none_or(|session| *session == entry.session)
        && (filter.agents.is_empty() || filter.agents.contains(&entry.agent))
        && (filter.kinds.is_empty() || filter.kinds.contains(&entry.kind))
        && filter.from.is_none_or(|from| entry.at >= from)
        && filter.to.is_none_or(|to| entry.at < to)
}

/// Expected entries in insertion order.
#[derive(Default)]
struct Model {
    entries: Vec<IndexEntry>,
    next: u64,
}

impl Model {
    /// Applies a step to the model and returns the batch for the index.
    fn step(&mut self, step: &Step) -> IndexBatch {
        let mut batch = IndexBatch::default();
        match step {
            Step::Put(entries) => {
                for entry in entries {
                    let mut entry = entry.clone();
                    self.next += 1;
                    entry.range.from = u32::try_from(self.next).unwrap();
                    match &mut entry.key {
                        EntryKey::Event(seq) => *seq = self.next,
                        EntryKey::Named(name) => batch.removed.push(name.clone()),
                    }
                    batch.added.push(entry);
                }
            }
            Step::Gone(numbers) => {
                batch.removed = numbers.iter().map(|number| name(*number)).collect();
            }
            Step::Reopen => {}
        }
        self.entries.retain(
            |entry| !matches!(&entry.key, EntryKey::Named(name) if batch.removed.contains(name)),
        );
        self.entries.extend(batch.added.iter().cloned());
        batch.cursor = self.next.to_string();
        batch
    }

    fn matching(&self, query: &str, filter: &EntryFilter) -> BTreeSet<(EntryKey, ByteRange)> {
        let wanted = query::parse_query(query);
        let matches = |entry: &&IndexEntry| {
            let own = own_terms(&format!("{} {}", entry.text, entry.title));
            wanted.iter().any(|wanted| own.contains(&(wanted.fields, wanted.term.clone())))
        };
        let through = self.entries.iter().filter(|entry| lets_through(filter, entry));
        through.filter(matches).map(|entry| (entry.key.clone(), entry.range)).collect()
    }
}

fn own_terms(text: &str) -> HashSet<(TermFields, String)> {
    let mut own = HashSet::new();
    tokenize(text, &mut |kind, term| {
        let (fields, term) = match kind {
            TokenKind::Word | TokenKind::Character => (TermFields::Text, stem(term).into_owned()),
            TokenKind::Identifier => (TermFields::Identifiers, term.to_owned()),
            TokenKind::Path => (TermFields::Paths, term.to_owned()),
        };
        own.insert((fields, term));
    });
    own
}

fn hit_ranges(found: &[IndexHit]) -> BTreeSet<(EntryKey, ByteRange)> {
    found.iter().map(|found| (found.key.clone(), found.range)).collect()
}

fn run(fixture: &Fixture, model: &mut Model, steps: &[Step]) -> Bm25Index {
    let mut words = fixture.make();
    for step in steps {
        if matches!(step, Step::Reopen) {
            drop(words);
            words = fixture.open().unwrap();
        }
        words.write(model.step(step)).unwrap();
    }
    words
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    #[test]
    fn search_agrees_with_a_simple_model(
        steps in steps(), query in text(), filter in filter(),
    ) {
        let fixture = Fixture::new();
        let mut model = Model::default();
        let words = run(&fixture, &mut model, &steps);
        let found = words.search(&Bm25Query { text: query.clone() }, &filter, 1_000).unwrap();
        prop_assert_eq!(hit_ranges(&found), model.matching(&query, &filter));
        prop_assert_eq!(words.entry_count(), model.entries.len() as u64);
        // A smaller limit returns a prefix.
        let few = words.search(&Bm25Query { text: query }, &filter, 3).unwrap();
        prop_assert_eq!(&few[..], &found[..found.len().min(3)]);
        let named: BTreeMap<String, Millis> = words.list_named().unwrap().into_iter().collect();
        let expected: BTreeSet<&String> = model.entries.iter().filter_map(|entry| match &entry.key {
            EntryKey::Named(name) => Some(name),
            EntryKey::Event(_) => None,
        }).collect();
        prop_assert_eq!(named.keys().collect::<BTreeSet<_>>(), expected);
    }

    #[test]
    fn a_rebuilt_index_returns_the_same_hits(steps in steps(), query in text(), filter in filter()) {
        let fixture = Fixture::new();
        let mut model = Model::default();
        let words = run(&fixture, &mut model, &steps);
        let answer = |words: &Bm25Index| {
            words.search(&Bm25Query { text: query.clone() }, &filter, 5).unwrap()
        };
        let before = answer(&words);
        drop(words);
        prop_assert_eq!(&answer(&fixture.open().unwrap()), &before);
        // From scratch in one write: other segments and no deleted entries.
        let other = Fixture::new();
        let fresh = other.make();
        fresh.write(put(model.entries, "")).unwrap();
        prop_assert_eq!(&answer(&fresh), &before);
    }

    #[test]
    fn an_entry_is_found_by_any_of_its_words(text in "\\PC{1,60}") {
        let fixture = Fixture::new();
        let words = fixture.make();
        words.write(put(vec![event(1, &text)], "")).unwrap();
        for term in stemmed_terms(&text) {
            let (idf, absent) = (words.idf(&term).unwrap(), words.idf("in no text").unwrap());
            prop_assert!(idf < absent, "{:?}", term);
        }
        for word in text.split_whitespace().filter(|word| !stemmed_terms(word).is_empty()) {
            prop_assert_eq!(seqs(&words, word), vec![1], "{:?}", word);
        }
    }
}
