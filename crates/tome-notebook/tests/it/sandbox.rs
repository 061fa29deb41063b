//! No path given to a tool touches anything outside the notebook.

use std::collections::BTreeMap;
use std::path::Path;

use tome_model::Scope;
use tome_notebook::TextPatch;

use crate::fixture::{Fixture, agent};

/// Collects everything beneath a folder with its content, including links, except the notebook
/// itself.
fn outside(folder: &Path, found: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.ends_with("memory") {
            continue;
        }
        if path.is_dir() && !path.is_symlink() {
            outside(&path, found);
        }
        let content = std::fs::read(&path).unwrap_or_default();
        found.insert(path.display().to_string(), content);
    }
}

#[test]
#[cfg(unix)]
fn no_path_leaves_the_notebook() {
    let fixture = Fixture::new();
    let notebook = fixture.open();
    let by = agent();
    notebook.write_note(&by, "inside.md", "x", None, None).expect("written");
    let secret = fixture.outside().join("secret");
    std::fs::create_dir_all(&secret).expect("a folder");
    #[expect(clippy::disallowed_methods, reason = "sets up a file outside the notebook")]
    std::fs::write(secret.join("key.md"), "a secret").expect("written");
    let link = |from: &Path, to: &str| {
        std::os::unix::fs::symlink(from, fixture.root().join(to)).expect("a link");
    };
    link(&secret, "linked");
    link(&secret.join("key.md"), "link.md");
    link(&fixture.root().join("inside.md"), "within.md");
    link(Path::new("/dev/zero"), "zero.md");
    let mut before = BTreeMap::new();
    outside(fixture.outside(), &mut before);
    let key = secret.join("key.md").display().to_string();
    let long = "a/".repeat(2000) + "x.md";
    let paths = [
        "../secret/key.md",
        "linked/key.md",
        "link.md",
        "linked/new.md",
        "within.md",
        "zero.md",
        &key,
        "a/../../secret/key.md",
        "..%2fsecret/key.md",
        "..\\secret\\key.md",
        "a\0.md",
        ".history/history.jsonl",
        ".hidden.md",
        "con.md",
        "x.txt",
        "",
        "/",
        &long,
        "inside.md/x.md",
        "C:\\x.md",
        "~/x.md",
        "x.md/",
        "linked",
    ];
    for path in paths {
        let patches = [TextPatch { old: "a".to_owned(), new: "b".to_owned() }];
        assert!(notebook.read_note(path).is_err(), "read {path:?}");
        assert!(notebook.write_note(&by, path, "pwned", None, None).is_err(), "write {path:?}");
        assert!(notebook.append_entry(&by, path, "pwned", None, None).is_err(), "append {path:?}");
        assert!(notebook.patch_note(&by, path, &patches, None).is_err(), "patch {path:?}");
        assert!(notebook.replace_first(&by, path, "a", "b", None).is_err(), "update {path:?}");
        assert!(notebook.delete_note(&by, path).is_err(), "delete {path:?}");
        assert!(notebook.create_note(&by, path, "pwned").is_err(), "create {path:?}");
        assert!(notebook.rename(&by, "inside.md", path).is_err(), "rename to {path:?}");
        assert!(notebook.rename(&by, path, "other.md").is_err(), "rename from {path:?}");
        assert!(notebook.restore_version(&by, path, None).is_err(), "restore {path:?}");
        assert!(notebook.delete_folder(&by, path).is_err(), "delete folder {path:?}");
        assert!(notebook.read_history(Some(path)).is_err(), "log {path:?}");
    }
    let mut after = BTreeMap::new();
    outside(fixture.outside(), &mut after);
    assert_eq!(after, before);
    let listed: Vec<String> =
        notebook.list_notes().expect("a list").into_iter().map(|note| note.path).collect();
    assert_eq!(listed, ["inside.md"]);
    assert_eq!(notebook.read_note("inside.md").expect("a note").text, "x");
}

#[test]
fn an_index_cannot_be_written_patched_or_deleted() {
    let fixture = Fixture::new();
    let by = agent();
    for (scope, path) in [
        (Scope::Project, "MEMORY.md"),
        (Scope::Project, "README.md"),
        (Scope::Coder, "semantic/README.md"),
    ] {
        let notebook = fixture.open_as(scope);
        assert!(notebook.write_note(&by, path, "x", None, None).is_err());
        assert!(notebook.append_entry(&by, path, "x", None, None).is_err());
        assert!(notebook.replace_first(&by, path, "x", "y", None).is_err());
        assert!(notebook.delete_note(&by, path).is_err());
        assert!(notebook.restore_version(&by, path, None).is_err());
    }
    assert!(!fixture.root().exists());
}

#[test]
#[cfg(unix)]
fn a_pipe_named_like_a_note_does_not_block() {
    let fixture = Fixture::new();
    let notebook = fixture.open();
    notebook.write_note(&agent(), "a.md", "x", None, None).expect("written");
    let made = std::process::Command::new("mkfifo").arg(fixture.root().join("pipe.md")).status();
    assert!(made.expect("mkfifo").success());
    notebook.read_note("pipe.md").expect_err("no file");
    notebook.write_note(&agent(), "pipe.md", "x", None, None).expect_err("no file");
    assert_eq!(notebook.list_notes().expect("a list").len(), 1);
}
