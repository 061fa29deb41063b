//! The memory of an agent's session, over the daemon.
//!
//! Every call connects again and starts the daemon if necessary, so that a daemon killed during the
//! session does not matter. Idempotent calls are retried if the daemon exits meanwhile: reads, and
//! recording, because events have ids. Other changes are sent once, and a lost response is
//! reported as such. Every call has a timeout.

use serde_json::Value;
use tokio::runtime::Runtime;
use tome_engine::{InjectionText, ToolAnswer, ToolEffect, ToolFailure, Tools};
use tome_home::{Projects, SessionIndex};
use tome_memory::limits::{PAGE_EVENTS_MAX, RESUMED_BYTES_MAX};
use tome_memory::{Memory, MemoryError, MemoryTools, SessionEvent, SessionInfo};
use tome_model::{Event, Millis};
use tome_proto::{Client, ClientError, EventListQuery, limits, v1};

use crate::{ConnectError, DaemonConnector, StartPolicy};

/// A [`Memory`] over the daemon. Its calls block, so call it outside of async code.
pub struct DaemonMemory {
    connector: DaemonConnector,
    runtime: Runtime,
    session: SessionInfo,
    /// Project of a new session, if it differs from its folder's.
    project: Option<String>,
}

impl DaemonMemory {
    /// Creates the memory of a session; connects with the first call.
    pub fn new(connector: DaemonConnector, session: SessionInfo) -> std::io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        Ok(Self { connector, runtime, session, project: None })
    }

    /// Stores the session in this project instead of its folder's.
    #[must_use]
    pub fn with_project(mut self, project: Option<String>) -> Self {
        self.project = project;
        self
    }

    /// Whether a daemon is running; see [`DaemonConnector::is_running`].
    pub fn is_daemon_running(&self) -> Result<bool, MemoryError> {
        self.runtime
            .block_on(self.connector.is_running())
            .map_err(|error| unavailable_error(&error))
    }

    /// Returns the project of the session's events, if there are any.
    fn find_project(&self) -> Option<String> {
        let settings = self.connector.settings();
        let sessions = SessionIndex::open(&settings.home.session_index());
        let known =
            sessions.and_then(|all| all.find_project(&self.session.agent, &self.session.session));
        // The daemon may serve another home.
        known.or_else(|| Projects::load(&settings.home).find_known_project(&self.session.cwd))
    }

    /// Sends an idempotent request, with retries.
    fn call_with_retries<T>(
        &self,
        call: impl AsyncFn(&Client) -> Result<T, ClientError>,
    ) -> Result<T, MemoryError> {
        self.runtime
            .block_on(self.connector.call_idempotent(StartPolicy::IfNotRunning, call))
            .map_err(|error| unavailable_error(&error))
    }

    fn call_once<T>(
        &self,
        call: impl AsyncFnOnce(&Client) -> Result<T, ClientError>,
    ) -> Result<T, ConnectError> {
        self.runtime.block_on(async {
            let client = self.connector.connect(StartPolicy::IfNotRunning).await?;
            Ok(call(&client).await?)
        })
    }
}

/// Estimates the size of an event.
fn estimate_bytes(event: &Event) -> usize {
    let of_tool = event.tool.as_ref().map(|tool| [&tool.input, &tool.output].map(value_bytes));
    event.text.len() + of_tool.into_iter().flatten().sum::<usize>()
}

fn value_bytes(value: &Value) -> usize {
    value.as_str().map_or_else(|| value.to_string().len(), str::len)
}

fn unavailable_error(error: &ConnectError) -> MemoryError {
    match error {
        ConnectError::NotRunning => MemoryError::NotRunning,
        error => MemoryError::Unavailable(error.to_string()),
    }
}

impl MemoryTools for DaemonMemory {
    fn call_tool(&self, tool: &str, arguments: &str) -> Result<ToolAnswer, MemoryError> {
        let spec = Tools::specs().into_iter().find(|spec| spec.name == tool);
        let spec = spec.ok_or_else(|| MemoryError::UnknownTool(tool.to_owned()))?;
        let request = v1::CallToolRequest {
            name: tool.to_owned(),
            arguments_json: arguments.to_owned(),
            cwd: self.session.cwd.clone(),
            session_id: self.session.session.to_string(),
            agent: self.session.agent.to_string(),
            command: String::new(),
        };
        let answer = match spec.effect {
            // Repeating the call changes nothing.
            ToolEffect::Reads | ToolEffect::ReplacesIdempotently => {
                self.call_with_retries(async |client| client.call_tool(request.clone()).await)?
            }
            ToolEffect::Adds | ToolEffect::Replaces => self
                .call_once(async |client| client.call_tool(request).await)
                .map_err(|error| uncertain_error(&error))?,
        };
        Ok(ToolAnswer {
            failure: answer.is_error.then(|| parse_failure(&answer.error_kind)),
            json: serde_json::from_str(&answer.result_json).unwrap_or(Value::Null),
            text: answer.text,
            secrets_cut: answer.secrets_cut as usize,
        })
    }
}

/// The error of a change that may have been made although its response was lost.
fn uncertain_error(error: &ConnectError) -> MemoryError {
    use ClientError::{TimedOut, Unreachable};
    match error {
        ConnectError::Client(Unreachable(_) | TimedOut(_)) => MemoryError::Unavailable(format!(
            "no response ({error}); read the note to check whether the change was made"
        )),
        error => unavailable_error(error),
    }
}

fn parse_failure(kind: &str) -> ToolFailure {
    match kind {
        "invalid" => ToolFailure::Invalid,
        "not_found" => ToolFailure::NotFound,
        "conflict" => ToolFailure::Conflict,
        _ => ToolFailure::Failed,
    }
}

impl Memory for DaemonMemory {
    fn session(&self) -> &SessionInfo {
        &self.session
    }

    fn now(&self) -> Millis {
        self.connector.settings().clock.now()
    }

    fn record_events(&self, events: &[SessionEvent]) -> Result<(), MemoryError> {
        for event in events {
            let mut draft = self.session.to_draft(event);
            draft.project.clone_from(&self.project);
            self.call_with_retries(async |client| {
                client.ingest(draft.clone(), limits::CALL_TIMEOUT).await
            })?;
        }
        Ok(())
    }

    fn recent_events(&self, newest_max: usize) -> Result<Vec<Event>, MemoryError> {
        // Without a project there are no events.
        let Some(root) = self.find_project() else { return Ok(Vec::new()) };
        let mut events: Vec<Event> = Vec::new();
        let (mut continuation, mut bytes) = (String::new(), 0);
        while events.len() < newest_max && bytes < RESUMED_BYTES_MAX {
            let query = EventListQuery {
                session: Some(self.session.session.to_string()),
                project: Some(root.clone()),
                limit: u32::try_from((newest_max - events.len()).min(PAGE_EVENTS_MAX)).unwrap_or(1),
                newest_first: true,
                continuation: std::mem::take(&mut continuation),
                ..EventListQuery::default()
            };
            let page =
                self.call_with_retries(async |client| client.list_events(query.clone()).await)?;
            bytes += page.events.iter().map(estimate_bytes).sum::<usize>();
            events.extend(page.events);
            let Some(more) = page.continuation else { break };
            continuation = more;
        }
        events.reverse();
        Ok(events)
    }

    fn record_injection(&self, why: &str, injection: &InjectionText) -> Result<(), MemoryError> {
        let point = match why {
            "replan" => "tool",
            "store" => "stop",
            _ => "prompt",
        };
        let record = v1::InjectionRecord {
            moment: point.to_owned(),
            why: why.to_owned(),
            agent: self.session.agent.to_string(),
            session_id: self.session.session.to_string(),
            tokens: injection.tokens,
            cut: injection.cut.clone(),
            handed: true,
            text: injection.text.clone(),
            ..v1::InjectionRecord::default()
        };
        let cwd = self.session.cwd.as_str();
        self.call_once(async |client| client.record_injection(cwd, record).await)
            .map_err(|error| unavailable_error(&error))
    }
}
