//! The everyday commands: what they say next, what they were asked for, and where things are now.

use serde_json::{Value, json};
use tome_testkit::World;

use crate::support::{MORNING_MS, line_with, world};

const ONE: &str = "419f42f0-2fa1-44cc-8b4d-babf59901513";
const OTHER: &str = "419f42f1-0000-44cc-8b4d-babf59901513";

/// An event of a session of Claude Code in a folder.
fn event(session: &str, cwd: &str, minute: u64, fields: &Value) -> String {
    let mut line = json!({
        "id": format!("{session}-{minute}"), "session_id": session, "agent": "claude-code",
        "cwd": cwd, "at": MORNING_MS + minute * 60_000,
    });
    for (name, value) in fields.as_object().unwrap() {
        line[name] = value.clone();
    }
    line_with(&line)
}

#[test]
fn agents_that_are_not_connected_are_named() {
    let world = world();
    world.folder("person/.claude");
    let transcript = json!({
        "type": "user", "sessionId": ONE, "uuid": "u1", "cwd": "/app",
        "timestamp": "2026-11-15T09:30:00Z",
        "message": {"role": "user", "content": "Please fix the lexer."},
    });
    let path = format!("person/.claude/projects/-app/{ONE}.jsonl");
    world.write(&path, &format!("{transcript}\n"));
    let here = |args: &[&str]| {
        let mut command = world.command(args);
        World::run(command.env("PATH", world.folder("bin")), b"")
    };
    let imported = here(&["import"]);
    assert_eq!(imported.code, 0, "{imported:?}");
    let next = "tome shows the overview, tome setup records new sessions of Claude Code\n";
    assert!(imported.stdout.ends_with(next), "{}", imported.stdout);
    let page = here(&[]).stdout;
    assert!(page.contains("New sessions of Claude Code are not recorded: tome setup"), "{page}");
    assert_eq!(here(&["--json"]).json()["unconnected_agents"], json!(["claude-code"]));
    assert_eq!(here(&["setup", "--yes"]).code, 0);
    let page = here(&[]).stdout;
    assert!(!page.contains("not recorded"), "{page}");
    assert_eq!(here(&["--json"]).json()["unconnected_agents"], json!([]));
}

#[test]
fn a_moved_project_is_shown_and_resumed_where_it_is() {
    let world = world();
    let old = world.path().canonicalize().unwrap().join("old/app");
    let (old, new) = (old.to_str().unwrap(), world.folder("new").canonicalize().unwrap());
    world.ingest(&event(ONE, &format!("{old}/crates"), 0, &json!({"text": "Fix the lexer."})));
    world.ingest(&event(
        ONE,
        &format!("{old}/crates"),
        1,
        &json!({
            "kind": "assistant_message", "text": "Fixed: the lexer reads names now."
        }),
    ));
    let root = world.tome(&["projects", "--json"]).json()["root"].as_str().unwrap().to_owned();
    let name = world.tome(&["projects", "--json"]).json()["name"].as_str().unwrap().to_owned();
    let missing = world.tome(&["show", "419f42f0"]).stdout;
    assert!(missing.contains(&format!("tome projects mv {name} NEW_FOLDER")), "{missing}");
    let missing = world.tome(&["resume", "419f42f0"]).stderr;
    assert!(missing.contains(&format!("tome projects mv {name} NEW_FOLDER")), "{missing}");

    let moved = world.tome(&["projects", "mv", &name, new.to_str().unwrap()]);
    assert_eq!(moved.code, 0, "{moved:?}");
    let listed = world.tome(&["projects", "--json"]).json();
    assert_eq!(listed["name"], name.as_str(), "the name stays");
    let resumed = world.tome(&["resume", "419f42f0"]).stdout;
    assert_eq!(resumed, format!("cd {} && claude --resume {ONE}\n", new.display()));
    assert_eq!(world.tome(&["resume", "419f42f0", "--json"]).json()["cwd"], new.to_str().unwrap());
    let inside = |args: &[&str]| World::run(world.command(args).current_dir(&new), b"");
    for args in [&[][..], &["show", "419f42f0"], &["read", "419f42f0"], &["export", "419f42f0"]] {
        let shown = inside(args).stdout;
        assert!(shown.contains(new.to_str().unwrap()), "{args:?}: {shown}");
        assert!(!shown.contains(&root), "{args:?}: {shown}");
    }
    let unknown = inside(&["show", "99999"]).stderr;
    assert!(unknown.contains(&format!("no event #99999 in {name}")), "{unknown}");
}

#[test]
fn an_id_that_several_sessions_share_lists_them() {
    let world = world();
    world.ingest(&event(ONE, "/app", 0, &json!({"text": "Fix the lexer."})));
    world.ingest(&event(OTHER, "/app", 60, &json!({"text": "Explain the parser."})));
    world.ingest(&event("0198c3f2", "/app", 90, &json!({"text": "Write a test."})));
    world.ingest(&event("0198c3f3", "/app", 95, &json!({"text": "Run the test."})));
    for (id, titles) in [
        ("419f", ["419f42f0", "Fix the lexer", "419f42f1", "Explain the parser"]),
        ("019", ["0198c3f2", "Write a test", "0198c3f3", "Run the test"]),
    ] {
        let texts: Vec<String> = ["show", "read", "resume", "export", "sessions"]
            .iter()
            .map(|command| {
                let ran = world.tome(&[command, id]);
                assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{command}");
                ran.stderr
            })
            .collect();
        for part in titles {
            assert!(texts[0].contains(part), "{part} in {}", texts[0]);
        }
        assert!(texts.iter().all(|text| *text == texts[0]), "{texts:#?}");
    }
}

#[test]
fn a_filter_that_leaves_nothing_is_named() {
    let world = world();
    world.ingest(&event(ONE, "/app", 0, &json!({"text": "The zebra parser drops commas."})));
    let ran = world.tome(&["recall", "zebra parser", "--project", "/app", "--since", "2026-11-16"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.contains("in app with --since 2026-11-16\n"), "{}", ran.stderr);
    let again = "1 hit without it: tome recall --project /app 'zebra parser'\n";
    assert!(ran.stderr.contains(again), "{}", ran.stderr);
    let args =
        ["recall", "quagga", "--project", "/app", "--agent", "codex", "--kind", "user_message"];
    let text = world.tome(&args).stderr;
    assert!(text.contains("with --agent codex --kind user_message"), "{text}");
    assert!(text.contains("and nothing without them"), "{text}");
}

#[test]
fn a_tool_call_is_shown_as_a_line_and_as_text() {
    let world = world();
    let content = format!("fn lexer() {{}}\n// {}\n", "long ".repeat(40));
    let read = json!({
        "name": "Read", "input": {"file_path": "/app/src/lexer.rs"},
        "output": {"type": "text", "file": {"filePath": "/app/src/lexer.rs", "content": content}},
    });
    let prompt = "Find all callers of the lexer.\nList their files.";
    let task = json!({
        "name": "Task", "input": {"description": "Find callers", "prompt": prompt},
        "output": {"status": "completed", "prompt": prompt, "content": [{"type": "text", "text": "Three files."}]},
    });
    world.ingest(&event(ONE, "/app", 0, &json!({"text": "Explain the lexer."})));
    world.ingest(&event(ONE, "/app", 1, &json!({"kind": "tool_result", "text": "", "tool": read})));
    world.ingest(&event(ONE, "/app", 2, &json!({"kind": "tool_result", "text": "", "tool": task})));
    let grep = json!({
        "name": "Bash", "output": "src/lexer.rs",
        "input": {"command": format!("rg '{}' src", ["lexer"; 40].join("|"))},
    });
    world.ingest(&event(ONE, "/app", 3, &json!({"kind": "tool_result", "text": "", "tool": grep})));
    for width in [60, 80, 100, 160] {
        let mut command = world.command(&["show", "4", "--project", "/app"]);
        let shown = World::run(command.env("COLUMNS", width.to_string()), b"").stdout;
        assert!(shown.lines().all(|line| line.chars().count() <= width), "{width}: {shown}");
        let mut command = world.command(&["show", "2", "--project", "/app"]);
        let shown = World::run(command.env("COLUMNS", width.to_string()), b"").stdout;
        assert!(shown.contains("Read src/lexer.rs\nfn lexer() {}\n"), "{shown}");
        assert!(!shown.contains("{\""), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= width), "{width}: {shown}");
    }
    for format in ["markdown", "html"] {
        let text = world.tome(&["export", "419f42f0", "--format", format]).stdout;
        assert_eq!(text.matches("List their files.").count(), 1, "{text}");
        assert!(text.contains("Three files.") && !text.contains("\"status\""), "{text}");
    }
}

#[test]
fn the_overview_of_another_project() {
    let world = world();
    world.ingest(&event(ONE, "/app", 0, &json!({"text": "Fix the lexer."})));
    world.ingest(&event("site-1", "/site", 60, &json!({"text": "Choose the colors."})));
    for project in ["app", "/app"] {
        let page = world.tome(&["--project", project]).stdout;
        assert!(page.starts_with("app  /app\n"), "{page}");
        assert!(page.contains("Fix the lexer") && !page.contains("colors"), "{page}");
        assert!(page.contains("\nAll projects: 2 events, 2 sessions, 2 projects"), "{page}");
    }
    assert_eq!(world.tome(&["--project", "nosuch"]).code, 4);
    let refused = world.tome(&["--project", "app", "sessions"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("tome sessions --project app"), "{}", refused.stderr);
    let inside = world.folder("app");
    world.ingest(&event("here-1", inside.to_str().unwrap(), 90, &json!({"text": "Sort them."})));
    let mut command = world.command(&["--all-projects"]);
    let page = World::run(command.current_dir(&inside), b"").stdout;
    assert!(page.contains("Sort them") && page.contains("3 projects"), "{page}");
    let refused = world.tome(&["--all-projects", "sessions"]);
    assert!(refused.stderr.contains("tome sessions --all-projects"), "{}", refused.stderr);
}

#[test]
fn an_offline_chat_is_nowhere_in_the_lists() {
    let world = world();
    let folder = world.folder("app");
    world.ingest(&event(ONE, folder.to_str().unwrap(), 0, &json!({"text": "Fix the lexer."})));
    let mut chat = world.command(&["chat", "--offline", "--session", "demo"]);
    assert_eq!(World::run(chat.current_dir(&folder), b"hello\n").code, 0);
    // As many as a page of the list, and later than the session of the agent.
    let offline = format!("{}/offline{}", world.home().display(), folder.display());
    let chats = (1..=25).map(|n| {
        let session = format!("demo-{n}");
        event(&session, &offline, n, &json!({"text": "hello", "project": offline}))
    });
    world.ingest(&chats.collect::<String>());
    let listed = world.tome(&["sessions", "--all-projects", "-n", "1", "--json"]).json_lines();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["session_id"], ONE);
    assert_eq!(world.tome(&["projects", "--json"]).json_lines().len(), 1);
    for cwd in [world.folder("elsewhere"), folder] {
        let page = World::run(world.command(&[]).current_dir(cwd), b"").stdout;
        assert!(page.contains("Fix the lexer") && !page.contains("built-in script"), "{page}");
        assert!(
            page.contains(" 1 session, 1 project") || page.contains(", 1 session, 1 project"),
            "{page}"
        );
    }
}

#[test]
fn names_and_options_that_people_try() {
    let world = world();
    world.ingest(&event(ONE, "/srv/lexer-app", 0, &json!({"text": "Fix the lexer."})));
    assert_eq!(world.tome(&["projects", "remove", "lexer-app"]).code, 2, "the same as rm");
    let near = world.tome(&["projects", "rename", "lexer", "x"]).stderr;
    assert!(near.contains("did you mean lexer-app?"), "{near}");
    for command in ["sessions", "toc", "events", "topics", "report", "instructions"] {
        let ran = world.tome(&[command, "--project", "lexer"]);
        let wrong =
            "error: no project lexer\nhint: did you mean lexer-app? `tome projects` lists all\n";
        assert_eq!((ran.code, ran.stderr.as_str()), (4, wrong), "{command}");
    }
    let error = |args: &[&str]| -> Value {
        serde_json::from_str(&world.tome(&[args, &["--json"]].concat()).stderr).unwrap()
    };
    let missing = error(&["show"])["error"].to_string();
    assert!(missing.contains("were not provided: <ID>"), "{missing}");
    let tip = error(&["serach"])["hint"].to_string();
    assert!(tip.contains("search"), "{tip}");
    let values = error(&["recall", "x", "--scope", "foo"])["error"].to_string();
    assert!(values.contains("possible values: all, "), "{values}");
    let report = world.path().join("report.md");
    let report = report.to_str().unwrap();
    let write = |more: &[&str]| {
        world
            .tome(&[&["report", "2026-11-15", "--all-projects", "--out", report], more].concat())
            .code
    };
    assert_eq!((write(&[]), write(&[]), write(&["--force"])), (0, 2, 0));
    let backup = world.path().join("home.backup");
    let backup = backup.to_str().unwrap();
    assert_eq!(world.tome(&["backup", backup]).code, 0);
    assert_eq!(world.tome(&["restore", "--verify", backup]).code, 0);
    assert_eq!(world.tome(&["config", "get", "inject.enabled"]).stdout, "on\n");
    assert_eq!(world.tome(&["config", "get", "inject.nosuch"]).code, 2);
    let bad = world.tome(&["config", "set", "inject.enabled", "maybe"]).stderr;
    assert!(bad.contains("use on or off"), "{bad}");
    let bad = world.tome(&["pause", "10"]).stderr;
    assert_eq!(bad, "error: \"10\" is not a duration\nhint: use 30m, 2h or 1d\n");
    let none = world.tome(&["sessions", "--all-projects", "--agent", "cursor"]).stderr;
    assert!(none.contains("Tome has no importer for cursor"), "{none}");
    assert_eq!(
        world.tome(&["sessions", "--all-projects", "-n", "0", "--json"]).json_lines().len(),
        1
    );
    let none = world.tome(&["coder", "recall", "flaky", "tests"]).stdout;
    assert!(none.starts_with("no lesson matches ") && !none.contains("coder_memory"), "{none}");
}

/// Every command that reads what was recorded says what to run first, not that nothing matches.
#[test]
fn an_empty_home_names_what_to_run() {
    let world = world();
    let record = json!({
        "type": "user", "uuid": "u1", "sessionId": ONE, "timestamp": "2026-11-15T09:30:00Z",
        "cwd": "/app", "message": {"role": "user", "content": "Fix the lexer."},
    });
    world.write(&format!("person/.claude/projects/-app/{ONE}.jsonl"), &format!("{record}\n"));
    let hint = "hint: run `tome import`: 1 Claude Code session found";
    for args in [
        &["recall", "lexer"][..],
        &["sessions"],
        &["events"],
        &["toc"],
        &["report"],
        &["instructions"],
    ] {
        let ran = world.tome(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{args:?}: {ran:?}");
        assert!(ran.stderr.starts_with("nothing recorded yet\n"), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(hint), "{args:?}: {ran:?}");
    }
    for args in [&["resume"][..], &["read"], &["export"]] {
        let ran = world.tome(args);
        assert_eq!(ran.code, 4, "{args:?}: {ran:?}");
        assert!(ran.stderr.starts_with("error: nothing recorded yet\n"), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(hint), "{args:?}: {ran:?}");
    }
    assert_eq!(world.tome(&["sessions", "--json"]).stdout, "");
    assert_eq!(world.tome(&["import"]).code, 0);
    assert_eq!(world.tome(&["sessions", "--json"]).json_lines().len(), 1);
}
