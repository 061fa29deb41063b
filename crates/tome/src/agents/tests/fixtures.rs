//! What each agent's payloads become. The fixtures have the shapes of captured ones.

use std::path::{Path, PathBuf};

use expect_test::{Expect, expect};
use serde_json::Value;

use super::{hear_with, line};

fn fixture(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/payloads");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// One line a payload: the draft, or `-` and the event's name where there is none.
fn check(agent: &str, name: &str, expect: &Expect) {
    let log = fixture("copilot.events.jsonl");
    let tail = |path: &Path| path.starts_with("/home/dev/.copilot").then(|| log.clone());
    let mut shown = String::new();
    for row in fixture(name).lines() {
        let value: Value = serde_json::from_str(row).unwrap();
        let argv = value.get("argv").and_then(Value::as_str);
        let payload = value
            .get("payload")
            .map_or(row.to_owned(), Value::to_string);
        let drafts = hear_with(agent, argv, payload.as_bytes(), &tail);
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
fn claude_code() {
    check(
        "claude-code",
        "claude-code.jsonl",
        &expect![[r#"
        session_start now words {"model":"claude-sonnet-4-6","source":"startup","transcript":"/home/dev/.claude/projects/-home-dev-app/7c1f0b52-8f0e-4d7a-9c55-2b1f6f0a9d31.jsonl"}
        unknown now words {"event":"InstructionsLoaded","payload":{"file_path":"/home/dev/app/CLAUDE.md","load_reason":"session_start","memory_type":"Project"}}
        - UserPromptExpansion
        user_message now fixed "the lexer stops at “é” in identifiers, please fix it" {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01"}
        - PreToolUse
        tool_result now fixed Read({"file_path":"/home/dev/app/src/lexer.rs"}) -> {"file":{"content":"fn ident(b: u8) -> bool { b.is_ascii_alphanumeric() }\n","filePath":"/home/dev/app/src/lexer.rs","numLines":1,"startLine":1,"totalLines":1},"type":"text"} {"duration_ms":12,"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","tool_use_id":"toolu_01Read"}
        - PostToolBatch
        - PermissionRequest
        unknown now words "Claude needs your permission to use Bash" {"event":"Notification","payload":{"notification_type":"permission_prompt","prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","title":"Permission needed"}}
        tool_result now fixed Bash({"command":"cargo test lexer","description":"Run the lexer tests"}) -> "Exit code 101\nthread 'accents' panicked at src/lexer.rs:41" {"duration_ms":4187,"failed":true,"is_interrupt":false,"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","tool_use_id":"toolu_02Bash"}
        subagent_start now words {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","subagent":"agent-9f31","subagent_type":"Explore"}
        tool_result now fixed Grep({"pattern":"is_ascii_alphanumeric"}) -> {"filenames":["src/lexer.rs","src/token.rs"],"mode":"files_with_matches","numFiles":2} {"duration_ms":9,"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","subagent":"agent-9f31","subagent_type":"Explore","tool_use_id":"toolu_03Grep"}
        subagent_stop now words "Two places assume ASCII: src/lexer.rs and src/token.rs." {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","subagent":"agent-9f31","subagent_type":"Explore"}
        tool_result now fixed TaskCreate({"activeForm":"Accepting unicode identifiers","description":"Use unicode-ident in lexer and token","subject":"Accept unicode identifiers"}) -> {"task":{"description":"Use unicode-ident in lexer and token","id":"1","subject":"Accept unicode identifiers"}} {"duration_ms":3,"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","tool_use_id":"toolu_04Task"}
        unknown now words "Accept unicode identifiers" {"event":"TaskCreated","payload":{"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","task_description":"Use unicode-ident in lexer and token","task_id":"1"}}
        tool_result now fixed mcp__tracker__comment({"body":"fixed","issue":12}) -> [{"text":"commented on #12","type":"text"}] {"mcp_server":"tracker","prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","tool_use_id":"toolu_05Mcp"}
        - MessageDisplay
        assistant_stop now words "Identifiers may now hold any XID character; the lexer tests pass." {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01"}
        assistant_stop now words "Stored the lesson about XID characters." {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","stop_hook_active":true}
        unknown now words "<task-notification>background build finished</task-notification>" {"event":"UserPromptSubmit","payload":{"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01"}}
        unknown now words "check the build again" {"event":"UserPromptSubmit","payload":{"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","source":"loop_wakeup"}}
        - UserPromptSubmit
        assistant_stop now words "API Error: Rate limit reached" {"error":"rate_limit","error_details":"429 Too Many Requests","failed":true,"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01"}
        unknown now words {"event":"FutureThing","payload":{"colour":"teal","depth":{"levels":[1,2]},"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01"}}
        session_end now words {"prompt_id":"5e0b7a10-33c1-4b7e-8d51-0f9c2f6f7a01","reason":"prompt_input_exit"}
    "#]],
    );
}

#[test]
fn claude_code_compacting() {
    check(
        "claude-code",
        "claude-code.compact.jsonl",
        &expect![[r#"
        session_start now words {"context_tokens":90107,"estimated_cache_write_usd":0.02,"prompt_cache_likely_expired":false,"seconds_since_last_response":57,"source":"resume","transcript":"/home/dev/.claude/projects/-home-dev-app/7c1f0b52-8f0e-4d7a-9c55-2b1f6f0a9d31.jsonl"}
        compaction now words "keep what we know of the lexer" {"phase":"before","prompt_id":"0c9d3a77-6f6a-4c0e-9a58-5c3f3f1d2b02","trigger":"manual"}
        subagent_stop now words "The lexer accepts XID characters since today." {"prompt_id":"0c9d3a77-6f6a-4c0e-9a58-5c3f3f1d2b02","subagent":"aabf70"}
        subagent_stop now words "The lexer accepts XID characters since today." {"prompt_id":"0c9d3a77-6f6a-4c0e-9a58-5c3f3f1d2b02","subagent":"aff960"}
        session_start now words {"model":"claude-sonnet-4-6","prompt_id":"0c9d3a77-6f6a-4c0e-9a58-5c3f3f1d2b02","source":"compact","transcript":"/home/dev/.claude/projects/-home-dev-app/7c1f0b52-8f0e-4d7a-9c55-2b1f6f0a9d31.jsonl"}
        compaction now words "The lexer accepts XID characters since today." {"phase":"after","prompt_id":"0c9d3a77-6f6a-4c0e-9a58-5c3f3f1d2b02","trigger":"manual"}
        compaction now words {"phase":"before","prompt_id":"0c9d3a77-6f6a-4c0e-9a58-5c3f3f1d2b02","trigger":"auto"}
        session_end now words {"prompt_id":"0c9d3a77-6f6a-4c0e-9a58-5c3f3f1d2b02","reason":"other"}
    "#]],
    );
}

#[test]
fn codex() {
    check(
        "codex",
        "codex.jsonl",
        &expect![[r#"
        session_start now words {"model":"gpt-6-codex","source":"startup","transcript":"/home/dev/.codex/sessions/2026/11/15/rollout-2026-11-15T09-30-00-019a8c11-52d0-7b14-9d0e-6a7f0c2e4411.jsonl"}
        user_message now fixed "why does `tok()` loop forever on a lone quote?" {"model":"gpt-6-codex","turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001"}
        - PreModelRequest
        - PreToolUse
        - PermissionRequest
        tool_result now fixed Bash({"command":"cargo test quote"}) -> "test quote ... FAILED\n" {"model":"gpt-6-codex","tool_use_id":"call_a1","turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001"}
        tool_result now fixed update_plan({"plan":[{"status":"in_progress","step":"find the loop"},{"status":"pending","step":"fix it"}]}) -> "Plan updated" {"model":"gpt-6-codex","tool_use_id":"call_a2","turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001"}
        tool_result now fixed mcp__tracker__find({"q":"quote"}) -> {"content":[{"text":"1 issue","type":"text"}],"structuredContent":{"issues":[12]}} {"model":"gpt-6-codex","tool_use_id":"call_a3","turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001"}
        subagent_start now words {"model":"gpt-6-codex","subagent":"w1","subagent_type":"worker","turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001"}
        subagent_stop now words "The loop never advances past the quote." {"model":"gpt-6-codex","subagent":"w1","subagent_type":"worker","turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001"}
        compaction now words {"model":"gpt-6-codex","phase":"before","trigger":"auto","turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001"}
        compaction now words {"model":"gpt-6-codex","phase":"after","trigger":"auto","turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001"}
        unknown now words "user pressed escape" {"event":"Interrupt","payload":{"model":"gpt-6-codex","turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001"}}
        assistant_stop now words "`tok()` did not advance at the end of input; it does now. " {"model":"gpt-6-codex","turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001"}
        - UserPromptSubmit
        unknown now words "<hook_prompt hook_run_id=\"h2\">run the linter before you stop</hook_prompt>" {"event":"UserPromptSubmit","payload":{"model":"gpt-6-codex","turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001"}}
        assistant_stop now words {"model":"gpt-6-codex","stop_hook_active":true,"turn_id":"019a8c11-6001-7c22-8a11-aa0c7e3d9001"}
        session_end now words {"model":"gpt-6-codex","reason":"other"}
    "#]],
    );
}

#[test]
fn gemini() {
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
        tool_result 2026-11-15T09:30:09.250Z fixed replace({"file_path":"src/lexer.rs","new_string":"char","old_string":"u8"}) -> "Successfully modified file: src/lexer.rs (1 replacements)." {"display":{"fileDiff":"-u8\n+char\n","fileName":"lexer.rs"}}
        tool_result 2026-11-15T09:30:10.250Z fixed mcp_tracker_find({"q":"bytes"}) -> "2 issues\n#12 and #14" {"mcp_context":{"args":["mcp"],"command":"tracker","server_name":"tracker","tool_name":"find"}}
        tool_result 2026-11-15T09:30:11.250Z fixed read_file({"file_path":"src/nope.rs"}) -> {"error":{"message":"File not found: src/nope.rs","type":"file_not_found"},"llmContent":"Could not read file: not found"} {"display":"File not found","failed":true}
        tool_result 2026-11-15T09:30:12.250Z fixed read_file({"file_path":"logo.png"}) -> [{"inlineData":{"data":"aGk=","mimeType":"image/png"}},{"text":"a picture"}] {"display":"logo.png"}
        unknown 2026-11-15T09:30:13.250Z fixed "Allow cargo check?" {"event":"Notification","payload":{"details":{"tool":"run_shell_command"},"notification_type":"ToolPermission"}}
        assistant_stop 2026-11-15T09:30:14.250Z words "The lexer walks over chars now. "
        - BeforeAgent
        assistant_stop 2026-11-15T09:30:16.250Z words "The lexer walks over chars now. \nSaved." {"cumulative":true,"stop_hook_active":true}
        compaction 2026-11-15T09:30:17.250Z fixed {"phase":"before","trigger":"manual"}
        session_end 2026-11-15T09:30:18.250Z fixed {"reason":"exit"}
    "#]],
    );
}

#[test]
fn copilot_in_camel_case() {
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
        tool_result 2026-11-15T09:30:07.000Z fixed view({"path":"/home/dev/app/src/nope.rs"}) -> "Path does not exist" {"failed":true,"result_type":"failure"}
        tool_result 2026-11-15T09:30:08.000Z fixed edit({"path":"/home/dev/app/src/lexer.rs"}) -> "old_str not found" {"failed":true}
        tool_result 2026-11-15T09:30:09.000Z fixed sql({"description":"add todos","query":"INSERT INTO todos (id,title) VALUES ('a','nested comments')"}) -> "1 row(s) inserted." {"result_type":"success"}
        subagent_start 2026-11-15T09:30:10.000Z fixed {"subagent":"sub-1","subagent_name":"explore","subagent_type":"explore"}
        subagent_stop 2026-11-15T09:30:11.000Z fixed "Comments are lexed in src/trivia.rs." {"stop_reason":"end_turn","subagent":"sub-1","subagent_name":"explore","subagent_type":"explore"}
        compaction 2026-11-15T09:30:12.000Z fixed "keep the test names" {"phase":"before","trigger":"manual"}
        unknown 2026-11-15T09:30:13.000Z fixed "Copilot is waiting for you" {"event":"notification","payload":{"notification_type":"idle","title":"Waiting"}}
        unknown 2026-11-15T09:30:14.000Z fixed "connect ECONNREFUSED" {"event":"errorOccurred","payload":{"error":{"name":"FetchError"},"error_context":"model_call","recoverable":true}}
        assistant_stop 2026-11-15T09:30:15.000Z words "Nested comments have a test now. " {"stop_reason":"end_turn"}
        - userPromptSubmitted
        assistant_stop 2026-11-15T09:30:17.000Z fixed {"stop_hook_active":true,"stop_reason":"end_turn"}
        session_end 2026-11-15T09:30:18.000Z fixed {"reason":"complete"}
    "#]],
    );
}

#[test]
fn copilot_in_pascal_case() {
    check(
        "copilot",
        "copilot.pascal.jsonl",
        &expect![[r#"
        session_start 2026-11-15T09:30:01.000Z fixed {"source":"new"}
        user_message 2026-11-15T09:30:02.000Z words "add a test for nested comments"
        - PreToolUse
        - PermissionRequest
        tool_result 2026-11-15T09:30:06.000Z fixed Bash({"command":"cargo test comments","description":"Run the tests"}) -> "1 passed\n<shellId: 0 completed with exit code 0>" {"result_type":"success"}
        tool_result 2026-11-15T09:30:07.000Z fixed Read({"path":"/home/dev/app/src/nope.rs"}) -> "Path does not exist" {"failed":true,"result_type":"failure"}
        tool_result 2026-11-15T09:30:08.000Z fixed Edit({"path":"/home/dev/app/src/lexer.rs"}) -> "old_str not found" {"failed":true}
        tool_result 2026-11-15T09:30:09.000Z fixed sql({"description":"add todos","query":"INSERT INTO todos (id,title) VALUES ('a','nested comments')"}) -> "1 row(s) inserted." {"result_type":"success"}
        subagent_start 2026-11-15T09:30:10.000Z fixed {"subagent":"sub-1","subagent_name":"explore","subagent_type":"explore"}
        subagent_stop 2026-11-15T09:30:11.000Z fixed "Comments are lexed in src/trivia.rs." {"stop_reason":"end_turn","subagent":"sub-1","subagent_name":"explore","subagent_type":"explore"}
        compaction 2026-11-15T09:30:12.000Z fixed "keep the test names" {"phase":"before","trigger":"manual"}
        unknown 2026-11-15T09:30:13.000Z fixed "Copilot is waiting for you" {"event":"notification","payload":{"notification_type":"idle","title":"Waiting"}}
        unknown 2026-11-15T09:30:14.000Z fixed "connect ECONNREFUSED" {"event":"errorOccurred","payload":{"error":{"name":"FetchError"},"error_context":"model_call","recoverable":true}}
        assistant_stop 2026-11-15T09:30:15.000Z words "Nested comments have a test now. " {"stop_reason":"end_turn"}
        - UserPromptSubmit
        assistant_stop 2026-11-15T09:30:17.000Z fixed {"stop_hook_active":true,"stop_reason":"end_turn"}
        session_end 2026-11-15T09:30:18.000Z fixed {"reason":"complete"}
    "#]],
    );
}

#[test]
fn opencode() {
    check(
        "opencode",
        "opencode.jsonl",
        &expect![[r#"
            - init
            session_start 2026-11-15T09:30:00.100Z fixed {"title":"New session","version":"1.18.33"}
            - event:session.updated
            user_message 2026-11-15T09:30:01.200Z fixed "count lines in the \"lexer\" too" {"agent":"build","files":["shot.png"],"message_id":"msg_be0f3d56a001PromptOfTheDay","model":{"modelID":"coder","providerID":"local"}}
            - event:message.updated
            - event:message.part.updated
            - event:session.status
            - system.transform
            - chat.params
            - messages.transform
            - tool.execute.before
            - event:message.part.updated
            tool_result now fixed bash({"command":"wc -l src/lexer.rs","description":"Count lines"}) -> "214 src/lexer.rs\n" {"call_id":"call_1","metadata":{"exit":0,"truncated":false},"title":"wc -l src/lexer.rs"}
            tool_result now fixed tracker_find({"q":"lines"}) -> "1 issue" {"call_id":"call_2","structured":{"issues":[12]}}
            tool_result 2026-11-15T09:30:03.100Z fixed edit({"filePath":"src/lexer.rs"}) -> "oldString not found" {"call_id":"call_3","failed":true}
            - event:message.part.updated
            assistant_message 2026-11-15T09:30:04.400Z fixed "The lexer has 214 lines; they are counted now." {"message_id":"msg_be0f3d7aa001AnswerOfTheDay"}
            - event:message.part.updated
            - event:todo.updated
            - event:file.edited
            unknown now words {"event":"command.executed","payload":{"arguments":"src","messageID":"msg_be0f3d56a001PromptOfTheDay","name":"review"}}
            subagent_start 2026-11-15T09:30:00.100Z fixed {"parent":"ses_41f0c2a9dffeQm3vTz7LexerAb","title":"explore (@explore subagent)","version":"1.18.33"}
            unknown now words "no key for provider local" {"event":"session.error","payload":{"error":{"data":{"message":"no key for provider local","providerID":"local"},"name":"ProviderAuthError"}}}
            compaction now words {"phase":"before"}
            compaction now words {"phase":"after"}
            assistant_stop now words
            assistant_stop 2026-11-15T09:30:09.000Z words "The lexer has 214 lines; they are counted now."
            session_end now words {"reason":"deleted","title":"Lexer"}
        "#]],
    );
}

/// The command line is not needed where the fields give the event away.
#[test]
fn copilot_without_the_events_name() {
    for row in fixture("copilot.camel.jsonl").lines() {
        let value: Value = serde_json::from_str(row).unwrap();
        let argv = value["argv"].as_str().unwrap();
        let payload = value["payload"].to_string();
        let heard = |event| hear_with("copilot", event, payload.as_bytes(), &|_: &Path| None);
        assert_eq!(heard(None), heard(Some(argv)), "{argv}");
    }
}
