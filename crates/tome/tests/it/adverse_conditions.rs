//! Adverse conditions: a full disk, a read-only home, a home that is not a folder.
//!
//! The disk is a small tmpfs in a mount namespace of its own: the test program runs itself again
//! inside (`unshare -rm`), so that nothing outside is affected. Where that is not possible the test
//! reports it and passes.

use std::path::Path;
use std::process::Command;

use serde_json::json;
use tome_testkit::{World, eventually};

use crate::support::{
    ids, line, line_with, prompt, runs_in_namespace, status, texts, tool_result, world,
};

/// Mounts, after waiting for a stopped daemon to close its last file.
fn mount(args: &[&str], at: &Path) {
    eventually("the mount", || {
        let ran = Command::new("mount").args(args).arg(at).output().unwrap();
        let message = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success() || message.contains("busy"), "{message}");
        ran.status.success().then_some(())
    });
}

/// A world whose home is a file system of this size.
fn small_world(size: &str) -> World {
    let world = world();
    std::fs::create_dir_all(world.home()).unwrap();
    mount(&["-t", "tmpfs", "-o", &format!("size={size},mode=700"), "tmpfs"], &world.home());
    world
}

/// Fills the file system to the last byte.
fn fill(world: &World) {
    use std::io::Write;
    let mut file = std::fs::File::create(world.home().join("ballast")).unwrap();
    let chunk = [0x5a; 4096];
    while file.write_all(&chunk).is_ok() {}
    while file.write_all(&[0x5a]).is_ok() {}
}

fn free(world: &World) {
    std::fs::remove_file(world.home().join("ballast")).unwrap();
}

fn lost(world: &World) -> u64 {
    status(world)["lost"]["events"].as_u64().unwrap()
}

#[test]
fn a_full_disk_without_a_daemon_records_losses() {
    if !runs_in_namespace("adverse_conditions::a_full_disk_without_a_daemon_records_losses") {
        return;
    }
    let world = small_world("8m");
    std::fs::write(world.config_file(), "[daemon]\nautostart = false\n").unwrap();
    assert_eq!(world.tome(&["start"]).code, 0);
    world.ingest(&line("before", 1_000, "before"));
    assert_eq!(world.tome(&["stop"]).code, 0);
    fill(&world);
    for n in 0..3 {
        world.hook(
            &["claude-code"],
            tool_result(&format!("call{n}"), &json!({}), &json!("x".repeat(20_000))),
        );
    }
    assert_eq!(lost(&world), 3, "neither daemon nor spool could take them");
    let told = world.tome(&["status"]);
    assert!(told.stdout.contains("lost     3 events"), "{}", told.stdout);
    let doctor = world.tome(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("3 events could not be stored"), "{}", doctor.stdout);
    free(&world);
    world.hook(&["claude-code"], prompt("after"));
    assert_eq!(world.tome(&["start"]).code, 0);
    assert_eq!(texts(&world.events()), ["before", "after"]);
    assert_eq!(lost(&world), 3, "shown until somebody has seen it");
    assert_eq!(world.tome(&["status", "--reset-lost"]).code, 0);
    assert_eq!(lost(&world), 0);
}

#[test]
fn a_full_disk_loses_no_acknowledged_event() {
    if !runs_in_namespace("adverse_conditions::a_full_disk_loses_no_acknowledged_event") {
        return;
    }
    // The journal is preallocated; data beyond it needs disk space.
    let world = small_world("96m");
    assert_eq!(world.tome(&["start"]).code, 0);
    world.ingest(&line("before", 1_000, "before"));
    fill(&world);
    let mut acknowledged = vec!["before".to_owned()];
    let mut refusal = None;
    for n in 0..400u64 {
        let id = format!("n{n}");
        let text: String = (0..30_000)
            .map(|i| char::from(b'!' + ((i * 7 + i / 13 + n * 31) % 90) as u8))
            .collect();
        let ran = world.tome_with(&["ingest", "--json"], line(&id, 2_000 + n, &text));
        if ran.code == 0 {
            acknowledged.push(id);
        } else {
            refusal = Some(ran);
            break;
        }
    }
    let refusal = refusal.expect("the disk is full");
    assert_eq!(refusal.code, 1, "{}", refusal.stderr);
    assert!(
        refusal.stderr.contains("projects/--app--/ledger"),
        "names the store: {}",
        refusal.stderr
    );
    // Hooks continue silently; each event is stored, spooled, or counted.
    for n in 0..3 {
        world.hook(&["claude-code"], prompt(&format!("hook {n}")));
    }
    // Acknowledged events can be read while nothing can be written.
    let listed =
        crate::support::list(&world, &["--limit", "0", "--session", "s1", "--agent", "codex"]);
    for id in &acknowledged {
        assert!(ids(&listed).contains(&id.as_str()), "{id} is gone");
    }
    free(&world);
    eventually("the store to take events again", || {
        let ran = world.tome_with(&["ingest", "--json"], line("after", 9_000, "after"));
        (ran.code == 0).then_some(())
    });
    let lost = lost(&world);
    let events = eventually("the hooks' events", || {
        let events = world.events();
        let hooked = events.iter().filter(|event| event["agent"] == "claude-code").count();
        (hooked as u64 + lost >= 3).then_some(events)
    });
    for id in acknowledged.iter().map(String::as_str).chain(["after"]) {
        assert_eq!(ids(&events).iter().filter(|one| **one == id).count(), 1, "{id}");
    }
    // And they are still there for the next daemon.
    world.kill_daemon();
    assert!(world.events().len() >= events.len());
}

#[test]
fn a_read_only_home_records_losses() {
    if !runs_in_namespace("adverse_conditions::a_read_only_home_records_losses") {
        return;
    }
    let world = small_world("32m");
    world.ingest(&line("before", 1_000, "before"));
    assert_eq!(world.tome(&["stop"]).code, 0);
    mount(&["-o", "remount,ro"], &world.home());
    world.hook(&["claude-code"], prompt("into the void"));
    assert_eq!(lost(&world), 1);
    let ran = world.tome(&["events"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains(world.home().to_str().unwrap()), "{}", ran.stderr);
    let doctor = world.tome(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("cannot be written"), "{}", doctor.stdout);
    mount(&["-o", "remount,rw"], &world.home());
    world.hook(&["claude-code"], prompt("after"));
    assert_eq!(texts(&world.events()), ["before", "after"]);
    assert_eq!(lost(&world), 1);
}

/// The mount becomes read-only; the daemon can still write to open files only.
#[test]
fn a_home_remounted_read_only_still_answers() {
    if !runs_in_namespace("adverse_conditions::a_home_remounted_read_only_still_answers") {
        return;
    }
    let world = world();
    let home = world.home();
    std::fs::write(world.config_file(), "[daemon]\nautostart = false\n").unwrap();
    assert_eq!(world.tome(&["start"]).code, 0);
    world.ingest(&line("before", 1_000, "before"));
    mount(&["--bind", home.to_str().unwrap()], &home);
    mount(&["-o", "remount,bind,ro"], &home);
    // A new project needs a new folder.
    let new = |id: &str| line_with(&json!({"id": id, "cwd": "/new", "at": 2_000}));
    let refused = world.tome_with(&["ingest"], new("refused"));
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.stderr.contains("projects/--new--"), "{}", refused.stderr);
    let payload = prompt("into the void").replace("/app", "/new");
    world.hook(&["claude-code"], payload);
    assert_eq!(lost(&world), 1, "neither daemon nor spool could take it");
    assert_eq!(ids(&world.events()), ["before"], "it still answers");
    let ran = Command::new("umount").arg(&home).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    world.ingest(&new("after"));
    assert_eq!(ids(&world.events()), ["before", "after"]);
    assert_eq!(lost(&world), 1);
}

#[test]
fn a_home_without_write_permission_records_losses() {
    if rustix::process::getuid().is_root() {
        println!("skipped: nothing is forbidden to root");
        return;
    }
    use std::os::unix::fs::PermissionsExt;
    let world = world();
    std::fs::create_dir_all(world.home()).unwrap();
    std::fs::set_permissions(world.home(), std::fs::Permissions::from_mode(0o500)).unwrap();
    world.hook(&["claude-code"], prompt("into the void"));
    assert_eq!(lost(&world), 1);
    assert_eq!(world.tome(&["events"]).code, 3);
    std::fs::set_permissions(world.home(), std::fs::Permissions::from_mode(0o700)).unwrap();
    world.hook(&["claude-code"], prompt("after"));
    assert_eq!(texts(&world.events()), ["after"]);
}

#[test]
fn a_file_in_place_of_the_home_is_reported_and_kept() {
    let world = world();
    std::fs::write(world.home(), "not a folder").unwrap();
    world.hook(&["claude-code"], prompt("into the void"));
    assert_eq!(lost(&world), 1);
    for args in [&["events"][..], &["start"], &["ingest"], &[]] {
        let ran = world.tome(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (3, ""), "tome {args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(world.home().to_str().unwrap()), "{}", ran.stderr);
    }
    let ran = world.tome(&["daemon"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stderr.contains("TOME_HOME"), "{}", ran.stderr);
    assert_eq!(world.tome(&["doctor"]).code, 1);
    assert_eq!(std::fs::read_to_string(world.home()).unwrap(), "not a folder");
}

#[test]
fn an_unknown_home_is_reported_and_hooks_succeed() {
    let world = world();
    let homeless = |args: &[&str]| {
        let mut command = world.command(args);
        command.env_remove("HOME").env_remove("TOME_HOME");
        command
    };
    World::run_hook_command(&mut homeless(&["hook", "claude-code"]), prompt("into the void"));
    let ran = World::run(&mut homeless(&["events"]), b"");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("TOME_HOME"), "{}", ran.stderr);
}

/// The agent's working directory was deleted.
#[test]
fn a_deleted_working_directory_does_not_stop_a_hook() {
    let world = world();
    let gone = world.folder("gone");
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "rmdir \"$PWD\" && exec \"$0\" hook claude-code",
            world.program().to_str().unwrap(),
        ])
        .current_dir(&gone);
    for (name, value) in world.command(&[]).get_envs() {
        command.env(name, value.unwrap());
    }
    world.tome(&["start"]);
    let payload =
        json!({"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt": "where am I?"});
    World::run_hook_command(&mut command, payload.to_string());
    assert_eq!(texts(&world.events()), ["where am I?"]);
}
