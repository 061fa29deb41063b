//! Which project an event belongs to.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tome_testkit::World;

use crate::support::{ids, line_with, list, strings, tool_result, world};

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
fn a_folder_outside_git_is_its_own_project() {
    let world = world();
    let folder = world.folder("plain/inner");
    assert_eq!(project_of(&world, &folder), text(&folder));
}

#[test]
fn a_subfolder_belongs_to_its_repository() {
    let world = world();
    let root = repository(&world, "app");
    let deep = world.folder("app/src/very/deep");
    assert_eq!(project_of(&world, &root), text(&root));
    assert_eq!(project_of(&world, &deep), text(&root));
    assert_eq!(list(&world, &["--project", root.to_str().unwrap()]).len(), 2);
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

#[test]
fn real_git_worktrees_and_submodules_are_resolved() {
    let world = world();
    let git = |folder: &Path, args: &[&str]| {
        let mut command = Command::new("git");
        command
            .current_dir(folder)
            .args([
                "-c",
                "protocol.file.allow=always",
                "-c",
                "user.name=a",
                "-c",
                "user.email=a@b.c",
            ])
            .args(args);
        command.env("HOME", world.folder("person")).env("GIT_CONFIG_NOSYSTEM", "1");
        command.output().is_ok_and(|output| output.status.success())
    };
    let main = world.folder("main");
    if !git(&main, &["init", "-q"]) {
        println!("skipped: there is no git");
        return;
    }
    assert!(git(&main, &["commit", "-q", "--allow-empty", "-m", "first"]));
    assert!(git(&main, &["worktree", "add", "-q", "../linked"]));
    let linked = world.folder("linked");
    assert_eq!(project_of(&world, &linked), text(&main));
    let library = world.folder("library");
    assert!(
        git(&library, &["init", "-q"])
            && git(&library, &["commit", "-q", "--allow-empty", "-m", "x"])
    );
    assert!(git(&main, &["submodule", "add", "-q", library.to_str().unwrap(), "vendor/library"]));
    let submodule = world.folder("main/vendor/library");
    assert_eq!(project_of(&world, &submodule), text(&submodule));
}

#[test]
fn late_events_of_a_removed_worktree_keep_their_project() {
    let world = world();
    let main = repository(&world, "app");
    let linked = worktree(&world, "app", "app-gone");
    let inside = world.folder("app-gone/src");
    assert_eq!(project_of(&world, &linked), text(&main));
    std::fs::remove_dir_all(&linked).unwrap();
    assert_eq!(project_of(&world, &inside), text(&main));
    // Also with a daemon that never saw it.
    world.tome(&["stop"]);
    assert_eq!(project_of(&world, &linked.join("other")), text(&main));
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

#[test]
fn a_submodule_is_its_own_project() {
    let world = world();
    repository(&world, "app");
    let submodule = world.folder("app/vendor/lib");
    world.write("app/.git/modules/lib/HEAD", "ref: refs/heads/main\n");
    world.write("app/vendor/lib/.git", "gitdir: ../../.git/modules/lib\n");
    assert_eq!(project_of(&world, &submodule), text(&submodule));
}

#[test]
fn a_symlink_resolves_to_the_same_project() {
    let world = world();
    let root = repository(&world, "app");
    world.folder("app/src");
    let link = world.path().join("link");
    std::os::unix::fs::symlink(&root, &link).unwrap();
    assert_eq!(project_of(&world, &link), text(&root));
    assert_eq!(project_of(&world, &link.join("src")), text(&root));
    let listed = list(&world, &["--project", link.to_str().unwrap()]);
    assert_eq!(listed.len(), 2);
}

#[test]
fn paths_that_encode_to_the_same_name_stay_distinct() {
    let world = world();
    for (id, cwd) in [("a", "/x/a-b"), ("b", "/x/a/b"), ("c", "/x-a/b"), ("d", "/x/a-b")] {
        world.ingest(&line_with(&json!({"id": id, "cwd": cwd})));
    }
    assert_eq!(ids(&list(&world, &["--project", "/x/a-b"])), ["a", "d"]);
    assert_eq!(ids(&list(&world, &["--project", "/x/a/b"])), ["b"]);
    assert_eq!(ids(&list(&world, &["--project", "/x-a/b"])), ["c"]);
    assert_eq!(std::fs::read_dir(world.home().join("projects")).unwrap().count(), 3);
    // Also with a daemon that must read them from disk.
    world.tome(&["stop"]);
    world.ingest(&line_with(&json!({"id": "e", "cwd": "/x/a/b"})));
    assert_eq!(ids(&list(&world, &["--project", "/x/a/b"])), ["b", "e"]);
    assert_eq!(std::fs::read_dir(world.home().join("projects")).unwrap().count(), 3);
}

#[test]
fn a_missing_folder_is_used_as_given() {
    let world = world();
    for (cwd, root) in [
        ("/no/such/folder", "/no/such/folder"),
        ("/no/such/folder/", "/no/such/folder"),
        ("/no/such/../such/folder/./", "/no/such/folder"),
        ("/no/such/folder/below", "/no/such/folder/below"),
        ("C:\\code\\app", "C:\\code\\app"),
        ("/", "/"),
    ] {
        assert_eq!(project_of(&world, Path::new(cwd)), root, "{cwd}");
    }
}

#[test]
fn names_that_are_difficult_for_file_systems_work() {
    let world = world();
    for cwd in [
        format!("/{}", "long/".repeat(200)),
        format!("/{}", "ä".repeat(300)),
        "/日本語/プロジェクト".to_owned(),
        "/with space/and \"quotes\"/and\nnewline".to_owned(),
        "/..hidden/.".to_owned(),
    ] {
        world.ingest(&line_with(&json!({"id": blake(&cwd), "cwd": cwd})));
    }
    assert_eq!(world.events().len(), 5);
    world.tome(&["stop"]);
    assert_eq!(world.events().len(), 5);
}

fn blake(text: &str) -> String {
    format!("id{}", text.len())
}

/// A project's record contains what the folder's name cannot express, and no credentials.
#[test]
fn the_project_file_contains_remote_and_path_but_no_credentials() {
    let world = world();
    let main = repository(&world, "app");
    world.write(
        "app/.git/config",
        "[remote \"origin\"]\n\turl = https://me:hunter2@example.com/app.git\n",
    );
    let linked = worktree(&world, "app", "app-hotfix");
    project_of(&world, &linked);
    let mut folders = std::fs::read_dir(world.home().join("projects")).unwrap();
    let record =
        std::fs::read_to_string(folders.next().unwrap().unwrap().path().join("project.toml"))
            .unwrap();
    assert!(record.contains(&format!("root = \"{}\"", main.display())), "{record}");
    assert!(record.contains(linked.to_str().unwrap()), "{record}");
    assert!(record.contains("https://example.com/app.git"), "{record}");
    assert!(!record.contains("hunter2"), "{record}");
    assert!(!main.join(".memory").exists(), "nothing is written into the repository");
}
