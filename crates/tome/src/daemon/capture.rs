//! The way in, over the wire.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tome_ledger::Outcome;
use tome_proto::v1::capture_server::Capture;
use tome_proto::{draft_from_wire, limits, v1};
use tonic::{Request, Response, Status, Streaming};

use super::shared::{Shared, status_of};

/// The capture service.
pub struct CaptureService(pub Arc<Shared>);

type Answer = Result<v1::IngestEventsResponse, Status>;

#[tonic::async_trait]
impl Capture for CaptureService {
    type IngestEventsStream = std::pin::Pin<Box<dyn Stream<Item = Answer> + Send>>;

    async fn ingest_event(
        &self,
        request: Request<v1::IngestEventRequest>,
    ) -> Result<Response<v1::IngestEventResponse>, Status> {
        let event = request
            .into_inner()
            .event
            .ok_or_else(|| Status::invalid_argument("event is missing"))?;
        let draft = draft_from_wire(event).map_err(|error| {
            self.0.counters.rejected.fetch_add(1, Ordering::Relaxed);
            Status::invalid_argument(error.to_string())
        })?;
        let mut answers = self.0.wait_for(move |shared| shared.ingest(vec![draft])).await?;
        let appended = match answers.pop() {
            Some(Ok(appended)) => appended,
            Some(Err(error)) => return Err(status_of(&error)),
            None => return Err(Status::internal("no answer from the ledger")),
        };
        Ok(Response::new(v1::IngestEventResponse {
            id: appended.id.into(),
            created: appended.outcome == Outcome::Stored,
            daemon_version: env!("CARGO_PKG_VERSION").to_owned(),
        }))
    }

    async fn ingest_events(
        &self,
        request: Request<Streaming<v1::IngestEventsRequest>>,
    ) -> Result<Response<Self::IngestEventsStream>, Status> {
        let shared = Arc::clone(&self.0);
        let mut batches = request.into_inner();
        // The channel's size is what bounds the batches in flight; answers keep their order.
        let (sender, answers) = mpsc::channel::<JoinHandle<Answer>>(limits::BATCHES_IN_FLIGHT_MAX);
        tokio::spawn(async move {
            while let Some(batch) = batches.next().await {
                let shared = Arc::clone(&shared);
                let work = tokio::spawn(async move { store(&shared, batch?.events).await });
                if sender.send(work).await.is_err() {
                    return;
                }
            }
        });
        let answers = ReceiverStream::new(answers).then(|work| async move {
            work.await.unwrap_or_else(|error| Err(Status::internal(error.to_string())))
        });
        Ok(Response::new(Box::pin(answers)))
    }
}

/// Stores a batch. What is wrong with an event is reported with its place; a ledger that fails fails
/// the batch, and sending it again is harmless.
async fn store(shared: &Arc<Shared>, events: Vec<v1::Draft>) -> Answer {
    if events.len() > limits::BATCH_EVENTS_MAX {
        return Err(Status::invalid_argument(format!(
            "a batch of {} events: send at most {} at a time",
            events.len(),
            limits::BATCH_EVENTS_MAX
        )));
    }
    shared.wait_for(move |shared| store_now(shared, events)).await?
}

fn store_now(shared: &Shared, events: Vec<v1::Draft>) -> Answer {
    let mut answer = v1::IngestEventsResponse::default();
    let mut drafts = Vec::with_capacity(events.len());
    let mut places = Vec::with_capacity(events.len());
    for (index, event) in (0u32..).zip(events) {
        match draft_from_wire(event) {
            Ok(draft) => {
                drafts.push(draft);
                places.push(index);
            }
            Err(error) => answer.rejected.push(v1::Rejected { index, reason: error.to_string() }),
        }
    }
    for (ingested, index) in shared.ingest(drafts).into_iter().zip(places) {
        match ingested {
            Ok(appended) if appended.outcome == Outcome::Stored => answer.created += 1,
            Ok(_) => answer.duplicates += 1,
            Err(error) if error.is_callers_fault() => {
                answer.rejected.push(v1::Rejected { index, reason: error.to_string() });
            }
            Err(error) => return Err(status_of(&error)),
        }
    }
    shared.counters.rejected.fetch_add(answer.rejected.len() as u64, Ordering::Relaxed);
    Ok(answer)
}
