//! Drafts built from each agent's payloads. The fixtures have the shapes of captured payloads.

use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use serde_json::Value;

use super::{line, parse_hook_with};

fn fixture(name: &str) -> String {
    let folder = PathBuf::from("tests/fixtures/payloads");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Shows one line per payload: the draft, or `-` and the event's name if there is none.
fn check(agent: &str, name: &str, expect: &Expect) {
    let log = fixture("copilot.events.jsonl");
    let tail = |path: &Path| path.starts_with("/home/dev/.copilot").then(|| log.clone());
    let mut shown = String::new();
    for row in fixture(name).lines() {
        let value: Value = serde_json::from_str(row).unwrap();
        let argv = value.get("argv").and_then(Value::as_str);
        let payload = value.get("payload").map_or(row.to_owned(), Value::to_string);
        let drafts = parse_hook_with(agent, argv, payload.as_bytes(), &tail);
        for draft in &drafts {
            assert!(draft.cwd.starts_with("/home/dev/app"), "{draft:?}");
            assert_ne!(draft.session.as_str(), "unknown");
            assert_eq!(draft.role, draft.kind.default_role());
            shown += &line(draft);
            shown.push('\n');
        }
        if drafts.is_empty() {
            let named = argv.or_else(|| {
                let name = value.get("hook_event_name").or_else(|| value.get("ev"));
                name.and_then(Value::as_str)
            });
            shown += &format!("- {}\n", named.unwrap());
        }
    }
    expect.assert_eq(&shown);
}

#[test]
fn claude_code_payloads_become_drafts() {
    check(
        "claude-code",
        "claude-code.jsonl",
        &expect![[r#"
            session_start now words {"source":"startup","model":"claude-sonnet-4-6","transcript":"/home/dev/.claude/projects/-home-dev-app/7c1f0b52-8f0e-4d7a-9c55-2b1f6f0a9d31.jsonl"}
            unknown now words {"event":"InstructionsLoaded","payload":{"file_path":"/home/dev/app/CLAUDE.md","memory_type":"Project","load_reason":"session_start"}}
            - UserPromptExpansion
            user_message now fixed "the lexer stops at “é” in identifiers, please fix it" {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01"}
            - PreToolUse
            tool_result now fixed Read({"file_path":"/home/dev/app/src/lexer.rs"}) -> {"type":"text","file":{"filePath":"/home/dev/app/src/lexer.rs","content":"fn ident(b: u8) -> bool { b.is_ascii_alphanumeric() }\n","numLines":1,"startLine":1,"totalLines":1}} {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","tool_use_id":"toolu_01Read","duration_ms":12}
            - PostToolBatch
            - PermissionRequest
            unknown now words "Claude needs your permission to use Bash" {"event":"Notification","payload":{"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","title":"Permission needed","notification_type":"permission_prompt"}}
            tool_result now fixed Bash({"command":"cargo test lexer","description":"Run the lexer tests"}) -> "Exit code 101\nthread 'accents' panicked at src/lexer.rs:41" {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","tool_use_id":"toolu_02Bash","is_interrupt":false,"duration_ms":4187,"failed":true}
            subagent_start now words {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","subagent":"agent-9f31","subagent_type":"Explore"}
            tool_result now fixed Grep({"pattern":"is_ascii_alphanumeric"}) -> {"mode":"files_with_matches","filenames":["src/lexer.rs","src/token.rs"],"numFiles":2} {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","tool_use_id":"toolu_03Grep","duration_ms":9,"subagent":"agent-9f31","subagent_type":"Explore"}
            subagent_stop now words "Two places assume ASCII: src/lexer.rs and src/token.rs." {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","subagent":"agent-9f31","subagent_type":"Explore"}
            tool_result now fixed TaskCreate({"subject":"Accept unicode identifiers","description":"Use unicode-ident in lexer and token","activeForm":"Accepting unicode identifiers"}) -> {"task":{"id":"1","subject":"Accept unicode identifiers","description":"Use unicode-ident in lexer and token"}} {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","tool_use_id":"toolu_04Task","duration_ms":3}
            unknown now words "Accept unicode identifiers" {"event":"TaskCreated","payload":{"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","task_id":"1","task_description":"Use unicode-ident in lexer and token"}}
            tool_result now fixed mcp__tracker__comment({"issue":12,"body":"fixed"}) -> [{"type":"text","text":"commented on #12"}] {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","tool_use_id":"toolu_05Mcp","mcp_server":"tracker"}
            - MessageDisplay
            assistant_stop now words "Identifiers may now hold any XID character; the lexer tests pass." {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01"}
            assistant_stop now words "Stored the lesson about XID characters." {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","stop_hook_active":true}
            unknown now words "<task-notification>background build finished</task-notification>" {"event":"UserPromptSubmit","payload":{"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01"}}
            unknown now words "check the build again" {"event":"UserPromptSubmit","payload":{"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","source":"loop_wakeup"}}
            - UserPromptSubmit
            assistant_stop now words "API Error: Rate limit reached" {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","error":"rate_limit","error_details":"429 Too Many Requests","failed":true}
            unknown now words {"event":"FutureThing","payload":{"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","colour":"teal","depth":{"levels":[1,2]}}}
            session_end now words {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","reason":"prompt_input_exit"}
        "#]],
    );
}

#[test]
fn claude_code_compactions_become_drafts() {
    check(
        "claude-code",
        "claude-code.compact.jsonl",
        &expect![[r#"
            session_start now words {"source":"resume","seconds_since_last_response":57,"context_tokens":90107,"prompt_cache_likely_expired":false,"estimated_cache_write_usd":0.02,"transcript":"/home/dev/.claude/projects/-home-dev-app/7c1f0b52-8f0e-4d7a-9c55-2b1f6f0a9d31.jsonl"}
            - PreCompact
            - SubagentStop
            - SubagentStop
            session_start now words {"prompt_id":"0c9d3a77-6f6a-4c0e-9a58-5c3f3f1d2b02","source":"compact","model":"claude-sonnet-4-6","transcript":"/home/dev/.claude/projects/-home-dev-app/7c1f0b52-8f0e-4d7a-9c55-2b1f6f0a9d31.jsonl"}
            compaction now words "The lexer accepts XID characters since today." {"prompt_id":"0c9d3a77-6f6a-4c0e-9a58-5c3f3f1d2b02","trigger":"manual","phase":"after"}
            - PreCompact
            session_end now words {"prompt_id":"0c9d3a77-6f6a-4c0e-9a58-5c3f3f1d2b02","reason":"other"}
        "#]],
    );
}

#[test]
fn codex_payloads_become_drafts() {
    check(
        "codex",
        "codex.jsonl",
        &expect![[r#"
            session_start now words {"model":"gpt-6-codex","source":"startup","transcript":"/home/dev/.codex/sessions/2026/11/15/rollout-2026-11-15T09-30-00-019a8c11-52d0-7b14-9d0e-6a7f0c2e4411.jsonl"}
            user_message now fixed "why does `tok()` loop forever on a lone quote?" {"turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001","model":"gpt-6-codex"}
            - PreModelRequest
            - PreToolUse
            - PermissionRequest
            tool_result now fixed Bash({"command":"cargo test quote"}) -> "test quote ... FAILED\n" {"turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001","model":"gpt-6-codex","tool_use_id":"call_a1"}
            tool_result now fixed update_plan({"plan":[{"step":"find the loop","status":"in_progress"},{"step":"fix it","status":"pending"}]}) -> "Plan updated" {"turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001","model":"gpt-6-codex","tool_use_id":"call_a2"}
            tool_result now fixed mcp__tracker__find({"q":"quote"}) -> {"content":[{"type":"text","text":"1 issue"}],"structuredContent":{"issues":[12]}} {"turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001","model":"gpt-6-codex","tool_use_id":"call_a3"}
            subagent_start now words {"turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001","model":"gpt-6-codex","subagent":"w1","subagent_type":"worker"}
            subagent_stop now words "The loop never advances past the quote." {"turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001","model":"gpt-6-codex","subagent":"w1","subagent_type":"worker"}
            - PreCompact
            compaction now words {"turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001","model":"gpt-6-codex","trigger":"auto","phase":"after"}
            unknown now words "user pressed escape" {"event":"Interrupt","payload":{"turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001","model":"gpt-6-codex"}}
            assistant_stop now words "`tok()` did not advance at the end of input; it does now. " {"turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001","model":"gpt-6-codex"}
            - UserPromptSubmit
            unknown now words "<hook_prompt hook_run_id=\"h2\">run the linter before you stop</hook_prompt>" {"event":"UserPromptSubmit","payload":{"turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001","model":"gpt-6-codex"}}
            assistant_stop now words {"turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001","model":"gpt-6-codex","stop_hook_active":true}
            session_end now words {"model":"gpt-6-codex","reason":"other"}
        "#]],
    );
}

#[test]
fn gemini_payloads_become_drafts() {
    check(
        "gemini",
        "gemini.jsonl",
        &expect![[r#"
            session_start 2026-11-15T09:30:01.250Z fixed {"source":"startup","transcript":"/home/dev/.gemini/tmp/app/chats/session-2026-11-15T09-30-b2a7d0e4.jsonl"}
            user_message 2026-11-15T09:30:02.250Z words "make the lexer work on chars, not bytes"
            - PreCompress
            - BeforeModel
            - BeforeToolSelection
            - AfterModel
            - BeforeTool
            tool_result 2026-11-15T09:30:08.250Z fixed run_shell_command({"command":"cargo check","description":"Check the build"}) -> "Output: Finished dev profile\nProcess Group PGID: 4711"
            tool_result 2026-11-15T09:30:09.250Z fixed replace({"file_path":"src/lexer.rs","old_string":"u8","new_string":"char"}) -> "Successfully modified file: src/lexer.rs (1 replacements)." {"display":{"fileDiff":"-u8\n+char\n","fileName":"lexer.rs"}}
            tool_result 2026-11-15T09:30:10.250Z fixed mcp_tracker_find({"q":"bytes"}) -> "2 issues\n#12 and #14" {"mcp_context":{"server_name":"tracker","tool_name":"find","command":"tracker","args":["mcp"]}}
            tool_result 2026-11-15T09:30:11.250Z fixed read_file({"file_path":"src/nope.rs"}) -> {"error":{"message":"File not found: src/nope.rs","type":"file_not_found"},"llmContent":"Could not read file: not found"} {"display":"File not found","failed":true}
            tool_result 2026-11-15T09:30:12.250Z fixed read_file({"file_path":"logo.png"}) -> [{"inlineData":{"mimeType":"image/png","data":"aGk="}},{"text":"a picture"}] {"display":"logo.png"}
            unknown 2026-11-15T09:30:13.250Z fixed "Allow cargo check?" {"event":"Notification","payload":{"notification_type":"ToolPermission","details":{"tool":"run_shell_command"}}}
            assistant_stop 2026-11-15T09:30:14.250Z words "The lexer walks over chars now. "
            - BeforeAgent
            assistant_stop 2026-11-15T09:30:16.250Z words "The lexer walks over chars now. \nSaved." {"stop_hook_active":true,"cumulative":true}
            compaction 2026-11-15T09:30:17.250Z fixed {"trigger":"manual","phase":"before"}
            session_end 2026-11-15T09:30:18.250Z fixed {"reason":"exit"}
        "#]],
    );
}

#[test]
fn copilot_payloads_in_camel_case_become_drafts() {
    check(
        "copilot",
        "copilot.camel.jsonl",
        &expect![[r#"
            session_start 2026-11-15T09:30:01.000Z fixed {"source":"new"}
            user_message 2026-11-15T09:30:02.000Z words "add a test for nested comments"
            - userPromptTransformed
            - preToolUse
            - permissionRequest
            tool_result 2026-11-15T09:30:06.000Z fixed bash({"command":"cargo test comments","description":"Run the tests"}) -> "1 passed\n<shellId: 0 completed with exit code 0>" {"result_type":"success"}
            tool_result 2026-11-15T09:30:07.000Z fixed view({"path":"/home/dev/app/src/nope.rs"}) -> "Path does not exist" {"result_type":"failure","failed":true}
            tool_result 2026-11-15T09:30:08.000Z fixed edit({"path":"/home/dev/app/src/lexer.rs"}) -> "old_str not found" {"failed":true}
            tool_result 2026-11-15T09:30:09.000Z fixed sql({"description":"add todos","query":"INSERT INTO todos (id,title) VALUES ('a','nested comments')"}) -> "1 row(s) inserted." {"result_type":"success"}
            subagent_start 2026-11-15T09:30:10.000Z fixed {"subagent":"sub-1","subagent_type":"explore","subagent_name":"explore"}
            subagent_stop 2026-11-15T09:30:11.000Z fixed "Comments are lexed in src/trivia.rs." {"stop_reason":"end_turn","subagent":"sub-1","subagent_type":"explore","subagent_name":"explore"}
            compaction 2026-11-15T09:30:12.000Z fixed "keep the test names" {"trigger":"manual","phase":"before"}
            unknown 2026-11-15T09:30:13.000Z fixed "Copilot is waiting for you" {"event":"notification","payload":{"title":"Waiting","notification_type":"idle"}}
            unknown 2026-11-15T09:30:14.000Z fixed "connect ECONNREFUSED" {"event":"errorOccurred","payload":{"error_context":"model_call","recoverable":true,"error":{"name":"FetchError"}}}
            assistant_stop 2026-11-15T09:30:15.000Z fixed {"stop_reason":"end_turn"}
            - userPromptSubmitted
            assistant_stop 2026-11-15T09:30:17.000Z fixed {"stop_reason":"end_turn","stop_hook_active":true}
            session_end 2026-11-15T09:30:18.000Z fixed {"reason":"complete"}
        "#]],
    );
}

#[test]
fn copilot_payloads_in_pascal_case_become_drafts() {
    check(
        "copilot",
        "copilot.pascal.jsonl",
        &expect![[r#"
            session_start 2026-11-15T09:30:01.000Z fixed {"source":"new"}
            user_message 2026-11-15T09:30:02.000Z words "add a test for nested comments"
            - PreToolUse
            - PermissionRequest
            tool_result 2026-11-15T09:30:06.000Z fixed Bash({"command":"cargo test comments","description":"Run the tests"}) -> "1 passed\n<shellId: 0 completed with exit code 0>" {"result_type":"success"}
            tool_result 2026-11-15T09:30:07.000Z fixed Read({"path":"/home/dev/app/src/nope.rs"}) -> "Path does not exist" {"result_type":"failure","failed":true}
            tool_result 2026-11-15T09:30:08.000Z fixed Edit({"path":"/home/dev/app/src/lexer.rs"}) -> "old_str not found" {"failed":true}
            tool_result 2026-11-15T09:30:09.000Z fixed sql({"description":"add todos","query":"INSERT INTO todos (id,title) VALUES ('a','nested comments')"}) -> "1 row(s) inserted." {"result_type":"success"}
            subagent_start 2026-11-15T09:30:10.000Z fixed {"subagent":"sub-1","subagent_type":"explore","subagent_name":"explore"}
            subagent_stop 2026-11-15T09:30:11.000Z fixed "Comments are lexed in src/trivia.rs." {"stop_reason":"end_turn","subagent":"sub-1","subagent_type":"explore","subagent_name":"explore"}
            compaction 2026-11-15T09:30:12.000Z fixed "keep the test names" {"trigger":"manual","phase":"before"}
            unknown 2026-11-15T09:30:13.000Z fixed "Copilot is waiting for you" {"event":"notification","payload":{"title":"Waiting","notification_type":"idle"}}
            unknown 2026-11-15T09:30:14.000Z fixed "connect ECONNREFUSED" {"event":"errorOccurred","payload":{"error_context":"model_call","recoverable":true,"error":{"name":"FetchError"}}}
            assistant_stop 2026-11-15T09:30:15.000Z fixed {"stop_reason":"end_turn"}
            - UserPromptSubmit
            assistant_stop 2026-11-15T09:30:17.000Z fixed {"stop_reason":"end_turn","stop_hook_active":true}
            session_end 2026-11-15T09:30:18.000Z fixed {"reason":"complete"}
        "#]],
    );
}

#[test]
fn opencode_payloads_become_drafts() {
    check(
        "opencode",
        "opencode.jsonl",
        &expect![[r#"
            - init
            session_start 2026-11-15T09:30:00.100Z fixed {"title":"New session","version":"1.18.33"}
            unknown now fixed {"event":"session_title","session_title":"Lexer"}
            user_message 2026-11-15T09:30:01.200Z fixed "count lines in the \"lexer\" too" {"agent":"build","model":{"providerID":"local","modelID":"coder"},"message_id":"msg_be0f3d56a001PromptOfTheDay","files":["shot.png"]}
            - event:message.updated
            - event:message.part.updated
            - event:session.status
            - system.transform
            - chat.params
            - messages.transform
            - tool.execute.before
            - event:message.part.updated
            tool_result now fixed bash({"command":"wc -l src/lexer.rs","description":"Count lines"}) -> "214 src/lexer.rs\n" {"title":"wc -l src/lexer.rs","metadata":{"exit":0,"truncated":false},"call_id":"call_1"}
            tool_result now fixed tracker_find({"q":"lines"}) -> "1 issue" {"structured":{"issues":[12]},"call_id":"call_2"}
            tool_result 2026-11-15T09:30:03.100Z fixed edit({"filePath":"src/lexer.rs"}) -> "oldString not found" {"failed":true,"call_id":"call_3"}
            - event:message.part.updated
            assistant_message 2026-11-15T09:30:04.400Z fixed "The lexer has 214 lines; they are counted now." {"message_id":"msg_be0f3d7aa001AnswerOfTheDay"}
            - event:message.part.updated
            - event:todo.updated
            - event:file.edited
            unknown now words {"event":"command.executed","payload":{"name":"review","arguments":"src","messageID":"msg_be0f3d56a001PromptOfTheDay"}}
            subagent_start 2026-11-15T09:30:00.100Z fixed {"parent":"ses_41f0c2a9dffeQm3vTz7LexerAb","title":"explore (@explore subagent)","version":"1.18.33"}
            unknown now words "no key for provider local" {"event":"session.error","payload":{"error":{"name":"ProviderAuthError","data":{"message":"no key for provider local","providerID":"local"}}}}
            compaction now words {"phase":"before"}
            compaction now words {"phase":"after"}
            assistant_stop now words
            assistant_stop 2026-11-15T09:30:09.000Z words "The lexer has 214 lines; they are counted now."
            session_end now words {"reason":"deleted","title":"Lexer"}
        "#]],
    );
}

/// The command line is not needed where the fields identify the event.
#[test]
fn copilot_events_are_inferred_from_their_fields() {
    for row in fixture("copilot.camel.jsonl").lines() {
        let value: Value = serde_json::from_str(row).unwrap();
        let argv = value["argv"].as_str().unwrap();
        let payload = value["payload"].to_string();
        let drafts =
            |event| parse_hook_with("copilot", event, payload.as_bytes(), &|_: &Path| None);
        assert_eq!(drafts(None), drafts(Some(argv)), "{argv}");
    }
}
