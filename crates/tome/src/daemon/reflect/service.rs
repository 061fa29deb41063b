//! Reflecting when somebody asks for it, over the wire: the whole session, however much of it was
//! reflected on before.

use std::sync::{Arc, PoisonError};

use tome_agent::{Reflection, ReflectionError, SessionActivity, find_skip_reason};
use tome_home::{EventQuery, HomeError};
use tome_llm::ChatModel;
use tome_model::{Event, SessionId};
use tome_proto::v1;
use tome_proto::v1::reflections_server::Reflections;
use tonic::{Request, Response, Status};

use super::queue::Waiting;
use super::{events_of, try_on};
use crate::chat_model::MODEL_SETUP_HINT;
use crate::daemon::drain::drain;
use crate::daemon::grpc_status::status_of;
use crate::daemon::state::Daemon;
use tome_home::Projection;

/// The reflections service.
pub struct ReflectionsService(pub Arc<Daemon>);

#[tonic::async_trait]
impl Reflections for ReflectionsService {
    async fn reflect(
        &self,
        request: Request<v1::ReflectRequest>,
    ) -> Result<Response<v1::ReflectResponse>, Status> {
        let asked = request.into_inner();
        // On a thread of its own and out of turn: it takes as long as the model does, and nobody who
        // wants to store or read something is to wait for it.
        let (daemon, busy) = (Arc::clone(&self.0), self.0.begin());
        let work = tokio::task::spawn_blocking(move || {
            let _busy = busy;
            by_hand(&daemon, &asked)
        });
        let done = work.await.map_err(|error| {
            self.0.log.say(&format!("a reflection failed: {error}"));
            Status::internal("the daemon failed at this; its log says more")
        });
        Ok(Response::new(done??))
    }
}

fn by_hand(daemon: &Daemon, asked: &v1::ReflectRequest) -> Result<v1::ReflectResponse, Status> {
    let model = match &daemon.models.chat.model {
        Ok(Some(model)) => model,
        Ok(None) => {
            let said = format!("no model is configured to reflect with: {MODEL_SETUP_HINT}");
            return Err(Status::failed_precondition(said));
        }
        Err(failure) => return Err(Status::failed_precondition(failure.to_string())),
    };
    drain(daemon);
    let on = whole(daemon, asked)?;
    let events = events_of(daemon, &on).map_err(|error| status_of(&error))?;
    let activity = SessionActivity::from_events(&events);
    let skipped =
        find_skip_reason(&activity).map(|skip| skip.as_str().to_owned()).unwrap_or_default();
    let answer = v1::ReflectResponse {
        session_id: on.session.clone(),
        agent: on.agent.clone(),
        project: on.project.clone(),
        model: model.name().to_owned(),
        events: events.len() as u64,
        messages: activity.messages as u64,
        skipped,
        ..v1::ReflectResponse::default()
    };
    if asked.dry_run || !answer.skipped.is_empty() {
        return Ok(answer);
    }
    let (done, problem) = ask(daemon, model.as_ref(), &on).map_err(|error| status_of(&error))?;
    Ok(v1::ReflectResponse {
        written: done.written,
        refused: done.failed_calls,
        rounds: done.rounds,
        input_tokens: done.usage.input,
        cache_read_tokens: done.usage.cache_read,
        cache_written_tokens: done.usage.cache_written,
        output_tokens: done.usage.output,
        problem,
        ..answer
    })
}

/// Reflects, when it is this one's turn, and keeps that it was done. Says why it was cut short, if it was.
fn ask(
    daemon: &Daemon,
    model: &dyn ChatModel,
    on: &Waiting,
) -> Result<(Reflection, String), HomeError> {
    let _turn = daemon.reflector.reflecting.lock().unwrap_or_else(PoisonError::into_inner);
    // What is read here is in the book before it is struck out: heard later, it would be news again.
    let store = daemon.engine.stores().open(&on.store)?;
    if daemon.reflector.is_behind(&store)? {
        daemon.reflector.catch_up(&store, &|| false)?;
    }
    match try_on(daemon, model, on)? {
        Ok(done) => {
            let now_ms = daemon.engine.clock().now().0;
            daemon.reflector.queue.done_by_hand(on, done.written.clone(), now_ms)?;
            Ok((done, String::new()))
        }
        Err(ReflectionError { cause, partial: so_far }) => Ok((*so_far, cause.to_string())),
    }
}

/// The session that is meant, all of it.
fn whole(daemon: &Daemon, asked: &v1::ReflectRequest) -> Result<Waiting, Status> {
    let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let session = given(&asked.session_id).map(|id| SessionId::parse(&id)).transpose();
    let session = session.map_err(|error| Status::invalid_argument(error.to_string()))?;
    let question = EventQuery {
        session,
        project: given(&asked.project),
        newest_first: true,
        events_max: 1,
        bytes_max: 1,
        ..EventQuery::default()
    };
    let read = daemon.engine.stores().query_events(&question).map_err(|error| status_of(&error))?;
    let Some(latest) = read.events.into_iter().next() else {
        return Err(Status::not_found(match asked.session_id.as_str() {
            "" => "there is no session here yet".to_owned(),
            session => format!("there is no session {session:?} here"),
        }));
    };
    let store = daemon.engine.stores().find_store_path(&latest.project);
    let store = store.ok_or_else(|| Status::not_found("its store is gone"))?;
    let last_seq =
        daemon.engine.stores().open(&store).map_err(|error| status_of(&error))?.last_seq();
    Ok(of_whole(latest, store, last_seq))
}

fn of_whole(latest: Event, store: std::path::PathBuf, last_seq: u64) -> Waiting {
    Waiting {
        store,
        project: latest.project,
        session: latest.session.to_string(),
        agent: latest.agent.to_string(),
        first_seq: 0,
        last_seq,
        looked_seq: 0,
        last_ms: latest.arrived.0,
        said_seq: last_seq,
        over_seq: last_seq,
        over_ms: latest.at.0,
        tries: 0,
        hold: None,
    }
}
