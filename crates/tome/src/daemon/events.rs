//! The gRPC service that reads events.

use std::sync::Arc;

use tome_home::EventQuery;
use tome_model::{Agent, InvalidInput, Millis, SessionId};
use tome_proto::v1::events_server::Events;
use tome_proto::{event_to_wire, limits, v1};
use tonic::{Request, Response, Status};

use super::calls::CallKind;
use super::drain::drain;
use super::grpc_status::{invalid_argument, status_of};
use super::request_fields::non_empty;
use super::state::Daemon;

pub struct EventsService(pub Arc<Daemon>);

#[tonic::async_trait]
impl Events for EventsService {
    async fn get_events(
        &self,
        request: Request<v1::GetEventsRequest>,
    ) -> Result<Response<v1::GetEventsResponse>, Status> {
        let query = parse_query(&request.into_inner()).map_err(|error| invalid_argument(&error))?;
        let page = self
            .0
            .run_blocking(CallKind::Ledger, move |daemon| {
                let missing = drain(daemon);
                let mut page = daemon.engine.stores().query_events(&query)?;
                page.skipped.extend(missing);
                Ok(page)
            })
            .await?;
        let page = page.map_err(|error| status_of(&error))?;
        Ok(Response::new(v1::GetEventsResponse {
            events: page.events.into_iter().map(event_to_wire).collect(),
            continuation: page.more_after.unwrap_or_default(),
            skipped: page.skipped,
            numbers: page.numbers,
        }))
    }

    async fn get_event(
        &self,
        request: Request<v1::GetEventRequest>,
    ) -> Result<Response<v1::GetEventResponse>, Status> {
        let request = request.into_inner();
        let found = self
            .0
            .run_blocking(CallKind::Ledger, move |daemon| {
                drain(daemon);
                daemon.engine.stores().find_event(&request.id, non_empty(&request.project))
            })
            .await?;
        let event = found.map_err(|error| status_of(&error))?;
        Ok(Response::new(v1::GetEventResponse { event: Some(event_to_wire(event)) }))
    }
}

fn parse_query(request: &v1::GetEventsRequest) -> Result<EventQuery, InvalidInput> {
    let limit = match request.limit {
        0 => limits::PAGE_EVENTS_DEFAULT,
        limit => limit.min(limits::PAGE_EVENTS_MAX),
    };
    Ok(EventQuery {
        from: request.from_ms.map(Millis),
        to: request.to_ms.map(Millis),
        session: non_empty(&request.session_id).map(SessionId::parse).transpose()?,
        project: non_empty(&request.project).map(str::to_owned),
        agents: request.agents.iter().map(|agent| Agent::parse(agent)).collect::<Result<_, _>>()?,
        kinds: request.kinds.iter().map(|kind| kind.parse()).collect::<Result<_, _>>()?,
        newest_first: request.newest_first,
        after: non_empty(&request.continuation).map(str::to_owned),
        events_max: limit as usize,
        bytes_max: limits::PAGE_BYTES_MAX,
    })
}
