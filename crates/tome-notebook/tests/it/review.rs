//! Edge cases that must not lose data: notes older than the history, a history on a full disk,
//! concurrent edits, and moves that would bypass a budget.

use std::path::Path;

use tome_model::Scope;
use tome_notebook::{Notebook, NotebookError};

use crate::fixture::{Fixture, agent};

/// All texts of a note that the history can restore, oldest first.
fn texts(notebook: &Notebook, path: &str) -> Vec<String> {
    let versions = notebook.read_history(Some(path)).expect("a log");
    let kept = versions.iter().filter(|version| version.version != "-");
    kept.map(|kept| notebook.read_version(path, &kept.version).expect("a version").text).collect()
}

#[test]
fn the_first_write_adds_existing_notes_to_the_history() {
    let fixture = Fixture::new();
    fixture.put("old.md", b"first");
    fixture.put("gone.md", b"will be deleted");
    let notebook = fixture.open();
    assert_eq!(notebook.list_notes().expect("a list").len(), 2);
    assert!(!fixture.root().join(".history").exists(), "reading makes nothing");
    notebook.write_note(&agent(), "new.md", "a note", None, None).expect("written");
    fixture.put("old.md", b"second");
    std::fs::remove_file(fixture.root().join("gone.md")).expect("deleted");
    assert_eq!(texts(&notebook, "old.md"), ["first", "second"]);
    assert_eq!(texts(&notebook, "gone.md"), ["will be deleted"]);
}

#[test]
fn a_removed_history_restarts_with_the_existing_notes() {
    let fixture = Fixture::new();
    let notebook = fixture.open();
    notebook.write_note(&agent(), "a.md", "first", None, None).expect("written");
    notebook.list_notes().expect("a list");
    std::fs::remove_dir_all(fixture.root().join(".history")).expect("removed");
    notebook.write_note(&agent(), "b.md", "other", None, None).expect("written");
    fixture.put("a.md", b"second");
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
fn an_edit_that_does_not_fit_the_history_is_recorded_later() {
    let fixture = Fixture::new();
    let history = fixture.root().join(".history/history.jsonl");
    let notebook = fixture.open();
    notebook.write_note(&agent(), "a.md", "first", None, None).expect("written");
    notebook.write_note(&agent(), "b.md", "other", None, None).expect("written");
    fill_up(&history);
    fixture.put("a.md", b"by hand");
    let listed = notebook.list_notes().expect("a full disk keeps nobody from reading");
    assert_eq!(listed.first().expect("a note").bytes, 7);
    assert!(notebook.write_note(&agent(), "a.md", "second", None, None).is_err());
    assert_eq!(notebook.read_note("a.md").expect("a note").text, "by hand");
    make_room(&history);
    notebook.list_notes().expect("a list");
    fixture.put("a.md", b"by hand again");
    assert_eq!(texts(&notebook, "a.md"), ["first", "by hand", "by hand again"]);
}

#[test]
fn a_concurrent_manual_edit_is_not_overwritten() {
    let fixture = Fixture::new();
    let notebook = fixture.open();
    notebook.write_note(&agent(), "a.md", "first", None, None).expect("written");
    let mut is_first = true;
    let mut change = |text: &str| {
        if std::mem::take(&mut is_first) {
            fixture.put("a.md", b"by hand");
        }
        Ok(format!("{text}, then the tool"))
    };
    notebook.edit_note(&agent(), "a.md", &mut change).expect("edited");
    assert_eq!(notebook.read_note("a.md").expect("a note").text, "by hand, then the tool");
    assert_eq!(texts(&notebook, "a.md"), ["first", "by hand", "by hand, then the tool"]);
}

#[test]
fn a_moved_fact_counts_once_toward_the_budget() {
    let fixture = Fixture::new();
    let notebook = fixture.open();
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
fn an_overview_can_be_written_with_the_version_that_was_read() {
    let fixture = Fixture::new();
    let notebook = fixture.open_as(Scope::Session);
    let template = notebook.read_note("overview.md").expect("the template");
    let written =
        notebook.write_note(&agent(), "overview.md", "# Mine\n", None, Some(&template.version));
    written.expect("nobody changed it");
    let refused = notebook.write_note(&agent(), "overview.md", "x", None, Some(&template.version));
    assert!(matches!(refused, Err(NotebookError::VersionConflict { .. })));
}

#[test]
fn the_list_of_built_files_never_deletes_a_note() {
    let fixture = Fixture::new();
    fixture.open().write_note(&agent(), "a.md", "mine", None, None).expect("written");
    let memo = fixture.root().join(".history/built");
    let noted = std::fs::read_to_string(&memo).expect("the memo");
    fixture.put(".history/built", noted.replace("MEMORY.md", "a.md").as_bytes());
    fixture.open().write_note(&agent(), "b.md", "other", None, None).expect("written");
    assert_eq!(fixture.open().read_note("a.md").expect("still there").text, "mine");
}

#[test]
fn a_rejected_write_leaves_no_history() {
    let fixture = Fixture::new();
    fixture.put("a.md", b"by hand");
    let refused = fixture.open().restore_version(&agent(), "a.md", None);
    assert!(matches!(refused, Err(NotebookError::NotFound { .. })));
    let notebook = fixture.open();
    assert!(notebook.replace_first(&agent(), "a.md", "not there", "x", None).is_err());
    assert!(notebook.rename(&agent(), "a.md", "a.md").is_err());
    assert!(notebook.delete_note(&agent(), "b.md").is_err());
    assert!(!fixture.root().join(".history").exists());
}

#[test]
fn a_manually_edited_built_file_is_kept_in_the_history() {
    let fixture = Fixture::new();
    fixture.open().write_note(&agent(), "a.md", "a note", None, None).expect("written");
    fixture.put("old/README.md", b"by hand");
    fixture.put(".history/built", b"1:2:3:4 old/README.md\n");
    fixture.open().write_note(&agent(), "b.md", "other", None, None).expect("written");
    assert!(!fixture.root().join("old").exists());
    assert_eq!(texts(&fixture.open(), "old/README.md"), ["by hand"]);
}
