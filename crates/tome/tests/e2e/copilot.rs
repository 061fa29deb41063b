//! Drives Copilot CLI.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tome_testkit::eventually_within;

use crate::agent_fixture::AgentFixture;
use crate::model::{Call, Step};
use crate::scenario::{self, AgentCalls, PROMPT};
use crate::{clients, headless};

const CALLS: AgentCalls = AgentCalls {
    agent: "copilot",
    recall: |arguments| Call::new("tome-recall_memory", arguments),
    // Copilot's plan is a table.
    plan: |steps| {
        let row = |(n, step): (usize, &String)| format!("('s{n}', '{step}', '{step}')");
        let rows: Vec<String> = steps.iter().enumerate().map(row).collect();
        let query =
            format!("INSERT INTO todos (id, title, description) VALUES {}", rows.join(", "));
        vec![Call::new("sql", json!({"description": "plan the work", "query": query}))]
    },
};

#[test]
#[ignore = "drives the real Copilot CLI: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn copilot_stores_a_session_and_gets_its_injections() {
    let fixture = AgentFixture::new(scenario::script(&CALLS));
    scenario::begin(&fixture);
    fixture.set_up(CALLS.agent);
    fixture.run(command(&fixture).args(["-p", PROMPT]));
    scenario::end(&fixture, &CALLS);
}

fn command(fixture: &AgentFixture) -> Command {
    let mut command = fixture.agent(clients::file(clients::COPILOT, "copilot"));
    command.args(["--allow-all-tools", "--no-color"]);
    command.env("COPILOT_OFFLINE", "true").env("COPILOT_AUTO_UPDATE", "false");
    command.env("COPILOT_PROVIDER_BASE_URL", format!("{}/v1", fixture.model.url()));
    command.env("COPILOT_PROVIDER_API_KEY", "none").env("COPILOT_MODEL", "scripted");
    command
}

#[test]
#[ignore = "drives the real Copilot CLI: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn copilot_prints_the_same_with_and_without_tome() {
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

const ANSWERS: [&str; 10] = [
    "There are one hundred words.",
    "There are two hundred words.",
    "There are three hundred words.",
    "There are four hundred words.",
    "There are five hundred words.",
    "There are six hundred words.",
    "There are seven hundred words.",
    "There are eight hundred words.",
    "There are nine hundred words.",
    "There are a thousand words.",
];

/// Copilot writes its log after its hooks run: every answer must be stored, and no earlier message
/// in its place.
#[test]
#[ignore = "drives the real Copilot CLI: scripts/e2e-clients.sh, then cargo test -p tome --test e2e -- --ignored"]
fn every_final_answer_of_copilot_is_stored() {
    let count = || Call::new("bash", json!({"command": "echo 100", "description": "count"}));
    let turn = |answer: &&'static str| {
        [Step::SayAndUse("First I count the words.", vec![count()]), Step::Say(answer)]
    };
    let fixture = AgentFixture::new(ANSWERS.iter().flat_map(turn).collect());
    fixture.set_up(CALLS.agent);
    for n in 0..ANSWERS.len() {
        fixture.run(command(&fixture).args(["-p", &format!("count the words of chapter {n}")]));
    }
    let mut answers = eventually_within(Duration::from_secs(20), || {
        let answers = answers_of(&fixture.world.events());
        (answers.len() == ANSWERS.len()).then_some(answers)
    })
    .unwrap_or_else(|| answers_of(&fixture.world.events()));
    answers.sort_unstable();
    let mut expected = ANSWERS.map(str::to_owned);
    expected.sort_unstable();
    let right = answers.iter().filter(|answer| expected.contains(answer)).count();
    println!("{right} of {} answers are right", ANSWERS.len());
    assert_eq!(answers, expected);
    let before = fixture.world.events();
    assert_eq!(fixture.world.tome(&["import", "--agent", CALLS.agent]).code, 0);
    assert_eq!(fixture.world.events(), before, "an import finds nothing new");
    assert_eq!(fixture.world.tome(&["stop"]).code, 0);
}

/// Returns the last stop text of every session that has one.
fn answers_of(events: &[Value]) -> Vec<String> {
    let mut answers = BTreeMap::new();
    for event in events {
        let text = event["text"].as_str().unwrap_or_default();
        if event["kind"] == "assistant_stop" && !text.is_empty() {
            answers.insert(event["session_id"].to_string(), text.to_owned());
        }
    }
    answers.into_values().collect()
}
