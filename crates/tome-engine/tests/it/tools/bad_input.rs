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
    "facts/../../../../../../../../etc/passwd",
    "..\\outside.md",
    "facts\\..\\..\\outside.md",
    "%2e%2e/outside.md",
    "/etc/passwd",
    "~/outside.md",
    "c:outside.md",
    "\\\\server\\share\\x.md",
    "a.md\0.png",
    "facts/NUL.md",
    "aux.x.md",
    "COM1.md",
    "facts/.git/x.md",
    ".history/history.jsonl",
    "note.txt",
    "x.MD",
    "a.md/",
    "a//b.md",
    "./a.md",
    "a\nb.md",
    "a\u{1b}[31m.md",
    " a.md",
    "a.md ",
    "/",
    "wh?at.md",
];

#[test]
fn bad_paths_are_rejected_by_every_tool() {
    let fixture = with_notes();
    let long = format!("{}.md", "x".repeat(300));
    let deep = ["a/b/c/d/e/f.md", "a/b/c/d/e/f/g/h.md"].map(str::to_owned);
    let long_path = format!("{}x.md", "folder/".repeat(200));
    let outside = fixture.top().join("outside.md").to_str().unwrap().to_owned();
    let paths = BAD_PATHS.iter().map(|path| (*path).to_owned());
    let before = files_in(&fixture.top());
    for path in paths.chain(deep).chain([long, long_path, outside]) {
        let mut calls = vec![
            ("memory_read", json!({"path": path})),
            ("memory_read", json!({"filename": path})),
            ("memory_write", json!({"path": path, "content": "x"})),
            (
                "memory_write",
                json!({"filename": path, "name": "n", "description": "d", "memory_type": "user",
                       "content": "x"}),
            ),
            ("memory_append", json!({"path": path, "entry": "x"})),
            ("memory_patch", json!({"path": path, "old_str": "one", "new_str": "x"})),
            ("memory_update", json!({"path": path, "old_text": "mine", "new_text": "x"})),
            ("memory_delete", json!({"filename": path})),
        ];
        for scope in ["session", "coder"] {
            calls.push(("memory_write", json!({"path": path, "content": "x", "scope": scope})));
            calls.push(("memory_read", json!({"path": path, "scope": scope})));
            calls.push(("memory_delete", json!({"path": path, "scope": scope})));
        }
        let below = format!("/memories/{path}");
        let changes = ["create", "str_replace", "insert", "delete", "rename"];
        // Below /memories a doubled slash counts as one, and `.` as nothing.
        let is_plain = path.split('/').all(|part| !matches!(part, "" | "."));
        if is_plain || matches!(path.as_str(), "" | "." | "a/") {
            calls.extend(changes.map(|command| ("memory", memory_arguments(command, &below))));
        }
        if is_plain {
            calls.push(("memory", memory_arguments("view", &below)));
            let rename =
                json!({"command": "rename", "old_path": "/memories/a.md", "new_path": below});
            calls.push(("memory", rename));
        }
        for (tool, arguments) in calls {
            let answer = fixture.answer(tool, &arguments);
            assert!(answer.failure.is_some(), "{tool} {arguments}: {}", answer.text);
            assert!(!answer.text.contains("mine"), "{tool} {arguments}: {}", answer.text);
            assert!(!answer.text.is_empty() && answer.text.len() < 2_000, "{}", answer.text);
            let is_wrapped = tool == "memory" || answer.text.starts_with("Error: ");
            assert!(is_wrapped, "{}", answer.text);
        }
        assert!(files_in(&fixture.top()) == before, "{path:?}");
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

#[test]
fn senseless_arguments_are_rejected() {
    let fixture = tools_fixture();
    fixture.call_text("memory_write", json!({"path": "a.md", "content": "alpha beta beta\n"}));
    fixture.call_text("memory_append", json!({"path": "facts/f.md", "entry": "- k: v"}));
    let before = files_in(&fixture.top());
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let nested_in = format!(r#"{{"path": {nested}}}"#);
    let huge = json!({"path": "a.md", "content": "x".repeat(5 << 20)}).to_string();
    for (tool, arguments, words) in [
        ("memory_read", "", "JSON"),
        ("memory_read", "nonsense", "JSON"),
        ("memory_read", "{\"path\": \"a.md\"", "JSON"),
        ("memory_read", "{\"path\": \"a.md\"} {}", "JSON"),
        ("memory_read", "null", "object"),
        ("memory_read", "\"a.md\"", "object"),
        ("memory_read", "[\"a.md\"]", "object"),
        ("memory_read", &nested, "JSON"),
        ("memory_read", &nested_in, "JSON"),
        ("memory_read", r#"{"path": null}"#, "path"),
        ("memory_read", r#"{"path": ["a.md"]}"#, "string"),
        ("memory_read", r#"{"path": "a.md", "filename": "b.md"}"#, "filename"),
        ("memory_read", r#"{"path": "a.md", "paht": 1}"#, "paht"),
        ("memory_read", r#"{"path": "a.md", "scope": "galaxy"}"#, "galaxy"),
        ("memory_read", r#"{"path": "a.md", "scope": 3}"#, "scope"),
        ("memory_read", r#"{"path": "a.md", "session_id": "s1"}"#, "session"),
        ("memory_list", r#"{"path": "a.md"}"#, "path"),
        ("memory_view", r#"{"target": "everything"}"#, "everything"),
        ("memory_write", r#"{"path": "n.md"}"#, "content"),
        ("memory_write", r#"{"content": "x"}"#, "path"),
        ("memory_write", r#"{"path": "n.md", "content": 7}"#, "content"),
        ("memory_write", r#"{"path": "n.md", "content": {"a": 1}}"#, "content"),
        ("memory_write", r#"{"path": "n.md", "content": "nul \u0000 here"}"#, "NUL"),
        ("memory_write", r#"{"path": "n.md", "content": "x", "name": "only"}"#, "description"),
        (
            "memory_write",
            r#"{"path": "n.md", "content": "x", "name": "n", "description": "d", "type": "x"}"#,
            "Must be one of: user, feedback, project, reference",
        ),
        (
            "memory_write",
            r#"{"path": "facts/n.md", "content": "x", "name": "n", "description": "d", "type": "user"}"#,
            "facts/",
        ),
        ("memory_write", &huge, "the limit is"),
        ("memory_append", r#"{"path": "a.md", "entry": ""}"#, "empty"),
        ("memory_append", r#"{"path": "a.md", "entry": " \n "}"#, "empty"),
        ("memory_append", r#"{"path": "a.md", "entry": "x", "summary": 7}"#, "summary"),
        ("memory_patch", r#"{"path": "a.md"}"#, "patches"),
        ("memory_patch", r#"{"path": "a.md", "patches": {}}"#, "patches"),
        ("memory_patch", r#"{"path": "a.md", "patches": ["x"]}"#, "patches"),
        ("memory_patch", r#"{"path": "a.md", "patches": [{"oldText": "alpha"}]}"#, "newText"),
        (
            "memory_patch",
            r#"{"path": "a.md", "patches": [{"oldText": "alpha", "newText": "x", "all": true}]}"#,
            "all",
        ),
        (
            "memory_patch",
            r#"{"path": "a.md", "patches": [], "old_str": "alpha", "new_str": "x"}"#,
            "patches",
        ),
        ("memory_patch", r#"{"path": "a.md", "old_str": "beta", "new_str": "x"}"#, "multiple"),
        ("memory_update", r#"{"path": "a.md", "old_text": "", "new_text": "x"}"#, "empty"),
        ("memory_update", r#"{"path": "a.md", "old_text": "alpha"}"#, "new_text"),
        ("memory_delete", r#"{"path": "a.md", "force": true}"#, "force"),
        ("memory", "{}", "command"),
        ("memory", r#"{"command": "format", "path": "/memories"}"#, "format"),
        ("memory", r#"{"command": "view"}"#, "path"),
        (
            "memory",
            r#"{"command": "view", "path": "/memories/a.md", "view_range": [0, 9]}"#,
            "view_range",
        ),
        (
            "memory",
            r#"{"command": "view", "path": "/memories/a.md", "view_range": "1"}"#,
            "view_range",
        ),
        (
            "memory",
            r#"{"command": "insert", "path": "/memories/a.md", "insert_line": 0.5, "insert_text": "x"}"#,
            "insert_line",
        ),
    ] {
        let answer = fixture.tools.call(tool, arguments, &fixture.caller).unwrap();
        let shown: String = arguments.chars().take(200).collect();
        assert_eq!(answer.failure, Some(ToolFailure::Invalid), "{tool} {shown}: {}", answer.text);
        assert!(answer.text.contains(words), "{tool} {shown}: {words} in {}", answer.text);
        assert!(answer.text.len() < 2_000, "{tool} {shown}");
    }
    let gone = json!({"path": "a.md", "old_str": "nowhere", "new_str": "x"});
    fixture.call_rejected("memory_patch", gone, ToolFailure::NotFound);
    assert!(files_in(&fixture.top()) == before);
}
