//! Damaged files in a real home: every damage is reported with a remedy, affects nothing else, and
//! `tome admin repair` restores what has a second copy.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

use crate::support::{ids, line_with, status, world};

/// Several blocks of a table.
const COUNT: usize = 200;

fn ids_of_all() -> Vec<String> {
    (0..COUNT).map(|n| format!("event-{n:04}")).collect()
}

/// Events of one project, copied to the session's transcript. The daemon is stopped.
fn stopped_world() -> World {
    let world = world();
    let lines: Vec<String> = (0..COUNT)
        .map(|n| {
            let noise: String = (0..100u64)
                .map(|k| format!("{:x} ", (n as u64 * 7919 + k * k * 104_729) % 99_991))
                .collect();
            line_with(&json!({"id": format!("event-{n:04}"), "at": 1_000_000 + n, "text": noise}))
        })
        .collect();
    world.ingest(&lines.concat());
    eventually("all events in the transcript", || {
        let copied = fs::read_to_string(project(&world).join("sessions/s1/messages.jsonl")).ok()?;
        (copied.lines().count() == COUNT).then_some(())
    });
    // Flush everything to tables: a daemon that exits while projections read keeps its journal.
    assert_eq!(world.tome(&["admin", "flush"]).code, 0);
    assert_eq!(world.tome(&["stop"]).code, 0);
    world
}

fn project(world: &World) -> PathBuf {
    world.home().join("projects/--app--")
}

fn ledger(world: &World) -> PathBuf {
    project(world).join("ledger")
}

fn tables(world: &World) -> Vec<PathBuf> {
    let keyspaces = fs::read_dir(ledger(world).join("fjall/keyspaces")).unwrap();
    let tables = keyspaces.flat_map(|it| fs::read_dir(it.unwrap().path().join("tables")).unwrap());
    tables.map(|it| it.unwrap().path()).collect()
}

fn spoil_middle(path: &Path, len: usize) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + len].iter_mut().for_each(|byte| *byte = !*byte);
    fs::write(path, bytes).unwrap();
}

/// The damage reported by status, which doctor must report as well.
fn damage(world: &World) -> Vec<String> {
    let told = status(world);
    let damage = told["daemon"]["damage"].as_array().unwrap().clone();
    let doctor = world.tome(&["doctor", "--json"]);
    let checks = doctor.json()["checks"].as_array().unwrap().clone();
    for one in &damage {
        assert!(!one["remedy"].as_str().unwrap().is_empty(), "{one}");
        assert!(
            checks.iter().any(|check| check["found"] == one["found"] && check["verdict"] == "bad"),
            "{one}"
        );
    }
    assert_eq!(doctor.code, i32::from(!damage.is_empty()), "{}", doctor.stdout);
    damage.iter().map(|one| one["found"].as_str().unwrap().to_owned()).collect()
}

fn repair(world: &World) -> Value {
    let ran = world.tome(&["admin", "repair", "--json"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    ran.json_lines().remove(0)
}

/// Checks that everything is restored and no damage is reported.
fn check_whole(world: &World) {
    let all = world.tome(&["events", "--all-projects", "--json", "--limit", "1000"]);
    assert_eq!((all.code, all.stderr.as_str()), (0, ""));
    assert_eq!(ids(&all.json_lines()), ids_of_all());
    let verified = world.tome(&["admin", "verify"]);
    assert_eq!(verified.code, 0, "{}", verified.stdout);
    assert_eq!(damage(world), Vec::<String>::new());
}

#[test]
fn a_bad_block_is_skipped_reported_and_repaired() {
    let world = stopped_world();
    let largest = tables(&world).into_iter().max_by_key(|path| path.metadata().unwrap().len());
    spoil_middle(&largest.unwrap(), 16);
    let all = world.tome(&["events", "--project", "/app", "--json", "--limit", "1000"]);
    assert_eq!(all.code, 0, "{}", all.stderr);
    let left = all.json_lines().len();
    assert!(left < COUNT && left > COUNT / 2, "{left}");
    assert!(all.stderr.contains("tome admin repair"), "{}", all.stderr);
    let found = damage(&world).join("\n");
    assert!(found.contains("events: a block does not match its checksum"), "{found}");
    assert!(world.tome(&["status"]).stdout.contains("tome admin repair"));
    assert_eq!(world.tome(&["admin", "verify"]).code, 1);
    let repaired = repair(&world);
    assert_eq!((&repaired["lost"], &repaired["kept"]), (&json!(0), &json!(left)));
    assert_eq!(repaired["restored"], COUNT - left);
    check_whole(&world);
    assert!(Path::new(repaired["set_aside"].as_str().unwrap()).is_dir());
}

#[test]
fn a_truncated_journal_is_reported_and_repaired() {
    let world = stopped_world();
    // A killed daemon leaves its last, acknowledged events in the journal.
    world.ingest(&line_with(&json!({"id": "event-late", "at": 9_000_000, "text": "late"})));
    let transcript = project(&world).join("sessions/s1/messages.jsonl");
    eventually("the late event in the transcript", || {
        fs::read_to_string(&transcript).unwrap().contains("event-late").then_some(())
    });
    world.kill_daemon();
    let journals = fs::read_dir(ledger(&world).join("fjall")).unwrap().map(|it| it.unwrap().path());
    for journal in journals.filter(|path| path.extension().is_some_and(|end| end == "jnl")) {
        fs::OpenOptions::new().write(true).open(journal).unwrap().set_len(0).unwrap();
    }
    let found = damage_after_start(&world).join("\n");
    let missing = format!("acknowledged events are missing: {} were stored", COUNT + 1);
    assert!(found.contains(&missing), "{found}");
    let repaired = repair(&world);
    assert_eq!((&repaired["restored"], &repaired["lost"]), (&json!(1), &json!(0)));
    let all = world.tome(&["events", "--all-projects", "--json", "--limit", "1000"]);
    assert_eq!(all.json_lines().len(), COUNT + 1);
    assert_eq!(damage(&world), Vec::<String>::new());
}

fn damage_after_start(world: &World) -> Vec<String> {
    assert_eq!(world.tome(&["start"]).code, 0);
    damage(world)
}

#[test]
fn a_deleted_keyspace_is_reported_and_repaired() {
    let world = stopped_world();
    let keyspaces = ledger(&world).join("fjall/keyspaces");
    let mut numbers: Vec<u32> = fs::read_dir(&keyspaces)
        .unwrap()
        .map(|it| it.unwrap().file_name().to_str().unwrap().parse().unwrap())
        .collect();
    numbers.sort_unstable();
    // These hold events and their keys. Table 0 holds the names of all others.
    for number in [1, 2, 3, 4] {
        assert!(numbers.contains(&number), "{numbers:?}");
        fs::remove_dir_all(keyspaces.join(number.to_string())).unwrap();
        assert_ne!(damage_after_start(&world), Vec::<String>::new(), "{number}");
        let repaired = repair(&world);
        assert_eq!(repaired["lost"], 0, "{number}: {repaired}");
        check_whole(&world);
        assert_eq!(world.tome(&["stop"]).code, 0);
    }
    fs::remove_dir_all(keyspaces.join("0")).unwrap();
    assert_eq!(world.tome(&["start"]).code, 0);
    let told = world.tome(&["status"]).stdout;
    assert!(told.contains("cannot be read") && told.contains("repair it"), "{told}");
    assert_eq!(repair(&world)["lost"], 0);
    check_whole(&world);
}

#[test]
fn a_damaged_project_file_orphans_nothing() {
    let world = stopped_world();
    let file = project(&world).join("project.toml");
    let whole = fs::read_to_string(&file).unwrap();
    let without_copy =
        |world: &World| fs::remove_file(project(world).join("project.toml.copy")).unwrap();
    for (n, spoiled) in
        ["", "ro#t = garbage", &whole.replace("/app", "/apq"), "\0\0\0\0"].iter().enumerate()
    {
        for has_copy in [true, false] {
            fs::write(&file, spoiled).unwrap();
            if !has_copy {
                without_copy(&world);
            }
            let found = damage_after_start(&world).join("\n");
            assert!(
                found.contains("project.toml was damaged and has been restored"),
                "{n} {has_copy}: {found}"
            );
            assert_eq!(
                world
                    .tome(&["events", "--project", "/app", "--json", "--limit", "1000"])
                    .json_lines()
                    .len(),
                COUNT
            );
            assert!(fs::read_to_string(&file).unwrap().contains("root = \"/app\""));
            fs::remove_file(project(&world).join("project.toml.damaged")).unwrap();
            assert_eq!(damage(&world), Vec::<String>::new());
            assert_eq!(world.tome(&["stop"]).code, 0);
        }
    }
    // Only the ledger is left as a source.
    fs::write(&file, "garbage").unwrap();
    without_copy(&world);
    fs::remove_dir_all(project(&world).join("sessions")).unwrap();
    let _ = fs::remove_file(project(&world).join("injections.jsonl"));
    assert_eq!(damage_after_start(&world).len(), 1);
    assert!(fs::read_to_string(&file).unwrap().contains("root = \"/app\""));
    assert_eq!(fs::read_dir(world.home().join("projects")).unwrap().count(), 1);
}

#[test]
fn swapped_ledgers_are_reported() {
    let world = stopped_world();
    world.ingest(&line_with(&json!({"id": "other", "cwd": "/other", "text": "other"})));
    status(&world);
    assert_eq!(world.tome(&["stop"]).code, 0);
    let (one, other) = (ledger(&world), world.home().join("projects/--other--/ledger"));
    let between = world.home().join("between");
    for (from, to) in [(&one, &between), (&other, &one), (&between, &other)] {
        fs::rename(from, to).unwrap();
    }
    let found = damage_after_start(&world).join("\n");
    assert!(found.contains("holds events of /other, not only of /app"), "{found}");
    assert!(found.contains("holds events of /app, not only of /other"), "{found}");
}

#[test]
fn damaged_log_lines_are_reported_with_their_position() {
    let world = stopped_world();
    let app = world.folder("app");
    for text in ["first", "second", "third"] {
        let args =
            ["memory", "write", "a.md", "--content", text, "--project", app.to_str().unwrap()];
        let ran = world.tome(&args);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    assert_eq!(damage(&world), Vec::<String>::new());
    let histories: Vec<PathBuf> = fs::read_dir(world.home().join("projects"))
        .unwrap()
        .map(|it| it.unwrap().path().join("memory/.history/history.jsonl"))
        .filter(|path| path.exists())
        .collect();
    let history = &histories[0];
    let lines: Vec<String> =
        fs::read_to_string(history).unwrap().lines().map(str::to_owned).collect();
    let mut spoiled = lines.clone();
    spoiled[1] = spoiled[1].replace("\"n\":2", "\"n\":\u{1}");
    fs::write(history, spoiled.join("\n") + "\n").unwrap();
    let log = project(&world).join("injections.jsonl");
    fs::write(&log, "{\"at_ms\":1}garbage\n").unwrap();
    let found = damage(&world).join("\n");
    assert!(found.contains("history.jsonl line 2: a version is damaged or missing"), "{found}");
    assert!(found.contains("injections.jsonl: 1 damaged, line 1"), "{found}");
    // The other versions stay readable.
    let log = world.tome(&["memory", "log", "a.md", "--project", app.to_str().unwrap()]);
    assert_eq!(log.code, 0, "{}", log.stderr);
    assert!(log.stdout.lines().count() >= 2, "{}", log.stdout);
}

/// Numbers of changed nodes have gaps, which must not count as pending work.
#[test]
fn an_index_lag_counts_only_unread_events() {
    let world = world();
    for opening in 0..3 {
        world.ingest(&line_with(&json!({"id": format!("e{opening}"), "at": 1_000_000 + opening})));
        assert_eq!(world.tome(&["recall", "hello", "--all-projects"]).code, 0);
        assert_eq!(world.tome(&["stop"]).code, 0);
    }
    assert_eq!(world.tome(&["start"]).code, 0);
    let told = status(&world);
    let finder = &told["daemon"]["finder"];
    let sets = finder["index_sets"].as_array().unwrap().iter();
    let indexes: Vec<&Value> = sets.flat_map(|set| set["indexes"].as_array().unwrap()).collect();
    assert!(!indexes.is_empty(), "{finder}");
    for index in indexes {
        // Numbers of changes leave a gap with each opening.
        assert!(index["behind"].as_u64().unwrap() < 100, "{finder}");
    }
}
