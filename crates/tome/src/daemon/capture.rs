//! The way in, over the wire.

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

use super::grpc_status::status_of;
use super::state::Daemon;

/// The capture service.
pub struct CaptureService(pub Arc<Daemon>);

type Answer = Result<v1::IngestEventsResponse, Status>;

#[tonic::async_trait]
impl Capture for CaptureService {
    type IngestEventsStream = std::pin::Pin<Box<dyn Stream<Item = Answer> + Send>>;

    async fn ingest_event(
        &self,
        request: Request<v1::IngestEventRequest>,
    ) -> Result<Response<v1::IngestEventResponse>, Status> {
        let delivered = delivered_from_wire(request.into_inner()).map_err(|error| {
            self.0.counters.rejected.fetch_add(1, Ordering::Relaxed);
            Status::invalid_argument(error.to_string())
        })?;
        let delivered = delivered.ok_or_else(|| Status::invalid_argument("event is missing"))?;
        let mut answers = store_one(&self.0, delivered).await?;
        let appended = match answers.pop() {
            Some(Ok(appended)) => appended,
            Some(Err(error)) => return Err(status_of(&error)),
            None => return Err(Status::internal("no answer from the ledger")),
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
        // The channels' sizes are what bounds the batches in flight.
        let (to_submit, prepared) = mpsc::channel(limits::BATCHES_IN_FLIGHT_MAX);
        let (to_answer, answers) = mpsc::channel(limits::BATCHES_IN_FLIGHT_MAX);
        tokio::spawn(prepare_batches(Arc::clone(&self.0), request.into_inner(), to_submit));
        tokio::spawn(submit_batches(Arc::clone(&self.0), prepared, to_answer));
        let answers = ReceiverStream::new(answers).then(Submitted::answer);
        Ok(Response::new(Box::pin(answers)))
    }
}

/// Stores one event. If its project is known and its store open, nothing here waits on a thread.
async fn store_one(
    daemon: &Arc<Daemon>,
    delivered: DeliveredDraft,
) -> Result<Vec<IngestResult>, Status> {
    let _busy = daemon.begin();
    if !daemon.engine.stores().has_session_index() {
        // Reading the index of sessions, or rebuilding it, waits for the disk.
        let work = |daemon: &Daemon| daemon.engine.stores().session_index().map(drop);
        daemon.wait_for(work).await?.map_err(|error| status_of(&error))?;
    }
    let prepared = match daemon.engine.intake().is_resolved(&delivered.draft) {
        true => daemon.prepare(vec![delivered]),
        // The project's folder is looked at, and may be on a disk that is slow or hangs.
        false => daemon.wait_for(move |daemon| daemon.prepare(vec![delivered])).await?,
    };
    let answers = if daemon.engine.intake().can_submit_now(&prepared) {
        daemon.submit(prepared)
    } else {
        let theirs = Arc::clone(daemon);
        daemon.wait_for(move |_| theirs.submit(prepared)).await?
    };
    answers.await.map_err(|_| Status::unavailable("the daemon is leaving"))
}

/// A batch that is sealed and encoded, with the places of its events and those refused so far.
struct Ready {
    prepared: PreparedDrafts,
    places: Vec<u32>,
    rejected: Vec<v1::Rejected>,
}

/// A batch that is on its way to the disk.
enum Submitted {
    Pending {
        answers: oneshot::Receiver<Vec<IngestResult>>,
        places: Vec<u32>,
        rejected: Vec<v1::Rejected>,
    },
    Failed(Status),
}

/// Reads batches and has them sealed and encoded, several at a time.
async fn prepare_batches(
    daemon: Arc<Daemon>,
    mut batches: Streaming<v1::IngestEventsRequest>,
    to_submit: mpsc::Sender<JoinHandle<Result<Ready, Status>>>,
) {
    loop {
        let batch = tokio::select! {
            batch = batches.next() => batch,
            () = daemon.leaving() => {
                Some(Err(Status::unavailable("the daemon is leaving; send the rest again")))
            }
        };
        let Some(batch) = batch else { return };
        let is_last = batch.is_err();
        let theirs = Arc::clone(&daemon);
        let ready = tokio::task::spawn_blocking(move || prepare(&theirs, batch?.events));
        if to_submit.send(ready).await.is_err() || is_last {
            return;
        }
    }
}

/// Queues batches in the order in which they came: within one moment events keep it.
async fn submit_batches(
    daemon: Arc<Daemon>,
    mut prepared: mpsc::Receiver<JoinHandle<Result<Ready, Status>>>,
    to_answer: mpsc::Sender<Submitted>,
) {
    while let Some(ready) = prepared.recv().await {
        let ready = ready.await.unwrap_or_else(|error| Err(Status::internal(error.to_string())));
        let submitted = match ready {
            Ok(Ready { prepared, places, rejected }) => {
                let theirs = Arc::clone(&daemon);
                match daemon.wait_for(move |_| theirs.submit(prepared)).await {
                    Ok(answers) => Submitted::Pending { answers, places, rejected },
                    Err(status) => Submitted::Failed(status),
                }
            }
            Err(status) => Submitted::Failed(status),
        };
        if to_answer.send(submitted).await.is_err() {
            return;
        }
    }
}

fn prepare(daemon: &Daemon, events: Vec<v1::Draft>) -> Result<Ready, Status> {
    if events.len() > limits::BATCH_EVENTS_MAX {
        return Err(Status::invalid_argument(format!(
            "a batch of {} events: send at most {} at a time",
            events.len(),
            limits::BATCH_EVENTS_MAX
        )));
    }
    let (mut drafts, mut places, mut rejected) = (Vec::new(), Vec::new(), Vec::new());
    for (index, event) in (0u32..).zip(events) {
        match draft_from_wire(event) {
            Ok(draft) => {
                drafts.push(draft.into());
                places.push(index);
            }
            Err(error) => rejected.push(v1::Rejected { index, reason: error.to_string() }),
        }
    }
    daemon.counters.rejected.fetch_add(rejected.len() as u64, Ordering::Relaxed);
    Ok(Ready { prepared: daemon.prepare(drafts), places, rejected })
}

impl Submitted {
    /// What is wrong with an event is reported with its place; a ledger that fails fails the batch,
    /// and sending it again is harmless.
    async fn answer(self) -> Answer {
        let (answers, places, rejected) = match self {
            Self::Pending { answers, places, rejected } => (answers, places, rejected),
            Self::Failed(status) => return Err(status),
        };
        let answers = answers.await.map_err(|_| Status::unavailable("the daemon is leaving"))?;
        let mut answer =
            v1::IngestEventsResponse { rejected, ..v1::IngestEventsResponse::default() };
        for (ingested, index) in answers.into_iter().zip(places) {
            match ingested {
                Ok(appended) if appended.outcome == AppendOutcome::Stored => answer.created += 1,
                Ok(_) => answer.duplicates += 1,
                Err(error) if error.is_callers_fault() => {
                    answer.rejected.push(v1::Rejected { index, reason: error.to_string() });
                }
                Err(error) => return Err(status_of(&error)),
            }
        }
        Ok(answer)
    }
}
