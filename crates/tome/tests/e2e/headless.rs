//! A headless run prints the same, byte for byte, with and without Tome.

use std::process::Command;

use crate::agent_fixture::AgentFixture;
use crate::model::Step;
use crate::scenario::AgentCalls;

const PROMPT: &str = "Plan the work and do it.";
const DONE: &str = "The plan is done.";

/// Runs the same script twice: a plan long enough to trigger an injection, and the answer.
pub fn check(
    calls: &AgentCalls,
    prepare: impl Fn(&AgentFixture),
    command: impl Fn(&AgentFixture, &str) -> Command,
) {
    let print = |with_tome: bool| {
        let steps: Vec<String> = (1..=6).map(|n| format!("part {n}")).collect();
        let fixture = AgentFixture::new(vec![Step::Use((calls.plan)(&steps)), Step::Say(DONE)]);
        prepare(&fixture);
        if with_tome {
            fixture.set_up(calls.agent);
        }
        let ran = fixture.run(&mut command(&fixture, PROMPT));
        assert_eq!(fixture.model.requests().len(), 2, "{}", fixture.model.log());
        if with_tome {
            let stored = fixture.world.events();
            assert!(stored.iter().any(|event| event["kind"] == "user_message"), "{stored:?}");
            assert_eq!(fixture.world.tome(&["stop"]).code, 0);
        }
        ran.stdout
    };
    let (without, with) = (print(false), print(true));
    assert!(without.contains(DONE), "{without}");
    assert_eq!(with, without);
}
