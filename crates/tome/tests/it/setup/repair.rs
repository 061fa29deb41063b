//! Outdated, incomplete or redirected installations are repaired, and nothing else is changed.

use serde_json::{Value, json};

use super::{actions, done, file, one, program, read, run, write};

fn claude(world: &tome_testkit::World) -> Value {
    serde_json::from_str(&read(world, ".claude/settings.json")).unwrap()
}

#[test]
fn a_moved_program_is_updated() {
    let world = super::five();
    done(&world, &[]);
    let own = world.program().display().to_string();
    let paths = [
        ".claude/settings.json",
        ".claude.json",
        ".codex/hooks.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".copilot/mcp-config.json",
        ".config/opencode/opencode.json",
    ];
    let wired: Vec<String> = paths.iter().map(|path| read(&world, path)).collect();
    for path in paths {
        write(&world, path, &read(&world, path).replace(&own, "/old/place/tome"));
    }
    let report = done(&world, &[]);
    assert_eq!(report["applied"], true);
    for (path, wired) in paths.iter().zip(&wired) {
        assert_eq!(read(&world, path), *wired, "{path}");
    }
    done(&world, &["--undo"]);
    for path in paths {
        assert!(!file(&world, path).exists(), "{path} was Tome's alone");
    }
}

#[test]
fn an_incomplete_installation_is_completed() {
    let world = one("claude-code");
    done(&world, &[]);
    let wired = claude(&world);
    let mut half = wired.clone();
    half["hooks"].as_object_mut().unwrap().shift_remove("Stop");
    half["hooks"]["PostToolUse"][0]["matcher"] = json!("TodoWrite");
    write(&world, ".claude/settings.json", &half.to_string());
    std::fs::remove_file(file(&world, ".claude/skills/tome-memory/SKILL.md")).unwrap();
    let changes = actions(&world, &done(&world, &[]));
    assert_eq!(changes[".claude/settings.json"], "change");
    assert_eq!(changes[".claude/skills/tome-memory/SKILL.md"], "create");
    assert_eq!(changes[".claude.json"], "keep");
    assert_eq!(claude(&world), wired);
}

/// Hooks of an older Tome: for obsolete events, duplicated, and mixed with others.
#[test]
fn hooks_of_an_older_version_are_cleaned_up() {
    let world = one("claude-code");
    let old = |more: Value| {
        let mut group = json!({"hooks": [{"type": "command", "command": "tome hook claude-code"}]});
        group.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        group
    };
    let theirs = json!({"type": "command", "command": "notify-send done"});
    let settings = json!({"hooks": {
        "PermissionRequest": [old(json!({})), {"hooks": [theirs]}],
        "MessageDisplay": [old(json!({"matcher": "*"}))],
        "Stop": [{"hooks": [theirs, {"type": "command", "command": "/x/tome hook claude-code"}]}],
        "SessionStart": [old(json!({})), old(json!({"matcher": "startup"}))],
    }});
    write(&world, ".claude/settings.json", &serde_json::to_string_pretty(&settings).unwrap());
    done(&world, &[]);
    let hooks = claude(&world)["hooks"].clone();
    let line = format!("{} hook claude-code", program(&world));
    let ours =
        |timeout: u32| json!({"hooks": [{"type": "command", "command": line, "timeout": timeout}]});
    assert_eq!(hooks["PermissionRequest"], json!([{"hooks": [theirs]}]));
    assert_eq!(hooks.get("MessageDisplay"), None);
    assert_eq!(hooks["Stop"], json!([{"hooks": [theirs]}, ours(10)]));
    assert_eq!(hooks["SessionStart"], json!([ours(10)]));
    assert_eq!(done(&world, &[])["applied"], false);
    done(&world, &["--undo"]);
    let left = claude(&world);
    let expected = json!({"hooks": {
        "PermissionRequest": [{"hooks": [theirs]}], "Stop": [{"hooks": [theirs]}],
    }});
    assert_eq!(left, expected, "what it was, without any Tome");
}

/// Settings that users add to Tome's entries stay.
#[test]
fn user_settings_on_tomes_entries_stay() {
    let world = one("claude-code");
    done(&world, &[]);
    let mut settings = claude(&world);
    settings["hooks"]["Stop"][0]["hooks"][0]["timeout"] = json!(60);
    write(&world, ".claude/settings.json", &settings.to_string());
    let servers =
        read(&world, ".claude.json").replace("true }", "false, \"env\": { \"A\": \"1\" } }");
    write(&world, ".claude.json", &servers);
    assert_eq!(done(&world, &[])["applied"], false);
    assert_eq!(claude(&world)["hooks"]["Stop"][0]["hooks"][0]["timeout"], 60);
    let moved = servers.replace("\"mcp\"", "\"--set\", \"a=b\", \"mcp\"");
    write(&world, ".claude.json", &moved);
    done(&world, &[]);
    assert_eq!(read(&world, ".claude.json"), servers, "only what is run is put right");
}

#[test]
fn a_skill_changed_by_the_user_stays() {
    let world = one("claude-code");
    done(&world, &[]);
    let path = ".claude/skills/tome-memory/SKILL.md";
    let mine = read(&world, path) + "\nAlways answer in French.\n";
    write(&world, path, &mine);
    let ran = run(&world, &["--yes"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains("changed by you"), "{}", ran.stdout);
    assert_eq!(read(&world, path), mine);
    let ran = run(&world, &["--undo", "--yes"]);
    assert!(ran.stdout.contains("changed by you"), "{}", ran.stdout);
    assert_eq!(read(&world, path), mine);
}

/// A file of an older version is updated, with or without a journal entry.
#[test]
fn an_older_text_is_updated() {
    let world = one("opencode");
    let path = ".config/opencode/plugins/tome.js";
    write(&world, path, "// Tome's memory in OpenCode, from long ago\n");
    done(&world, &[]);
    assert!(read(&world, path).contains("experimental.chat.system.transform"));
    done(&world, &["--undo"]);
    assert!(!file(&world, path).exists());
}
