//! Encodes a batch into the bytes to append to the files.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::counts::counts_event;
use super::log::{Place, Record};
use super::row::{Facts, MUTE, NAMED, signs};
use super::slices::SIGNS_MAX;
use super::table::Table;
use super::turn::turned;
use crate::{Batch, EmbedError, Embedder, Entry, Key};

/// Bytes that a commit appends to each file.
#[derive(Debug, Default)]
pub(super) struct Commit {
    pub(super) log: Vec<u8>,
    pub(super) signs: Vec<u8>,
    pub(super) levels: Vec<u8>,
}

/// Vectors of a batch's entries, and the token ids of those that are counted.
pub(super) struct Embedded {
    vectors: Vec<Vec<f32>>,
    tokens: Vec<Option<Vec<u32>>>,
}

impl Embedded {
    /// Embeds the entries and validates the vectors.
    pub(super) fn of(entries: &[Entry], embedder: &dyn Embedder) -> Result<Self, EmbedError> {
        let texts: Vec<Cow<'_, str>> = entries.iter().map(text).collect();
        let borrowed: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let vectors = if texts.is_empty() { Vec::new() } else { embedder.embed(&borrowed)? };
        if vectors.len() != texts.len() {
            let problem = format!("returned {} vectors for {} texts", vectors.len(), texts.len());
            return Err(EmbedError { embedder: embedder.name().to_owned(), problem });
        }
        vectors.iter().try_for_each(|vector| check_vector(embedder, vector))?;
        let is_counted = |entry: &Entry| match entry.key {
            Key::Event(seq) => counts_event(seq),
            Key::Named(_) => true,
        };
        let tokens = entries.iter().zip(&texts).map(|(entry, text)| {
            let tokens = if is_counted(entry) { embedder.tokens(text) } else { Vec::new() };
            (!tokens.is_empty()).then_some(tokens)
        });
        let tokens = tokens.collect();
        Ok(Self { vectors, tokens })
    }
}

/// Checks that the index supports the embedder's dimensions.
pub(super) fn check_dimensions(embedder: &dyn Embedder) -> Result<(), EmbedError> {
    let dimensions = embedder.dimensions();
    if (1..=SIGNS_MAX).contains(&dimensions) {
        return Ok(());
    }
    let problem = format!("has {dimensions} dimensions; supported: 1 to {SIGNS_MAX}");
    Err(EmbedError { embedder: embedder.name().to_owned(), problem })
}

/// Checks that a vector has the right length and only finite values.
pub(super) fn check_vector(embedder: &dyn Embedder, vector: &[f32]) -> Result<(), EmbedError> {
    let dimensions = embedder.dimensions();
    let problem = if vector.len() != dimensions {
        format!("returned {} values instead of {dimensions}", vector.len())
    } else if vector.iter().any(|number| !number.is_finite()) {
        "returned a value that is not finite".to_owned()
    } else {
        return Ok(());
    };
    Err(EmbedError { embedder: embedder.name().to_owned(), problem })
}

/// The text of an entry that is embedded.
fn text(entry: &Entry) -> Cow<'_, str> {
    if entry.title.is_empty() {
        Cow::Borrowed(&entry.text)
    } else {
        Cow::Owned(format!("{}\n{}", entry.title, entry.text))
    }
}

/// Assigns numbers to facets and names, reusing those of the table.
struct Numbers<'a> {
    table: &'a Table,
    gone: HashSet<&'a str>,
    places: HashMap<Place, u32>,
    names: HashMap<&'a str, u64>,
}

impl<'a> Numbers<'a> {
    fn place(&mut self, entry: &Entry, log: &mut Vec<u8>) -> u32 {
        let place = Place {
            source: entry.source,
            project: entry.project.clone(),
            session: entry.session.clone(),
            agent: entry.agent.clone(),
            kind: entry.kind.clone(),
        };
        if let Some(number) = self.table.place_number(&place).or(self.places.get(&place).copied()) {
            return number;
        }
        // Replaying the log rejects more facets than there are numbers.
        let number = u32::try_from(self.table.places.len() + self.places.len()).unwrap_or(MUTE);
        Record::Place(place.clone()).put(log);
        self.places.insert(place, number);
        number
    }

    fn name(&mut self, name: &'a str, log: &mut Vec<u8>) -> u64 {
        let before = self.table.name_number(name).filter(|_| !self.gone.contains(name));
        if let Some(number) = before.or(self.names.get(name).copied()) {
            return number;
        }
        let number = self.table.names() + self.names.len() as u64;
        Record::Name(name.to_owned()).put(log);
        self.names.insert(name, number);
        number
    }
}

impl Commit {
    /// Encodes a batch relative to a table.
    pub(super) fn of(table: &Table, batch: &Batch, embedded: &Embedded) -> Self {
        let mut commit = Self::default();
        let gone: HashSet<&str> = batch.gone.iter().map(String::as_str).collect();
        // In batch order, so that the same batches produce the same files.
        let mut buried = HashSet::new();
        for name in &batch.gone {
            if let Some(number) = table.name_number(name).filter(|_| buried.insert(name)) {
                Record::Gone(number).put(&mut commit.log);
            }
        }
        let mut numbers = Numbers { table, gone, places: HashMap::new(), names: HashMap::new() };
        let embedded = embedded.vectors.iter().zip(&embedded.tokens);
        for (entry, (vector, tokens)) in batch.put.iter().zip(embedded) {
            commit.put(&mut numbers, entry, vector, tokens.as_deref());
        }
        commit
    }

    fn put<'a>(
        &mut self,
        numbers: &mut Numbers<'a>,
        entry: &'a Entry,
        vector: &[f32],
        tokens: Option<&[u32]>,
    ) {
        let mut place = numbers.place(entry, &mut self.log);
        let (key, name) = match &entry.key {
            Key::Event(seq) => (*seq & !NAMED, None),
            Key::Named(name) => {
                let number = numbers.name(name, &mut self.log);
                (number | NAMED, Some(number))
            }
        };
        if let Some(tokens) = tokens {
            Record::Tokens(name, tokens.to_vec()).put(&mut self.log);
        }
        if vector.iter().all(|number| *number == 0.0) {
            place |= MUTE;
        }
        let facts = Facts { key, at: entry.at.0, place, part: entry.part, line: entry.line };
        let vector = turned(vector);
        let words: Vec<u64> = signs(&vector).collect();
        let layout = numbers.table.layout;
        layout.put_signs(&mut self.signs, &words, &facts);
        layout.put_levels(&mut self.levels, &vector);
    }
}
