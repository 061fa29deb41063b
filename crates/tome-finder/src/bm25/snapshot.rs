//! A consistent view of the index for one search, with statistics of live entries only.
//!
//! Deleted entries stay in a segment until it is merged, and tantivy's statistics include them.
//! Excluding them makes results independent of merges, and equal to those of a rebuilt index.

use std::collections::HashMap;
use std::sync::Arc;

use tantivy::columnar::{Column, StrColumn};
use tantivy::fieldnorm::FieldNormReader;
use tantivy::index::SegmentId;
use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocId, InvertedIndexReader, SegmentReader, TERMINATED, Term};
use tome_model::Millis;

use super::schema::{IndexFields, column};
use super::term_weight::Bm25Weights;
use crate::{ByteRange, EntryKey, IndexHit, RecordKind};

pub(crate) struct IndexSnapshot {
    pub(crate) segments: Vec<Arc<SegmentSnapshot>>,
    pub(crate) count: u64,
    /// Average length of the texts, in terms.
    pub(crate) average: f32,
    /// BM25 weights for that average length.
    pub(crate) weights: Bm25Weights,
}

/// A segment with cached statistics.
pub(crate) struct SegmentSnapshot {
    pub(crate) reader: SegmentReader,
    /// Text length of each entry.
    pub(crate) lengths: FieldNormReader,
    /// Deleted entries.
    dead: Vec<DocId>,
    /// Total length of the live entries.
    length: u64,
    columns: SegmentColumns,
}

struct SegmentColumns {
    key: Option<StrColumn>,
    seq: Option<Column<u64>>,
    from: Column<u64>,
    to: Column<u64>,
    line: Column<u64>,
    at: Column<u64>,
    source: Column<u64>,
}

impl IndexSnapshot {
    /// Creates a snapshot, reusing unchanged segments of the previous one.
    pub(crate) fn new(
        readers: &[SegmentReader],
        fields: &IndexFields,
        before: Option<&Self>,
    ) -> tantivy::Result<Self> {
        let unchanged: HashMap<(SegmentId, Option<u64>), &Arc<SegmentSnapshot>> = before
            .iter()
            .flat_map(|before| &before.segments)
            .map(|segment| (segment.identity(), segment))
            .collect();
        let mut segments = Vec::with_capacity(readers.len());
        for reader in readers {
            let identity = (reader.segment_id(), reader.delete_opstamp());
            segments.push(match unchanged.get(&identity) {
                Some(segment) => Arc::clone(segment),
                None => Arc::new(SegmentSnapshot::new(reader.clone(), fields)?),
            });
        }
        let count: u64 = segments.iter().map(|segment| u64::from(segment.reader.num_docs())).sum();
        let length: u64 = segments.iter().map(|segment| segment.length).sum();
        let average = if count == 0 { 1.0 } else { (length as f32 / count as f32).max(1.0) };
        Ok(Self { segments, count, average, weights: Bm25Weights::new(average) })
    }

    /// Number of live entries whose field contains a term.
    pub(crate) fn doc_frequency(&self, field: Field, term: &str) -> tantivy::Result<u64> {
        let term = Term::from_field_text(field, term);
        let mut frequency = 0;
        for segment in &self.segments {
            frequency += segment.doc_frequency(&term)?;
        }
        Ok(frequency)
    }

    /// IDF of a term that occurs in this many entries.
    pub(crate) fn idf(&self, frequency: u64) -> f32 {
        let without = self.count.saturating_sub(frequency) as f32;
        (1.0 + (without + 0.5) / (frequency as f32 + 0.5)).ln()
    }
}

impl SegmentSnapshot {
    fn new(reader: SegmentReader, fields: &IndexFields) -> tantivy::Result<Self> {
        let lengths = reader.get_fieldnorms_reader(fields.text)?;
        let dead: Vec<DocId> = match reader.alive_bitset() {
            Some(alive) => (0..reader.max_doc()).filter(|doc| alive.is_deleted(*doc)).collect(),
            None => Vec::new(),
        };
        let all: u64 = (0..reader.max_doc()).map(|doc| u64::from(lengths.fieldnorm(doc))).sum();
        let gone: u64 = dead.iter().map(|doc| u64::from(lengths.fieldnorm(*doc))).sum();
        let columns = SegmentColumns::new(&reader)?;
        Ok(Self { lengths, dead, length: all.saturating_sub(gone), columns, reader })
    }

    fn identity(&self) -> (SegmentId, Option<u64>) {
        (self.reader.segment_id(), self.reader.delete_opstamp())
    }

    /// Postings of a term, if it occurs.
    pub(crate) fn postings(
        &self,
        term: &Term,
        with: IndexRecordOption,
    ) -> tantivy::Result<Option<BlockSegmentPostings>> {
        let index = self.inverted(term.field())?;
        Ok(index.read_block_postings(term, with)?)
    }

    pub(crate) fn inverted(&self, field: Field) -> tantivy::Result<Arc<InvertedIndexReader>> {
        self.reader.inverted_index(field)
    }

    fn doc_frequency(&self, term: &Term) -> tantivy::Result<u64> {
        let index = self.inverted(term.field())?;
        let Some(found) = index.get_term_info(term)? else { return Ok(0) };
        let all = u64::from(found.doc_freq);
        if self.dead.is_empty() {
            return Ok(all);
        }
        let mut postings =
            index.read_block_postings_from_terminfo(&found, IndexRecordOption::Basic)?;
        let dead = self.dead.iter().filter(|doc| contains_doc(&mut postings, **doc)).count();
        Ok(all.saturating_sub(dead as u64))
    }

    pub(crate) fn is_alive(&self, doc: DocId) -> bool {
        !self.reader.is_deleted(doc)
    }

    /// Breaks ties between entries with equal scores.
    pub(crate) fn tie_break(
        &self,
        doc: DocId,
    ) -> tantivy::Result<(RecordKind, EntryKey, ByteRange)> {
        let columns = &self.columns;
        Ok((columns.source(doc)?, columns.key(doc)?, columns.range(doc)))
    }

    pub(crate) fn to_hit(&self, doc: DocId, score: f32) -> tantivy::Result<IndexHit> {
        let (source, key, part) = self.tie_break(doc)?;
        Ok(IndexHit {
            key,
            range: part,
            source,
            at: self.entry_time(doc),
            line: self.columns.line(doc),
            score,
        })
    }

    pub(crate) fn entry_time(&self, doc: DocId) -> Millis {
        Millis(self.columns.at.first(doc).unwrap_or_default())
    }

    pub(crate) fn times(&self) -> &Column<u64> {
        &self.columns.at
    }
}

/// Returns whether a document is in a postings list. Documents must be queried in ascending order.
pub(crate) fn contains_doc(postings: &mut BlockSegmentPostings, doc: DocId) -> bool {
    let at = postings.seek(doc);
    doc != TERMINATED && postings.doc(at) == doc
}

impl SegmentColumns {
    fn new(reader: &SegmentReader) -> tantivy::Result<Self> {
        let columns = reader.fast_fields();
        Ok(Self {
            key: columns.str(column::KEY)?,
            seq: columns.column_opt(column::SEQ)?,
            from: columns.u64(column::FROM)?,
            to: columns.u64(column::TO)?,
            line: columns.u64(column::LINE)?,
            at: columns.u64(column::AT)?,
            source: columns.u64(column::SOURCE)?,
        })
    }

    fn key(&self, doc: DocId) -> tantivy::Result<EntryKey> {
        if let Some(seq) = self.seq.as_ref().and_then(|seq| seq.first(doc)) {
            return Ok(EntryKey::Event(seq));
        }
        let mut name = String::new();
        if let Some(names) = &self.key
            && let Some(ordinal) = names.ords().first(doc)
        {
            names.ord_to_str(ordinal, &mut name)?;
        }
        Ok(EntryKey::Named(name))
    }

    fn range(&self, doc: DocId) -> ByteRange {
        ByteRange { from: to_u32(self.from.first(doc)), to: to_u32(self.to.first(doc)) }
    }

    fn line(&self, doc: DocId) -> u32 {
        to_u32(self.line.first(doc))
    }

    fn source(&self, doc: DocId) -> tantivy::Result<RecordKind> {
        let number = self.source.first(doc).unwrap_or_default();
        RecordKind::ALL
            .into_iter()
            .find(|source| *source as u64 == number)
            .ok_or_else(|| tantivy::TantivyError::InternalError(format!("unknown source {number}")))
    }
}

fn to_u32(number: Option<u64>) -> u32 {
    number.and_then(|number| u32::try_from(number).ok()).unwrap_or_default()
}
