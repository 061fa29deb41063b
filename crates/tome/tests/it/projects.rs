//! Which project an event belongs to.

use std::path::{Path, PathBuf};

use serde_json::json;
use tome_testkit::World;

use crate::support::{line_with, strings, tool_result, world};

/// Returns the project of an event in a folder, recorded by `tome ingest`.
fn project_of(world: &World, cwd: &Path) -> String {
    let id = format!("in{}", cwd.display()).replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    world.ingest(&line_with(&json!({"id": id, "cwd": cwd})));
    let event = world.tome(&["show", &id, "--json"]).json();
    assert_eq!(event["cwd"], cwd.to_str().unwrap());
    event["project"].as_str().unwrap().to_owned()
}

fn text(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// The relevant files of a repository after `git init`.
fn repository(world: &World, name: &str) -> PathBuf {
    let root = world.folder(name);
    world.write(&format!("{name}/.git/HEAD"), "ref: refs/heads/main\n");
    world.folder(&format!("{name}/.git/objects"));
    world.folder(&format!("{name}/.git/refs"));
    root
}

/// A linked worktree as written by `git worktree add`.
fn worktree(world: &World, main: &str, name: &str) -> PathBuf {
    let root = world.folder(name);
    let git_dir = world.folder(&format!("{main}/.git/worktrees/{name}"));
    world.write(&format!("{name}/.git"), &format!("gitdir: {}\n", git_dir.display()));
    std::fs::write(git_dir.join("commondir"), "../..\n").unwrap();
    std::fs::write(git_dir.join("gitdir"), format!("{}\n", root.join(".git").display())).unwrap();
    std::fs::write(git_dir.join("HEAD"), "ref: refs/heads/other\n").unwrap();
    root
}

#[test]
fn worktrees_share_the_project_of_the_main_worktree() {
    let world = world();
    let main = repository(&world, "app");
    let linked = worktree(&world, "app", "app-hotfix");
    let inside = world.folder("app-hotfix/src");
    assert_eq!(project_of(&world, &linked), text(&main));
    assert_eq!(project_of(&world, &inside), text(&main));
    let events = {
        let mut command = world.command(&["events", "--json"]);
        World::run(command.current_dir(&inside), b"").json_lines()
    };
    assert_eq!(events.len(), 2, "standing in the worktree shows the project");
}

/// The hook runs in the folder; when its event leaves the spool, the worktree is gone.
#[test]
fn the_spool_keeps_the_project_of_a_worktree() {
    let world = world();
    std::fs::write(world.config_file(), "[daemon]\nautostart = false\n").unwrap();
    let main = repository(&world, "app");
    let linked = worktree(&world, "app", "app-brief");
    let payload =
        tool_result("call", &json!({}), &json!("x")).replace("/app", linked.to_str().unwrap());
    world.hook(&["claude-code"], payload);
    std::fs::remove_dir_all(&linked).unwrap();
    world.tome(&["start"]);
    assert_eq!(strings(&world.events(), "project"), [main.to_str().unwrap()]);
}
