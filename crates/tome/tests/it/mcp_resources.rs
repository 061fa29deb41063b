//! Resources and prompts of `tome mcp`.

use serde_json::{Value, json};

use crate::mcp_client::McpClient;
use crate::support::{line_with, world};

fn text(client: &mut McpClient, uri: &str) -> String {
    let read = client.result("resources/read", json!({"uri": uri}));
    let content = &read["contents"][0];
    assert_eq!((&content["uri"], &content["mimeType"]), (&json!(uri), &json!("text/markdown")));
    content["text"].as_str().unwrap().to_owned()
}

fn uris(listed: &Value) -> Vec<&str> {
    let resources = listed["resources"].as_array().unwrap();
    resources.iter().map(|resource| resource["uri"].as_str().unwrap()).collect()
}

#[test]
fn every_listed_resource_can_be_read() {
    let world = world();
    world.ingest(&line_with(&json!({
        "cwd": world.folder("elsewhere"), "at": "2026-11-14T09:30:00Z", "text": "Rotate the tokens of the staging gateway",
    })));
    let mut client = McpClient::open(&world, &["--session", "s1"]);
    client.call_text("memory_write", json!({"path": "facts/user.md", "content": "Likes tea.\n"}));
    client.call_text(
        "memory_write",
        json!({"path": "notes/tea & milk.md", "content": "Milk first.\n"}),
    );
    let listed = client.result("resources/list", json!({}));
    let uris = uris(&listed);
    for uri in [
        "tome://overview",
        "tome://index",
        "tome://note/facts/user.md",
        "tome://note/notes/tea%20%26%20milk.md",
        "tome://node/toc:day:2026-11-14",
    ] {
        assert!(uris.contains(&uri), "{uri} in {uris:?}");
    }
    for uri in &uris {
        assert!(!text(&mut client, uri).is_empty(), "{uri}");
    }
    assert!(text(&mut client, "tome://index").contains("facts/user.md"));
    assert!(text(&mut client, "tome://note/notes/tea%20%26%20milk.md").contains("\nMilk first.\n"));
    let day = text(&mut client, "tome://node/toc:day:2026-11-14");
    assert!(day.contains("Rotate the tokens of the staging gateway [#1]"), "{day}");
    let overview = text(&mut client, "tome://overview");
    assert!(overview.contains("toc:day:2026-11-14"), "{overview}");
    client.call_text(
        "memory_write",
        json!({
            "path": "overview.md", "content": "# Goal\n\nRotate.\n", "scope": "session",
        }),
    );
    assert!(text(&mut client, "tome://overview").contains("Rotate."));
    assert!(text(&mut client, "tome://note/overview.md?scope=session").contains("Rotate."));
    let guide = text(&mut client, "tome://note/memory-store-guide.md?scope=coder");
    assert!(guide.contains("\n# Storing"), "{guide}");
}

#[test]
fn a_missing_resource_is_reported() {
    let world = world();
    let mut client = McpClient::open(&world, &[]);
    for (uri, code) in [
        ("tome://note/none.md", -32002),
        ("tome://node/toc:year:1999", -32002),
        ("tome://cellar", -32002),
        ("file:///etc/passwd", -32002),
        ("tome://note/../../secret.md", -32602),
        ("tome://note/%2e%2e/%2e%2e/secret.md", -32602),
    ] {
        let answer = client.ask("resources/read", json!({"uri": uri}));
        assert_eq!(answer["error"]["code"], code, "{uri}: {answer}");
    }
    let empty = text(&mut client, "tome://overview");
    assert!(empty.contains("Nothing has been recorded"), "{empty}");
}

#[test]
fn long_lists_are_paginated() {
    let world = world();
    let mut client = McpClient::open(&world, &[]);
    let folder = world.folder("elsewhere").join(".memory");
    std::fs::create_dir_all(&folder).unwrap();
    for n in 0..230 {
        std::fs::write(folder.join(format!("n{n:03}.md")), format!("note {n}\n")).unwrap();
    }
    let mut all: Vec<String> = Vec::new();
    let mut params = json!({});
    loop {
        let listed = client.result("resources/list", params);
        let page = uris(&listed);
        assert!(page.len() <= 100, "{}", page.len());
        all.extend(page.into_iter().map(str::to_owned));
        let Some(cursor) = listed["nextCursor"].as_str() else { break };
        params = json!({"cursor": cursor});
    }
    assert_eq!(all.len(), 232, "two, and a note each");
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 232, "each once");
}

#[test]
fn the_prompts_are_the_owners_guides() {
    let world = world();
    let mut client = McpClient::open(&world, &[]);
    let listed = client.result("prompts/list", json!({}));
    let names: Vec<&str> = listed["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| prompt["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["memory-recall", "memory-store"]);
    let mut prompt = |name: &str, arguments: Value| {
        let got = client.result("prompts/get", json!({"name": name, "arguments": arguments}));
        assert_eq!(got["messages"][0]["role"], "user");
        got["messages"][0]["content"]["text"].as_str().unwrap().to_owned()
    };
    for (name, guide) in [("memory-recall", "recall"), ("memory-store", "store")] {
        let guide = world.tome(&["coder", "guide", guide]).stdout;
        assert_eq!(prompt(name, json!({})), guide);
    }
    let with_task = prompt("memory-recall", json!({"task": "mend the login"}));
    assert!(with_task.ends_with("The task: mend the login"), "{with_task}");
    assert!(!world.home().join("coder").exists(), "reading makes nothing");
    world.write("home/coder/memory-store-guide.md", "# Storing\n\nMy own rules.\n");
    assert_eq!(prompt("memory-store", json!({})), "# Storing\n\nMy own rules.\n");
}
