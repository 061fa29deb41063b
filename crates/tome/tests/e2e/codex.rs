//! Drives Codex.

use std::process::Command;

use serde_json::{Value, json};
use tome_testkit::eventually;

use crate::model::{Call, Step};
use crate::stage::Stage;
use crate::story::{self, Cast, PROMPT};
use crate::{clients, headless};

const CAST: Cast = Cast {
    agent: "codex",
    recall: |arguments| Call::new("recall_memory", arguments).within("mcp__tome"),
    plan: |steps| {
        let step = |step: &String| json!({"step": step, "status": "pending"});
        let plan: Vec<Value> = steps.iter().map(step).collect();
        vec![Call::new("update_plan", json!({"plan": plan}))]
    },
};

/// A custom model, and plans, which are off by default; setup keeps both.
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
fn codex_stores_a_session_and_gets_its_injections() {
    let stage = Stage::new(story::script(&CAST));
    story::begin(&stage);
    stage.write(".codex/config.toml", &config(&stage.model.url()));
    stage.set_up(CAST.agent);
    stage.run(command(&stage).args(["--json", PROMPT]));
    story::end(&stage, &CAST);
}

fn command(stage: &Stage) -> Command {
    let program = clients::file(clients::CODEX, "vendor/x86_64-unknown-linux-musl/bin/codex");
    let mut command = stage.agent(program);
    // Trusting hooks requires a person at a keyboard.
    command.args(["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]);
    command.env("LOOPBACK_KEY", "none");
    command
}

#[test]
#[ignore = "drives the real Codex: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn codex_prints_the_same_with_and_without_tome() {
    let prepare = |stage: &Stage| stage.write(".codex/config.toml", &config(&stage.model.url()));
    headless::check(&CAST, prepare, |stage, prompt| {
        let mut command = command(stage);
        command.arg(prompt);
        command
    });
}

/// Codex applies a patch inside a shell command itself and runs no hook after it.
#[test]
#[ignore = "drives the real Codex: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn a_patch_in_a_codex_shell_command_is_stored() {
    let patch =
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.txt\n+hi\n*** End Patch\nEOF\n";
    let stage = Stage::new(vec![
        Step::Use(vec![Call::new("exec_command", json!({"cmd": patch}))]),
        Step::Say("Patched."),
    ]);
    stage.write(".codex/config.toml", &config(&stage.model.url()));
    stage.set_up(CAST.agent);
    stage.run(command(&stage).arg("add a file"));
    assert_eq!(std::fs::read_to_string(stage.app.join("a.txt")).unwrap(), "hi\n");
    let events = eventually("the patch and the end of the session", || {
        let events = stage.world.events();
        let has = |kind: &str| events.iter().any(|event| event["kind"] == kind);
        (has("tool_result") && has("session_end")).then_some(events)
    });
    let results: Vec<&Value> =
        events.iter().filter(|event| event["kind"] == "tool_result").collect();
    assert_eq!(results.len(), 1, "{results:?}");
    assert_eq!(results[0]["tool"]["input"]["command"], patch);
    assert_eq!(stage.world.tome(&["import", "--agent", CAST.agent]).code, 0);
    assert_eq!(stage.world.events(), events, "an import finds nothing new");
    assert_eq!(stage.world.tome(&["stop"]).code, 0);
}
