//! Drives Claude Code.

use std::process::Command;

use serde_json::json;
use tome_testkit::eventually;

use crate::agent_fixture::AgentFixture;
use crate::model::{Call, Model, ModelRequest, Step};
use crate::scenario::{self, AgentCalls, PROMPT};
use crate::{clients, headless};

const CALLS: AgentCalls = AgentCalls {
    agent: "claude-code",
    recall: |arguments| Call::new("mcp__tome__recall_memory", arguments),
    // Claude Code creates each task with a separate call.
    plan: |steps| {
        let task = |step: &String| {
            let input = json!({"subject": step, "description": step, "activeForm": step});
            Call::new("TaskCreate", input)
        };
        steps.iter().map(task).collect()
    },
};

#[test]
#[ignore = "drives the real Claude Code: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn claude_code_stores_a_session_and_gets_its_injections() {
    let fixture = AgentFixture::new(scenario::script(&CALLS));
    scenario::begin(&fixture);
    fixture.set_up(CALLS.agent);
    fixture.run(command(&fixture).args(["-p", PROMPT, "--output-format", "json"]));
    scenario::end(&fixture, &CALLS);
}

fn command(fixture: &AgentFixture) -> Command {
    let mut command = fixture.agent(clients::file(clients::CLAUDE, "claude"));
    command.args(["--model", "claude-sonnet-4-6", "--permission-mode", "bypassPermissions"]);
    command.env("ANTHROPIC_BASE_URL", fixture.model.url()).env("ANTHROPIC_API_KEY", "none");
    command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1").env("DISABLE_AUTOUPDATER", "1");
    // Claude Code refuses to skip permission prompts for root unless it runs in a sandbox.
    command.env("IS_SANDBOX", "1");
    command
}

#[test]
#[ignore = "drives the real Claude Code: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn claude_code_prints_the_same_with_and_without_tome() {
    headless::check(
        &CALLS,
        |_| {},
        |fixture, prompt| {
            let mut command = command(fixture);
            command.args(["-p", prompt]);
            command
        },
    );
}

/// One `/compact` is one event, however often the client reports it.
#[test]
#[ignore = "drives the real Claude Code: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn one_compaction_of_claude_code_is_one_event() {
    let fixture = AgentFixture::new(vec![
        Step::Say("There are 42 words."),
        Step::Say("A summary of it."),
        Step::Say("A suggestion."),
    ]);
    fixture.set_up(CALLS.agent);
    let session = "5f0c1c62-3c55-4d0c-8f43-3a6f6a4e9b10";
    fixture.run(command(&fixture).args(["-p", "how many words?", "--session-id", session]));
    fixture.run(command(&fixture).args(["-p", "/compact keep the count", "--resume", session]));
    let events = eventually("both ends of the session", || {
        let events = fixture.world.events();
        let ends = events.iter().filter(|event| event["kind"] == "session_end").count();
        (ends == 2).then_some(events)
    });
    let of = |kind: &str| -> Vec<&str> {
        let events = events.iter().filter(|event| event["kind"] == kind);
        events.filter_map(|event| event["text"].as_str()).collect()
    };
    assert_eq!(of("compaction"), ["A summary of it."]);
    assert_eq!(of("subagent_stop"), Vec::<&str>::new());
    assert_eq!(fixture.world.tome(&["import", "--agent", CALLS.agent]).code, 0);
    assert_eq!(fixture.world.events(), events, "an import finds nothing new");
    assert_eq!(fixture.world.tome(&["stop"]).code, 0);
}

/// Before an edit the model gets the last decision about the file, and a subagent gets memory.
#[test]
#[ignore = "drives the real Claude Code: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn claude_code_gets_decisions_at_edits_and_memory_for_subagents() {
    const CHOICE: &str =
        "Let's go with a hand-written scanner in src/lexer.rs instead of the logos crate";
    let path = "src/lexer.rs";
    let task = "Find out how the hand-written scanner in src/lexer.rs reads numbers";
    let mut fixture = AgentFixture::new(Vec::new());
    let file = fixture.app.join(path);
    let write = json!({"file_path": file, "content": "fn scan() {}\n"});
    let explore =
        json!({"description": "Explore", "prompt": task, "subagent_type": "general-purpose"});
    fixture.model = Model::new(vec![
        Step::Use(vec![Call::new("Write", write)]),
        Step::Use(vec![Call::new("Agent", explore)]),
        Step::Say("It reads them by hand."),
        Step::Say("Done."),
    ]);
    let line = |id: &str, at: u64, kind: &str, more: serde_json::Value| {
        let mut line = json!({"id": id, "session_id": "old", "agent": "earlier", "cwd": fixture.app,
            "kind": kind, "at": 1_794_735_000_000_u64 + at});
        for (name, value) in more.as_object().into_iter().flatten() {
            line[name] = value.clone();
        }
        line.to_string()
    };
    let edit = json!({"name": "Edit", "input": {"file_path": path}, "output": "ok"});
    let lines = [
        line("d1", 0, "user_message", json!({"text": CHOICE})),
        line("d2", 1_000, "tool_result", json!({"text": "", "tool": edit})),
        line("d3", 2_000, "assistant_stop", json!({"text": "The scanner is written by hand."})),
    ];
    fixture.world.ingest(&(lines.join("\n") + "\n"));
    fixture.set_up(CALLS.agent);
    fixture
        .run(command(&fixture).args(["-p", "Write the lexer and find out how it reads numbers."]));
    let requests = fixture.model.requests();
    let told = |why: &str| {
        let all = fixture.injections();
        all.iter().any(|one| one["why"] == why && one["handed"] == true)
    };
    assert!(told("decision"), "{:?}", fixture.injections());
    assert!(requests[1].text().contains("<tome-memory kind=\"decision\">"));
    // Hooks have production deadlines: memory that was not ready in time is not expected.
    println!("in time for the subagent: {}", told("subagent"));
    // The subagent works beside the main agent, so its request has no fixed place.
    let is_told = |one: &ModelRequest| one.text().contains("<tome-memory kind=\"subagent\">");
    assert_eq!(requests.iter().filter(|one| is_told(one)).count(), usize::from(told("subagent")));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "fn scan() {}\n", "the tool ran");
    assert_eq!(fixture.world.tome(&["stop"]).code, 0);
}
