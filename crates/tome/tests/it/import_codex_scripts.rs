//! Codex's tool `exec` runs a script that calls other tools. An import stores those calls.

use expect_test::expect;
use serde_json::{Value, json};

use crate::import::{import, listed};
use crate::support::{MORNING_MS, world};

const ROLLOUT: &str = "person/.codex/sessions/2026/11/15/\
                       rollout-2026-11-15T09-30-00-019a9d22-7b10-7c31-8e44-5f60a1b2c3d4.jsonl";
const SESSION: &str = "019a9d22-7b10-7c31-8e44-5f60a1b2c3d4";

fn line(after_ms: u64, kind: &str, payload: &Value) -> String {
    line_at(MORNING_MS + after_ms, kind, payload)
}

fn line_at(at_ms: u64, kind: &str, payload: &Value) -> String {
    let at = tome_model::Millis(at_ms).to_string();
    json!({"timestamp": at, "type": kind, "payload": payload}).to_string() + "\n"
}

fn header() -> String {
    let about = json!({"id": SESSION, "cwd": "/home/dev/app", "cli_version": "0.166.0"});
    let text = json!([{"type": "input_text", "text": "make the lexer accept emoji"}]);
    let prompt = json!({"type": "message", "role": "user", "content": text});
    line(0, "session_meta", &about) + &line(10, "response_item", &prompt)
}

/// A script and its output: the header, and the texts that it printed.
fn ran(after_ms: u64, script: &str, status: &str, texts: &[&str]) -> String {
    let at_ms = MORNING_MS + after_ms;
    let id = format!("call_000000{at_ms:06}");
    let call = json!({"type": "custom_tool_call", "call_id": id, "name": "exec", "input": script});
    let printed = printed(status, texts);
    let output = json!({"type": "custom_tool_call_output", "call_id": id, "output": printed});
    line_at(at_ms, "response_item", &call) + &line_at(at_ms + 50, "response_item", &output)
}

fn printed(status: &str, texts: &[&str]) -> Value {
    let head = format!("Script {status}\nWall time 0.1 seconds\nOutput:\n");
    let texts = std::iter::once(head.as_str()).chain(texts.iter().copied());
    texts.map(|text| json!({"type": "input_text", "text": text})).collect()
}

/// Waits for the script in a cell.
fn waited(after_ms: u64, cell: &str, status: &str, texts: &[&str]) -> String {
    let id = format!("call_100000{after_ms:06}");
    let arguments = json!({"cell_id": cell, "yield_time_ms": 10_000}).to_string();
    let call =
        json!({"type": "function_call", "call_id": id, "name": "wait", "arguments": arguments});
    let output = json!({"type": "function_call_output", "call_id": id,
                        "output": printed(status, texts)});
    line(after_ms, "response_item", &call) + &line(after_ms + 50, "response_item", &output)
}

const PATCH: &str =
    "*** Begin Patch\\n*** Update File: src/lexer.rs\\n@@\\n-a\\n+b\\n*** End Patch";

#[test]
fn the_calls_of_scripts_become_events() {
    let patch = format!("const patch = \"{PATCH}\";\ntext(await tools.apply_patch(patch));");
    let rollout = header()
        + &ran(
            100,
            r#"const r = await tools.exec_command({"cmd":"cat src/lexer.rs","workdir":"/home/dev/app"}); text(r.output);"#,
            "completed",
            &["fn lex() {}\n"],
        )
        + &ran(200, &patch, "completed", &["{}"])
        + &ran(
            300,
            &patch,
            "failed",
            &["Script error:\napply_patch verification failed: Failed to find expected lines"],
        )
        + &ran(
            400,
            r#"const r = await tools.exec_command({cmd: "cargo test", workdir: "/home/dev/app/lexer"}); text(r);"#,
            "completed",
            &[
                r#"{"chunk_id":"a1","wall_time_seconds":1.5,"exit_code":101,"output":"emoji FAILED\n"}"#,
            ],
        )
        + &ran(
            500,
            r#"text(await tools.exec_command({cmd: "cargo build"}));"#,
            "running with cell ID 7",
            &[],
        )
        + &waited(600, "7", "running with cell ID 7", &["Compiling"])
        + &waited(
            700,
            "7",
            "completed",
            &[r#"{"wall_time_seconds":9.0,"exit_code":0,"output":"Finished"}"#],
        )
        + &ran(
            800,
            "const all = await Promise.all([tools.shell_command({command: 'ls'}), tools.shell_command({command: 'git status'})]);\nfor (const one of all) { text('---'); text(one); }",
            "completed",
            &[
                "---",
                "Exit code: 0\nWall time: 0.1 seconds\nOutput:\nsrc\n",
                "---",
                "Exit code: 0\nWall time: 0.2 seconds\nOutput:\nclean\n",
            ],
        )
        + &ran(
            900,
            "const a = await tools.exec_command({cmd: 'make a'}); const b = await tools.exec_command({cmd: 'make b'}); text(a.output + b.output);",
            "completed",
            &["error: no rule"],
        )
        + &ran(
            1000,
            "for (const f of load('files')) { text(await tools.exec_command({cmd: `cat ${f}`})); }",
            "failed",
            &["Script error:\nload is empty"],
        )
        + &ran(
            1100,
            r#"await tools.exec_command({cmd: "npm run dev"});"#,
            "running with cell ID 8",
            &[],
        );
    let world = world();
    world.write(ROLLOUT, &rollout);
    import(&world, &[]);
    let events = world.events();
    expect![[r#"
        +0 session_start
        +10 user_message "make the lexer accept emoji"
        +150 tool_result Bash({"command":"cat src/lexer.rs"}) -> "fn lex() {}\n"
        +250 tool_result apply_patch({"command":"*** Begin Patch\n*** Update File: src/lexer.rs\n@@\n-a\n+b\n*** End Patch"}) -> "{}"
        +350 tool_result apply_patch({"command":"*** Begin Patch\n*** Update File: src/lexer.rs\n@@\n-a\n+b\n*** End Patch"}) failed -> "apply_patch verification failed: Failed to find expected lines"
        +450 tool_result Bash({"command":"cargo test"}) failed -> "emoji FAILED\n"
        +750 tool_result Bash({"command":"cargo build"}) -> "Compiling\nFinished"
        +850 tool_result Bash({"command":"ls"}) -> "---\nsrc\n"
        +850 tool_result Bash({"command":"git status"}) -> "---\nclean\n"
        +950 tool_result exec("const a = await tools.exec_command({cmd: 'make a'}); const b = await tools.exec_command({cmd: 'make b'}); text(a.output + b.output);") -> "error: no rule"
        +950 tool_result Bash({"command":"make a"}) -> null
        +950 tool_result Bash({"command":"make b"}) -> null
        +1050 tool_result exec("for (const f of load('files')) { text(await tools.exec_command({cmd: `cat ${f}`})); }") failed -> "Script error:\nload is empty"
    "#]].assert_eq(&listed(&events, MORNING_MS));
    let of = |name: &str| -> Vec<Value> {
        events.iter().map(|event| event["meta"][name].clone()).filter(|v| !v.is_null()).collect()
    };
    assert_eq!(of("exit_code"), [101, 0, 0, 0]);
    assert_eq!(of("workdir"), ["/home/dev/app/lexer"]);
    assert_eq!(of("script_status"), ["failed", "failed"]);
    // The script is kept without the texts of its calls.
    let scripts = of("script");
    assert_eq!(scripts[1], "const patch = …;\ntext(await tools.apply_patch(patch));");
    let again = import(&world, &[]);
    assert_eq!(again["imported"], 0, "{again}");
    assert_eq!(world.events(), events);

    let read = world.tome(&["read", "--no-pager", SESSION]).stdout;
    assert!(!read.contains("tools.apply_patch"), "{read}");
    expect![[r#"
        ── Make the lexer accept emoji
        codex · Sun, Nov 15, 09:30
        1 turn · /home/dev/app

        ── 1 · Sun, Nov 15, 09:30 ──────────────────────────────────────────────────────────────────────────
        │ make the lexer accept emoji

          · cat src/lexer.rs
          ✎ src/lexer.rs  +1 −1
            - a
            + b
          ✗ apply_patch src/lexer.rs  exit 1
              apply_patch verification failed: Failed to find expected lines
          ✗ cargo test  exit 101
              emoji FAILED
          ✓ cargo build
          ✓ ls
          ✓ git status
          · exec const a = await tools.exec_command({cmd: 'make a'}); const b = await tools.exec_command({c…
          · make a
          · make b
          ✗ exec for (const f of load('files')) { text(await tools.exec_command({cmd: `cat ${f}`}))…  exit 1
              Script error:
    "#]].assert_eq(&read);
    let file = world.tome(&["sessions", "--file", "src/lexer.rs", "--json"]).stdout;
    assert!(file.contains(SESSION), "{file}");
}

/// Hooks report the calls of a script, with other ids, and not the script.
#[test]
fn calls_that_hooks_reported_are_not_imported_again() {
    let world = world();
    assert_eq!(world.tome(&["start"]).code, 0);
    let hook = |tool: &str, input: Value, id: &str| {
        let payload = json!({"session_id": SESSION, "cwd": "/home/dev/app", "turn_id": "t1",
            "model": "m", "hook_event_name": "PostToolUse", "tool_name": tool,
            "tool_input": input, "tool_response": "done", "tool_use_id": id});
        world.hook(&["codex"], payload.to_string());
    };
    let patch: String = serde_json::from_str(&format!("\"{PATCH}\"")).unwrap();
    hook("Bash", json!({"command": "ls"}), "exec-6a1f3c1e-0001-4000-8000-000000000001");
    hook("apply_patch", json!({"command": patch}), "exec-6a1f3c1e-0001-4000-8000-000000000002");
    let before = world.events();
    let now: tome_model::Millis = serde_json::from_value(before[0]["at"].clone()).unwrap();
    let script = format!(
        "await tools.exec_command({{cmd: 'ls'}}); await tools.apply_patch(\"{PATCH}\"); text('done');"
    );
    let about = json!({"id": SESSION, "cwd": "/home/dev/app", "cli_version": "0.166.0"});
    // The script began long before its calls, and ended long after them.
    let (began, ended) = (now.0 - 600_000, now.0 + 600_000);
    let id = "call_0000000009";
    let call = json!({"type": "custom_tool_call", "call_id": id, "name": "exec", "input": script});
    let output = json!({"type": "custom_tool_call_output", "call_id": id,
                        "output": printed("completed", &["done"])});
    let rollout = line_at(began, "session_meta", &about)
        + &line_at(began, "response_item", &call)
        + &line_at(ended, "response_item", &output);
    world.write(ROLLOUT, &rollout);
    import(&world, &[]);
    let added: Vec<Value> =
        world.events().into_iter().filter(|event| !before.contains(event)).collect();
    let names = added.iter().map(|event| &event["tool"]["name"]);
    let names: Vec<&Value> = names.filter(|name| !name.is_null()).collect();
    assert_eq!(names, ["exec"], "{added:?}");
}
