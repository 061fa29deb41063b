//! Hook responses of each agent, byte for byte.

use expect_test::expect;
use tome_model::Agent;

use super::parse_hook;
use crate::agents::{InjectionPoint, build_response, max_text_bytes};

const MOMENTS: [InjectionPoint; 8] = [
    InjectionPoint::Start,
    InjectionPoint::Prompt,
    InjectionPoint::BeforeEdit,
    InjectionPoint::Tool { failed: false },
    InjectionPoint::Tool { failed: true },
    InjectionPoint::Stop,
    InjectionPoint::Compaction,
    InjectionPoint::Subagent,
];

/// Renders every response of an agent, one per line.
fn answers(agent: &str) -> String {
    let agent = Agent::parse(agent).unwrap();
    let line = |point: InjectionPoint| {
        let response =
            build_response(&agent, point, "T").map_or_else(|| "-".to_owned(), |it| it.to_string());
        // Every agent's limit is below 10,000 characters and 2,500 tokens of four bytes.
        assert!(max_text_bytes(&agent, point) < 9_900);
        assert_eq!(response == "-", max_text_bytes(&agent, point) == 0);
        format!("{point:?}: {response}\n")
    };
    MOMENTS.into_iter().map(line).collect()
}

#[test]
fn claude_code_and_qwen_get_the_documented_hook_responses() {
    expect![[r#"
        Start: {"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"T"}}
        Prompt: {"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"T"}}
        BeforeEdit: {"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"T"}}
        Tool { failed: false }: {"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"T"}}
        Tool { failed: true }: {"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":"T"}}
        Stop: {"decision":"block","reason":"T"}
        Compaction: -
        Subagent: {"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"T"}}
    "#]]
    .assert_eq(&answers("claude-code"));
    assert_eq!(answers("qwen"), answers("claude-code"));
}

#[test]
fn codex_gets_the_documented_hook_responses() {
    expect![[r#"
        Start: {"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"T"}}
        Prompt: {"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":"T"}}
        BeforeEdit: -
        Tool { failed: false }: {"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"T"}}
        Tool { failed: true }: -
        Stop: {"decision":"block","reason":"T"}
        Compaction: -
        Subagent: {"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"T"}}
    "#]]
    .assert_eq(&answers("codex"));
}

#[test]
fn gemini_gets_the_documented_hook_responses() {
    expect![[r#"
        Start: {"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"T"}}
        Prompt: {"hookSpecificOutput":{"hookEventName":"BeforeAgent","additionalContext":"T"}}
        BeforeEdit: -
        Tool { failed: false }: {"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"T"}}
        Tool { failed: true }: {"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"T"}}
        Stop: {"decision":"deny","reason":"T"}
        Compaction: -
        Subagent: -
    "#]]
    .assert_eq(&answers("gemini"));
}

#[test]
fn copilot_gets_the_documented_hook_responses() {
    expect![[r#"
        Start: {"additionalContext":"T"}
        Prompt: {"additionalContext":"T"}
        BeforeEdit: -
        Tool { failed: false }: {"additionalContext":"T"}
        Tool { failed: true }: {"additionalContext":"T"}
        Stop: {"decision":"block","reason":"T"}
        Compaction: -
        Subagent: {"additionalContext":"T"}
    "#]]
    .assert_eq(&answers("copilot"));
}

#[test]
fn opencode_gets_the_documented_hook_responses() {
    expect![[r#"
        Start: {"context":"T"}
        Prompt: {"context":"T"}
        BeforeEdit: -
        Tool { failed: false }: {"context":"T"}
        Tool { failed: true }: -
        Stop: {"decision":"block","reason":"T"}
        Compaction: {"context":"T"}
        Subagent: -
    "#]]
    .assert_eq(&answers("opencode"));
}

#[test]
fn an_unknown_agent_gets_no_response() {
    assert!(answers("somebody").lines().all(|line| line.ends_with(": -")));
}

/// Expects `-` for events at which the agent accepts no text.
#[test]
fn each_payload_maps_to_its_injection_point() {
    let point = |agent: &str, payload: &str| {
        let drafts = parse_hook(agent, None, payload);
        let found = drafts.first().and_then(InjectionPoint::from_draft);
        found.map_or_else(|| "-".to_owned(), |point| format!("{point:?}"))
    };
    let at = |event: &str, more: &str| {
        format!(r#"{{"session_id":"s","cwd":"/app","hook_event_name":"{event}"{more}}}"#)
    };
    let tool = r#","tool_name":"Bash","tool_input":{},"tool_response":"ok""#;
    let failure = r#","tool_name":"Bash","tool_input":{},"error":"no""#;
    for (event, more, expected) in [
        ("SessionStart", r#","source":"compact""#, "Start"),
        ("UserPromptSubmit", r#","prompt":"fix it""#, "Prompt"),
        ("PostToolUse", tool, "Tool { failed: false }"),
        ("PostToolUseFailure", failure, "Tool { failed: true }"),
        ("Stop", r#","stop_hook_active":false"#, "Stop"),
        ("StopFailure", r#","error":"rate_limit""#, "-"),
        ("PreCompact", r#","trigger":"auto""#, "-"),
        ("PostCompact", r#","compact_summary":"x""#, "Compaction"),
        ("SubagentStop", r#","agent_id":"a1""#, "-"),
        ("PostToolUse", &format!(r#"{tool},"agent_id":"a1""#), "-"),
        ("SessionEnd", r#","reason":"other""#, "-"),
        ("Notification", r#","message":"hello""#, "-"),
    ] {
        assert_eq!(point("claude-code", &at(event, more)), expected, "{event}");
    }
}
