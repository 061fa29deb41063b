//! What a hook asks, understood.

use std::time::Duration;

use tokio::time::Instant;
use tome_engine::{TokenBudget, triggers};
use tome_model::{EventId, EventKind, SessionId};
use tome_proto::v1;
use tonic::Status;

use super::given;
use crate::daemon::state::Daemon;

/// How long the answer takes to get back to the hook, at most, as a rule.
const WAY_BACK: Duration = Duration::from_millis(4);
/// A hook that waits longer was given patience.
const USUAL_WAIT: Duration = Duration::from_millis(300);
/// How long it takes to make a text of what was read, and to record it.
const MAKING: Duration = Duration::from_millis(6);

/// What a hook asks, with every field checked.
pub(super) struct Asked {
    pub event: Option<EventId>,
    pub agent: String,
    pub session: SessionId,
    pub project: String,
    pub kind: EventKind,
    pub source: String,
    pub began: Instant,
    /// By then the text has to be on its way.
    pub until: Instant,
    /// What has not been read by then is left out.
    pub ready: Instant,
    pub room: TokenBudget,
    pub settings: v1::InjectSettings,
}

impl Asked {
    pub(super) fn of(daemon: &Daemon, asked: v1::InjectRequest) -> Result<Self, Status> {
        let refused = |error: tome_model::ModelError| Status::invalid_argument(error.to_string());
        let settings = asked.settings.unwrap_or_default();
        let began = Instant::now();
        let within = Duration::from_millis(u64::from(asked.within_ms)).saturating_sub(WAY_BACK);
        let event = given(&asked.event_id).map(EventId::parse).transpose().map_err(refused)?;
        Ok(Self {
            event,
            session: SessionId::parse(&asked.session_id).map_err(refused)?,
            project: daemon
                .engine
                .stores()
                .projects()
                .resolve_project_or_guess(&asked.cwd, given(&asked.project)),
            kind: asked.kind.parse().map_err(refused)?,
            agent: asked.agent,
            source: asked.source,
            began,
            until: began + within,
            ready: began + within.saturating_sub(MAKING),
            room: TokenBudget { tokens: settings.budget_tokens, bytes: asked.bytes_max as usize },
            settings,
        })
    }

    /// The room for something that has a budget of its own.
    pub(super) fn room_of(&self, tokens: u64) -> TokenBudget {
        TokenBudget { tokens, ..self.room }
    }

    /// Whether the hook was given more time than usual.
    pub(super) fn is_patient(&self) -> bool {
        self.until.duration_since(self.began) > USUAL_WAIT
    }

    pub(super) fn takes_text(&self) -> bool {
        self.room.bytes > 0
    }

    pub(super) fn moment(&self) -> &'static str {
        match self.kind {
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
