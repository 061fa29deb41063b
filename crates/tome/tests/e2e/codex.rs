//! Drives Codex.

use std::process::Command;

use serde_json::{Value, json};
use tome_testkit::eventually;

use crate::agent_fixture::AgentFixture;
use crate::model::{Call, Step};
use crate::scenario::{self, AgentCalls, PROMPT};
use crate::{clients, headless};

const CALLS: AgentCalls = AgentCalls {
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
    let fixture = AgentFixture::new(scenario::script(&CALLS));
    scenario::begin(&fixture);
    fixture.write(".codex/config.toml", &config(&fixture.model.url()));
    fixture.set_up(CALLS.agent);
    fixture.run(command(&fixture).args(["--json", PROMPT]));
    scenario::end(&fixture, &CALLS);
}

fn command(fixture: &AgentFixture) -> Command {
    let program = clients::file(clients::CODEX, "vendor/x86_64-unknown-linux-musl/bin/codex");
    let mut command = fixture.agent(program);
    // Trusting hooks requires a person at a keyboard.
    command.args(["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"]);
    command.env("LOOPBACK_KEY", "none");
    command
}

#[test]
#[ignore = "drives the real Codex: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn codex_prints_the_same_with_and_without_tome() {
    let prepare =
        |fixture: &AgentFixture| fixture.write(".codex/config.toml", &config(&fixture.model.url()));
    headless::check(&CALLS, prepare, |fixture, prompt| {
        let mut command = command(fixture);
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
    let fixture = AgentFixture::new(vec![
        Step::Use(vec![Call::new("exec_command", json!({"cmd": patch}))]),
        Step::Say("Patched."),
    ]);
    fixture.write(".codex/config.toml", &config(&fixture.model.url()));
    fixture.set_up(CALLS.agent);
    fixture.run(command(&fixture).arg("add a file"));
    assert_eq!(std::fs::read_to_string(fixture.app.join("a.txt")).unwrap(), "hi\n");
    let events = eventually("the patch and the end of the session", || {
        let events = fixture.world.events();
        let has = |kind: &str| events.iter().any(|event| event["kind"] == kind);
        (has("tool_result") && has("session_end")).then_some(events)
    });
    let results: Vec<&Value> =
        events.iter().filter(|event| event["kind"] == "tool_result").collect();
    assert_eq!(results.len(), 1, "{results:?}");
    assert_eq!(results[0]["tool"]["input"]["command"], patch);
    assert_eq!(fixture.world.tome(&["import", "--agent", CALLS.agent]).code, 0);
    assert_eq!(fixture.world.events(), events, "an import finds nothing new");
    assert_eq!(fixture.world.tome(&["stop"]).code, 0);
}
