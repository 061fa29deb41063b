//! Gemini CLI.

use serde_json::{Value, json};

use crate::clients;
use crate::model::Call;
use crate::stage::Stage;
use crate::story::{self, Cast, PROMPT};

const CAST: Cast = Cast {
    agent: "gemini",
    recall: |arguments| Call::new("mcp_tome_recall_memory", arguments),
    plan: |steps| {
        let todo = |step: &String| json!({"description": step, "status": "pending"});
        let todos: Vec<Value> = steps.iter().map(todo).collect();
        vec![Call::new("write_todos", json!({"todos": todos}))]
    },
    lags: false,
};

/// What a person has who uses a key; setup keeps it.
const SETTINGS: &str = r#"{
  // Signed in with a key.
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "privacy": { "usageStatisticsEnabled": false }
}
"#;

#[test]
#[ignore = "drives the real Gemini CLI: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn gemini_remembers() {
    let program = clients::file(clients::GEMINI, "bundle/gemini.js");
    let stage = Stage::new(story::script(&CAST));
    story::begin(&stage);
    stage.write(".gemini/settings.json", SETTINGS);
    stage.set_up(CAST.agent);
    let mut command = stage.agent("node");
    command.arg(program).args(["-m", "gemini-2.5-flash", "--approval-mode", "yolo"]);
    command.args(["--output-format", "json", "-p", PROMPT]);
    command.env("GOOGLE_GEMINI_BASE_URL", stage.model.url()).env("GEMINI_API_KEY", "none");
    command.env("GEMINI_CLI_TRUST_WORKSPACE", "true").env("GEMINI_CLI_NO_RELAUNCH", "1");
    stage.run(&mut command);
    story::end(&stage, &CAST);
}
