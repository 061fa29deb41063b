//! Injections, over the wire. A hook waits only so long: what is not ready by then is left out, and
//! what was read by then is used. A hint or a nudge that was left out may come with the next prompt, tool
//! result or stop; one that was handed over never comes again. Nothing here can keep an event from
//! being stored: it was, before the hook asked.

mod answer;
mod hint;
mod record;
mod request;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::Instant;
use tome_engine::{InjectionRecord, Injector, StartKind, StartRequest, TokenBudget};
use tome_model::{Agent, SessionId};
use tome_proto::v1;
use tome_proto::v1::injections_server::Injections;
use tonic::{Request, Response, Status};

use super::grpc_status::status_of;
use super::state::Daemon;
use record::keep;
use request::Asked;

/// A preview is in no hurry, but waits for nobody's lock for ever.
const PREVIEW_WITHIN: Duration = Duration::from_secs(20);
/// Injections of one listing.
const LISTED_MAX: u32 = 10_000;
/// What somebody else's record may hold: words, names of what was cut, the text.
const WORD_BYTES_MAX: usize = 40;
const CUT_MAX: usize = 32;
const TEXT_BYTES_MAX: usize = 64 * 1024;

/// The injections service.
pub struct InjectionsService(pub Arc<Daemon>);

#[tonic::async_trait]
impl Injections for InjectionsService {
    async fn inject(
        &self,
        request: Request<v1::InjectRequest>,
    ) -> Result<Response<v1::InjectResponse>, Status> {
        let asked = Arc::new(Asked::of(&self.0, request.into_inner())?);
        let (answer, awaited) = oneshot::channel();
        let service = Self(Arc::clone(&self.0));
        // A hook that gives up ends this call, but not what has to be kept of it.
        tokio::spawn(async move {
            let said = service.answer(&asked, || !answer.is_closed()).await;
            let _ = answer.send(said);
        });
        let gone = |_| Status::unavailable("the daemon is leaving");
        let text = awaited.await.map_err(gone)??;
        Ok(Response::new(v1::InjectResponse { text }))
    }

    async fn list_injections(
        &self,
        request: Request<v1::ListInjectionsRequest>,
    ) -> Result<Response<v1::ListInjectionsResponse>, Status> {
        let asked = request.into_inner();
        let listed = self.0.wait_for(move |daemon| {
            let (project, session) = (given(&asked.project), given(&asked.session_id));
            let limit = asked.limit.min(LISTED_MAX) as usize;
            Ok::<_, Status>(injector(daemon)?.list_injections(project, session, limit))
        });
        let injections = listed.await??.into_iter().map(record_to_wire).collect();
        Ok(Response::new(v1::ListInjectionsResponse { injections }))
    }

    async fn preview_injection(
        &self,
        request: Request<v1::PreviewInjectionRequest>,
    ) -> Result<Response<v1::PreviewInjectionResponse>, Status> {
        let asked = request.into_inner();
        let project = self.0.engine.stores().projects().resolve_project_or_guess(&asked.cwd, None);
        let settings = asked.settings.unwrap_or_default();
        let room = TokenBudget { tokens: settings.budget_tokens, bytes: asked.bytes_max as usize };
        let starting = StartRequest { project, session: None, kind: StartKind::Fresh };
        let until = Instant::now() + PREVIEW_WITHIN;
        let started = self.start(starting, room, until).await?;
        let answer = started.map(|(composed, _)| v1::PreviewInjectionResponse {
            text: composed.text,
            tokens: composed.tokens,
            cut: composed.cut,
        });
        Ok(Response::new(answer.unwrap_or_default()))
    }

    async fn record_injection(
        &self,
        request: Request<v1::RecordInjectionRequest>,
    ) -> Result<Response<v1::RecordInjectionResponse>, Status> {
        let asked = request.into_inner();
        let record = asked.record.unwrap_or_default();
        let refused = |error: tome_model::ModelError| Status::invalid_argument(error.to_string());
        let agent = Agent::parse(&record.agent).map_err(refused)?;
        let session = SessionId::parse(&record.session_id).map_err(refused)?;
        let short = |text: &str| tome_model::truncate_to(text, WORD_BYTES_MAX).to_owned();
        let kept = self.0.wait_for(move |daemon| {
            let record = InjectionRecord {
                at_ms: daemon.engine.clock().now().0,
                moment: short(&record.moment),
                why: short(&record.why),
                agent: agent.to_string(),
                session_id: session.to_string(),
                project: daemon
                    .engine
                    .stores()
                    .projects()
                    .resolve_project_or_guess(&asked.cwd, None),
                tokens: record.tokens,
                cut: record.cut.iter().take(CUT_MAX).map(|name| short(name)).collect(),
                took_ms: record.took_ms,
                handed: record.handed,
                text: tome_model::truncate_to(&record.text, TEXT_BYTES_MAX).to_owned(),
            };
            injector(daemon)?.log_injection(&record).map_err(|error| status_of(&error))
        });
        kept.await??;
        Ok(Response::new(v1::RecordInjectionResponse {}))
    }
}

impl InjectionsService {
    /// What a hook is answered, once it is kept whether it was in time. `is_awaited` says whether the
    /// hook is still there.
    async fn answer(
        &self,
        asked: &Arc<Asked>,
        is_awaited: impl Fn() -> bool,
    ) -> Result<String, Status> {
        let said = self.say(asked).await?;
        let handed = Instant::now() <= asked.until && is_awaited();
        let texts: Vec<String> = said.iter().map(|one| one.composed.text.clone()).collect();
        if !said.is_empty() {
            let asked = Arc::clone(asked);
            // A record that cannot be written is told in the log; the text is worth more.
            self.0.wait_for(move |daemon| keep(daemon, &asked, said, handed)).await?;
        }
        Ok(if handed { texts.join("\n") } else { String::new() })
    }
}

fn injector(daemon: &Daemon) -> Result<&Injector, Status> {
    daemon.engine.injector().map_err(|error| Status::internal(error.to_string()))
}

fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn record_to_wire(record: InjectionRecord) -> v1::InjectionRecord {
    v1::InjectionRecord {
        at_ms: record.at_ms,
        moment: record.moment,
        why: record.why,
        agent: record.agent,
        session_id: record.session_id,
        project: record.project,
        tokens: record.tokens,
        cut: record.cut,
        took_ms: record.took_ms,
        handed: record.handed,
        text: record.text,
    }
}
