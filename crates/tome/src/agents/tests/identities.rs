//! Tests of identities, and of the attribution of text to the user.

use serde_json::{Value, json};
use tome_model::{Agent, Draft, EventId, EventKind, Identity, Role, SessionId};

use super::{line, one, parse_hook};

fn claude(fields: Value) -> Draft {
    with("claude-code", fields)
}

fn with(agent: &str, mut fields: Value) -> Draft {
    fields["session_id"] = "s1".into();
    one(agent, fields.to_string())
}

fn words(draft: &Draft, role: Role, text: &str) -> Identity {
    Identity::from_words(&draft.agent, &draft.session, role, text)
}

#[test]
fn a_tool_call_is_identified_by_its_id() {
    let call = |id: &str, ms: u32| {
        claude(json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": id,
            "tool_input": {"command": "ls"}, "tool_response": "a", "duration_ms": ms}))
        .identity
    };
    assert_eq!(call("toolu_0000000001", 3), call("toolu_0000000001", 4));
    assert_ne!(call("toolu_0000000001", 3), call("toolu_0000000002", 3));
    let agent = Agent::parse("claude-code").unwrap();
    let session = SessionId::parse("s1").unwrap();
    assert_eq!(
        call("toolu_0000000001", 3),
        Identity::from_name(&agent, &session, Role::Tool, "toolu_0000000001")
    );
}

#[test]
fn a_restarting_counter_does_not_identify_a_call() {
    let call = |command: &str| {
        claude(
            json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "call_1",
            "tool_input": {"command": command}, "tool_response": "a"}),
        )
        .identity
    };
    assert_eq!(call("ls"), call("ls"));
    assert_ne!(call("ls"), call("pwd"));
}

#[test]
fn a_failed_call_is_the_same_call() {
    let after = json!({"input": {"sessionID": "s1", "callID": "call_000000000001", "tool": "edit", "args": {}}, "output": {"output": "x"}});
    let failed = json!({"input": {"sessionID": "s1", "part": {"type": "tool", "tool": "edit",
        "callID": "call_000000000001", "state": {"status": "error", "error": "x"}}}});
    let after = parse_hook("opencode", Some("tool.execute.after"), after.to_string());
    let failed = parse_hook("opencode", Some("message.part.updated"), failed.to_string());
    assert_eq!(after[0].identity, failed[0].identity);
    assert_eq!(failed[0].meta["failed"], true);
}

#[test]
fn a_call_without_an_id_is_identified_by_input_and_time() {
    let call = |command: &str, second: u32| {
        with(
            "gemini",
            json!({"hook_event_name": "AfterTool", "tool_name": "run_shell_command",
            "tool_input": {"command": command}, "tool_response": {"llmContent": "a"},
            "timestamp": format!("2026-11-15T09:30:{second:02}Z")}),
        )
        .identity
    };
    assert_eq!(call("ls", 1), call("ls", 1));
    assert_ne!(call("ls", 1), call("ls", 2));
    assert_ne!(call("ls", 1), call("pwd", 1));
}

#[test]
fn both_dialects_of_copilot_report_the_same_call() {
    let camel = json!({"sessionId": "s1", "timestamp": 1_794_735_006_000_u64, "toolName": "view",
        "toolArgs": "{\"path\":\"a\"}", "toolResult": {"resultType": "success", "textResultForLlm": "x"}});
    let pascal = json!({"hook_event_name": "PostToolUse", "timestamp": "2026-11-15T09:30:06.000Z",
        "tool_name": "Read", "tool_input": {"path": "a"},
        "tool_result": {"result_type": "success", "text_result_for_llm": "x"}});
    let (camel, pascal) = (one("copilot", camel.to_string()), with("copilot", pascal));
    assert_eq!(camel.identity, pascal.identity);
    assert_eq!(camel.at, pascal.at);
    assert_eq!(camel.tool.unwrap().output, pascal.tool.unwrap().output);
}

#[test]
fn a_prompt_is_identified_by_its_text_and_turn() {
    let prompt = |turn: Option<&str>, text: &str| {
        claude(json!({"hook_event_name": "UserPromptSubmit", "prompt_id": turn, "prompt": text}))
            .identity
    };
    assert_eq!(prompt(Some("p1"), "go on"), prompt(Some("p1"), "go on"));
    assert_ne!(prompt(Some("p1"), "go on"), prompt(Some("p2"), "go on"));
    assert_ne!(prompt(Some("p1"), "go on"), prompt(Some("p1"), "stop"));
    let fired_twice = prompt(None, "go on");
    assert_eq!(fired_twice, prompt(None, "go on"));
    assert!(matches!(fired_twice, Identity::ByText(_)));
}

#[test]
fn a_final_reply_is_identified_by_its_text() {
    let stop = claude(
        json!({"hook_event_name": "Stop", "prompt_id": "p1", "last_assistant_message": "Done. "}),
    );
    assert_eq!(stop.identity, words(&stop, Role::Assistant, "Done."));
    assert_eq!(stop.text, "Done. ");
    let silent =
        |turn: &str| claude(json!({"hook_event_name": "Stop", "prompt_id": turn})).identity;
    assert_eq!(silent("p1"), silent("p1"));
    assert_ne!(silent("p1"), silent("p2"));
}

#[test]
fn an_opencode_part_is_identified_by_its_id() {
    let part = |id: &str| {
        let part = json!({"event": {"type": "message.part.updated", "properties": {"part": {"type": "text",
            "text": "Done.", "id": id, "sessionID": "s1", "time": {"start": 1, "end": 1_794_735_004_400_u64}}}}});
        one("opencode", part.to_string())
    };
    assert_eq!(part("a").identity, part("a").identity);
    assert_ne!(part("a").identity, part("b").identity);
    assert_eq!(part("a").kind, EventKind::AssistantMessage);
    assert_eq!(part("a").session.as_str(), "s1");
    assert_eq!(part("a").at.0, 1_794_735_004_400);
}

#[test]
fn starts_compactions_and_subagents_have_distinct_identities() {
    let events = [
        json!({"hook_event_name": "SessionStart", "source": "startup"}),
        json!({"hook_event_name": "SessionStart", "source": "resume"}),
        json!({"hook_event_name": "SessionEnd", "reason": "other"}),
        json!({"hook_event_name": "SessionEnd", "reason": "clear"}),
        json!({"hook_event_name": "PostCompact", "trigger": "auto"}),
        json!({"hook_event_name": "PostCompact", "trigger": "manual"}),
        json!({"hook_event_name": "PostCompact", "trigger": "manual", "compact_summary": "s"}),
        json!({"hook_event_name": "SubagentStart", "agent_id": "a"}),
        json!({"hook_event_name": "SubagentStart", "agent_id": "b"}),
        json!({"hook_event_name": "SubagentStop", "agent_id": "a"}),
        json!({"hook_event_name": "SubagentStop", "agent_id": "a", "last_assistant_message": "x"}),
        json!({"hook_event_name": "Future"}),
        json!({"hook_event_name": "Future", "n": 1}),
        json!({"hook_event_name": "Other", "n": 1}),
    ];
    let ids = |agent: &str| -> Vec<EventId> {
        events.iter().map(|event| with(agent, event.clone()).identity.event_id(1)).collect()
    };
    let mut all = ids("claude-code");
    assert_eq!(all, ids("claude-code"));
    all.extend(ids("codex"));
    all.sort();
    all.dedup();
    assert_eq!(all.len(), events.len() * 2);
}

#[test]
fn injected_text_is_never_attributed_to_the_user() {
    let nudge = "<tome-memory kind=\"nudge\">save what you learned</tome-memory>";
    let escaped = "&lt;tome-memory&gt;rules&lt;/tome-memory&gt;";
    for (agent, event) in [
        ("claude-code", "UserPromptSubmit"),
        ("codex", "UserPromptSubmit"),
        ("gemini", "BeforeAgent"),
        ("copilot", "userPromptSubmitted"),
        ("qwen", "UserPromptSubmit"),
    ] {
        let drafts = |prompt: &str| {
            let payload = json!({"session_id": "s1", "prompt": prompt});
            parse_hook(agent, Some(event), payload.to_string())
        };
        for own in [
            nudge,
            escaped,
            &format!("Stop hook feedback:\n{nudge}"),
            &format!("{nudge}\n{escaped}"),
        ] {
            assert_eq!(drafts(own), [], "{agent}: {own}");
        }
        let mixed = drafts(&format!("{nudge}\n\ngo on"));
        assert_eq!(mixed[0].text, "go on");
        assert_eq!(mixed[0].kind, EventKind::UserMessage);
        assert_eq!(drafts("<hook_prompt>lint first</hook_prompt>")[0].kind, EventKind::Unknown);
    }
}

#[test]
fn gemini_prompts_lose_their_leading_hook_context() {
    let text = |prompt: &str| {
        let draft = with("gemini", json!({"hook_event_name": "BeforeAgent", "prompt": prompt}));
        draft.text
    };
    assert_eq!(text("<hook_context>a</hook_context>\n\n<hook_context>b</hook_context> go"), "go");
    assert_eq!(
        text("what is <hook_context>x</hook_context>?"),
        "what is <hook_context>x</hook_context>?"
    );
    assert_eq!(text("<hook_context>never closed"), "<hook_context>never closed");
}

#[test]
fn opencode_prompts_lose_only_the_quotes_that_run_added() {
    let text = |typed: &str| {
        let payload = json!({"input": {"sessionID": "s1"}, "output": {"message": {"id": "m1"},
            "parts": [{"type": "text", "text": typed}]}});
        parse_hook("opencode", Some("chat.message"), payload.to_string())[0].text.clone()
    };
    assert_eq!(text("\"fix the lexer\""), "fix the lexer");
    assert_eq!(text("\"say \\\"hi\\\" twice\""), "say \"hi\" twice");
    assert_eq!(text("\"a\" or \"b\""), "\"a\" or \"b\"");
    assert_eq!(text("\""), "\"");
}

#[test]
fn every_opencode_payload_shape_is_parsed() {
    let idle = |event: Option<&str>, payload: Value| {
        let drafts = parse_hook("opencode", event, payload.to_string());
        assert_eq!(drafts[0].kind, EventKind::AssistantStop);
        assert_eq!(drafts[0].cwd, "/home/dev/app");
        (drafts[0].session.clone(), drafts[0].text.clone())
    };
    let directory = "/home/dev/app";
    let (name, words) = (Some("session.idle"), "Done.");
    let shapes = [
        idle(
            None,
            json!({"ev": "event:session.idle", "directory": directory,
            "input": {"sessionID": "s1", "last_assistant_message": words}}),
        ),
        idle(
            name,
            json!({"input": {"sessionID": "s1"}, "directory": directory, "last_assistant_message": words}),
        ),
        idle(
            name,
            json!({"sessionID": "s1", "directory": directory, "last_assistant_message": words}),
        ),
        idle(
            Some("event"),
            json!({"event": {"type": "session.idle", "properties": {"sessionID": "s1"}},
            "directory": directory, "last_assistant_message": words}),
        ),
        idle(
            None,
            json!({"type": "session.idle", "properties": {"sessionID": "s1"},
            "directory": directory, "last_assistant_message": words}),
        ),
        idle(
            name,
            json!({"input": {"last_assistant_message": words}, "sessionID": "s1", "directory": directory}),
        ),
    ];
    for shape in &shapes {
        assert_eq!((shape.0.as_str(), shape.1.as_str()), ("s1", words));
    }
}

#[test]
fn an_unknown_event_keeps_all_its_fields() {
    for agent in Agent::KNOWN {
        let payload = json!({"hook_event_name": "FutureThing", "session_id": "s1", "sessionID": "s1",
            "prompt": "words", "depth": {"levels": [1, 2]}});
        let drafts = parse_hook(agent, Some("FutureThing"), payload.to_string());
        let shown = line(&drafts[0]);
        assert_eq!(drafts[0].kind, EventKind::Unknown, "{shown}");
        assert!(
            shown.contains("utureThing") && shown.contains("words") && shown.contains("[1,2]"),
            "{shown}"
        );
    }
}
