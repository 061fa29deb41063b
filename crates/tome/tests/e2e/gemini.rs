//! Drives Gemini CLI.

use std::process::Command;

use serde_json::{Value, json};

use crate::model::Call;
use crate::stage::Stage;
use crate::story::{self, Cast, PROMPT};
use crate::{clients, headless};

const CAST: Cast = Cast {
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
    let stage = Stage::new(story::script(&CAST));
    story::begin(&stage);
    stage.write(".gemini/settings.json", SETTINGS);
    stage.set_up(CAST.agent);
    stage.run(command(&stage).args(["--output-format", "json", "-p", PROMPT]));
    story::end(&stage, &CAST);
}

fn command(stage: &Stage) -> Command {
    let mut command = stage.agent("node");
    command.arg(clients::file(clients::GEMINI, "bundle/gemini.js"));
    command.args(["-m", "gemini-2.5-flash", "--approval-mode", "yolo"]);
    command.env("GOOGLE_GEMINI_BASE_URL", stage.model.url()).env("GEMINI_API_KEY", "none");
    command.env("GEMINI_CLI_TRUST_WORKSPACE", "true").env("GEMINI_CLI_NO_RELAUNCH", "1");
    command
}

#[test]
#[ignore = "drives the real Gemini CLI: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn gemini_prints_the_same_with_and_without_tome() {
    let prepare = |stage: &Stage| stage.write(".gemini/settings.json", SETTINGS);
    headless::check(&CAST, prepare, |stage, prompt| {
        let mut command = command(stage);
        command.args(["-p", prompt]);
        command
    });
}
