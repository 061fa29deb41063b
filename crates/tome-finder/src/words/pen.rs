//! The writing side of an index: one commit a batch, and segments put together behind it.
//!
//! It is made when something is to be written, and costs threads and memory while it is there.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::indexer::{IndexWriter, IndexWriterOptions, NoMergePolicy};
use tantivy::{FutureResult, Index, Term};

use super::merging;
use super::schema::Fields;
use crate::Batch;

/// Memory for what is not written yet; a batch that needs more makes several segments.
const MEMORY_BYTES: usize = 24_000_000;

/// The writing side.
pub(crate) struct Pen {
    writer: IndexWriter,
    /// Segments that are being put together.
    merges: Vec<(Vec<SegmentId>, FutureResult<Option<SegmentMeta>>)>,
    /// One of them failed: it is not tried again before the next write.
    is_stuck: bool,
}

impl Pen {
    /// Takes up the pen. There is one a folder at a time.
    pub(crate) fn new(index: &Index) -> tantivy::Result<Self> {
        let options = IndexWriterOptions::builder()
            .num_worker_threads(1)
            .num_merge_threads(1)
            .memory_budget_per_thread(MEMORY_BYTES)
            .build();
        let writer: IndexWriter = index.writer_with_options(options)?;
        // What is put together is decided here, so that it is known what is under way.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self { writer, merges: Vec::new(), is_stuck: false })
    }

    /// Writes a batch, and what goes with it, in one commit.
    pub(crate) fn write(
        &mut self,
        batch: Batch,
        payload: &str,
        fields: &Fields,
    ) -> tantivy::Result<()> {
        for name in &batch.gone {
            self.writer.delete_term(Term::from_field_text(fields.key, name));
        }
        for entry in batch.put {
            self.writer.add_document(fields.document(&entry))?;
        }
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(payload);
        commit.commit()?;
        self.is_stuck = false;
        Ok(())
    }

    /// Begins to put segments together, where there are enough of a size.
    pub(crate) fn tidy(&mut self) -> tantivy::Result<()> {
        self.is_tidying();
        if self.is_stuck {
            return Ok(());
        }
        let mut free = self.writer.index().searchable_segment_metas()?;
        free.retain(|segment| !self.merges.iter().any(|(ids, _)| ids.contains(&segment.id())));
        for ids in merging::groups(&free) {
            let merge = self.writer.merge(&ids);
            self.merges.push((ids, merge));
        }
        Ok(())
    }

    /// Whether segments are still being put together.
    pub(crate) fn is_tidying(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        let is_stuck = &mut self.is_stuck;
        self.merges.retain_mut(|(_, merge)| match Pin::new(merge).poll(&mut context) {
            Poll::Pending => true,
            Poll::Ready(outcome) => {
                // Nothing was lost by a failure: the segments are as they were.
                *is_stuck |= outcome.is_err();
                false
            }
        });
        !self.merges.is_empty()
    }
}
