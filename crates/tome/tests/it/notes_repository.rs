//! Notes in a repository: `.memory/`, only Markdown, the same in every worktree.

use std::path::Path;
use std::process::Command;

use serde_json::json;
use tome_testkit::{World, eventually};

use crate::acceptance::{agent, file, notebook};
use crate::notes_cli::{memory, memory_json};
use crate::notes_safety::{check_whole, files_below};
use crate::support::world;

fn git(repo: &Path, args: &[&str]) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(repo).args(["-c", "user.name=x", "-c", "user.email=x@example.org"]);
    let ran = git.args(args).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(ran.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn a_repository_contains_only_markdown() {
    if Command::new("git").arg("--version").output().is_err() {
        println!("skipped: there is no git here");
        return;
    }
    let world = world();
    let repo = world.folder("elsewhere");
    git(&repo, &["init", "-q"]);
    git(&repo, &["commit", "-q", "--allow-empty", "-m", "first"]);
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "one\n"}));
    agent(&world, "memory_append", &json!({"path": "facts/f.md", "entry": "- k: v"}));
    assert_eq!(git(&repo, &["status", "--porcelain"]), "", "nothing is written unasked");
    assert_eq!(world.tome(&["init", "--in-repo"]).code, 0);
    let status = git(&repo, &["status", "--porcelain", "-uall"]);
    assert_eq!(status, "?? .memory/MEMORY.md\n?? .memory/a.md\n?? .memory/facts/f.md\n");
    agent(&world, "memory_update", &json!({"path": "a.md", "old_text": "one", "new_text": "two"}));
    agent(&world, "memory_append", &json!({"path": "b.md", "entry": "b"}));
    agent(&world, "memory_delete", &json!({"path": "b.md"}));
    assert_eq!(git(&repo, &["status", "--porcelain", "-uall"]), status);
    let there: Vec<String> = files_below(&repo.join(".memory"))
        .into_keys()
        .map(|path| path.strip_prefix(&repo).unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(there, [".memory/MEMORY.md", ".memory/a.md", ".memory/facts", ".memory/facts/f.md"]);
    let log = memory_json(&world, &["log", "a.md"]);
    assert_eq!(log.len(), 2, "the history goes on across the move: {log:?}");
    assert_eq!(memory(&world, &["show", "a.md", log[1]["version"].as_str().unwrap()]), "one\n");

    // A worktree has the same notes and none of its own.
    git(&repo, &["worktree", "add", "-q", "../tree"]);
    let tree = world.path().canonicalize().unwrap().join("tree");
    let mut read = world.command(&["memory", "read", "a.md"]);
    assert_eq!(World::run(read.current_dir(&tree), b"").stdout, "two\n");
    let mut write = world.command(&["memory", "write", "w.md", "--content", "from the tree"]);
    assert_eq!(World::run(write.current_dir(&tree), b"").code, 0);
    assert_eq!(memory(&world, &["read", "w.md"]), "from the tree");
    assert!(!tree.join(".memory").exists());
    // Notes committed by others are served.
    std::fs::write(repo.join(".memory/pulled.md"), "from a colleague\n").unwrap();
    assert_eq!(memory(&world, &["read", "pulled.md"]), "from a colleague\n");
}

/// An interrupted move into the repository is repeated: each note is there once.
#[test]
fn a_killed_move_into_the_repository_is_finished_by_the_next() {
    let world = world();
    world.write("elsewhere/.git/HEAD", "ref: refs/heads/main\n");
    let repo = world.folder("elsewhere");
    agent(&world, "memory_write", &json!({"path": "n000.md", "content": "note 0\n"}));
    let home = notebook(&world);
    for n in 1..60 {
        std::fs::write(home.join(format!("n{n:03}.md")), format!("note {n}\n")).unwrap();
    }
    std::thread::scope(|scope| {
        scope.spawn(|| world.tome(&["init", "--in-repo"]));
        eventually("a note that was moved", || repo.join(".memory/n007.md").exists().then_some(()));
        world.kill_daemon();
    });
    let ran = world.tome(&["init", "--in-repo"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for n in 0..60 {
        let path = format!("n{n:03}.md");
        assert_eq!(file(&world, &path), format!("note {n}\n"));
        assert!(!home.join(&path).exists(), "{path}");
    }
    assert_eq!(notebook(&world), repo.join(".memory"));
    check_whole(&world);
}
