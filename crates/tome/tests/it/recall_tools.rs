//! `tome tool recall_memory`: the format that agents expect.

use serde_json::{Value, json};
use tome_testkit::{CommandResult, World};

use crate::support::{MORNING_MS, line_with, world};

/// Calls a tool from session `s1` in the project `/app`.
fn call(world: &World, tool: &str, arguments: &Value, more: &[&str]) -> CommandResult {
    let arguments = arguments.to_string();
    let origin = ["--project", "/app", "--session", "s1", "--agent", "codex"];
    world.tome(&[&["tool", tool, &arguments], &origin[..], more].concat())
}

#[expect(clippy::needless_pass_by_value, reason = "json!(…) reads better without a &")]
fn text(world: &World, tool: &str, arguments: Value) -> String {
    let ran = call(world, tool, &arguments, &[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{tool} {arguments}");
    // Quoted text is fenced; the tool's own text is inside.
    tome_engine::strip_fence(&ran.stdout).to_owned()
}

#[expect(clippy::needless_pass_by_value, reason = "json!(…) reads better without a &")]
fn answer(world: &World, tool: &str, arguments: Value) -> Value {
    let ran = call(world, tool, &arguments, &["--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{tool} {arguments}");
    ran.json()
}

/// A session with a detail and messages about the same subject.
fn authentication() -> World {
    let world = world();
    let event = |n: u64, text: &str| {
        let at = MORNING_MS + n * 60_000;
        line_with(&json!({"id": format!("e{n}"), "at": at, "text": text}))
    };
    world.ingest(
        &[
            event(1, "Set up the repository."),
            event(2, "We need authentication: discuss OAuth2 vs JWT."),
            event(3, "Now the changelog."),
        ]
        .concat(),
    );
    let detail = json!({
        "path": "detail/auth-design.md", "scope": "session",
        "content": "# Auth\n\nDecided to use JWT tokens with refresh rotation for authentication.\n",
    });
    let wrote = call(&world, "memory_write", &detail, &[]);
    assert_eq!(wrote.code, 0, "{}", wrote.stderr);
    world
}

#[test]
fn hits_have_the_format_that_agents_expect() {
    let world = authentication();
    let output =
        text(&world, "recall_memory", json!({"query": "authentication", "scope": "detail"}));
    let (_, line) = output.split_once("\n    Citation: detail/auth-design.md#L").unwrap();
    let line: usize = line.lines().next().unwrap().parse().unwrap();
    let head = format!("\n    File: detail/auth-design.md:{line}\n    Content: ");
    let found = "Found 1 result(s) for: \"authentication\"\n\n[1] Source: detail (";
    assert!(output.starts_with(found) && output.contains(&head), "{output}");
    let detail = json!({"path": "detail/auth-design.md", "scope": "session"});
    let detail = text(&world, "memory_read", detail);
    let cited = detail.lines().nth(line - 1).unwrap();
    assert!(cited.ends_with("rotation for authentication."), "{line} of {detail}");
    let output =
        text(&world, "recall_memory", json!({"query": "authentication", "scope": "messages"}));
    let expected = "Found 1 result(s) for: \"authentication\"\n\n[1] #2 (user, ";
    let shown = ", Sun 2026-11-15 09:32Z)\n    We need authentication: discuss OAuth2 vs JWT.";
    assert!(output.starts_with(expected) && output.contains(shown), "{output}");
    let all = answer(&world, "recall_memory", json!({"query": "authentication"}));
    let sources: Vec<&str> =
        all["hits"].as_array().unwrap().iter().map(|hit| hit["source"].as_str().unwrap()).collect();
    assert!(sources.contains(&"detail") && sources.contains(&"messages"), "{all}");
    let none = text(&world, "recall_memory", json!({"query": "quarterly dividends"}));
    assert_eq!(none.lines().next(), Some("No results found for: \"quarterly dividends\""));
}
