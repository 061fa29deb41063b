//! Requests the injection for an event, once the event is safe.

use std::time::{Duration, Instant};

use tome_model::{Agent, Draft, EventKind};
use tome_proto::{Client, v1};

use super::args::HookCommandLine;
use super::headless;
use crate::agents::{self, InjectionPoint, ToolNotice};
use crate::config::{InjectSettings, Settings};
use crate::connect::DaemonConnector;

/// Polling interval while the daemon is starting.
const POLL_INTERVAL: Duration = Duration::from_millis(4);

/// Bytes of a subagent's task that are sent.
const TASK_BYTES_MAX: usize = 4_000;

/// The injection request for one event.
pub struct InjectionRequest {
    request: v1::InjectRequest,
    agent: Agent,
    /// Set if the agent accepts text at this event.
    point: Option<InjectionPoint>,
}

impl InjectionRequest {
    /// Builds the request for a draft; `None` if all injections are turned off.
    pub fn from_draft(settings: &Settings, args: &HookCommandLine, draft: &Draft) -> Option<Self> {
        if !settings.inject.is_any_enabled() {
            return None;
        }
        let point = InjectionPoint::from_draft(draft)
            .filter(|point| agents::max_text_bytes(&draft.agent, *point) > 0);
        // A process that continues a hook has no agent to print to, and agents ignore the output for a batch.
        let is_batch = args.is_batch();
        let point = point.filter(|_| !args.is_continuation() && !is_batch);
        let bytes_max = point.map_or(0, |point| agents::max_text_bytes(&draft.agent, point));
        // If the agent accepts no text now, pending triggers stay pending.
        let permitted = match point {
            Some(_) => headless::permitted_injections(&settings.inject, &draft.agent),
            None => settings.inject.clone(),
        };
        let source = draft.meta.get("source").and_then(serde_json::Value::as_str);
        let request = v1::InjectRequest {
            event_id: String::new(),
            agent: draft.agent.as_str().to_owned(),
            session_id: draft.session.as_str().to_owned(),
            cwd: draft.cwd.clone(),
            project: draft.project.clone().unwrap_or_default(),
            kind: draft.kind.as_str().to_owned(),
            source: source.unwrap_or_default().to_owned(),
            within_ms: 0,
            bytes_max: u32::try_from(bytes_max).unwrap_or(u32::MAX),
            settings: Some(settings_to_wire(&permitted)),
            files: edited_files(draft, point),
            subagent: meta_text(draft, "subagent"),
            subagent_type: meta_text(draft, "subagent_type"),
            subagent_task: String::new(),
        };
        Some(Self { request, agent: draft.agent.clone(), point })
    }

    /// Builds the request for a tool call that is about to happen; `None` if it injects nothing.
    pub fn from_notice(
        settings: &Settings,
        args: &HookCommandLine,
        agent: &Agent,
        notice: ToolNotice,
    ) -> Option<Self> {
        let is_wanted = !notice.files.is_empty() && settings.inject.before_edit
            || notice.task.is_some() && settings.inject.subagents;
        let point = InjectionPoint::BeforeEdit;
        let bytes_max = agents::max_text_bytes(agent, point);
        if !is_wanted || bytes_max == 0 || args.is_continuation() {
            return None;
        }
        let (subagent_type, subagent_task) = notice.task.unwrap_or_default();
        let request = v1::InjectRequest {
            agent: agent.as_str().to_owned(),
            session_id: notice.session,
            cwd: notice.cwd,
            kind: EventKind::ToolResult.as_str().to_owned(),
            bytes_max: u32::try_from(bytes_max).unwrap_or(u32::MAX),
            settings: Some(settings_to_wire(&settings.inject)),
            files: notice.files,
            subagent: notice.subagent,
            subagent_type,
            subagent_task: tome_model::truncate_to(&subagent_task, TASK_BYTES_MAX).to_owned(),
            ..v1::InjectRequest::default()
        };
        Some(Self { request, agent: agent.clone(), point: Some(point) })
    }

    /// Whether the event is the start of a session.
    pub fn is_start(&self) -> bool {
        self.request.kind == EventKind::SessionStart.as_str()
    }

    /// Sets the id of the stored event.
    pub fn with_event_id(mut self, id: &str) -> Self {
        id.clone_into(&mut self.request.event_id);
        self
    }

    /// Sends the request and renders the response in the agent's format. `None` if there is nothing to
    /// inject or the daemon did not answer in time.
    pub async fn send(mut self, client: &Client, within: Duration) -> Option<String> {
        self.request.within_ms = u32::try_from(within.as_millis()).unwrap_or(u32::MAX);
        let text = client.inject(self.request, within).await.ok()?;
        let point = self.point.filter(|_| !text.is_empty())?;
        Some(format!("{}\n", agents::build_response(&self.agent, point, &text)?))
    }
}

/// Waits for a daemon that is starting, then sends the request.
pub async fn send_when_started(
    connector: &DaemonConnector,
    request: InjectionRequest,
    until: Instant,
) -> Option<String> {
    let until = tokio::time::Instant::from_std(until);
    let client = tokio::time::timeout_at(until, async {
        loop {
            // Resolved in every round: the endpoint may become known only when the daemon listens.
            match connector.endpoint().connect().await {
                Ok(client) => return client,
                Err(_) => tokio::time::sleep(POLL_INTERVAL).await,
            }
        }
    });
    let client = client.await.ok()?;
    request.send(&client, until.duration_since(tokio::time::Instant::now())).await
}

/// The files that a tool call has changed, where the agent accepts text after it.
fn edited_files(draft: &Draft, point: Option<InjectionPoint>) -> Vec<String> {
    let is_tool = matches!(point, Some(InjectionPoint::Tool { failed: false }));
    let tool = draft.tool.as_ref().filter(|_| is_tool);
    let files = tool.map(tome_contents::list_edited_files).unwrap_or_default();
    files.into_iter().map(str::to_owned).collect()
}

fn meta_text(draft: &Draft, name: &str) -> String {
    draft.meta.get(name).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}

pub fn settings_to_wire(settings: &InjectSettings) -> v1::InjectSettings {
    v1::InjectSettings {
        start: settings.start,
        hints: settings.hints,
        plan: settings.plan,
        store: settings.store,
        overview: settings.overview,
        budget_tokens: settings.budget_tokens,
        plan_steps: settings.plan_steps,
        store_tool_calls: settings.store_tool_calls,
        overview_rounds: settings.overview_rounds,
        before_edit: settings.before_edit,
        subagents: settings.subagents,
    }
}
