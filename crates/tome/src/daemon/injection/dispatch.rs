//! Chooses the texts to inject after an event and composes them, each within its deadline and token budget.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;
use tome_engine::triggers::{self, DueInjection};
use tome_engine::{
    InjectionText, Injector, PLAN_TOKENS_MAX, PromptHint, StartKind, StartParts, StartRequest,
    TokenBudget, render_plan_lessons, render_resume, render_short_injection,
    render_start as render_start_text,
};
use tome_home::HomeError;
use tome_model::{Event, EventKind};
use tome_proto::v1;
use tonic::Status;

use super::request::HookRequest;
use super::{InjectionsService, require_injector};
use crate::agents::AgentProfile;
use crate::daemon::calls::CallKind;
use crate::daemon::grpc_status::recall_status;
use crate::daemon::grpc_status::status_of;

/// Token budget of a trigger text without lessons.
const TRIGGER_TOKENS_MAX: u64 = 400;
/// The agent reports why a session starts; its word is cut to this size.
const REASON_BYTES_MAX: usize = 40;

/// A composed text, and the reason for it.
pub(super) struct ComposedInjection {
    pub reason: String,
    pub text: InjectionText,
    /// Facts that the text contains in full: they are not given as hints later.
    pub facts: Vec<String>,
    pub hints: Vec<PromptHint>,
    /// Keys of edited files that need not be checked again.
    pub files_checked: Vec<String>,
    /// The trigger that requested it.
    pub due: Option<DueInjection>,
    pub is_start: bool,
}

/// The update for a resumed session.
enum ResumeUpdate {
    /// The session has never had a start text.
    Unknown,
    /// Nothing changed.
    Unchanged,
    /// The changes since its start text.
    Changed(InjectionText),
}

impl ComposedInjection {
    pub(super) fn new(reason: &str, text: InjectionText) -> Self {
        let reason = reason.to_owned();
        Self {
            reason,
            text,
            facts: Vec::new(),
            hints: Vec::new(),
            files_checked: Vec::new(),
            due: None,
            is_start: false,
        }
    }
}

impl InjectionsService {
    /// Composes everything to inject after an event.
    pub(super) async fn compose_for_event(
        &self,
        request: &Arc<HookRequest>,
    ) -> Result<Vec<ComposedInjection>, Status> {
        if request.is_before_tool() {
            return self.compose_before_tool(request).await;
        }
        let triggered = Arc::clone(request);
        let triggered = self.0.run_blocking(CallKind::Ledger, move |daemon| {
            run_triggers(require_injector(daemon)?, &triggered).map_err(|error| status_of(&error))
        });
        let triggered = triggered.await??;
        if !request.accepts_text() || triggered.is_subagent {
            self.record_missed(request, triggered.due).await?;
            return Ok(Vec::new());
        }
        let mut injections: Vec<ComposedInjection> = Vec::new();
        match (request.kind, triggered.due) {
            (EventKind::SessionStart | EventKind::Compaction, _) => {
                injections.extend(self.compose_start(request).await?);
            }
            (EventKind::UserMessage, due) => {
                injections.extend(self.compose_trigger_text(request, due).await?);
                // Lessons for a plan suffice: no hints on top of them.
                if !injections.iter().any(|one| one.reason == "replan")
                    && let Some(event) = triggered.event
                {
                    injections.extend(self.compose_hints(request, event).await?);
                }
            }
            (EventKind::SubagentStart, _) => {
                injections.extend(self.compose_subagent(request).await?);
            }
            (_, due) => {
                injections.extend(self.compose_trigger_text(request, due).await?);
                if injections.is_empty() {
                    injections.extend(self.compose_decision(request).await?);
                }
            }
        }
        Ok(injections)
    }

    async fn compose_start(
        &self,
        request: &Arc<HookRequest>,
    ) -> Result<Option<ComposedInjection>, Status> {
        if !request.settings.start {
            return Ok(None);
        }
        let reason = if request.source.is_empty() { "start" } else { &request.source };
        let reason = tome_model::truncate_to(reason, REASON_BYTES_MAX);
        if request.source == "resume" && AgentProfile::by_name(&request.agent).keeps_start_text {
            match self.compose_resume(request).await? {
                ResumeUpdate::Unknown => {}
                ResumeUpdate::Unchanged => return Ok(None),
                ResumeUpdate::Changed(text) => {
                    return Ok(Some(ComposedInjection::new(reason, text)));
                }
            }
        }
        let is_compacted = request.kind == EventKind::Compaction || request.source == "compact";
        let kind = if is_compacted { StartKind::Compacted } else { StartKind::Fresh };
        let session = Some(request.session.as_str().to_owned());
        let starting = StartRequest { project: request.project.clone(), session, kind };
        self.warm_indexes(request);
        let started = self.render_start(starting, request.budget, request.read_deadline).await?;
        let start = |(text, facts)| ComposedInjection {
            facts,
            is_start: true,
            ..ComposedInjection::new(reason, text)
        };
        Ok(started.map(start))
    }

    /// Opens the indexes for the session's first prompt and the topics for its first edit, while the
    /// agent does not wait for them.
    fn warm_indexes(&self, request: &Arc<HookRequest>) {
        let (daemon, project) = (Arc::clone(&self.0), request.project.clone());
        let v1::InjectSettings { hints, before_edit, .. } = request.settings;
        tokio::spawn(async move {
            // Errors are ignored: hints and decisions open what they need themselves, only later.
            let _ = daemon
                .run_blocking(CallKind::Recall, move |daemon| {
                    let injector = require_injector(daemon)?;
                    if hints {
                        injector.warm_indexes(&project).map_err(|error| recall_status(&error))?;
                    }
                    if before_edit {
                        injector.warm_topics(&project).map_err(|error| status_of(&error))?;
                    }
                    Ok::<_, Status>(())
                })
                .await;
        });
    }

    /// Composes the changes since the session's start text.
    async fn compose_resume(&self, request: &Arc<HookRequest>) -> Result<ResumeUpdate, Status> {
        let for_thread = Arc::clone(request);
        let gather = self.0.run_blocking(CallKind::Notebook, move |daemon| {
            let gathered =
                require_injector(daemon)?.gather_resume(&for_thread.project, &for_thread.session);
            gathered.map_err(|error| status_of(&error))
        });
        // On timeout nothing is injected: the session has the earlier text.
        let Ok(parts) = tokio::time::timeout_at(request.read_deadline, gather).await else {
            return Ok(ResumeUpdate::Unchanged);
        };
        Ok(match parts?? {
            None => ResumeUpdate::Unknown,
            Some(parts) => match render_resume(&parts, request.budget) {
                None => ResumeUpdate::Unchanged,
                Some(text) => ResumeUpdate::Changed(text),
            },
        })
    }

    /// Renders a start text from the parts read before the deadline. Also returns the facts that it
    /// contains in full.
    pub(super) async fn render_start(
        &self,
        starting: StartRequest,
        budget: TokenBudget,
        deadline: Instant,
    ) -> Result<Option<(InjectionText, Vec<String>)>, Status> {
        let parts = Arc::new(Mutex::new(StartParts::unread()));
        let gathered = Arc::clone(&parts);
        let gather = self.0.run_blocking(CallKind::Notebook, move |daemon| {
            require_injector(daemon).map(|injector| injector.gather_start(&starting, &gathered))
        });
        if let Ok(done) = tokio::time::timeout_at(deadline, gather).await {
            done??;
        }
        let parts = parts.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let Some(text) = render_start_text(&parts, budget) else { return Ok(None) };
        let whole =
            if text.cut.iter().any(|name| name == "facts") { &[] } else { parts.facts.as_slice() };
        let facts = whole.iter().map(|fact| format!("memory/{}", fact.path)).collect();
        Ok(Some((text, facts)))
    }

    /// Composes the text that a trigger requests.
    async fn compose_trigger_text(
        &self,
        request: &Arc<HookRequest>,
        due: Option<DueInjection>,
    ) -> Result<Option<ComposedInjection>, Status> {
        let Some(due) = due else { return Ok(None) };
        let (reason, words) = (due.name(), triggers::texts::render_due(&due));
        let text = match due.clone() {
            DueInjection::Replan { about } => {
                let lessons = self.0.run_blocking(CallKind::Notebook, move |daemon| {
                    require_injector(daemon)?
                        .find_lessons(&about)
                        .map_err(|error| status_of(&error))
                });
                let Ok(lessons) = tokio::time::timeout_at(request.read_deadline, lessons).await
                else {
                    self.record_missed(request, Some(due)).await?;
                    return Ok(None);
                };
                // A plan without keywords, or an unreadable notebook, has no lessons.
                let lessons = lessons?.unwrap_or_default();
                render_plan_lessons(&lessons, &words, request.budget_of(PLAN_TOKENS_MAX))
            }
            _ => render_short_injection(reason, &words, request.budget_of(TRIGGER_TOKENS_MAX)),
        };
        Ok(text.map(|text| ComposedInjection {
            due: Some(due),
            ..ComposedInjection::new(reason, text)
        }))
    }

    /// Makes an injection due again that could not be given.
    async fn record_missed(
        &self,
        request: &Arc<HookRequest>,
        due: Option<DueInjection>,
    ) -> Result<(), Status> {
        let Some(due) = due else { return Ok(()) };
        let request = Arc::clone(request);
        let recorded = self.0.run_blocking(CallKind::Ledger, move |daemon| {
            let (project, session) = (&request.project, request.session.as_str());
            require_injector(daemon)?
                .record_missed(project, session, &due, &request.trigger_settings())
                .map_err(|error| status_of(&error))
        });
        recorded.await?
    }
}

/// The result of running the triggers.
#[derive(Default)]
struct TriggerResult {
    event: Option<Event>,
    due: Option<DueInjection>,
    is_subagent: bool,
}

/// Runs the triggers of a session on an event.
fn run_triggers(injector: &Injector, request: &HookRequest) -> Result<TriggerResult, HomeError> {
    let Some(id) = &request.event else { return Ok(TriggerResult::default()) };
    let Some(event) = injector.load_event(&request.project, id)? else {
        return Ok(TriggerResult::default());
    };
    let due = injector.process_event(&event, &request.trigger_settings())?;
    let is_subagent =
        request.accepts_text() && injector.is_subagent(&request.project, &request.session)?;
    Ok(TriggerResult { event: Some(event), due, is_subagent })
}
