//! A headless run prints the same, byte for byte, with and without Tome.

use std::process::Command;

use crate::model::Step;
use crate::stage::Stage;
use crate::story::Cast;

const PROMPT: &str = "Plan the work and do it.";
const DONE: &str = "The plan is done.";

/// Runs the same script twice: a plan long enough to trigger an injection, and the answer.
pub fn check(cast: &Cast, prepare: impl Fn(&Stage), command: impl Fn(&Stage, &str) -> Command) {
    let print = |with_tome: bool| {
        let steps: Vec<String> = (1..=6).map(|n| format!("part {n}")).collect();
        let stage = Stage::new(vec![Step::Use((cast.plan)(&steps)), Step::Say(DONE)]);
        prepare(&stage);
        if with_tome {
            stage.set_up(cast.agent);
        }
        let ran = stage.run(&mut command(&stage, PROMPT));
        assert_eq!(stage.model.requests().len(), 2, "{}", stage.model.log());
        if with_tome {
            let stored = stage.world.events();
            assert!(stored.iter().any(|event| event["kind"] == "user_message"), "{stored:?}");
            assert_eq!(stage.world.tome(&["stop"]).code, 0);
        }
        ran.stdout
    };
    let (without, with) = (print(false), print(true));
    assert!(without.contains(DONE), "{without}");
    assert_eq!(with, without);
}
