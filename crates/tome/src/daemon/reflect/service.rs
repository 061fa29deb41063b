//! The gRPC service for reflections on request: on the whole session, even if parts were reflected
//! on before.

use std::sync::{Arc, PoisonError};

use tome_agent::{Reflection, ReflectionError, SessionActivity, find_skip_reason};
use tome_home::{EventQuery, HomeError};
use tome_llm::ChatModel;
use tome_model::{Event, SessionId};
use tome_proto::v1;
use tome_proto::v1::reflections_server::Reflections;
use tonic::{Request, Response, Status};

use super::{load_events, run_reflection};
use crate::chat_model::MODEL_SETUP_HINT;
use crate::daemon::drain::drain;
use crate::daemon::grpc_status::{invalid_argument, status_of};
use crate::daemon::reflection_queue::WaitingSession;
use crate::daemon::request_fields::non_empty;
use crate::daemon::state::Daemon;
use tome_home::Projection;

pub struct ReflectionsService(pub Arc<Daemon>);

#[tonic::async_trait]
impl Reflections for ReflectionsService {
    async fn reflect(
        &self,
        request: Request<v1::ReflectRequest>,
    ) -> Result<Response<v1::ReflectResponse>, Status> {
        let request = request.into_inner();
        // Without a permit: it takes as long as the model does, and must not delay other calls.
        let (daemon, activity) = (Arc::clone(&self.0), self.0.activity.begin());
        let work = tokio::task::spawn_blocking(move || {
            let _activity = activity;
            reflect_on_request(&daemon, &request)
        });
        let done = work.await.map_err(|error| {
            self.0.log.write(&format!("a reflection panicked: {error}"));
            Status::internal("the daemon failed; see its log")
        });
        Ok(Response::new(done??))
    }
}

fn reflect_on_request(
    daemon: &Daemon,
    request: &v1::ReflectRequest,
) -> Result<v1::ReflectResponse, Status> {
    let model = match &daemon.models.chat.model {
        Ok(Some(model)) => model,
        Ok(None) => {
            let problem = format!("no model is configured for reflection: {MODEL_SETUP_HINT}");
            return Err(Status::failed_precondition(problem));
        }
        Err(failure) => return Err(Status::failed_precondition(failure.to_string())),
    };
    drain(daemon);
    let session = find_session(daemon, request)?;
    let events = load_events(daemon, &session).map_err(|error| status_of(&error))?;
    let activity = SessionActivity::from_events(&events);
    let skipped =
        find_skip_reason(&activity).map(|skip| skip.as_str().to_owned()).unwrap_or_default();
    let response = v1::ReflectResponse {
        session_id: session.session.clone(),
        agent: session.agent.clone(),
        project: session.project.clone(),
        model: model.name().to_owned(),
        events: events.len() as u64,
        messages: activity.messages as u64,
        skipped,
        ..v1::ReflectResponse::default()
    };
    if request.dry_run || !response.skipped.is_empty() {
        return Ok(response);
    }
    let (done, problem) =
        run_and_record(daemon, model.as_ref(), &session).map_err(|error| status_of(&error))?;
    Ok(v1::ReflectResponse {
        written: done.written,
        refused: done.failed_calls,
        rounds: done.rounds,
        input_tokens: done.usage.input,
        cache_read_tokens: done.usage.cache_read,
        cache_written_tokens: done.usage.cache_written,
        output_tokens: done.usage.output,
        problem,
        ..response
    })
}

/// Reflects once no other reflection runs, and records it. The text is the reason if it was
/// interrupted.
fn run_and_record(
    daemon: &Daemon,
    model: &dyn ChatModel,
    session: &WaitingSession,
) -> Result<(Reflection, String), HomeError> {
    let _guard = daemon.reflector.reflect_lock.lock().unwrap_or_else(PoisonError::into_inner);
    // Catch up first: events queued only after this reflection would cause another one.
    let store = daemon.engine.stores().open(&session.store)?;
    if daemon.reflector.is_behind(&store)? {
        daemon.reflector.catch_up(&store, &|| false)?;
    }
    match run_reflection(daemon, model, session)? {
        Ok(done) => {
            let now_ms = daemon.engine.clock().now().0;
            daemon.reflector.queue.finish_manual(session, done.written.clone(), now_ms)?;
            Ok((done, String::new()))
        }
        Err(ReflectionError { cause, partial }) => Ok((*partial, cause.to_string())),
    }
}

/// Finds the requested session, or the latest one, with all of its events.
fn find_session(daemon: &Daemon, request: &v1::ReflectRequest) -> Result<WaitingSession, Status> {
    let session = non_empty(&request.session_id).map(SessionId::parse).transpose();
    let session = session.map_err(|error| invalid_argument(&error))?;
    let query = EventQuery {
        session,
        project: non_empty(&request.project).map(str::to_owned),
        newest_first: true,
        events_max: 1,
        bytes_max: 1,
        ..EventQuery::default()
    };
    let read = daemon.engine.stores().query_events(&query).map_err(|error| status_of(&error))?;
    let Some(latest) = read.events.into_iter().next() else {
        return Err(Status::not_found(match request.session_id.as_str() {
            "" => "there is no session yet".to_owned(),
            session => format!("there is no session {session:?}"),
        }));
    };
    let store = daemon.engine.stores().find_store_path(&latest.project);
    let store = store.ok_or_else(|| Status::not_found("the store of the session is gone"))?;
    let last_seq =
        daemon.engine.stores().open(&store).map_err(|error| status_of(&error))?.last_seq();
    Ok(whole_session(latest, store, last_seq))
}

fn whole_session(latest: Event, store: std::path::PathBuf, last_seq: u64) -> WaitingSession {
    WaitingSession {
        store,
        project: latest.project,
        session: latest.session.to_string(),
        agent: latest.agent.to_string(),
        first_seq: 0,
        last_seq,
        looked_seq: 0,
        last_ms: latest.arrived.0,
        activity_seq: last_seq,
        over_seq: last_seq,
        over_ms: latest.at.0,
        tries: 0,
        hold: None,
    }
}
