//! Sessions at the terminal: list, page, conversation, resume and report.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tome_testkit::World;

use crate::support::{MORNING_MS, line_with, world};

const ONE: &str = "419f42f0-2fa1-44cc-8b4d-babf59901513";
const OTHER: &str = "419f42f1-0000-44cc-8b4d-babf59901513";

/// A session of `/app` with a prompt, a failed and a passed command, a commit and an answer.
fn session(id: &str, agent: &str, branch: &str, minutes: u64, ask: &str, answer: &str) -> String {
    let at = MORNING_MS + minutes * 60_000;
    let bash = |command: &str, output: Value| json!({"name": "Bash", "input": {"command": command}, "output": output});
    let tests = bash("cargo test", json!("Exit code 101\nerror[E0308]: mismatched types"));
    let commit = bash(
        "git commit -m 'Accept unicode identifiers'",
        json!({"stdout": "[feature/unicode 469cb2e] Accept unicode identifiers\n 1 file changed", "stderr": ""}),
    );
    let event = |number: u64, fields: Value| {
        let mut line = json!({
            "id": format!("{id}-{number}"), "session_id": id, "agent": agent,
            "at": at + number * 1_000,
            "meta": {"branch": branch},
        });
        for (name, value) in fields.as_object().unwrap() {
            line[name] = value.clone();
        }
        line_with(&line)
    };
    let second = if branch == "main" { bash("ls", json!({"stdout": "src"})) } else { commit };
    event(0, json!({"text": ask}))
        + &event(1, json!({"kind": "tool_result", "text": "", "tool": tests}))
        + &event(2, json!({"kind": "tool_result", "text": "", "tool": second}))
        + &event(3, json!({"kind": "assistant_message", "text": answer}))
}

fn two_sessions() -> World {
    let world = world();
    let ask = "Please make the lexer accept unicode identifiers.";
    let answer = "Fixed: identifiers in `lexer.rs` follow the XID rules now.";
    world.ingest(&session(ONE, "claude-code", "feature/unicode", 0, ask, answer));
    let ask = "Explain the \u{1b}]52;c;aGk=\u{7} parser.";
    world.ingest(&session(
        OTHER,
        "codex",
        "main",
        24 * 60,
        ask,
        "It is a recursive descent parser.",
    ));
    world
}

fn listed(world: &World, args: &[&str]) -> Vec<String> {
    let ran = world.tome(&[&["sessions", "--json"], args].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
    ran.json_lines().iter().map(|one| one["session_id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn sessions_are_listed_by_time_agent_branch_and_words() {
    let world = two_sessions();
    assert_eq!(listed(&world, &[]), [OTHER, ONE], "the latest first");
    for (args, expected) in [
        (&["--agent", "codex"][..], &[OTHER][..]),
        (&["--branch", "unicode"], &[ONE]),
        (&["--branch", "main"], &[OTHER]),
        (&["XID"], &[ONE]),
        (&["2026-11-15"], &[ONE]),
        (&["--on", "2026-11-16"], &[OTHER]),
        (&["--since", "2026-11-16"], &[OTHER]),
        (&["--until", "2026-11-16"], &[ONE]),
        (&["unicode", "on", "2026-11-16"], &[]),
        (&["-n", "1"], &[OTHER]),
    ] {
        assert_eq!(listed(&world, args), expected, "{args:?}");
    }
    for alias in ["session", "log", "ls"] {
        assert_eq!(
            world.tome(&[alias, "--json"]).stdout,
            world.tome(&["sessions", "--json"]).stdout
        );
    }
    let text = world.tome(&["sessions", "-n", "1"]).stdout;
    assert!(text.contains("419f42f1") && !text.contains(OTHER), "ids are short: {text}");
    assert!(text.contains("1 earlier session"), "{text}");
    assert!(world.tome(&["sessions", "nosuchword"]).stderr.contains("no sessions match"));
}

#[test]
fn a_unique_prefix_names_a_session_everywhere() {
    let world = two_sessions();
    let page = world.tome(&["show", "419f42f0"]);
    assert_eq!((page.code, page.stderr.as_str()), (0, ""));
    for part in ["on feature/unicode", "Commits", "tome read 419f42f0", "no longer exists"] {
        assert!(page.stdout.contains(part), "{part} in {}", page.stdout);
    }
    assert_eq!(world.tome(&["sessions", "419f42f0"]).stdout, page.stdout);
    let ambiguous = world.tome(&["show", "419f"]);
    assert_eq!(ambiguous.code, 2, "{}", ambiguous.stderr);
    for part in ["419f42f0", "Accept unicode identifiers", "419f42f1", "Explain the"] {
        assert!(ambiguous.stderr.contains(part), "{part} in {}", ambiguous.stderr);
    }
    let events = world.tome(&["events", "--session", "419f42f0", "--json"]).json_lines();
    assert_eq!(events.len(), 4);
    let hits = world.tome(&["recall", "identifiers", "--session", "419f42f0", "--json"]);
    assert_eq!(hits.code, 0, "{}", hits.stderr);
    let call = json!({"session_id": "419f42f1"}).to_string();
    let tool = world.tome(&["tool", "get_events", &call, "--project", "/app"]);
    assert!(tool.stdout.contains("recursive descent"), "{}{}", tool.stdout, tool.stderr);
    assert_eq!(world.tome(&["show", "nosuch"]).code, 4);
}

#[test]
fn a_conversation_is_read_as_text_and_as_json() {
    let world = two_sessions();
    let text = world.tome(&["read", "419f42f0"]);
    assert_eq!((text.code, text.stderr.as_str()), (0, ""));
    for part in [
        "│ Please make",
        "✗ cargo test  exit 101",
        "✓ git commit",
        "XID rules",
        "── 1 · Sun, Nov 15",
    ] {
        assert!(text.stdout.contains(part), "{part} in {}", text.stdout);
    }
    let latest = world.tome(&["read"]).stdout;
    assert!(latest.contains("Explain the \u{fffd}]52;c;aGk=\u{fffd} parser."), "{latest}");
    let lines = world.tome(&["read", "419f42f0", "--json"]).json_lines();
    assert_eq!((&lines[0]["session_id"], &lines[1]["turn"]), (&json!(ONE), &json!(1)));
    assert_eq!(lines[1]["steps"][0]["outcome"], "failed");
    let number = lines[1]["steps"][1]["number"].to_string();
    let cited = world.tome(&["read", &number, "--project", "/app"]).stdout;
    assert!(cited.contains(&format!("▶ #{number}\n  ✓ git commit")), "{cited}");
    assert_eq!(world.tome(&["read", "419f42f0", "--turn", "1"]).stdout, text.stdout);
    assert_eq!(world.tome(&["read", "419f42f0", "--turn", "9"]).code, 4);
    assert_eq!(world.tome(&["read", "nosuch"]).code, 4);
}

#[test]
fn a_session_is_resumed_in_its_folder() {
    let world = two_sessions();
    let printed = world.tome(&["resume", "419f42f0"]);
    assert_eq!(printed.stdout, format!("cd /app && claude --resume {ONE}\n"));
    let json = world.tome(&["resume", "419f42f1", "--json"]).json();
    assert_eq!(
        (&json["cwd"], &json["command"]),
        (&json!("/app"), &json!(format!("codex resume {OTHER}")))
    );
    let list = world.tome(&["resume"]);
    assert_eq!((list.code, list.stdout.as_str()), (1, ""));
    assert!(
        list.stderr.contains("419f42f0") && list.stderr.contains("419f42f1"),
        "{}",
        list.stderr
    );
    world.ingest(&line_with(&json!({"session_id": "x; rm -rf ~", "agent": "codex"})));
    let hostile = world.tome(&["resume", "x; rm"]);
    assert_eq!((hostile.code, hostile.stdout.as_str()), (1, ""));
    assert_eq!(world.tome(&["resume", "nosuch"]).code, 4);
}

#[test]
fn a_report_is_markdown_and_replaces_no_file() {
    let world = two_sessions();
    let report = world.tome(&["report", "in November 2026", "--sources"]).stdout;
    for part in [
        "# Report: Nov 1",
        "## app",
        "### feature/unicode",
        "### main",
        "**Commits**",
        "Accept unicode identifiers",
        "(#3)",
    ] {
        assert!(report.contains(part), "{part} in {report}");
    }
    assert!(!report.contains('\u{1b}'), "{report}");
    let file = world.path().join("report.md");
    let write = || world.tome(&["report", "2026-11-15", "--out", file.to_str().unwrap()]);
    assert_eq!(write().code, 0);
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(written.contains("identifiers") && !written.contains("parser"), "{written}");
    assert_eq!(write().code, 2, "an existing file is kept");
    let json = world.tome(&["report", "2026-11-15", "--json"]).json();
    let fact = &json["projects"][0]["branches"][0]["sessions"][0]["facts"][0];
    assert!(fact["event"].as_str().is_some_and(|id| id.starts_with(ONE)), "{json:#}");
    assert!(world.tome(&["report", "--standup"]).stdout.contains("**Open**"));
    let standup = world.tome(&["report", "--standup", "2026-11-16", "--json"]).json();
    let titles = |day: &str| standup[day]["projects"].to_string();
    assert!(titles("yesterday").contains(ONE) && titles("today").contains(OTHER), "{standup}");
    assert_eq!(world.tome(&["report", "some", "day"]).code, 2);
}

/// Runs a command on a terminal of its own, with these keys typed. `None` where `script` of
/// util-linux is missing.
fn run_on_terminal(world: &World, args: &[&str], keys: &str, pager: &str) -> Option<String> {
    let version = Command::new("script").arg("--version").output().ok()?;
    if !String::from_utf8_lossy(&version.stdout).contains("util-linux") {
        println!("skipped: no script of util-linux");
        return None;
    }
    let program = world.program().to_str().unwrap();
    let typed = format!("{program} {}", args.join(" "));
    let inner = world.command(&[]);
    let mut script = Command::new("script");
    script.args(["-qec", &typed, "/dev/null"]).env_clear();
    script.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?))));
    script.env("TERM", "xterm").env("PAGER", pager).env("COLUMNS", "80");
    let ran = World::run(script.stdout(Stdio::piped()), keys.as_bytes());
    Some(ran.stdout)
}

#[test]
fn the_picker_filters_while_typing() {
    let world = two_sessions();
    let Some(shown) = run_on_terminal(&world, &["resume"], "unic\r", "cat") else { return };
    assert!(shown.contains("❯") && shown.contains("type to filter"), "{shown}");
    assert!(shown.contains(&format!("cd /app && claude --resume {ONE}")), "{shown}");
}

#[test]
fn a_pager_opens_the_conversation_at_the_citation() {
    let world = two_sessions();
    let number = world.tome(&["read", "419f42f0", "--json"]).json_lines()[1]["steps"][1]["number"]
        .to_string();
    // A pager that prints its arguments, then its input.
    let pager = world.write("less", "#!/bin/sh\necho \"args $*\"\nexec cat\n");
    let mode = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o755);
    std::fs::set_permissions(&pager, mode).unwrap();
    let args = ["read", number.as_str(), "--project", "/app"];
    let Some(shown) = run_on_terminal(&world, &args, "", pager.to_str().unwrap()) else { return };
    assert!(shown.contains("args +3/^(── |▶ )"), "{shown}");
    assert!(shown.contains("\u{1b}[32m") && shown.contains("n next prompt"), "{shown}");
    assert!(!shown.contains("\u{1b}]52"), "{shown}");
}
