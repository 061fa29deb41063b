//! Whatever a model and its tools do, providers accept every request (see `script::check`).

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use serde_json::{Value, json};
use tome_agent::model::{
    CancelToken, ChatResponse, ContentPart, ModelFailure, StopReason, ToolCall, Usage,
};
use tome_agent::{
    AgentLoop, AgentSettings, ContextSettings, ContextWindow, FnTool, MemoryToolSet, Toolbox,
};

use crate::paper::Paper;
use crate::script::{Script, check};

const WINDOW: u64 = 6_000;

#[derive(Debug, Clone)]
enum Does {
    Replies(Vec<(Option<u16>, String, bool)>, u16),
    Fails(u8),
}

fn does() -> impl Strategy<Value = Does> {
    let name = prop_oneof![Just("echo"), Just("fail"), Just("stop"), Just("none")];
    let call = (proptest::option::of(0_u16..3), name.prop_map(str::to_owned), any::<bool>());
    prop_oneof![
        6 => (proptest::collection::vec(call, 0..4), 0_u16..900).prop_map(|(c, n)| Does::Replies(c, n)),
        1 => (0_u8..4).prop_map(Does::Fails),
    ]
}

fn reply(calls: &[(Option<u16>, String, bool)], words: u16) -> ChatResponse {
    let mut parts = Vec::new();
    if words > 0 {
        parts.push(ContentPart::Text("é".repeat(usize::from(words))));
    }
    for (id, name, is_json) in calls {
        let arguments = if *is_json { json!({"n": words}).to_string() } else { "{\"n\":".into() };
        let id = id.map_or_else(String::new, |id| format!("c{id}"));
        parts.push(ContentPart::ToolCall(ToolCall { id, name: name.clone(), arguments }));
    }
    ChatResponse { parts, stop_reason: StopReason::ToolCalls, usage: Usage::default() }
}

fn failure(kind: u8) -> ModelFailure {
    match kind {
        0 => ModelFailure::Cancelled,
        1 => ModelFailure::ContextTooLong { message: "too long".to_owned() },
        2 => ModelFailure::Malformed { message: "nonsense".to_owned() },
        _ => ModelFailure::Unreachable { message: "gone".to_owned() },
    }
}

fn settings(stop: &Arc<Mutex<CancelToken>>) -> AgentSettings {
    let any = || json!({"type": "object"});
    let thrown = Arc::clone(stop);
    let tools = Toolbox::new(MemoryToolSet::None)
        .with_tool(FnTool::new("echo", "", any(), |arguments: &Value| {
            let n = arguments.get("n").and_then(Value::as_u64).unwrap_or(0);
            Ok("x ".repeat(usize::try_from(n).unwrap() * 20))
        }))
        .with_tool(FnTool::new("fail", "", any(), |_: &Value| Err(String::new())))
        .with_tool(FnTool::new("stop", "", any(), move |_: &Value| {
            thrown.lock().unwrap().cancel();
            Ok(String::new())
        }));
    AgentSettings {
        context: ContextSettings { window_tokens: WINDOW, turns_max: 5, ..Default::default() },
        rounds_max: 6,
        tools,
        ..AgentSettings::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn every_tool_call_has_a_result(
        script in proptest::collection::vec(does(), 1..60),
        prompts in proptest::collection::vec("[a-z ]{1,80}", 1..12),
        cuts in proptest::collection::vec(0_usize..15, 12),
    ) {
        let mut script = script.into_iter().cycle();
        let model = Script::by(move |request| {
            let tokens = ContextWindow::request_tokens(request);
            assert!(tokens <= WINDOW, "{tokens}");
            match script.next().unwrap() {
                Does::Replies(calls, words) => Ok(reply(&calls, words)),
                Does::Fails(kind) => Err(failure(kind)),
            }
        });
        let memory = Arc::new(Paper::new());
        let stop = Arc::new(Mutex::new(CancelToken::default()));
        let mut agent = AgentLoop::new(model.clone(), memory.clone(), settings(&stop)).unwrap();
        for (n, prompt) in prompts.iter().enumerate() {
            let fresh = CancelToken::default();
            *stop.lock().unwrap() = fresh.clone();
            let _ = agent.run(prompt, &mut |_| {}, &fresh);
            if n % 3 == 2 {
                // Simulates a kill in the middle of a run: only recorded events survive.
                let mut events = memory.events.lock().unwrap();
                let kept = events.len().saturating_sub(cuts[n]);
                events.truncate(kept);
                drop(events);
                agent = AgentLoop::new(model.clone(), memory.clone(), settings(&stop)).unwrap();
            }
        }
        let last = Script::of(Vec::new());
        let mut agent = AgentLoop::new(last.clone(), memory, settings(&stop)).unwrap();
        agent.run("and now?", &mut |_| {}, &CancelToken::default()).unwrap();
        check(&last.last());
    }
}
