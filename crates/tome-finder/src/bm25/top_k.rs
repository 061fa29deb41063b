//! The top k entries. Ties are broken by source, key and byte range.
//!
//! Several threads may collect at once, each over its own documents; they share the minimum score.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use tantivy::DocId;

use super::snapshot::IndexSnapshot;
use super::term_weight;
use crate::IndexHit;

/// Slack beyond the limit, so that not every push prunes.
const SLACK: usize = 256;

pub(crate) struct TopK<'a> {
    snapshot: &'a IndexSnapshot,
    limit: usize,
    min_score: &'a AtomicU32,
    /// Score, segment ordinal, document.
    entries: Vec<(u32, usize, DocId)>,
}

impl<'a> TopK<'a> {
    /// Starts empty. The minimum score is shared by all threads and starts at 1.
    pub(crate) fn new(snapshot: &'a IndexSnapshot, limit: usize, min_score: &'a AtomicU32) -> Self {
        Self { snapshot, limit, min_score, entries: Vec::new() }
    }

    /// Score that a document needs to make it into the top k, or to tie with the last.
    pub(crate) fn min_score(&self) -> u32 {
        self.min_score.load(Relaxed)
    }

    /// Merges the results of another thread.
    pub(crate) fn merge(&mut self, other: Self) {
        self.entries.extend(other.entries);
    }

    pub(crate) fn push(&mut self, score: u32, segment: usize, doc: DocId) -> tantivy::Result<()> {
        if score < self.min_score() {
            return Ok(());
        }
        self.entries.push((score, segment, doc));
        if self.entries.len() >= self.limit.saturating_mul(2).saturating_add(SLACK) {
            self.prune()?;
        }
        Ok(())
    }

    /// Reduces the entries to the top k and raises the minimum score.
    fn prune(&mut self) -> tantivy::Result<()> {
        self.entries.sort_unstable_by_key(|(score, ..)| std::cmp::Reverse(*score));
        let Some(last) = self.limit.checked_sub(1).and_then(|last| self.entries.get(last)) else {
            return Ok(());
        };
        let min_score = last.0;
        let better = self.entries.partition_point(|(score, ..)| *score > min_score);
        let tied = self.entries.partition_point(|(score, ..)| *score >= min_score);
        self.entries.truncate(tied);
        if tied > self.limit {
            let mut ties = Vec::with_capacity(tied - better);
            for (score, segment, doc) in self.entries.drain(better..) {
                let tie_break =
                    self.snapshot.segments.get(segment).map(|of| of.tie_break(doc)).transpose()?;
                ties.push((tie_break, (score, segment, doc)));
            }
            ties.sort_unstable();
            let kept = ties.into_iter().map(|(_, entry)| entry).take(self.limit - better);
            self.entries.extend(kept);
        }
        self.min_score.fetch_max(min_score, Relaxed);
        Ok(())
    }

    /// Returns the top k in order.
    pub(crate) fn into_hits(mut self) -> tantivy::Result<Vec<IndexHit>> {
        self.prune()?;
        let mut all = Vec::with_capacity(self.entries.len());
        for (score, ordinal, doc) in self.entries {
            if let Some(segment) = self.snapshot.segments.get(ordinal) {
                all.push(segment.to_hit(doc, term_weight::to_float(score))?);
            }
        }
        all.sort_by(|one: &IndexHit, other| {
            let better = other.score.total_cmp(&one.score);
            better.then_with(|| {
                (one.source, &one.key, one.range).cmp(&(other.source, &other.key, other.range))
            })
        });
        all.truncate(self.limit);
        Ok(all)
    }
}
