//! `tome export`: sessions and projects as text, and nothing that a browser would run.

use expect_test::expect;
use serde_json::json;
use tome_testkit::World;

use crate::support::{MORNING_MS, line_with, world};

fn filled() -> World {
    let world = world();
    let lines = [
        json!({"id": "e1", "text": "Why does <script>alert(1)</script> fail?"}),
        json!({
            "id": "e2", "kind": "tool_result", "at": MORNING_MS + 1_000, "text": "",
            "tool": {"name": "Bash", "input": {"command": "cargo test"}, "output": {"stdout": "```\n1 failed & more"}},
        }),
        json!({
            "id": "e3", "kind": "assistant_stop", "at": MORNING_MS + 2_000,
            "text": "The lexer drops \"<\". See ACME-123456.",
        }),
    ];
    world.ingest(&lines.iter().map(line_with).collect::<String>());
    world
}

#[test]
fn a_session_is_written_as_markdown() {
    let world = filled();
    let ran = world.tome(&["export", "s1"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let stable: Vec<&str> =
        ran.stdout.lines().filter(|line| !line.starts_with("Exported")).collect();
    expect![[r##"
        # Why does <script>alert(1)</script> fail?


        codex in /app, 2026-11-15 09:30

        ### You, 2026-11-15 09:30

        Why does <script>alert(1)</script> fail?

        **Bash** `cargo test`

        ````
        ```
        1 failed & more
        ````

        ### codex, 2026-11-15 09:30

        The lexer drops "<". See ACME-123456.
    "##]]
    .assert_eq(&stable.join("\n"));
}

#[test]
fn html_has_no_script_and_secrets_are_redacted_again() {
    let world = filled();
    world
        .write("config.toml", "[[capture.redact]]\nname = \"ticket\"\npattern = 'ACME-[0-9]{6}'\n");
    let file = world.path().join("out.html");
    let out = file.to_str().unwrap();
    let ran = world.tome(&["export", "--project", "/app", "--out", out, "--json"]).json();
    assert_eq!((&ran["sessions"], &ran["events"]), (&json!(1), &json!(3)));
    let page = std::fs::read_to_string(&file).unwrap();
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;alert(1)"), "{page}");
    assert!(page.contains("default-src 'none'") && !page.contains("http://"), "{page}");
    assert!(!page.contains("ACME-123456") && page.contains("[redacted:ticket]"), "{page}");
    assert_eq!(world.tome(&["export", "s1", "--out", out]).code, 2, "no file is replaced");
    assert_eq!(world.tome(&["export", "s1", "--out", out, "--force"]).code, 0);
    assert_eq!(world.tome(&["export", "nope"]).code, 4);
    assert_eq!(world.tome(&["export"]).code, 2);
}

#[test]
fn json_lines_can_be_ingested_again() {
    let world = filled();
    let lines = world.tome(&["export", "s1", "--format", "jsonl"]).stdout;
    let other = World::new(world.program());
    other.ingest(&lines);
    let ids = |world: &World| world.events().iter().map(|it| it["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&other), ids(&world));
}

#[test]
fn a_project_is_exported_whole_whatever_the_number_of_its_sessions() {
    let world = world();
    let lines = (0..1_003).map(|n| {
        let at = MORNING_MS + n * 60_000;
        line_with(
            &json!({"id": format!("e{n}"), "session_id": format!("s{n}"), "at": at, "text": "go"}),
        )
    });
    world.ingest(&lines.collect::<String>());
    let file = world.path().join("all.md");
    let out = file.to_str().unwrap();
    let ran = world.tome(&["export", "--project", "/app", "--out", out, "--json"]).json();
    assert_eq!((&ran["sessions"], &ran["events"]), (&json!(1_003), &json!(1_003)));
}
