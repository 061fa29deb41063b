//! The gRPC service for injections. A hook has a deadline: parts that are not ready by then are
//! left out. A hint or trigger text that was left out may come with the next prompt, tool result or stop;
//! one that was handed over never comes again. The hook's event is already stored when it sends
//! this request, unless it announces a tool call, which is not stored.

mod before_tool;
mod dispatch;
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

use super::calls::CallKind;
use super::grpc_status::{invalid_argument, status_of};
use super::request_fields::non_empty;
use super::state::Daemon;
use record::record_injections;
use request::HookRequest;

/// A preview may take longer than a hook, but not wait for a lock forever.
const PREVIEW_TIMEOUT: Duration = Duration::from_secs(20);
const LISTED_MAX: u32 = 10_000;
/// Limits for a record that another process sends: words, names of cut parts, text.
const WORD_BYTES_MAX: usize = 40;
const CUT_MAX: usize = 32;
const TEXT_BYTES_MAX: usize = 64 * 1024;

pub struct InjectionsService(pub Arc<Daemon>);

#[tonic::async_trait]
impl Injections for InjectionsService {
    async fn inject(
        &self,
        request: Request<v1::InjectRequest>,
    ) -> Result<Response<v1::InjectResponse>, Status> {
        let request = Arc::new(HookRequest::from_wire(&self.0, request.into_inner())?);
        let (reply, response) = oneshot::channel();
        let service = Self(Arc::clone(&self.0));
        // A hook that gives up ends this call, but the outcome must still be recorded.
        tokio::spawn(async move {
            let text = service.inject_text(&request, || !reply.is_closed()).await;
            let _ = reply.send(text);
        });
        let stopped = |_| Status::unavailable("the daemon is stopping");
        let text = response.await.map_err(stopped)??;
        Ok(Response::new(v1::InjectResponse { text }))
    }

    async fn list_injections(
        &self,
        request: Request<v1::ListInjectionsRequest>,
    ) -> Result<Response<v1::ListInjectionsResponse>, Status> {
        let request = request.into_inner();
        let listed = self.0.run_blocking(CallKind::Ledger, move |daemon| {
            let (project, session) = (non_empty(&request.project), non_empty(&request.session_id));
            let limit = request.limit.min(LISTED_MAX) as usize;
            Ok::<_, Status>(require_injector(daemon)?.list_injections(project, session, limit))
        });
        let injections = listed.await??.into_iter().map(record_to_wire).collect();
        Ok(Response::new(v1::ListInjectionsResponse { injections }))
    }

    async fn preview_injection(
        &self,
        request: Request<v1::PreviewInjectionRequest>,
    ) -> Result<Response<v1::PreviewInjectionResponse>, Status> {
        let request = request.into_inner();
        let project =
            self.0.engine.stores().projects().resolve_project_or_guess(&request.cwd, None);
        let settings = request.settings.unwrap_or_default();
        let budget =
            TokenBudget { tokens: settings.budget_tokens, bytes: request.bytes_max as usize };
        let starting = StartRequest { project, session: None, kind: StartKind::Fresh };
        let deadline = Instant::now() + PREVIEW_TIMEOUT;
        let started = self.render_start(starting, budget, deadline).await?;
        let response = started.map(|(injected, _)| v1::PreviewInjectionResponse {
            text: injected.text,
            tokens: injected.tokens,
            cut: injected.cut,
        });
        Ok(Response::new(response.unwrap_or_default()))
    }

    async fn record_injection(
        &self,
        request: Request<v1::RecordInjectionRequest>,
    ) -> Result<Response<v1::RecordInjectionResponse>, Status> {
        let request = request.into_inner();
        let record = request.record.unwrap_or_default();
        let agent = Agent::parse(&record.agent).map_err(|error| invalid_argument(&error))?;
        let session =
            SessionId::parse(&record.session_id).map_err(|error| invalid_argument(&error))?;
        let short = |text: &str| tome_model::truncate_to(text, WORD_BYTES_MAX).to_owned();
        let recorded = self.0.run_blocking(CallKind::Ledger, move |daemon| {
            let record = InjectionRecord {
                at_ms: daemon.engine.clock().now().0,
                point: short(&record.moment),
                why: short(&record.why),
                agent: agent.to_string(),
                session_id: session.to_string(),
                project: daemon
                    .engine
                    .stores()
                    .projects()
                    .resolve_project_or_guess(&request.cwd, None),
                tokens: record.tokens,
                cut: record.cut.iter().take(CUT_MAX).map(|name| short(name)).collect(),
                took_ms: record.took_ms,
                handed: record.handed,
                text: tome_model::truncate_to(&record.text, TEXT_BYTES_MAX).to_owned(),
            };
            require_injector(daemon)?.log_injection(&record).map_err(|error| status_of(&error))
        });
        recorded.await??;
        Ok(Response::new(v1::RecordInjectionResponse {}))
    }
}

impl InjectionsService {
    /// Composes the text for a hook and records whether it was in time. `is_awaited` returns
    /// whether the hook is still connected.
    async fn inject_text(
        &self,
        request: &Arc<HookRequest>,
        is_awaited: impl Fn() -> bool,
    ) -> Result<String, Status> {
        let injections = self.compose_for_event(request).await?;
        let handed = Instant::now() <= request.deadline && is_awaited();
        let texts: Vec<String> = injections.iter().map(|one| one.text.text.clone()).collect();
        if !injections.is_empty() {
            let request = Arc::clone(request);
            // A record that cannot be written is only logged: the text matters more.
            self.0
                .run_blocking(CallKind::Ledger, move |daemon| {
                    record_injections(daemon, &request, injections, handed);
                })
                .await?;
        }
        Ok(if handed { texts.join("\n") } else { String::new() })
    }
}

fn require_injector(daemon: &Daemon) -> Result<&Injector, Status> {
    daemon.engine.injector().map_err(|error| Status::internal(error.to_string()))
}

fn record_to_wire(record: InjectionRecord) -> v1::InjectionRecord {
    v1::InjectionRecord {
        at_ms: record.at_ms,
        moment: record.point,
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
