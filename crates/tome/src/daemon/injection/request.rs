//! The checked request of a hook.

use std::time::Duration;

use tokio::time::Instant;
use tome_engine::{TokenBudget, triggers};
use tome_model::{EventId, EventKind, SessionId};
use tome_proto::v1;
use tonic::Status;

use crate::daemon::grpc_status::invalid_argument;
use crate::daemon::request_fields::non_empty;
use crate::daemon::state::Daemon;

/// Time reserved for sending the response to the hook.
const REPLY_MARGIN: Duration = Duration::from_millis(4);
/// Hooks with a longer timeout are configured to wait for hints.
const DEFAULT_WAIT: Duration = Duration::from_millis(300);
/// Time reserved for rendering and recording the text.
const RENDER_MARGIN: Duration = Duration::from_millis(6);

pub(super) struct HookRequest {
    pub event: Option<EventId>,
    pub agent: String,
    pub session: SessionId,
    pub project: String,
    pub kind: EventKind,
    pub source: String,
    pub started: Instant,
    /// When the response must be sent.
    pub deadline: Instant,
    /// When reading must end: later parts are left out.
    pub read_deadline: Instant,
    pub budget: TokenBudget,
    pub cwd: String,
    /// Files that the agent edits.
    pub files: Vec<String>,
    /// The subagent of this event; empty for the agent itself.
    pub subagent: String,
    pub subagent_type: String,
    /// The task of a subagent that is about to start.
    pub subagent_task: String,
    pub settings: v1::InjectSettings,
}

impl HookRequest {
    pub(super) fn from_wire(daemon: &Daemon, request: v1::InjectRequest) -> Result<Self, Status> {
        let invalid = |error: tome_model::InvalidInput| invalid_argument(&error);
        let settings = request.settings.unwrap_or_default();
        let started = Instant::now();
        let time_left =
            Duration::from_millis(u64::from(request.within_ms)).saturating_sub(REPLY_MARGIN);
        let event =
            non_empty(&request.event_id).map(EventId::parse).transpose().map_err(invalid)?;
        Ok(Self {
            event,
            session: SessionId::parse(&request.session_id).map_err(invalid)?,
            project: daemon
                .engine
                .stores()
                .projects()
                .resolve_project_or_guess(&request.cwd, non_empty(&request.project)),
            kind: request.kind.parse().map_err(invalid)?,
            agent: request.agent,
            source: request.source,
            started,
            deadline: started + time_left,
            read_deadline: started + time_left.saturating_sub(RENDER_MARGIN),
            budget: TokenBudget {
                tokens: settings.budget_tokens,
                bytes: request.bytes_max as usize,
            },
            cwd: request.cwd,
            files: request.files,
            subagent: request.subagent,
            subagent_type: request.subagent_type,
            subagent_task: request.subagent_task,
            settings,
        })
    }

    /// The same budget with another token limit.
    pub(super) fn budget_of(&self, tokens: u64) -> TokenBudget {
        TokenBudget { tokens, ..self.budget }
    }

    /// Whether the hook waits longer than by default.
    pub(super) fn has_extra_time(&self) -> bool {
        self.deadline.duration_since(self.started) > DEFAULT_WAIT
    }

    /// Whether a tool call is about to happen. There is no event yet.
    pub(super) fn is_before_tool(&self) -> bool {
        self.event.is_none() && self.kind == EventKind::ToolResult
    }

    pub(super) fn accepts_text(&self) -> bool {
        self.budget.bytes > 0
    }

    pub(super) fn point_name(&self) -> &'static str {
        match self.kind {
            EventKind::ToolResult if self.is_before_tool() => "edit",
            EventKind::SubagentStart => "subagent",
            EventKind::SessionStart => "start",
            EventKind::UserMessage => "prompt",
            EventKind::ToolResult => "tool",
            EventKind::AssistantStop => "stop",
            EventKind::Compaction => "compaction",
            _ => "other",
        }
    }

    pub(super) fn trigger_settings(&self) -> triggers::TriggerSettings {
        triggers::TriggerSettings {
            replan: self.settings.plan,
            plan_steps: self.settings.plan_steps as usize,
            store: self.settings.store,
            store_tool_calls: self.settings.store_tool_calls,
            overview: self.settings.overview,
            overview_rounds: self.settings.overview_rounds,
            ..triggers::TriggerSettings::default()
        }
    }
}
