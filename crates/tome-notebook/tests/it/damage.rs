//! Killed processes, damaged history lines, deceptive names, and far too many files.

#![allow(clippy::disallowed_methods, reason = "the tests corrupt files on purpose")]

use std::fs;
use std::path::Path;

use tome_notebook::{Actor, NoteVersion, check_history, limits::NOTES_MAX};

use crate::fixture::{Fixture, agent};

fn last(versions: &[NoteVersion]) -> (&Actor, &str) {
    let last = versions.last().unwrap();
    (&last.by.who, last.by.tool.as_str())
}

/// Whether the marker of a write in progress is set.
fn is_marked(history: &Path) -> bool {
    fs::read(history.join("writing.json")).is_ok_and(|mark| mark.starts_with(b"{"))
}

/// The history is written before the file is renamed. A process killed in between leaves the old
/// content, which is not an outside edit.
#[test]
fn an_interrupted_write_is_not_recorded_as_an_outside_edit() {
    let fixture = Fixture::new();
    let by = agent();
    fixture.open().write_note(&by, "a.md", "first\n", None, None).unwrap();
    let before = fs::read(fixture.root().join("a.md")).unwrap();
    fixture.open().write_note(&by, "a.md", "second\n", None, None).unwrap();
    let history = fixture.root().join(".history");
    for has_mark in [true, false] {
        // The intermediate state: new history, old file, and the marker of the write.
        fs::write(fixture.root().join("a.md"), &before).unwrap();
        if has_mark {
            let mark = r#"{"who":"agent","agent":"claude-code","session":"s1","paths":["a.md"]}"#;
            fs::write(history.join("writing.json"), mark).unwrap();
        }
        let notebook = fixture.open();
        notebook.refresh().unwrap();
        let versions = notebook.read_history(Some("a.md")).unwrap();
        let tool = if has_mark { "interrupted" } else { "reverted" };
        assert_eq!(last(&versions), (&by.who, tool));
        assert!(!is_marked(&history));
        notebook.write_note(&by, "a.md", "second\n", None, None).unwrap();
        assert!(!is_marked(&history));
    }
    // Content that Tome never wrote still counts as an outside edit.
    fs::write(fixture.root().join("a.md"), "by hand\n").unwrap();
    let notebook = fixture.open();
    notebook.refresh().unwrap();
    assert_eq!(last(&notebook.read_history(Some("a.md")).unwrap()), (&Actor::Outside, "edited"));
}

#[test]
fn damaged_history_lines_are_reported_and_torn_ones_are_not() {
    let fixture = Fixture::new();
    let by = agent();
    for text in ["one\n", "two\n", "three\n"] {
        fixture.open().write_note(&by, "a.md", text, None, None).unwrap();
    }
    let history = fixture.root().join(".history");
    let file = history.join("history.jsonl");
    let whole = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    assert_eq!(check_history(&history).unwrap(), Vec::<String>::new());
    // Torn by a kill before the write was acknowledged.
    fs::write(&file, format!("{whole}{{\"n\":4,\"at\":\"20")).unwrap();
    assert_eq!(check_history(&history).unwrap(), Vec::<String>::new());
    fixture.open().write_note(&by, "a.md", "four\n", None, None).unwrap();
    assert_eq!(check_history(&history).unwrap(), Vec::<String>::new());
    // Every damaged or removed line is detected.
    for (n, _) in lines.iter().enumerate() {
        let mut spoiled: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        spoiled[n] = "\0".repeat(spoiled[n].len());
        fs::write(&file, spoiled.join("\n") + "\n").unwrap();
        let found = check_history(&history).unwrap().join("; ");
        assert!(
            found.contains(&format!("history.jsonl line {}: a version is damaged", n + 1)),
            "{found}"
        );
        if n + 1 < lines.len() {
            spoiled.remove(n);
            fs::write(&file, spoiled.join("\n") + "\n").unwrap();
            let found = check_history(&history).unwrap().join("; ");
            assert!(
                found.contains(&format!("line {}: a version is damaged or missing", n + 1)),
                "{found}"
            );
        }
        // The other versions stay readable.
        assert!(fixture.open().read_history(Some("a.md")).unwrap().len() >= lines.len() - 1);
    }
}

#[test]
fn invisible_names_are_rejected_and_existing_ones_are_shown() {
    let fixture = Fixture::new();
    let notebook = fixture.open();
    let by = agent();
    for c in [
        '\u{202e}',
        '\u{2066}',
        '\u{200b}',
        '\u{200d}',
        '\u{feff}',
        '\u{ad}',
        '\u{2028}',
        '\u{e0041}',
        '\u{85}',
        '\u{3000}',
    ] {
        for path in [format!("no{c}te.md"), format!("fol{c}der/note.md")] {
            let error = notebook.write_note(&by, &path, "x\n", None, None).unwrap_err().to_string();
            assert!(error.is_ascii(), "{error}");
            assert!(notebook.create_note(&by, &path, "x\n").is_err());
        }
    }
    assert!(!fixture.root().exists());
    notebook.write_note(&by, "plain.md", "x\n", None, None).unwrap();
    fs::write(fixture.root().join("us\u{202e}dm.exe.md"), "# hidden\n").unwrap();
    let listed = notebook.list_notes().unwrap();
    let hidden = listed.iter().find(|note| note.path.contains("exe")).unwrap();
    assert_eq!(hidden.path, "us\\u{202e}dm.exe.md");
    assert_eq!(notebook.read_note(&hidden.path).unwrap().text, "# hidden\n");
    assert!(notebook.has_note(&hidden.path).unwrap());
    assert!(!fixture.index().contains('\u{202e}'));
    assert_eq!(
        notebook.read_history(Some(&hidden.path)).unwrap().last().unwrap().path,
        hidden.path
    );
}

/// A flood of files displaces no note and is reported.
#[test]
fn known_notes_are_served_when_there_are_too_many_files() {
    let fixture = Fixture::new();
    let by = agent();
    fixture.open().write_note(&by, "zebra.md", "the stripes\n", None, None).unwrap();
    let flood = fixture.root().join("flood");
    fs::create_dir(&flood).unwrap();
    for n in 0..NOTES_MAX + 50 {
        fs::write(flood.join(format!("{n:06}.md")), "x\n").unwrap();
    }
    let notebook = fixture.open();
    let listed = notebook.list_notes().unwrap();
    assert_eq!(listed.len(), NOTES_MAX);
    assert!(listed.iter().any(|note| note.path == "zebra.md"));
    let left_out = notebook.describe_unserved_files().unwrap().unwrap();
    assert!(
        left_out.ends_with(": 51 files are not served: the limit is 20000 notes"),
        "{left_out}"
    );
    notebook.write_note(&by, "new.md", "written all the same\n", None, None).unwrap();
    assert!(notebook.has_note("new.md").unwrap());
    // Each unserved file counts once, however often it changes, and not after it is gone.
    let last = flood.join(format!("{:06}.md", NOTES_MAX + 49));
    let count = || notebook.describe_unserved_files().unwrap().unwrap();
    for text in ["y\n", "yy\n", "yyy\n"] {
        fs::write(&last, text).unwrap();
        assert!(count().contains(": 51 files"), "{}", count());
    }
    fs::remove_file(&last).unwrap();
    assert!(count().contains(": 50 files"), "{}", count());
    fs::remove_dir_all(&flood).unwrap();
    assert_eq!(notebook.list_notes().unwrap().len(), 2);
    assert_eq!(notebook.describe_unserved_files().unwrap(), None);
}
