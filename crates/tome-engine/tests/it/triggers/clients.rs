//! Sessions of each agent, as drafts in the form its hooks produce.
//!
//! One event per line: what is due (`-` for nothing), the kind, and the draft's text, tool and
//! meta. `$6step` expands to a list of six steps with that field; `9*` repeats an event nine times.

use serde_json::{Value, json};
use tome_engine::triggers::{TriggerEvent, TriggerSettings, TriggerState};
use tome_model::{Agent, EventKind, Tool};

use super::{describe, draft};

fn check(agent: &str, session: &str) {
    let mut state = TriggerState::default();
    let mut number = 0;
    for line in session.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (expected, rest) = line.split_once(' ').unwrap();
        let (kind, body) = rest.trim_start().split_once(' ').unwrap();
        let (times, kind) = kind.split_once('*').unwrap_or(("1", kind));
        let kind: EventKind = kind.parse().unwrap();
        let body: Value = serde_json::from_str(&expanded(body)).unwrap();
        for _ in 0..times.parse().unwrap() {
            number += 1;
            let tool: Option<Tool> = body.get("tool").cloned().map(from_json);
            let text = body["text"].as_str().unwrap_or_default();
            let mut draft = draft(number, kind, text, tool, body["meta"].clone());
            draft.agent = Agent::parse(agent).unwrap();
            state = TriggerState::from_bytes(&state.to_bytes());
            let due =
                state.process_event(&TriggerEvent::from_draft(&draft), &TriggerSettings::default());
            let due = due.map_or("-".to_owned(), |due| describe(&due).replace(' ', "-"));
            assert_eq!(due, expected, "{agent}: {line}");
        }
    }
}

fn from_json(tool: Value) -> Tool {
    serde_json::from_value(tool).unwrap()
}

fn expanded(body: &str) -> String {
    let mut body = body.to_owned();
    for field in ["content", "step", "description"] {
        for steps in [5, 6] {
            let step = |n| json!({ field: format!("part {n}"), "status": "pending" });
            let list: Vec<Value> = (0..steps).map(step).collect();
            body = body.replace(&format!("\"${steps}{field}\""), &json!(list).to_string());
        }
    }
    body
}

#[test]
fn claude_code_sessions_trigger() {
    check(
        "claude-code",
        r#"
        - session_start {"meta":{"source":"startup","transcript":"/home/dev/.claude/t.jsonl"}}
        - user_message {"text":"rework the lexer","meta":{"prompt_id":"p1"}}
        - tool_result {"tool":{"name":"TodoWrite","input":{"todos":"$5content"},"output":{"oldTodos":[],"newTodos":[]}},"meta":{"prompt_id":"p1","tool_use_id":"toolu_01","duration_ms":4}}
        - tool_result {"tool":{"name":"Bash","input":{"command":"cargo test"},"output":{"stdout":"ok","stderr":"","interrupted":false}},"meta":{"prompt_id":"p1"}}
        replan tool_result {"tool":{"name":"TodoWrite","input":{"todos":"$6content"},"output":{"oldTodos":[],"newTodos":[]}},"meta":{"prompt_id":"p1"}}
        - subagent_start {"meta":{"subagent":"a1","subagent_type":"Explore"}}
        - tool_result {"tool":{"name":"TodoWrite","input":{"todos":"$6content"}},"meta":{"subagent":"a1"}}
        - subagent_stop {"text":"found it","meta":{"subagent":"a1"}}
        - compaction {"meta":{"phase":"before","trigger":"auto"}}
        - session_start {"meta":{"source":"compact","model":"claude-sonnet-5"}}
        - compaction {"text":"summary","meta":{"phase":"after","trigger":"auto"}}
        - tool_result {"tool":{"name":"TodoWrite","input":{"todos":"$6content"}},"meta":{"prompt_id":"p1"}}
        store-plan assistant_stop {"text":"The lexer is reworked.","meta":{"prompt_id":"p1"}}
        - tool_result {"tool":{"name":"mcp__plugin_tome_tome__memory_read","input":{"path":"memory-store-guide.md","scope":"coder"},"output":"guide"},"meta":{"prompt_id":"p1"}}
        - tool_result {"tool":{"name":"mcp__plugin_tome_tome__coder_memory_store","input":{"title":"t"},"output":{"content":[]}},"meta":{"prompt_id":"p1"}}
        - assistant_stop {"text":"Stored one insight.","meta":{"prompt_id":"p1","stop_hook_active":true}}
        - session_end {"meta":{"reason":"other"}}
        "#,
    );
}

#[test]
fn claude_code_tasks_and_plan_mode_trigger() {
    let task = |n| {
        format!(
            r#"- unknown {{"text":"part {n}","meta":{{"event":"TaskCreated","payload":{{"task_id":"{n}","task_description":"d"}}}}}}
            {} tool_result {{"tool":{{"name":"TaskCreate","input":{{"subject":"part {n}","description":"d"}},"output":{{"task":{{"id":"{n}","subject":"part {n}"}}}}}},"meta":{{"prompt_id":"p1"}}}}
            "#,
            if n == 6 { "replan" } else { "-" }
        )
    };
    let tasks: String = (1..=8).map(task).collect();
    check("claude-code", &format!("- user_message {{\"text\":\"go\"}}\n{tasks}"));
    check(
        "claude-code",
        r##"
        - user_message {"text":"plan it"}
        - tool_result {"tool":{"name":"Read","input":{"file_path":"/home/dev/app/a.rs"},"output":{"type":"text"}}}
        replan tool_result {"tool":{"name":"ExitPlanMode","input":{"plan":"# Plan\n\n1. a\n2. b\n3. c\n4. d\n5. e\n6. f\n"},"output":{"plan":"…","isAgent":false}}}
        - 3*tool_result {"tool":{"name":"Edit","input":{"file_path":"/home/dev/app/a.rs"},"output":{}}}
        store-plan assistant_stop {"text":"All six parts are done."}
        "##,
    );
}

#[test]
fn claude_code_plans_in_prose_trigger() {
    check(
        "claude-code",
        r#"
        - user_message {"text":"how would you rework the lexer?"}
        - 2*tool_result {"tool":{"name":"Grep","input":{"pattern":"fn lex"},"output":{"numFiles":3}}}
        - assistant_stop {"text":"I'd go about it like this. Steps:\n\n1. a\n2. b\n3. c\n4. d\n5. e\n6. f\n\nShall I?"}
        replan user_message {"text":"yes"}
        - 4*tool_result {"tool":{"name":"Write","input":{"file_path":"/home/dev/app/b.rs","content":"x"},"output":{"type":"create"}}}
        store-plan assistant_stop {"text":"Done."}
        - assistant_stop {"text":"Nothing to store.","meta":{"stop_hook_active":true}}
        "#,
    );
}

#[test]
fn codex_events_fire_the_triggers() {
    check(
        "codex",
        r#"
        - session_start {"meta":{"source":"startup","model":"gpt-6-codex"}}
        - user_message {"text":"why does `tok()` loop?","meta":{"turn_id":"t1","model":"gpt-6-codex"}}
        replan tool_result {"tool":{"name":"update_plan","input":{"plan":"$6step"},"output":"Plan updated"},"meta":{"turn_id":"t1","model":"gpt-6-codex","tool_use_id":"call_a2"}}
        - tool_result {"tool":{"name":"apply_patch","input":{"command":"*** Begin Patch\n*** Update File: src/lexer.rs\n*** End Patch"},"output":"Success"},"meta":{"turn_id":"t1"}}
        - tool_result {"tool":{"name":"mcp__tome__coder_memory_store","input":{"title":"t"},"output":{"content":[{"type":"text","text":"no"}],"isError":true}},"meta":{"turn_id":"t1"}}
        store-plan assistant_stop {"text":"It advances now.","meta":{"turn_id":"t1"}}
        - tool_result {"tool":{"name":"mcp__tome__coder_memory_store","input":{"title":"t"},"output":{"content":[]}},"meta":{"turn_id":"t1"}}
        - assistant_stop {"meta":{"turn_id":"t1","stop_hook_active":true}}
        - user_message {"text":"thanks","meta":{"turn_id":"t2"}}
        - assistant_stop {"text":"You are welcome.","meta":{"turn_id":"t2"}}
        "#,
    );
}

#[test]
fn gemini_events_fire_the_triggers() {
    check(
        "gemini",
        r#"
        - session_start {"meta":{"source":"startup"}}
        - user_message {"text":"add nested comments"}
        - tool_result {"tool":{"name":"write_todos","input":{"todos":"$5description"},"output":"Successfully updated"},"meta":{"display":{"todos":[]}}}
        replan tool_result {"tool":{"name":"write_todos","input":{"todos":"$6description"},"output":"Successfully updated"}}
        - 2*tool_result {"tool":{"name":"replace","input":{"file_path":"/home/dev/app/a.rs","old_string":"a","new_string":"b"},"output":"ok"}}
        store-plan assistant_stop {"text":"Done."}
        - user_message {"text":"<tome-memory kind=\"store\">Tome, the memory of this session: work has come to a stop</tome-memory>"}
        - user_message {"text":"&lt;tome-memory kind=\"store\"&gt;Tome: work&lt;/tome-memory&gt;"}
        - tool_result {"tool":{"name":"mcp_tome_coder_memory_store","input":{"title":"t"},"output":"stored"},"meta":{"mcp_context":{"server_name":"tome"}}}
        - assistant_stop {"text":"Done. Stored.","meta":{"stop_hook_active":true,"cumulative":true}}
        "#,
    );
}

#[test]
fn copilot_events_fire_the_triggers() {
    check(
        "copilot",
        r#"
        - session_start {"meta":{"source":"new"}}
        - user_message {"text":"add nested comments"}
        - tool_result {"tool":{"name":"sql","input":{"description":"add todos","query":"INSERT INTO todos (id,title,description) VALUES ('a','A','do a'),('b','B','do b'),('c','C','do c')"},"output":"3 row(s) inserted."},"meta":{"result_type":"success"}}
        - tool_result {"tool":{"name":"sql","input":{"query":"UPDATE todos SET status = 'in_progress' WHERE id = 'a'"},"output":"1 row(s) updated."},"meta":{"result_type":"success"}}
        replan tool_result {"tool":{"name":"sql","input":{"query":"INSERT INTO todos (id,title) VALUES ('d','D; and (more)'), ('e','E'),\n('f','it''s F')"},"output":"3 row(s) inserted."},"meta":{"result_type":"success"}}
        - tool_result {"tool":{"name":"edit","input":{"path":"/home/dev/app/a.rs"},"output":"old_str not found"},"meta":{"failed":true}}
        store-plan assistant_stop {"text":"Comments nest.","meta":{"stop_reason":"end_turn"}}
        - user_message {"text":"Tome, the memory of this session: the work on a longer plan has come to a stop"}
        - tool_result {"tool":{"name":"tome-coder_memory_store","input":{"title":"t"},"output":"stored"},"meta":{"result_type":"success"}}
        - assistant_stop {"text":"Stored.","meta":{"stop_reason":"end_turn","stop_hook_active":true}}
        - user_message {"text":"wtf, I told you to keep the old tests"}
        - tool_result {"tool":{"name":"bash","input":{"command":"git checkout tests"},"output":"ok"},"meta":{"result_type":"success"}}
        store-mood-failure assistant_stop {"text":"They are back.","meta":{"stop_reason":"end_turn"}}
        "#,
    );
}

#[test]
fn opencode_events_fire_the_triggers() {
    check(
        "opencode",
        r#"
        - session_start {"meta":{"title":"New session"}}
        - user_message {"text":"add nested comments","meta":{"agent":"build","message_id":"msg_1"}}
        - assistant_message {"text":"Let me look.","meta":{"message_id":"msg_2"}}
        - 9*tool_result {"tool":{"name":"read","input":{"filePath":"/home/dev/app/a.rs"},"output":"…"},"meta":{"call_id":"call_1","title":"a.rs"}}
        replan tool_result {"tool":{"name":"todowrite","input":{"todos":"$6content"},"output":"[…]"},"meta":{"call_id":"call_2","title":"6 todos"}}
        - tool_result {"tool":{"name":"edit","input":{"filePath":"/home/dev/app/a.rs"},"output":""},"meta":{"call_id":"call_3"}}
        store-plan assistant_stop {"text":""}
        - user_message {"text":"<tome-memory kind=\"store\">Tome: store</tome-memory>"}
        - tool_result {"tool":{"name":"tome_coder_memory_store","input":{"title":"t"},"output":"stored"},"meta":{"call_id":"call_4"}}
        - assistant_stop {"text":""}
        - user_message {"text":"go on"}
        - assistant_stop {"text":""}
        "#,
    );
}

#[test]
fn every_way_to_write_the_overview_resets_its_reminder() {
    let note = |name: &str| json!({ "name": name, "input": { "scope": "session", "path": "overview.md", "entry": "e" } });
    let file = "/home/dev/.local/share/tome/projects/--home-dev-app--/sessions/s/working-memory/overview.md";
    let writes = [
        note("mcp__tome__memory_write"),
        note("mcp_tome_memory_append"),
        note("tome-memory_patch"),
        json!({ "name": "tome_memory_update", "input": { "scope": "session", "filename": "overview.md" } }),
        json!({ "name": "Edit", "input": { "file_path": file } }),
        json!({ "name": "write_file", "input": { "file_path": file.replace('/', "\\") } }),
        json!({ "name": "apply_patch", "input": { "command": format!("*** Begin Patch\n*** Update File: {file}\n") } }),
        json!({ "name": "Bash", "input": { "command": format!("cat > {file} <<'EOF'\nx\nEOF") } }),
        json!({ "name": "bash", "input": { "command": "tome memory write overview.md --scope session" } }),
    ];
    let others = [
        json!({ "name": "mcp__tome__memory_write", "input": { "path": "overview.md", "content": "c" } }),
        json!({ "name": "mcp__tome__memory_read", "input": { "scope": "session", "path": "overview.md" } }),
        json!({ "name": "Read", "input": { "file_path": file } }),
        json!({ "name": "Bash", "input": { "command": format!("cat {file}") } }),
        json!({ "name": "Edit", "input": { "file_path": "/home/dev/app/docs/overview.md" } }),
    ];
    for (tool, resets) in writes.iter().map(|w| (w, true)).chain(others.iter().map(|o| (o, false)))
    {
        // The call comes in the tenth round; unless it wrote the overview, the next prompt reminds.
        let due = if resets { "-" } else { "overview-10" };
        let call = json!({ "tool": tool });
        let again = r#"{"text":"go on"}"#;
        check(
            "claude-code",
            &format!("- 10*user_message {again}\n- tool_result {call}\n{due} user_message {again}"),
        );
    }
}
