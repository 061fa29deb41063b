//! Events that clients report several times or not at all: compactions, session ends, patches.

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

use crate::support::*;

fn kinds(events: &[Value], kind: &str) -> Vec<String> {
    let of_kind = events.iter().filter(|event| event["kind"] == kind);
    of_kind.map(|event| event["text"].as_str().unwrap().to_owned()).collect()
}

/// Claude Code announces a compaction, runs its summarizer as a subagent, possibly repeatedly, and
/// reports the compaction. That is one event, and its summary is stored once.
#[test]
fn a_compaction_is_one_event() {
    let world = world();
    assert_eq!(world.tome(&["start"]).code, 0);
    let hook = |fields: Value| {
        let mut payload = json!({"session_id": "s1", "cwd": "/app", "prompt_id": "p1"});
        for (name, value) in fields.as_object().unwrap() {
            payload[name] = value.clone();
        }
        world.hook(&["claude-code"], payload.to_string());
    };
    let summarizer = |id: &str, text: &str| {
        json!({"hook_event_name": "SubagentStop", "agent_id": id, "agent_type": "",
               "stop_hook_active": false, "last_assistant_message": text})
    };
    hook(
        json!({"hook_event_name": "PreCompact", "trigger": "manual", "custom_instructions": "keep facts"}),
    );
    hook(summarizer("a1", "The lexer was rewritten."));
    hook(summarizer("a2", "Suggested: run the tests."));
    hook(json!({"hook_event_name": "SessionStart", "source": "compact"}));
    hook(json!({"hook_event_name": "PostCompact", "trigger": "manual",
                "compact_summary": "The lexer was rewritten."}));
    let events = world.events();
    assert_eq!(kinds(&events, "compaction"), ["The lexer was rewritten."]);
    assert_eq!(kinds(&events, "subagent_stop"), Vec::<String>::new());
    // A user's own subagent is still recorded.
    let mut explorer = summarizer("a3", "Two callers.");
    explorer["agent_type"] = json!("Explore");
    hook(explorer);
    assert_eq!(kinds(&world.events(), "subagent_stop"), ["Two callers."]);
}

/// Gemini CLI runs its end hook three times at `/quit`, each with a different time.
#[test]
fn quitting_gemini_ends_a_session_once() {
    let world = world();
    assert_eq!(world.tome(&["start"]).code, 0);
    let message =
        |id: &str| json!({"id": id, "type": "gemini", "content": "Done."}).to_string() + "\n";
    let head = "{\"sessionId\":\"s1\",\"projectHash\":\"x\"}\n";
    let update = "{\"$set\":{\"lastUpdated\":\"2026-11-15T09:30:00.000Z\"}}\n";
    let chat = world.write("chat.jsonl", &format!("{head}{}{update}", message("m1")));
    let quit = |at: u64, reason: &str| {
        let payload = json!({"session_id": "s1", "cwd": "/app", "transcript_path": chat,
            "hook_event_name": "SessionEnd", "reason": reason,
            "timestamp": tome_model::Millis(MORNING_MS + at).to_string()});
        world.hook(&["gemini"], payload.to_string());
    };
    let ends = || kinds(&world.events(), "session_end").len();
    quit(0, "exit");
    quit(623, "exit");
    // The machine may be slow or suspended in between.
    quit(90_000, "exit");
    assert_eq!(ends(), 1);
    // The session is resumed, continues, and ends again.
    let text = std::fs::read_to_string(&chat).unwrap() + &message("m2") + update;
    std::fs::write(&chat, text).unwrap();
    quit(200_000, "exit");
    quit(200_600, "exit");
    assert_eq!(ends(), 2);
    quit(200_700, "clear");
    assert_eq!(ends(), 3, "the person threw the conversation away, and did not leave");
}

/// Codex applies a patch in a shell command itself and runs no hook after it. The rollout has it.
#[test]
fn a_patch_applied_by_codex_is_stored_at_the_stop() {
    let world = world();
    assert_eq!(world.tome(&["start"]).code, 0);
    let app = world.folder("app");
    let session = "01a1e2c6-04c9-7c41-809b-0ef863ed0e84";
    let patch =
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.txt\n+hi\n*** End Patch\nEOF\n";
    let mut at = MORNING_MS;
    let mut record = |kind: &str, mut payload: Value| {
        at += 100;
        if kind == "response_item" {
            payload["internal_chat_message_metadata_passthrough"] = json!({"turn_id": "t1"});
        }
        let at = tome_model::Millis(at).to_string();
        json!({"timestamp": at, "type": kind, "payload": payload}).to_string() + "\n"
    };
    let rollout: String = [
        record("session_meta", json!({"id": session, "session_id": session, "cwd": app, "source": "exec"})),
        record("response_item", json!({"type": "function_call", "name": "exec_command",
            "call_id": "call_00000000000001", "arguments": json!({"cmd": patch}).to_string()})),
        record("response_item", json!({"type": "function_call_output", "call_id": "call_00000000000001",
            "output": "Wall time: 0.0000 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\n\
                       Success. Updated the following files:\nA a.txt\n"})),
        record("response_item", json!({"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "Patched."}]})),
    ]
    .concat();
    let path =
        format!("person/.codex/sessions/2026/11/15/rollout-2026-11-15T09-30-00-{session}.jsonl");
    let path = world.write(&path, &rollout);
    let stop = json!({"session_id": session, "turn_id": "t1", "cwd": app, "model": "m",
        "transcript_path": path, "hook_event_name": "Stop", "stop_hook_active": false,
        "last_assistant_message": "Patched."});
    world.hook(&["codex"], stop.to_string());
    let patches = |world: &World| -> Vec<Value> {
        let events = world.events().into_iter();
        events.filter(|event| event["kind"] == "tool_result").collect()
    };
    let hooked =
        eventually("the patch", || Some(patches(&world)).filter(|found| !found.is_empty()));
    assert_eq!(hooked[0]["tool"]["input"]["command"], patch);
    assert_eq!(hooked[0]["tool"]["output"], "Success. Updated the following files:\nA a.txt\n");
    assert_eq!(world.tome(&["import", "--agent", "codex"]).code, 0);
    assert_eq!(patches(&world), hooked, "an import knows it");
    // If a hook does run after a call, it reports the same event.
    let mut result = stop.clone();
    for (name, value) in json!({"hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_use_id": "call_00000000000001", "tool_input": {"command": patch}, "tool_response": "ok"})
        .as_object()
        .unwrap()
    {
        result[name] = value.clone();
    }
    world.hook(&["codex"], result.to_string());
    assert_eq!(patches(&world), hooked);
}
