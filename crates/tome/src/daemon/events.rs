//! The way back, over the wire.

use std::sync::Arc;

use tome_home::EventQuery;
use tome_model::{Agent, Millis, ModelError, SessionId};
use tome_proto::v1::events_server::Events;
use tome_proto::{event_to_wire, limits, v1};
use tonic::{Request, Response, Status};

use super::drain::drain;
use super::grpc_status::status_of;
use super::state::Daemon;

/// The events service.
pub struct EventsService(pub Arc<Daemon>);

#[tonic::async_trait]
impl Events for EventsService {
    async fn get_events(
        &self,
        request: Request<v1::GetEventsRequest>,
    ) -> Result<Response<v1::GetEventsResponse>, Status> {
        let question = question(&request.into_inner())
            .map_err(|error| Status::invalid_argument(error.to_string()))?;
        let answer = self
            .0
            .wait_for(move |daemon| {
                let waiting = drain(daemon);
                let mut answer = daemon.engine.stores().query_events(&question)?;
                answer.skipped.extend(waiting);
                Ok(answer)
            })
            .await?;
        let answer = answer.map_err(|error| status_of(&error))?;
        Ok(Response::new(v1::GetEventsResponse {
            events: answer.events.into_iter().map(event_to_wire).collect(),
            continuation: answer.more_after.unwrap_or_default(),
            skipped: answer.skipped,
        }))
    }

    async fn get_event(
        &self,
        request: Request<v1::GetEventRequest>,
    ) -> Result<Response<v1::GetEventResponse>, Status> {
        let asked = request.into_inner();
        let found = self
            .0
            .wait_for(move |daemon| {
                drain(daemon);
                daemon.engine.stores().find_event(&asked.id, given(&asked.project))
            })
            .await?;
        let event = found.map_err(|error| status_of(&error))?;
        Ok(Response::new(v1::GetEventResponse { event: Some(event_to_wire(event)) }))
    }
}

fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn question(asked: &v1::GetEventsRequest) -> Result<EventQuery, ModelError> {
    let limit = match asked.limit {
        0 => limits::PAGE_EVENTS_DEFAULT,
        limit => limit.min(limits::PAGE_EVENTS_MAX),
    };
    Ok(EventQuery {
        from: asked.from_ms.map(Millis),
        to: asked.to_ms.map(Millis),
        session: given(&asked.session_id).map(SessionId::parse).transpose()?,
        project: given(&asked.project).map(str::to_owned),
        agents: asked.agents.iter().map(|agent| Agent::parse(agent)).collect::<Result<_, _>>()?,
        kinds: asked.kinds.iter().map(|kind| kind.parse()).collect::<Result<_, _>>()?,
        newest_first: asked.newest_first,
        after: given(&asked.continuation).map(str::to_owned),
        events_max: limit as usize,
        bytes_max: limits::PAGE_BYTES_MAX,
    })
}
