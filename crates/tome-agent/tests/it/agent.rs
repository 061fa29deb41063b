//! The agent loop: every call is run, nothing is lost, and a session resumes where it stopped.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use tome_agent::event::{EventKind, Millis};
use tome_agent::model::{CancelToken, ContentPart, ModelFailure};
use tome_agent::{
    AgentError, AgentEvent, AgentLoop, AgentSettings, FinishReason, FnTool, Memory, MemoryToolSet,
    Toolbox,
};

use crate::fixture::Fixture;
use crate::paper::Paper;
use crate::script::{Script, calls, says, words};

fn echo() -> impl tome_agent::CustomTool {
    let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    FnTool::new("echo", "Says it again.", schema, |arguments: &Value| {
        let text = arguments.get("text").and_then(Value::as_str).ok_or("text is missing")?;
        Ok(format!("echo {text}"))
    })
}

fn settings() -> AgentSettings {
    AgentSettings {
        tools: Toolbox::new(MemoryToolSet::None).with_tool(echo()),
        ..Default::default()
    }
}

fn down() -> ModelFailure {
    ModelFailure::Unreachable { message: "no route".to_owned() }
}

#[test]
fn every_call_is_run_in_order_and_all_results_go_back_together() {
    let model = Script::of(vec![
        Ok(calls(&[
            ("echo", r#"{"text":"one"}"#),
            ("nonsense", "{}"),
            ("echo", "{\"text\":"),
            ("echo", "{}"),
            ("echo", r#"{"text":"two"}"#),
        ])),
        Ok(says("done")),
    ]);
    let memory = Arc::new(Paper::new());
    let mut agent = AgentLoop::new(model.clone(), memory.clone(), settings()).unwrap();
    let mut told = Vec::new();
    let run = agent.run(
        "go",
        &mut |event| {
            if let AgentEvent::ToolEnd { call, result } = event {
                told.push((call.name.clone(), result.failed));
            }
        },
        &CancelToken::default(),
    );
    let run = run.unwrap();
    assert_eq!(
        (run.text.as_str(), run.finish_reason, run.rounds, run.tool_calls),
        ("done", FinishReason::Done, 2, 5)
    );
    assert_eq!((run.usage.input, run.usage.output), (20, 4));
    let failed: Vec<bool> = told.iter().map(|(_, failed)| *failed).collect();
    assert_eq!(failed, [false, true, true, true, false]);
    let last = model.last();
    let results: Vec<&str> = last
        .messages
        .last()
        .unwrap()
        .parts
        .iter()
        .filter_map(|part| match part {
            ContentPart::ToolResult(result) => Some(result.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(results.len(), 5);
    assert_eq!((results[0], results[4]), ("echo one", "echo two"));
    assert!(
        results[1].contains("there is no tool \"nonsense\"; available: echo"),
        "{}",
        results[1]
    );
    assert!(results[2].contains("not a JSON object"), "{}", results[2]);
    assert!(results[3].contains("text is missing"), "{}", results[3]);
    let kinds: Vec<_> = memory.recent_events(99).unwrap().iter().map(|event| event.kind).collect();
    let mut wanted = vec![EventKind::SessionStart, EventKind::UserMessage];
    wanted.extend([EventKind::ToolResult; 5]);
    wanted.push(EventKind::AssistantStop);
    assert_eq!(kinds, wanted);
}

#[test]
fn a_panicking_tool_yields_a_failed_result() {
    let broken = FnTool::new("broken", "", json!({"type": "object"}), |_: &Value| panic!("oh"));
    let model = Script::of(vec![Ok(calls(&[("broken", "")])), Ok(says("I see"))]);
    let settings = AgentSettings { tools: Toolbox::default().with_tool(broken), ..settings() };
    let mut agent = AgentLoop::new(model.clone(), Arc::new(Paper::new()), settings).unwrap();
    let run = agent.run("go", &mut |_| {}, &CancelToken::default()).unwrap();
    assert_eq!(run.text, "I see");
    assert!(words(&model.last()).contains("broken crashed"));
}

#[test]
fn endless_tool_calls_are_stopped() {
    let model = Script::by(|_| Ok(calls(&[("echo", r#"{"text":"again"}"#)])));
    let memory = Arc::new(Paper::new());
    let settings = AgentSettings { rounds_max: 7, ..settings() };
    let mut agent = AgentLoop::new(model.clone(), memory.clone(), settings).unwrap();
    let run = agent.run("go", &mut |_| {}, &CancelToken::default()).unwrap();
    assert_eq!((run.finish_reason, run.rounds, run.tool_calls), (FinishReason::MaxRounds, 7, 7));
    let last = memory.recent_events(1).unwrap().remove(0);
    assert!(last.text.contains("Stopped after 7 rounds"), "{}", last.text);
    agent.run("and now", &mut |_| {}, &CancelToken::default()).unwrap();
}

#[test]
fn a_session_continues_after_a_model_failure() {
    let model = Script::of(vec![
        Ok(calls(&[("echo", r#"{"text":"kept"}"#)])),
        Err(down()),
        Ok(says("here again")),
    ]);
    let memory = Arc::new(Paper::new());
    let mut agent = AgentLoop::new(model.clone(), memory.clone(), settings()).unwrap();
    let failed = agent.run("first", &mut |_| {}, &CancelToken::default()).unwrap_err();
    assert!(matches!(failed, AgentError::Model(ModelFailure::Unreachable { .. })));
    assert_eq!(agent.usage().input, 10);
    let mut later = AgentLoop::new(model.clone(), memory.clone(), settings()).unwrap();
    assert!(later.is_resumed());
    let run = later.run("second", &mut |_| {}, &CancelToken::default()).unwrap();
    assert_eq!(run.text, "here again");
    later.finish("done").unwrap();
    assert!(!later.is_resumed());
    let sent = words(&model.last());
    for part in ["first", "echo kept", "second"] {
        assert!(sent.contains(part), "{part}: {sent}");
    }
}

#[test]
fn a_cancelled_run_answers_every_tool_call() {
    let stop = CancelToken::default();
    let thrown = stop.clone();
    let stopping = FnTool::new("stopping", "", json!({"type": "object"}), move |_: &Value| {
        thrown.cancel();
        Ok("last".to_owned())
    });
    let call = ("echo", r#"{"text":"never"}"#);
    let model = Script::of(vec![Ok(calls(&[("stopping", "{}"), call, call]))]);
    let memory = Arc::new(Paper::new());
    let mut settings = settings();
    settings.tools = settings.tools.with_tool(stopping);
    let mut agent = AgentLoop::new(model.clone(), memory.clone(), settings).unwrap();
    let run = agent.run("go", &mut |_| {}, &stop).unwrap();
    assert_eq!((run.finish_reason, model.count()), (FinishReason::Cancelled, 1));
    let run = agent.run("go on", &mut |_| {}, &CancelToken::default()).unwrap();
    assert_eq!(run.finish_reason, FinishReason::Done);
    let sent = words(&model.last());
    assert!(
        sent.contains("not run because the user stopped the agent") && !sent.contains("echo never")
    );
}

#[test]
fn events_rejected_by_memory_are_retried() {
    let model = Script::of(vec![Ok(calls(&[("echo", r#"{"text":"kept"}"#)])), Ok(says("done"))]);
    let memory = Arc::new(Paper::new());
    let going = Arc::clone(&memory);
    let leaving = FnTool::new("echo", "", json!({"type": "object"}), move |_: &Value| {
        *going.is_away.lock().unwrap() = true;
        Ok("kept".to_owned())
    });
    let settings = AgentSettings { tools: Toolbox::default().with_tool(leaving), ..settings() };
    let mut agent = AgentLoop::new(model.clone(), memory.clone(), settings).unwrap();
    let failed = agent.run("go", &mut |_| {}, &CancelToken::default()).unwrap_err();
    assert!(failed.to_string().contains("on holiday"), "{failed}");
    assert_eq!(model.count(), 1, "what is not recorded is not sent");
    assert_eq!(memory.recent_events(99).unwrap().len(), 2);
    let failed = agent.run("lost?", &mut |_| {}, &CancelToken::default()).unwrap_err();
    assert!(matches!(failed, AgentError::Memory(_)));
    *memory.is_away.lock().unwrap() = false;
    agent.run(" \n", &mut |_| {}, &CancelToken::default()).unwrap_err();
    agent.run("back", &mut |_| {}, &CancelToken::default()).unwrap();
    let texts: Vec<String> =
        memory.recent_events(99).unwrap().into_iter().map(|event| event.text).collect();
    assert_eq!(texts, ["", "go", "", "", "back", "done"]);
    assert_eq!(memory.recent_events(99).unwrap()[3].meta["end"], "failed");
}

#[test]
fn a_session_over_a_real_home_remembers_across_agents() {
    let fixture = Fixture::new();
    let model = Script::of(vec![
        Ok(calls(&[(
            "memory_write",
            r##"{"path":"facts/user.md","content":"# User\n\n> Summary: name\n\n- Name: Zhang San\n"}"##,
        )])),
        Ok(says("Nice to meet you, Zhang San.")),
    ]);
    let mut agent =
        AgentLoop::new(model.clone(), Arc::new(fixture.open("s1")), AgentSettings::default())
            .unwrap();
    agent.run("I'm Zhang San", &mut |_| {}, &CancelToken::default()).unwrap();
    agent.finish("exit").unwrap();
    drop(agent);
    let model = Script::of(vec![Ok(calls(&[("memory_read", r#"{"path":"facts/user.md"}"#)]))]);
    let memory = Arc::new(fixture.open("s2"));
    let mut agent = AgentLoop::new(model.clone(), memory, AgentSettings::default()).unwrap();
    agent.run("what's my name?", &mut |_| {}, &CancelToken::default()).unwrap();
    let first = words(&model.requests.lock().unwrap()[0]);
    let opening = "Available memory:\n<tome-quoted from=\"notes of this project\"";
    assert!(first.starts_with(opening) && first.contains("\n- facts/user.md ("), "{first}");
    assert!(words(&model.last()).contains("Zhang San"));
    assert_eq!(words(&model.last()).matches("Available memory:").count(), 1);
}

#[test]
fn a_clock_going_backwards_loses_no_turn() {
    let fixture = Fixture::new();
    let model = Script::of(Vec::new());
    let open = || {
        AgentLoop::new(model.clone(), Arc::new(fixture.open("s1")), AgentSettings::default())
            .unwrap()
    };
    let mut agent = open();
    agent.run("the first", &mut |_| {}, &CancelToken::default()).unwrap();
    fixture.turn_back(3_600_000);
    agent.run("the second", &mut |_| {}, &CancelToken::default()).unwrap();
    drop(agent);
    fixture.turn_back(86_400_000);
    let mut agent = open();
    agent.run("the third", &mut |_| {}, &CancelToken::default()).unwrap();
    let texts: Vec<String> =
        agent.recent_events(99).unwrap().into_iter().map(|one| one.text).collect();
    assert_eq!(texts, ["", "the first", "ok", "the second", "ok", "", "the third", "ok"]);
    let sent = words(&model.last());
    let position = |words: &str| sent.find(words).unwrap();
    assert!(
        position("the first") < position("the second")
            && position("the second") < position("the third")
    );
}

#[test]
fn a_repeating_clock_loses_nothing_of_a_long_session() {
    let memory = Arc::new(Paper::new());
    let start = memory.now();
    for n in 0..2_500 {
        let (at, name) = (Millis(start.0 - 10_000 + n), n.to_string());
        let event = memory.session().new_event(EventKind::UserMessage, at, &name, "before");
        memory.record_events(&[event]).unwrap();
    }
    for prompt in ["the first", "the second", "the third"] {
        memory.time.store(start.0, Ordering::Relaxed);
        let model = Script::of(vec![Ok(says("ok"))]);
        let mut agent = AgentLoop::new(model, memory.clone(), settings()).unwrap();
        agent.run(prompt, &mut |_| {}, &CancelToken::default()).unwrap();
    }
    let events = memory.recent_events(20).unwrap();
    let count = |kind| events.iter().filter(|event| event.kind == kind).count();
    let is_there = |prompt| events.iter().any(|event| event.text == prompt);
    assert!(["the first", "the second", "the third"].into_iter().all(is_there));
    assert_eq!((count(EventKind::SessionStart), count(EventKind::AssistantStop)), (3, 3));
}

#[test]
fn a_resumed_session_applies_the_same_caps() {
    let huge = |_: &Value| Ok(format!("BEGIN {} END", "x1 ".repeat(200_000)));
    let huge = FnTool::new("dump", "", json!({"type": "object"}), huge);
    let mut settings = settings();
    settings.context.window_tokens = 30_000;
    settings.tools = settings.tools.with_tool(huge);
    let model = Script::of(vec![Ok(calls(&[("dump", "{}"), ("dump", "{}")]))]);
    let memory = Arc::new(Paper::new());
    let mut agent = AgentLoop::new(model, memory.clone(), settings.clone()).unwrap();
    agent.run(&"long ".repeat(30_000), &mut |_| {}, &CancelToken::default()).unwrap();
    let again = AgentLoop::new(Script::of(Vec::new()), memory, settings).unwrap();
    let messages = |agent: &AgentLoop| {
        let units = agent.context().units();
        let parts =
            units.flat_map(tome_agent::ContextUnit::messages).flat_map(|message| &message.parts);
        let kept = parts.filter(
            |part| !matches!(part, ContentPart::Text(text) if text.starts_with("<context_meta>")),
        );
        kept.cloned().collect::<Vec<_>>()
    };
    let (live, taken_up) = (messages(&agent), messages(&again));
    assert_eq!(live.len(), 6);
    assert!(live == taken_up, "{taken_up:#?}");
}
