//! Tests of what transcripts add to a turn's hooks, and that it matches an import.

use std::cell::Cell;

use serde_json::{Value, json};
use tome_model::{Agent, Draft, EventKind, Identity, Millis};

use super::{NOW, parse_hook_with};
use crate::agents::transcript::build_transcript_reader;
use crate::agents::transcript_record::{RecordOutcome, TranscriptOrigin};
use crate::agents::{HookInput, has_more_in_transcript, read_transcript_drafts};

const SESSION: &str = "0486f501-67a2-4cc1-ac00-008ab697034f";
/// 2026-11-15T09:30:00Z
const STOP_MS: u64 = 1_794_735_000_000;

fn record(kind: &str, at_ms: u64, data: &Value) -> String {
    let at = Millis(at_ms).to_string();
    let id = format!("record-{kind}-{at_ms}");
    json!({"type": kind, "data": data, "id": id, "timestamp": at, "parentId": null}).to_string()
        + "\n"
}

fn prompt(text: &str, at_ms: u64) -> String {
    record("user.message", at_ms, &json!({"content": text, "messageId": format!("u{at_ms}")}))
}

fn reply(id: &str, text: &str, at_ms: u64) -> String {
    record("assistant.message", at_ms, &json!({"content": text, "messageId": id}))
}

/// The start of a stop's hooks; every record before it belongs to the turn.
fn stopped(at_ms: u64) -> String {
    let input = json!({"sessionId": SESSION, "stopReason": "end_turn", "timestamp": at_ms});
    record("hook.start", at_ms, &json!({"hookType": "agentStop", "input": input}))
}

fn stop_payload() -> String {
    json!({"sessionId": SESSION, "timestamp": STOP_MS, "cwd": "/home/dev/app",
           "transcriptPath": "/log", "stopReason": "end_turn", "stop_hook_active": false})
    .to_string()
}

/// Reads the rest of a turn from a sequence of log states, one per poll.
fn rest(agent: &str, event: &str, payload: &str, tails: &[String]) -> (Vec<Draft>, usize) {
    let looks = Cell::new(0);
    let drafts = read_transcript_drafts(&HookInput {
        agent: &Agent::parse(agent).unwrap(),
        event: Some(event),
        payload: payload.as_bytes(),
        now: NOW,
        cwd: "/home/dev/elsewhere",
        read_tail: &|_| Some(tails[looks.get().min(tails.len() - 1)].clone()),
        wait: &|| looks.replace(looks.get() + 1) + 1 < tails.len(),
    });
    (drafts, looks.get())
}

fn copilot(tails: &[String]) -> Vec<Draft> {
    rest("copilot", "agentStop", &stop_payload(), tails).0
}

fn imported(agent: &str, log: &str) -> Vec<Draft> {
    let origin = TranscriptOrigin {
        agent: Agent::parse(agent).unwrap(),
        path: "/log".to_owned(),
        session: SESSION.to_owned(),
        cwd: "/home/dev/app".to_owned(),
        at: NOW,
    };
    let mut reader = build_transcript_reader(origin, None);
    let mut steps = Vec::new();
    for line in log.lines() {
        reader.read_record(serde_json::from_str(line).unwrap(), &mut steps);
    }
    reader.finish(&mut steps);
    let events = steps.into_iter().filter_map(|step| match step {
        RecordOutcome::Event(draft) => Some(*draft),
        RecordOutcome::Unanswered(_) | RecordOutcome::Skipped(_) => None,
    });
    events.collect()
}

#[test]
fn the_hook_itself_reads_no_text_from_the_log() {
    let log = prompt("go on", 1) + &reply("m1", "First I look.", 2) + &stopped(STOP_MS);
    let drafts = parse_hook_with("copilot", Some("agentStop"), stop_payload().as_bytes(), &|_| {
        Some(log.clone())
    });
    assert_eq!(drafts.len(), 1);
    assert_eq!((drafts[0].kind, drafts[0].text.as_str()), (EventKind::AssistantStop, ""));
}

#[test]
fn an_answer_is_read_only_after_the_log_contains_the_stop() {
    let early = prompt("go on", STOP_MS - 900) + &reply("m1", "First I look.", STOP_MS - 800);
    let before = stopped(STOP_MS - 10_000) + &early;
    let line = reply("m2", "All green.", STOP_MS - 50);
    let torn = before.clone() + line.split_at(40).0;
    let whole = before.clone() + &line + &stopped(STOP_MS);
    assert_eq!(copilot(std::slice::from_ref(&before)), [], "an earlier message of the turn");
    assert_eq!(copilot(std::slice::from_ref(&torn)), [], "a line that is still being written");
    let (drafts, looks) = rest(
        "copilot",
        "agentStop",
        &stop_payload(),
        &[String::new(), before, torn, whole.clone(), whole],
    );
    assert_eq!(looks, 3, "it polls no longer than necessary");
    let shown: Vec<String> = drafts.iter().map(super::line).collect();
    assert_eq!(
        shown,
        [
            r#"assistant_message 2026-11-15T09:29:59.200Z fixed "First I look." {"message_id":"m1"}"#,
            r#"assistant_stop 2026-11-15T09:30:00.000Z fixed "All green." {"message_id":"m2"}"#,
        ]
    );
}

#[test]
fn a_turn_that_ends_without_text_has_no_answer() {
    let log = stopped(STOP_MS - 10_000)
        + &prompt("go on", STOP_MS - 900)
        + &reply("m1", "First I look.", STOP_MS - 800)
        + &reply("m2", "", STOP_MS - 50)
        + &stopped(STOP_MS);
    let kinds: Vec<EventKind> = copilot(&[log]).iter().map(|draft| draft.kind).collect();
    assert_eq!(kinds, [EventKind::AssistantMessage], "an intermediate message is not the answer");
}

/// The log continues after the stop when another hook sends the agent back to work.
#[test]
fn replies_of_other_turns_are_ignored() {
    let log = prompt("go on", STOP_MS - 20_000)
        + &reply("m0", "Older.", STOP_MS - 19_000)
        + &stopped(STOP_MS - 10_000)
        + &prompt("and now?", STOP_MS - 900)
        + &reply("m1", "This turn.", STOP_MS - 800)
        + &stopped(STOP_MS)
        + &prompt("store it", STOP_MS + 100)
        + &reply("m2", "Later.", STOP_MS + 200)
        + &stopped(STOP_MS + 300);
    let texts: Vec<String> = copilot(&[log]).into_iter().map(|draft| draft.text).collect();
    assert_eq!(texts, ["This turn."]);
}

/// An answer has the same id, kind, time and text whichever way it arrives.
#[test]
fn a_turn_read_from_the_log_matches_an_import() {
    let log = prompt("go on", STOP_MS - 900)
        + &reply("m1", "First I look.", STOP_MS - 800)
        + &reply("m2", "All green.", STOP_MS - 50)
        + &stopped(STOP_MS);
    let mut found = imported("copilot", &log);
    found.retain(|draft| draft.kind != EventKind::UserMessage);
    assert_eq!(copilot(&[log]), found);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|draft| matches!(draft.identity, Identity::Fixed(_))));
}

fn item(at_ms: u64, payload: &Value) -> String {
    let mut payload = payload.clone();
    payload["internal_chat_message_metadata_passthrough"] = json!({"turn_id": "t1"});
    let at = Millis(at_ms).to_string();
    json!({"timestamp": at, "type": "response_item", "payload": payload}).to_string() + "\n"
}

fn call(id: &str, command: &str, at_ms: u64) -> String {
    let arguments = json!({"cmd": command}).to_string();
    let call = json!({"type": "function_call", "name": "exec_command", "call_id": id, "arguments": arguments});
    item(at_ms, &call)
}

fn output(id: &str, text: &str, at_ms: u64) -> String {
    item(at_ms, &json!({"type": "function_call_output", "call_id": id, "output": text}))
}

const PATCH: &str = "cd sub && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a.txt\n+hi\n*** End Patch\nEOF\n";

/// Codex applies such a patch itself and runs no hook after it.
#[test]
fn a_patch_in_a_shell_command_is_read_from_the_rollout() {
    let patched = "Wall time: 0.0000 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\n\
                   Success. Updated the following files:\nA a.txt\n";
    let early = call("call_000000000001", "echo hi", 1_000_000_000_000)
        + &output("call_000000000001", "hi\n", 1_000_000_000_100)
        + &call("call_000000000002", PATCH, 1_000_000_000_200);
    let message = json!({"type": "message", "role": "assistant",
                      "content": [{"type": "output_text", "text": "Patched."}]});
    let whole = early.clone()
        + &output("call_000000000002", patched, 1_000_000_000_300)
        + &item(1_000_000_000_400, &message);
    let payload = json!({"session_id": SESSION, "cwd": "/home/dev/app", "turn_id": "t1", "model": "m",
        "hook_event_name": "Stop", "transcript_path": "/rollout", "last_assistant_message": "Patched."});
    let is_due = |tail: &str| {
        let (payload, tail) = (payload.to_string(), tail.to_owned());
        has_more_in_transcript(&HookInput {
            agent: &Agent::parse("codex").unwrap(),
            event: None,
            payload: payload.as_bytes(),
            now: NOW,
            cwd: "/",
            read_tail: &|_| Some(tail.clone()),
            wait: &|| false,
        })
    };
    assert!(is_due(&early), "a patch in the turn");
    assert!(!is_due(&call("call_000000000001", "echo hi", 1)), "no patch, nothing to read");
    let (drafts, looks) =
        rest("codex", "Stop", &payload.to_string(), &[early, whole.clone(), whole.clone()]);
    assert_eq!(looks, 1);
    let mut found = imported("codex", &whole);
    found.retain(|draft| draft.tool.as_ref().is_some_and(|tool| tool.input["command"] == PATCH));
    assert_eq!(drafts, found);
    assert_eq!(drafts.len(), 1);
    let tool = drafts[0].tool.as_ref().unwrap();
    assert_eq!(tool.output, "Success. Updated the following files:\nA a.txt\n");
}

/// Hooks report the calls of a script, so a stop must not store them under other ids.
#[test]
fn a_patch_of_a_script_is_not_read_from_the_rollout() {
    let script = format!("text(await tools.exec_command({{cmd: {}}}));", json!(PATCH));
    let id = "call_000000000003";
    let called =
        json!({"type": "custom_tool_call", "call_id": id, "name": "exec", "input": script});
    let printed = "Script completed\nWall time 0.1 seconds\nOutput:\ndone";
    let output = json!({"type": "custom_tool_call_output", "call_id": id, "output": printed});
    let message = json!({"type": "message", "role": "assistant",
                      "content": [{"type": "output_text", "text": "Patched."}]});
    let log = item(1_000_000_000_000, &called)
        + &item(1_000_000_000_100, &output)
        + &item(1_000_000_000_200, &message);
    let payload = json!({"session_id": SESSION, "cwd": "/home/dev/app", "turn_id": "t1", "model": "m",
        "hook_event_name": "Stop", "transcript_path": "/rollout", "last_assistant_message": "Patched."});
    let is_patch = |draft: &Draft| {
        draft.tool.as_ref().is_some_and(|tool| tool.input.get("command") == Some(&json!(PATCH)))
    };
    assert!(imported("codex", &log).iter().any(is_patch));
    let (drafts, _) = rest("codex", "Stop", &payload.to_string(), &[log.clone(), log]);
    assert_eq!(drafts, []);
}
