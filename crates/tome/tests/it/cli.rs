//! The command line: help, man pages, overview, doctor, JSON output, closed pipes.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

use serde_json::{Value, json};
use tome_testkit::{CommandResult, World};

use crate::support::{line, line_with, prompt, world};

const COMMANDS: [&str; 31] = [
    "browse",
    "backup",
    "restore",
    "export",
    "projects",
    "pause",
    "unpause",
    "sessions",
    "read",
    "resume",
    "report",
    "chat",
    "toc",
    "events",
    "show",
    "ingest",
    "memory",
    "coder",
    "init",
    "tool",
    "status",
    "config",
    "doctor",
    "demo",
    "start",
    "stop",
    "daemon",
    "hook",
    "admin",
    "completions",
    "man",
];

#[test]
fn every_command_has_help() {
    let world = world();
    let all = world.tome(&["--help"]);
    assert_eq!((all.code, all.stderr.as_str()), (0, ""));
    assert!(all.stdout.contains("Exit codes:"), "{}", all.stdout);
    for command in COMMANDS {
        assert!(all.stdout.contains(command), "{command} is listed");
        for flag in ["--help", "-h"] {
            let help = world.tome(&[command, flag]);
            assert_eq!((help.code, help.stderr.as_str()), (0, ""), "{command} {flag}");
            assert!(help.stdout.contains("Usage: tome"), "{}", help.stdout);
            assert!(help.stdout.lines().count() > 5, "{}", help.stdout);
        }
    }
    let version = world.tome(&["--version"]);
    assert_eq!(version.stdout, concat!("tome ", env!("CARGO_PKG_VERSION"), "\n"));
}

#[test]
fn an_unknown_command_exits_with_2() {
    let world = world();
    for args in
        [&["evnets"][..], &["events", "--frobnicate"], &["show"], &["events", "--limit", "many"]]
    {
        let ran = world.tome(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
        assert!(ran.stderr.contains("error:"), "{}", ran.stderr);
    }
}

#[test]
fn shells_complete_commands_and_the_names_of_projects() {
    let world = world();
    world.ingest(&line_with(&json!({"id": "a", "cwd": world.folder("lexer")})));
    world.tome(&["stop"]);
    for (shell, mark) in
        [("bash", "complete -o"), ("zsh", "#compdef tome"), ("fish", "complete --keep-order")]
    {
        let ran = world.tome(&["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert!(ran.stdout.contains(mark), "{}", ran.stdout);
        let complete = |words: &[&str]| {
            let mut command = world.command(&[&["--"], words].concat());
            command
                .env("COMPLETE", shell)
                .env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string());
            World::run(&mut command, b"").stdout
        };
        assert!(complete(&["tome", "inge"]).contains("ingest"), "{shell}");
        assert!(complete(&["tome", "recall", "--project", "le"]).contains("lexer"), "{shell}");
    }
    assert_eq!(world.daemon_pid(), None, "no completion starts the daemon");
    assert_eq!(world.tome(&["completions", "tcsh-like"]).code, 2);
}

#[test]
fn manual_pages_are_generated() {
    let world = world();
    let page = world.tome(&["man"]);
    assert!(page.stdout.contains(".TH tome 1"), "{}", page.stdout);
    let folder = world.path().join("man/pages");
    let ran = world.tome(&["man", "--dir", folder.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(folder.join("tome.1").is_file());
    for command in COMMANDS {
        let page = std::fs::read_to_string(folder.join(format!("tome-{command}.1"))).unwrap();
        assert!(page.contains(".SH EXAMPLES\n"), "{page}");
    }
}

#[test]
fn the_overview_of_an_empty_home_explains_how_to_begin() {
    let world = world();
    let ran = world.tome(&[]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(
        ran.stdout.contains("No events recorded yet") && ran.stdout.contains("tome setup"),
        "{}",
        ran.stdout
    );
    let json = world.tome(&["--json"]).json();
    assert_eq!((&json["events"], &json["projects"]), (&json!(0), &json!([])));
    world.write("person/.claude/projects/-app/419f42f0-2fa1-44cc-8b4d-babf59901513.jsonl", "{}\n");
    let found = world.tome(&[]).stdout;
    assert!(found.contains("tome import   1 Claude Code session found"), "{found}");
    assert_eq!(world.tome(&["--json"]).json()["found"][0]["sessions"], 1);
    assert!(!world.home().exists(), "looking makes nothing");
}

#[test]
fn errors_are_json_for_programs() {
    let world = world();
    world.ingest(&line("a", 1_000, "a"));
    for (args, code) in [
        (&["show", "nosuch", "--json"][..], 4),
        (&["events", "--since", "soon", "--json"], 2),
        (&["evnets", "--json"], 2),
    ] {
        let ran = world.tome(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{args:?}");
        let error: Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!(error["exit_code"], code, "{error}");
        assert!(error["error"].as_str().is_some_and(|text| !text.is_empty()), "{error}");
    }
}

#[test]
fn the_overview_shows_counts() {
    let world = world();
    for (id, cwd, session, agent) in [
        ("a", "/one", "s1", "codex"),
        ("b", "/one", "s1", "codex"),
        ("c", "/one", "s2", "gemini"),
        ("d", "/two", "s3", "codex"),
    ] {
        world.ingest(&line_with(
            &json!({"id": id, "cwd": cwd, "session_id": session, "agent": agent}),
        ));
    }
    let overview = world.tome(&["--json"]).json();
    assert_eq!(overview["events"], 4);
    let find = |list: &str, name: &str, value: &str| -> Value {
        let found = overview[list].as_array().unwrap().iter().find(|one| one[name] == value);
        found.unwrap().clone()
    };
    let one = find("projects", "root", "/one");
    assert_eq!((&one["events"], &one["sessions"]), (&json!(3), &json!(2)));
    let codex = find("agents", "agent", "codex");
    assert_eq!((&codex["events"], &codex["sessions"]), (&json!(3), &json!(2)));
    let text = world.tome(&[]).stdout;
    for part in [
        "4 events",
        "3 sessions",
        "2 projects",
        "/one",
        "/two",
        "Last session",
        "its folder no longer exists",
        "daemon running",
        "on disk",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

fn doctor(world: &World) -> (i32, Value) {
    let ran = world.tome(&["doctor", "--json"]);
    (ran.code, ran.json())
}

/// Returns the doctor's verdicts on one item.
fn verdicts(report: &Value, what: &str) -> Vec<String> {
    let checks = report["checks"].as_array().unwrap();
    checks
        .iter()
        .filter(|check| check["what"] == what)
        .map(|check| check["verdict"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_doctor_passes_in_an_empty_home() {
    let world = world();
    let (code, report) = doctor(&world);
    assert_eq!((code, &report["ok"]), (0, &Value::Bool(true)), "{report:#}");
    assert!(!world.home().exists(), "looking makes nothing");
}

#[test]
fn the_doctor_passes_in_a_healthy_home() {
    let world = world();
    world.ingest(&line("a", 1_000, "a"));
    world.hook(&["codex"], prompt("b"));
    world.events();
    let (code, report) = doctor(&world);
    assert_eq!((code, &report["ok"]), (0, &Value::Bool(true)), "{report:#}");
    for what in ["config", "home", "permissions", "daemon", "stores", "spool"] {
        assert_eq!(verdicts(&report, what), ["good"], "{report:#}");
    }
    let text = world.tome(&["doctor"]).stdout;
    assert!(text.lines().all(|line| line.starts_with("ok")), "{text}");
}

#[test]
fn the_doctor_finds_a_file_that_others_can_read() {
    let world = world();
    world.ingest(&line("a", 1_000, "a"));
    let lock = world.home().join("run/daemon.lock");
    std::fs::set_permissions(&lock, std::fs::Permissions::from_mode(0o644)).unwrap();
    let (code, report) = doctor(&world);
    assert_eq!((code, verdicts(&report, "permissions")), (1, vec!["bad".into()]));
    let text = world.tome(&["doctor"]).stdout;
    assert!(text.contains("daemon.lock") && text.contains("chmod"), "{text}");
}

#[test]
fn the_doctor_reports_spooled_events_and_damage() {
    let world = world();
    world.write("home/spool/events.jsonl", &line("a", 1_000, "a"));
    world.write("home/spool/damaged.jsonl", "torn\n");
    std::fs::write(world.config_file(), "[daemon]\nautostart = false\n").unwrap();
    let (_, report) = doctor(&world);
    assert_eq!(verdicts(&report, "spool"), ["warning", "warning"]);
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let world = world();
    let lines: String =
        (0..3_000).map(|n| line(&format!("n{n}"), n, "some words to fill the pipe with")).collect();
    world.ingest(&lines);
    for args in [
        &["events", "--limit", "0"][..],
        &["events", "--limit", "0", "--json"],
        &["completions", "bash"],
        &["man"],
        &["--help"],
    ] {
        let mut child =
            world.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(!first.is_empty());
        let ran = CommandResult::from(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "tome {args:?}");
    }
}

/// With a full disk behind stdout, lost output must not look like success.
#[test]
fn output_that_cannot_be_written_is_a_failure() {
    let world = world();
    world.ingest(&line("a", 1_000, "a"));
    for args in [&["events"][..], &["events", "--json"], &["show", "a"], &["status"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut child = world.command(args).stdout(full).stderr(Stdio::null()).spawn().unwrap();
        assert!(!child.wait().unwrap().success(), "tome {args:?}");
    }
}

#[test]
fn every_command_supports_json() {
    let world = world();
    world.ingest(&line("abcdef", 1_000, "a"));
    for args in [
        &[][..],
        &["events"],
        &["show", "abcdef"],
        &["ingest"],
        &["status"],
        &["config"],
        &["doctor"],
        &["start"],
        &["admin", "flush"],
        &["admin", "compact"],
        &["tool"],
        &["init"],
        &["memory", "append", "facts/a.md", "--entry", "- b"],
        &["memory", "list"],
        &["memory", "view"],
        &["memory", "read", "facts/a.md"],
        &["memory", "log"],
        &["memory", "diff", "facts/a.md"],
        &["memory", "patch", "facts/a.md", "--old", "- b", "--new", "- c"],
        &["memory", "restore", "facts/a.md"],
        &["memory", "delete", "facts/a.md"],
        &["coder", "recall", "anything"],
        &["coder", "tidy"],
        &["stop"],
        &["status", "--reset-lost"],
    ] {
        let ran = world.tome(&[args, &["--json"]].concat());
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "tome {args:?}");
        assert!(!ran.json_lines().is_empty(), "tome {args:?}");
        assert!(ran.json_lines().iter().all(Value::is_object), "tome {args:?}");
    }
}

#[test]
fn the_fields_of_an_event_have_stable_names() {
    let world = world();
    world.ingest(&line_with(&json!({
        "id": "abcdef", "kind": "tool_result", "meta": {"k": 1}, "tool": {"name": "t", "input": 1, "output": 2},
    })));
    let event = world.tome(&["show", "abcdef", "--json"]).json();
    let names: Vec<&String> = event.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "id",
            "at",
            "arrived",
            "session_id",
            "agent",
            "project",
            "cwd",
            "kind",
            "role",
            "text",
            "tool",
            "meta"
        ]
    );
}

#[test]
fn colors_are_used_on_request() {
    let world = world();
    world.ingest(&line("a", 1_000, "a"));
    let coloured = |args: &[&str]| world.tome(args).stdout.contains('\u{1b}');
    assert!(!coloured(&["events"]));
    assert!(coloured(&["--color", "always", "events"]));
    assert!(!coloured(&["--color", "never", "events"]));
    assert!(!coloured(&["--color", "always", "events", "--json"]));
}

#[test]
fn the_demo_shows_the_main_job_on_one_screen() {
    let world = world();
    for columns in ["60", "80"] {
        let ran = World::run(world.command(&["demo"]).env("COLUMNS", columns), b"");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        for part in [
            "is recorded",
            "starts with it",
            "Recall answers",
            "all 41 lexer tests pass",
            "tome setup",
        ] {
            let words: Vec<&str> = ran.stdout.split_whitespace().collect();
            assert!(words.join(" ").contains(part), "{part} in {}", ran.stdout);
        }
        for line in ran.stdout.lines() {
            assert!(line.chars().count() <= columns.parse().unwrap(), "{line}");
        }
        assert!(!ran.stdout.contains("AKIA"), "no key: {}", ran.stdout);
        let lines = ran.stdout.lines().count();
        assert!(columns == "60" || lines <= 24, "{lines} lines:\n{}", ran.stdout);
    }
    assert!(!world.home().exists(), "nothing of one's own is touched");
}

#[test]
fn flush_and_compact_keep_everything() {
    let world = world();
    for n in 0..5 {
        world.ingest(&line(&format!("n{n}"), n, "words"));
        assert_eq!(world.tome(&["admin", "flush"]).code, 0);
    }
    let ran = world.tome(&["admin", "compact"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(world.events().len(), 5);
    world.kill_daemon();
    assert_eq!(world.events().len(), 5);
}
