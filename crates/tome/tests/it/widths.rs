//! Every screen fits 60, 80, 100 and 160 columns, and has no styles where there is no terminal.

use std::path::Path;

use expect_test::expect;
use serde_json::json;
use tome_terminal::display_width;
use tome_testkit::{CommandResult, World};

use crate::support::{MORNING_MS, line_with, world};

const WIDTHS: [usize; 4] = [60, 80, 100, 160];
const SESSION: &str = "419f42f0-2fa1-44cc-8b4d-babf59901513";

/// A session with long texts, a failed command and a note.
fn filled() -> World {
    let world = world();
    let app = world.folder("person/app");
    let event = |minute: u64, fields: serde_json::Value| {
        let mut line = json!({
            "id": format!("event-{minute}"), "session_id": SESSION, "agent": "claude-code",
            "cwd": app, "at": MORNING_MS + minute * 60_000, "meta": {"branch": "feature/unicode-identifiers"},
        });
        for (name, value) in fields.as_object().unwrap() {
            line[name] = value.clone();
        }
        line_with(&line)
    };
    let ask = "Please make the lexer accept unicode identifiers in every place where it reads a name. Always run the tests before you commit.";
    let failed = json!({
        "name": "Bash", "input": {"command": "cargo test --workspace --all-features -- --nocapture lexer::identifiers"},
        "output": "Exit code 101\nerror[E0308]: mismatched types: expected `char`, found `&str`",
    });
    let answer = "Decided to use `unicode_ident`, because it is small and has no dependencies. Identifiers in src/lexer.rs follow the XID rules now.";
    world.ingest(&event(0, json!({"text": ask})));
    world.ingest(&event(1, json!({"kind": "tool_result", "text": "", "tool": failed})));
    world.ingest(&event(2, json!({"kind": "assistant_message", "text": answer})));
    let entry = json!({"path": "facts/project.md", "entry": "- Database: SQLite, because the program is used by one person"});
    let mut command =
        world.command(&["tool", "memory_append", &entry.to_string(), "--agent", "codex"]);
    assert_eq!(World::run(command.current_dir(&app), b"").code, 0);
    world
}

fn run_at(world: &World, width: usize, args: &[&str]) -> CommandResult {
    let mut command = world.command(args);
    command.env("COLUMNS", width.to_string()).current_dir(world.folder("person/app"));
    World::run(&mut command, b"")
}

/// Columns of a label, behind which a long word stays.
const LABEL_COLUMNS: usize = 9;

/// Lines that do not fit. A word that is longer than a line cannot be wrapped.
fn wide_lines(text: &str, width: usize) -> Vec<&str> {
    let is_wide = |line: &&str| display_width(line) > width;
    let fits = |word: &str| display_width(word) + LABEL_COLUMNS <= width;
    let is_breakable = |line: &&str| line.trim_start().contains(' ') && line.split(' ').all(fits);
    text.lines().filter(is_wide).filter(is_breakable).collect()
}

#[test]
fn every_screen_fits_the_terminal() {
    let world = filled();
    let backup = world.path().join("home.backup");
    let backup = backup.to_str().unwrap();
    assert_eq!(world.tome(&["backup", backup]).code, 0);
    let screens: [&[&str]; 32] = [
        &[],
        &["sessions"],
        &["sessions", "--all-projects"],
        &["show", "419f"],
        &["read", "419f"],
        &["projects"],
        &["status"],
        &["doctor"],
        &["config"],
        &["config", "--all"],
        &["topics"],
        &["instructions"],
        &["toc"],
        &["toc", "2026"],
        &["events"],
        &["file", "src/lexer.rs"],
        &["recall", "unicode identifiers"],
        &["memory", "list"],
        &["memory", "log"],
        &["coder", "list"],
        &["injections"],
        &["init"],
        &["tool"],
        &["admin", "status"],
        &["import", "--dry-run"],
        &["setup", "--dry-run"],
        &["restore", "--check", backup],
        &["restore", backup],
        &["-h"],
        &["sesions"],
        &["show", "nosuch"],
        &["report", "yesteryear"],
    ];
    let mut wide = Vec::new();
    for args in screens {
        for width in WIDTHS {
            let ran = run_at(&world, width, args);
            for text in [&ran.stdout, &ran.stderr] {
                assert!(!text.contains('\u{1b}'), "{args:?}: {text}");
                let lines = wide_lines(text, width).into_iter();
                wide.extend(lines.map(|line| format!("{args:?} at {width}: {line}")));
            }
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

/// The same command at four widths; widths with the same lines are joined.
fn at_four_widths(world: &World, args: &[&str]) -> String {
    let mut screens: Vec<(String, String)> = Vec::new();
    for width in WIDTHS {
        let ran = run_at(world, width, args);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
        let shown: String = ran.stdout.lines().map(|line| without_details(line) + "\n").collect();
        match screens.last_mut().filter(|(_, last)| *last == shown) {
            Some((widths, _)) => *widths = format!("{widths}, {width}"),
            None => screens.push((width.to_string(), shown)),
        }
    }
    let screens = screens.iter().map(|(widths, shown)| format!("at {widths}:\n{shown}"));
    screens.collect::<Vec<_>>().join("\n")
}

/// Leaves out what differs between machines: times, sizes, the path of the program.
fn without_details(line: &str) -> String {
    let cut = [(", until ", "<time>"), ("\"command\": ", "<program>"), (" events, ", "<size>")];
    let found = cut.iter().find_map(|(end, rest)| Some((line.split_once(end)?.0, end, rest)));
    found.map_or(line.to_owned(), |(before, end, rest)| format!("{before}{end}{rest}"))
}

#[test]
fn pause_export_and_setup_are_summarized() {
    let world = filled();
    let person = world.folder("person");
    let file = person.join("session.md");
    let out = |file: &Path| file.to_str().unwrap().to_owned();
    let screens = [
        at_four_widths(&world, &["pause", "1h"]),
        at_four_widths(&world, &["pause"]),
        at_four_widths(&world, &["unpause"]),
        at_four_widths(&world, &["export", "419f", "--out", &out(&file), "--force"]),
        at_four_widths(&world, &["setup", "--dry-run", "--agent", "claude-code"]),
    ];
    expect![[r#"
        at 60, 80, 100, 160:
        recording paused for 1 h, until <time>

        at 60, 80, 100, 160:
        recording paused until `tome unpause`

        at 60:
        recording again

        at 80, 100, 160:
        recording was not paused

        at 60, 80, 100, 160:
        ~/session.md  1 session, 3 events, <size>

        at 60, 80, 100, 160:
        Claude Code  not installed
          new     ~/.claude/settings.json  37 lines
            + {
            +   "hooks": {
            +     "SessionStart": [
            … 34 more lines; --diff shows them
          new     ~/.claude.json  5 lines
            + {
            +   "mcpServers": {
            +     "tome": { "command": <program>
            … 2 more lines; --diff shows them
          new     ~/.claude/skills/tome-memory/SKILL.md  37 lines
          new     ~/.claude/agents/memory-navigator.md  21 lines
          new     ~/.claude/commands/memory-search.md  12 lines
          …       2 more files of commands and instructions

        7 files would be written; nothing was changed.
    "#]]
    .assert_eq(&screens.join("\n"));
}
