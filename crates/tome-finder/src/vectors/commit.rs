//! Encodes a batch into the bytes to append to the files.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::bit_slices::SIGNS_MAX;
use super::log::{LogRecord, RowFacets};
use super::rotation::rotate;
use super::row::{NAMED_BIT, NO_VECTOR_BIT, RowMeta, sign_bits};
use super::table::RowTable;
use super::token_counts::is_event_counted;
use crate::{EmbedError, Embedder, EntryKey, IndexBatch, IndexEntry};

/// Bytes that a commit appends to each file.
#[derive(Debug, Default)]
pub(super) struct CommitBytes {
    pub(super) log: Vec<u8>,
    pub(super) signs: Vec<u8>,
    pub(super) levels: Vec<u8>,
}

/// Vectors of a batch's entries, and the token ids of those that are counted.
pub(super) struct EmbeddedEntries {
    vectors: Vec<Vec<f32>>,
    tokens: Vec<Option<Vec<u32>>>,
}

impl EmbeddedEntries {
    /// Embeds the entries and validates the vectors.
    pub(super) fn embed(
        entries: &[IndexEntry],
        embedder: &dyn Embedder,
    ) -> Result<Self, EmbedError> {
        let texts: Vec<Cow<'_, str>> = entries.iter().map(IndexEntry::embedded_text).collect();
        let borrowed: Vec<&str> = texts.iter().map(|text| &**text).collect();
        let vectors = if texts.is_empty() { Vec::new() } else { embedder.embed(&borrowed)? };
        if vectors.len() != texts.len() {
            let problem = format!("returned {} vectors for {} texts", vectors.len(), texts.len());
            return Err(EmbedError { embedder: embedder.name().to_owned(), problem });
        }
        vectors.iter().try_for_each(|vector| check_vector(embedder, vector))?;
        let is_counted = |entry: &IndexEntry| match entry.key {
            EntryKey::Event(seq) => is_event_counted(seq),
            EntryKey::Named(_) => true,
        };
        let tokens = entries.iter().zip(&texts).map(|(entry, text)| {
            let tokens = if is_counted(entry) { embedder.token_ids(text) } else { Vec::new() };
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

/// Assigns numbers to facets and names, reusing those of the table.
struct NumberAllocator<'a> {
    table: &'a RowTable,
    gone: HashSet<&'a str>,
    facets: HashMap<RowFacets, u32>,
    names: HashMap<&'a str, u64>,
}

impl<'a> NumberAllocator<'a> {
    fn facets_number(&mut self, entry: &IndexEntry, log: &mut Vec<u8>) -> u32 {
        let facets = RowFacets {
            source: entry.source,
            project: entry.project.clone(),
            session: entry.session.clone(),
            agent: entry.agent.clone(),
            kind: entry.kind.clone(),
        };
        if let Some(number) = self.table.find_facets(&facets).or(self.facets.get(&facets).copied())
        {
            return number;
        }
        // Replaying the log rejects more facets than there are numbers.
        let number =
            u32::try_from(self.table.facets.len() + self.facets.len()).unwrap_or(NO_VECTOR_BIT);
        LogRecord::Facets(facets.clone()).encode(log);
        self.facets.insert(facets, number);
        number
    }

    fn name_number(&mut self, name: &'a str, log: &mut Vec<u8>) -> u64 {
        let before = self.table.find_name(name).filter(|_| !self.gone.contains(name));
        if let Some(number) = before.or(self.names.get(name).copied()) {
            return number;
        }
        let number = self.table.name_count() + self.names.len() as u64;
        LogRecord::Name(name.to_owned()).encode(log);
        self.names.insert(name, number);
        number
    }
}

impl CommitBytes {
    /// Encodes a batch relative to a table.
    pub(super) fn encode(table: &RowTable, batch: &IndexBatch, embedded: &EmbeddedEntries) -> Self {
        let mut commit = Self::default();
        let gone: HashSet<&str> = batch.removed.iter().map(String::as_str).collect();
        // In batch order, so that the same batches produce the same files.
        let mut buried = HashSet::new();
        for name in &batch.removed {
            if let Some(number) = table.find_name(name).filter(|_| buried.insert(name)) {
                LogRecord::NameRemoved(number).encode(&mut commit.log);
            }
        }
        let mut numbers =
            NumberAllocator { table, gone, facets: HashMap::new(), names: HashMap::new() };
        let embedded = embedded.vectors.iter().zip(&embedded.tokens);
        for (entry, (vector, tokens)) in batch.added.iter().zip(embedded) {
            commit.push_entry(&mut numbers, entry, vector, tokens.as_deref());
        }
        commit
    }

    fn push_entry<'a>(
        &mut self,
        numbers: &mut NumberAllocator<'a>,
        entry: &'a IndexEntry,
        vector: &[f32],
        tokens: Option<&[u32]>,
    ) {
        let mut facets = numbers.facets_number(entry, &mut self.log);
        let (key, name) = match &entry.key {
            EntryKey::Event(seq) => (*seq & !NAMED_BIT, None),
            EntryKey::Named(name) => {
                let number = numbers.name_number(name, &mut self.log);
                (number | NAMED_BIT, Some(number))
            }
        };
        if let Some(tokens) = tokens {
            LogRecord::Tokens(name, tokens.to_vec()).encode(&mut self.log);
        }
        if vector.iter().all(|number| *number == 0.0) {
            facets |= NO_VECTOR_BIT;
        }
        let meta = RowMeta { key, at: entry.at.0, facets, range: entry.range, line: entry.line };
        let vector = rotate(vector);
        let words: Vec<u64> = sign_bits(&vector).collect();
        let layout = numbers.table.layout;
        layout.encode_signs(&mut self.signs, &words, &meta);
        layout.encode_levels(&mut self.levels, &vector);
    }
}
