//! Calls the daemon's tools. Starts the daemon if necessary and reconnects for every call, so that
//! a daemon that was killed or replaced does not matter. Reads are retried if the daemon exits
//! meanwhile; writes are not.

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tome_engine::ToolEffect;
use tome_home::{Home, Projects};
use tome_model::Agent;
use tome_proto::{ClientError, EventListQuery, v1};

use super::caller::McpCaller;
use super::limits::{CONCURRENT_CALLS_MAX, READ_ATTEMPTS_MAX};
use crate::connect::{ConnectError, DaemonConnector, StartPolicy};

pub struct DaemonTools {
    connector: DaemonConnector,
    home: Home,
    call_permits: Semaphore,
}

impl DaemonTools {
    pub fn new(connector: DaemonConnector, home: Home) -> Self {
        Self { connector, home, call_permits: Semaphore::new(CONCURRENT_CALLS_MAX) }
    }

    /// Starts the daemon if it is not running. Errors are reported by the first tool call.
    pub async fn start_daemon(&self) {
        let _ = self.connector.connect(StartPolicy::IfNotRunning).await;
    }

    /// Calls a tool. Errors of the tool and of the connection are part of the response.
    pub async fn call_tool(
        &self,
        name: &str,
        effect: ToolEffect,
        arguments: &Value,
        who: &McpCaller,
    ) -> v1::CallToolResponse {
        // The semaphore is never closed.
        let _permit = self.call_permits.acquire().await;
        let mut who = who.clone();
        if who.session.is_none() && refers_to_current_session(arguments) {
            who.session = self.latest_session(&who).await;
        }
        let request = v1::CallToolRequest {
            name: name.to_owned(),
            arguments_json: arguments.to_string(),
            cwd: who.cwd,
            session_id: who.session.unwrap_or_default(),
            agent: who.agent,
            command: String::new(),
        };
        let times = if effect == ToolEffect::Reads { READ_ATTEMPTS_MAX } else { 1 };
        let answer = self.call_with_retries(request, times).await;
        answer.unwrap_or_else(|error| failure_response(&error, effect))
    }

    async fn call_with_retries(
        &self,
        request: v1::CallToolRequest,
        times: usize,
    ) -> Result<v1::CallToolResponse, ConnectError> {
        for _ in 1..times {
            let client = self.connector.connect(StartPolicy::IfNotRunning).await?;
            match client.call_tool(request.clone()).await {
                Err(ClientError::Unreachable(_)) => {}
                answer => return Ok(answer?),
            }
        }
        let client = self.connector.connect(StartPolicy::IfNotRunning).await?;
        Ok(client.call_tool(request).await?)
    }

    /// Returns the session of this agent's latest event in this project. Agents that do not pass
    /// their session to MCP servers have just reported it through a hook.
    async fn latest_session(&self, who: &McpCaller) -> Option<String> {
        let is_known = Agent::KNOWN.contains(&who.agent.as_str());
        let query = EventListQuery {
            project: Some(Projects::load(&self.home).find_known_project(&who.cwd)?),
            agents: is_known.then(|| who.agent.clone()).into_iter().collect(),
            limit: 1,
            newest_first: true,
            ..EventListQuery::default()
        };
        let client = self.connector.connect(StartPolicy::IfNotRunning).await.ok()?;
        let page = client.list_events(query).await.ok()?;
        page.events.into_iter().next().map(|event| event.session.to_string())
    }
}

/// Whether a call refers to the current session without naming it.
fn refers_to_current_session(arguments: &Value) -> bool {
    let says = |name, value: &str| arguments.get(name).and_then(Value::as_str) == Some(value);
    let is_named = arguments.get("session_id").is_some_and(|session| !session.is_null());
    (says("scope", "session") && !is_named) || says("across", "session")
}

/// Renders a failure as a tool response, so that the model reads it.
fn failure_response(error: &ConnectError, effect: ToolEffect) -> v1::CallToolResponse {
    let is_unsure = matches!(
        error,
        ConnectError::Client(ClientError::Unreachable(_) | ClientError::TimedOut(_))
    );
    let message = match error {
        ConnectError::Client(ClientError::NotFound(message) | ClientError::Invalid(message)) => {
            message.clone()
        }
        error if is_unsure && effect != ToolEffect::Reads => {
            format!("no response ({error}): read the note to check whether the change was made")
        }
        error => format!("Tome's daemon did not respond: {error}"),
    };
    let hint = "run `tome doctor` in a shell to find the cause";
    let json = json!({ "error": message, "kind": "failed", "hint": hint });
    v1::CallToolResponse {
        text: format!("Error: {message}\n{hint}"),
        result_json: json.to_string(),
        is_error: true,
        error_kind: "failed".to_owned(),
        secrets_cut: 0,
    }
}
