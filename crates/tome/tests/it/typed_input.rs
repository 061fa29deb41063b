//! What people type means the same in every command: ids, times, names of files and commands.

use serde_json::{Value, json};
use tome_testkit::World;

use crate::contents::{check_node, lexer_session};
use crate::support::{MORNING_MS, line, line_with, world};

/// The id of a session that begins with the number of an event of another one.
const NUMBERED: &str = "2f0c5b1e-0000-44cc-8b4d-babf59901513";

fn two_sessions() -> World {
    let world = world();
    world.ingest(&lexer_session("s1", 0));
    let parser = json!({
        "session_id": NUMBERED, "at": MORNING_MS + 3_600_000, "text": "Explain the parser.",
        "agent": "claude-code", "id": "d41d8cd98f00b204e9800998ecf8427e",
        "meta": {"branch": "feature/parser", "imported": true},
    });
    world.ingest(&line_with(&parser));
    world
}

#[test]
fn a_number_is_the_same_event_in_every_command() {
    let world = two_sessions();
    for (id, text, session) in [
        ("2", "The lexer rejects identifiers", "s1"),
        ("2f", "Explain the parser", NUMBERED),
        ("d41d8cd98f", "Explain the parser", NUMBERED),
    ] {
        for command in ["show", "read", "export"] {
            let ran = world.tome(&[command, id, "--project", "/app"]);
            let ran = if command == "export" { world.tome(&[command, id]) } else { ran };
            assert_eq!(ran.code, 0, "{command} {id}: {ran:?}");
            assert!(ran.stdout.contains(text), "{command} {id}: {}", ran.stdout);
        }
        assert_eq!(world.tome(&["resume", id, "--json"]).json()["session_id"], session, "{id}");
    }
    for command in ["show", "read", "export", "resume"] {
        assert_eq!(world.tome(&[command, "99"]).code, 4, "{command}");
    }
}

#[test]
fn ids_that_screens_print_are_accepted() {
    let world = two_sessions();
    let day = check_node(&world, "toc:day:2026-11-15");
    let segment = day["children"][0]["id"].as_str().unwrap();
    let (_, ulid) = segment.rsplit_once(':').unwrap();
    let page = world.tome(&["toc", segment]).stdout;
    for length in [7, 9, 12, 26] {
        let Some(short) = ulid.get(..length) else { continue };
        for command in ["toc", "show"] {
            let ran = world.tome(&[command, short]);
            // The two segments begin within an hour.
            if length == 7 && ran.code == 2 {
                assert!(ran.stderr.contains("segments begin with"), "{ran:?}");
                continue;
            }
            assert_eq!((ran.code, &ran.stdout), (0, &page), "{command} {short}: {}", ran.stderr);
        }
    }
    assert_eq!(world.tome(&["show", "01AAAAAA"]).code, 4);
    for period in ["2026-W46", "2026-11", "2026-11-15"] {
        let ran = world.tome(&["show", period]);
        assert!(ran.code == 0 && ran.stdout.contains("keywords"), "{period}: {ran:?}");
    }
    for command in ["read", "export"] {
        let ran = world.tome(&[command, &ulid[..12]]);
        assert!(ran.code == 0 && ran.stdout.contains("XID rules"), "{command}: {ran:?}");
        for period in ["2026-W46", "toc:day:2026-11-15"] {
            let ran = world.tome(&[command, period]);
            assert_eq!(ran.code, 2, "{command} {period}: {ran:?}");
            assert!(ran.stderr.contains("hint: `tome toc 2026-"), "{ran:?}");
        }
    }
}

#[test]
fn ids_are_shown_short_unless_more_is_asked_for() {
    let world = two_sessions();
    let event = world.tome(&["show", "d41d8cd98f"]).stdout;
    let number = world.tome(&["show", "7", "--project", "/app"]).stdout;
    for shown in [&event, &number] {
        assert!(!shown.contains("d41d8cd98f00b204") && !shown.contains(NUMBERED), "{shown}");
        assert!(shown.contains("2f0c5b1e") && shown.contains("feature/parser"), "{shown}");
        assert!(!shown.contains("2026-11-15") && !shown.contains("imported"), "{shown}");
    }
    let whole = world.tome(&["show", "d41d8cd98f", "-v"]).stdout;
    for part in ["d41d8cd98f00b204e9800998ecf8427e", NUMBERED, "\"imported\":true", "2026-11-15"] {
        assert!(whole.contains(part), "{part} in {whole}");
    }
    let day = check_node(&world, "toc:day:2026-11-15");
    let segment = check_node(&world, day["children"][0]["id"].as_str().unwrap());
    let grip = segment["bullets"][0]["grips"][0].as_str().unwrap();
    let shown = world.tome(&["show", grip]).stdout;
    assert!(!shown.contains(grip) && !shown.contains("toc:segment"), "{shown}");
    let whole = world.tome(&["show", grip, "--verbose"]).stdout;
    assert!(whole.contains(grip) && whole.contains("toc:segment"), "{whole}");
}

#[test]
fn a_time_means_the_same_everywhere() {
    let world = two_sessions();
    for time in ["3d", "90m", "2w", "yesterday", "2026-11-15", "2026-11-15T09:30:00Z"] {
        for command in [&["report"][..], &["toc"], &["sessions", "--on"], &["sessions", "--since"]]
        {
            let ran = world.tome(&[command, &[time]].concat());
            assert_eq!(ran.code, 0, "{command:?} {time}: {ran:?}");
        }
    }
    let page = world.tome(&["toc", "2026-11-15"]).stdout;
    assert_eq!(world.tome(&["toc", "2026-11-15T09:30:00Z"]).stdout, page);
    let refused = |command: &[&str]| {
        let ran = world.tome(&[command, &["yesteryear"]].concat());
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.stderr
    };
    let words = "\"yesteryear\" is not understood; try 2026-11-15, yesterday";
    for command in [&["report"][..], &["toc"], &["sessions", "--on"], &["sessions", "--since"]] {
        let said = refused(command).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(words), "{command:?}: {said}");
    }
}

#[test]
fn a_missing_file_is_not_found() {
    let world = world();
    for command in ["ingest", "import", "restore"] {
        let ran = world.tome(&[command, "/nowhere/file"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (4, ""), "{command}: {ran:?}");
        assert!(ran.stderr.contains("/nowhere/file"), "{ran:?}");
    }
}

#[test]
fn ingest_leaves_out_pauses_and_ignored_folders() {
    let world = world();
    let secret = world.folder("secret");
    world.write("secret/.tomeignore", "*\n");
    world.write("home/pauses.jsonl", "{\"v\":1,\"at\":1794735000000,\"until\":1794735060000}\n");
    let lines = line("before", MORNING_MS - 1_000, "before the pause")
        + &line("during", MORNING_MS + 1_000, "during the pause")
        + &line_with(&json!({
            "id": "hidden", "at": MORNING_MS + 90_000, "cwd": secret, "text": "in private",
        }));
    let ran = world.tome_with(&["ingest"], &lines);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "1 stored, 0 duplicates, 0 rejected\n"));
    let said = ran.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(
        said,
        "not stored: 1 event is from a pause (`tome pause`), 1 event is of ignored folders (capture.ignore, .tomeignore)"
    );
    let json = world.tome_with(&["ingest", "--json"], &lines).json();
    assert_eq!((&json["paused"], &json["ignored"]), (&json!(1), &json!(1)));
    assert_eq!(world.events().len(), 1);
}

#[test]
fn json_exports_are_json_lines() {
    let world = two_sessions();
    let lines = world.tome(&["export", "s1", "--json"]).json_lines();
    assert_eq!(lines.len(), 6);
    assert_eq!(lines[0]["session_id"], "s1");
    let refused = world.tome(&["export", "s1", "--json", "--format", "html"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (2, ""));
}

#[test]
fn a_file_is_looked_for_in_every_project() {
    let world = world();
    world.ingest(&lexer_session("s1", 0));
    let other = lexer_session("s2", 0).replace("\"/app\"", "\"/site\"");
    world.ingest(&other);
    let ran = world.tome(&["file", "src/lexer.rs"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for project in ["app", "site"] {
        assert!(ran.stdout.contains(&format!("src/lexer.rs  {project}\n")), "{}", ran.stdout);
    }
    assert_eq!(world.tome(&["file", "src/lexer.rs", "--json"]).json_lines().len(), 2);
}

#[test]
fn commands_under_other_names() {
    let world = two_sessions();
    for (alias, command) in [
        (&["find", "--help"][..], &["recall", "--help"][..]),
        (&["history"], &["sessions"]),
        (&["notes", "ls", "--project", "/app"], &["memory", "list", "--project", "/app"]),
        (&["projects", "ls"], &["projects"]),
        (&["config", "list"], &["config", "--all"]),
    ] {
        // Narrow lists have no sizes, which may change in between.
        let run = |args: &[&str]| World::run(world.command(args).env("COLUMNS", "60"), b"");
        let (one, other) = (run(alias), run(command));
        assert_eq!((one.code, &one.stdout), (other.code, &other.stdout), "{alias:?}");
        assert_eq!(one.code, 0, "{one:?}");
    }
    for (typed, tips) in [
        ("serach", &["'search'"][..]),
        ("reprot", &["'report'"]),
        ("sesions", &["'sessions'", "'session'"]),
        ("zebra", &[]),
    ] {
        let said = world.tome(&[typed]).stderr;
        let tip = said.lines().find(|line| line.contains("tip: ")).unwrap_or_default();
        let named: Vec<&str> = tip.split(' ').filter(|word| word.starts_with('\'')).collect();
        let named: Vec<&str> = named.iter().map(|word| word.trim_end_matches(',')).collect();
        assert_eq!(named, tips, "{said}");
    }
}

#[test]
fn names_of_projects_are_completed() {
    let world = two_sessions();
    let mut command = world.command(&["--", "tome", "--project", "a"]);
    command.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", "2").env("_CLAP_IFS", "\n");
    let ran = World::run(&mut command, b"");
    assert!(ran.stdout.lines().any(|line| line == "app"), "{ran:?}");
}

#[test]
fn every_manual_page_has_examples() {
    let world = world();
    let folder = world.folder("man");
    assert_eq!(world.tome(&["man", "--dir", folder.to_str().unwrap()]).code, 0);
    let pages = std::fs::read_dir(&folder).unwrap().map(|page| page.unwrap().path());
    let mut count = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(text.contains(".SH EXAMPLES\n"), "{}", page.display());
        count += 1;
    }
    assert!(count > 70, "{count}");
}

#[test]
fn a_standup_lists_what_the_front_page_calls_open() {
    let world = world();
    let ask = "Should I change the parser too, or leave it as it is?";
    let event = |id: &str, minutes: u64, kind: &str, text: &str| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        let at = u64::try_from(now.as_millis()).unwrap() - 4 * 86_400_000 + minutes * 60_000;
        line_with(&json!({"id": id, "at": at, "kind": kind, "text": text}))
    };
    world.ingest(&event("e1", 0, "user_message", "Make the lexer accept unicode identifiers."));
    let answer = format!("The lexer accepts them now. {ask}");
    world.ingest(&event("e2", 1, "assistant_stop", &answer));
    let page = world.tome(&["--project", "/app"]).stdout;
    let open: Value = world.tome(&["report", "--standup", "--project", "/app", "--json"]).json();
    if page.contains("Open\n") {
        assert_eq!(open["open"].as_array().unwrap().len(), 1, "{open}");
        let text = world.tome(&["report", "--standup", "--project", "/app"]).stdout;
        assert!(text.contains("Should I change the parser") && !text.contains("none recorded"));
    } else {
        panic!("the question is open: {page}");
    }
}
