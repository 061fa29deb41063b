//! `tome ingest`: JSON lines in, the same events out.

use serde_json::{Value, json};

use crate::support::{ids, line, line_with, texts, world};

#[test]
fn every_field_is_stored_as_given() {
    let world = world();
    let given = json!({
        "id": "Mine/1:a_b", "session_id": "a session", "agent": "my.agent-2", "cwd": "/app/src",
        "project": "/app", "kind": "tool_result", "role": "assistant", "text": "two\nlines \u{1f980}",
        "at": "2026-11-15T09:30:00.250Z",
        "tool": {"name": "Bash", "input": {"command": "ls", "n": [1, 2.5, null]}, "output": "a\nb"},
        "meta": {"turn": 7, "nested": {"deep": [true]}, "text": "é"},
    });
    let ran = world.tome_with(&["ingest"], given.to_string());
    assert_eq!(ran.code, 0);
    assert_eq!(ran.stdout, "1 stored, 0 duplicates, 0 rejected\n");
    let [event] = &world.events()[..] else { panic!("one event") };
    for (field, value) in given.as_object().unwrap() {
        assert_eq!(&event[field], value, "{field}");
    }
    let arrived = event["arrived"].as_str().unwrap();
    assert!(arrived > "2020" && arrived.ends_with('Z'), "{arrived}");
}

#[test]
fn repeated_input_is_all_duplicates() {
    let world = world();
    // Recognized with and without an id.
    let lines = line("a", 1_000, "one") + &line_with(&json!({"text": "two"}));
    let report = |ran: tome_testkit::CommandResult| {
        let report = ran.json();
        let count = |name: &str| report[name].as_u64().unwrap();
        (ran.code, count("created"), count("duplicates"), report["rejected"].clone())
    };
    let first = world.tome_with(&["ingest", "--json"], &lines);
    assert_eq!(report(first), (0, 2, 0, json!([])));
    let again = world.tome_with(&["ingest", "--json"], &lines);
    assert_eq!(report(again), (0, 0, 2, json!([])));
    let doubled = world.tome_with(&["ingest", "--json"], lines.repeat(3));
    assert_eq!(report(doubled), (0, 0, 6, json!([])));
    assert_eq!(texts(&world.events()), ["one", "two"]);
}

#[test]
fn bad_lines_are_reported_and_the_others_stored() {
    let world = world();
    let good = |id: &str| line(id, 1_000, id);
    let bad = [
        "{\"session_id\": \"s1\"}\n".to_owned(),
        "not json\n".to_owned(),
        line_with(&json!({"kind": "shout"})),
        line_with(&json!({"cwd": "relative/path"})),
        line_with(&json!({"agent": "Not A Name"})),
        line_with(&json!({"at": "yesterday"})),
        line_with(&json!({"misspelt": 1})),
        line_with(&json!({"id": "with space"})),
        line_with(&json!({"session_id": ""})),
        line_with(&json!({"role": "king"})),
        line_with(&json!({"meta": {"long": "x".repeat(70_000)}})),
        line_with(&json!({"tool": {"nome": "Bash"}})),
        "[]\n".to_owned(),
    ];
    let mut input = good("first");
    for line in &bad {
        input += line;
        input += "\n   \n";
    }
    input += &good("last");
    let ran = world.tome_with(&["ingest", "--json"], &input);
    assert_eq!(ran.code, 2);
    let report = ran.json();
    assert_eq!(report["created"], 2);
    let lines: Vec<u64> = report["rejected"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["line"].as_u64().unwrap())
        .collect();
    let expected: Vec<u64> = (0..bad.len() as u64).map(|n| 2 + 3 * n).collect();
    assert_eq!(lines, expected, "{report:#}");
    assert_eq!(ids(&world.events()), ["first", "last"]);

    let told = world.tome_with(&["ingest"], good("third") + "oops\n");
    assert_eq!(told.code, 2);
    assert_eq!(told.stdout, "1 stored, 0 duplicates, 1 rejected\n");
    assert!(told.stderr.starts_with("line 2: "), "{}", told.stderr);
}

/// JSON nested too deeply to be read back everywhere is kept as text.
#[test]
fn deep_json_is_kept_as_text() {
    let world = world();
    let deep = format!("{}1{}", "[".repeat(110), "]".repeat(110));
    let text = line("deep", 1_000, "")
        .replace("\"kind\"", &format!("\"tool\":{{\"name\":\"t\",\"input\":{deep}}},\"kind\""));
    world.ingest(&text);
    assert_eq!(world.events()[0]["tool"]["input"], json!(deep));
}

/// JSON nested deeper than the parser's limit is a bad line and does not end the run.
#[test]
fn json_nested_too_deep_is_a_bad_line() {
    let world = world();
    let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
    let bad = line("deep", 1_000, "")
        .replace("\"kind\"", &format!("\"tool\":{{\"name\":\"t\",\"input\":{deep}}},\"kind\""));
    let input = line("a", 1_000, "a") + &bad + &line("b", 1_001, "b");
    let ran = world.tome_with(&["ingest", "--json"], input);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert_eq!(ran.json()["rejected"][0]["line"], 2);
    assert_eq!(ids(&world.events()), ["a", "b"]);
}

#[test]
fn empty_input_stores_nothing() {
    let world = world();
    for nothing in ["", "\n\n  \n", "\r\n"] {
        let ran = world.tome_with(&["ingest"], nothing);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        assert_eq!(ran.stdout, "0 stored, 0 duplicates, 0 rejected\n");
    }
    assert_eq!(world.events(), Vec::<Value>::new());
}

#[test]
fn input_of_other_programs_is_accepted() {
    let world = world();
    let mut input = b"\xef\xbb\xbf".to_vec();
    input.extend(line("bom", 1_000, "byte order mark").trim_end().as_bytes());
    input.extend(b"\r\n");
    input.extend(line("crlf", 1_001, "ends in CRLF").trim_end().as_bytes());
    input.extend(b"\r\n");
    // A byte that is not UTF-8 inside a string.
    input.extend(line("utf8", 1_002, "cafX olé").as_bytes());
    let position = input.iter().rposition(|byte| *byte == b'X').unwrap();
    input[position] = 0xff;
    input.extend(line("nul", 1_003, "a\u{0}b").as_bytes());
    // No newline at the end.
    input.extend(line("end", 1_004, "日本語 🦀 e\u{301}").trim_end().as_bytes());
    let ran = world.tome_with(&["ingest"], &input);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(
        texts(&world.events()),
        ["byte order mark", "ends in CRLF", "caf\u{fffd} olé", "a\u{0}b", "日本語 🦀 e\u{301}"]
    );
}

#[test]
fn a_long_line_is_stored() {
    let world = world();
    let long = "0123456789abcdef".repeat(1 << 16);
    let input =
        line("before", 1_000, "x") + &line("long", 1_001, &long) + &line("after", 1_002, "y");
    world.ingest(&input);
    let events = world.events();
    assert_eq!(ids(&events), ["before", "long", "after"]);
    let kept = events[1]["text"].as_str().unwrap();
    assert!(kept.starts_with("0123456789abcdef") && kept.ends_with("0123456789abcdef"));
}

#[test]
fn the_output_of_events_can_be_ingested() {
    let (here, there) = (world(), world());
    here.ingest(&(line("a", 1_000, "one") + &line_with(&json!({
        "text": "two", "role": "system", "kind": "tool_result", "project": "/app", "cwd": "/app/src",
        "tool": {"name": "Read", "input": {"path": "é"}, "output": {"ok": true}}, "meta": {"k": 1},
    }))));
    here.hook(&["claude-code"], crate::support::prompt("from a hook"));
    let printed = here.tome(&["events", "--all-projects", "--limit", "0", "--json"]);
    there.ingest(&printed.stdout);
    let without_arrival = |mut events: Vec<Value>| {
        for event in &mut events {
            event.as_object_mut().unwrap().remove("arrived");
        }
        events
    };
    assert_eq!(without_arrival(there.events()), without_arrival(here.events()));
    let again = there.tome_with(&["ingest", "--json"], &printed.stdout).json();
    assert_eq!((&again["created"], &again["duplicates"]), (&json!(0), &json!(3)));
}

#[test]
fn a_file_can_replace_standard_input() {
    let world = world();
    let file = world.write("events.jsonl", &line("a", 1_000, "from a file"));
    let ran = world.tome(&["ingest", file.to_str().unwrap()]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(texts(&world.events()), ["from a file"]);
    let missing = world.tome(&["ingest", "no-such-file"]);
    assert_eq!(missing.code, 4);
    assert!(missing.stderr.contains("no-such-file"), "{}", missing.stderr);
}

#[test]
fn an_overlong_line_is_rejected_once_and_later_lines_keep_their_numbers() {
    let world = world();
    let long = "x".repeat(65 * 1024 * 1024);
    let lines = format!("{}{long}\nnot an event\n{}", line("a", 1_000, "1"), line("b", 2_000, "2"));
    let report = world.tome_with(&["ingest", "--json"], lines).json();
    assert_eq!(report["created"], 2);
    let rejected = report["rejected"].as_array().unwrap();
    let numbers: Vec<&Value> = rejected.iter().map(|rejected| &rejected["line"]).collect();
    assert_eq!(numbers, [2, 3]);
    assert_eq!(rejected[0]["reason"], "longer than 64 MiB");
}
