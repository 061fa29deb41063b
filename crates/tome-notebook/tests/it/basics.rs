//! The effect of each operation, and the resulting files.

use expect_test::expect;
use tome_model::Scope;
use tome_notebook::{Actor, NoteOp, NoteType, NotebookError, NotebookRules, TextPatch};

use crate::fixture::{Fixture, agent, typed};

fn patch(old: &str, new: &str) -> TextPatch {
    TextPatch { old: old.to_owned(), new: new.to_owned() }
}

#[test]
fn reading_a_missing_notebook_creates_nothing() {
    let fixture = Fixture::new();
    let notebook = fixture.open();
    assert_eq!(notebook.list_notes().expect("a list"), []);
    assert_eq!(notebook.render_index().expect("an index"), "# Memory\n\n(empty)\n");
    assert!(matches!(notebook.read_note("a.md"), Err(NotebookError::NotFound { .. })));
    assert!(matches!(notebook.delete_note(&agent(), "a.md"), Err(NotebookError::NotFound { .. })));
    assert!(notebook.patch_note(&agent(), "a.md", &[patch("a", "b")], None).is_err());
    assert_eq!(notebook.read_history(None).expect("a log"), []);
    assert_eq!(std::fs::read_dir(fixture.outside()).expect("a folder").count(), 0);
}

#[test]
fn the_index_lists_every_kind_in_its_section() {
    let fixture = Fixture::new();
    let notebook = fixture.open();
    let by = agent();
    let write = |path: &str, content: &str| {
        notebook.write_note(&by, path, content, None, None).expect("written")
    };
    let note = |path: &str, name: &str, kind| {
        notebook.write_note(&by, path, "- x", Some(&typed(name, kind)), None).expect("written");
    };
    note("project_auth.md", "Auth Refactor", NoteType::Project);
    note("user_prefs.md", "User Preferences", NoteType::User);
    note("feedback_testing.md", "Testing [always]", NoteType::Feedback);
    note("links.md", "Links", NoteType::Reference);
    write("loose.md", "no frontmatter");
    write(
        "facts/user.md",
        "# User Facts\n\n- Name: Zhang San\n- Language: Chinese\n- Role: developer\n",
    );
    notebook
        .append_entry(
            &by,
            "episodes/2026-02.md",
            "## Logger fix\n- Date: 2026-02-24",
            Some("logger fix"),
            None,
        )
        .expect("appended");
    expect![[r#"
        # Memory

        ## User
        - [User Preferences](user_prefs.md) - about User Preferences

        ## Feedback
        - [Testing \[always\]](feedback_testing.md) - about Testing [always]

        ## Project
        - [Auth Refactor](project_auth.md) - about Auth Refactor

        ## Reference
        - [Links](links.md) - about Links

        ## Other
        - [loose](loose.md) - loose

        ## Facts
        - [facts/user.md](facts/user.md) (103B): name, language, role

        ## Episodes
        - [episodes/2026-02.md](episodes/2026-02.md) (76B): logger fix
    "#]]
    .assert_eq(&fixture.index());
    assert_eq!(fixture.index(), fixture.rebuilt());
}

#[test]
fn an_excerpt_keeps_the_newest_and_reports_omissions() {
    let fixture = Fixture::new();
    let notebook = fixture.open();
    for number in 0..500 {
        fixture.put(&format!("note_{number:03}.md"), b"x");
        let path = fixture.root().join(format!("note_{number:03}.md"));
        let file = std::fs::File::options().write(true).open(path).expect("a file");
        let at = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 + number);
        file.set_modified(at).expect("a time");
    }
    let prompt = notebook.render_index_excerpt(200, 16 * 1024).expect("a prompt");
    assert!(
        prompt.text.lines().count() <= 200 && prompt.text.lines().count() > 190,
        "{}",
        prompt.text
    );
    assert!(prompt.text.contains("note_499.md") && !prompt.text.contains("note_000.md"));
    assert!(prompt.text.contains(&format!("({} older entries omitted", prompt.omitted)));
    let small = notebook.render_index_excerpt(200, 500).expect("a prompt");
    assert!(small.text.len() <= 500 && small.omitted > prompt.omitted);
    assert_eq!(notebook.list_notes().expect("a list").len(), 500);
}

#[test]
fn a_write_with_an_old_version_is_rejected() {
    let fixture = Fixture::new();
    let notebook = fixture.open();
    let by = agent();
    let first = notebook.write_note(&by, "a.md", "one", None, Some("")).expect("written");
    assert!(matches!(
        notebook.write_note(&by, "a.md", "x", None, Some("")),
        Err(NotebookError::VersionConflict { .. })
    ));
    fixture.put("a.md", b"two, by hand");
    let refused = notebook.write_note(&by, "a.md", "three", None, Some(&first.version));
    assert!(matches!(refused, Err(NotebookError::VersionConflict { .. })), "{refused:?}");
    let read = notebook.read_note("a.md").expect("a note");
    assert_eq!(read.text, "two, by hand");
    notebook.write_note(&by, "a.md", "three", None, Some(&read.version)).expect("written");
    notebook
        .patch_note(&by, "a.md", &[patch("three", "four")], Some(&read.version))
        .expect_err("changed");
}

#[test]
fn every_version_is_kept_with_author_and_change() {
    let fixture = Fixture::new();
    let notebook = fixture.open();
    let by = agent();
    notebook.write_note(&by, "a.md", "one\n", None, None).expect("written");
    fixture.put("a.md", b"one\nand a half\n");
    notebook.patch_note(&by, "a.md", &[patch("half", "quarter")], None).expect("patched");
    notebook.delete_note(&by, "a.md").expect("deleted");
    fixture.put("b.md", b"by hand");
    let log = notebook.read_history(None).expect("a log");
    let lines: Vec<String> = log
        .iter()
        .map(|entry| {
            let who = if entry.by.who == Actor::Outside { "outside" } else { "agent" };
            let op = entry.op.as_str();
            format!(
                "{} {op} {} {who} +{} -{}",
                entry.number, entry.path, entry.added, entry.removed
            )
        })
        .collect();
    expect![[r#"
        1 created a.md agent +1 -0
        2 changed a.md outside +1 -0
        3 changed a.md agent +1 -1
        4 deleted a.md agent +0 -2
        5 created b.md outside +1 -0"#]]
    .assert_eq(&lines.join("\n"));
    let contents: Vec<String> = log
        .iter()
        .filter(|entry| entry.op != NoteOp::Deleted)
        .map(|entry| notebook.read_version(&entry.path, &entry.version).expect("a version").text)
        .collect();
    assert_eq!(contents, ["one\n", "one\nand a half\n", "one\nand a quarter\n", "by hand"]);
    notebook.restore_version(&by, "a.md", None).expect("restored");
    assert_eq!(notebook.read_note("a.md").expect("a note").text, "one\nand a quarter\n");
    notebook.restore_version(&by, "a.md", Some(&log[0].version)).expect("restored");
    assert_eq!(notebook.read_note("a.md").expect("a note").text, "one\n");
    assert_eq!(fixture.index(), fixture.rebuilt());
}

#[test]
fn a_manually_edited_index_is_kept_in_the_history_and_corrected() {
    let fixture = Fixture::new();
    fixture.put("MEMORY.md", b"# my own words");
    let notebook = fixture.open();
    notebook.write_note(&agent(), "a.md", "x", None, None).expect("written");
    fixture.put("MEMORY.md", b"# edited while the agent writes");
    notebook.write_note(&agent(), "b.md", "x", None, None).expect("written");
    assert_eq!(fixture.index(), fixture.rebuilt());
    let versions = notebook.read_history(Some("MEMORY.md")).expect("a log");
    let texts: Vec<String> = versions
        .iter()
        .map(|entry| notebook.read_version("MEMORY.md", &entry.version).expect("a version").text)
        .collect();
    assert_eq!(texts, ["# my own words", "# edited while the agent writes"]);
}

#[test]
fn every_kind_of_write_respects_the_budget_of_facts() {
    let fixture = Fixture::new();
    let rules = NotebookRules { facts_bytes_max: 300, facts_allowed: None };
    let notebook = fixture.open().with_rules(rules);
    let by = agent();
    let wide = "字".repeat(60);
    notebook
        .write_note(&by, "facts/a.md", &format!("# A\n\n> Summary: a\n\n{wide}\n"), None, None)
        .expect("fits");
    let before = fixture.files();
    let over = [
        notebook.write_note(&by, "facts/b.md", &format!("> Summary: b\n{wide}"), None, None),
        notebook.append_entry(&by, "facts/a.md", &wide, Some("a"), None),
        notebook.patch_note(
            &by,
            "facts/a.md",
            &[patch("Summary: a", &format!("Summary: a\n{wide}"))],
            None,
        ),
        notebook.create_note(&by, "facts/c.md", &format!("{wide}{wide}")),
    ];
    for refused in over {
        let refused = refused.expect_err("too much").to_string();
        assert!(
            refused.contains("Condense existing facts before adding new content."),
            "{refused}"
        );
    }
    assert_eq!(fixture.files(), before);
    notebook
        .write_note(&by, "episodes/2026-01.md", &wide.repeat(9), None, None)
        .expect("episodes have none");
    // Oversized facts, left by a manual edit, can be condensed step by step.
    fixture.put("facts/a.md", wide.repeat(3).as_bytes());
    notebook
        .write_note(&by, "facts/a.md", &format!("> Summary: a\n{}", wide.repeat(2)), None, None)
        .expect("smaller");
}

#[test]
fn only_allowed_fact_files_can_be_written() {
    let fixture = Fixture::new();
    let allowed = Some(vec!["user.md".to_owned(), "memory.md".to_owned()]);
    let notebook = fixture
        .open()
        .with_rules(NotebookRules { facts_allowed: allowed, ..NotebookRules::default() });
    let by = agent();
    notebook.write_note(&by, "facts/memory.md", "- a: b", None, None).expect("allowed");
    let refused =
        notebook.append_entry(&by, "facts/x.md", "- a: b", None, None).expect_err("not allowed");
    expect![[r#"Fact file "x.md" is not allowed. Only allowed: user.md, memory.md"#]]
        .assert_eq(&refused.to_string());
    notebook.rename(&by, "facts/memory.md", "facts/y.md").expect_err("not allowed");
}

#[test]
fn a_session_has_an_overview_and_details() {
    let fixture = Fixture::new();
    let notebook = fixture.open_as(Scope::Session);
    let by = agent();
    let template = notebook.read_note("overview.md").expect("the template").text;
    for heading in
        ["Current Task", "Key Decisions", "Known Context", "Pending Issues", "Recent Operations"]
    {
        assert!(template.contains(&format!("## {heading}\n")), "{template}");
    }
    assert_eq!(fixture.files().len(), 0, "reading created something");
    notebook
        .write_note(&by, "detail/auth.md", "# Auth\n\nJWT with rotation.\n", None, None)
        .expect("written");
    let files = fixture.files();
    assert_eq!(files.keys().collect::<Vec<_>>(), ["detail/auth.md", "overview.md"]);
    assert!(
        String::from_utf8_lossy(&files["detail/auth.md"]).contains("META:\n- created: 2026-11-1")
    );
    notebook
        .replace_first(&by, "overview.md", "## Current Task\n", "## Current Task\nlogin\n", None)
        .expect("updated");
    let edited = notebook.read_note("overview.md").expect("a note").text;
    notebook.write_note(&by, "detail/b.md", "# B", None, None).expect("written");
    assert_eq!(notebook.read_note("overview.md").expect("a note").text, edited);
    notebook.write_note(&by, "elsewhere.md", "x", None, None).expect_err("no such place");
}

#[test]
fn file_modes_are_kept_and_new_notes_are_owner_only() {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let fixture = Fixture::new();
        let notebook = fixture.open();
        let mode = |path: &str| {
            std::fs::metadata(fixture.root().join(path)).expect("a file").permissions().mode()
                & 0o777
        };
        notebook.write_note(&agent(), "facts/new.md", "x", None, None).expect("written");
        assert_eq!((mode("facts/new.md"), mode("facts"), mode("")), (0o600, 0o700, 0o700));
        fixture.put("old.md", b"x");
        let wide = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(fixture.root().join("old.md"), wide).expect("a mode");
        notebook.write_note(&agent(), "old.md", "y", None, None).expect("written");
        assert_eq!(mode("old.md"), 0o644);
    }
}

#[test]
fn a_folder_is_moved_and_deleted_as_a_whole() {
    let fixture = Fixture::new();
    let notebook = fixture.open();
    let by = agent();
    for path in ["plans/a.md", "plans/deep/b.md", "c.md"] {
        notebook.write_note(&by, path, path, None, None).expect("written");
    }
    notebook.rename(&by, "plans", "c.md").expect_err("a note");
    notebook.rename(&by, "plans", "plans/in/itself").expect_err("in itself");
    notebook.rename(&by, "plans", "old/plans").expect("renamed");
    notebook.rename(&by, "c.md", "old/plans/a.md").expect_err("taken");
    let paths: Vec<String> = fixture.files().into_keys().collect();
    assert_eq!(paths, ["MEMORY.md", "c.md", "old/plans/a.md", "old/plans/deep/b.md"]);
    assert_eq!(notebook.delete_folder(&by, "old").expect("deleted"), 2);
    assert!(!fixture.root().join("old").exists());
    assert_eq!(fixture.index(), fixture.rebuilt());
    notebook.restore_version(&by, "old/plans/deep/b.md", None).expect("restored");
}

#[test]
fn a_manually_deleted_notebook_starts_empty() {
    let fixture = Fixture::new();
    let notebook = fixture.open();
    notebook.write_note(&agent(), "a.md", "x", None, None).expect("written");
    std::fs::remove_dir_all(fixture.root()).expect("deleted");
    assert_eq!(notebook.list_notes().expect("a list"), []);
    assert!(!fixture.root().exists());
    notebook.write_note(&agent(), "b.md", "x", None, None).expect("written");
    assert_eq!(fixture.index(), fixture.rebuilt());
}

#[test]
fn a_binary_file_is_listed_and_kept() {
    let fixture = Fixture::new();
    let notebook = fixture.open();
    fixture.put("bytes.md", &[0xff, 0xfe, b'x']);
    notebook.read_note("bytes.md").expect_err("no text");
    notebook.patch_note(&agent(), "bytes.md", &[patch("x", "y")], None).expect_err("no text");
    assert_eq!(notebook.list_notes().expect("a list").len(), 1);
    notebook.delete_note(&agent(), "bytes.md").expect("deleted");
    notebook.restore_version(&agent(), "bytes.md", None).expect("restored");
    assert_eq!(fixture.files()["bytes.md"], [0xff, 0xfe, b'x']);
}

#[test]
fn a_torn_history_is_continued() {
    let fixture = Fixture::new();
    fixture.open().write_note(&agent(), "a.md", "one", None, None).expect("written");
    let path = fixture.root().join(".history/history.jsonl");
    let mut file = std::fs::File::options().append(true).open(&path).expect("a history");
    std::io::Write::write_all(&mut file, b"{\"n\":2,\"at\":\"2026").expect("torn");
    let notebook = fixture.open();
    notebook.write_note(&agent(), "a.md", "two", None, None).expect("written");
    notebook.write_note(&agent(), "a.md", "three", None, None).expect("written");
    let log = notebook.read_history(Some("a.md")).expect("a log");
    assert_eq!(log.len(), 3);
    for (entry, text) in log.iter().zip(["one", "two", "three"]) {
        assert_eq!(notebook.read_version("a.md", &entry.version).expect("a version").text, text);
    }
}
