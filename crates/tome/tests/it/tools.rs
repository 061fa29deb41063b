//! `tome tool` and `tome coder`: the tools as an agent calls them, on the command line and over
//! gRPC.

use serde_json::{Value, json};
use tome_proto::{ClientError, v1};
use tome_testkit::{CommandResult, World};

use crate::support::{daemon_up, world};

fn call(world: &World, args: &[&str]) -> CommandResult {
    world.tome(&[&["tool"], args].concat())
}

/// Calls a tool that must succeed silently.
fn call_text(world: &World, tool: &str, arguments: &Value) -> String {
    let ran = call(world, &[tool, &arguments.to_string()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{tool} {arguments}");
    ran.stdout
}

#[test]
fn every_tool_has_a_schema() {
    let world = world();
    let tools = call(&world, &["--json"]).json_lines();
    for tool in &tools {
        let schema = &tool["input_schema"];
        assert_eq!(schema["type"], "object", "{tool}");
        assert!(!tool["description"].as_str().unwrap().is_empty(), "{tool}");
        let known = schema["properties"].as_object();
        for name in schema["required"].as_array().into_iter().flatten() {
            assert!(known.unwrap().contains_key(name.as_str().unwrap()), "{name} in {schema}");
        }
    }
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    for name in [
        "memory_list",
        "memory_view",
        "memory_read",
        "memory_write",
        "memory_append",
        "memory_patch",
        "memory_update",
        "memory_delete",
        "coder_memory_recall",
        "coder_memory_store",
        "recall_memory",
        "teleport_query",
        "memory",
    ] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let table = call(&world, &[]).stdout;
    assert!(names.iter().all(|name| table.contains(name)), "{table}");
    let coders = call(&world, &["--toolset", "coder", "--json"]).json_lines();
    assert!(coders.iter().all(|tool| tool["toolset"] == "coder"), "{coders:?}");
    let none = call(&world, &["--toolset", "kitchen"]);
    assert_eq!(none.code, 4);
    assert!(none.stderr.contains("notes"), "{}", none.stderr);
}

#[test]
fn arguments_are_typed_or_piped() {
    let world = world();
    let note = json!({"path": "a.md", "content": "one\n"});
    call_text(&world, "memory_write", &note);
    assert_eq!(call_text(&world, "memory_read", &json!({"path": "a.md"})), "one\n");
    for args in [&["tool", "memory_read", "-"][..], &["tool", "memory_read"]] {
        let ran = world.tome_with(args, r#"{"filename": "a.md"}"#);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "one\n"), "{args:?}");
    }
    assert_eq!(call(&world, &["memory_list"]).code, 0, "nothing piped is {{}}");
    let listed = call(&world, &["memory_list", "{}", "--json"]).json();
    assert!(listed.to_string().contains("a.md"), "{listed}");
}

#[test]
fn a_failing_tool_has_a_message_and_an_exit_code() {
    let world = world();
    call_text(&world, "memory_write", &json!({"path": "a.md", "content": "x"}));
    for (args, code, word) in [
        (["memory_read", r#"{"path": "none.md"}"#], 4, "none.md"),
        (["memory_read", r#"{"path": "../a.md"}"#], 2, "escapes"),
        (["memory_read", "{}"], 2, "path"),
        (["memory_read", r#"{"path": "a.md", "colour": 1}"#], 2, "colour"),
        (["memory_read", r#"{"path": 7}"#], 2, "path"),
        (["memory_read", "[]"], 2, "object"),
        (["memory_read", "{"], 2, "JSON"),
        (["memory_write", r#"{"path": "a.md", "content": "y", "if_version": "0"}"#], 1, "a.md"),
    ] {
        let ran = call(&world, &args);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(word), "{word} in {}", ran.stderr);
        assert!(!ran.stderr.contains("Error:"), "{}", ran.stderr);
        let ran = call(&world, &[args[0], args[1], "--json"]);
        assert_eq!(ran.code, code);
        assert!(ran.json()["error"].is_string(), "{}", ran.stdout);
    }
    let ran = call(&world, &["memory_dream", "{}"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (4, ""));
    for part in ["memory_dream", "memory_read", "coder_memory_store", "tome tool"] {
        assert!(ran.stderr.contains(part), "{part} in {}", ran.stderr);
    }
}

#[test]
fn tools_work_over_grpc() {
    let world = world();
    world.tome(&["start"]);
    daemon_up(&world);
    let cwd = world.folder("elsewhere").to_str().unwrap().to_owned();
    let request = move |name: &str, arguments: &str| v1::CallToolRequest {
        name: name.to_owned(),
        arguments_json: arguments.to_owned(),
        cwd: cwd.clone(),
        session_id: "s1".into(),
        agent: "codex".into(),
        command: String::new(),
    };
    world.with_client(async |client| {
        let listed = client.list_tools("").await.unwrap();
        assert!(listed.iter().any(|tool| tool.name == "memory_write"));
        let note = r#"{"path": "a.md", "content": "one\n"}"#;
        let answer = client.call_tool(request("memory_write", note)).await.unwrap();
        assert!(!answer.is_error, "{answer:?}");
        let _: Value = serde_json::from_str(&answer.result_json).unwrap();
        let answer = client.call_tool(request("memory_list", "")).await.unwrap();
        assert!(!answer.is_error, "no arguments are {{}}: {answer:?}");
        let answer = client.call_tool(request("memory_read", "{}")).await.unwrap();
        assert_eq!((answer.is_error, answer.error_kind.as_str()), (true, "invalid"));
        let unknown = client.call_tool(request("memory_dream", "{}")).await;
        assert!(matches!(unknown, Err(ClientError::NotFound(_))), "{unknown:?}");
        let whose = v1::Whose { scope: "moon".into(), ..v1::Whose::default() };
        let odd = client.list_notes(whose).await;
        assert!(matches!(odd, Err(ClientError::Invalid(_))), "{odd:?}");
        let homeless = client.list_notes(v1::Whose::default()).await;
        assert!(matches!(homeless, Err(ClientError::Invalid(_))), "{homeless:?}");
    });
}

#[test]
fn the_memory_tool_of_anthropic_works() {
    let world = world();
    let make = json!({"command": "create", "path": "/memories/a.md", "file_text": "one\n"});
    call_text(&world, "memory", &make);
    let view = call_text(&world, "memory", &json!({"command": "view", "path": "/memories/a.md"}));
    assert!(view.contains("one"), "{view}");
    assert_eq!(call_text(&world, "memory_read", &json!({"path": "a.md"})), "one\n");
}

const LESSON: [&str; 14] = [
    "coder",
    "store",
    "--type",
    "procedural",
    "--title",
    "Bisect a slow test suite",
    "--description",
    "Halve the suite until one slow test is left.",
    "--content",
    "Run half of the tests and take the time. Keep the slower half and halve it again. Five rounds found the one test that slept in a suite of forty.",
    "--tag",
    "testing",
    "--tag",
    "success",
];

#[test]
fn lessons_are_stored_and_recalled() {
    let world = world();
    let nothing = world.tome(&["coder", "recall", "how", "do", "I", "find", "a", "slow", "test"]);
    assert_eq!((nothing.code, nothing.stderr.as_str()), (0, ""));
    assert!(nothing.stdout.starts_with("no lesson matches "), "{}", nothing.stdout);
    let stored = world.tome(&LESSON);
    assert_eq!((stored.code, stored.stderr.as_str()), (0, ""), "{}", stored.stdout);
    let found = world.tome(&["coder", "recall", "how do I find a slow test?"]);
    assert_eq!((found.code, found.stderr.as_str()), (0, ""));
    assert!(found.stdout.contains("Bisect a slow test suite"), "{}", found.stdout);
    assert_ne!(found.stdout, nothing.stdout);
    let words =
        ["--keyword", "slow", "--keyword", "test", "--keyword", "suite", "--type", "procedural"];
    let found = world.tome(&[&["coder", "recall"], &words[..]].concat());
    assert!(found.stdout.contains("Bisect a slow test suite"), "{}", found.stdout);

    let listed = world.tome(&["coder", "list", "--json"]).json_lines();
    let is_lesson = |note: &&Value| note["kind"] == "insight";
    assert!(listed.iter().filter(is_lesson).count() >= 1, "{listed:?}");
    let read = world.tome(&["coder", "read", "procedural/procedural.md"]);
    assert!(read.stdout.contains("Bisect a slow test suite"), "{}", read.stdout);
    for guide in ["store", "recall"] {
        let ran = world.tome(&["coder", "guide", guide]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.lines().count() > 10, "{}", ran.stdout);
    }
    let lint = world.tome(&["coder", "lint"]);
    assert_eq!((lint.code, lint.stderr.as_str()), (0, ""), "{}", lint.stdout);
    let tidy = world.tome(&["coder", "tidy"]);
    assert_eq!((tidy.code, tidy.stderr.as_str()), (0, ""), "{}", tidy.stdout);
    let found = world.tome(&["coder", "recall", "how do I find a slow test?"]);
    assert!(found.stdout.contains("Bisect a slow test suite"), "{}", found.stdout);
}

#[test]
fn the_guides_can_be_read_before_there_is_a_lesson() {
    let world = world();
    for (guide, title) in
        [("store", "# Storing what was learned"), ("recall", "# Recalling what was learned")]
    {
        let ran = world.tome(&["coder", "guide", guide]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.starts_with(title), "{}", ran.stdout);
    }
    assert!(!world.home().join("coder").exists(), "reading makes nothing");
}

#[test]
fn lessons_are_printed_as_json() {
    let world = world();
    let lesson = json!({
        "type": "semantic", "title": "Caches hide slow queries", "tags": ["#failure", "#caching"],
        "description": "A warm cache hides what a cold start costs.",
        "content": "The page was quick for us and slow for everybody else. Our cache was warm. Measure with an empty cache before saying that it is quick.",
    });
    let file = world.write("insights.json", &json!([lesson]).to_string());
    let ran = world.tome(&["coder", "store", "--file", file.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let ran = world.tome_with(&["coder", "store", "--json"], lesson.to_string());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "the same again is merged");
    assert!(ran.stdout.contains("MERGE"), "{}", ran.stdout);
    let found = world.tome(&["coder", "recall", "why is the page slow with a cold cache?"]);
    assert!(found.stdout.contains("Caches hide slow queries"), "{}", found.stdout);
}

#[test]
fn a_lesson_that_violates_the_guide_is_rejected() {
    let world = world();
    let ran = world.tome(&["coder", "store", "--type", "semantic", "--title", "Too short"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    let mut untagged = LESSON;
    untagged[13] = "tests";
    let ran = world.tome(&untagged);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("success"), "{}", ran.stderr);
    for input in ["not json", "{"] {
        let ran = world.tome_with(&["coder", "store"], input);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains("tome coder store --help"), "{}", ran.stderr);
    }
    assert_eq!(world.tome(&["coder", "recall"]).code, 2);
}

/// One line per finding, and exit code 1.
#[test]
fn lint_reports_file_and_line() {
    let world = world();
    assert_eq!(world.tome(&LESSON).code, 0);
    let half = "**Title:** Half an insight\n\n**Content:** One sentence.\n\n**Tags:** #x\n";
    world.write("home/coder/semantic/loose.md", half);
    let ran = world.tome(&["coder", "lint"]);
    assert_eq!(ran.code, 1, "{}", ran.stdout);
    let line = ran.stdout.lines().find(|line| line.starts_with("semantic/loose.md:")).unwrap();
    assert!(line.split(':').nth(1).unwrap().parse::<u32>().is_ok(), "{line}");
    let found = world.tome(&["coder", "lint", "--json"]);
    assert_eq!((found.code, found.stderr.as_str()), (1, ""));
    assert!(!found.json_lines().is_empty());
}
