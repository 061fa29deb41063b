//! Edge cases that must not lose data: notes older than the history, a history on a full disk,
//! concurrent edits, and moves that would bypass a budget.

use std::path::Path;

use tome_model::Scope;
use tome_notebook::{Notebook, NotebookError};

use crate::world::{World, agent};

/// All texts of a note that the history can restore, oldest first.
fn texts(notebook: &Notebook, path: &str) -> Vec<String> {
    let versions = notebook.read_history(Some(path)).expect("a log");
    let kept = versions.iter().filter(|version| version.version != "-");
    kept.map(|kept| notebook.read_version(path, &kept.version).expect("a version").text).collect()
}

#[test]
fn notes_that_were_there_before_the_history_are_in_it_from_the_first_write_on() {
    let world = World::new();
    world.put("old.md", b"first");
    world.put("gone.md", b"will be deleted");
    let notebook = world.open();
    assert_eq!(notebook.list_notes().expect("a list").len(), 2);
    assert!(!world.root().join(".history").exists(), "reading makes nothing");
    notebook.write_note(&agent(), "new.md", "a note", None, None).expect("written");
    world.put("old.md", b"second");
    std::fs::remove_file(world.root().join("gone.md")).expect("deleted");
    assert_eq!(texts(&notebook, "old.md"), ["first", "second"]);
    assert_eq!(texts(&notebook, "gone.md"), ["will be deleted"]);
}

#[test]
fn a_history_that_was_removed_begins_with_what_is_there() {
    let world = World::new();
    let notebook = world.open();
    notebook.write_note(&agent(), "a.md", "first", None, None).expect("written");
    notebook.list_notes().expect("a list");
    std::fs::remove_dir_all(world.root().join(".history")).expect("removed");
    notebook.write_note(&agent(), "b.md", "other", None, None).expect("written");
    world.put("a.md", b"second");
    assert_eq!(texts(&notebook, "a.md"), ["first", "second"]);
}

/// Simulates a history on a full disk.
#[cfg(target_os = "linux")]
fn fill_up(history: &Path) {
    std::fs::rename(history, history.with_extension("aside")).expect("renamed");
    std::os::unix::fs::symlink("/dev/full", history).expect("a link");
}

#[cfg(target_os = "linux")]
fn make_room(history: &Path) {
    std::fs::rename(history.with_extension("aside"), history).expect("renamed");
}

#[test]
#[cfg(target_os = "linux")]
fn an_edit_that_finds_no_room_in_the_history_is_read_and_kept_later() {
    let world = World::new();
    let history = world.root().join(".history/history.jsonl");
    let notebook = world.open();
    notebook.write_note(&agent(), "a.md", "first", None, None).expect("written");
    notebook.write_note(&agent(), "b.md", "other", None, None).expect("written");
    fill_up(&history);
    world.put("a.md", b"by hand");
    let listed = notebook.list_notes().expect("a full disk keeps nobody from reading");
    assert_eq!(listed.first().expect("a note").bytes, 7);
    assert!(notebook.write_note(&agent(), "a.md", "second", None, None).is_err());
    assert_eq!(notebook.read_note("a.md").expect("a note").text, "by hand");
    make_room(&history);
    notebook.list_notes().expect("a list");
    world.put("a.md", b"by hand again");
    assert_eq!(texts(&notebook, "a.md"), ["first", "by hand", "by hand again"]);
}

#[test]
fn an_edit_by_hand_while_a_tool_writes_is_not_written_over() {
    let world = World::new();
    let notebook = world.open();
    notebook.write_note(&agent(), "a.md", "first", None, None).expect("written");
    let mut is_first = true;
    let mut change = |text: &str| {
        if std::mem::take(&mut is_first) {
            world.put("a.md", b"by hand");
        }
        Ok(format!("{text}, then the tool"))
    };
    notebook.edit_note(&agent(), "a.md", &mut change).expect("edited");
    assert_eq!(notebook.read_note("a.md").expect("a note").text, "by hand, then the tool");
    assert_eq!(texts(&notebook, "a.md"), ["first", "by hand", "by hand, then the tool"]);
}

#[test]
fn a_fact_that_moves_takes_its_room_once() {
    let world = World::new();
    let notebook = world.open();
    let fact = "x".repeat(10_000);
    notebook.write_note(&agent(), "facts/a.md", &fact, None, None).expect("written");
    notebook.rename(&agent(), "facts/a.md", "facts/b.md").expect("it takes no more than before");
    notebook.rename(&agent(), "facts", "facts/old").expect_err("a folder in itself");
    for number in 0..3 {
        notebook
            .write_note(&agent(), &format!("big/{number}.md"), &fact, None, None)
            .expect("written");
    }
    notebook.delete_note(&agent(), "facts/b.md").expect("deleted");
    let refused = notebook.rename(&agent(), "big", "facts").expect_err("too much");
    assert!(
        matches!(refused, NotebookError::FactsBudgetExceeded { bytes, .. } if bytes == 30_000),
        "{refused}"
    );
    assert_eq!(notebook.list_notes().expect("a list").len(), 3);
}

#[test]
fn an_overview_that_was_only_read_can_be_written_by_its_version() {
    let world = World::new();
    let notebook = world.open_as(Scope::Session);
    let template = notebook.read_note("overview.md").expect("the template");
    let written =
        notebook.write_note(&agent(), "overview.md", "# Mine\n", None, Some(&template.version));
    written.expect("nobody changed it");
    let refused = notebook.write_note(&agent(), "overview.md", "x", None, Some(&template.version));
    assert!(matches!(refused, Err(NotebookError::VersionConflict { .. })));
}

#[test]
fn what_is_noted_of_built_files_deletes_no_note() {
    let world = World::new();
    world.open().write_note(&agent(), "a.md", "mine", None, None).expect("written");
    let memo = world.root().join(".history/built");
    let noted = std::fs::read_to_string(&memo).expect("the memo");
    world.put(".history/built", noted.replace("MEMORY.md", "a.md").as_bytes());
    world.open().write_note(&agent(), "b.md", "other", None, None).expect("written");
    assert_eq!(world.open().read_note("a.md").expect("still there").text, "mine");
}

#[test]
fn what_is_refused_makes_no_history() {
    let world = World::new();
    world.put("a.md", b"by hand");
    let refused = world.open().restore_version(&agent(), "a.md", None);
    assert!(matches!(refused, Err(NotebookError::NotFound { .. })));
    let notebook = world.open();
    assert!(notebook.replace_first(&agent(), "a.md", "not there", "x", None).is_err());
    assert!(notebook.rename(&agent(), "a.md", "a.md").is_err());
    assert!(notebook.delete_note(&agent(), "b.md").is_err());
    assert!(!world.root().join(".history").exists());
}

#[test]
fn a_built_file_that_goes_is_kept_if_somebody_wrote_into_it() {
    let world = World::new();
    world.open().write_note(&agent(), "a.md", "a note", None, None).expect("written");
    world.put("old/README.md", b"by hand");
    world.put(".history/built", b"1:2:3:4 old/README.md\n");
    world.open().write_note(&agent(), "b.md", "other", None, None).expect("written");
    assert!(!world.root().join("old").exists());
    assert_eq!(texts(&world.open(), "old/README.md"), ["by hand"]);
}
