//! Calls the daemon's tools. Starts the daemon if necessary and reconnects for every call, so that
//! a daemon that was killed or replaced does not matter. Reads are retried if the daemon exits
//! meanwhile; writes are not.

use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tome_engine::Effect;
use tome_home::{Home, Projects};
use tome_model::Agent;
use tome_proto::{ClientError, Query, v1};

use super::limits::{ASKED_MAX, CALLS_AT_ONCE};
use super::who::Who;
use crate::reach::{Reach, ReachError, Start};

pub struct Calls {
    reach: Reach,
    home: Home,
    room: Semaphore,
}

impl Calls {
    pub fn new(reach: Reach, home: Home) -> Self {
        Self { reach, home, room: Semaphore::new(CALLS_AT_ONCE) }
    }

    /// Starts the daemon if it is not running. Errors are reported by the first tool call.
    pub async fn wake(&self) {
        let _ = self.reach.client(Start::IfAway).await;
    }

    /// Calls a tool. Errors of the tool and of the connection are part of the response.
    pub async fn tool(
        &self,
        name: &str,
        effect: Effect,
        arguments: &Value,
        who: &Who,
    ) -> v1::CallToolResponse {
        // The semaphore is never closed.
        let _turn = self.room.acquire().await;
        let mut who = who.clone();
        if who.session.is_none() && means_session(arguments) {
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
        let times = if effect == Effect::Reads { ASKED_MAX } else { 1 };
        let answer = self.ask(request, times).await;
        answer.unwrap_or_else(|error| no_answer(&error, effect))
    }

    async fn ask(
        &self,
        request: v1::CallToolRequest,
        times: usize,
    ) -> Result<v1::CallToolResponse, ReachError> {
        for _ in 1..times {
            let client = self.reach.client(Start::IfAway).await?;
            match client.call_tool(request.clone()).await {
                Err(ClientError::Unreachable(_)) => {}
                answer => return Ok(answer?),
            }
        }
        let client = self.reach.client(Start::IfAway).await?;
        Ok(client.call_tool(request).await?)
    }

    /// Returns the session of this agent's latest event in this project. Agents that do not pass
    /// their session to MCP servers have just reported it through a hook.
    async fn latest_session(&self, who: &Who) -> Option<String> {
        let is_known = Agent::KNOWN.contains(&who.agent.as_str());
        let query = Query {
            project: Some(Projects::load(&self.home).known_root_of(&who.cwd)?),
            agents: is_known.then(|| who.agent.clone()).into_iter().collect(),
            limit: 1,
            newest_first: true,
            ..Query::default()
        };
        let client = self.reach.client(Start::IfAway).await.ok()?;
        let page = client.events(query).await.ok()?;
        page.events.into_iter().next().map(|event| event.session.to_string())
    }
}

/// Whether a call refers to the current session without naming it.
fn means_session(arguments: &Value) -> bool {
    let says = |name, value: &str| arguments.get(name).and_then(Value::as_str) == Some(value);
    let is_named = arguments.get("session_id").is_some_and(|session| !session.is_null());
    (says("scope", "session") && !is_named) || says("across", "session")
}

/// Renders a failure as a tool response, so that the model reads it.
fn no_answer(error: &ReachError, effect: Effect) -> v1::CallToolResponse {
    let is_unsure =
        matches!(error, ReachError::Client(ClientError::Unreachable(_) | ClientError::TimedOut(_)));
    let said = match error {
        ReachError::Client(ClientError::NotFound(said) | ClientError::Invalid(said)) => {
            said.clone()
        }
        error if is_unsure && effect != Effect::Reads => {
            format!("no response ({error}): read the note to check whether the change was made")
        }
        error => format!("Tome's daemon did not respond: {error}"),
    };
    let hint = "run `tome doctor` in a shell to find the cause";
    let json = json!({ "error": said, "kind": "failed", "hint": hint });
    v1::CallToolResponse {
        text: format!("Error: {said}\n{hint}"),
        result_json: json.to_string(),
        is_error: true,
        error_kind: "failed".to_owned(),
        secrets_cut: 0,
    }
}
