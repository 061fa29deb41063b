//! Injections at tool calls: the decision about a file that is edited, and memory for subagents.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tome_proto::v1;
use tome_testkit::{World, eventually};

use crate::injections::{context, hook, hook_with, injections, says, stop, tool};
use crate::support::world;

fn at(app: &Path, session: &str, event: &str, more: &Value) -> Value {
    let mut payload = json!({"session_id": session, "cwd": app, "hook_event_name": event});
    for (name, value) in more.as_object().unwrap() {
        payload[name] = value.clone();
    }
    payload
}

/// Claude Code is about to edit a file.
fn before_edit(app: &Path, session: &str, path: &str) -> Value {
    let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
    let more = json!({"tool_name": "Edit", "tool_input": input, "tool_use_id": "toolu_before"});
    at(app, session, "PreToolUse", &more)
}

fn edited(app: &Path, session: &str, id: usize, path: &str) -> Value {
    let input = json!({"file_path": path, "old_string": "a", "new_string": "b"});
    tool(app, session, id, "Edit", &input)
}

const CHOICE: &str =
    "Let's go with a hand-written scanner in src/lexer.rs instead of the logos crate";

/// A project in which a session decided something about `src/lexer.rs`.
fn decided(world: &World) -> std::path::PathBuf {
    assert_eq!(world.tome(&["start"]).code, 0);
    let app = world.folder("app");
    for payload in [
        at(&app, "past", "SessionStart", &json!({"source": "startup"})),
        says(&app, "past", CHOICE),
        edited(&app, "past", 1, "src/lexer.rs"),
        edited(&app, "past", 2, "src/billing.rs"),
        stop(&app, "past", false),
        at(&app, "past", "SessionEnd", &json!({"reason": "other"})),
    ] {
        hook(world, &["claude-code"], &payload);
    }
    app
}

#[test]
fn the_last_decision_comes_before_the_edit_once_per_file_and_session() {
    let world = world();
    let app = decided(&world);
    let events = world.events().len();
    let before = |session: &str, path: &str| {
        hook(&world, &["claude-code"], &before_edit(&app, session, path))
    };
    let off = [("TOME_INJECT_BEFORE_EDIT", "off")];
    let payload = before_edit(&app, "off", "src/lexer.rs");
    assert_eq!(hook_with(&world, &["claude-code"], &payload, &off), None, "turned off");
    let path = app.join("src/lexer.rs");
    let response = before("now", path.to_str().unwrap()).expect("a decision");
    let text = context(&response).to_owned();
    assert!(text.contains("The user decided") && text.contains(" on lexer.rs: "), "{text}");
    assert!(text.contains("hand-written scanner") && text.contains("[#"), "{text}");
    assert_eq!(response["hookSpecificOutput"]["hookEventName"], "PreToolUse");
    // No word about permission: the tool call takes its usual course.
    assert_eq!(response.as_object().unwrap().len(), 1);
    assert_eq!(response["hookSpecificOutput"].as_object().unwrap().len(), 2);
    assert_eq!(before("now", "src/lexer.rs"), None, "once");
    assert_eq!(before("now", "src/billing.rs"), None, "no decision about this file");
    assert_eq!(before("past", "src/lexer.rs"), None, "the session knows its own decision");
    assert_eq!(before("now", "/etc/passwd"), None);
    assert_eq!(before("now", "../../outside.rs"), None);
    assert_eq!(world.events().len(), events, "an announced call is not recorded");
    let listed = injections(&world);
    let ours: Vec<&Value> = listed.iter().filter(|one| one["why"] == "decision").collect();
    assert_eq!(ours.len(), 1, "{listed:?}");
    assert_eq!(ours[0]["moment"], "edit");
    assert!(ours[0]["tokens"].as_u64().unwrap() < 60, "{ours:?}");
    // A subagent has a context of its own.
    let mut payload = before_edit(&app, "now", "src/lexer.rs");
    payload["agent_id"] = json!("agent-1");
    assert!(hook(&world, &["claude-code"], &payload).is_some());
}

/// A lookup that took longer than the hook waits is in the list of injections.
#[test]
fn a_late_lookup_is_listed() {
    let world = world();
    let app = decided(&world);
    let request = v1::InjectRequest {
        agent: "claude-code".to_owned(),
        session_id: "now".to_owned(),
        cwd: app.display().to_string(),
        kind: "tool_result".to_owned(),
        within_ms: 0,
        bytes_max: 9_500,
        files: vec!["src/lexer.rs".to_owned()],
        settings: Some(v1::InjectSettings {
            before_edit: true,
            budget_tokens: 2_000,
            ..v1::InjectSettings::default()
        }),
        ..v1::InjectRequest::default()
    };
    let wait = Duration::from_secs(60);
    let text = world.with_client(async |client| client.inject(request, wait).await);
    assert_eq!(text.unwrap(), "");
    let late = eventually("the late lookup", || {
        injections(&world).into_iter().find(|one| one["why"] == "decision")
    });
    assert_eq!(
        (&late["handed"], &late["tokens"], &late["moment"]),
        (&json!(false), &json!(0), &json!("edit"))
    );
}

/// Where no text is accepted before an edit, the decision comes after the first edit of the file.
#[test]
fn other_agents_get_the_decision_after_the_first_edit() {
    let world = world();
    let app = decided(&world);
    let payload = |id: &str| {
        json!({
            "session_id": "c1", "turn_id": "t1", "cwd": app, "hook_event_name": "PostToolUse",
            "model": "m", "tool_name": "apply_patch", "tool_use_id": id, "tool_response": "ok",
            "tool_input": {"input": "*** Begin Patch\n*** Update File: src/lexer.rs\n@@\n-a\n+b\n"},
        })
    };
    let response = hook(&world, &["codex"], &payload("call_1")).expect("a decision");
    assert_eq!(response["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    assert!(context(&response).contains("hand-written scanner"), "{response}");
    assert_eq!(hook(&world, &["codex"], &payload("call_2")), None);
    let announced = json!({
        "session_id": "c2", "turn_id": "t1", "cwd": app, "hook_event_name": "PreToolUse",
        "model": "m", "tool_name": "apply_patch",
        "tool_input": {"input": "*** Begin Patch\n*** Update File: src/lexer.rs\n"},
    });
    assert_eq!(hook(&world, &["codex"], &announced), None);
}

#[test]
fn a_subagent_gets_hints_for_its_task() {
    let world = world();
    let app = decided(&world);
    let task = "Find out how the hand-written scanner in src/lexer.rs reads numbers";
    let input = json!({"description": "Explore", "prompt": task, "subagent_type": "Explore"});
    let more = json!({"tool_name": "Agent", "tool_input": input, "tool_use_id": "toolu_agent"});
    assert_eq!(hook(&world, &["claude-code"], &at(&app, "now", "PreToolUse", &more)), None);
    let begins = |id: &str| {
        let more = json!({"agent_id": id, "agent_type": "Explore"});
        at(&app, "now", "SubagentStart", &more)
    };
    let response = hook(&world, &["claude-code"], &begins("agent-1")).expect("memory");
    assert_eq!(response["hookSpecificOutput"]["hookEventName"], "SubagentStart");
    assert!(context(&response).contains("hand-written scanner"), "{response}");
    let off = [("TOME_INJECT_SUBAGENTS", "off")];
    assert_eq!(hook_with(&world, &["claude-code"], &begins("agent-2"), &off), None);
    let listed = injections(&world);
    let ours: Vec<&Value> = listed.iter().filter(|one| one["why"] == "subagent").collect();
    assert_eq!(ours.len(), 1, "{listed:?}");
    assert!(ours[0]["tokens"].as_u64().unwrap() <= 400 && ours[0]["moment"] == "subagent");
}

/// A hook for a tool call never waits for a daemon and starts none.
#[test]
fn without_a_daemon_a_tool_call_goes_on() {
    let world = world();
    let app = world.folder("app");
    let payload = before_edit(&app, "now", "src/lexer.rs");
    assert_eq!(hook(&world, &["claude-code"], &payload), None);
    assert_eq!(world.daemon_pid(), None);
    for garbage in [json!({"hook_event_name": "PreToolUse"}), json!([1]), json!("x")] {
        assert_eq!(hook(&world, &["claude-code"], &garbage), None);
    }
}
