//! Notes on a full or read-only disk. The disk is a small file system in a mount namespace; where
//! that is not possible the test reports it and passes.

use std::process::Command;

use serde_json::json;
use tome_testkit::World;

use crate::acceptance::{agent, file, notebook, refused, run_tool};
use crate::notes_cli::memory_json;
use crate::notes_safety::{check_whole, files_below};
use crate::support::{runs_in_namespace, world};

fn mount(args: &[&str]) {
    let ran = Command::new("mount").args(args).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}

/// Fills the home's file system except for some pages.
fn fill(world: &World, pages_left: usize) {
    use std::io::Write;
    let ballast = world.home().join("ballast");
    let mut file = std::fs::File::create(&ballast).unwrap();
    let mut written = 0;
    while file.write_all(&[0x5a; 4096]).is_ok() {
        written += 1;
    }
    file.set_len(4096 * (written - pages_left as u64)).unwrap();
}

/// From a disk without space to one with just enough: each write happens completely or not at all.
#[test]
fn a_full_disk_changes_nothing() {
    if !runs_in_namespace("notes_disk::a_full_disk_changes_nothing") {
        return;
    }
    let world = world();
    std::fs::create_dir_all(world.home()).unwrap();
    mount(&["-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", world.home().to_str().unwrap()]);
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "one\n"}));
    agent(&world, "memory_append", &json!({"path": "facts/b.md", "entry": "- k: v"}));
    let folder = notebook(&world);
    let mut refusals = 0;
    for pages_left in 0..16 {
        fill(&world, pages_left);
        // The mark of the write in flight may remain: it only helps to attribute later findings.
        let files = || {
            let mut files = files_below(&folder);
            files.remove(&folder.join(".history/writing.json"));
            files
        };
        let before = files();
        let text = format!("{pages_left} {}\n", "x".repeat(20_000));
        for (path, content) in [("a.md", &text), ("new.md", &text), ("deep/er/new.md", &text)] {
            let ran = run_tool(&world, "memory_write", &json!({"path": path, "content": content}));
            if ran.code == 0 {
                assert_eq!(&file(&world, path), content);
            } else {
                assert_eq!(ran.code, 1, "{}", ran.stderr);
                assert!(ran.stderr.contains("No space left"), "{}", ran.stderr);
                refusals += 1;
            }
        }
        let done = files();
        if done.get(&folder.join("a.md")) == before.get(&folder.join("a.md"))
            && !done.contains_key(&folder.join("new.md"))
            && !done.contains_key(&folder.join("deep/er/new.md"))
        {
            assert_eq!(done, before, "{pages_left} pages left");
        }
        std::fs::remove_file(world.home().join("ballast")).unwrap();
        check_whole(&world);
        for path in ["new.md", "deep/er/new.md"] {
            if folder.join(path).exists() {
                agent(&world, "memory_delete", &json!({"path": path}));
            }
        }
    }
    assert!(refusals > 10, "the disk was never full");
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "after\n"}));
    assert_eq!(memory_json(&world, &["log", "facts/b.md"]).len(), 1);
}

/// A read-only notebook can be read, and writes report the reason.
#[test]
fn a_notebook_that_is_read_only() {
    if !runs_in_namespace("notes_disk::a_notebook_that_is_read_only") {
        return;
    }
    let world = world();
    agent(&world, "memory_write", &json!({"path": "a.md", "content": "one\n"}));
    let folder = notebook(&world);
    std::fs::write(folder.join("b.md"), "by hand\n").unwrap();
    world.kill_daemon();
    let at = folder.to_str().unwrap();
    mount(&["--bind", at, at]);
    mount(&["-o", "remount,bind,ro", at]);
    let before = files_below(&folder);
    for (tool, arguments) in [
        ("memory_write", json!({"path": "a.md", "content": "x"})),
        ("memory_write", json!({"path": "facts/x.md", "content": "x"})),
        ("memory_append", json!({"path": "a.md", "entry": "x"})),
        ("memory_patch", json!({"path": "a.md", "old_str": "one", "new_str": "x"})),
        ("memory_delete", json!({"path": "a.md"})),
    ] {
        let complaint = refused(&world, tool, &arguments, 1);
        assert!(complaint.contains("Read-only file system"), "{tool}: {complaint}");
    }
    assert_eq!(agent(&world, "memory_read", &json!({"path": "a.md"})), "one\n");
    assert!(agent(&world, "memory_view", &json!({})).contains("(b.md)"));
    assert!(agent(&world, "memory_list", &json!({})).contains("b.md"));
    assert_eq!(files_below(&folder), before);
}
