//! Undo from various states.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::{AGENTS, actions, done, file, five, one, read, run, tree, write};

/// A file that changed since loses Tome's parts and keeps the rest.
#[test]
fn a_changed_file_loses_only_tomes_parts() {
    let world = one("claude-code");
    write(&world, ".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    done(&world, &[]);
    let changed = read(&world, ".claude/settings.json").replace("opus", "sonnet");
    write(&world, ".claude/settings.json", &changed);
    let ran = run(&world, &["--undo", "--dry-run"]);
    assert!(
        ran.stdout.contains("changed since setup: only Tome's parts are removed"),
        "{}",
        ran.stdout
    );
    let changes = actions(&world, &done(&world, &["--undo"]));
    assert_eq!(changes[".claude/settings.json"], "strip");
    assert_eq!(read(&world, ".claude/settings.json"), "{\n  \"model\": \"sonnet\"\n}\n");
}

/// The same if the client itself keeps rewriting the file, as Claude Code does, and if Tome created
/// it.
#[test]
fn a_file_created_by_tome_keeps_the_content_of_others() {
    let world = one("claude-code");
    done(&world, &[]);
    let state: Value = serde_json::from_str(&read(&world, ".claude.json")).unwrap();
    let mut more = state.clone();
    more["numStartups"] = json!(7);
    write(&world, ".claude.json", &serde_json::to_string_pretty(&more).unwrap());
    done(&world, &["--undo"]);
    let left: Value = serde_json::from_str(&read(&world, ".claude.json")).unwrap();
    assert_eq!(left, json!({"numStartups": 7}));
    done(&world, &[]);
    let reformatted: Value = serde_json::from_str(&read(&world, ".claude/settings.json")).unwrap();
    write(&world, ".claude/settings.json", &reformatted.to_string());
    done(&world, &["--undo"]);
    assert!(!file(&world, ".claude/settings.json").exists(), "nothing else was in it");
}

#[test]
fn changed_toml_loses_only_tomes_parts() {
    let world = one("codex");
    let before = "model = \"a\"\n\n[mcp_servers.other]\ncommand = \"x\"\n";
    write(&world, ".codex/config.toml", before);
    done(&world, &[]);
    let more =
        read(&world, ".codex/config.toml") + "startup_timeout_sec = 9\n\n# the end\n[tui]\nb = 2\n";
    write(&world, ".codex/config.toml", &more);
    assert_eq!(done(&world, &[])["applied"], false);
    done(&world, &["--undo"]);
    assert_eq!(read(&world, ".codex/config.toml"), format!("{before}\n# the end\n[tui]\nb = 2\n"));
}

/// A setup after a user's change keeps that change through an undo.
#[test]
fn a_second_setup_keeps_the_users_change() {
    let world = one("claude-code");
    write(&world, ".claude/settings.json", "{ \"model\": \"opus\" }\n");
    done(&world, &[]);
    let own = world.program().display().to_string();
    let moved = read(&world, ".claude/settings.json").replace(&own, "/gone/tome");
    write(&world, ".claude/settings.json", &moved.replace("opus", "haiku"));
    done(&world, &[]);
    done(&world, &["--undo"]);
    assert_eq!(read(&world, ".claude/settings.json"), "{ \"model\": \"haiku\" }\n");
}

/// After a crash in the middle: a recorded but missing change is recognized by the file itself.
#[test]
fn an_interrupted_setup_can_be_undone() {
    let world = five();
    write(&world, ".claude/settings.json", "{\"a\": 1}");
    write(&world, ".codex/config.toml", "model = \"a\"\n");
    let before = tree(&world.folder("person"));
    done(&world, &[]);
    write(&world, ".claude/settings.json", "{\"a\": 1}");
    std::fs::remove_file(file(&world, ".codex/hooks.json")).unwrap();
    std::fs::remove_dir_all(file(&world, ".config/opencode/plugins")).unwrap();
    done(&world, &["--undo"]);
    assert_eq!(tree(&world.folder("person")), before);
}

/// One agent of several; files that another one still uses stay.
#[test]
fn agents_can_be_undone_one_at_a_time() {
    let world = five();
    let before = tree(&world.folder("person"));
    done(&world, &[]);
    let shared = ".agents/skills/tome-memory/SKILL.md";
    for (agent, folder) in AGENTS {
        assert!(file(&world, shared).exists(), "before {agent}");
        done(&world, &["--undo", "--agent", agent]);
        assert_eq!(tree(&file(&world, folder)).len(), 0, "{agent}");
    }
    assert_eq!(tree(&world.folder("person")), before);
}

/// Without a journal (another home, a lost one) Tome's parts are recognized by their content.
#[test]
fn an_installation_without_a_journal_can_be_undone() {
    let world = five();
    write(&world, ".claude/settings.json", "{\n  \"model\": \"opus\"\n}\n");
    done(&world, &[]);
    std::fs::remove_dir_all(world.home().join("setup")).unwrap();
    let ran = run(&world, &["--undo", "--yes"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(read(&world, ".claude/settings.json"), "{\n  \"model\": \"opus\"\n}\n");
    let left = tree(&world.folder("person"));
    for (path, text) in &left {
        assert!(!text.contains("hook") && !text.contains("mcp\""), "{}: {text}", path.display());
    }
}

#[test]
fn a_deleted_file_stays_deleted() {
    let world = one("gemini");
    write(&world, ".gemini/settings.json", "{}\n");
    done(&world, &[]);
    std::fs::remove_file(file(&world, ".gemini/settings.json")).unwrap();
    let ran = run(&world, &["--undo", "--yes"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("deleted by you"), "{}", ran.stdout);
    assert!(!file(&world, ".gemini/settings.json").exists());
}

/// A file that broke after setup is not touched; once it is fixed, undo continues.
#[test]
fn a_file_broken_since_is_not_touched() {
    let world = one("gemini");
    done(&world, &[]);
    let wired = read(&world, ".gemini/settings.json");
    write(&world, ".gemini/settings.json", &wired.replacen('{', "{ oops", 1));
    let ran = run(&world, &["--undo", "--yes"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("was not touched: line 1"), "{}", ran.stdout);
    write(&world, ".gemini/settings.json", &wired);
    done(&world, &["--undo"]);
    assert!(!file(&world, ".gemini/settings.json").exists());
}

/// The stored originals are private to their owner.
#[test]
fn the_journal_is_private() {
    let world = one("claude-code");
    write(&world, ".claude/settings.json", "{\"env\": {\"TOKEN\": \"x\"}}");
    done(&world, &[]);
    let all = tree(&world.home().join("setup"));
    assert!(all.values().any(|text| text.contains("TOKEN")), "what it was is kept");
    for path in all.keys() {
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}", path.display());
    }
    done(&world, &["--undo"]);
    let left = tree(&world.home().join("setup"));
    assert!(!left.values().any(|text| text.contains("TOKEN")), "and let go: {left:?}");
}
