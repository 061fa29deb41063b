//! Injections: lessons for a plan, the request to save, the reminder of the overview. Each appears once
//! and never between a call and its result.

use std::sync::Arc;

use serde_json::{Value, json};
use tome_agent::model::{CancelToken, ChatResponse, ContentPart};
use tome_agent::{AgentEvent, AgentLoop, AgentSettings, FnTool, MemoryToolSet, PlanTool, Toolbox};

use crate::fixture::Fixture;
use crate::paper::Paper;
use crate::script::{Script, calls, says, words};

const REPLAN: &str = "With recalled memory, please replan if needed";

fn plan(steps: usize) -> String {
    let step = |n: usize| json!({"step": format!("port slice {n}"), "status": "pending"});
    json!({ "plan": (0..steps).map(step).collect::<Vec<_>>() }).to_string()
}

fn settings() -> AgentSettings {
    let edit = FnTool::new("edit", "", json!({"type": "object"}), |_: &Value| Ok("ok".to_owned()));
    let tools = Toolbox::new(MemoryToolSet::Full).with_tool(PlanTool).with_tool(edit);
    AgentSettings { tools, ..AgentSettings::default() }
}

/// Returns the reasons of all injections, in order, in one run over these replies.
fn injected(replies: Vec<ChatResponse>, prompt: &str) -> (Vec<&'static str>, Arc<Script>, String) {
    let model = Script::of(replies.into_iter().map(Ok).collect());
    let mut agent = AgentLoop::new(model.clone(), Arc::new(Paper::new()), settings()).unwrap();
    let mut why = Vec::new();
    let on_event = &mut |event: AgentEvent<'_>| {
        if let AgentEvent::Injected { why: one, .. } = event {
            why.push(one);
        }
    };
    let run = agent.run(prompt, on_event, &CancelToken::default()).unwrap();
    (why, model, run.text)
}

#[test]
fn a_plan_of_more_than_five_steps_is_replanned_once() {
    for (steps, is_due) in [(5, false), (6, true)] {
        let both = [("update_plan", &*plan(steps)), ("edit", "{}")];
        let replies = vec![calls(&both), calls(&[("update_plan", &plan(steps))]), says("done")];
        let (why, model, text) = injected(replies, "port it");
        let requests = model.requests.lock().unwrap();
        let count = words(requests.last().unwrap()).matches(REPLAN).count();
        assert_eq!(count, usize::from(is_due), "{steps} steps");
        assert_eq!(text, "done");
        if is_due {
            // After both results, in the same message.
            let parts = &requests[1].messages.last().unwrap().parts;
            assert!(matches!(
                parts[..3],
                [ContentPart::ToolResult(_), ContentPart::ToolResult(_), ContentPart::Text(_)]
            ));
            assert!(words(&requests[1]).contains("port in slices"));
            assert_eq!(why, ["replan", "store"]);
        } else {
            assert_eq!(why, Vec::<&str>::new());
        }
    }
}

#[test]
fn substantial_work_triggers_one_request_to_store() {
    let mut replies = vec![calls(&[("edit", "{}")]); 10];
    replies.push(says("ported"));
    let lesson = r#"{"type":"semantic","title":"t"}"#;
    replies.push(calls(&[("coder_memory_store", lesson)]));
    replies.push(says("stored"));
    let (why, model, text) = injected(replies, "port it");
    assert_eq!(why, ["store"]);
    assert_eq!(text, "ported", "the answer is what came before");
    assert_eq!(model.count(), 13);
    let sent = words(&model.last());
    assert!(
        sent.contains("no lessons from this work are saved yet") && sent.contains("success"),
        "{sent}"
    );
}

#[test]
fn little_work_triggers_nothing() {
    let replies = vec![calls(&[("edit", "{}")]), says("done")];
    assert_eq!(injected(replies, "a small thing").0, Vec::<&str>::new());
}

#[test]
fn frustration_is_a_strong_signal() {
    let replies = vec![calls(&[("edit", "{}")]), says("sorry")];
    let (why, model, _) = injected(replies, "wtf, I told you not to touch that file");
    assert_eq!(why, ["store"]);
    assert!(words(&model.last()).contains("#strong-signal"));
}

#[test]
fn an_outdated_overview_triggers_a_reminder() {
    let model = Script::of(Vec::new());
    let mut agent = AgentLoop::new(model.clone(), Arc::new(Paper::new()), settings()).unwrap();
    let mut at = Vec::new();
    for turn in 0..25 {
        let on_event = &mut |event: AgentEvent<'_>| {
            if let AgentEvent::Injected { why: "overview", .. } = event {
                at.push(turn);
            }
        };
        agent.run(&format!("turn {turn}"), on_event, &CancelToken::default()).unwrap();
    }
    assert_eq!(at, [10, 20]);
    assert!(words(&model.last()).contains("it has not changed for"));
}

#[test]
fn injections_are_recorded() {
    let fixture = Fixture::new();
    let model = Script::of(vec![Ok(calls(&[("edit", "{}")])), Ok(says("sorry"))]);
    let mut agent = AgentLoop::new(model, Arc::new(fixture.open("s1")), settings()).unwrap();
    agent.run("wtf, I told you not to touch it", &mut |_| {}, &CancelToken::default()).unwrap();
    let record = std::fs::read_to_string(fixture.files("injections.jsonl").remove(0)).unwrap();
    assert!(record.contains(r#""moment":"stop","why":"store","agent":"tome""#), "{record}");
}
