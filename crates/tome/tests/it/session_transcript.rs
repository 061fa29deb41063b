//! `messages.jsonl` and the folder of a session, as written by the daemon.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

use crate::support::{MORNING_MS, line, prompt, world};

pub fn session_folder(world: &World, session: &str) -> PathBuf {
    world.home().join("projects/--app--/sessions").join(session)
}

/// Returns a session's transcript once it has this many lines.
pub fn transcript_text(world: &World, session: &str, lines: usize) -> String {
    let file = session_folder(world, session).join("messages.jsonl");
    eventually("the copy of a session", || {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(text.lines().count() <= lines, "too many lines: {text}");
        (text.lines().count() == lines).then_some(text)
    })
}

/// The output of `tome events --json`, in order of arrival.
fn events(world: &World) -> Vec<String> {
    let ran = world.tome(&["events", "--json", "-n", "0", "--project", "/app"]);
    let mut lines: Vec<String> = ran.stdout.lines().map(str::to_owned).collect();
    lines.sort_by_key(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        event["arrived"].as_str().unwrap().to_owned()
    });
    lines
}

#[test]
fn every_event_is_a_line_in_the_format_of_events() {
    for mode in ["per-project", "unified"] {
        let world = world();
        world.write("person/.config/tome/config.toml", &format!("[store]\nmode = \"{mode}\"\n"));
        world.ingest(&line("e1", MORNING_MS + 5_000, "later, and told first\nwith a second line"));
        world.hook(&["claude-code"], prompt("from a hook"));
        world.tome(&["events"]);
        world.ingest(&line("e3", MORNING_MS, "日本語 \u{2028} \"quoted\""));
        let text = transcript_text(&world, "s1", 3);
        assert_eq!(text.lines().collect::<Vec<_>>(), events(&world));
        assert!(text.ends_with('\n'));
        let first: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(first["text"], "later, and told first\nwith a second line");
        let file = session_folder(&world, "s1").join("messages.jsonl");
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let memory = session_folder(&world, "s1").join("working-memory");
        assert_eq!(memory.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert!(memory.join("detail").is_dir());
        let overview = memory.join("overview.md");
        assert_eq!(overview.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert!(std::fs::read_to_string(overview).unwrap().contains("## Recent Operations"));
    }
}

#[test]
fn a_killed_daemon_neither_skips_nor_repeats_a_line() {
    let world = world();
    let mut count = 0;
    for round in 0..6 {
        for _ in 0..20 {
            count += 1;
            world.ingest(&line(&format!("e{count:03}"), MORNING_MS - count, "said"));
            if count % 20 == round * 3 {
                world.kill_daemon();
            }
        }
        world.kill_daemon();
    }
    world.tome(&["start"]);
    let text = transcript_text(&world, "s1", 120);
    let ids: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["id"].as_str().unwrap().to_owned())
        .collect();
    let expected: Vec<String> = (1..=120).map(|n| format!("e{n:03}")).collect();
    assert_eq!(ids, expected);
}

#[test]
fn manual_changes_to_the_file_are_repaired_or_tolerated() {
    let world = world();
    world.ingest(&(line("e1", MORNING_MS, "one") + &line("e2", MORNING_MS + 1, "two")));
    let whole = transcript_text(&world, "s1", 2);
    let file = session_folder(&world, "s1").join("messages.jsonl");
    // A line added by hand stays.
    std::fs::write(&file, format!("{whole}a line by hand\n")).unwrap();
    world.ingest(&line("e3", MORNING_MS + 2, "three"));
    let with_hand = transcript_text(&world, "s1", 4);
    assert!(with_hand.starts_with(&format!("{whole}a line by hand\n")), "{with_hand}");
    let ran = world.tome(&["admin", "rebuild-messages"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(
        ran.stdout.contains(
            "1 session, 3 events; nothing changed; 1 line written by other programs kept"
        )
    );
    // A file that is gone is made again: on demand, and when its session goes on.
    std::fs::remove_file(&file).unwrap();
    let ran = world.tome(&["admin", "rebuild-messages", "--project", "/app", "--json"]);
    let told = &ran.json_lines()[0];
    assert_eq!(
        (&told["files"], &told["changed"], &told["events"]),
        (&json!(1), &json!(1), &json!(3))
    );
    assert!(transcript_text(&world, "s1", 3).starts_with(&whole));
    std::fs::remove_file(&file).unwrap();
    world.ingest(&line("e4", MORNING_MS + 3, "four"));
    assert!(transcript_text(&world, "s1", 4).starts_with(&whole));
    let empty = world.folder("empty");
    let none = world.tome(&["admin", "rebuild-messages", "--project", empty.to_str().unwrap()]);
    assert_eq!((none.code, none.stdout.as_str()), (0, ""));
    assert!(none.stderr.contains("no sessions yet"), "{}", none.stderr);
}
