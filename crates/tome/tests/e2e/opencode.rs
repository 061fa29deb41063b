//! Drives OpenCode; Tome's plugin must send everything before `opencode run` exits.

use std::process::Command;

use serde_json::{Value, json};
use tome_testkit::eventually;

use crate::agent_fixture::AgentFixture;
use crate::clients;
use crate::model::{Call, Step};

const PROMPT: &str = "What does the shell say about the frobnicator?";
const FACT: &str = "prefers answers of one sentence";
const ANSWER: &str = "It says that the frobnicator is fine.";
const OUTPUT: &str = "frobnicator-is-fine";

/// A custom model; setup keeps it.
fn settings(url: &str) -> String {
    let models = json!({"scripted": {"limit": {"context": 200_000, "output": 8_000}}});
    let provider = json!({"npm": "@ai-sdk/openai-compatible", "models": models,
                          "options": {"baseURL": format!("{url}/v1"), "apiKey": "none"}});
    json!({"provider": {"loopback": provider}, "model": "loopback/scripted",
           "small_model": "loopback/scripted", "permission": {"*": "allow"},
           "autoupdate": false, "share": "disabled"})
    .to_string()
}

/// A user of OpenCode, with the package that OpenCode installs for plugins.
fn person(script: Vec<Step>) -> AgentFixture {
    let fixture = AgentFixture::new(script);
    let package = clients::file(clients::OPENCODE, "config");
    let folder = fixture.world.folder("person/.config/opencode");
    let copied = Command::new("cp").arg("-R").arg(package.join(".")).arg(folder).status();
    assert!(copied.unwrap().success());
    fixture.write(".config/opencode/opencode.json", &settings(&fixture.model.url()));
    fixture
}

/// `opencode run` with a single prompt.
fn opencode(fixture: &AgentFixture) -> Command {
    let mut command = fixture.agent(clients::file(clients::OPENCODE, "bin/opencode"));
    command.args(["run", PROMPT]);
    for name in ["MODELS_FETCH", "AUTOUPDATE", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"] {
        command.env(format!("OPENCODE_DISABLE_{name}"), "1");
    }
    command
}

/// Runs OpenCode with production deadlines for hooks; returns its output.
fn run_in_a_hurry(fixture: &AgentFixture) -> String {
    fixture.run(opencode(fixture).env_remove("TOME_HOOK_PATIENCE")).stdout
}

/// Returns the events of the session once its end is stored.
fn stored(fixture: &AgentFixture) -> Vec<Value> {
    let events = eventually("the end of the session", || {
        let events = fixture.world.events();
        events.iter().any(|event| event["kind"] == "session_end").then_some(events)
    });
    println!("{}", events.iter().map(|event| format!("{event}\n")).collect::<String>());
    assert!(events.iter().all(|event| event["agent"] == "opencode"));
    assert!(events.iter().all(|event| event["session_id"] == events[0]["session_id"]));
    assert_ne!(events[0]["session_id"], "unknown");
    events
}

/// The kinds of all events but the session's title, which comes at any time.
fn kinds(events: &[Value]) -> Vec<&str> {
    let others = events.iter().filter(|event| event["meta"]["event"] != "session_title");
    others.filter_map(|event| event["kind"].as_str()).collect()
}

/// Checks that OpenCode's own store contains nothing that the plugin has not reported.
fn assert_import_finds_nothing_new(fixture: &AgentFixture) {
    let before = fixture.world.events();
    let ran = fixture.world.tome(&["import", "--agent", "opencode"]);
    assert_eq!(ran.code, 0, "tome import: {}", ran.stderr);
    assert_eq!(fixture.world.events(), before, "{}", ran.stdout);
}

#[test]
#[ignore = "drives the real OpenCode: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn opencode_stores_a_session_and_gets_its_injections() {
    let arguments = json!({"command": format!("echo {OUTPUT}"), "description": "ask the shell"});
    let fixture = person(vec![Step::Use(vec![Call::new("bash", arguments)]), Step::Say(ANSWER)]);
    let content = format!("# User\n\n- {FACT}\n");
    fixture.tool("memory_write", &json!({"path": "facts/user.md", "content": content}));
    // OpenCode also reads the skills of these agents.
    for agent in ["claude-code", "codex", "opencode"] {
        fixture.set_up(agent);
    }
    // Response times are measured by the bench.
    fixture.run(&mut opencode(&fixture));
    let requests = fixture.model.requests();
    assert_eq!((requests.len(), fixture.model.steps_left()), (2, 0), "{}", fixture.model.log());
    let first = requests[0].text();
    assert!(first.contains("<tome-memory kind=\"start\">") && first.contains(FACT), "{first}");
    assert_eq!(first.matches("<name>tome-memory</name>").count(), 1, "{first}");
    let events = stored(&fixture);
    let expected = [
        "session_start",
        "user_message",
        "tool_result",
        "assistant_message",
        "assistant_stop",
        "session_end",
    ];
    // In order of time.
    assert_eq!(kinds(&events), expected);
    let find = |kind: &str| events.iter().find(|event| event["kind"] == kind).unwrap();
    assert_eq!(find("user_message")["text"], PROMPT);
    let output = &find("tool_result")["tool"]["output"];
    assert!(output.to_string().contains(OUTPUT), "{output}");
    assert_eq!(find("assistant_message")["text"], ANSWER);
    assert_import_finds_nothing_new(&fixture);
}

#[test]
#[ignore = "drives the real OpenCode: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn a_short_run_of_opencode_is_stored_and_prints_the_same() {
    let bare = run_in_a_hurry(&person(vec![Step::Say(ANSWER)]));
    let fixture = person(vec![Step::Say(ANSWER)]);
    fixture.set_up("opencode");
    assert_eq!(run_in_a_hurry(&fixture), bare);
    let events = stored(&fixture);
    let expected =
        ["session_start", "user_message", "assistant_message", "assistant_stop", "session_end"];
    assert_eq!(kinds(&events), expected);
    let answer = events.iter().find(|event| event["kind"] == "assistant_message").unwrap();
    assert_eq!(answer["text"], ANSWER);
    assert_import_finds_nothing_new(&fixture);
}
