//! Arbitrary events: always a summary with verbatim evidence, no panic, deterministic.

use proptest::prelude::*;
use serde_json::{Value, json};
use tome_model::{Event, EventLine, Millis, Tool};

use super::{check, event, summarize};

/// Texts as people, agents and tools write them, and malformed ones.
fn text() -> impl Strategy<Value = String> {
    const TEXTS: &[&str] = &[
        "can you fix `parse_header` in src/http/header.rs? It fails because of a race.",
        "Let's go with option B instead of retries.",
        "error[E0308]: mismatched types\n  --> src/a.rs:1:1",
        "```rust\nfn main() {}\n```\nAll 12 tests pass.",
        "<system-reminder>be brief</system-reminder> 修复导出接口的超时问题，原因是 N+1 查询。",
        "<tome-memory kind=\"start\">rules</tome-memory> [redacted] **bold** [link](http://x)",
        "\u{1b}[31mFAILED\u{1b}[0m tests/test_a.py::test_b - KeyError: 'x'",
        "Exit code 1\nnpm ERR! missing script: build",
        "タイムゾーンが原因です。設定を使う方針にします。",
        "*** Begin Patch\n*** Update File: a/b.py\n+++ b/c.go\n@@ -1 +1 @@",
        "git commit -m \"$(cat <<'EOF'\nfix: ünïcode\nEOF\n)\"",
        "cd x && FOO=1 timeout 30 cargo test 2>&1 | tail -5",
        "`",
        "```",
        "“",
        "(",
        "…",
        "İstanbul ẞ ﬁ",
        "a.b.c:::",
        "- [ ] x",
        "👩‍👩‍👧‍👦 done",
        "<command-name>/exit</command-name>",
    ];
    prop_oneof![
        4 => proptest::sample::select(TEXTS).prop_map(str::to_owned),
        2 => "\\PC{0,300}",
        1 => "[ -~\n\t`*#<>|\\[\\](){}é中。？!…\u{1b}]{0,300}",
        1 => proptest::collection::vec(proptest::sample::select(TEXTS), 1..6).prop_map(|parts| parts.join("\n")),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    (text(), text(), 0..6u8).prop_map(|(a, b, shape)| match shape {
        0 => json!({"command": a, "file_path": b}),
        1 => json!({"stdout": a, "stderr": b, "exitCode": 1}),
        2 => json!([a, [b, null, 7, true]]),
        3 => Value::String(a),
        4 => json!({"path": a, "command": ["bash", "-lc", b]}),
        _ => Value::Null,
    })
}

fn tool() -> impl Strategy<Value = Tool> {
    let names = &[
        "Bash",
        "Edit",
        "Write",
        "apply_patch",
        "run_shell_command",
        "edit",
        "Read",
        "Grep",
        "mcp__x__y",
        "",
        "str_replace_editor",
    ];
    (proptest::sample::select(&names[..]), value(), value())
        .prop_map(|(name, input, output)| Tool { name: name.to_owned(), input, output })
}

fn any_event() -> impl Strategy<Value = Event> {
    let kinds = &[
        "unknown",
        "session_start",
        "user_message",
        "assistant_message",
        "tool_result",
        "assistant_stop",
        "subagent_stop",
        "compaction",
        "session_end",
    ];
    (proptest::sample::select(&kinds[..]), text(), proptest::option::of(tool())).prop_map(
        |(kind, text, tool)| {
            event(EventLine {
                at: Millis(1_772_442_000_000),
                session_id: "s".to_owned(),
                agent: "codex".to_owned(),
                cwd: "/home/dev/app".to_owned(),
                kind: kind.to_owned(),
                text,
                tool,
                ..EventLine::default()
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn a_summary_of_arbitrary_events_is_valid_and_deterministic(events in proptest::collection::vec(any_event(), 0..12)) {
        let summary = summarize(&events);
        check(&summary, &events);
        prop_assert_eq!(summary, summarize(&events));
    }
}
