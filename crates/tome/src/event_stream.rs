//! Streams many events to the daemon: reading, sending and storing overlap, with a bounded number of
//! batches in flight. An acknowledged batch is on disk.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::StreamExt;
use tokio_stream::wrappers::ReceiverStream;
use tome_proto::{Client, limits, v1};

/// A batch of events, each with the sender's tag, such as a line number.
#[derive(Debug)]
pub struct IngestBatch<T> {
    pub events: Vec<v1::Draft>,
    pub tags: Vec<T>,
    byte_count: usize,
}

impl<T> Default for IngestBatch<T> {
    fn default() -> Self {
        Self { events: Vec::new(), tags: Vec::new(), byte_count: 0 }
    }
}

impl<T> IngestBatch<T> {
    /// Adds an event; `bytes` is its size at the source.
    pub fn push(&mut self, event: v1::Draft, tag: T, bytes: usize) {
        self.events.push(event);
        self.tags.push(tag);
        self.byte_count += bytes;
    }

    /// Whether the batch should be sent.
    pub fn is_full(&self) -> bool {
        self.events.len() >= limits::BATCH_EVENTS_MAX || self.byte_count >= limits::BATCH_BYTES_MAX
    }

    pub fn take_batch(&mut self) -> Self {
        std::mem::take(self)
    }
}

/// Creates a channel with room for as many batches as may be in flight.
pub fn batch_channel<T>() -> (mpsc::Sender<IngestBatch<T>>, mpsc::Receiver<IngestBatch<T>>) {
    mpsc::channel(limits::BATCHES_IN_FLIGHT_MAX)
}

/// Sends batches until the channel is closed, and calls `answered` with each response and the tags of its
/// batch.
pub async fn stream_batches<T: Send + 'static>(
    client: &Client,
    incoming: mpsc::Receiver<IngestBatch<T>>,
    mut answered: impl FnMut(&v1::IngestEventsResponse, Vec<T>),
) -> Result<()> {
    // Tags of batches in flight; the daemon answers in order.
    let (sent, mut unanswered) = mpsc::unbounded_channel();
    let window = Arc::new(Semaphore::new(2 * limits::BATCHES_IN_FLIGHT_MAX));
    let gate = Arc::clone(&window);
    let outgoing = ReceiverStream::new(incoming).then(move |batch| {
        let (gate, sent) = (Arc::clone(&gate), sent.clone());
        async move {
            if let Ok(permit) = gate.acquire().await {
                permit.forget();
            }
            let _ = sent.send(batch.tags);
            v1::IngestEventsRequest { events: batch.events }
        }
    });
    let mut answers = client.ingest_stream(outgoing).await?;
    let mut created = 0;
    while let Some(answer) = answers.next().await {
        let answer = answer.map_err(tome_proto::ClientError::from).with_context(|| {
            format!(
                "{} stored so far; run the command again to store the rest",
                tome_terminal::format_counted(created, "event", "events")
            )
        })?;
        window.add_permits(1);
        created += u64::from(answer.created);
        answered(&answer, unanswered.recv().await.unwrap_or_default());
    }
    Ok(())
}
