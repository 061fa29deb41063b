//! Copilot CLI.

use serde_json::json;

use crate::clients;
use crate::model::Call;
use crate::stage::Stage;
use crate::story::{self, Cast, PROMPT};

const CAST: Cast = Cast {
    agent: "copilot",
    recall: |arguments| Call::new("tome-recall_memory", arguments),
    // Its plan is a table.
    plan: |steps| {
        let row = |(n, step): (usize, &String)| format!("('s{n}', '{step}', '{step}')");
        let rows: Vec<String> = steps.iter().enumerate().map(row).collect();
        let query =
            format!("INSERT INTO todos (id, title, description) VALUES {}", rows.join(", "));
        vec![Call::new("sql", json!({"description": "plan the work", "query": query}))]
    },
    lags: true,
};

#[test]
#[ignore = "drives the real Copilot CLI: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn copilot_remembers() {
    let program = clients::file(clients::COPILOT, "copilot");
    let stage = Stage::new(story::script(&CAST));
    story::begin(&stage);
    stage.set_up(CAST.agent);
    let mut command = stage.agent(program);
    command.args(["-p", PROMPT, "--allow-all-tools", "--no-color"]);
    command.env("COPILOT_OFFLINE", "true").env("COPILOT_AUTO_UPDATE", "false");
    command.env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", stage.model.url()));
    command.env("COPILOT_PROVIDER_API_KEY", "none").env("COPILOT_MODEL", "scripted");
    stage.run(&mut command);
    story::end(&stage, &CAST);
}
