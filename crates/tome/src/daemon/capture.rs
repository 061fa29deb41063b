//! The gRPC service that stores events.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::ReceiverStream;
use tokio_stream::{Stream, StreamExt};
use tome_engine::{IngestResult, PreparedDrafts};
use tome_ledger::AppendOutcome;
use tome_model::DeliveredDraft;
use tome_proto::v1::capture_server::Capture;
use tome_proto::{delivered_from_wire, draft_from_wire, limits, v1};
use tonic::{Request, Response, Status, Streaming};

use super::calls::CallKind;
use super::grpc_status::status_of;
use super::state::Daemon;

pub struct CaptureService(pub Arc<Daemon>);

type BatchResult = Result<v1::IngestEventsResponse, Status>;

#[tonic::async_trait]
impl Capture for CaptureService {
    type IngestEventsStream = std::pin::Pin<Box<dyn Stream<Item = BatchResult> + Send>>;

    async fn ingest_event(
        &self,
        request: Request<v1::IngestEventRequest>,
    ) -> Result<Response<v1::IngestEventResponse>, Status> {
        let delivered = delivered_from_wire(request.into_inner()).map_err(|error| {
            self.0.counters.rejected.fetch_add(1, Ordering::Relaxed);
            Status::invalid_argument(error.to_string())
        })?;
        let delivered = delivered.ok_or_else(|| Status::invalid_argument("event is missing"))?;
        let mut results = store_event(&self.0, delivered).await?;
        let appended = match results.pop() {
            Some(Ok(appended)) => appended,
            Some(Err(error)) => return Err(status_of(&error)),
            None => return Err(Status::internal("the ledger returned no result")),
        };
        Ok(Response::new(v1::IngestEventResponse {
            id: appended.id.into(),
            created: appended.outcome == AppendOutcome::Stored,
            daemon_version: env!("CARGO_PKG_VERSION").to_owned(),
        }))
    }

    async fn ingest_events(
        &self,
        request: Request<Streaming<v1::IngestEventsRequest>>,
    ) -> Result<Response<Self::IngestEventsStream>, Status> {
        // The channel capacities bound the batches in flight.
        let (to_submit, prepared) = mpsc::channel(limits::BATCHES_IN_FLIGHT_MAX);
        let (to_report, results) = mpsc::channel(limits::BATCHES_IN_FLIGHT_MAX);
        tokio::spawn(prepare_batches(Arc::clone(&self.0), request.into_inner(), to_submit));
        tokio::spawn(submit_batches(Arc::clone(&self.0), prepared, to_report));
        let results = ReceiverStream::new(results).then(SubmittedBatch::wait);
        Ok(Response::new(Box::pin(results)))
    }
}

/// Stores one event. Uses no blocking thread if its project is known and its store open.
async fn store_event(
    daemon: &Arc<Daemon>,
    delivered: DeliveredDraft,
) -> Result<Vec<IngestResult>, Status> {
    let _busy = daemon.activity.begin();
    if !daemon.engine.stores().has_session_index() {
        // Loading or rebuilding the session index reads from disk.
        let work = |daemon: &Arc<Daemon>| daemon.engine.stores().session_index().map(drop);
        daemon.run_blocking(CallKind::Ledger, work).await?.map_err(|error| status_of(&error))?;
    }
    let prepared = if daemon.engine.intake().can_prepare_without_io(&delivered.draft) {
        daemon.prepare(vec![delivered])
    } else {
        // Resolving the project reads its folder, which may be on a slow disk.
        daemon.run_blocking(CallKind::Ledger, move |daemon| daemon.prepare(vec![delivered])).await?
    };
    let results = if daemon.engine.intake().can_submit_without_io(&prepared) {
        daemon.submit(prepared)
    } else {
        daemon.run_blocking(CallKind::Ledger, move |daemon| daemon.submit(prepared)).await?
    };
    results.await.map_err(|_| Status::unavailable("the daemon is stopping"))
}

/// A redacted and encoded batch, with the request index of each event and the rejections so far.
struct PreparedBatch {
    prepared: PreparedDrafts,
    indexes: Vec<u32>,
    rejected: Vec<v1::Rejected>,
}

/// A batch queued for the ledger.
enum SubmittedBatch {
    Pending {
        results: oneshot::Receiver<Vec<IngestResult>>,
        indexes: Vec<u32>,
        rejected: Vec<v1::Rejected>,
    },
    Failed(Status),
}

/// Receives batches and prepares several of them in parallel.
async fn prepare_batches(
    daemon: Arc<Daemon>,
    mut batches: Streaming<v1::IngestEventsRequest>,
    to_submit: mpsc::Sender<JoinHandle<Result<PreparedBatch, Status>>>,
) {
    loop {
        let batch = tokio::select! {
            batch = batches.next() => batch,
            () = daemon.stop_requested() => {
                Some(Err(Status::unavailable("the daemon is stopping; send the remaining events again")))
            }
        };
        let Some(batch) = batch else { return };
        let is_last = batch.is_err();
        let preparing = Arc::clone(&daemon);
        let batch = tokio::task::spawn_blocking(move || prepare_batch(&preparing, batch?.events));
        if to_submit.send(batch).await.is_err() || is_last {
            return;
        }
    }
}

/// Queues batches in order of arrival, which is also the order of events with equal timestamps.
async fn submit_batches(
    daemon: Arc<Daemon>,
    mut prepared: mpsc::Receiver<JoinHandle<Result<PreparedBatch, Status>>>,
    to_report: mpsc::Sender<SubmittedBatch>,
) {
    while let Some(batch) = prepared.recv().await {
        let batch = batch.await.unwrap_or_else(|error| Err(Status::internal(error.to_string())));
        let submitted = match batch {
            Ok(PreparedBatch { prepared, indexes, rejected }) => {
                match daemon
                    .run_blocking(CallKind::Ledger, move |daemon| daemon.submit(prepared))
                    .await
                {
                    Ok(results) => SubmittedBatch::Pending { results, indexes, rejected },
                    Err(status) => SubmittedBatch::Failed(status),
                }
            }
            Err(status) => SubmittedBatch::Failed(status),
        };
        if to_report.send(submitted).await.is_err() {
            return;
        }
    }
}

fn prepare_batch(daemon: &Daemon, events: Vec<v1::Draft>) -> Result<PreparedBatch, Status> {
    if events.len() > limits::BATCH_EVENTS_MAX {
        return Err(Status::invalid_argument(format!(
            "the batch has {} events; send at most {}",
            events.len(),
            limits::BATCH_EVENTS_MAX
        )));
    }
    let (mut drafts, mut indexes, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
    for (index, event) in (0u32..).zip(events) {
        match draft_from_wire(event) {
            Ok(draft) => {
                drafts.push(draft.into());
                indexes.push(index);
            }
            Err(error) => rejected.push(v1::Rejected { index, reason: error.to_string() }),
        }
    }
    daemon.counters.rejected.fetch_add(rejected.len() as u64, Ordering::Relaxed);
    Ok(PreparedBatch { prepared: daemon.prepare(drafts), indexes, rejected })
}

impl SubmittedBatch {
    /// Waits for the results. An invalid event is rejected by its index; an error of the ledger
    /// fails the whole batch, which the client can safely send again.
    async fn wait(self) -> BatchResult {
        let (results, indexes, rejected) = match self {
            Self::Pending { results, indexes, rejected } => (results, indexes, rejected),
            Self::Failed(status) => return Err(status),
        };
        let results = results.await.map_err(|_| Status::unavailable("the daemon is stopping"))?;
        let mut response =
            v1::IngestEventsResponse { rejected, ..v1::IngestEventsResponse::default() };
        for (ingested, index) in results.into_iter().zip(indexes) {
            match ingested {
                Ok(appended) if appended.outcome == AppendOutcome::Stored => response.created += 1,
                Ok(_) => response.duplicates += 1,
                Err(error) if error.is_callers_fault() => {
                    response.rejected.push(v1::Rejected { index, reason: error.to_string() });
                }
                Err(error) => return Err(status_of(&error)),
            }
        }
        Ok(response)
    }
}
