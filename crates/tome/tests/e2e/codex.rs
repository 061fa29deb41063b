//! Codex.

use serde_json::{Value, json};

use crate::clients;
use crate::model::Call;
use crate::stage::Stage;
use crate::story::{self, Cast, PROMPT};

const CAST: Cast = Cast {
    agent: "codex",
    recall: |arguments| Call::new("recall_memory", arguments).within("mcp__tome"),
    plan: |steps| {
        let step = |step: &String| json!({"step": step, "status": "pending"});
        let plan: Vec<Value> = steps.iter().map(step).collect();
        vec![Call::new("update_plan", json!({"plan": plan}))]
    },
    lags: false,
};

/// A model of one's own, and plans, which are off unless they are asked for; setup keeps both.
fn config(url: &str) -> String {
    format!(
        r#"model = "scripted"
model_provider = "loopback"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[tools]
update_plan = {{ enabled = true }}

[model_providers.loopback] # no key is sent anywhere
name = "loopback"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LOOPBACK_KEY"
request_max_retries = 0
stream_max_retries = 0
"#
    )
}

#[test]
#[ignore = "drives the real Codex: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn codex_remembers() {
    let program = clients::file(clients::CODEX, "vendor/x86_64-unknown-linux-musl/bin/codex");
    let stage = Stage::new(story::script(&CAST));
    story::begin(&stage);
    stage.write(".codex/config.toml", &config(&stage.model.url()));
    stage.set_up(CAST.agent);
    let mut command = stage.agent(program);
    // Trusting hooks is the person's to do, at a keyboard; a test has none.
    command.args(["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]);
    command.arg(PROMPT).env("LOOPBACK_KEY", "none");
    stage.run(&mut command);
    story::end(&stage, &CAST);
}
