//! The memory tool of Anthropic's models, as transcripts.

use std::fmt::Write;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tome_engine::ToolFailure;
use tome_notebook::{Actor, Author};

use super::fixture::{ToolsFixture, files_in, tools_fixture};

fn check(calls: &[Value], expected: &Expect) {
    let fixture = tools_fixture();
    let mut transcript = String::new();
    for call in calls {
        let answer = fixture.answer("memory", call);
        let failed = if answer.failure.is_some() { " (failure)" } else { "" };
        let _ = writeln!(transcript, "> {call}{failed}\n{}", stable(&answer.text));
    }
    expected.assert_eq(&transcript);
}

/// A listing without the size of the index, which this tool does not decide.
fn stable(text: &str) -> String {
    let line = |line: &str| match line.split_once('\t') {
        Some((_, path @ ("/memories" | "/memories/MEMORY.md"))) => format!("SIZE\t{path}"),
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn sizes_are_rounded_to_one_decimal() {
    let fixture = tools_fixture();
    create(&fixture, "/memories/a/b/small.md", &"x".repeat(1_023));
    create(&fixture, "/memories/a/b/large.md", &"x".repeat(5_632));
    let seen = fixture.call_text("memory", json!({"command": "view", "path": "/memories/a/b"}));
    let lines: Vec<&str> = seen.lines().skip(1).collect();
    assert_eq!(
        lines,
        ["6.5K\t/memories/a/b", "5.5K\t/memories/a/b/large.md", "1023B\t/memories/a/b/small.md"]
    );
}

#[test]
fn crlf_line_endings_are_kept() {
    let fixture = tools_fixture();
    create(&fixture, "/memories/a.md", "one\r\ntwo\r\nthree");
    let path = "/memories/a.md";
    let replace =
        json!({"command": "str_replace", "path": path, "old_str": "one\ntwo", "new_str": "1\n2"});
    fixture.call_text("memory", replace);
    let insert =
        json!({"command": "insert", "path": path, "insert_line": 3, "insert_text": "four"});
    fixture.call_text("memory", insert);
    assert_eq!(fixture.note_text("a.md"), "1\r\n2\r\nthree\r\nfour\r\n");
}

#[test]
fn all_commands_answer_with_the_documented_wording() {
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
            json!({"command": "rename", "old_path": "/memories/auth", "new_path": "/memories/team/auth"}),
            json!({"command": "view", "path": "/memories"}),
            json!({"command": "view", "path": "/memories/team/"}),
            json!({"command": "delete", "path": "/memories/none.md"}),
            json!({"command": "delete", "path": "/memories/none"}),
            json!({"command": "delete", "path": "/memories/team"}),
            json!({"command": "delete", "path": "/memories/todo.md"}),
            json!({"command": "view", "path": "/memories/team"}),
            json!({"command": "view", "path": "/memories"}),
        ],
        &expect![[r##"
            > {"command":"view","path":"/memories"}
            Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:
            SIZE	/memories
            > {"command":"create","path":"/memories/auth/plan.md","file_text":"# Plan\n\n- JWT\n- refresh\n- JWT again\n- tests\n- docs\n"}
            File created successfully at: /memories/auth/plan.md
            > {"command":"create","path":"/memories/auth/plan.md","file_text":"x"} (failure)
            Error: File /memories/auth/plan.md already exists
            > {"command":"view","path":"/memories/auth/plan.md"}
            Here's the content of /memories/auth/plan.md with line numbers:
                 1	# Plan
                 2	
                 3	- JWT
                 4	- refresh
                 5	- JWT again
                 6	- tests
                 7	- docs
            > {"command":"view","path":"/memories/auth/plan.md","view_range":[3,4]}
            Here's the content of /memories/auth/plan.md with line numbers:
                 3	- JWT
                 4	- refresh
            > {"command":"view","path":"/memories/auth/plan.md","view_range":[6,-1]}
            Here's the content of /memories/auth/plan.md with line numbers:
                 6	- tests
                 7	- docs
            > {"command":"view","path":"/memories/auth/plan.md","view_range":[9,9]} (failure)
            Error: Invalid `view_range` parameter: [9, 9]. It should be [first, last] within [1, 7], or -1 for the last line
            > {"command":"str_replace","path":"/memories/auth/plan.md","old_str":"refresh","new_str":"rotate"}
            The memory file has been edited.
                 2	
                 3	- JWT
                 4	- rotate
                 5	- JWT again
                 6	- tests
            > {"command":"str_replace","path":"/memories/auth/plan.md","old_str":"JWT","new_str":"x"} (failure)
            No replacement was performed. Multiple occurrences of old_str `JWT` in lines: 3, 5. Please ensure it is unique
            > {"command":"str_replace","path":"/memories/auth/plan.md","old_str":"OAuth","new_str":"x"} (failure)
            No replacement was performed, old_str `OAuth` did not appear verbatim in /memories/auth/plan.md.
            > {"command":"str_replace","path":"/memories/auth","old_str":"OAuth","new_str":"x"} (failure)
            Error: The path /memories/auth does not exist. Please provide a valid path.
            > {"command":"str_replace","path":"/memories/none.md","old_str":"a","new_str":"x"} (failure)
            Error: The path /memories/none.md does not exist. Please provide a valid path.
            > {"command":"insert","path":"/memories/auth/plan.md","insert_line":0,"insert_text":"Begun in March."}
            The file /memories/auth/plan.md has been edited.
            > {"command":"insert","path":"/memories/auth/plan.md","insert_line":8,"insert_text":"- release"}
            The file /memories/auth/plan.md has been edited.
            > {"command":"insert","path":"/memories/auth/plan.md","insert_line":99,"insert_text":"x"} (failure)
            Error: Invalid `insert_line` parameter: 99. It should be within the range of lines of the file: [0, 9]
            > {"command":"insert","path":"/memories/none.md","insert_line":0,"insert_text":"x"} (failure)
            Error: The path /memories/none.md does not exist
            > {"command":"view","path":"/memories/auth/plan.md"}
            Here's the content of /memories/auth/plan.md with line numbers:
                 1	Begun in March.
                 2	# Plan
                 3	
                 4	- JWT
                 5	- rotate
                 6	- JWT again
                 7	- tests
                 8	- docs
                 9	- release
            > {"command":"create","path":"/memories/todo.md","file_text":"- nothing\n"}
            File created successfully at: /memories/todo.md
            > {"command":"rename","old_path":"/memories/todo.md","new_path":"/memories/auth/plan.md"} (failure)
            Error: The destination /memories/auth/plan.md already exists
            > {"command":"rename","old_path":"/memories/none.md","new_path":"/memories/b.md"} (failure)
            Error: The path /memories/none.md does not exist
            > {"command":"rename","old_path":"/memories/auth","new_path":"/memories/team/auth"}
            Successfully renamed /memories/auth to /memories/team/auth
            > {"command":"view","path":"/memories"}
            Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:
            SIZE	/memories
            SIZE	/memories/MEMORY.md
            76B	/memories/team
            76B	/memories/team/auth
            10B	/memories/todo.md
            > {"command":"view","path":"/memories/team/"}
            Here're the files and directories up to 2 levels deep in /memories/team, excluding hidden items and node_modules:
            76B	/memories/team
            76B	/memories/team/auth
            76B	/memories/team/auth/plan.md
            > {"command":"delete","path":"/memories/none.md"} (failure)
            Error: The path /memories/none.md does not exist
            > {"command":"delete","path":"/memories/none"} (failure)
            Error: The path /memories/none does not exist
            > {"command":"delete","path":"/memories/team"}
            Successfully deleted /memories/team
            > {"command":"delete","path":"/memories/todo.md"}
            Successfully deleted /memories/todo.md
            > {"command":"view","path":"/memories/team"} (failure)
            The path /memories/team does not exist. Please provide a valid path.
            > {"command":"view","path":"/memories"}
            Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:
            SIZE	/memories
        "##]],
    );
}

#[test]
fn invalid_paths_are_rejected() {
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
        &expect![[r#"
            > {"command":"view","path":"/etc/passwd"} (failure)
            Error: Path must start with /memories, got: /etc/passwd
            > {"command":"view","path":"/memories2/a.md"} (failure)
            Error: Path must start with /memories, got: /memories2/a.md
            > {"command":"view","path":"memories/a.md"} (failure)
            Error: Path must start with /memories, got: memories/a.md
            > {"command":"view","path":"/memories/../a.md"} (failure)
            Error: Path /memories/../a.md would escape /memories directory
            > {"command":"view","path":"/memories/%2e%2e%2fa.md"} (failure)
            Error: Path /memories/%2e%2e%2fa.md would escape /memories directory
            > {"command":"view","path":"/memories/..\\a.md"} (failure)
            Error: Path /memories/..\a.md would escape /memories directory
            > {"command":"create","path":"/memories/a.txt","file_text":"x"} (failure)
            Error: "a.txt" cannot be a note: notes are Markdown files: use a.md
            > {"command":"create","path":"/memories","file_text":"x"} (failure)
            Error: Cannot create the /memories directory itself
            > {"command":"create","path":"/memories/.hidden.md","file_text":"x"} (failure)
            Error: ".hidden.md" cannot be a note: names that begin with a dot are hidden; remove the dot
            > {"command":"delete","path":"/memories"} (failure)
            Error: Cannot delete the /memories directory itself
            > {"command":"delete","path":"/memories/"} (failure)
            Error: Cannot delete the /memories directory itself
            > {"command":"rename","old_path":"/memories","new_path":"/memories/x"} (failure)
            Error: Cannot rename the /memories directory itself
            > {"command":"forget","path":"/memories"} (failure)
            Error: unknown command "forget": use view, create, str_replace, insert, delete or rename
        "#]],
    );
}

#[test]
fn the_index_can_be_viewed_but_not_changed() {
    let fixture = tools_fixture();
    fixture.call_text("memory_write", json!({"path": "a.md", "content": "one"}));
    let index = fixture.call_text("memory_view", json!({}));
    let seen =
        fixture.call_text("memory", json!({"command": "view", "path": "/memories/MEMORY.md"}));
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
        let before = files_in(&fixture.top());
        let answer = fixture.answer("memory", &arguments);
        assert!(answer.failure.is_some(), "{arguments}: {}", answer.text);
        assert!(files_in(&fixture.top()) == before, "{arguments}");
    }
}

#[test]
fn the_size_limit_of_facts_applies() {
    let fixture = tools_fixture();
    fixture.call_text("memory_write", json!({"path": "facts/user.md", "content": "- Name: Li"}));
    let create = json!({"command": "create", "path": "/memories/facts/b.md", "file_text": "x".repeat(15_400)});
    let error = fixture.call_rejected("memory", create, ToolFailure::Invalid);
    assert!(error.contains("15KB limit"), "{error}");
    let replace = json!({"command": "str_replace", "path": "/memories/facts/user.md", "old_str": "Name: Li",
        "new_str": "y".repeat(15_400)});
    assert!(fixture.call_rejected("memory", replace, ToolFailure::Invalid).contains("15KB limit"));
}

#[test]
fn a_long_note_is_truncated() {
    let fixture = tools_fixture();
    let text = "a line of some length, again and again\n".repeat(2_000);
    create(&fixture, "/memories/long.md", &text);
    let seen = fixture.call_text("memory", json!({"command": "view", "path": "/memories/long.md"}));
    assert!(seen.chars().count() < 50_200);
    let last = seen.lines().last().unwrap();
    assert!(last.ends_with("of 2000: use view_range for others)"), "{last}");
    let range = json!({"command": "view", "path": "/memories/long.md", "view_range": [1999, 5000]});
    assert_eq!(fixture.call_text("memory", range).lines().count(), 3);
    create(&fixture, "/memories/wide.md", &"ä".repeat(60_000));
    let seen = fixture.call_text("memory", json!({"command": "view", "path": "/memories/wide.md"}));
    assert!(seen.ends_with('…') && seen.chars().count() < 50_200);
}

fn create(fixture: &ToolsFixture, path: &str, text: &str) {
    fixture.call_text("memory", json!({"command": "create", "path": path, "file_text": text}));
}

fn command(command: &str, fields: &Value) -> Value {
    let mut arguments = json!({"command": command});
    for (name, value) in fields.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

fn memory(fixture: &ToolsFixture, name: &str, fields: &Value) -> String {
    fixture.call_text("memory", command(name, fields))
}

/// The tool changes the same notes as the other tools; a person can restore what it deletes.
#[test]
fn every_command_changes_the_files_of_the_notebook() {
    let fixture = tools_fixture();
    let notebook = fixture.notebooks.open(&fixture.project()).unwrap();
    let root = notebook.root().to_owned();
    let file = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let top = "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:";
    let view = |path: &str| memory(&fixture, "view", &json!({"path": path}));
    assert_eq!(view("/memories"), format!("{top}\n0B\t/memories"));
    assert!(!root.exists(), "looking makes nothing");

    let progress = "/memories/progress.md";
    create(&fixture, progress, "# Progress\n\n- read the code\n");
    assert_eq!(file("progress.md"), "# Progress\n\n- read the code\n");
    let replaced = memory(
        &fixture,
        "str_replace",
        &json!({"path": progress, "old_str": "read the code", "new_str": "read $& the code\n- wrote a test"}),
    );
    assert_eq!(
        replaced,
        "The memory file has been edited.\n     1\t# Progress\n     2\t\n     3\t- read $& the code\n     4\t- wrote a test"
    );
    for (line, text) in [(0, "<!-- mine -->"), (5, "- end\n")] {
        let insert = json!({"path": progress, "insert_line": line, "insert_text": text});
        memory(&fixture, "insert", &insert);
    }
    assert_eq!(
        file("progress.md"),
        "<!-- mine -->\n# Progress\n\n- read $& the code\n- wrote a test\n- end\n"
    );
    let end = memory(&fixture, "view", &json!({"path": progress, "view_range": [5, -1]}));
    assert_eq!(
        end,
        "Here's the content of /memories/progress.md with line numbers:\n     5\t- wrote a test\n     6\t- end"
    );
    let done = json!({"old_path": progress, "new_path": "/memories/done/may.md"});
    memory(&fixture, "rename", &done);
    create(&fixture, "/memories/done/deep/er/x.md", &"x".repeat(5_632));
    let (index, may) = (file("MEMORY.md").len(), file("done/may.md").len());
    let kilobytes = |bytes: usize| format!("{:.1}K", bytes as f64 / 1024.0);
    assert_eq!(
        view("/memories"),
        format!(
            "{top}\n{}\t/memories\n{index}B\t/memories/MEMORY.md\n{}\t/memories/done\n5.5K\t/memories/done/deep\n{may}B\t/memories/done/may.md",
            kilobytes(index + may + 5_632),
            kilobytes(may + 5_632),
        )
    );
    memory(&fixture, "rename", &json!({"old_path": "/memories/done", "new_path": "/memories/old"}));
    for path in ["/memories/old/may.md", "/memories/old"] {
        let deleted = memory(&fixture, "delete", &json!({"path": path}));
        assert_eq!(deleted, format!("Successfully deleted {path}"));
    }
    assert!(!root.join("old").exists());
    assert_eq!(file("MEMORY.md"), "# Memory\n\n(empty)\n");
    let person = Author { who: Actor::Person, tool: "tome memory restore".into() };
    notebook.restore_version(&person, "old/may.md", None).unwrap();
    assert!(file("old/may.md").contains("- wrote a test"));
}

#[test]
fn a_rejected_command_names_the_problem_and_changes_nothing() {
    use ToolFailure::{Conflict, Invalid, NotFound};
    let fixture = tools_fixture();
    create(&fixture, "/memories/a.md", "one\ntwo\none\n");
    create(&fixture, "/memories/aaa.md", "aaa\n");
    create(&fixture, "/memories/d/b.md", "b\n");
    let gone = json!({"path": "/memories/x.md"});
    let create = json!({"path": "/memories/a.md", "file_text": "new"});
    let replace = |path: &str, old: &str| json!({"path": path, "old_str": old, "new_str": "n"});
    let insert =
        |path: &str, line: i64| json!({"path": path, "insert_line": line, "insert_text": "t"});
    let rename = |from: &str, to: &str| json!({"old_path": from, "new_path": to});
    let missing = "Error: The path /memories/x.md does not exist";
    let please = "The path /memories/x.md does not exist. Please provide a valid path.";
    let folder = "Error: The path /memories/d does not exist. Please provide a valid path.";
    let three =
        "No replacement was performed, old_str `three` did not appear verbatim in /memories/a.md.";
    let twice = "No replacement was performed. Multiple occurrences of old_str `one` in lines: 1, 3. Please ensure it is unique";
    let overlapping = "No replacement was performed. Multiple occurrences of old_str `aa` in lines: 1. Please ensure it is unique";
    let taken = "Error: The destination /memories/d/b.md already exists";
    for (name, fields, failure, message) in [
        ("view", gone.clone(), NotFound, please),
        ("create", create, Conflict, "Error: File /memories/a.md already exists"),
        ("str_replace", replace("/memories/x.md", "a"), NotFound, &format!("Error: {please}")),
        ("str_replace", replace("/memories/d", "b"), NotFound, folder),
        ("str_replace", replace("/memories/a.md", "three"), NotFound, three),
        ("str_replace", replace("/memories/a.md", "one"), Invalid, twice),
        ("str_replace", replace("/memories/aaa.md", "aa"), Invalid, overlapping),
        ("insert", insert("/memories/x.md", 0), NotFound, missing),
        ("delete", gone, NotFound, missing),
        ("rename", rename("/memories/x.md", "/memories/y.md"), NotFound, missing),
        ("rename", rename("/memories/a.md", "/memories/d/b.md"), Conflict, taken),
    ] {
        assert_eq!(fixture.call_rejected("memory", command(name, &fields), failure), message);
    }
    for line in [-1, 4, i64::MAX] {
        let arguments = command("insert", &insert("/memories/a.md", line));
        assert_eq!(
            fixture.call_rejected("memory", arguments, Invalid),
            format!(
                "Error: Invalid `insert_line` parameter: {line}. It should be within the range of lines of the file: [0, 3]"
            )
        );
    }
}

#[test]
fn no_command_leaves_the_notebook_or_changes_its_index() {
    let fixture = tools_fixture();
    create(&fixture, "/memories/a.md", "one\n");
    let before = files_in(&fixture.top());
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
        for (name, fields) in [
            ("create", json!({"path": path, "file_text": "x"})),
            ("str_replace", json!({"path": path, "old_str": "one", "new_str": "x"})),
            ("insert", json!({"path": path, "insert_line": 0, "insert_text": "x"})),
            ("delete", json!({"path": path})),
            ("rename", json!({"old_path": path, "new_path": "/memories/n.md"})),
            ("rename", json!({"old_path": "/memories/a.md", "new_path": path})),
        ] {
            let answer = fixture.answer("memory", &command(name, &fields));
            let failure = answer.failure;
            let is_rejected = matches!(failure, Some(ToolFailure::Invalid | ToolFailure::NotFound));
            assert!(is_rejected, "{name} {fields}: {failure:?} {}", answer.text);
        }
    }
    assert!(files_in(&fixture.top()) == before);
    let notebook = fixture.notebooks.open(&fixture.project()).unwrap();
    let names: Vec<_> = std::fs::read_dir(notebook.root()).unwrap().flatten().collect();
    assert_eq!(names.len(), 3, "a.md, MEMORY.md and .history: {names:?}");
}

#[test]
fn a_note_with_too_many_lines_is_not_shown() {
    let fixture = tools_fixture();
    create(&fixture, "/memories/a.md", "one\n");
    let root = fixture.notebooks.open(&fixture.project()).unwrap().root().to_owned();
    std::fs::write(root.join("tall.md"), "\n".repeat(1_000_000)).unwrap();
    let view = json!({"command": "view", "path": "/memories/tall.md"});
    let answer = fixture.answer("memory", &view);
    assert_eq!(answer.failure, Some(ToolFailure::Invalid));
    let message = "File /memories/tall.md exceeds maximum line limit of 999,999 lines.";
    assert_eq!(answer.text, message);
}

#[test]
fn inserted_lines_get_the_line_endings_of_the_note() {
    let fixture = tools_fixture();
    let path = "/memories/w.md";
    create(&fixture, path, "one\r\ntwo\r\n");
    let insert = json!({"path": path, "insert_line": 1, "insert_text": "1a\n1b"});
    memory(&fixture, "insert", &insert);
    let replace = json!({"path": path, "old_str": "1b\ntwo", "new_str": "1b\n2"});
    memory(&fixture, "str_replace", &replace);
    assert_eq!(fixture.note_text("w.md"), "one\r\n1a\r\n1b\r\n2\r\n");
}
