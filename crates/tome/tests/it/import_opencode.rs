//! OpenCode's store: another program's database, and the folder of older versions.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

use crate::import::{fixture, import, listed};
use crate::support::{MORNING_MS, world};

const SCHEMA: &str = "
    CREATE TABLE project (id text PRIMARY KEY, worktree text NOT NULL);
    CREATE TABLE session (id text PRIMARY KEY, project_id text NOT NULL, parent_id text, slug text NOT NULL,
        directory text NOT NULL, title text NOT NULL, version text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL,
        time_updated integer NOT NULL, data text NOT NULL);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL,
        time_created integer NOT NULL, time_updated integer NOT NULL, data text NOT NULL);
    CREATE INDEX message_session_idx ON message (session_id);
    CREATE INDEX part_message_idx ON part (message_id);";

fn rows(base_ms: u64) -> Value {
    serde_json::from_str(&fixture("opencode.json", base_ms)).unwrap()
}

/// Creates the database; returns its connection, whose log still exists.
fn fill(folder: &Path, base_ms: u64) -> Connection {
    let database = Connection::open(folder.join("opencode.db")).unwrap();
    database.pragma_update(None, "journal_mode", "wal").unwrap();
    database.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    database.execute_batch(SCHEMA).unwrap();
    let rows = rows(base_ms);
    for session in rows["session"].as_array().unwrap() {
        let at = session["time"]["created"].as_u64().unwrap();
        database
            .execute(
                "INSERT INTO session VALUES (?1, 'p', ?2, 'slug', ?3, ?4, ?5, ?6, ?6)",
                (
                    session["id"].as_str(),
                    session["parentID"].as_str(),
                    session["directory"].as_str(),
                    session["title"].as_str(),
                    session["version"].as_str(),
                    at.cast_signed(),
                ),
            )
            .unwrap();
    }
    for message in rows["message"].as_array().unwrap() {
        let at = message["at"].as_u64().unwrap().cast_signed();
        let values =
            (message["id"].as_str(), message["session"].as_str(), at, message["data"].to_string());
        database.execute("INSERT INTO message VALUES (?1, ?2, ?3, ?3, ?4)", values).unwrap();
    }
    for part in rows["part"].as_array().unwrap() {
        let values = (part["id"].as_str(), part["message"].as_str(), part["data"].to_string());
        database.execute("INSERT INTO part VALUES (?1, ?2, 's', 0, 0, ?3)", values).unwrap();
    }
    database
}

/// The database after OpenCode exits.
pub fn database(folder: &Path, base_ms: u64) {
    drop(fill(folder, base_ms));
}

/// Every file of a folder with its content.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| {
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                std::fs::read(&path).unwrap(),
            )
        })
        .collect()
}

#[test]
fn a_database_in_use_is_read_without_changing_it() {
    let world = world();
    let folder = world.folder("person/.local/share/opencode");
    let open = fill(&folder, MORNING_MS);
    let before = contents(&folder);
    assert_eq!(before.len(), 3, "database, log and index");
    let report = import(&world, &[]);
    assert!(report["imported"].as_u64().unwrap() > 5, "{report}");
    assert_eq!(contents(&folder), before);
    // Later writes are found by the next import.
    let data = r#"{"role":"user","time":{"created":1794735100000}}"#;
    open.execute(
        "INSERT INTO message VALUES ('msg_x', (SELECT min(id) FROM session), 1794735100000, 0, ?1)",
        [data],
    )
    .unwrap();
    let part = r#"{"type":"text","text":"one more thing"}"#;
    open.execute("INSERT INTO part VALUES ('prt_x', 'msg_x', 's', 0, 0, ?1)", [part]).unwrap();
    assert_eq!(import(&world, &[])["imported"], 1);
}

#[test]
fn a_database_after_a_crash_is_read_without_changing_it() {
    let world = world();
    let lived = world.folder("lived");
    let open = fill(&lived, MORNING_MS);
    let folder = world.folder("person/.local/share/opencode");
    // A crash leaves the log, and the index may be missing.
    for name in ["opencode.db", "opencode.db-wal"] {
        std::fs::copy(lived.join(name), folder.join(name)).unwrap();
    }
    drop(open);
    let before = contents(&folder);
    let report = import(&world, &[]);
    assert!(report["imported"].as_u64().unwrap() > 5, "{report}");
    assert_eq!(contents(&folder), before);
    // With the index left behind, and no process using it.
    std::fs::write(folder.join("opencode.db-shm"), vec![0; 32_768]).unwrap();
    let before = contents(&folder);
    assert_eq!(import(&world, &[])["imported"], 0);
    assert_eq!(contents(&folder), before);
}

#[test]
fn an_idle_database_is_read_without_changing_it() {
    let world = world();
    let folder = world.folder("person/.local/share/opencode");
    database(&folder, MORNING_MS);
    let before = contents(&folder);
    assert_eq!(before.len(), 1);
    assert!(import(&world, &[])["imported"].as_u64().unwrap() > 5);
    assert_eq!(contents(&folder), before);
}

#[test]
fn an_unsupported_database_version_is_reported() {
    let world = world();
    let folder = world.folder("person/.local/share/opencode");
    let open = Connection::open(folder.join("opencode.db")).unwrap();
    open.execute_batch("CREATE TABLE session (id text, folder text)").unwrap();
    drop(open);
    let ran = world.tome(&["import"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stdout.contains("opencode.db: table session has no column directory"),
        "{}",
        ran.stdout
    );
    world.write("person/.local/share/opencode/opencode.db", "this is no database, it only says so");
    let ran = world.tome(&["import"]);
    assert_eq!(ran.code, 1, "{ran:?}");
}

#[test]
fn the_old_folder_gives_the_same_events_as_the_database() {
    let by_database = world();
    database(&by_database.folder("person/.local/share/opencode"), MORNING_MS);
    import(&by_database, &[]);
    let by_folder = world();
    let rows = rows(MORNING_MS);
    let storage = "person/.local/share/opencode/storage";
    for session in rows["session"].as_array().unwrap() {
        let name = session["id"].as_str().unwrap();
        by_folder.write(&format!("{storage}/session/p/{name}.json"), &session.to_string());
    }
    for message in rows["message"].as_array().unwrap() {
        let (name, of) = (message["id"].as_str().unwrap(), message["session"].as_str().unwrap());
        let mut data = message["data"].clone();
        data["id"] = name.into();
        by_folder.write(&format!("{storage}/message/{of}/{name}.json"), &data.to_string());
    }
    for part in rows["part"].as_array().unwrap() {
        let (name, of) = (part["id"].as_str().unwrap(), part["message"].as_str().unwrap());
        let mut data = part["data"].clone();
        data["id"] = name.into();
        by_folder.write(&format!("{storage}/part/{of}/{name}.json"), &data.to_string());
    }
    by_folder.write(
        &format!("{storage}/part/msg_cf104e67b001PromptOfTheMorn/prt_zz.json"),
        "{\"type\":",
    );
    let report = import(&by_folder, &[]);
    assert_eq!(report["damaged_lines"], 1);
    assert!(report["damaged"][0]["reason"].as_str().unwrap().contains("prt_zz.json"), "{report}");
    let (theirs, ours) = (by_database.events(), by_folder.events());
    assert_eq!(listed(&ours, MORNING_MS), listed(&theirs, MORNING_MS));
    // With both, each event is stored once.
    database(&by_folder.folder("person/.local/share/opencode"), MORNING_MS);
    assert_eq!(import(&by_folder, &[])["imported"], 0);
    assert_eq!(by_folder.events(), ours);
}
