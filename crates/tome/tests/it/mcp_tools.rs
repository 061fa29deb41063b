//! The tools of `tome mcp`: schemas and annotations, toolsets, and the caller they act for.

use serde_json::{Value, json};
use tome_testkit::World;

use crate::import::now_ms;
use crate::mcp_client::{McpClient, words};
use crate::support::{line_with, world};

/// A tool as part of a prompt.
fn in_prompt(tool: &Value) -> Value {
    json!({
        "name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"],
    })
}

fn listed(client: &mut McpClient) -> Vec<Value> {
    client.result("tools/list", json!({}))["tools"].as_array().unwrap().clone()
}

#[test]
fn every_tool_has_a_schema_and_hints() {
    let world = world();
    let tools = listed(&mut McpClient::open(&world, &["--toolsets", "all"]));
    let offered = world.tome(&["tool", "--json"]).json_lines();
    let names = |tools: &[Value]| -> Vec<String> {
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&tools), names(&offered));
    for (tool, offered) in tools.iter().zip(&offered) {
        assert_eq!(tool["inputSchema"], offered["input_schema"]);
        assert_eq!(tool["inputSchema"]["type"], "object", "{tool}");
        assert!(tool["description"].as_str().unwrap().len() > 20, "{tool}");
        let hints = tool["annotations"].as_object().unwrap();
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(hints[hint].is_boolean(), "{hint} of {tool}");
        }
        assert_eq!(hints["openWorldHint"], false);
    }
    let hints = |name: &str| {
        let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
        let hint = |name| tool["annotations"][name].as_bool().unwrap();
        (hint("readOnlyHint"), hint("destructiveHint"), hint("idempotentHint"))
    };
    for (name, expected) in [
        ("recall_memory", (true, false, true)),
        ("memory_read", (true, false, true)),
        ("expand_grip", (true, false, true)),
        ("coder_memory_recall", (true, false, true)),
        ("memory_append", (false, false, false)),
        ("coder_memory_store", (false, false, false)),
        ("memory_patch", (false, true, false)),
        ("memory_write", (false, true, true)),
        ("memory_delete", (false, true, true)),
        ("memory", (false, true, false)),
    ] {
        assert_eq!(hints(name), expected, "{name}");
    }
}

/// By the project's own estimate, which is slightly higher than real tokenizers: counted once, all
/// tools together were 2,230 tokens (o200k_base), 2,148 (cl100k_base) and 2,310 (Anthropic's
/// published one), in 9.4 KB.
#[test]
fn all_schemas_together_cost_less_than_3000_tokens() {
    let world = world();
    for sets in ["recall,notes,coder,contents", "all"] {
        let tools = listed(&mut McpClient::open(&world, &["--toolsets", sets]));
        let prompt: Vec<Value> = tools.iter().map(in_prompt).collect();
        let text = serde_json::to_string(&prompt).unwrap();
        let tokens = tome_text::estimate_tokens(&text);
        assert!((1_000..3_000).contains(&tokens), "{sets}: {tokens} tokens, {} bytes", text.len());
        assert!(text.len() * 2 / 7 < 3_000, "{sets}: {} bytes at 3.5 a token", text.len());
    }
}

#[test]
fn toolsets_are_selectable() {
    let world = world();
    let usual = McpClient::open(&world, &[]).tools();
    assert!(usual.contains(&"memory_write".to_owned()) && !usual.contains(&"memory".to_owned()));
    let coder = ["coder_memory_recall", "coder_memory_store"];
    assert_eq!(McpClient::open(&world, &["--toolsets", "coder"]).tools(), coder);
    world.write("config.toml", "[mcp]\ntoolsets = [\"coder\", \"read-only\"]\n");
    let mut looking = McpClient::open(&world, &[]);
    assert_eq!(looking.tools(), ["coder_memory_recall"]);
    let store = json!({"name": "coder_memory_store", "arguments": {}});
    let refused = looking.ask("tools/call", store);
    assert_eq!(refused["error"]["code"], -32602, "what is not offered cannot be called: {refused}");
    assert_eq!(
        McpClient::open(&world, &["--toolsets", "coder"]).tools(),
        coder,
        "flags come first"
    );
    world.write("config.toml", "[mcp]\ntoolsets = \"anthropic\"\n");
    let mut own = McpClient::open(&world, &[]);
    assert_eq!(own.tools(), ["memory"]);
    let note = json!({"command": "create", "path": "/memories/a.md", "file_text": "one\n"});
    own.call_text("memory", note);
    let view = own.call_text("memory", json!({"command": "view", "path": "/memories/a.md"}));
    assert!(view.contains("one"), "{view}");

    let ran = world.tome(&["mcp", "--toolsets", "kitchen"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("kitchen") && ran.stderr.contains("contents"), "{}", ran.stderr);
    world.write("config.toml", "[mcp]\ntoolsets = \"kitchen\"\n");
    assert_eq!(world.tome(&["mcp"]).code, 2);
}

#[test]
fn a_failing_tool_explains_why_in_text_and_json() {
    let world = world();
    let mut client = McpClient::open(&world, &["--toolsets", "all"]);
    for (tool, arguments, word) in [
        ("memory_read", json!({"path": "none.md"}), "none.md"),
        ("memory_read", json!({"path": "../../etc/passwd"}), "escapes"),
        ("memory_read", json!({}), "path"),
        ("memory_read", json!({"path": 7}), "path"),
        ("get_node", json!({"node_id": "toc:year:1999"}), "1999"),
        ("recall_memory", json!({"query": ""}), "query"),
    ] {
        let called = client.call(tool, arguments);
        assert_eq!(called["isError"], true, "{tool}: {called}");
        assert!(words(&called).contains(word), "{word} in {called}");
        assert!(called["structuredContent"]["error"].as_str().unwrap().contains(word), "{called}");
    }
}

/// Notes, a lesson and three days of history.
fn filled() -> (World, McpClient) {
    let world = world();
    let cwd = world.folder("elsewhere");
    let days = (11..14).map(|day| {
        line_with(&json!({
            "id": format!("e{day}"), "at": format!("2026-11-{day}T09:30:00Z"), "cwd": cwd,
            "text": format!("we chose rotating tokens for the login on day {day}"),
        }))
    });
    world.ingest(&days.collect::<String>());
    let mut client = McpClient::open(&world, &["--toolsets", "all", "--session", "s1"]);
    client.call_text(
        "memory_write",
        json!({
            "path": "login.md", "content": "Tokens rotate.", "name": "login",
            "description": "how the login works", "type": "project",
        }),
    );
    client.call_text("memory_write", json!({"path": "facts/user.md", "content": "Likes tea."}));
    client.call_text("coder_memory_store", json!({
        "type": "procedural", "title": "Bisect a slow login", "tags": ["#success", "#login"],
        "description": "Halve the login until the slow step is left.",
        "content": "Time each half of the login. Keep the slower half. Halve it again until one step is left.",
    }));
    (world, client)
}

/// Collects every string and number of a value.
fn leaves(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        Value::Object(fields) => fields.values().for_each(|value| leaves(value, found)),
        Value::String(text) => found.push(text.clone()),
        Value::Number(number) if number.as_u64() != Some(0) => found.push(number.to_string()),
        _ => {}
    }
}

/// Some clients show their model only the text, some only the JSON. Quotations therefore come as
/// text only, and results in both forms are equal.
#[test]
fn text_and_json_have_the_same_content() {
    let (_world, mut client) = filled();
    for (tool, arguments) in [
        ("memory_write", json!({"path": "b.md", "content": "two"})),
        ("memory_write", json!({"filename": "c.md", "content": "three"})),
        ("memory_append", json!({"path": "b.md", "entry": "more"})),
        ("memory_patch", json!({"path": "b.md", "old_str": "more", "new_str": "less"})),
        ("memory_update", json!({"filename": "b.md", "old_text": "less", "new_text": "more"})),
        ("memory_delete", json!({"filename": "b.md"})),
        ("memory", json!({"command": "view", "path": "/memories"})),
        ("memory_read", json!({"path": "none.md"})),
    ] {
        let called = client.call(tool, arguments.clone());
        let text = words(&called);
        let mut told = Vec::new();
        leaves(&called["structuredContent"], &mut told);
        assert!(!told.is_empty(), "{tool} {arguments}: {called}");
        for leaf in told {
            let is_shown =
                text.contains(leaf.trim()) || shows_time(&text, &leaf) || leaf == "not_found";
            assert!(is_shown, "{tool} {arguments}: the words lack {leaf:?}\n{text}");
        }
    }
    let read = client.call("memory_read", json!({"path": "login.md"}));
    assert_eq!(read.get("structuredContent"), None, "{read}");
    let text = words(&read);
    let version = text.rsplit("version: ").next().unwrap();
    let newer = json!({"path": "login.md", "content": "x", "if_version": version});
    client.call_text("memory_write", newer.clone());
    assert_eq!(client.call("memory_write", newer)["isError"], true, "it has another by now");
}

/// Text has times to the minute, with or without the T.
fn shows_time(text: &str, leaf: &str) -> bool {
    let minute = leaf.get(..16).unwrap_or_default();
    leaf.ends_with('Z') && (text.contains(minute) || text.contains(&minute.replace('T', " ")))
}

#[test]
fn session_and_project_come_from_the_client() {
    let world = world();
    let app = world.folder("app");
    let mut command = world.command(&["mcp"]);
    command.env("CLAUDE_CODE_SESSION_ID", "c1").env("CLAUDE_PROJECT_DIR", &app);
    let mut claude = McpClient::open_as(&mut command, "claude-code");
    claude.call_text("memory_write", json!({"path": "a.md", "content": "one\n"}));
    claude.call_text(
        "memory_write",
        json!({
            "path": "detail/login.md", "content": "two\n", "scope": "session",
        }),
    );
    let project = ["--project", app.to_str().unwrap()];
    let read = |args: &[&str]| world.tome(&[&["memory"], args, &project].concat());
    assert_eq!(read(&["read", "a.md"]).stdout, "one\n");
    let detail = read(&["read", "detail/login.md", "--session", "c1"]).stdout;
    assert!(detail.ends_with("\n\ntwo\n"), "{detail}");
    let log = read(&["log", "--json"]).stdout;
    assert!(log.contains("claude-code") && log.contains("c1"), "{log}");

    // Started by Claude Code, but not Claude Code.
    let mut codex = McpClient::open_as(&mut command, "codex-mcp-client");
    let session = json!({"scope": "session", "path": "detail/login.md"});
    assert_eq!(codex.call("memory_read", session.clone())["isError"], true);
    let mut flagged = world.command(&["mcp", "--agent", "codex", "--session", "c1", "--project"]);
    let mut flagged = McpClient::open_as(flagged.arg(&app), "some client");
    assert!(flagged.call_text("memory_read", session).contains("\n\ntwo\n"));
}

/// The user's latest prompt is not an answer to the agent's query about it; a person's own search
/// finds everything.
#[test]
fn a_prompt_is_not_an_answer_to_itself() {
    const QUESTION: &str = "why does the frobnicator drop its cache at midnight?";
    let world = world();
    let cwd = world.folder("elsewhere");
    let event = |agent: &str, session: &str, kind: &str, minute: u32, text: &str| {
        let at = now_ms() - u64::from(60 - minute) * 60_000;
        line_with(&json!({"agent": agent, "session_id": session, "cwd": cwd, "kind": kind,
            "text": text, "at": tome_model::Millis(at)}))
    };
    world.ingest(
        &[
            event("codex", "old", "user_message", 1, QUESTION),
            event(
                "codex",
                "old",
                "assistant_stop",
                2,
                "The frobnicator's cache has a nightly drop.",
            ),
            event("codex", "mine", "session_start", 3, ""),
            event("codex", "mine", "user_message", 4, "the frobnicator is slow, look at its cache"),
            event("codex", "mine", "assistant_stop", 5, "It is dropped at midnight."),
            event("codex", "mine", "user_message", 6, &format!("{QUESTION} Find out.")),
            event("gemini", "other", "user_message", 7, "draw a frobnicator"),
        ]
        .concat(),
    );
    let question = json!({"query": "frobnicator drops its cache at midnight", "limit": 20});
    let recall = |flags: &[&str], client: &str| {
        let mut client =
            McpClient::open_as(&mut world.command(&[&["mcp"], flags].concat()), client);
        client.call_text("recall_memory", question.clone())
    };
    for (flags, client) in [
        // The session is given, or inferred from the agent's latest event.
        (&["--session", "mine"][..], "codex-mcp-client"),
        (&[][..], "codex-mcp-client"),
        (&["--agent", "codex"][..], "some client"),
    ] {
        let text = recall(flags, client);
        assert!(text.contains(QUESTION) && text.contains("nightly drop"), "{flags:?} {text}");
        assert!(text.contains("look at its cache"), "what was said before stays: {text}");
        assert!(!text.contains("Find out"), "{flags:?} {client} {text}");
    }
    // Another session may find it.
    let text = recall(&["--session", "other"], "gemini-cli-mcp-client");
    assert!(text.contains("Find out"), "{text}");
    let person =
        world.tome(&["recall", "--limit", "20", "frobnicator drops its cache at midnight"]);
    assert!(person.stdout.contains("Find out"), "{}", person.stdout);
    let tool = World::run(
        world.command(&["tool", "recall_memory", "-"]).current_dir(&cwd),
        question.to_string().as_bytes(),
    );
    assert!(tool.stdout.contains("Find out"), "{}", tool.stdout);
}

/// Most agents do not pass their session to servers, but their hooks do.
#[test]
fn the_session_defaults_to_the_agents_latest() {
    let world = world();
    let cwd = world.folder("elsewhere");
    let event = |agent: &str, session: &str, minute: u32| {
        line_with(&json!({
            "agent": agent, "session_id": session, "cwd": cwd, "text": "go on",
            "at": format!("2026-11-15T09:{minute:02}:00Z"),
        }))
    };
    world.ingest(
        &[event("codex", "older", 10), event("codex", "mine", 20), event("gemini", "other", 30)]
            .concat(),
    );
    let mut codex = McpClient::open_as(&mut world.command(&["mcp"]), "codex-mcp-client");
    codex.call_text(
        "memory_write",
        json!({
            "path": "detail/a.md", "content": "one\n", "scope": "session",
        }),
    );
    let read = world.tome(&["memory", "read", "detail/a.md", "--session", "mine"]);
    assert!(read.stdout.ends_with("\n\none\n"), "{}{}", read.stdout, read.stderr);
}
