//! A typed client, with the calls of the Daemon, Capture and Events services. Those of the other services are
//! in the files named like their `.proto`. Every call has a deadline, so that no client hangs waiting for the
//! daemon.

use std::future::Future;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tome_model::{DeliveredDraft, Event, EventKind, Millis};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Channel, Endpoint, Uri};
use tonic::{Request, Status, Streaming};

use crate::v1::capture_client::CaptureClient;
use crate::v1::daemon_client::DaemonClient;
use crate::v1::events_client::EventsClient;
use crate::{ClientError, convert, limits, v1};

pub(crate) type AuthorizedChannel = InterceptedService<Channel, BearerToken>;

/// A connection to the daemon.
#[derive(Debug, Clone)]
pub struct Client {
    pub(crate) wire: AuthorizedChannel,
}

/// Selects events.
#[derive(Debug, Clone, Default)]
pub struct EventListQuery {
    /// Start of the time range, inclusive.
    pub from: Option<Millis>,
    /// End of the time range, exclusive.
    pub to: Option<Millis>,
    /// Only this session.
    pub session: Option<String>,
    /// Only this project, by its root.
    pub project: Option<String>,
    /// Only these agents; all when empty.
    pub agents: Vec<String>,
    /// Only these kinds; all when empty.
    pub kinds: Vec<EventKind>,
    /// Page size; 0 means the daemon's default.
    pub limit: u32,
    /// Reverse the order.
    pub newest_first: bool,
    /// Continuation of the previous page; empty for the first.
    pub continuation: String,
}

/// A page of events.
#[derive(Debug, Clone)]
pub struct EventListPage {
    /// The events, in the query's order.
    pub events: Vec<Event>,
    /// The numbers of the events in their projects, in the same order.
    pub numbers: Vec<u64>,
    /// Continuation for the next page; `None` on the last.
    pub continuation: Option<String>,
    /// Stores that could not be read, with the reason.
    pub skipped: Vec<String>,
}

impl Client {
    /// Connects over streams that `connect` opens: now, and again if the connection is lost. Sends
    /// the token, if any, with every call.
    pub async fn connect<C, F, S>(connect: C, token: Option<&str>) -> Result<Self, ClientError>
    where
        C: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = std::io::Result<S>> + Send + 'static,
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let connector = tower::service_fn(move |_: Uri| {
            let stream = connect();
            async move { stream.await.map(TokioIo::new) }
        });
        let channel = Endpoint::from_static("http://tome.invalid")
            .initial_stream_window_size(4 * 1024 * 1024)
            .initial_connection_window_size(8 * 1024 * 1024)
            .connect_with_connector(connector)
            .await
            .map_err(|error| ClientError::Unreachable(root_cause(&error)))?;
        let bearer =
            token.map(|token| format!("Bearer {token}").parse()).transpose().map_err(|_| {
                ClientError::Invalid(
                    "the token contains characters that are not allowed in a header".into(),
                )
            })?;
        Ok(Self { wire: InterceptedService::new(channel, BearerToken(bearer)) })
    }

    /// Stores an event. With a delivery it is stored once, however often it arrives.
    pub async fn ingest(
        &self,
        event: impl Into<DeliveredDraft>,
        within: Duration,
    ) -> Result<v1::IngestEventResponse, ClientError> {
        let DeliveredDraft { draft, delivery } = event.into();
        let request = v1::IngestEventRequest {
            event: Some(convert::draft_to_wire(draft)),
            delivery: delivery.map(|part| part.to_string()).unwrap_or_default(),
        };
        let mut capture = self.capture_client();
        call_with_deadline(within, capture.ingest_event(request)).await
    }

    /// Opens a bulk stream: batches go in, one response per batch comes out, in order.
    pub async fn ingest_stream(
        &self,
        batches: impl tonic::IntoStreamingRequest<Message = v1::IngestEventsRequest>,
    ) -> Result<Streaming<v1::IngestEventsResponse>, ClientError> {
        let mut capture = self.capture_client();
        Ok(capture.ingest_events(batches).await?.into_inner())
    }

    /// Reads a page of events.
    pub async fn list_events(&self, query: EventListQuery) -> Result<EventListPage, ClientError> {
        let request = v1::GetEventsRequest {
            from_ms: query.from.map(|at| at.0),
            to_ms: query.to.map(|at| at.0),
            session_id: query.session.unwrap_or_default(),
            project: query.project.unwrap_or_default(),
            agents: query.agents,
            kinds: query.kinds.iter().map(|kind| kind.as_str().to_owned()).collect(),
            limit: query.limit,
            newest_first: query.newest_first,
            continuation: query.continuation,
        };
        let mut events = self.events_client();
        let page =
            call_with_deadline(limits::LONG_CALL_TIMEOUT, events.get_events(request)).await?;
        let events =
            page.events.into_iter().map(convert::event_from_wire).collect::<Result<_, _>>();
        Ok(EventListPage {
            numbers: page.numbers,
            events: events.map_err(|error| ClientError::Malformed(error.to_string()))?,
            continuation: Some(page.continuation).filter(|token| !token.is_empty()),
            skipped: page.skipped,
        })
    }

    /// Reads an event by its id or an id prefix.
    pub async fn get_event(&self, id: &str, project: Option<&str>) -> Result<Event, ClientError> {
        let request = v1::GetEventRequest {
            id: id.to_owned(),
            project: project.unwrap_or_default().to_owned(),
        };
        let mut events = self.events_client();
        let found =
            call_with_deadline(limits::LONG_CALL_TIMEOUT, events.get_event(request)).await?;
        let event =
            found.event.ok_or_else(|| ClientError::Malformed("it contains no event".into()))?;
        convert::event_from_wire(event).map_err(|error| ClientError::Malformed(error.to_string()))
    }

    /// Returns the daemon's status; `counts` adds what its stores contain.
    pub async fn get_status(&self, counts: bool) -> Result<v1::StatusResponse, ClientError> {
        let within = if counts { limits::LONG_CALL_TIMEOUT } else { limits::CALL_TIMEOUT };
        call_with_deadline(within, self.daemon_client().status(v1::StatusRequest { counts })).await
    }

    /// Flushes memory tables to disk.
    pub async fn flush(&self) -> Result<v1::FlushResponse, ClientError> {
        call_with_deadline(
            limits::LONG_CALL_TIMEOUT,
            self.daemon_client().flush(v1::FlushRequest {}),
        )
        .await
    }

    /// Merges sessions that are stored in several projects.
    pub async fn merge_sessions(
        &self,
        dry_run: bool,
    ) -> Result<v1::MergeSessionsResponse, ClientError> {
        let request = v1::MergeSessionsRequest { dry_run };
        call_with_deadline(limits::LONG_CALL_TIMEOUT, self.daemon_client().merge_sessions(request))
            .await
    }

    /// Rewrites the stores without superseded data.
    pub async fn compact(&self) -> Result<v1::CompactResponse, ClientError> {
        call_with_deadline(
            limits::LONG_CALL_TIMEOUT,
            self.daemon_client().compact(v1::CompactRequest {}),
        )
        .await
    }

    /// Verifies every file of the stores.
    pub async fn verify_stores(
        &self,
        request: v1::VerifyStoresRequest,
    ) -> Result<v1::VerifyStoresResponse, ClientError> {
        call_with_deadline(limits::REBUILD_TIMEOUT, self.daemon_client().verify_stores(request))
            .await
    }

    /// Rebuilds damaged stores.
    pub async fn repair_stores(
        &self,
        request: v1::RepairStoresRequest,
    ) -> Result<Vec<v1::StoreRepaired>, ClientError> {
        Ok(call_with_deadline(limits::REBUILD_TIMEOUT, self.daemon_client().repair_stores(request))
            .await?
            .stores)
    }

    /// Asks the daemon to finish and exit.
    pub async fn shutdown(&self) -> Result<v1::ShutdownResponse, ClientError> {
        call_with_deadline(
            limits::CALL_TIMEOUT,
            self.daemon_client().shutdown(v1::ShutdownRequest {}),
        )
        .await
    }

    fn capture_client(&self) -> CaptureClient<AuthorizedChannel> {
        CaptureClient::new(self.wire.clone())
            .max_decoding_message_size(limits::MESSAGE_BYTES_MAX)
            .max_encoding_message_size(limits::MESSAGE_BYTES_MAX)
    }

    fn events_client(&self) -> EventsClient<AuthorizedChannel> {
        EventsClient::new(self.wire.clone()).max_decoding_message_size(limits::MESSAGE_BYTES_MAX)
    }

    fn daemon_client(&self) -> DaemonClient<AuthorizedChannel> {
        DaemonClient::new(self.wire.clone())
    }
}

pub(crate) async fn call_with_deadline<T>(
    within: Duration,
    answer: impl Future<Output = Result<tonic::Response<T>, Status>>,
) -> Result<T, ClientError> {
    match tokio::time::timeout(within, answer).await {
        Ok(answer) => Ok(answer?.into_inner()),
        Err(_) => Err(ClientError::TimedOut(within.as_millis())),
    }
}

fn root_cause(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// Adds the bearer token to every call.
#[derive(Debug, Clone)]
pub(crate) struct BearerToken(Option<MetadataValue<Ascii>>);

impl Interceptor for BearerToken {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(bearer) = &self.0 {
            request.metadata_mut().insert("authorization", bearer.clone());
        }
        Ok(request)
    }
}
