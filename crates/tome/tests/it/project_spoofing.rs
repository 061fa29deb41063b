//! A folder cannot claim to be another project: its `.git` counts only if the repository that it
//! names agrees. Real worktrees, submodules and separate git directories do.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;
use tome_testkit::World;

use crate::support::{line_with, list, texts, world};

/// Returns the project of an event in a folder.
fn project_of(world: &World, cwd: &Path) -> PathBuf {
    let id = format!("in{}", cwd.display()).replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    world.ingest(&line_with(&json!({"id": id, "cwd": cwd})));
    world.tome(&["show", &id, "--json"]).json()["project"].as_str().unwrap().into()
}

/// Runs git in a folder of the world; git must succeed.
fn git(world: &World, folder: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "protocol.file.allow=always"]);
    command.args(["-c", "user.name=a", "-c", "user.email=a@b.c"]).args(args);
    command.env("HOME", world.folder("person")).env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn has_git() -> bool {
    let found = Command::new("git").arg("--version").output().is_ok();
    if !found {
        println!("skipped: there is no git");
    }
    found
}

/// A repository with one commit.
fn repository(world: &World, name: &str) -> PathBuf {
    let root = world.folder(name);
    git(world, &root, &["init", "-q"]);
    git(world, &root, &["commit", "-q", "--allow-empty", "-m", "first"]);
    root
}

#[test]
fn a_folder_with_a_forged_worktree_record_is_its_own_project() {
    if !has_git() {
        return;
    }
    let world = world();
    let victim = repository(&world, "victim");
    git(&world, &victim, &["worktree", "add", "-q", "../real"]);
    let common = victim.join(".git");
    let record = common.join("worktrees/real");
    let at = |path: &Path| path.to_str().unwrap().to_owned();
    let claim = |name: &str, pointer: &str| {
        let folder = world.folder(name);
        std::fs::write(folder.join(".git"), format!("gitdir: {pointer}\n")).unwrap();
        folder
    };
    // A forged record that names the victim's git directory.
    let own = claim("own-record", "record");
    for (file, text) in [("commondir", at(&common)), ("gitdir", at(&own.join(".git")))] {
        world.write(&format!("own-record/record/{file}"), &text);
    }
    // The same in git's usual layout.
    let like = claim("like-a-worktree", "repo/worktrees/w");
    world.write("like-a-worktree/repo/worktrees/w/commondir", &at(&common));
    world.write("like-a-worktree/repo/worktrees/w/gitdir", &at(&like.join(".git")));
    // The victim's record of another worktree, directly and through links.
    claim("borrowed-record", &at(&record));
    claim("linked-record", "record");
    std::os::unix::fs::symlink(&record, world.folder("linked-record").join("record")).unwrap();
    std::os::unix::fs::symlink(
        world.folder("real").join(".git"),
        world.folder("linked-pointer").join(".git"),
    )
    .unwrap();
    // The victim's git directory itself.
    claim("whole-repository", &at(&common));
    for name in [
        "own-record",
        "like-a-worktree",
        "borrowed-record",
        "linked-record",
        "linked-pointer",
        "whole-repository",
    ] {
        let folder = world.folder(name);
        assert_eq!(project_of(&world, &folder), folder, "{name}");
        // A hook resolves it itself.
        let payload = json!({
            "session_id": name, "cwd": folder, "hook_event_name": "UserPromptSubmit",
            "prompt": format!("hook in {name}"), "prompt_id": name,
        });
        world.hook(&["claude-code"], payload.to_string());
    }
    let events = list(&world, &["--project", victim.to_str().unwrap()]);
    assert!(events.is_empty(), "{:?}", texts(&events));
}

#[test]
fn listed_worktrees_share_the_project() {
    if !has_git() {
        return;
    }
    let world = world();
    let main = repository(&world, "main");
    git(&world, &main, &["worktree", "add", "-q", "../linked"]);
    assert_eq!(project_of(&world, &world.folder("linked")), main);
    git(&world, &main, &["worktree", "add", "-q", "../before"]);
    git(&world, &main, &["worktree", "move", "../before", "../moved"]);
    assert_eq!(project_of(&world, &world.folder("moved")), main);
    // Moved by hand: git lists it again after a repair.
    git(&world, &main, &["worktree", "add", "-q", "../by-hand"]);
    std::fs::rename(world.folder("by-hand"), world.path().join("elsewhere2")).unwrap();
    git(&world, &world.folder("elsewhere2"), &["worktree", "repair"]);
    assert_eq!(project_of(&world, &world.folder("elsewhere2")), main);
    // Relative paths, as with `worktree.useRelativePaths`; both may then be moved together.
    git(&world, &main, &["worktree", "add", "-q", "../relative"]);
    world.write("relative/.git", "gitdir: ../main/.git/worktrees/relative\n");
    world.write("main/.git/worktrees/relative/gitdir", "../../../../relative/.git\n");
    git(&world, &world.folder("relative"), &["status"]);
    assert_eq!(project_of(&world, &world.folder("relative")), main);
    // A worktree of a bare repository.
    git(&world, &main, &["clone", "-q", "--bare", ".", "../bare.git"]);
    let bare = world.folder("bare.git");
    git(&world, &bare, &["worktree", "add", "-q", "../of-bare"]);
    assert_eq!(project_of(&world, &world.folder("of-bare")), bare);
}

#[test]
fn submodules_and_separate_git_directories_are_projects_of_their_own() {
    if !has_git() {
        return;
    }
    let world = world();
    let main = repository(&world, "main");
    let library = repository(&world, "library");
    let library = library.to_str().unwrap();
    git(&world, &main, &["submodule", "add", "-q", library, "vendor/library"]);
    let submodule = world.folder("main/vendor/library");
    assert_eq!(project_of(&world, &submodule), submodule);
    git(&world, &main, &["commit", "-q", "-a", "-m", "with a submodule"]);
    git(&world, &main, &["worktree", "add", "-q", "../linked"]);
    let linked = world.folder("linked");
    git(&world, &linked, &["submodule", "update", "-q", "--init"]);
    let in_linked = world.folder("linked/vendor/library");
    assert_eq!(project_of(&world, &in_linked), in_linked, "a submodule in a worktree");
    let separate = world.path().join("separate");
    let (git_dir, to) = (world.path().join("separate.git"), separate.to_str().unwrap());
    let separately = ["--separate-git-dir", git_dir.to_str().unwrap(), library, to];
    git(&world, &main, &[&["clone", "-q"], separately.as_slice()].concat());
    let separate = world.folder("separate");
    assert_eq!(project_of(&world, &separate), separate);
}
