//! `tome backup` and `tome restore`: nothing is lost, nothing is added twice, nothing damaged is taken.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tome_testkit::{CommandResult, World, eventually};

use crate::support::{MORNING_MS, line_with, strings, world};

/// A home with events of two projects, a note with two versions and a lesson.
fn filled(world: &World) -> PathBuf {
    let (app, site) = (world.folder("app"), world.folder("site"));
    for n in 0..40_u64 {
        let cwd = if n % 4 == 0 { &site } else { &app };
        world.ingest(&line_with(&json!({
            "id": format!("event-{n:03}"), "at": MORNING_MS + n * 1_000, "cwd": cwd,
            "session_id": format!("session in {}", cwd.display()), "text": format!("step {n}"),
        })));
    }
    for text in ["- Database: SQLite", "- Cache: none"] {
        let entry = json!({"path": "facts/project.md", "entry": text}).to_string();
        let mut command = world.command(&["tool", "memory_append", &entry, "--agent", "codex"]);
        assert_eq!(World::run(command.current_dir(&app), b"").code, 0);
    }
    app
}

fn in_home(world: &World, home: &Path, args: &[&str]) -> CommandResult {
    let mut command = world.command(args);
    let ran = World::run(command.env("TOME_HOME", home), b"");
    assert!(ran.code == 0 || !ran.stderr.is_empty(), "{ran:?}");
    ran
}

/// Every event of a home, in the order and with the fields that `tome events` prints.
fn events_in(world: &World, home: &Path) -> Vec<Value> {
    in_home(world, home, &["events", "--all-projects", "-n", "0", "--json"]).json_lines()
}

fn backup(world: &World) -> PathBuf {
    let file = world.path().join("home.backup");
    let ran = world.tome(&["backup", file.to_str().unwrap(), "--force", "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    file
}

fn stop(world: &World, home: &Path) {
    in_home(world, home, &["stop"]);
}

#[test]
fn a_backup_brings_everything_back_once() {
    let world = world();
    let app = filled(&world);
    world.write("config.toml", "[inject]\nhints = \"off\"\n");
    let before = world.events();
    let file = backup(&world);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let held = world.tome(&["restore", "--check", file.to_str().unwrap(), "--json"]).json();
    assert_eq!((&held["holds"]["events"], &held["holds"]["projects"]), (&json!(40), &json!(2)));
    let again = world.tome(&["backup", file.to_str().unwrap()]);
    assert_eq!(again.code, 2, "a file is not replaced: {again:?}");

    let empty = world.path().join("empty");
    let file = file.to_str().unwrap();
    let restored = in_home(&world, &empty, &["restore", file, "--json"]).json();
    assert_eq!((&restored["events"], &restored["duplicates"]), (&json!(40), &json!(0)));
    assert_eq!(events_in(&world, &empty), before, "ids, order, times of arrival, projects");
    let read = |home: &Path, args: &[&str]| {
        let mut command = world.command(args);
        World::run(command.env("TOME_HOME", home).current_dir(&app), b"").stdout
    };
    for args in [&["memory", "read", "facts/project.md"][..], &["memory", "log", "--json"]] {
        assert_eq!(read(&empty, args), read(&world.home(), args), "{args:?}");
    }
    let twice = in_home(&world, &empty, &["restore", file, "--json"]).json();
    assert_eq!((&twice["events"], &twice["duplicates"]), (&json!(0), &json!(40)));
    assert_eq!((&twice["notes"], &twice["notes_beside"]), (&json!(0), &json!(0)));
    assert_eq!(events_in(&world, &empty), before);
    let own = world.tome(&["restore", file, "--json"]).json();
    assert_eq!((&own["events"], &own["duplicates"]), (&json!(0), &json!(40)));
    stop(&world, &empty);
}

#[test]
fn a_restore_keeps_existing_content() {
    let world = world();
    let app = filled(&world);
    let file = backup(&world);
    let other = world.path().join("other");
    let tool = |entry: &str| {
        let arguments = json!({"path": "facts/project.md", "entry": entry}).to_string();
        let mut command = world.command(&["tool", "memory_append", &arguments, "--agent", "codex"]);
        let ran = World::run(command.env("TOME_HOME", &other).current_dir(&app), b"");
        assert_eq!(ran.code, 0, "{ran:?}");
    };
    tool("- Database: PostgreSQL");
    let file = file.to_str().unwrap();
    let restored = in_home(&world, &other, &["restore", file, "--json"]).json();
    assert_eq!((&restored["events"], &restored["notes_beside"]), (&json!(40), &json!(1)));
    let list = |home: &Path| {
        let mut command = world.command(&["memory", "list", "--json"]);
        World::run(command.env("TOME_HOME", home).current_dir(&app), b"").stdout
    };
    assert!(list(&other).contains("facts/project.restored.md"), "{}", list(&other));
    let mut command = world.command(&["memory", "read", "facts/project.md"]);
    let mine = World::run(command.env("TOME_HOME", &other).current_dir(&app), b"").stdout;
    assert!(mine.contains("PostgreSQL") && !mine.contains("SQLite\n"), "{mine}");
    let notes = |args: &[&str]| {
        let mut command = world.command(args);
        World::run(command.env("TOME_HOME", &other).current_dir(&app), b"")
    };
    let log = || notes(&["memory", "log", "facts/project.md", "--json"]).json_lines();
    assert_eq!(log().len(), 3, "the versions of both homes: {:#?}", log());
    for version in log() {
        assert_eq!(version["agent"], "codex", "{version}");
        let version = version["version"].as_str().unwrap().to_owned();
        let shown = notes(&["memory", "show", "facts/project.md", &version]);
        assert!(shown.code == 0 && shown.stdout.contains("- Database: "), "{shown:?}");
    }
    let twice = in_home(&world, &other, &["restore", file, "--json"]).json();
    assert_eq!((&twice["notes"], &twice["notes_beside"]), (&json!(0), &json!(0)));
    assert_eq!(twice["versions"], 0);
    assert_eq!(twice["notes_known"], twice["holds"]["notes"], "{twice}");
    assert_eq!(log().len(), 3);
    stop(&world, &other);
}

/// A daemon that is killed at any moment of a restore has stored each event once or not at all.
#[test]
fn a_killed_restore_is_completed_by_the_next() {
    let world = world();
    filled_with_many(&world);
    let before = world.events();
    let file = backup(&world);
    let file = file.to_str().unwrap();
    let victim = World::new(world.program());
    for round in 0..3 {
        let mut command = victim.command(&["restore", file]);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let waits = victim.home().join("projects");
        eventually("the restore to begin", || {
            let ended = child.try_wait().unwrap().is_some();
            (ended || (waits.exists() && round == 0) || victim.daemon_pid().is_some()).then_some(())
        });
        victim.kill_daemon();
        child.wait().unwrap();
    }
    let last = victim.tome(&["restore", file, "--json"]);
    assert_eq!(last.code, 0, "{last:?}");
    assert_eq!(strings(&victim.events(), "id"), strings(&before, "id"));
}

#[test]
fn a_bad_file_changes_nothing() {
    let world = world();
    filled(&world);
    let good = std::fs::read(backup(&world)).unwrap();
    let mut flipped = good.clone();
    let at = good.len() - 40;
    flipped[at] ^= 1;
    let cut = good[..good.len() - 7].to_vec();
    let end = |file: &str| world.path().join(file);
    let escaping = |path: &str| {
        block(
            &[
                json!({"start": {"version": "9", "created": "2026-11-15T09:30:00Z"}}),
                json!({"notebook": {"project": null, "folder": "coder"}}),
                json!({"file": {"project": null, "path": path, "last": true, "text": "gotcha"}}),
                json!("notebook_end"),
                json!({"end": {"notebooks": 1, "notes": 1}}),
            ],
            1,
        )
    };
    let newer = block(&[json!({"start": {"version": "9", "created": 0}})], 2);
    let nothing = world.path().join("nothing");
    for (name, bytes, problem) in [
        ("flipped", flipped, ": its checksum does not match"),
        ("cut", cut, "incomplete"),
        ("newer", newer, "format 2"),
        ("text", b"hello".to_vec(), "not a backup"),
        ("empty", Vec::new(), "not a backup"),
        ("escape", escaping("../../escaped.md"), "does not belong into a home"),
        ("absolute", escaping("/tmp/escaped.md"), "does not belong into a home"),
        ("program", escaping("facts/run.sh"), "does not belong into a home"),
        ("hidden", escaping(".history/turn"), "does not belong into a home"),
    ] {
        std::fs::write(end(name), bytes).unwrap();
        let path = end(name);
        for args in [
            &["restore", path.to_str().unwrap()][..],
            &["restore", "--check", path.to_str().unwrap()],
        ] {
            let ran = in_home(&world, &nothing, args);
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{name}: {ran:?}");
            assert!(ran.stderr.contains(problem), "{name}: {}", ran.stderr);
        }
    }
    assert!(!nothing.join("projects").exists() && !nothing.join("coder").exists());
    assert_eq!(world.tome(&["restore", "/no/such.backup"]).code, 4);
    std::fs::write(end("fine"), escaping("semantic/rust/lexers.md")).unwrap();
    let ran = in_home(&world, &nothing, &["restore", end("fine").to_str().unwrap()]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(nothing.join("coder/semantic/rust/lexers.md").is_file());
    stop(&world, &nothing);
}

/// A home whose events fill several blocks.
fn filled_with_many(world: &World) {
    let lines: String = (0..3_000_u64)
        .map(|n| {
            let text = format!("{n} {}", "lexer parser token ".repeat(60));
            line_with(&json!({"id": format!("event-{n:05}"), "at": MORNING_MS + n, "text": text}))
        })
        .collect();
    world.ingest(&lines);
}

fn spawn_backup(world: &World, file: &str) -> std::process::Child {
    let mut command = world.command(&["backup", file]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Neither the command nor the daemon that is killed loses what is written.
#[test]
fn a_killed_backup_is_continued_by_the_next() {
    let world = world();
    filled_with_many(&world);
    let (file, partial) = (world.path().join("my.backup"), world.path().join("my.backup.partial"));
    let name = file.to_str().unwrap();
    for victim in ["command", "daemon"] {
        let before = std::fs::metadata(&partial).map_or(0, |meta| meta.len());
        let mut child = spawn_backup(&world, name);
        eventually("the backup to be written", || {
            let ended = child.try_wait().unwrap().is_some();
            (ended || std::fs::metadata(&partial).is_ok_and(|meta| meta.len() > before))
                .then_some(())
        });
        match victim {
            "command" => drop(child.kill()),
            _ => drop(world.kill_daemon()),
        }
        child.wait().unwrap();
        // It may have finished first: then it is complete.
        let _ = std::fs::rename(&file, &partial);
        assert!(partial.is_file());
    }
    world
        .ingest(&line_with(&json!({"id": "event-late", "at": MORNING_MS + 5_000, "text": "late"})));
    let before = world.events();
    let ran = world.tome(&["backup", name, "--json"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let report = ran.json();
    assert_eq!(report["holds"]["events"], json!(3_001), "{report}");
    // How much is kept depends on when the kill came, and may be nothing.
    assert!(report["reused"]["events"].as_u64().unwrap_or(0) <= 3_000, "{report}");
    assert!(!partial.exists());
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let empty = world.path().join("empty");
    assert_eq!(in_home(&world, &empty, &["restore", name]).code, 0);
    assert_eq!(strings(&events_in(&world, &empty), "id"), strings(&before, "id"));
    stop(&world, &empty);
}

#[test]
fn an_interrupted_backup_is_neither_restored_nor_written_by_two() {
    let world = world();
    filled_with_many(&world);
    let whole = std::fs::read(backup(&world)).unwrap();
    let (file, partial) = (world.path().join("my.backup"), world.path().join("my.backup.partial"));
    std::fs::write(&partial, &whole[..whole.len() / 2]).unwrap();
    let nothing = world.path().join("nothing");
    for path in [&file, &partial] {
        let ran = in_home(&world, &nothing, &["restore", path.to_str().unwrap()]);
        assert_ne!(ran.code, 0, "{ran:?}");
        let next = format!("`tome backup {}` continues it", file.display());
        assert!(ran.stderr.contains(&next), "{}", ran.stderr);
    }
    assert!(!nothing.join("projects").exists());
    let as_target = world.tome(&["backup", partial.to_str().unwrap()]);
    assert!(as_target.code == 2 && as_target.stderr.contains("continues it"), "{as_target:?}");

    let held = std::fs::File::open(&partial).unwrap();
    held.lock().unwrap();
    let second = world.tome(&["backup", file.to_str().unwrap()]);
    assert_eq!((second.code, second.stdout.as_str()), (1, ""));
    assert!(second.stderr.contains("another backup is being written to"), "{}", second.stderr);
    assert_eq!(std::fs::read(&partial).unwrap().len(), whole.len() / 2, "it is not touched");
    drop(held);

    // Into a folder: the partial backup is found there, whatever the time.
    let folder = world.folder("backups");
    std::fs::rename(&partial, folder.join("tome.backup.partial")).unwrap();
    let ran = world.tome(&["backup", folder.to_str().unwrap(), "--json"]).json();
    assert!(ran["reused"]["events"].as_u64().unwrap() > 0, "{ran}");
    let names = std::fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name());
    let names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    assert!(names.len() == 1 && names[0].ends_with(".backup"), "{names:?}");

    // A file of someone else with that name stays.
    std::fs::write(&partial, "my notes").unwrap();
    let ran = world.tome(&["backup", file.to_str().unwrap()]);
    assert!(ran.code == 2 && ran.stderr.contains("not a backup"), "{ran:?}");
    assert_eq!(std::fs::read(&partial).unwrap(), b"my notes");
}

/// A file of one block with these records.
fn block(records: &[Value], format: u64) -> Vec<u8> {
    let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
    let body = zstd::bulk::compress(lines.as_bytes(), 3).unwrap();
    let header = json!({
        "tome_backup": format, "block": 1, "bytes": body.len(), "plain": lines.len(),
        "sum": blake3::hash(&body).to_hex().to_string(), "after": "",
    })
    .to_string();
    let mut block = vec![0x50, 0x2A, 0x4D, 0x18];
    block.extend(u32::try_from(header.len()).unwrap().to_le_bytes());
    block.extend(header.as_bytes());
    block.extend(body);
    block
}
