//! The memory tool of Anthropic's models, as a transcript.

use std::fmt::Write;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tome_engine::Failure;

use super::scene::{Scene, scene};

fn check(calls: &[Value], expected: &Expect) {
    let scene = scene();
    let mut transcript = String::new();
    for call in calls {
        let answer = scene.answer("memory", call);
        let failed = if answer.failure.is_some() { " (failure)" } else { "" };
        let _ = writeln!(transcript, "> {call}{failed}\n{}", answer.text);
    }
    expected.assert_eq(&transcript);
}

#[test]
fn a_transcript() {
    check(
        &[
            json!({"command": "view", "path": "/memories"}),
            json!({"command": "create", "path": "/memories/auth/plan.md", "file_text": "# Plan\n\n- JWT\n- refresh\n- JWT again\n- tests\n- docs\n"}),
            json!({"command": "create", "path": "/memories/auth/plan.md", "file_text": "x"}),
            json!({"command": "view", "path": "/memories/auth/plan.md"}),
            json!({"command": "view", "path": "/memories/auth/plan.md", "view_range": [3, 4]}),
            json!({"command": "view", "path": "/memories/auth/plan.md", "view_range": [6, -1]}),
            json!({"command": "view", "path": "/memories/auth/plan.md", "view_range": [9, 9]}),
            json!({"command": "str_replace", "path": "/memories/auth/plan.md", "old_str": "refresh", "new_str": "rotate"}),
            json!({"command": "str_replace", "path": "/memories/auth/plan.md", "old_str": "JWT", "new_str": "x"}),
            json!({"command": "str_replace", "path": "/memories/auth/plan.md", "old_str": "OAuth", "new_str": "x"}),
            json!({"command": "str_replace", "path": "/memories/auth", "old_str": "OAuth", "new_str": "x"}),
            json!({"command": "str_replace", "path": "/memories/none.md", "old_str": "a", "new_str": "x"}),
            json!({"command": "insert", "path": "/memories/auth/plan.md", "insert_line": 0, "insert_text": "Begun in March."}),
            json!({"command": "insert", "path": "/memories/auth/plan.md", "insert_line": 8, "insert_text": "- release"}),
            json!({"command": "insert", "path": "/memories/auth/plan.md", "insert_line": 99, "insert_text": "x"}),
            json!({"command": "insert", "path": "/memories/none.md", "insert_line": 0, "insert_text": "x"}),
            json!({"command": "view", "path": "/memories/auth/plan.md"}),
            json!({"command": "create", "path": "/memories/todo.md", "file_text": "- nothing\n"}),
            json!({"command": "rename", "old_path": "/memories/todo.md", "new_path": "/memories/auth/plan.md"}),
            json!({"command": "rename", "old_path": "/memories/none.md", "new_path": "/memories/b.md"}),
            json!({"command": "rename", "old_path": "/memories/auth", "new_path": "/memories/work/auth"}),
            json!({"command": "view", "path": "/memories"}),
            json!({"command": "view", "path": "/memories/work/"}),
            json!({"command": "delete", "path": "/memories/none.md"}),
            json!({"command": "delete", "path": "/memories/none"}),
            json!({"command": "delete", "path": "/memories/work"}),
            json!({"command": "delete", "path": "/memories/todo.md"}),
            json!({"command": "view", "path": "/memories/work"}),
            json!({"command": "view", "path": "/memories"}),
        ],
        &expect![[r#""#]],
    );
}

#[test]
fn paths_that_are_refused() {
    check(
        &[
            json!({"command": "view", "path": "/etc/passwd"}),
            json!({"command": "view", "path": "/memories2/a.md"}),
            json!({"command": "view", "path": "memories/a.md"}),
            json!({"command": "view", "path": "/memories/../a.md"}),
            json!({"command": "view", "path": "/memories/%2e%2e%2fa.md"}),
            json!({"command": "view", "path": "/memories/..\\a.md"}),
            json!({"command": "create", "path": "/memories/a.txt", "file_text": "x"}),
            json!({"command": "create", "path": "/memories", "file_text": "x"}),
            json!({"command": "create", "path": "/memories/.hidden.md", "file_text": "x"}),
            json!({"command": "delete", "path": "/memories"}),
            json!({"command": "delete", "path": "/memories/"}),
            json!({"command": "rename", "old_path": "/memories", "new_path": "/memories/x"}),
            json!({"command": "forget", "path": "/memories"}),
        ],
        &expect![[r#""#]],
    );
}

#[test]
fn the_index_is_seen_and_stays() {
    let scene = scene();
    scene.says("memory_write", json!({"path": "a.md", "content": "one"}));
    let index = scene.says("memory_view", json!({}));
    let seen = scene.says("memory", json!({"command": "view", "path": "/memories/MEMORY.md"}));
    let numbered = |(number, line): (usize, &str)| format!("{:>6}\t{line}", number + 1);
    let lines: Vec<String> = index.lines().enumerate().map(numbered).collect();
    assert_eq!(
        seen,
        format!(
            "Here's the content of /memories/MEMORY.md with line numbers:\n{}",
            lines.join("\n")
        )
    );
    let path = "/memories/MEMORY.md";
    for arguments in [
        json!({"command": "create", "path": path, "file_text": "x"}),
        json!({"command": "str_replace", "path": path, "old_str": "Memory", "new_str": "x"}),
        json!({"command": "insert", "path": path, "insert_line": 0, "insert_text": "x"}),
        json!({"command": "delete", "path": path}),
        json!({"command": "rename", "old_path": path, "new_path": "/memories/b.md"}),
        json!({"command": "rename", "old_path": "/memories/a.md", "new_path": path}),
    ] {
        let before = super::scene::files_in(&scene.top());
        let answer = scene.answer("memory", &arguments);
        assert!(answer.failure.is_some(), "{arguments}: {}", answer.text);
        assert!(super::scene::files_in(&scene.top()) == before, "{arguments}");
    }
}

#[test]
fn the_rules_for_facts_hold() {
    let scene = scene();
    scene.says("memory_write", json!({"path": "facts/user.md", "content": "x"}));
    let create = json!({"command": "create", "path": "/memories/facts/b.md", "file_text": "x".repeat(15_400)});
    let said = scene.refuses("memory", create, Failure::Invalid);
    assert!(said.contains("15KB limit"), "{said}");
    let replace = json!({"command": "str_replace", "path": "/memories/facts/user.md", "old_str": "x",
        "new_str": "y".repeat(15_400)});
    assert!(scene.refuses("memory", replace, Failure::Invalid).contains("15KB limit"));
}

#[test]
fn a_long_note_is_shown_in_part() {
    let scene = scene();
    let text = "a line of some length, again and again\n".repeat(2_000);
    create(&scene, "/memories/long.md", &text);
    let seen = scene.says("memory", json!({"command": "view", "path": "/memories/long.md"}));
    assert!(seen.chars().count() < 50_200);
    let last = seen.lines().last().unwrap();
    assert!(last.ends_with("of 2000 are shown: use view_range for others)"), "{last}");
    let range = json!({"command": "view", "path": "/memories/long.md", "view_range": [1999, 5000]});
    assert_eq!(scene.says("memory", range).lines().count(), 3);
    create(&scene, "/memories/wide.md", &"ä".repeat(60_000));
    let seen = scene.says("memory", json!({"command": "view", "path": "/memories/wide.md"}));
    assert!(seen.ends_with('…') && seen.chars().count() < 50_200);
}

fn create(scene: &Scene, path: &str, text: &str) {
    scene.says("memory", json!({"command": "create", "path": path, "file_text": text}));
}
