//! `tome memory edit` with a script as editor.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tome_testkit::{CommandResult, World};

use crate::notes_cli::{memory, memory_json};
use crate::support::world;

/// An editor that runs this script with the file as `$1`.
fn editor(world: &World, script: &str) -> PathBuf {
    let path = world.write("bin/an editor", &format!("#!/bin/sh\nset -e\n{script}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn edit(world: &World, path: &str, script: &str) -> CommandResult {
    let editor = editor(world, script);
    let mut command = world.command(&["memory", "edit", path]);
    command.env("EDITOR", format!("'{}'", editor.display())).env("TOME_PROGRAM", world.program());
    World::run(&mut command, b"")
}

/// Leftover working copies.
fn copies(world: &World) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(world.folder("tmp")).unwrap();
    folders.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn the_edited_text_is_saved() {
    let world = world();
    memory(&world, &["write", "a.md", "--content", "one"]);
    let ran = edit(&world, "a.md", r#"case "$1" in */a.md) printf 'two\n' >> "$1";; esac"#);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains("saved a.md"), "{}", ran.stdout);
    let text = memory(&world, &["read", "a.md"]);
    assert!(text.starts_with("one") && text.ends_with("two\n"), "{text}");
    let last = &memory_json(&world, &["log"])[0];
    assert_eq!(
        (last["who"].as_str(), last["tool"].as_str()),
        (Some("person"), Some("tome memory edit"))
    );
    assert_eq!(copies(&world), [] as [&Path; 0]);
}

#[test]
fn an_unchanged_text_is_not_written() {
    let world = world();
    memory(&world, &["write", "a.md", "--content", "one"]);
    let before = memory_json(&world, &["log"]).len();
    let ran = edit(&world, "a.md", r#"touch "$1""#);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains("not changed"), "{}", ran.stdout);
    let ran = edit(&world, "new.md", "true");
    assert_eq!(ran.code, 0, "a template that was left alone is no note");
    assert_eq!(memory_json(&world, &["log"]).len(), before);
    assert_eq!(memory_json(&world, &["list"]).len(), 1);
}

#[test]
fn an_editor_that_fails_changes_nothing() {
    let world = world();
    memory(&world, &["write", "a.md", "--content", "one"]);
    let ran = edit(&world, "a.md", r#"echo two > "$1"; exit 3"#);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
    assert!(ran.stderr.contains("nothing was written"), "{}", ran.stderr);
    assert_eq!(memory(&world, &["read", "a.md"]).trim_end(), "one");
    let kept = copies(&world);
    let [kept] = kept.as_slice() else { panic!("{kept:?}") };
    assert_eq!(std::fs::read_to_string(kept.join("a.md")).unwrap(), "two\n");
    assert!(ran.stderr.contains(kept.to_str().unwrap()), "{}", ran.stderr);
    let ran = edit(&world, "a.md", "exit 3");
    assert_eq!((ran.code, copies(&world).len()), (1, 1), "nothing was saved, nothing is kept");
    let mut gone = world.command(&["memory", "edit", "a.md"]);
    let ran = World::run(gone.env("EDITOR", "/no/such/editor"), b"");
    assert_eq!(ran.code, 1, "{}", ran.stderr);
}

#[test]
fn the_editor_is_chosen_by_precedence() {
    let world = world();
    let ran = world.tome(&["memory", "edit", "a.md"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("EDITOR"), "{}", ran.stderr);
    let mut command = world.command(&["memory", "edit", "a.md"]);
    let visual = editor(&world, r#"test "$1" = --wait; echo visual > "$2""#);
    command.env("VISUAL", format!("'{}' --wait", visual.display())).env("EDITOR", "false");
    assert_eq!(World::run(&mut command, b"").code, 0);
    assert_eq!(memory(&world, &["read", "a.md"]), "visual\n");
}

#[test]
fn a_new_note_begins_with_a_template() {
    let world = world();
    let ran = edit(
        &world,
        "how_we_test.md",
        r#"sed -i 's/^description: .*/description: with a database/' "$1""#,
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let note = &memory_json(&world, &["list"])[0];
    assert_eq!(
        (note["name"].as_str(), note["type"].as_str()),
        (Some("how we test"), Some("project"))
    );
    assert_eq!(note["summary"], "with a database");
    let ran = edit(&world, "facts/build.md", r#"echo '- use nextest' >> "$1""#);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(memory(&world, &["read", "facts/build.md"]).starts_with("# build\n"));
}

#[test]
fn the_overview_of_a_new_session_begins_with_its_template() {
    let world = world();
    let editor = editor(&world, r#"echo '- fix the lexer' >> "$1""#);
    let mut command = world.command(&["memory", "edit", "overview.md", "--session", "s1"]);
    let ran = World::run(command.env("EDITOR", format!("'{}'", editor.display())), b"");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    let text = memory(&world, &["read", "overview.md", "--session", "s1"]);
    assert!(text.starts_with('#') && text.ends_with("- fix the lexer\n"), "{text}");
}

/// With a concurrent change both texts are kept, and the message explains what to do.
#[test]
fn a_note_changed_meanwhile_is_not_overwritten() {
    let world = world();
    memory(&world, &["write", "a.md", "--content", "one"]);
    let script = r#"echo mine > "$1"; "$TOME_PROGRAM" memory write a.md --content theirs"#;
    let ran = edit(&world, "a.md", script);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert_eq!(memory(&world, &["read", "a.md"]).trim_end(), "theirs");
    let kept: Vec<PathBuf> = copies(&world).into_iter().map(|folder| folder.join("a.md")).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(std::fs::read_to_string(&kept[0]).unwrap(), "mine\n");
    let file = kept[0].to_str().unwrap();
    assert!(
        ran.stderr.contains(file) && ran.stderr.contains("tome memory diff a.md"),
        "{}",
        ran.stderr
    );
    memory(&world, &["write", "a.md", "--file", file]);
    assert_eq!(memory(&world, &["read", "a.md"]), "mine\n");
}

/// A note that was created after the editor was opened.
#[test]
fn a_note_created_meanwhile_is_not_overwritten() {
    let world = world();
    let script = r#"echo mine > "$1"; "$TOME_PROGRAM" memory write a.md --content theirs"#;
    let ran = edit(&world, "a.md", script);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert_eq!(memory(&world, &["read", "a.md"]).trim_end(), "theirs");
    assert_eq!(copies(&world).len(), 1);
}

#[test]
fn a_rejected_edit_is_kept() {
    let world = world();
    let ran = edit(&world, "facts/a.md", r#"head -c 20000 /dev/zero | tr '\0' x > "$1""#);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("limit") && ran.stderr.contains("kept in"), "{}", ran.stderr);
    assert_eq!(copies(&world).len(), 1);
    let ran = edit(&world, "../a.md", "exit 9");
    assert_eq!(ran.code, 2, "refused before the editor is opened: {}", ran.stderr);
}
