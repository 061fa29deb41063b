//! The writer of an index: one commit per batch, followed by merges in the background.
//!
//! Created on demand, because it costs threads and memory.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::indexer::{IndexWriter, IndexWriterOptions, NoMergePolicy};
use tantivy::{FutureResult, Index, Term};

use super::merge_policy;
use super::schema::IndexFields;
use crate::IndexBatch;

/// Memory budget for uncommitted entries; a larger batch creates several segments.
const MEMORY_BYTES: usize = 24_000_000;

pub(crate) struct Bm25Writer {
    writer: IndexWriter,
    /// Running merges and their segments.
    merges: Vec<(Vec<SegmentId>, FutureResult<Option<SegmentMeta>>)>,
    /// Whether a merge failed; no new ones start before the next write.
    has_failed_merge: bool,
}

impl Bm25Writer {
    /// Opens the writer. There can be only one per folder at a time.
    pub(crate) fn new(index: &Index) -> tantivy::Result<Self> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(MEMORY_BYTES)
            .build();
        let writer: IndexWriter = index.writer_with_options(options)?;
        // Merges are started explicitly, to know which are running.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self { writer, merges: Vec::new(), has_failed_merge: false })
    }

    /// Writes a batch and its payload in one commit.
    pub(crate) fn write_batch(
        &mut self,
        batch: IndexBatch,
        payload: &str,
        fields: &IndexFields,
    ) -> tantivy::Result<()> {
        for name in &batch.removed {
            self.writer.delete_term(Term::from_field_text(fields.key, name));
        }
        for entry in batch.added {
            self.writer.add_document(fields.build_document(&entry))?;
        }
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(payload);
        commit.commit()?;
        self.has_failed_merge = false;
        Ok(())
    }

    /// Starts merges where there are enough segments of a size class.
    pub(crate) fn start_merges(&mut self) -> tantivy::Result<()> {
        self.is_merging();
        if self.has_failed_merge {
            return Ok(());
        }
        let mut free = self.writer.index().searchable_segment_metas()?;
        free.retain(|segment| !self.merges.iter().any(|(ids, _)| ids.contains(&segment.id())));
        for ids in merge_policy::merge_groups(&free) {
            let merge = self.writer.merge(&ids);
            self.merges.push((ids, merge));
        }
        Ok(())
    }

    /// Returns whether merges are still running.
    pub(crate) fn is_merging(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        let is_stuck = &mut self.has_failed_merge;
        self.merges.retain_mut(|(_, merge)| match Pin::new(merge).poll(&mut context) {
            Poll::Pending => true,
            Poll::Ready(outcome) => {
                // A failed merge loses nothing: its segments are unchanged.
                *is_stuck |= outcome.is_err();
                false
            }
        });
        !self.merges.is_empty()
    }
}
