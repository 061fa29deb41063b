//! `tome show` with a citation, and failures that explain what to do.

use serde_json::{Value, json};
use tome_testkit::{CommandResult, World};

use crate::session_transcript::{session_folder, transcript_text};
use crate::support::{MORNING_MS, line, line_with, world};

/// Two sessions in `/app`, the second one newer, and one in another project.
fn told() -> World {
    let world = world();
    world.ingest(&(line("e1", MORNING_MS, "one") + &line("e2", MORNING_MS + 1, "two words")));
    world.ingest(&line_with(
        &json!({"id": "n1", "session_id": "new/er", "at": MORNING_MS + 9, "text": "newest"}),
    ));
    world.ingest(&line_with(&json!({
        "id": "o1", "cwd": "/other", "session_id": "far", "text": "elsewhere",
    })));
    world
}

fn show(world: &World, args: &[&str]) -> CommandResult {
    world.tome(&[&["show"], args, &["--project", "/app"]].concat())
}

/// Opens a citation, which must exist, as JSON.
fn opened(world: &World, args: &[&str]) -> Value {
    let ran = show(world, &[args, &["--json"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{args:?}");
    ran.json()
}

#[track_caller]
fn check_refused(ran: &CommandResult, code: i32, words: &[&str]) {
    assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{}", ran.stderr);
    for word in words {
        assert!(ran.stderr.contains(word), "{word} in {}", ran.stderr);
    }
}

#[test]
fn a_line_of_the_current_session_opens() {
    let world = told();
    // Right after it was recorded: opening catches up.
    let found = opened(&world, &["messages.jsonl#L2", "--session", "s1"]);
    assert_eq!(
        (&found["event"]["id"], &found["event"]["text"]),
        (&json!("e2"), &json!("two words"))
    );
    assert_eq!((&found["line"], &found["session_assumed"]), (&json!(2), &json!(false)));
    assert_eq!(found["file"], json!(session_folder(&world, "s1").join("messages.jsonl")));
    // Without a session the newest is used, and the output says so.
    let found = opened(&world, &["messages.jsonl#L1"]);
    assert_eq!((&found["event"]["id"], &found["session_assumed"]), (&json!("n1"), &json!(true)));
    let text = show(&world, &["messages.jsonl#L1"]).stdout;
    assert!(text.contains("session new/er, the newest of this project; use --session for another"));
    assert!(!text.contains("messages.jsonl") && text.ends_with("\nnewest\n"), "{text}");
    let text = show(&world, &["messages.jsonl#L1", "-v"]).stdout;
    assert!(text.starts_with("messages.jsonl#L1  /"), "the path only on request: {text}");
    // The current session determines the project.
    let ran = world.tome(&["show", "messages.jsonl#L1", "--session", "new/er", "--json"]);
    assert_eq!(ran.json()["event"]["id"], "n1", "{}", ran.stderr);
}

#[test]
fn a_line_without_an_event_and_a_missing_file_are_reported() {
    let world = told();
    let whole = transcript_text(&world, "s1", 2);
    let file = session_folder(&world, "s1").join("messages.jsonl");
    // Opening waits until the transcript is recorded as complete; an extra line before that would
    // be removed.
    opened(&world, &["sessions/s1/messages.jsonl#L2"]);
    std::fs::write(&file, format!("{whole}by \u{1b}[31mhand\n")).unwrap();
    assert_eq!(opened(&world, &["sessions/s1/messages.jsonl#L3"])["text"], "by \u{1b}[31mhand");
    let text = show(&world, &["sessions/s1/messages.jsonl#L3"]).stdout;
    assert!(
        text.contains("this line was not written by Tome") && !text.contains('\u{1b}'),
        "{text:?}"
    );
    std::fs::remove_file(&file).unwrap();
    assert_eq!(opened(&world, &["sessions/s1/messages.jsonl#L2"])["event"]["id"], "e2");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), whole);
}

#[test]
fn the_cited_line_of_a_note_is_marked() {
    let world = told();
    let twenty: String = (1..=20).map(|n| format!("- point {n}\n")).collect();
    let args = ["memory", "write", "plan.md", "--project", "/app", "--content", &twenty];
    let ran = world.tome(&args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let whole = opened(&world, &["memory/plan.md"]);
    assert_eq!((&whole["first"], &whole["line"]), (&json!(1), &Value::Null));
    let total = whole["total"].as_u64().unwrap();
    let cited = format!("memory/plan.md#L{}", total - 5);
    let found = opened(&world, &[&cited]);
    let lines = found["lines"].as_array().unwrap();
    assert_eq!((found["first"].as_u64(), lines.len()), (Some(total - 8), 9), "{found}");
    let text = show(&world, &[&cited]).stdout;
    let marked: Vec<&str> = text.lines().filter(|line| line.starts_with("> ")).collect();
    assert_eq!(marked, [format!("> {:>5}  - point 15", total - 5)], "{text}");
    let behind = show(&world, &[&format!("memory/plan.md#L{}", total + 1)]);
    check_refused(&behind, 4, &["lines, not"]);
}

#[test]
fn an_unopenable_citation_explains_the_remedy() {
    let world = told();
    let refused = |args: &[&str], code, words: &[&str]| {
        check_refused(&show(&world, args), code, words);
    };
    refused(
        &["messages.jsonl#L1", "--session", "nobody"],
        4,
        &["no session nobody", "tome events"],
    );
    refused(&["messages.jsonl"], 2, &["say which line"]);
    refused(&["e1", "--session", "s1"], 2, &["--session needs a citation"]);
    refused(
        &["messages.jsonl#L1", "--session", "s1", "--before", "2"],
        2,
        &["need the id of a source"],
    );
    // Outside of a project, all are searched.
    check_refused(&world.tome(&["show", "memory/x.md"]), 4, &["no project has memory/x.md"]);
}
