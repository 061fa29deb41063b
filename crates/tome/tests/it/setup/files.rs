//! Config files in all styles: everything that is not Tome's stays, byte for byte.

use std::os::unix::fs::PermissionsExt;

use expect_test::{Expect, expect};
use serde_json::Value;

use super::{done, file, one, program, read, run, tree, write};

/// Installs into this `settings.json` of Claude Code twice and undoes it. Returns the installed
/// text, with the program's path as `TOME`.
fn wired(before: &str) -> String {
    let world = one("claude-code");
    let path = write(&world, ".claude/settings.json", "");
    std::fs::write(&path, before).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    let all = tree(&world.folder("person"));
    done(&world, &[]);
    let after = read(&world, ".claude/settings.json");
    let mode = std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o640, "its mode stays");
    assert_eq!(done(&world, &[])["applied"], false, "again: {after}");
    assert_eq!(read(&world, ".claude/settings.json"), after);
    done(&world, &["--undo"]);
    assert_eq!(tree(&world.folder("person")), all);
    after.replace(&program(&world), "TOME")
}

/// Shows only the lines of two events; the others are alike.
fn check(before: &str, expected: &Expect) {
    let after = wired(before);
    let mut shown = String::new();
    let mut skipping = false;
    for line in after.strip_suffix('\n').unwrap_or(&after).split('\n') {
        let event = line.trim_start().strip_prefix('"').and_then(|rest| rest.split_once("\": ["));
        match event {
            Some(("SessionStart" | "SessionEnd" | "PreToolUse", _)) => skipping = false,
            Some((name, _)) if name.starts_with(|c: char| c.is_uppercase()) => skipping = true,
            _ => {}
        }
        if !skipping {
            shown += &format!("{}\n", line.replace('\t', "→").replace('\r', "␍"));
        }
    }
    expected.assert_eq(&shown);
}

#[test]
fn an_empty_file_is_filled() {
    for before in ["", "{}", "\n\n", "{ }\n", "// mine\n"] {
        let after = wired(before);
        let bare: Vec<&str> = after.lines().filter(|line| !line.trim().starts_with("//")).collect();
        let settings: Value = serde_json::from_str(&bare.join("\n")).unwrap();
        assert_eq!(settings["hooks"].as_object().unwrap().len(), 11, "{before:?}: {after}");
        assert_eq!(after.contains("// mine"), before.contains("// mine"));
    }
}

#[test]
fn comments_order_and_trailing_commas_are_kept() {
    check(
        r#"// my settings
{
    /* the model */ "model": "opus", // best
    "permissions": {
        "allow": ["Bash(ls:*)"], // harmless
    },
    "env": {"A": "1"}, // last one
}
"#,
        &expect![[r#"
            // my settings
            {
                /* the model */ "model": "opus", // best
                "permissions": {
                    "allow": ["Bash(ls:*)"], // harmless
                },
                "env": {"A": "1"}, // last one
                "hooks": {
                    "SessionStart": [
                        { "hooks": [{ "type": "command", "command": "TOME hook claude-code", "timeout": 10 }] }
                    ],
                    "SessionEnd": [
                        { "hooks": [{ "type": "command", "command": "TOME hook claude-code", "timeout": 5 }] }
                    ],
                    "PreToolUse": [
                        { "matcher": "Edit|Write|MultiEdit|NotebookEdit|Agent|Task", "hooks": [{ "type": "command", "command": "TOME hook claude-code", "timeout": 5 }] }
                    ]
                },
            }
        "#]],
    );
}

#[test]
fn foreign_hooks_are_kept() {
    check(
        r#"{
  "hooks": {
    "SessionStart": [
      {
        "matcher": "startup",
        "hooks": [{ "type": "command", "command": "other-memory start" }]
      } // theirs
    ],
    "PreToolUse": [{ "hooks": [] }]
  },
  "model": "opus"
}"#,
        &expect![[r#"
            {
              "hooks": {
                "SessionStart": [
                  {
                    "matcher": "startup",
                    "hooks": [{ "type": "command", "command": "other-memory start" }]
                  }, // theirs
                  { "hooks": [{ "type": "command", "command": "TOME hook claude-code", "timeout": 10 }] }
                ],
                "PreToolUse": [{ "hooks": [] }, { "matcher": "Edit|Write|MultiEdit|NotebookEdit|Agent|Task", "hooks": [{ "type": "command", "command": "TOME hook claude-code", "timeout": 5 }] }],
                "SessionEnd": [
                  { "hooks": [{ "type": "command", "command": "TOME hook claude-code", "timeout": 5 }] }
                ]
              },
              "model": "opus"
            }
        "#]],
    );
}

#[test]
fn tabs_and_windows_line_endings_are_kept() {
    check(
        "{\r\n\t\"model\": \"opus\",\r\n\t\"hooks\": {}\r\n}\r\n",
        &expect![[r#"
            {␍
            →"model": "opus",␍
            →"hooks": {␍
            →→"SessionStart": [␍
            →→→{ "hooks": [{ "type": "command", "command": "TOME hook claude-code", "timeout": 10 }] }␍
            →→],␍
            →→"SessionEnd": [␍
            →→→{ "hooks": [{ "type": "command", "command": "TOME hook claude-code", "timeout": 5 }] }␍
            →→],␍
            →→"PreToolUse": [␍
            →→→{ "matcher": "Edit|Write|MultiEdit|NotebookEdit|Agent|Task", "hooks": [{ "type": "command", "command": "TOME hook claude-code", "timeout": 5 }] }␍
            →→]␍
            →}␍
            }␍
        "#]],
    );
}

#[test]
fn a_single_line_stays_a_single_line() {
    let after = wired(r#"{"a":1,"hooks":{"Stop":[]}}"#);
    assert_eq!(after.lines().count(), 1);
    let ours = r#"[{"hooks":[{"type":"command","command":"TOME hook claude-code","timeout":10}]}]"#;
    let start = format!(r#"{{"a":1,"hooks":{{"Stop":{ours},"SessionStart":{ours}"#);
    assert!(after.starts_with(&start), "{after}");
}

#[test]
fn a_byte_order_mark_is_kept() {
    let after = wired("\u{feff}{\n  \"model\": \"opus\"\n}\n");
    assert!(after.starts_with("\u{feff}{\n  \"model\": \"opus\",\n  \"hooks\": {\n"), "{after}");
}

/// The same for Codex's TOML, with the program's path as `TOME`.
fn check_toml(before: &str, expected: &Expect) {
    let world = one("codex");
    write(&world, ".codex/config.toml", before);
    let all = tree(&world.folder("person"));
    done(&world, &[]);
    let after = read(&world, ".codex/config.toml");
    assert_eq!(done(&world, &[])["applied"], false, "again: {after}");
    done(&world, &["--undo"]);
    assert_eq!(tree(&world.folder("person")), all);
    let after = after.replace(&world.program().display().to_string(), "TOME");
    let after = after.replace(&world.home().display().to_string(), "HOME");
    expected.assert_eq(&after.replace('\r', "␍"));
}

#[test]
fn toml_keeps_comments_and_order() {
    check_toml(
        "# mine\nmodel = \"gpt\"   # the good one\n\n[mcp_servers.other]\ncommand = 'x'\n\n[tui]\na = 1",
        &expect![[r#"
            # mine
            model = "gpt"   # the good one

            [mcp_servers.other]
            command = 'x'

            [tui]
            a = 1

            [mcp_servers.tome]
            command = "TOME"
            args = ["--home", "HOME", "mcp", "--agent", "codex"]
        "#]],
    );
    check_toml(
        "model = \"gpt\"\r\n[mcp_servers]\r\n",
        &expect![[r#"
            model = "gpt"␍
            [mcp_servers]␍
            ␍
            [mcp_servers.tome]␍
            command = "TOME"␍
            args = ["--home", "HOME", "mcp", "--agent", "codex"]␍
        "#]],
    );
    check_toml(
        "mcp_servers = { other = { command = \"x\" } } # inline\n[tui]\n",
        &expect![[r#"
            mcp_servers = { other = { command = "x" }, tome = { command = "TOME", args = ["--home", "HOME", "mcp", "--agent", "codex"] } } # inline
            [tui]
        "#]],
    );
    check_toml(
        "",
        &expect![[r#"
            [mcp_servers.tome]
            command = "TOME"
            args = ["--home", "HOME", "mcp", "--agent", "codex"]
        "#]],
    );
}

/// A linked config (as in a dotfiles repository) stays a link; its target is edited.
#[test]
fn a_linked_file_stays_a_link() {
    let world = one("claude-code");
    let real = world.write("dotfiles/claude.json", "{\n  \"model\": \"opus\"\n}\n");
    let link = file(&world, ".claude/settings.json");
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let dangling = world.folder("dotfiles").join("state.json");
    std::os::unix::fs::symlink(&dangling, file(&world, ".claude.json")).unwrap();
    let (person, dotfiles) = (world.folder("person"), world.folder("dotfiles"));
    let before = (tree(&person), tree(&dotfiles));
    done(&world, &[]);
    assert_eq!(std::fs::read_link(&link).unwrap(), real);
    assert!(std::fs::read_to_string(&real).unwrap().contains("hook claude-code"));
    assert!(std::fs::read_to_string(&dangling).unwrap().contains("mcpServers"));
    assert_eq!(done(&world, &[])["applied"], false);
    done(&world, &["--undo"]);
    assert_eq!((tree(&person), tree(&dotfiles)), before);
}

/// A file that cannot be parsed is not touched; the line is reported, and everything else is done.
#[test]
fn a_broken_file_does_not_affect_other_agents() {
    let cases = [
        ("claude-code", ".claude/settings.json", "{\n  \"model\": opus\n}\n", "line 2"),
        ("claude-code", ".claude/settings.json", "[1, 2]\n", "not a JSON object"),
        ("claude-code", ".claude/settings.json", "{\"hooks\": []}", "`hooks` is not an object"),
        ("claude-code", ".claude/settings.json", "{\"hooks\": {\"Stop\": 7}}", "`hooks.Stop`"),
        ("codex", ".codex/config.toml", "model = \"x\"\n\nmodel = 1\n", "line 3"),
        ("codex", ".codex/config.toml", "mcp_servers = 3\n", "mcp_servers"),
        (
            "gemini",
            ".gemini/settings.json",
            "{\"mcpServers\": {\"tome\": {\"command\": \"npx\"}}}",
            "another server",
        ),
    ];
    for (agent, path, text, message) in cases {
        let world = super::five();
        write(&world, path, text);
        let ran = run(&world, &["--yes"]);
        assert_eq!(ran.code, 1, "{path}: {text}");
        assert!(ran.stdout.contains(message), "{message} in {}", ran.stdout);
        assert!(ran.stdout.contains("was not touched"), "{}", ran.stdout);
        assert_eq!(read(&world, path), text);
        for (other, folder) in super::AGENTS.iter().filter(|(name, _)| *name != agent) {
            let has_ours = tree(&file(&world, folder)).values().any(|text| text.contains("tome"));
            assert!(has_ours, "{other} goes on");
        }
    }
    let world = one("claude-code");
    std::fs::write(file(&world, ".claude/settings.json"), b"{\n\"a\": \"\xff\"}").unwrap();
    let ran = run(&world, &["--yes"]);
    assert!(ran.stdout.contains("line 2") && ran.stdout.contains("UTF-8"), "{}", ran.stdout);
}

#[test]
fn a_read_only_file_is_not_touched() {
    let world = super::five();
    let path = write(&world, ".gemini/settings.json", "{}\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let ran = run(&world, &["--yes"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("read-only"), "{}", ran.stdout);
    assert_eq!(read(&world, ".gemini/settings.json"), "{}\n");
    assert!(read(&world, ".claude/settings.json").contains("hook claude-code"));
}

/// A user's own file with the name of one of Tome's.
#[test]
fn a_users_own_file_is_not_touched() {
    let world = one("claude-code");
    let path = ".claude/commands/memory-search.md";
    write(&world, path, "look it up in my wiki\n");
    let ran = run(&world, &["--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("not Tome's file"), "{}", ran.stdout);
    assert_eq!(read(&world, path), "look it up in my wiki\n");
    done(&world, &["--undo"]);
    assert_eq!(read(&world, path), "look it up in my wiki\n");
}

#[test]
fn opencodes_file_with_comments_is_edited_in_place() {
    let world = one("opencode");
    let text = "{\n  // theme\n  \"theme\": \"dark\",\n}\n";
    write(&world, ".config/opencode/opencode.jsonc", text);
    done(&world, &[]);
    assert!(!file(&world, ".config/opencode/opencode.json").exists());
    let after = read(&world, ".config/opencode/opencode.jsonc");
    let start =
        "{\n  // theme\n  \"theme\": \"dark\",\n  \"mcp\": {\n    \"tome\": { \"type\": \"local\"";
    assert!(after.starts_with(start), "{after}");
}
