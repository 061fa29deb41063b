//! The memory tool that Anthropic's models are trained on: every command with the documented
//! messages, on the same notes as the other tools.

use serde_json::{Value, json};
use tome_testkit::World;

use crate::acceptance::{agent, file, notebook, refused, wire, wire_all};
use crate::support::{daemon_up, world};

fn memory(world: &World, command: &str, fields: &Value) -> String {
    agent(world, "memory", &arguments(command, fields))
}

fn arguments(command: &str, fields: &Value) -> Value {
    let mut arguments = json!({"command": command});
    for (name, value) in fields.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

/// Checks the error of a command on the command line and, verbatim, over gRPC.
fn check_refused(world: &World, command: &str, fields: &Value, code: i32, message: &str) {
    let arguments = arguments(command, fields);
    let complaint = refused(world, "memory", &arguments, code);
    let bare = message.strip_prefix("Error: ").unwrap_or(message);
    assert_eq!(complaint.lines().next().unwrap(), format!("error: {bare}"));
    let answer = wire(world, "memory", &arguments);
    assert!(answer.is_error);
    assert_eq!(answer.text, message);
}

fn create(world: &World, path: &str, text: &str) {
    let output = memory(world, "create", &json!({"path": path, "file_text": text}));
    assert_eq!(output, format!("File created successfully at: {path}\n"));
}

#[test]
fn every_command_of_the_memory_tool_works() {
    let world = world();
    let top = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:";
    let view = |path: &str| memory(&world, "view", &json!({"path": path}));
    assert_eq!(view("/memories"), format!("{top}\n0B\t/memories\n"));
    assert!(!notebook(&world).exists(), "looking makes nothing");

    create(&world, "/memories/progress.md", "# Progress\n\n- read the code\n");
    assert_eq!(file(&world, "progress.md"), "# Progress\n\n- read the code\n");
    assert_eq!(
        view("/memories/progress.md"),
        "Here's the content of /memories/progress.md with line numbers:\n     1\t# Progress\n     2\t\n     3\t- read the code\n"
    );
    let output = memory(
        &world,
        "str_replace",
        &json!({"path": "/memories/progress.md", "old_str": "read the code", "new_str": "read $& the code\n- wrote a test"}),
    );
    assert_eq!(
        output,
        "The memory file has been edited.\n     1\t# Progress\n     2\t\n     3\t- read $& the code\n     4\t- wrote a test\n"
    );
    let insert =
        json!({"path": "/memories/progress.md", "insert_line": 0, "insert_text": "<!-- mine -->"});
    assert_eq!(
        memory(&world, "insert", &insert),
        "The file /memories/progress.md has been edited.\n"
    );
    let insert =
        json!({"path": "/memories/progress.md", "insert_line": 5, "insert_text": "- end\n"});
    memory(&world, "insert", &insert);
    assert_eq!(
        file(&world, "progress.md"),
        "<!-- mine -->\n# Progress\n\n- read $& the code\n- wrote a test\n- end\n"
    );
    let range = json!({"path": "/memories/progress.md", "view_range": [5, -1]});
    assert_eq!(
        memory(&world, "view", &range),
        "Here's the content of /memories/progress.md with line numbers:\n     5\t- wrote a test\n     6\t- end\n"
    );
    let rename = json!({"old_path": "/memories/progress.md", "new_path": "/memories/done/may.md"});
    assert_eq!(
        memory(&world, "rename", &rename),
        "Successfully renamed /memories/progress.md to /memories/done/may.md\n"
    );
    create(&world, "/memories/done/deep/er/x.md", &"x".repeat(5_632));
    let index = file(&world, "MEMORY.md").len();
    let may = file(&world, "done/may.md").len();
    let all = index + may + 5_632;
    assert_eq!(
        view("/memories"),
        format!(
            "{top}\n{:.1}K\t/memories\n{index}B\t/memories/MEMORY.md\n{:.1}K\t/memories/done\n5.5K\t/memories/done/deep\n{may}B\t/memories/done/may.md\n",
            all as f64 / 1024.0,
            (may + 5_632) as f64 / 1024.0
        )
    );
    let rename = json!({"old_path": "/memories/done", "new_path": "/memories/old"});
    assert_eq!(
        memory(&world, "rename", &rename),
        "Successfully renamed /memories/done to /memories/old\n"
    );
    let delete = |path: &str| memory(&world, "delete", &json!({"path": path}));
    assert_eq!(delete("/memories/old/may.md"), "Successfully deleted /memories/old/may.md\n");
    assert_eq!(delete("/memories/old"), "Successfully deleted /memories/old\n");
    assert!(!notebook(&world).join("old").exists());
    assert_eq!(file(&world, "MEMORY.md"), "# Memory\n\n(empty)\n");
    // A person can restore what a model deletes.
    assert_eq!(world.tome(&["memory", "restore", "old/may.md"]).code, 0);
    assert!(file(&world, "old/may.md").contains("- wrote a test"));
}

#[test]
fn errors_have_the_documented_messages() {
    let world = world();
    create(&world, "/memories/a.md", "one\ntwo\none\n");
    create(&world, "/memories/d/b.md", "b\n");
    daemon_up(&world);
    let before = (file(&world, "a.md"), file(&world, "d/b.md"), file(&world, "MEMORY.md"));
    let gone = json!({"path": "/memories/x.md"});
    let please = "The path /memories/x.md does not exist. Please provide a valid path.";
    check_refused(&world, "view", &gone, 4, please);
    let twice = json!({"path": "/memories/a.md", "file_text": "new"});
    check_refused(&world, "create", &twice, 1, "Error: File /memories/a.md already exists");
    let replace = |path: &str, old: &str| json!({"path": path, "old_str": old, "new_str": "n"});
    let x = replace("/memories/x.md", "a");
    check_refused(&world, "str_replace", &x, 4, &format!("Error: {please}"));
    let folder = "Error: The path /memories/d does not exist. Please provide a valid path.";
    check_refused(&world, "str_replace", &replace("/memories/d", "b"), 4, folder);
    check_refused(
        &world,
        "str_replace",
        &replace("/memories/a.md", "three"),
        4,
        "No replacement was performed, old_str `three` did not appear verbatim in /memories/a.md.",
    );
    check_refused(
        &world,
        "str_replace",
        &replace("/memories/a.md", "one"),
        2,
        "No replacement was performed. Multiple occurrences of old_str `one` in lines: 1, 3. Please ensure it is unique",
    );
    create(&world, "/memories/aaa.md", "aaa\n");
    check_refused(
        &world,
        "str_replace",
        &replace("/memories/aaa.md", "aa"),
        2,
        "No replacement was performed. Multiple occurrences of old_str `aa` in lines: 1. Please ensure it is unique",
    );
    memory(&world, "delete", &json!({"path": "/memories/aaa.md"}));
    let insert =
        |path: &str, line: i64| json!({"path": path, "insert_line": line, "insert_text": "t"});
    let no = "Error: The path /memories/x.md does not exist";
    check_refused(&world, "insert", &insert("/memories/x.md", 0), 4, no);
    for line in [-1, 4, i64::MAX] {
        let message = format!(
            "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, 3]"
        );
        check_refused(&world, "insert", &insert("/memories/a.md", line), 2, &message);
    }
    check_refused(&world, "delete", &gone, 4, no);
    let rename = |from: &str, to: &str| json!({"old_path": from, "new_path": to});
    check_refused(&world, "rename", &rename("/memories/x.md", "/memories/y.md"), 4, no);
    check_refused(
        &world,
        "rename",
        &rename("/memories/a.md", "/memories/d/b.md"),
        1,
        "Error: The destination /memories/d/b.md already exists",
    );
    let after = (file(&world, "a.md"), file(&world, "d/b.md"), file(&world, "MEMORY.md"));
    assert_eq!(after, before);
}

#[test]
fn paths_stay_below_memories_and_the_index_is_protected() {
    let world = world();
    create(&world, "/memories/a.md", "one\n");
    let before = (file(&world, "a.md"), file(&world, "MEMORY.md"));
    let mut calls = Vec::new();
    for path in [
        "/memories/../a.md",
        "/memories/d/../../../a.md",
        "/memories/..\\a.md",
        "/memories/%2e%2e%2fa.md",
        "/memories/%2E%2E/a.md",
        "/memoriesandmore/a.md",
        "/etc/passwd",
        "a.md",
        "",
        "/",
        "/memories/\u{0}.md",
        "/memories/.hidden.md",
        "/memories/MEMORY.md",
        "/memories/con.md",
        "/memories/a.txt",
    ] {
        for (command, fields) in [
            ("create", json!({"path": path, "file_text": "x"})),
            ("str_replace", json!({"path": path, "old_str": "one", "new_str": "x"})),
            ("insert", json!({"path": path, "insert_line": 0, "insert_text": "x"})),
            ("delete", json!({"path": path})),
            ("rename", json!({"old_path": path, "new_path": "/memories/n.md"})),
            ("rename", json!({"old_path": "/memories/a.md", "new_path": path})),
        ] {
            calls.push(("memory", arguments(command, &fields)));
        }
    }
    for ((_, arguments), answer) in wire_all(&world, calls) {
        let is_refused = matches!(answer.error_kind.as_str(), "invalid" | "not_found");
        assert!(answer.is_error && is_refused, "{arguments}: {answer:?}");
    }
    for (command, fields) in [
        ("delete", json!({"path": "/memories"})),
        ("rename", json!({"old_path": "/memories", "new_path": "/memories/x"})),
        ("create", json!({"path": "/memories", "file_text": "x"})),
    ] {
        refused(&world, "memory", &arguments(command, &fields), 2);
    }
    assert_eq!((file(&world, "a.md"), file(&world, "MEMORY.md")), before);
    let names: Vec<_> = std::fs::read_dir(notebook(&world)).unwrap().flatten().collect();
    assert_eq!(names.len(), 3, "a.md, MEMORY.md and .history: {names:?}");
}

/// An overlong line and a file with too many lines are reported.
#[test]
fn a_note_too_long_to_show_is_reported() {
    let world = world();
    create(&world, "/memories/wide.md", &"w".repeat(60_000));
    let wide = memory(&world, "view", &json!({"path": "/memories/wide.md"}));
    assert!(wide.chars().count() < 51_000 && wide.contains('…'), "{}", wide.len());
    std::fs::write(notebook(&world).join("tall.md"), "\n".repeat(1_000_000)).unwrap();
    daemon_up(&world);
    let tall = json!({"path": "/memories/tall.md"});
    let message = "File /memories/tall.md exceeds maximum line limit of 999,999 lines.";
    check_refused(&world, "view", &tall, 2, message);
}

#[test]
fn windows_line_endings_are_kept() {
    let world = world();
    create(&world, "/memories/w.md", "one\r\ntwo\r\n");
    let insert = json!({"path": "/memories/w.md", "insert_line": 1, "insert_text": "1a\n1b"});
    memory(&world, "insert", &insert);
    let replace = json!({"path": "/memories/w.md", "old_str": "1b\ntwo", "new_str": "1b\n2"});
    memory(&world, "str_replace", &replace);
    assert_eq!(file(&world, "w.md"), "one\r\n1a\r\n1b\r\n2\r\n");
}
