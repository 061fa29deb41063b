//! Folders with hostile files: named pipes that block readers, links to endless devices. None of
//! them may stop the memory of any project.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use tome_testkit::World;

use crate::support::{line, status, strings, texts, world};

fn named_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success(), "{}", path.display());
}

fn prompt_in(world: &World, folder: &Path, text: &str) {
    let payload = json!({
        "session_id": format!("s {text}"), "cwd": folder, "hook_event_name": "UserPromptSubmit",
        "prompt": text, "prompt_id": text,
    });
    world.hook(&["claude-code"], payload.to_string());
}

/// Folders with a trap in place of a file that Tome reads, by name.
fn traps(world: &World) -> Vec<String> {
    let folder = |name: &str| world.folder(name);
    named_pipe(&folder("pipe-config").join("config"));
    symlink("/dev/zero", folder("endless-config").join("config")).unwrap();
    named_pipe(&folder("pipe-git").join(".git"));
    symlink("/dev/zero", folder("endless-git").join(".git")).unwrap();
    // A repository whose config is a pipe, and one whose config is a device.
    world.write("repository/.git/HEAD", "ref: refs/heads/main\n");
    named_pipe(&folder("repository/.git").join("config"));
    world.write("endless-repository/.git/HEAD", "ref: refs/heads/main\n");
    symlink("/dev/zero", folder("endless-repository/.git").join("config")).unwrap();
    // Worktrees whose records are traps.
    for (name, file) in [("commondir-pipe", "commondir"), ("gitdir-pipe", "gitdir")] {
        let record = folder(&format!("{name}/bare/worktrees/w"));
        for (file, text) in [("commondir", "../.."), ("gitdir", "nowhere")] {
            std::fs::write(record.join(file), text).unwrap();
        }
        std::fs::remove_file(record.join(file)).unwrap();
        named_pipe(&record.join(file));
        world.write(&format!("{name}/.git"), "gitdir: bare/worktrees/w\n");
    }
    let names = [
        "pipe-config",
        "endless-config",
        "pipe-git",
        "endless-git",
        "repository",
        "endless-repository",
        "commondir-pipe",
        "gitdir-pipe",
    ];
    names.map(str::to_owned).to_vec()
}

#[test]
fn a_hostile_folder_does_not_affect_other_projects() {
    let world = world();
    assert_eq!(world.tome(&["start"]).code, 0);
    let traps = traps(&world);
    for name in &traps {
        prompt_in(&world, &world.folder(name), name);
    }
    world.ingest(&line("b", 1_000, "from another project"));
    let events = world.events();
    assert_eq!(events.len(), traps.len() + 1, "{:?}", texts(&events));
    for name in &traps {
        let root = world.folder(name).to_str().unwrap().to_owned();
        assert!(strings(&events, "project").contains(&root.as_str()), "{root} is a project");
    }
    assert_eq!(status(&world)["daemon"]["answers"], true);
    assert_eq!(status(&world)["spool"]["waiting_events"], 0);
    let doctor = World::run(world.command(&["doctor"]).current_dir(world.folder(&traps[0])), b"");
    assert_eq!(doctor.code, 0, "{}", doctor.stdout);
}

#[test]
fn a_spooled_delivery_from_a_hostile_folder_does_not_block_a_start() {
    let world = world();
    std::fs::write(world.config_file(), "[daemon]\nautostart = false\n").unwrap();
    let traps = traps(&world);
    for name in &traps {
        prompt_in(&world, &world.folder(name), name);
    }
    assert_eq!(status(&world)["spool"]["waiting_events"], traps.len());
    assert_eq!(world.tome(&["start"]).code, 0);
    assert_eq!(world.events().len(), traps.len());
    assert_eq!(status(&world)["spool"]["waiting_events"], 0);
}

#[test]
fn hostile_agent_folders_block_neither_setup_nor_import() {
    let world = world();
    let chats = world.folder("person/.gemini/tmp/app/chats");
    named_pipe(&chats.parent().unwrap().join(".project_root"));
    named_pipe(&world.folder("person/.gemini").join("projects.json"));
    let chat = [
        json!({"sessionId": "g1", "projectHash": "x", "startTime": "2026-11-15T09:29:50Z"}),
        json!({"id": "m1", "type": "user", "timestamp": "2026-11-15T09:30:09Z", "content": "hi"}),
    ];
    let chat: String = chat.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(chats.join("session-1-g1.jsonl"), chat).unwrap();
    named_pipe(&chats.join("session-2-g2.jsonl"));
    let imported = world.tome(&["import", "--agent", "gemini"]);
    assert_eq!(imported.code, 0, "{}", imported.stderr);
    assert!(texts(&world.events()).contains(&"hi"));
    named_pipe(&world.folder("person/.claude").join("settings.json"));
    let setup = world.tome(&["setup", "--agent", "claude-code", "--yes"]);
    assert_ne!(setup.code, 0, "a pipe is no settings file: {}", setup.stdout);
}
