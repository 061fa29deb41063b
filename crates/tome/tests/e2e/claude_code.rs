//! Claude Code.

use serde_json::json;

use crate::clients;
use crate::model::Call;
use crate::stage::Stage;
use crate::story::{self, Cast, PROMPT};

const CAST: Cast = Cast {
    agent: "claude-code",
    recall: |arguments| Call::new("mcp__tome__recall_memory", arguments),
    // A task is made by a call of its own.
    plan: |steps| {
        let task = |step: &String| {
            let input = json!({"subject": step, "description": step, "activeForm": step});
            Call::new("TaskCreate", input)
        };
        steps.iter().map(task).collect()
    },
    lags: false,
};

#[test]
#[ignore = "drives the real Claude Code: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn claude_code_remembers() {
    let program = clients::file(clients::CLAUDE, "claude");
    let stage = Stage::new(story::script(&CAST));
    story::begin(&stage);
    stage.set_up(CAST.agent);
    let mut command = stage.agent(program);
    command.args(["-p", PROMPT, "--output-format", "json", "--model", "claude-sonnet-4-6"]);
    command.args(["--permission-mode", "bypassPermissions"]);
    command.env("ANTHROPIC_BASE_URL", stage.model.url()).env("ANTHROPIC_API_KEY", "none");
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
    // It refuses to skip its questions for root, unless it is told that nothing can be harmed.
    command.env("IS_SANDBOX", "1");
    stage.run(&mut command);
    story::end(&stage, &CAST);
}
