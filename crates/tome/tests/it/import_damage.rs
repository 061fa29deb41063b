//! Damaged, incomplete, oversized and hostile transcripts: everything else is imported.

use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tome_testkit::eventually;

use crate::import::{fixture, import};
use crate::support::{MORNING_MS, texts, world};

const CLAUDE: &str = "person/.claude/projects/-home-dev-app/s1.jsonl";

fn prompt_line(n: u64, text: &str) -> String {
    json!({"type": "user", "uuid": format!("u{n}"), "sessionId": "s1", "cwd": "/home/dev/app",
        "promptId": format!("p{n}"), "timestamp": tome_model::Millis(MORNING_MS + n * 1_000).to_string(),
        "message": {"role": "user", "content": text}})
    .to_string()
}

#[test]
fn damaged_lines_are_reported_and_the_others_imported() {
    let world = world();
    let lines = [
        prompt_line(1, "first"),
        "{\"type\":\"user\",\"mess".to_owned(),
        String::new(),
        "[1, 2]".to_owned(),
        prompt_line(2, "second"),
        format!("{}{}", prompt_line(3, "glued"), prompt_line(4, "glued too")),
        prompt_line(5, "half \u{1} a \\ud83d character").replace("\\\\ud83d", "\\ud83d"),
        "\0\0\0\0".to_owned(),
    ];
    let path = world.write(CLAUDE, &(lines.join("\n") + "\n"));
    let report = import(&world, &[]);
    let events = world.events();
    let texts = texts(&events);
    assert_eq!(texts, ["", "first", "second", "half \u{1} a \u{fffd} character"]);
    assert_eq!(report["damaged_lines"], 3);
    let named: Vec<(u64, &str)> = report["damaged"]
        .as_array()
        .unwrap()
        .iter()
        .map(|damaged| (damaged["line"].as_u64().unwrap(), damaged["file"].as_str().unwrap()))
        .collect();
    let file = path.to_str().unwrap();
    assert_eq!(named, [(2, file), (4, file), (6, file)]);
    let ran = world.tome(&["import"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.contains(&format!("{file}:2: is not JSON: ")), "{}", ran.stdout);
}

#[test]
fn an_incomplete_line_is_imported_once_complete() {
    let world = world();
    let whole = format!("{}\n{}\n", prompt_line(1, "first"), prompt_line(2, "second"));
    let torn = &whole[..whole.len() - 30];
    world.write(CLAUDE, torn);
    let report = import(&world, &[]);
    assert_eq!(
        (&report["damaged_lines"], &report["skipped"]["unfinished"]),
        (&json!(0), &json!(1))
    );
    assert_eq!(texts(&world.events()), ["", "first"]);
    world.write(CLAUDE, &whole);
    assert_eq!(import(&world, &[])["imported"], 1);
    assert_eq!(texts(&world.events()), ["", "first", "second"]);
}

/// The transcript up to its second tool call, whose result is missing then.
fn cut_after_second_call(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let is_call = |line: &&str| line.contains("\"tool_use\",\"id\":\"toolu_02");
    let called = lines.iter().position(is_call).unwrap();
    lines[..=called].join("\n") + "\n"
}

#[test]
fn a_later_tool_result_is_imported_once_present() {
    let world = world();
    let text = fixture("claude-code.jsonl", MORNING_MS);
    world.write(CLAUDE, &cut_after_second_call(&text));
    import(&world, &[]);
    let tool =
        |events: &[Value]| events.iter().filter(|event| event["kind"] == "tool_result").count();
    assert_eq!(tool(&world.events()), 1);
    world.write(CLAUDE, &text);
    import(&world, &[]);
    assert_eq!(tool(&world.events()), 2);
}

/// Sets when a transcript was last written.
fn set_age(path: &std::path::Path, hours: u64) {
    let written = SystemTime::now() - Duration::from_secs(hours * 3_600);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(written).unwrap();
}

#[test]
fn a_call_that_an_abandoned_transcript_ends_with_is_kept_without_a_result() {
    let world = world();
    let text = fixture("claude-code.jsonl", MORNING_MS);
    let path = world.write(CLAUDE, &cut_after_second_call(&text));
    set_age(&path, 23);
    assert_eq!(import(&world, &[])["skipped"]["unfinished"], 1);
    set_age(&path, 25);
    for imported in [1, 0] {
        assert_eq!(import(&world, &[])["imported"], imported);
    }
    let call = world.events().pop().unwrap();
    assert_eq!(call["kind"], "tool_result");
    assert_eq!(call["meta"]["no_result"], "toolu_02TokenizerTest");
    assert_eq!(call["tool"]["output"], Value::Null);
    let shown = world.tome(&["read", call["session_id"].as_str().unwrap()]);
    assert!(shown.stdout.contains("cargo test tokens  no result recorded"), "{}", shown.stdout);

    // The agent waited for its user for days, and went on.
    world.write(CLAUDE, &text);
    import(&world, &[]);
    let results = world.events();
    let results = results.iter().filter(|event| event["meta"]["no_result"].is_null());
    assert_eq!(results.filter(|event| event["kind"] == "tool_result").count(), 2);
}

#[test]
fn a_call_whose_result_a_hook_recorded_has_one() {
    let world = world();
    let text = fixture("claude-code.jsonl", MORNING_MS);
    // The first import takes the place of the hooks.
    let path = world.write(CLAUDE, &text);
    import(&world, &[]);
    world.write(CLAUDE, &cut_after_second_call(&text));
    set_age(&path, 25);
    assert_eq!(import(&world, &[])["imported"], 0);
}

#[test]
fn a_truncated_old_gemini_chat_is_imported() {
    let world = world();
    let chat = "person/.gemini/tmp/app/chats/session-2025-06-01T10-00-d4c9f206.json";
    let text = fixture("gemini.old.json", MORNING_MS);
    world.write("person/.gemini/projects.json", "{\"projects\": {\"/home/dev/app\": \"app\"}}");
    let broken = text.rfind("\"o2\"").unwrap() + 20;
    let path = world.write(chat, &text[..broken]);
    let report = import(&world, &[]);
    assert_eq!(report["damaged"][0]["file"], path.to_str().unwrap());
    assert_eq!(texts(&world.events()), ["", "what is in this folder?"]);
    world.write(chat, &text);
    assert_eq!(import(&world, &[])["imported"], 2);
    let events = world.events();
    assert!(events.iter().all(|event| event["cwd"] == "/home/dev/app"));
    let failed = events.iter().find(|event| event["kind"] == "tool_result").unwrap();
    assert_eq!(failed["tool"]["output"], "no such folder");
    assert_eq!(failed["meta"]["failed"], true);
}

#[test]
fn files_that_are_not_transcripts_break_nothing() {
    let world = world();
    let person = world.folder("person");
    std::fs::create_dir_all(person.join(".claude/projects/x.jsonl")).unwrap();
    std::os::unix::fs::symlink("/nowhere", person.join(".claude/projects/link.jsonl")).unwrap();
    std::os::unix::fs::symlink(&person, person.join(".claude/projects/loop")).unwrap();
    world.write("person/.claude/projects/p/empty.jsonl", "");
    world.write("person/.claude/projects/p/text.jsonl", "this is a diary\nnot a transcript\n");
    world.write("person/.codex/sessions/rollout-1.jsonl.zst", "not compressed at all");
    world.write("person/.gemini/tmp/x/chats/session-1.json", "[]");
    world.write("person/.gemini/tmp/x/chats/session-2.jsonl", "{\"$rewindTo\":\"nothing\"}\n{}\n");
    world.write(
        "person/.copilot/session-state/a/events.jsonl",
        "{\"type\":\"session.start\",\"data\":7}\n",
    );
    let ran = world.tome(&["import", "--json"]);
    assert!(ran.code == 0 || ran.code == 1, "{ran:?}");
    assert_eq!(ran.stderr, "");
    assert!(ran.json()["damaged_lines"].as_u64().unwrap() >= 2);
}

/// Enough prompts to keep an import busy.
const PROMPTS: u64 = 3_000;

#[test]
fn a_killed_import_can_be_repeated() {
    let world = world();
    let lines: String = (0..PROMPTS)
        .map(|n| prompt_line(n, &format!("prompt {n} {}", "x".repeat(400))) + "\n")
        .collect();
    world.write(CLAUDE, &lines);
    assert_eq!(world.tome(&["start"]).code, 0);
    let mut child = world.command(&["import"]).stdout(Stdio::null()).spawn().unwrap();
    eventually("the first events", || {
        (!world.tome(&["events", "--all-projects"]).stdout.is_empty()).then_some(())
    });
    child.kill().unwrap();
    child.wait().unwrap();
    let report = import(&world, &[]);
    let count = |name: &str| report[name].as_u64().unwrap();
    assert_eq!(count("imported") + count("already_there"), PROMPTS + 1, "{report}");
    assert!(count("already_there") > 0);
    assert_eq!(world.events().len() as u64, PROMPTS + 1);
}

#[test]
fn a_huge_tool_result_is_capped_and_kept() {
    let world = world();
    let call = json!({"type": "assistant", "sessionId": "s1", "cwd": "/home/dev/app", "uuid": "a1",
        "timestamp": "2026-11-15T09:30:00Z", "message": {"id": "m1", "content": [
            {"type": "tool_use", "id": "toolu_0123456789", "name": "Bash", "input": {"command": "cat core"}}]}});
    let answer = json!({"type": "user", "sessionId": "s1", "cwd": "/home/dev/app", "uuid": "a2",
        "timestamp": "2026-11-15T09:30:01Z", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_0123456789",
             "content": format!("head {} tail", "x".repeat(3 * 1024 * 1024))}]}});
    world.write(CLAUDE, &format!("{call}\n{answer}\n{}\n", prompt_line(9, "after it")));
    let report = import(&world, &[]);
    assert_eq!((&report["imported"], &report["damaged_lines"]), (&json!(3), &json!(0)));
    let events = world.events();
    let output = events[1]["tool"]["output"].as_str().unwrap();
    assert!(output.starts_with("head ") && output.ends_with(" tail"));
    assert_eq!(import(&world, &[])["already_there"], 3);
}
