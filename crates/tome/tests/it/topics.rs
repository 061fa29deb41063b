//! `tome topics` and `tome file`, and the service behind them.

use serde_json::{Value, json};
use tome_proto::v1;
use tome_testkit::World;

use crate::support::{line_with, world};

const HOUR_MS: u64 = 3_600_000;

/// Three sessions on three days that change `src/lexer.rs`, and one that only reads a file.
fn fill(world: &World, root: &str) {
    let mut lines = String::new();
    let mut push = |id: String, session: &str, at: u64, fields: Value| {
        let mut event = json!({ "id": id, "session_id": session, "at": at, "cwd": root });
        for (name, value) in fields.as_object().unwrap() {
            event[name] = value.clone();
        }
        lines.push_str(&line_with(&event));
    };
    for day in 1..=3_u64 {
        let (session, at) = (format!("lexer-{day}"), day * 24 * HOUR_MS);
        let tool = |name: &str, input: Value, output: Value| {
            json!({
                "kind": "tool_result", "text": "",
                "tool": { "name": name, "input": input, "output": output },
            })
        };
        let prompt = "Make the lexer accept unicode identifiers in src/lexer.rs";
        push(format!("p{day}"), &session, at, json!({ "kind": "user_message", "text": prompt }));
        let path = json!({ "file_path": format!("{root}/src/lexer.rs"), "old_string": "a", "new_string": format!("b{day}") });
        push(format!("e{day}"), &session, at + 1_000, tool("Edit", path, json!("ok")));
        let read = json!({ "file_path": format!("{root}/docs/notes.md") });
        push(format!("r{day}"), &session, at + 2_000, tool("Read", read, json!("text")));
        let answer =
            "We decided to use a table in lexer.rs instead of a match because it is faster.";
        push(
            format!("a{day}"),
            &session,
            at + 3_000,
            json!({ "kind": "assistant_stop", "text": answer }),
        );
        push(format!("x{day}"), &session, at + 4_000, json!({ "kind": "session_end", "text": "" }));
    }
    world.ingest(&lines);
}

#[test]
fn topics_and_files_have_pages() {
    let world = world();
    let folder = world.folder("app");
    let root = folder.to_str().unwrap().to_owned();
    fill(&world, &root);
    let project = ["--project", root.as_str()];
    let tome = |args: &[&str]| world.tome(&[args, &project].concat());

    let listed = tome(&["topics"]);
    assert!(
        listed.stdout.contains("3 sessions") && listed.stdout.contains("src/lexer.rs"),
        "{listed:?}"
    );
    assert!(listed.stdout.contains("\nTopics\nt-"), "few sessions have topics, too: {listed:?}");
    let all = tome(&["topics", "--json"]).json_lines();
    let group = all.iter().find(|topic| topic["kind"] == "group").unwrap();
    assert_eq!((&group["days"], &group["sessions"]), (&json!(3), &json!(3)));
    let id = group["id"].as_str().unwrap();

    let page = tome(&["topics", "show", id]);
    assert!(page.stdout.contains("Sessions") && page.stdout.contains("Decided"), "{page:?}");
    let by_words = tome(&["topics", "show", "accept unicode"]);
    assert_eq!(by_words.stdout, page.stdout, "words name a topic as in a search");
    let file = tome(&["file", "src/lexer.rs"]);
    assert!(file.stdout.contains("Changes") && file.stdout.contains("1 edit"), "{file:?}");
    assert!(file.stdout.lines().all(|line| line.chars().count() <= 100), "{file:?}");

    // Every citation opens.
    let page = tome(&["file", "lexer.rs", "--json"]).json();
    assert_eq!(page["topic"]["id"], "file:src/lexer.rs");
    for fact in page["decisions"].as_array().unwrap() {
        let number = fact["event_number"].to_string();
        let shown = tome(&["show", &number]);
        assert!(shown.stdout.contains("because it is faster"), "{shown:?}");
    }
    for entry in page["entries"].as_array().unwrap() {
        let shown = tome(&["show", &entry["event_number"].to_string()]);
        assert!(shown.stdout.contains("unicode identifiers"), "{shown:?}");
    }
    let found = tome(&["topics", "lexer", "--json"]).json_lines();
    assert!(found.iter().any(|topic| topic["id"] == "file:src/lexer.rs"), "{found:?}");
    assert!(tome(&["topics", "zebra"]).stdout.contains("no topic matches"));
}

/// The totals are true, and JSON has what the screen leaves out.
#[test]
fn long_pages_say_how_much_they_leave_out() {
    let world = world();
    let folder = world.folder("app");
    let root = folder.to_str().unwrap().to_owned();
    let mut lines = String::new();
    for n in 0..45_u64 {
        let mut push = |kind: &str, offset: u64, fields: Value| {
            let mut event = json!({ "id": format!("{kind}{n}"), "session_id": format!("s{n}"),
                "at": n * 7 * HOUR_MS + offset, "cwd": root, "kind": kind, "text": "" });
            for (name, value) in fields.as_object().unwrap() {
                event[name] = value.clone();
            }
            lines.push_str(&line_with(&event));
        };
        push("user_message", 0, json!({ "text": format!("Add the case {n} to src/cases.rs") }));
        let edit = json!({ "file_path": format!("{root}/src/cases.rs"), "old_string": "a", "new_string": format!("{n}") });
        let tool = json!({ "name": "Edit", "input": edit, "output": "ok" });
        push("tool_result", 1_000, json!({ "tool": tool }));
        push("session_end", 2_000, json!({}));
    }
    world.ingest(&lines);
    let tome = |args: &[&str]| world.tome(&[args, &["--project", &root]].concat());
    let page = tome(&["file", "src/cases.rs", "-n", "3"]);
    assert!(page.stdout.contains("… 42 more; --json lists them"), "{page:?}");
    let all = tome(&["file", "src/cases.rs", "-n", "3", "--json"]).json();
    let count = |list: &str| all[list].as_array().unwrap().len();
    assert_eq!((count("entries"), count("sessions")), (45, 45));
    assert_eq!((&all["entries_total"], &all["sessions_total"]), (&json!(45), &json!(45)));
    let folder = tome(&["topics", "show", "folder:src/"]);
    assert!(folder.stdout.contains("… 37 more; --json lists them"), "{folder:?}");
    assert_eq!(
        world
            .tome(&[
                "sessions",
                "--file",
                "src/cases.rs",
                "-n",
                "100",
                "--json",
                "--project",
                &root
            ])
            .json_lines()
            .len(),
        45
    );
}

#[test]
fn work_in_no_topic_is_counted() {
    let world = world();
    let folder = world.folder("app");
    let root = folder.to_str().unwrap().to_owned();
    fill(&world, &root);
    let event = json!({
        "id": "z1", "session_id": "z", "at": 90 * HOUR_MS, "cwd": root, "kind": "user_message",
        "text": "Translate the privacy notice of the shop into Danish and put it on the website.",
    });
    world.ingest(&line_with(&event));
    let tome = |args: &[&str]| world.tome(&[args, &["--project", &root]].concat());
    let listed = tome(&["topics"]);
    assert!(listed.stdout.contains("1 of 4 segments of work (25 %) are in no topic"), "{listed:?}");
    let lines = tome(&["topics", "--json"]).json_lines();
    let status = lines.iter().find(|line| line["kind"] == "status").expect("a status");
    assert_eq!((&status["segments"], &status["segments_in_no_topic"]), (&json!(4), &json!(1)));
}

#[test]
fn bad_input_gets_clear_answers() {
    let world = world();
    let folder = world.folder("app");
    let root = folder.to_str().unwrap().to_owned();
    fill(&world, &root);
    let tome = |args: &[&str]| world.tome(&[args, &["--project", &root]].concat());
    let unknown = tome(&["topics", "show", "t-xxxxxx"]);
    assert_eq!(unknown.code, 4, "{unknown:?}");
    assert!(unknown.stderr.contains("no topic t-xxxxxx"), "{unknown:?}");
    let folder = tome(&["file", "src"]);
    assert_eq!(folder.code, 4, "{folder:?}");
    assert!(folder.stderr.contains("src is a folder; changed files in it: src/lexer.rs"));
    assert!(folder.stderr.contains("tome topics show folder:src/"), "{folder:?}");
    let empty = tome(&["file", ""]);
    assert_eq!(empty.code, 2, "{empty:?}");
    assert!(empty.stderr.contains("the path of the file is empty"), "{empty:?}");
    let missing = tome(&["file", "src/lexers.rs"]);
    assert_eq!(missing.code, 4, "{missing:?}");
    assert!(missing.stderr.contains("no edit of src/lexers.rs is recorded"), "{missing:?}");
    let read = tome(&["file", "docs/notes.md"]);
    assert!(read.stdout.contains("but no edit of it is recorded"), "{read:?}");
    for outside in ["../../etc/passwd", "/etc/passwd", "日本語.rs"] {
        assert_eq!(tome(&["file", outside]).code, 4, "{outside}");
    }
    let nowhere = world.folder("nowhere");
    let empty = world.tome(&["topics", "--project", nowhere.to_str().unwrap()]);
    assert!(empty.stderr.contains("no topics yet"), "{empty:?}");
}

#[test]
fn outside_of_a_project_all_are_read() {
    let world = world();
    let folder = world.folder("app");
    fill(&world, folder.to_str().unwrap());
    let file = world.tome(&["file", "lexer.rs"]);
    assert!(file.stdout.contains("Changes") && !file.stdout.contains("--project"), "{file:?}");
    assert!(world.tome(&["sessions", "--file", "lexer.rs"]).stdout.contains("lexer-3"));
    assert_eq!(world.tome(&["show", "1"]).code, 0, "the only project needs no name");

    let event = json!({
        "id": "z1", "session_id": "z", "at": HOUR_MS, "cwd": "/other", "kind": "user_message",
        "text": "From now on, always write docs/zebra.md in English.",
    });
    world.ingest(&line_with(&event));
    let file = world.tome(&["file", "lexer.rs"]);
    assert!(file.stdout.contains("tome show") && file.stdout.contains("--project app"), "{file:?}");
    let several = world.tome(&["show", "1"]);
    assert_eq!(several.code, 2, "{several:?}");
    assert!(several.stderr.contains("#1 is in 2 projects"), "{several:?}");
    assert!(several.stderr.contains("--project NAME: "), "{several:?}");
    assert_eq!(world.tome(&["show", "12"]).code, 0, "only one project has #12");
    let topics = world.tome(&["topics"]);
    assert!(topics.stdout.contains("app  3 sessions"), "{topics:?}");
    let rules = world.tome(&["instructions"]);
    assert!(rules.stdout.contains("--project other"), "{rules:?}");
    assert_eq!(world.tome(&["instructions", "--all-projects"]).stdout, rules.stdout);
    assert_eq!(world.tome(&["file", "zebra.rs"]).code, 4);
}

#[test]
fn the_topic_service_answers_its_requests() {
    let world = world();
    let folder = world.folder("app");
    let root = folder.to_str().unwrap().to_owned();
    fill(&world, &root);
    world.with_client(async |client| {
        let status = v1::GetTopicGraphStatusRequest { project: root.clone() };
        let status = client.get_topic_graph_status(status).await.unwrap();
        assert_eq!((status.segments, status.sessions), (3, 3));
        let top = |kind: &str| v1::GetTopTopicsRequest {
            project: root.clone(),
            kind: kind.to_owned(),
            limit: 5,
        };
        let files = client.get_top_topics(top("file")).await.unwrap();
        assert_eq!(files[0].id, "file:src/lexer.rs");
        assert!(client.get_top_topics(top("animal")).await.is_err());
        let query = v1::GetTopicsByQueryRequest {
            project: root.clone(),
            query: "lexer".to_owned(),
            limit: 0,
        };
        assert!(!client.get_topics_by_query(query).await.unwrap().is_empty());
        let related =
            |id: &str| v1::GetRelatedTopicsRequest { project: root.clone(), id: id.to_owned() };
        let found = client.get_related_topics(related("file:src/lexer.rs")).await.unwrap();
        assert!(found[0].reason.contains("segments in common"), "{found:?}");
        assert!(client.get_related_topics(related("file:other.rs")).await.is_err());
        let nowhere = v1::GetTopicGraphStatusRequest { project: String::new() };
        assert!(client.get_topic_graph_status(nowhere).await.is_err());
    });
}
