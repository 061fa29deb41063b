//! Drives Gemini CLI.

use std::process::Command;

use serde_json::{Value, json};

use crate::agent_fixture::AgentFixture;
use crate::model::Call;
use crate::scenario::{self, AgentCalls, PROMPT};
use crate::{clients, headless};

const CALLS: AgentCalls = AgentCalls {
    agent: "gemini",
    recall: |arguments| Call::new("mcp_tome_recall_memory", arguments),
    plan: |steps| {
        let todo = |step: &String| json!({"description": step, "status": "pending"});
        let todos: Vec<Value> = steps.iter().map(todo).collect();
        vec![Call::new("write_todos", json!({"todos": todos}))]
    },
};

/// Settings of a user with an API key; setup keeps them.
const SETTINGS: &str = r#"{
  // Signed in with a key.
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "privacy": { "usageStatisticsEnabled": false }
}
"#;

#[test]
#[ignore = "drives the real Gemini CLI: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn gemini_stores_a_session_and_gets_its_injections() {
    let fixture = AgentFixture::new(scenario::script(&CALLS));
    scenario::begin(&fixture);
    fixture.write(".gemini/settings.json", SETTINGS);
    fixture.set_up(CALLS.agent);
    fixture.run(command(&fixture).args(["--output-format", "json", "-p", PROMPT]));
    scenario::end(&fixture, &CALLS);
}

fn command(fixture: &AgentFixture) -> Command {
    let mut command = fixture.agent("node");
    command.arg(clients::file(clients::GEMINI, "bundle/gemini.js"));
    command.args(["-m", "gemini-2.5-flash", "--approval-mode", "yolo"]);
    command.env("GOOGLE_GEMINI_BASE_URL", fixture.model.url()).env("GEMINI_API_KEY", "none");
    command.env("GEMINI_CLI_TRUST_WORKSPACE", "true").env("GEMINI_CLI_NO_RELAUNCH", "1");
    command
}

#[test]
#[ignore = "drives the real Gemini CLI: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn gemini_prints_the_same_with_and_without_tome() {
    let prepare = |fixture: &AgentFixture| fixture.write(".gemini/settings.json", SETTINGS);
    headless::check(&CALLS, prepare, |fixture, prompt| {
        let mut command = command(fixture);
        command.args(["-p", prompt]);
        command
    });
}
