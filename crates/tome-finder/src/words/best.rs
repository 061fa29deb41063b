//! The top k entries. Ties are broken by source, key and byte range.
//!
//! Several threads may collect at once, each over its own documents; they share the minimum score.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use tantivy::DocId;

use super::snapshot::Snapshot;
use super::weight;
use crate::Found;

/// Slack beyond the limit, so that not every push prunes.
const ROOM: usize = 256;

pub(crate) struct Best<'a> {
    snapshot: &'a Snapshot,
    limit: usize,
    floor: &'a AtomicU32,
    /// Score, segment ordinal, document.
    entries: Vec<(u32, usize, DocId)>,
}

impl<'a> Best<'a> {
    /// Starts empty. The minimum score is shared by all threads and starts at 1.
    pub(crate) fn new(snapshot: &'a Snapshot, limit: usize, floor: &'a AtomicU32) -> Self {
        Self { snapshot, limit, floor, entries: Vec::new() }
    }

    /// Score that a document needs to make it into the top k, or to tie with the last.
    pub(crate) fn floor(&self) -> u32 {
        self.floor.load(Relaxed)
    }

    /// Merges the results of another thread.
    pub(crate) fn join(&mut self, other: Self) {
        self.entries.extend(other.entries);
    }

    pub(crate) fn offer(&mut self, score: u32, segment: usize, doc: DocId) -> tantivy::Result<()> {
        if score < self.floor() {
            return Ok(());
        }
        self.entries.push((score, segment, doc));
        if self.entries.len() >= self.limit.saturating_mul(2).saturating_add(ROOM) {
            self.tidy()?;
        }
        Ok(())
    }

    /// Reduces the entries to the top k and raises the minimum score.
    fn tidy(&mut self) -> tantivy::Result<()> {
        self.entries.sort_unstable_by_key(|(score, ..)| std::cmp::Reverse(*score));
        let Some(last) = self.limit.checked_sub(1).and_then(|last| self.entries.get(last)) else {
            return Ok(());
        };
        let floor = last.0;
        let better = self.entries.partition_point(|(score, ..)| *score > floor);
        let tied = self.entries.partition_point(|(score, ..)| *score >= floor);
        self.entries.truncate(tied);
        if tied > self.limit {
            let mut ties = Vec::with_capacity(tied - better);
            for (score, segment, doc) in self.entries.drain(better..) {
                let place =
                    self.snapshot.segments.get(segment).map(|of| of.place(doc)).transpose()?;
                ties.push((place, (score, segment, doc)));
            }
            ties.sort_unstable();
            let kept = ties.into_iter().map(|(_, entry)| entry).take(self.limit - better);
            self.entries.extend(kept);
        }
        self.floor.fetch_max(floor, Relaxed);
        Ok(())
    }

    /// Returns the top k in order.
    pub(crate) fn finish(mut self) -> tantivy::Result<Vec<Found>> {
        self.tidy()?;
        let mut all = Vec::with_capacity(self.entries.len());
        for (score, ordinal, doc) in self.entries {
            if let Some(segment) = self.snapshot.segments.get(ordinal) {
                all.push(segment.found(doc, weight::shown(score))?);
            }
        }
        all.sort_by(|one: &Found, other| {
            let better = other.score.total_cmp(&one.score);
            better.then_with(|| {
                (one.source, &one.key, one.part).cmp(&(other.source, &other.key, other.part))
            })
        });
        all.truncate(self.limit);
        Ok(all)
    }
}
