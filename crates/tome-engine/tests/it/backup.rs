//! Interrupted backups are continued: nothing is missing, nothing is there twice, nothing stale is kept.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};
use tome_engine::backup::{
    BackupCounts, BackupError, BlockReader, PartialBackup, Record, Restorer, check_backup,
    read_partial,
};
use tome_home::NotebookOwner;
use tome_model::Scope;
use tome_notebook::{Actor, Author, NoteOp, Notebook};

use crate::engine_fixture::{EngineFixture, MINUTE_MS, MORNING_MS};

const VERSION: &str = "1.0.0";

/// Events of two projects that fill several blocks, and a note.
fn filled() -> EngineFixture {
    let fixture = EngineFixture::new();
    add_events(&fixture, "/app", 0..2_400);
    add_events(&fixture, "/site", 0..600);
    fixture.write_note(Scope::Project, "facts/project.md", "- Database: SQLite\n");
    fixture
}

fn add_events(fixture: &EngineFixture, root: &str, numbers: std::ops::Range<u64>) {
    let text = "lexer parser token ".repeat(50);
    fixture.ingest(numbers.map(|n| {
        json!({
            "id": format!("{root}-{n}"), "cwd": root, "session_id": format!("session in {root}"),
            "at": MORNING_MS + n, "text": format!("{n} {text}"),
        })
    }));
}

/// A backup, and where each of its blocks ends.
fn back_up(fixture: &EngineFixture) -> (Vec<u8>, Vec<usize>) {
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    let mut out = |block: Vec<u8>| {
        bytes.extend(block);
        ends.push(bytes.len());
        Ok(())
    };
    fixture.engine.write_backup(VERSION, Some("[inject]\n"), &mut out).unwrap();
    (bytes, ends)
}

/// Continues a backup of which these bytes are left. Returns the whole, and what was kept.
fn continue_from(
    fixture: &EngineFixture,
    left: &[u8],
    version: &str,
) -> Result<(Vec<u8>, PartialBackup), BackupError> {
    let partial = read_partial(left)?.unwrap();
    let mut whole = left[..usize::try_from(partial.bytes).unwrap()].to_vec();
    let mut out = |block: Vec<u8>| {
        whole.extend(block);
        Ok(())
    };
    fixture.engine.continue_backup(version, Some("[inject]\n"), &partial, &mut out)?;
    Ok((whole, partial))
}

/// The records of a backup, sorted, without those that say when a run began, and what it holds.
fn records(bytes: &[u8]) -> (Vec<String>, BackupCounts) {
    let mut lines = Vec::new();
    let counts = check_backup(bytes, &mut |record| {
        if !matches!(record, Record::Start { .. }) {
            lines.push(serde_json::to_string(record).unwrap());
        }
    });
    lines.sort();
    (lines, counts.unwrap())
}

fn restore(bytes: &[u8]) -> EngineFixture {
    let fixture = EngineFixture::new();
    let (mut restorer, mut reader) =
        (Restorer::begin(&fixture.engine).unwrap(), BlockReader::new(bytes));
    while let Some(block) = reader.next_block().unwrap() {
        restorer.apply(&fixture.engine, block.records).unwrap();
    }
    drop(restorer);
    fixture
}

#[test]
fn a_backup_cut_anywhere_is_continued() {
    let fixture = filled();
    let (whole, ends) = back_up(&fixture);
    let expected = records(&whole);
    assert_eq!((expected.1.events, expected.1.projects, expected.1.notes), (3_000, 2, 1));
    assert!(ends.len() > 5, "{ends:?}");
    let mut kept = Vec::new();
    // At each block's end, inside its header, inside its body.
    for (index, end) in ends.iter().skip(1).enumerate() {
        let cut = whole.len().min(end + [0, 5, 700][index % 3]);
        let left = &whole[..cut];
        let (continued, partial) = continue_from(&fixture, left, VERSION).unwrap();
        assert_eq!(records(&continued), expected, "cut at {cut}");
        assert!(usize::try_from(partial.bytes).unwrap() <= cut);
        kept.push(partial.events);
    }
    assert!(kept.is_sorted() && kept[0] > 500 && kept.ends_with(&[3_000]), "{kept:?}");
    assert!(read_partial(&whole[..ends[0]]).unwrap().is_none(), "no events yet");
}

#[test]
fn a_continued_backup_includes_events_recorded_meanwhile() {
    let fixture = filled();
    let (mut left, ends) = back_up(&fixture);
    left.truncate(ends[2]);
    // Interrupted twice, and each time the home has changed.
    add_events(&fixture, "/site", 600..900);
    add_events(&fixture, "/new", 0..700);
    fixture.write_note(Scope::Project, "facts/project.md", "- Database: PostgreSQL\n");
    let (mut second, _) = continue_from(&fixture, &left, VERSION).unwrap();
    let mut reader = BlockReader::new(second.as_slice());
    let sizes = std::iter::from_fn(|| Some(reader.next_block().unwrap()?.bytes.len()));
    let sizes: Vec<usize> = sizes.collect();
    second.truncate(sizes.iter().take(5).sum());
    add_events(&fixture, "/app", 2_400..2_500);
    fixture.write_note(Scope::Coder, "semantic/rust/lexers.md", "# Lexers\n");
    let (third, partial) = continue_from(&fixture, &second, VERSION).unwrap();
    assert!(partial.events > 1_000, "{partial:?}");

    let at_once = back_up(&fixture).0;
    let events = |bytes: &[u8]| {
        let mut lines = records(bytes).0;
        lines.retain(|line| line.starts_with("{\"event\""));
        lines
    };
    assert_eq!(events(&third), events(&at_once));
    assert_eq!(records(&third).1, records(&at_once).1);
    let (from_third, from_whole) = (restore(&third), restore(&at_once));
    let dump = |fixture: &EngineFixture| {
        let (mut lines, _) = records(&back_up(fixture).0);
        // A project that is restored gets its folder now.
        lines.retain(|line| !line.starts_with("{\"dedup\""));
        lines
    };
    assert_eq!(dump(&from_third), dump(&from_whole));
    assert_eq!(dump(&from_third), dump(&fixture));
}

#[test]
fn damaged_blocks_are_not_kept() {
    let fixture = filled();
    let (whole, ends) = back_up(&fixture);
    for block in 2..4 {
        let mut damaged = whole.clone();
        damaged[ends[block] - 30] ^= 1;
        let (continued, partial) = continue_from(&fixture, &damaged, VERSION).unwrap();
        assert_eq!(partial.blocks, block as u64);
        assert_eq!(records(&continued), records(&whole));
    }
    // The mark in a header is proved by the ledger.
    let text = String::from_utf8_lossy(&whole[..ends[1]]).into_owned();
    let seq = text.rsplit("\"seq\":").next().unwrap().chars().next().unwrap();
    let at = whole[..ends[1]].windows(6).rposition(|part| part == b"\"seq\":").unwrap() + 6;
    let mut wrong = whole[..ends[1]].to_vec();
    wrong[at] = if seq == '1' { b'2' } else { b'1' };
    assert!(matches!(
        continue_from(&fixture, &wrong, VERSION),
        Err(BackupError::CannotContinue(_))
    ));
    assert!(matches!(read_partial(&b"my own file"[..]), Err(BackupError::NotABackup)));
}

#[test]
fn a_backup_of_something_else_is_not_continued() {
    let fixture = filled();
    let (whole, ends) = back_up(&fixture);
    let left = &whole[..ends[3]];
    let refusal =
        |fixture: &EngineFixture, version: &str| match continue_from(fixture, left, version) {
            Err(BackupError::CannotContinue(reason)) => reason,
            other => panic!("{:?}", other.map(|(_, partial)| partial)),
        };
    assert_eq!(refusal(&fixture, "1.0.1"), "another version of Tome wrote it");
    let empty = EngineFixture::new();
    assert_eq!(refusal(&empty, VERSION), "a project in it is gone");

    // The same projects with other events: by id, by content, by order.
    let partial = read_partial(left).unwrap().unwrap();
    let other = restore(&whole);
    assert!(continue_from(&other, left, VERSION).is_ok(), "a restored home has the same events");
    let change = |fields: &Value| {
        let fixture = EngineFixture::new();
        let (mut restorer, mut reader) =
            (Restorer::begin(&fixture.engine).unwrap(), BlockReader::new(whole.as_slice()));
        let first = reader.next_block().unwrap().unwrap();
        restorer.apply(&fixture.engine, first.records).unwrap();
        drop(restorer);
        fixture.ingest([fields.clone()]);
        add_events(&fixture, "/app", 0..2_400);
        add_events(&fixture, "/site", 0..600);
        fixture
    };
    let other = change(&json!({
        "id": "/app-0", "session_id": "session in /app", "at": MORNING_MS + MINUTE_MS, "text": "x",
    }));
    assert_eq!(refusal(&other, VERSION), "its events are not those of this home");

    // Renamed since: the record of a backup cannot be taken back.
    let projects = fixture.engine.stores().projects();
    projects.rename("/app", "The app").unwrap();
    assert!(continue_from(&fixture, left, VERSION).is_ok(), "a first name is added: {partial:?}");
    let (named, ends) = back_up(&fixture);
    projects.rename("/app", "Another name").unwrap();
    assert!(matches!(
        continue_from(&fixture, &named[..ends[3]], VERSION),
        Err(BackupError::CannotContinue("a project in it has changed"))
    ));
}

#[test]
fn offline_chats_stay_at_home() {
    let fixture = EngineFixture::new();
    let offline = format!("{}/offline/app", fixture.home().display());
    add_events(&fixture, "/app", 0..3);
    add_events(&fixture, &offline, 0..2);
    let (bytes, _) = back_up(&fixture);
    let (lines, counts) = records(&bytes);
    assert_eq!((counts.projects, counts.events), (1, 3));
    assert!(lines.iter().all(|line| !line.contains(&offline)), "{lines:#?}");
    let restored = restore(&bytes);
    assert_eq!(restored.engine.stores().projects().all().len(), 1);
}

#[test]
fn a_backup_counts_the_notes_that_a_restore_brings_back() {
    let fixture = EngineFixture::new();
    add_events(&fixture, "/app", 0..1);
    fixture.write_note(Scope::Project, "facts/project.md", "- Database: SQLite\n");
    fixture.write_note(Scope::Project, "lexer.md", "# Lexer\n");
    let (bytes, _) = back_up(&fixture);
    let (_, counts) = records(&bytes);
    assert_eq!(counts.notes, 2, "the index is built from the notes");
    let empty = EngineFixture::new();
    let other = EngineFixture::new();
    other.write_note(Scope::Project, "parser.md", "# Parser\n");
    for (fixture, beside) in [(empty, 0), (other, 0)] {
        let mut restorer = Restorer::begin(&fixture.engine).unwrap();
        let mut reader = BlockReader::new(&bytes[..]);
        let mut restored = tome_engine::backup::RestoreCounts::default();
        while let Some(block) = reader.next_block().unwrap() {
            restored = restorer.apply(&fixture.engine, block.records).unwrap().0;
        }
        assert_eq!((restored.notes, restored.notes_beside), (2, beside));
    }
}

fn restore_into(fixture: &EngineFixture, bytes: &[u8]) -> tome_engine::backup::RestoreCounts {
    let mut restorer = Restorer::begin(&fixture.engine).unwrap();
    let mut reader = BlockReader::new(bytes);
    let mut restored = tome_engine::backup::RestoreCounts::default();
    while let Some(block) = reader.next_block().unwrap() {
        restored = restorer.apply(&fixture.engine, block.records).unwrap().0;
    }
    restored
}

const NOTE: &str = "facts/project.md";

fn project_notes(fixture: &EngineFixture) -> Arc<Notebook> {
    let owner =
        NotebookOwner { scope: Scope::Project, cwd: Some("/app".to_owned()), session: None };
    fixture.engine.notebooks().open(&owner).unwrap()
}

fn write_as(fixture: &EngineFixture, agent: &str, path: &str, text: &str) {
    let who = Actor::Agent { agent: agent.to_owned(), session: None };
    let by = Author { who, tool: "memory_write".to_owned() };
    project_notes(fixture).write_note(&by, path, text, None, None).unwrap();
}

/// Who wrote which text of a note, as far as the texts can be read back.
fn written(fixture: &EngineFixture, path: &str) -> BTreeSet<(String, String)> {
    let notes = project_notes(fixture);
    let versions = notes.read_history(Some(path)).unwrap().into_iter();
    versions
        .filter(|one| one.op != NoteOp::Deleted)
        .map(|one| {
            let who = match one.by.who {
                Actor::Agent { agent, .. } => agent,
                other => format!("{other:?}"),
            };
            (who, body(&notes.read_version(path, &one.version).unwrap().text))
        })
        .collect()
}

fn pairs(list: &[(&str, &str)]) -> BTreeSet<(String, String)> {
    list.iter().map(|(who, text)| ((*who).to_owned(), (*text).to_owned())).collect()
}

fn read_note(fixture: &EngineFixture, path: &str) -> Option<String> {
    project_notes(fixture).read_note(path).ok().map(|note| body(&note.text))
}

/// A note without its summary.
fn body(text: &str) -> String {
    let summary = text.split_once("\n\n").filter(|(first, _)| first.starts_with("> Summary"));
    summary.map_or(text, |(_, rest)| rest).to_owned()
}

/// A home in which Codex has written two versions of a note, deleted another, and kept a third.
fn home_of_codex() -> EngineFixture {
    let fixture = EngineFixture::new();
    add_events(&fixture, "/app", 0..1);
    write_as(&fixture, "codex", NOTE, "- Database: SQLite\n");
    write_as(&fixture, "codex", NOTE, "- Database: SQLite\n- Cache: none\n");
    write_as(&fixture, "codex", "old.md", "# Old\n");
    std::fs::remove_file(project_notes(&fixture).root().join("old.md")).unwrap();
    write_as(&fixture, "codex", "lexer.md", "# Lexer\n");
    fixture
}

/// A home in which Claude Code has written the same note.
fn home_of_claude() -> EngineFixture {
    let fixture = EngineFixture::new();
    write_as(&fixture, "claude-code", NOTE, "- Database: PostgreSQL\n");
    write_as(&fixture, "claude-code", NOTE, "- Database: PostgreSQL 18\n");
    fixture
}

fn check_merged(fixture: &EngineFixture) {
    assert_eq!(read_note(fixture, NOTE).unwrap(), "- Database: PostgreSQL 18\n");
    let all = pairs(&[
        ("codex", "- Database: SQLite\n"),
        ("codex", "- Database: SQLite\n- Cache: none\n"),
        ("claude-code", "- Database: PostgreSQL\n"),
        ("claude-code", "- Database: PostgreSQL 18\n"),
    ]);
    assert_eq!(written(fixture, NOTE), all);
    let beside = "- Database: SQLite\n- Cache: none\n";
    assert_eq!(written(fixture, "facts/project.restored.md"), pairs(&[("codex", beside)]));
    assert_eq!(written(fixture, "old.md"), pairs(&[("codex", "# Old\n")]));
    assert_eq!(written(fixture, "lexer.md"), pairs(&[("codex", "# Lexer\n")]));
    assert_eq!(read_note(fixture, "lexer.md").unwrap(), "# Lexer\n");
    assert_eq!(read_note(fixture, "old.md"), None);
}

#[test]
fn a_restore_brings_the_versions_and_authors_of_notes_that_exist_here() {
    let (codex, claude) = (home_of_codex(), home_of_claude());
    let bytes = back_up(&codex).0;
    let restored = restore_into(&claude, &bytes);
    assert_eq!((restored.notes, restored.notes_beside, restored.notes_known), (1, 1, 0));
    assert_eq!(restored.versions, 5);
    check_merged(&claude);
    // Undoing goes back to the version before, not to one of the other home.
    let by = Author { who: Actor::Person, tool: "test".to_owned() };
    project_notes(&claude).restore_version(&by, NOTE, None).unwrap();
    assert_eq!(read_note(&claude, NOTE).unwrap(), "- Database: PostgreSQL\n");
    project_notes(&claude).restore_version(&by, NOTE, None).unwrap();
    for _ in 0..2 {
        let again = restore_into(&claude, &bytes);
        assert_eq!((again.notes, again.notes_beside, again.versions), (0, 0, 0));
        assert_eq!(again.notes_known, 2);
    }
    // A note that was dealt with does not come back.
    let root = project_notes(&claude).root().to_path_buf();
    std::fs::remove_file(root.join("facts/project.restored.md")).unwrap();
    std::fs::remove_file(root.join("lexer.md")).unwrap();
    restore_into(&claude, &bytes);
    assert_eq!(read_note(&claude, "facts/project.restored.md"), None);
    assert_eq!(read_note(&claude, "lexer.md"), None);
    // Later versions from the other home do.
    write_as(&codex, "codex", NOTE, "- Database: DuckDB\n");
    let later = back_up(&codex).0;
    let restored = restore_into(&claude, &later);
    assert_eq!((restored.notes_beside, restored.versions), (1, 1));
    assert_eq!(read_note(&claude, "facts/project.restored.md").unwrap(), "- Database: DuckDB\n");
    write_as(&codex, "codex", NOTE, "- Database: MySQL\n");
    restore_into(&claude, &back_up(&codex).0);
    let second = "facts/project.restored-2.md";
    assert_eq!(written(&claude, second), pairs(&[("codex", "- Database: MySQL\n")]));
}

#[test]
fn two_homes_that_restore_each_other_have_the_same_versions() {
    let (codex, claude) = (home_of_codex(), home_of_claude());
    restore_into(&claude, &back_up(&codex).0);
    let restored = restore_into(&codex, &back_up(&claude).0);
    assert_eq!(restored.notes_beside, 1);
    assert_eq!(read_note(&codex, NOTE).unwrap(), "- Database: SQLite\n- Cache: none\n");
    let beside = read_note(&codex, "facts/project.restored.md").unwrap();
    assert_eq!(beside, "- Database: PostgreSQL 18\n");
    assert_eq!(written(&codex, NOTE), written(&claude, NOTE));
    // The home of a backup of a backup.
    let third = restore(&back_up(&claude).0);
    check_merged(&third);
}

/// A restore may end after any of its steps: versions are added, notes are moved, notes are recorded.
#[test]
fn a_restore_of_notes_that_was_cut_short_is_completed() {
    let codex = home_of_codex();
    let bytes = back_up(&codex).0;
    let whole = home_of_claude();
    restore_into(&whole, &bytes);
    let root = project_notes(&whole).root().to_path_buf();
    let history = std::fs::read(root.join(".history/history.jsonl")).unwrap();
    let ends = (0..history.len()).filter(|at| history[*at] == b'\n').map(|at| at + 1);
    let ends: Vec<usize> = ends.collect();
    // From the two versions of its own to all.
    let moved = ["facts/project.restored.md", "lexer.md"];
    for end in &ends[1..] {
        for cut in [0, 20] {
            for notes in [&moved[..0], &moved[..1], &moved[1..], &moved[..]] {
                let killed = home_of_claude();
                let goal = project_notes(&killed).root().to_path_buf();
                let end = (end + cut).min(history.len());
                std::fs::write(goal.join(".history/history.jsonl"), &history[..end]).unwrap();
                let is_imported = end >= ends[6];
                for note in notes.iter().filter(|_| is_imported) {
                    std::fs::copy(root.join(note), goal.join(note)).unwrap();
                }
                let killed = killed.reopen(|_| ());
                project_notes(&killed).refresh().unwrap();
                restore_into(&killed, &bytes);
                assert_eq!(written(&killed, NOTE), written(&whole, NOTE), "{end} {notes:?}");
                assert_eq!(written(&killed, "old.md"), written(&whole, "old.md"));
                let by_codex = ("codex".to_owned(), "# Lexer\n".to_owned());
                assert!(written(&killed, "lexer.md").contains(&by_codex), "{end} {notes:?}");
            }
        }
    }
}

/// A home that is behind another one: only what is deleted there is deleted here.
#[test]
fn notes_that_a_backup_does_not_hold_stay() {
    let behind = EngineFixture::new();
    write_as(&behind, "codex", NOTE, "- Database: SQLite\n");
    write_as(&behind, "codex", "lexer.md", "# Lexer\n");
    let bytes = back_up(&behind).0;
    let ahead = restore(&bytes);
    write_as(&ahead, "codex", NOTE, "- Database: DuckDB\n");
    // A notebook in the repository: a backup holds its history alone.
    let root = project_notes(&ahead).root().to_path_buf();
    let history = root.join(".history/history.jsonl");
    let kept = std::fs::read(&history).unwrap();
    let (bytes, _) = back_up(&ahead);
    let without_notes = {
        std::fs::remove_file(root.join("lexer.md")).unwrap();
        std::fs::write(&history, kept).unwrap();
        back_up(&ahead).0
    };
    assert_ne!(bytes, without_notes);
    restore_into(&behind, &without_notes);
    assert_eq!(read_note(&behind, NOTE).unwrap(), "- Database: DuckDB\n");
    assert_eq!(read_note(&behind, "lexer.md").unwrap(), "# Lexer\n");
}
