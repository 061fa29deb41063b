//! Recorded text cannot control the reader's terminal, whichever command prints it.

use serde_json::json;

use crate::support::{MORNING_MS, line_with, world};

/// Clears the screen, sets the clipboard, renames the window, hides text, with 7-bit and 8-bit
/// sequences.
const HOSTILE: &str =
    "\u{1b}[2J\u{1b}]52;c;aGk=\u{7}\u{1b}]0;x\u{1b}\\\u{1b}[8m\u{9b}2J\u{202e}\u{8}\r";

#[test]
fn no_command_prints_a_recorded_escape_sequence() {
    let world = world();
    let root = world.folder(&format!("app{}", "\u{1b}]52;c;aGk=\u{7}\u{202e}"));
    let cwd = root.to_str().unwrap();
    let event = |n: u64, fields: serde_json::Value| {
        let mut line = json!({
            "id": format!("e{n}"), "at": MORNING_MS + n * 60_000, "session_id": "s1", "cwd": cwd,
        });
        line.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        line_with(&line)
    };
    let lines = [
        event(1, json!({"kind": "user_message", "text": format!("fix the lexer {HOSTILE}")})),
        event(
            2,
            json!({
                "kind": "tool_result", "text": "",
                "tool": {"name": format!("shell{HOSTILE}"), "input": {"command": format!("ls {HOSTILE}")},
                         "output": format!("lexer.rs {HOSTILE}")},
            }),
        ),
        event(
            3,
            json!({"kind": "assistant_stop", "text": format!("the lexer is fixed {HOSTILE}")}),
        ),
    ];
    world.ingest(&lines.concat());
    let note = json!({"path": "facts/a.md", "content": format!("# Facts {HOSTILE}\n\n- lexer {HOSTILE}\n")});
    world.tome(&["tool", "memory_write", &note.to_string(), "--project", cwd]);
    let commands: [&[&str]; 14] = [
        &[],
        &["events", "--all-projects"],
        &["events", "--all-projects", "--json"],
        &["show", "e1"],
        &["show", "e2"],
        &["show", "e2", "--json"],
        &["recall", "lexer", "--all-projects"],
        &["recall", "lexer", "--all-projects", "--json"],
        &["toc", "--all-projects"],
        &["toc", "--all-projects", "--depth", "5"],
        &["status"],
        &["doctor"],
        &["memory", "list", "--project", cwd],
        &["events", "--project", "/none\u{1b}]52;c;aGk=\u{7}"],
    ];
    for args in commands {
        for colour in ["never", "always"] {
            let args = [&["--color", colour], args].concat();
            let ran = world.tome(&args);
            for printed in [&ran.stdout, &ran.stderr] {
                let own = printed
                    .replace("\u{1b}[0m", "")
                    .replace("\u{1b}[1m", "")
                    .replace("\u{1b}[2m", "")
                    .replace("\u{1b}[31m", "")
                    .replace("\u{1b}[32m", "")
                    .replace("\u{1b}[33m", "");
                let steers = |c: char| {
                    (c.is_control() && c != '\n' && c != '\t')
                        || ('\u{202a}'..='\u{202e}').contains(&c)
                };
                assert!(!own.contains(steers), "{args:?}: {own:?}");
            }
        }
    }
}
