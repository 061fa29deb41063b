//! Resolves a filter to the documents of a segment, before anything is scored.

use std::collections::BTreeSet;

use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{BitSet, DocId, Term};

use super::schema::IndexFields;
use super::snapshot::SegmentSnapshot;
use crate::{EntryFilter, RecordKind};

pub(crate) enum DocFilter {
    All,
    Only(BitSet),
    None,
}

impl DocFilter {
    /// Resolves a filter for a segment. Does not exclude deleted documents.
    pub(crate) fn new(
        filter: &EntryFilter,
        fields: &IndexFields,
        segment: &SegmentSnapshot,
    ) -> tantivy::Result<Self> {
        let mut allowed = Self::All;
        if !filter.sources.is_empty() {
            let terms = filter.sources.iter().map(|source| source_term(fields.source, *source));
            allowed.retain_terms(segment, terms)?;
        }
        let as_list = |text: &Option<String>| text.iter().cloned().collect::<Vec<_>>();
        for (field, wanted) in [
            (fields.project, as_list(&filter.project)),
            (fields.session, as_list(&filter.session)),
            (fields.agent, filter.agents.clone()),
            (fields.kind, filter.kinds.clone()),
        ] {
            if !wanted.is_empty() {
                allowed.retain_terms(
                    segment,
                    wanted.iter().map(|text| Term::from_field_text(field, text)),
                )?;
            }
        }
        allowed.retain_time_range(filter, segment);
        Ok(allowed)
    }

    pub(crate) fn contains(&self, doc: DocId) -> bool {
        match self {
            Self::All => true,
            Self::Only(docs) => docs.contains(doc),
            Self::None => false,
        }
    }

    /// Lower bound for the next document that passes: a bucket start, never past that document.
    pub(crate) fn next_candidate(&self, doc: DocId) -> Option<DocId> {
        match self {
            Self::All => Some(doc),
            Self::Only(docs) => {
                docs.first_non_empty_bucket(doc / 64).map(|bucket| doc.max(bucket * 64))
            }
            Self::None => None,
        }
    }

    /// Keeps the documents that contain one of these terms.
    fn retain_terms(
        &mut self,
        segment: &SegmentSnapshot,
        terms: impl Iterator<Item = Term>,
    ) -> tantivy::Result<()> {
        let docs = segment.reader.max_doc();
        let (mut lists, mut listed) = (Vec::new(), 0_u64);
        for term in terms.collect::<BTreeSet<Term>>() {
            if let Some(list) = segment.postings(&term, IndexRecordOption::Basic)? {
                listed += u64::from(list.doc_freq());
                lists.push(list);
            }
        }
        // A document has at most one of these terms, so this many postings cover all documents.
        if listed >= u64::from(docs) {
            return Ok(());
        }
        self.retain_listed(lists, docs);
        Ok(())
    }

    fn retain_listed(&mut self, lists: Vec<BlockSegmentPostings>, docs: DocId) {
        if lists.is_empty() {
            *self = Self::None;
        }
        if matches!(self, Self::None) {
            return;
        }
        let mut kept = BitSet::with_max_value(docs);
        for mut list in lists {
            while !list.docs().is_empty() {
                for doc in list.docs().iter().filter(|doc| self.contains(**doc)) {
                    kept.insert(*doc);
                }
                list.advance();
            }
        }
        *self = Self::Only(kept);
    }

    /// Keeps the documents within the filter's time range.
    fn retain_time_range(&mut self, filter: &EntryFilter, segment: &SegmentSnapshot) {
        if (filter.from.is_none() && filter.to.is_none()) || matches!(self, Self::None) {
            return;
        }
        let from = filter.from.map_or(0, |from| from.0);
        let Some(last) = filter.to.map_or(Some(u64::MAX), |to| to.0.checked_sub(1)) else {
            *self = Self::None;
            return;
        };
        let moments = segment.times();
        if from <= moments.min_value() && moments.max_value() <= last {
            return;
        }
        if from > last || from > moments.max_value() || last < moments.min_value() {
            *self = Self::None;
            return;
        }
        let docs = segment.reader.max_doc();
        let mut inside = Vec::new();
        moments.get_docids_for_value_range(from..=last, 0..docs, &mut inside);
        let mut kept = BitSet::with_max_value(docs);
        for doc in inside.into_iter().filter(|doc| self.contains(*doc)) {
            kept.insert(doc);
        }
        *self = Self::Only(kept);
    }
}

fn source_term(field: Field, source: RecordKind) -> Term {
    Term::from_field_u64(field, source as u64)
}
