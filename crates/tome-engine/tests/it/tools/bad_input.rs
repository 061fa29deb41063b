//! Bad input gives a clear message and changes nothing, inside or outside the notebook.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tome_engine::{ToolFailure, Tools};

use super::fixture::{ToolsFixture, files_in, tools_fixture};

fn with_notes() -> ToolsFixture {
    let fixture = tools_fixture();
    fixture.call_text("memory_write", json!({"path": "a.md", "content": "one two one\n"}));
    fixture.call_text("memory_write", json!({"path": "facts/user.md", "content": "- Name: Li\n"}));
    fixture.call_text(
        "memory_write",
        json!({"path": "detail/a.md", "content": "x", "scope": "session"}),
    );
    std::fs::write(fixture.home.join("outside.md"), "mine").unwrap();
    #[cfg(unix)]
    {
        let memory = fixture.notebooks.open(&fixture.project()).unwrap().root().to_path_buf();
        let outside = fixture.top().join("outside.md");
        std::os::unix::fs::symlink(&outside, memory.join("link.md")).unwrap();
        std::os::unix::fs::symlink(fixture.top(), memory.join("up")).unwrap();
    }
    // Changes on disk are picked up before the test compares files.
    fixture.call_text("memory_list", json!({}));
    fixture
}

/// Paths that every tool rejects.
const BAD_PATHS: &[&str] = &[
    "",
    ".",
    "..",
    "../outside.md",
    "facts/../../outside.md",
    "/etc/hosts.md",
    "a\0.md",
    ".hidden.md",
    ".history/x.md",
    "facts/.x.md",
    "con.md",
    "a.txt",
    "a",
    "a/",
    "link.md",
    "up/outside.md",
    "a\\..\\..\\b.md",
    "C:\\x.md",
];

#[test]
fn bad_paths_are_rejected_by_every_tool() {
    let fixture = with_notes();
    let long = format!("{}.md", "x".repeat(300));
    let deep = "a/b/c/d/e/f/g/h.md".to_owned();
    let paths = BAD_PATHS.iter().map(|path| (*path).to_owned()).chain([long, deep]);
    for path in paths {
        let calls = [
            ("memory_read", json!({})),
            ("memory_write", json!({"content": "x"})),
            ("memory_append", json!({"entry": "x"})),
            ("memory_patch", json!({"old_str": "one", "new_str": "x"})),
            ("memory_update", json!({"old_text": "mine", "new_text": "x"})),
            ("memory_delete", json!({})),
        ];
        for (tool, mut arguments) in calls {
            arguments["path"] = path.clone().into();
            let before = files_in(&fixture.top());
            let answer = fixture.answer(tool, &arguments);
            assert!(answer.failure.is_some(), "{tool} {arguments}: {}", answer.text);
            assert!(answer.text.starts_with("Error: "), "{}", answer.text);
            assert!(files_in(&fixture.top()) == before, "{tool} {arguments}");
        }
        if path.starts_with('/') {
            // Below /memories a doubled slash counts as one.
            continue;
        }
        for command in ["create", "str_replace", "insert", "delete", "rename"] {
            let arguments = memory_arguments(command, &format!("/memories/{path}"));
            let before = files_in(&fixture.top());
            let answer = fixture.answer("memory", &arguments);
            assert!(answer.failure.is_some(), "{arguments}: {}", answer.text);
            assert!(files_in(&fixture.top()) == before, "{arguments}");
        }
    }
}

fn memory_arguments(command: &str, path: &str) -> Value {
    match command {
        "create" => json!({"command": command, "path": path, "file_text": "x"}),
        "str_replace" => {
            json!({"command": command, "path": path, "old_str": "two", "new_str": "x"})
        }
        "insert" => json!({"command": command, "path": path, "insert_line": 0, "insert_text": "x"}),
        "rename" => json!({"command": command, "old_path": path, "new_path": "/memories/new.md"}),
        _ => json!({"command": command, "path": path}),
    }
}

#[test]
fn a_rejected_first_call_creates_no_project() {
    let fixture = tools_fixture();
    for (tool, arguments, failure) in [
        ("memory_write", json!({"path": "../a.md", "content": "x"}), ToolFailure::Invalid),
        ("memory_write", json!({"path": "a.txt", "content": "x"}), ToolFailure::Invalid),
        ("memory_write", json!({"path": "MEMORY.md", "content": "x"}), ToolFailure::Invalid),
        (
            "memory_patch",
            json!({"path": "a.md", "old_str": "x", "new_str": "y"}),
            ToolFailure::NotFound,
        ),
        ("memory_delete", json!({"path": "a.md"}), ToolFailure::NotFound),
        ("memory", json!({"command": "delete", "path": "/memories/a.md"}), ToolFailure::NotFound),
        ("memory", json!({"command": "delete", "path": "/memories/a"}), ToolFailure::NotFound),
        (
            "memory",
            json!({"command": "rename", "old_path": "/memories/a.md", "new_path": "/memories/b.md"}),
            ToolFailure::NotFound,
        ),
    ] {
        fixture.call_rejected(tool, arguments, failure);
    }
    assert!(!fixture.home.exists());
}

#[test]
fn empty_oversized_and_ambiguous_texts_are_rejected() {
    let fixture = with_notes();
    let large = "x".repeat(2 * 1024 * 1024);
    let facts = "x".repeat(16_000);
    for (tool, arguments) in [
        ("memory_write", json!({"path": "b.md", "content": large})),
        ("memory_write", json!({"path": "facts/b.md", "content": facts})),
        ("memory_append", json!({"path": "facts/user.md", "entry": facts})),
        ("memory_patch", json!({"path": "facts/user.md", "old_str": "Li", "new_str": facts})),
        ("memory_patch", json!({"path": "a.md", "old_str": "", "new_str": "x"})),
        ("memory_patch", json!({"path": "a.md", "patches": []})),
        ("memory_patch", json!({"path": "a.md", "old_str": "one", "new_str": "x"})),
        ("memory_update", json!({"path": "a.md", "old_text": "", "new_text": "x"})),
        (
            "memory",
            json!({"command": "create", "path": "/memories/facts/b.md", "file_text": facts}),
        ),
    ] {
        let error = fixture.call_rejected(tool, arguments, ToolFailure::Invalid);
        assert!(error.len() < 5_000);
    }
}

#[test]
fn calls_without_cwd_or_session_are_rejected() {
    let mut fixture = with_notes();
    fixture.caller.session = None;
    let error =
        fixture.call_rejected("memory_list", json!({"scope": "session"}), ToolFailure::Invalid);
    assert!(error.starts_with("Error: session_id is missing"), "{error}");
    fixture.caller.cwd = Some("repo".into());
    fixture.call_rejected("memory_list", json!({}), ToolFailure::Invalid);
    fixture.caller.cwd = None;
    let error = fixture.call_rejected("memory_list", json!({}), ToolFailure::Invalid);
    assert!(error.starts_with("Error: cwd is missing"), "{error}");
    fixture.call_text("memory_list", json!({"scope": "coder"}));
}

fn arbitrary_value() -> impl Strategy<Value = Value> {
    let path = prop_oneof![
        Just("a.md".to_owned()),
        Just("facts/user.md".to_owned()),
        Just("MEMORY.md".to_owned()),
        Just("/memories/a.md".to_owned()),
        Just("/memories/../../outside.md".to_owned()),
        prop::sample::select(BAD_PATHS).prop_map(str::to_owned),
        "(\\.\\./|/|[a-z]{1,3}/){0,4}[a-z.]{0,6}",
        "\\PC{0,12}",
    ];
    let word = prop::sample::select(vec![
        "one",
        "two",
        "project",
        "session",
        "coder",
        "index",
        "files",
        "user",
        "view",
        "create",
        "str_replace",
        "insert",
        "delete",
        "rename",
        "episodic",
    ]);
    let leaf = prop_oneof![
        4 => path.prop_map(Value::from),
        4 => word.prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => (-1..4_i64).prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<f64>().prop_map(|float| json!(float)),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((prop::sample::select(NAMES), inner), 0..4).prop_map(object),
        ]
    })
}

fn object(fields: Vec<(&'static str, Value)>) -> Value {
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
    Value::Object(fields.collect::<Map<_, _>>())
}

const NAMES: &[&str] = &[
    "path",
    "filename",
    "content",
    "name",
    "description",
    "type",
    "memory_type",
    "entry",
    "summary",
    "patches",
    "oldText",
    "newText",
    "old_text",
    "new_text",
    "old_str",
    "new_str",
    "scope",
    "session_id",
    "if_version",
    "target",
    "question",
    "keywords",
    "types",
    "title",
    "tags",
    "topic",
    "insights",
    "command",
    "view_range",
    "file_text",
    "insert_line",
    "insert_text",
    "old_path",
    "new_path",
    "node_id",
    "version",
    "time",
    "limit",
    "continuation",
    "from",
    "to",
    "grip_id",
    "before",
    "after",
    "nonsense",
];

/// Calls with a tool's own argument names and arbitrary values.
fn arbitrary_call() -> impl Strategy<Value = (&'static str, Value)> {
    let tools = Tools::specs();
    (0..tools.len()).prop_flat_map(move |at| {
        let names: Vec<&'static str> = NAMES
            .iter()
            .filter(|name| tools[at].schema["properties"].get(**name).is_some())
            .copied()
            .collect();
        // A tool without arguments gets arbitrary ones.
        let names = if names.is_empty() { NAMES.to_vec() } else { names };
        let tool = tools[at].name;
        let own = prop::collection::vec((prop::sample::select(names), arbitrary_value()), 0..6);
        let any = prop::collection::vec((prop::sample::select(NAMES), arbitrary_value()), 0..4);
        let arguments = prop_oneof![
            6 => own.prop_map(object),
            2 => any.prop_map(object),
            1 => arbitrary_value(),
        ];
        arguments.prop_map(move |arguments| (tool, arguments))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn arbitrary_arguments_never_touch_files_outside_notebooks(calls in prop::collection::vec(arbitrary_call(), 1..16)) {
        let fixture = with_notes();
        let beside = |fixture: &ToolsFixture| {
            let mut files = files_in(&fixture.top());
            // Notebooks are only in these two folders.
            let (coder, projects) = (fixture.home.join("coder"), fixture.home.join("projects"));
            files.retain(|path, _| !path.starts_with(&coder) && !path.starts_with(&projects));
            files
        };
        let before = beside(&fixture);
        for (tool, arguments) in calls {
            let whole = files_in(&fixture.top());
            let answer = fixture.answer(tool, &arguments);
            prop_assert!(answer.text.len() < 500_000);
            if answer.failure.is_some() {
                prop_assert!(files_in(&fixture.top()) == whole, "{} {}", tool, arguments);
            }
        }
        prop_assert!(beside(&fixture) == before);
    }

    #[test]
    fn arguments_that_are_not_an_object_are_rejected(text in "\\PC{0,40}") {
        let fixture = tools_fixture();
        if serde_json::from_str::<Map<String, Value>>(&text).is_err() {
            for tool in Tools::specs() {
                let answer = fixture.tools.call(tool.name, &text, &fixture.caller).unwrap();
                prop_assert_eq!(answer.failure, Some(ToolFailure::Invalid));
            }
        }
        prop_assert!(!fixture.home.exists());
    }
}
