//! Token cost per request: the schemas of the default tools, and the rules, stated once.

use serde_json::{Value, json};

use crate::injections::{context, hook};
use crate::mcp_client::McpClient;
use crate::support::world;

/// Limit for the schemas of the default tools by the project's own estimate, which is slightly
/// higher than real tokenizers.
const TOKENS_MAX: u64 = 1_200;

#[test]
fn the_default_tools_cost_at_most_1200_tokens() {
    let world = world();
    let tools = McpClient::open(&world, &[]).result("tools/list", json!({}))["tools"].clone();
    let tools = tools.as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "recall_memory",
            "memory_show",
            "memory_read",
            "memory_write",
            "memory_append",
            "memory_patch"
        ]
    );
    let in_prompt = |tool: &Value| json!({"name": tool["name"], "description": tool["description"], "input_schema": tool["inputSchema"]});
    let prompt = Value::Array(tools.iter().map(in_prompt).collect()).to_string();
    let tokens = tome_text::estimate_tokens(&prompt);
    println!("default tools: {tokens} tokens, {} bytes", prompt.len());
    assert!(tokens <= TOKENS_MAX, "{tokens} tokens, {} bytes", prompt.len());
    // Clients that load tools on demand show exactly these from the start.
    let all =
        McpClient::open(&world, &["--toolsets", "all"]).result("tools/list", json!({}))["tools"]
            .clone();
    for tool in all.as_array().unwrap() {
        let always = tool["_meta"]["anthropic/alwaysLoad"] == true;
        assert_eq!(always, names.contains(&tool["name"].as_str().unwrap()), "{tool}");
    }
}

#[test]
fn the_rules_are_stated_once_per_client() {
    let world = world();
    let app = world.folder("app");
    let rule = "Before you start a task, check what is known";
    let instructions = |args: &[&str]| {
        let mut client = McpClient::start(&mut world.command(&[&["mcp"], args].concat()));
        client.initialize("2025-11-25", "test-client")["result"]["instructions"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    // Agents set up with hooks get them from there.
    let start = json!({"session_id": "s1", "cwd": app, "hook_event_name": "SessionStart", "source": "startup"});
    let response = hook(&world, &["claude-code"], &start).unwrap();
    assert_eq!(context(&response).matches(rule).count(), 1, "{response}");
    for agent in ["claude-code", "codex", "gemini", "copilot", "opencode"] {
        assert!(!instructions(&["--agent", agent]).contains(rule), "{agent}");
    }
    // A client without hooks, or with start injections disabled, gets them from the server.
    assert_eq!(instructions(&[]).matches(rule).count(), 1);
    world.write("config.toml", "[inject]\nstart = false\n");
    assert_eq!(instructions(&["--agent", "codex"]).matches(rule).count(), 1);
    for text in ["skill.md", "navigator.md"] {
        let path = format!("src/setup/texts/{text}");
        assert!(!std::fs::read_to_string(path).unwrap().contains("Before you start"), "{text}");
    }
}
