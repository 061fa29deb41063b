//! Programs at a terminal: `tome browse`, the reader in its pager, the picker.

use std::process::Command;

use serde_json::json;
use tome_testkit::{Signal, TestTerminal, World, eventually, send_signal};

use crate::support::{MORNING_MS, line_with, world};

const SESSION: &str = "419f42f0-2fa1-44cc-8b4d-babf59901513";

/// A session of Claude Code and one of Codex, in a folder that exists.
fn two_sessions() -> World {
    let world = world();
    let folder = world.folder("app");
    let event = |session: &str, agent: &str, minute: u64, kind: &str, text: &str| {
        line_with(&json!({
            "id": format!("{session}-{minute}"), "session_id": session, "agent": agent, "kind": kind,
            "cwd": folder, "at": MORNING_MS + minute * 60_000, "text": text,
        }))
    };
    let ask = "Please make the lexer accept unicode identifiers.";
    let answer = "Fixed: identifiers in lexer.rs follow the XID rules now.";
    world.ingest(&event(SESSION, "claude-code", 0, "user_message", ask));
    world.ingest(&event(SESSION, "claude-code", 1, "assistant_message", answer));
    world.ingest(&event("0198c3f2", "codex", 60, "user_message", "Explain the parser."));
    world
}

/// A command of the world; `None` where there is no terminal for tests.
fn at_terminal(world: &World, args: &[&str], (columns, rows): (u16, u16)) -> Option<TestTerminal> {
    if !TestTerminal::is_available() {
        eprintln!("skipped: there is no `script` of util-linux");
        return None;
    }
    let mut command = world.command(args);
    command.current_dir(world.folder("app"));
    Some(TestTerminal::run(&command, columns, rows))
}

fn has_less() -> bool {
    Command::new("less").arg("--version").output().is_ok()
}

#[test]
fn the_browser_searches_reads_and_resumes() {
    let world = two_sessions();
    let Some(mut terminal) = at_terminal(&world, &["browse"], (80, 24)) else { return };
    terminal.wait_for("2 sessions");
    assert!(terminal.is_full_screen());
    terminal.press("identifiers");
    terminal.wait_until("hits", |screen| {
        screen.contains("hits") && screen.contains("XID") && !screen.contains("searching")
    });
    if has_less() {
        terminal.press("\r");
        terminal.wait_until("the end of the conversation", |screen| {
            screen.contains("│ Please make") && screen.contains("(END)")
        });
        terminal.press("q");
        terminal.wait_for("Esc quit");
    }
    terminal.press("\tr");
    terminal.wait_for("Enter run ");
    terminal.press("p");
    assert_eq!(terminal.wait_for_end(), 0, "{}", terminal.text());
    terminal.wait_for(&format!("claude --resume {SESSION}"));
    assert!(!terminal.is_full_screen(), "the terminal is as it was");
}

#[test]
fn the_browser_walks_the_contents_and_edits_a_note() {
    let world = two_sessions();
    let app = world.folder("app");
    let write = ["memory", "write", "lexer.md", "--content", "# Lexer\n", "--project"];
    assert_eq!(world.tome(&[&write[..], &[app.to_str().unwrap()]].concat()).code, 0);
    let editor = world.write("editor.sh", "#!/bin/sh\necho '- uses XID' >> \"$1\"\n");
    if !TestTerminal::is_available() {
        return;
    }
    let mut command = world.command(&["browse"]);
    command.current_dir(&app).env("EDITOR", format!("sh {}", editor.display()));
    let mut terminal = TestTerminal::run(&command, 100, 24);
    terminal.wait_for("2 sessions");
    terminal.press("\tt");
    for period in ["2026", "November 2026", "Week 46", "Sunday, November 15, 2026"] {
        terminal.wait_for(&format!("Contents  {period}"));
        terminal.press("l");
    }
    terminal.wait_for("the conversation");
    terminal.press("h");
    terminal.wait_for("Contents  Sunday, November 15, 2026");
    // Back to the list, and on to the notes.
    terminal.press("tss");
    terminal.wait_for("1 note");
    terminal.press("e");
    terminal.wait_for("- uses XID");
    terminal.press("q");
    assert_eq!(terminal.wait_for_end(), 0);
    let note = world.tome(&["memory", "read", "lexer.md", "--project", app.to_str().unwrap()]);
    assert!(note.stdout.contains("- uses XID"), "{}", note.stdout);
}

#[test]
fn a_terminated_browser_restores_the_terminal() {
    let world = two_sessions();
    let Some(mut terminal) = at_terminal(&world, &["browse"], (60, 20)) else { return };
    terminal.wait_for("2 sessions");
    send_signal(terminal.pid(), Signal::Term);
    terminal.wait_for_end();
    eventually("the plain screen", || (!terminal.is_full_screen()).then_some(()));
}

#[test]
fn without_a_terminal_the_browser_names_another_command() {
    let world = world();
    let ran = world.tome(&["browse", "flaky", "test"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("tome recall 'flaky test'"), "{}", ran.stderr);
    assert_eq!(world.tome(&["browse", "--json"]).code, 2);
    if TestTerminal::is_available() {
        let mut command = world.command(&["browse"]);
        command.env("TERM", "dumb");
        let mut terminal = TestTerminal::run(&command, 80, 24);
        assert_eq!(terminal.wait_for_end(), 2);
        terminal.wait_for("TERM=dumb");
    }
}

#[test]
fn the_reader_opens_its_pager_and_the_picker_prints_the_command() {
    let world = two_sessions();
    if has_less() {
        // Few rows, so that the pager does not end by itself.
        let Some(mut terminal) = at_terminal(&world, &["read", "419f42f0"], (60, 6)) else {
            return;
        };
        terminal.wait_for("unicode identifiers");
        terminal.press("G");
        terminal.wait_for("XID rules");
        terminal.press("q");
        assert_eq!(terminal.wait_for_end(), 0);
    }
    let Some(mut terminal) = at_terminal(&world, &["resume"], (80, 24)) else { return };
    terminal.wait_for("type to filter");
    terminal.press("unicode");
    terminal.wait_until("one session", |screen| !screen.contains("parser"));
    terminal.press("\r");
    assert_eq!(terminal.wait_for_end(), 0);
    terminal.wait_for(&format!("claude --resume {SESSION}"));
}

#[test]
fn setup_asks_before_it_connects_an_agent_in_part() {
    let world = world();
    let settings = world.write("person/.claude/settings.json", "{ this is not JSON");
    let before = std::fs::read(&settings).unwrap();
    let args = ["setup", "--agent", "claude-code"];
    let Some(mut terminal) = at_terminal(&world, &args, (60, 50)) else { return };
    terminal.wait_for("[y/N]");
    let screen = terminal.text();
    assert!(screen.contains("fail") && screen.contains("Apply the other changes"), "{screen}");
    terminal.press("n\r");
    assert_eq!(terminal.wait_for_end(), 0, "declining is no error");
    terminal.wait_for("Nothing was changed.");
    assert!(!terminal.text().contains("error"), "{}", terminal.text());
    assert_eq!(std::fs::read(&settings).unwrap(), before);
}
