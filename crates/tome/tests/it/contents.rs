//! `tome toc` and `tome show`: from the table of contents down to the original text.

use serde_json::{Value, json};
use tome_testkit::{CommandResult, World};

use crate::support::{MORNING_MS, line_with, world};

const MINUTE_MS: u64 = 60_000;
const DAY_MS: u64 = 86_400_000;

/// An event of a session about the lexer; minutes count from the morning of Sunday, 2026-11-15.
fn step(session: &str, minute: u64, fields: &Value) -> String {
    let mut all = json!({
        "session_id": session, "at": MORNING_MS + minute * MINUTE_MS,
        "id": format!("{session}-{minute}"),
    });
    for (name, value) in fields.as_object().unwrap() {
        all[name] = value.clone();
    }
    line_with(&all)
}

/// A complete session: prompt, edits, command and answer.
pub fn lexer_session(session: &str, minute: u64) -> String {
    [
        step(session, minute, &json!({"kind": "session_start", "text": ""})),
        step(session, minute + 1, &json!({
            "text": "The lexer rejects identifiers such as café. Please make it accept unicode identifiers.",
        })),
        step(session, minute + 2, &json!({
            "kind": "tool_result", "text": "",
            "tool": {"name": "Edit", "input": {"file_path": "src/lexer.rs", "old_string": "is_ascii_alphabetic",
                     "new_string": "is_xid_start"}, "output": "The file src/lexer.rs has been updated."},
        })),
        step(session, minute + 3, &json!({
            "kind": "tool_result", "text": "",
            "tool": {"name": "Bash", "input": {"command": "cargo test lexer"},
                     "output": "test result: ok. 14 passed; 0 failed"},
        })),
        step(session, minute + 4, &json!({
            "kind": "assistant_stop",
            "text": "The lexer now follows the XID rules. I decided against NFKC normalisation because spans would no longer match the source.",
        })),
        step(session, minute + 5, &json!({"kind": "session_end", "text": ""})),
    ]
    .concat()
}

/// Runs `tome`, which must succeed; returns its JSON lines.
pub fn lines(world: &World, args: &[&str]) -> Vec<Value> {
    let ran = world.tome(&[args, &["--json"]].concat());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "tome {args:?}");
    ran.json_lines()
}

pub fn check_node(world: &World, id: &str) -> Value {
    let mut found = lines(world, &["toc", id]);
    assert_eq!(found.len(), 1, "{id}: {found:?}");
    found.remove(0)
}

fn ids(entries: &Value) -> Vec<String> {
    let entries = entries.as_array().unwrap();
    entries.iter().map(|entry| entry["id"].as_str().unwrap().to_owned()).collect()
}

/// Whether the event's text or its tool contains an excerpt.
fn says(event: &Value, excerpt: &str) -> bool {
    match event {
        Value::String(text) => text.contains(excerpt),
        Value::Array(items) => items.iter().any(|item| says(item, excerpt)),
        Value::Object(fields) => fields.values().any(|value| says(value, excerpt)),
        _ => false,
    }
}

/// Follows the links from root to year, month, week, day, segment, grip and event.
fn walk_down(world: &World) {
    let years = lines(world, &["toc", "--depth", "1"]);
    let mut id = years[0]["id"].as_str().unwrap().to_owned();
    let mut path = vec![id.clone()];
    loop {
        let found = check_node(world, &id);
        assert_eq!(found["events"], 6, "{found}");
        assert_eq!(found["agents"], json!(["codex"]), "{found}");
        assert_eq!(found["sessions"], json!(["s1"]), "{found}");
        assert!(!found["title"].as_str().unwrap().is_empty(), "{found}");
        let below = ids(&found["children"]);
        let Some(next) = below.first() else { break };
        assert_eq!(below.len(), 1, "{found}");
        assert_eq!(check_node(world, next)["parent"], json!(id), "{next}");
        id.clone_from(next);
        path.push(id.clone());
    }
    assert_eq!(
        path[..4],
        ["toc:year:2026", "toc:month:2026-11", "toc:week:2026-W46", "toc:day:2026-11-15"]
    );
    assert!(path[4].starts_with("toc:segment:2026-11-15:") && path.len() == 5, "{path:?}");
    down_to_the_words(world, &check_node(world, &id));
}

fn down_to_the_words(world: &World, segment: &Value) {
    let bullets = segment["bullets"].as_array().unwrap();
    assert!(!bullets.is_empty(), "{segment}");
    let mut grips = 0;
    for grip in bullets.iter().flat_map(|bullet| bullet["grips"].as_array().unwrap()) {
        let grip = grip.as_str().unwrap();
        let shown = world.tome(&["show", grip, "--json"]).json();
        let excerpt = shown["excerpt"].as_str().unwrap();
        assert!(excerpt.chars().count() <= 200 && !excerpt.is_empty(), "{shown}");
        let events = shown["events"].as_array().unwrap();
        assert!(events.iter().any(|event| says(event, excerpt)), "{shown}");
        // The event is the one that was stored.
        let event = world.tome(&["show", events[0]["id"].as_str().unwrap(), "--json"]).json();
        assert_eq!(&event, &events[0]);
        assert_eq!(shown["node"], segment["id"], "{shown}");
        let text = world.tome(&["show", grip]);
        assert_eq!(text.code, 0, "{}", text.stderr);
        grips += 1;
    }
    assert!(grips > 0, "{segment}");
}

#[test]
fn every_level_from_the_root_to_the_event_can_be_opened() {
    let world = world();
    world.ingest(&lexer_session("s1", 0));
    walk_down(&world);
}

#[test]
fn the_contents_are_shown_as_a_tree() {
    let world = world();
    world.ingest(&(lexer_session("s1", 0) + &lexer_session("s2", 60)));
    let shown = world.tome(&["toc"]);
    assert_eq!((shown.code, shown.stderr.as_str()), (0, ""));
    for part in
        ["2026", "November", "W46  Nov 9 – 15", "Sun, Nov 15", "09:30 – 09:35", "10:30 – 10:35"]
    {
        assert!(shown.stdout.contains(part), "{part} in\n{}", shown.stdout);
    }
    let is_short_id = |word: &&str| word.len() == 12 && word.starts_with("01");
    assert!(!shown.stdout.split_whitespace().any(|word| is_short_id(&word)), "{}", shown.stdout);
    for page in ["2026", "2026-11"] {
        let shown = world.tome(&["toc", page]).stdout;
        assert!(shown.contains("keywords"), "the page, not a list of days: {shown}");
    }
    let day = world.tome(&["toc", "2026-11-15"]).stdout;
    let segment = day.split_whitespace().find(is_short_id);
    let whole = world.tome(&["toc", segment.unwrap()]);
    assert_eq!(whole.code, 0, "{}", whole.stderr);
    for part in ["keywords", "codex", "6 events", "app", "tome read s1", "tome show 5", " #5"] {
        assert!(whole.stdout.contains(part), "{part} in\n{}", whole.stdout);
    }
    assert_eq!(world.tome(&["show", segment.unwrap()]).stdout, whole.stdout);
    world.ingest(&lexer_session("s3", 10 * 24 * 60));
    let later = world.tome(&["toc"]).stdout;
    assert!(later.contains("Wed, Nov 25") && later.contains("Sun, Nov 15"), "{later}");
    let segments = later.lines().filter(|line| line.starts_with("        ")).skip(1).count();
    assert_eq!(segments, 1, "segments of the latest day: {later}");
    let weeks = world.tome(&["toc", "--depth", "3"]).stdout;
    assert!(weeks.contains("W46") && !weeks.contains("Sun, Nov 15"), "{weeks}");
    let days = world.tome(&["toc", "toc:month:2026-11", "--depth", "2"]).stdout;
    assert!(days.contains("Sun, Nov 15") && !days.contains("November"), "{days}");
}

#[test]
fn a_grip_is_found_by_time_and_shown_in_context() {
    let world = world();
    world.ingest(&lexer_session("s1", 0));
    let day = check_node(&world, "toc:day:2026-11-15");
    let segment = check_node(&world, day["children"][0]["id"].as_str().unwrap());
    let grip = segment["bullets"][0]["grips"][0].as_str().unwrap();
    let show = |args: &[&str]| -> CommandResult { world.tome(&[&["show"], args].concat()) };
    let whole = show(&[grip, "--json"]).json();
    assert_eq!(whole["id"], grip);
    let none = show(&[grip, "--before", "0", "--after", "0", "--json"]).json();
    assert_eq!((&none["before"], &none["after"]), (&json!([]), &json!([])));
    assert_eq!(none["excerpt"], whole["excerpt"]);
    assert_eq!(show(&["s1-1", "--before", "1"]).code, 2, "--before needs a source");
    let all: Vec<String> = segment["bullets"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|bullet| bullet["grips"].as_array().unwrap())
        .map(|grip| grip.as_str().unwrap().to_owned())
        .collect();
    let (time, _) = grip.rsplit_once(':').unwrap();
    let of_that_time = all.iter().filter(|id| id.starts_with(time)).count();
    let short = show(&[time, "--json"]);
    assert_eq!(short.code, if of_that_time == 1 { 0 } else { 2 }, "{}", short.stderr);
}

#[test]
fn periods_can_be_given_in_words() {
    let world = world();
    let now_ms = u64::try_from(
        std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis(),
    )
    .unwrap();
    let at = |id: &str, at: u64| line_with(&json!({"id": id, "at": at, "session_id": id}));
    world.ingest(
        &[
            at("today", now_ms),
            at("yesterday", now_ms - DAY_MS),
            at("old", MORNING_MS - 400 * DAY_MS),
        ]
        .concat(),
    );
    for (words, events) in [
        ("today", 1),
        ("yesterday", 1),
        ("2025-10-11", 1),
        ("in October 2025", 1),
        ("3 days ago", 0),
    ] {
        let found = lines_or_nothing(&world, &["toc", words]);
        let counted: u64 = found.iter().map(|one| one["events"].as_u64().unwrap()).sum();
        assert_eq!(counted, events, "{words}: {found:?}");
    }
    // Words need no quotes, and a single period is shown in full.
    let typed = world.tome(&["toc", "in", "October", "2025"]);
    assert_eq!(typed.code, 0, "{}", typed.stderr);
    assert!(typed.stdout.contains("Saturday, October 11, 2025"), "{}", typed.stdout);
    let wrong = world.tome(&["toc", "when the cows come home"]);
    assert_eq!((wrong.code, wrong.stdout.as_str()), (2, ""));
    for word in ["cows", "yesterday", "last week", "in March", "2026-11-15", "3d"] {
        assert!(wrong.stderr.contains(word), "{}", wrong.stderr);
    }
}

/// Expects either lines, or nothing on standard output and the reason on standard error.
fn lines_or_nothing(world: &World, args: &[&str]) -> Vec<Value> {
    let ran = world.tome(&[args, &["--json"]].concat());
    assert_eq!(ran.code, 0, "tome {args:?}: {}", ran.stderr);
    ran.json_lines()
}

#[test]
fn days_follow_the_configured_time_zone() {
    let world = world();
    let midnight_ms = MORNING_MS - (9 * 60 + 30) * MINUTE_MS;
    world.write("config.toml", "[contents]\nzone = \"America/New_York\"\n");
    world.ingest(&line_with(&json!({"id": "late", "at": midnight_ms + MINUTE_MS})));
    let root = lines(&world, &["toc"]);
    assert!(root[0].to_string().contains("toc:day:2026-11-14"), "{root:?}");
    let shown = world.tome(&["toc"]).stdout;
    assert!(shown.contains("Sat, Nov 14") && shown.contains("19:01"), "{shown}");
}

#[test]
fn the_contents_cover_all_projects_or_selected_agents() {
    let world = world();
    let one = |id: &str, cwd: &str, agent: &str, days: u64| {
        let at = MORNING_MS + days * DAY_MS;
        line_with(&json!({"id": id, "cwd": cwd, "agent": agent, "session_id": id, "at": at}))
    };
    world.ingest(
        &[
            one("a", "/one", "codex", 0),
            one("b", "/two", "gemini", 0),
            one("c", "/two", "gemini", 1),
        ]
        .concat(),
    );
    let all = lines(&world, &["toc", "--all-projects", "--depth", "4"]);
    let week = &all[0]["entries"][0]["entries"][0];
    assert_eq!((&all[0]["events"], &all[0]["agents"]), (&json!(3), &json!(["codex", "gemini"])));
    let projects = |entry: &Value| -> Vec<String> {
        let shares = entry["projects"].as_array().unwrap();
        shares.iter().map(|share| share["project"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(projects(&week["entries"][0]), ["/one", "/two"], "{week}");
    assert_eq!(all[0].to_string().matches("\"toc:day:2026-11-15\"").count(), 1, "one line a day");
    let days = |args: &[&str]| -> Vec<Value> {
        let found = lines(&world, &[&["toc", "2026-11-15", "--depth", "1"], args].concat());
        found.into_iter().map(|entry| entry["events"].clone()).collect()
    };
    assert_eq!(days(&[]), [json!(2)]);
    assert_eq!(days(&["--project", "/two"]), [json!(1)]);
    assert_eq!(days(&["--agent", "codex"]), [json!(1)]);
    let none = world.tome(&["toc", "--agent", "opencode"]);
    assert_eq!((none.code, none.stdout.as_str()), (0, ""));
    assert!(none.stderr.contains("opencode"), "{}", none.stderr);
    // A node that several projects have is shown for each.
    assert_eq!(lines(&world, &["toc", "toc:day:2026-11-15"]).len(), 2);
    assert_eq!(lines(&world, &["toc", "toc:day:2026-11-15", "--agent", "gemini"]).len(), 1);
    let page = world.tome(&["toc", "2026-11-15", "--all-projects"]).stdout;
    for project in ["one", "two"] {
        assert!(page.contains(&format!("{project}  1 session")), "{page}");
    }
    assert!(page.contains("One project: tome toc 2026-11-15 --project"), "{page}");
}

#[test]
fn an_empty_ledger_is_reported() {
    let world = world();
    for args in [&["toc"][..], &["toc", "--all-projects"], &["toc", "yesterday"]] {
        let ran = world.tome(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{args:?}");
        assert!(ran.stderr.contains("no contents yet") || ran.stderr.contains("nothing recorded"));
    }
    assert_eq!(world.tome(&["toc", "--json"]).stdout, "");
    assert_eq!(world.tome(&["toc", "toc:day:2026-11-15"]).code, 4);
}

#[test]
fn bad_input_is_explained() {
    let world = world();
    world.ingest(&lexer_session("s1", 0));
    for (args, code, message) in [
        (&["toc", "toc:day:2026-02-30"][..], 2, "toc:day:2026-11-14"),
        (&["toc", "toc:decade:2020"], 2, "toc:year:2026"),
        (&["toc", "toc:"], 2, "toc:year:2026"),
        (&["toc", "toc:day:2020-01-01"], 4, "toc:day:2020-01-01"),
        (&["toc", "toc:segment:2026-11-15:ZZZZ"], 4, "ZZZZ"),
        (&["toc", "toc:segment:2026-11-15:!"], 2, "toc:segment:"),
        (&["toc", "toc:day:2026-11-15", "--version", "77"], 4, "77"),
        (&["toc", "toc:day:2026-11-15", "--depth", "9"], 2, "depth"),
        (&["toc", "grip:1:2"], 2, "tome show"),
        (&["toc", "--versions"], 2, "node"),
        (&["toc", "yesterday", "--version", "1"], 2, "id"),
        (&["toc", "--agent", "NO WAY"], 2, "agent"),
        (&["show", "grip:nonsense"], 2, "grip"),
        (&["show", "grip:1794735000000"], 4, "grip:1794735000000"),
        (&["show", "toc:day:1999-01-01"], 4, "1999"),
        (&["show", "toc:era:1"], 2, "toc:year:2026"),
    ] {
        let ran = world.tome(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{message} in {}", ran.stderr);
    }
}
