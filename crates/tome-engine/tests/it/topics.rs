//! Topics over an engine: from events to pages, rebuilds, bad input.

use serde_json::{Value, json};
use tome_engine::Caller;
use tome_home::Projection;
use tome_topics::{FileLookup, TopicKind};

use crate::engine_fixture::{EngineFixture, MINUTE_MS, MORNING_MS, ROOT};

const DAY_MS: u64 = 24 * 60 * MINUTE_MS;

/// A turn of a session: a prompt, an edit of a file, a command, an answer.
fn turn(session: &str, at: u64, prompt: &str, path: &str, answer: &str) -> Vec<Value> {
    let event = |offset: u64, fields: Value| {
        let mut event = json!({ "session_id": session, "at": at + offset * 1_000 });
        for (name, value) in fields.as_object().unwrap() {
            event[name] = value.clone();
        }
        event
    };
    vec![
        event(0, json!({ "text": prompt })),
        event(
            1,
            json!({
                "kind": "tool_result", "text": "",
                "tool": { "name": "Edit", "input": { "file_path": path, "old_string": "a", "new_string": answer }, "output": "ok" },
            }),
        ),
        event(
            2,
            json!({
                "kind": "tool_result", "text": "",
                "tool": { "name": "Bash", "input": { "command": "cargo test" }, "output": { "stdout": "ok", "exitCode": 0 } },
            }),
        ),
        event(3, json!({ "kind": "assistant_stop", "text": answer })),
        event(4, json!({ "kind": "session_end", "text": "" })),
    ]
}

fn fill(fixture: &EngineFixture) {
    for day in 0..3 {
        let at = MORNING_MS - (10 - day) * DAY_MS;
        fixture.ingest(turn(
            &format!("lexer{day}"),
            at,
            "Make the lexer accept unicode identifiers in src/lexer.rs",
            "/app/src/lexer.rs",
            "We decided to use a table in lexer.rs instead of a match because it is faster.",
        ));
        fixture.ingest(turn(
            &format!("billing{day}"),
            at + 60 * MINUTE_MS,
            "Round the invoices of the billing service to cents",
            "/app/billing/invoice.rs",
            "Invoices are rounded to cents now in invoice.rs, half to even.",
        ));
    }
}

#[test]
fn topics_follow_the_events() {
    let fixture = EngineFixture::new();
    let map = fixture.engine.topics().load(ROOT).unwrap();
    assert_eq!(map.status().segments, 0);
    fill(&fixture);
    let map = fixture.engine.topics().load(ROOT).unwrap();
    assert_eq!(map.status().segments, 6);
    let files: Vec<String> =
        map.top(TopicKind::File, 5).into_iter().map(|topic| topic.label).collect();
    assert_eq!(files, ["billing/invoice.rs", "src/lexer.rs"]);
    let groups = map.top(TopicKind::Group, 5);
    assert_eq!(groups.len(), 2, "{groups:#?}");
    let FileLookup::Found(page) = map.file_page("src/lexer.rs") else { panic!("no page") };
    assert_eq!((page.entries.len(), page.topic.activity.days), (3, 3));
    assert!(page.decisions[0].text.contains("table in lexer.rs"), "{page:#?}");
    assert!(page.entries[0].why.contains("lexer"), "{page:#?}");
    // The citation opens the event that it names.
    let call = json!({ "citation": format!("#{}", page.decisions[0].number) }).to_string();
    let caller = Caller { cwd: Some(ROOT.to_owned()), ..Caller::default() };
    let shown = fixture.engine.tools().unwrap().call("memory_show", &call, &caller).unwrap();
    assert!(shown.text.contains("We decided to use a table"), "{}", shown.text);
}

#[test]
fn a_rebuild_gives_the_same_topics_under_the_same_ids() {
    let fixture = EngineFixture::new();
    fill(&fixture);
    let before = fixture.engine.topics().load(ROOT).unwrap();
    let path = fixture.engine.stores().find_store_path(ROOT).unwrap();
    let store = fixture.engine.stores().open(&path).unwrap();
    fixture.engine.rebuild(&store).unwrap();
    let after = fixture.engine.topics().load(ROOT).unwrap();
    assert_eq!(before.group_ids(), after.group_ids());
    for kind in TopicKind::ALL {
        assert_eq!(before.top(kind, 50), after.top(kind, 50));
    }
    // Deleted, torn or foreign files are made again.
    let file = fixture.project().join("finder/topics/segments.jsonl");
    let whole = std::fs::read_to_string(&file).unwrap();
    let torn = whole.get(..whole.len() - 9).unwrap().to_owned();
    for damaged in [None, Some(torn), Some("nonsense\n".to_owned()), Some(String::new())] {
        match damaged {
            None => std::fs::remove_file(&file).unwrap(),
            Some(text) => tome_home::write_atomic(&file, text.as_bytes()).unwrap(),
        }
        let again = fixture.engine.topics().load(ROOT).unwrap();
        assert_eq!(before.group_ids(), again.group_ids());
        assert_eq!(again.status(), before.status());
    }
}

/// Events in any order, with queries between them or not, give the same topics.
#[test]
fn a_rebuild_gives_the_same_topics_as_updates() {
    let (one, other) = (EngineFixture::new(), EngineFixture::new());
    fill(&one);
    let mut days: Vec<u64> = (0..3).collect();
    days.reverse();
    for day in days {
        let at = MORNING_MS - (10 - day) * DAY_MS;
        other.ingest(turn(
            &format!("billing{day}"),
            at + 60 * MINUTE_MS,
            "Round the invoices of the billing service to cents",
            "/app/billing/invoice.rs",
            "Invoices are rounded to cents now in invoice.rs, half to even.",
        ));
        other.catch_up();
        other.engine.topics().load(ROOT).unwrap();
        other.ingest(turn(
            &format!("lexer{day}"),
            at,
            "Make the lexer accept unicode identifiers in src/lexer.rs",
            "/app/src/lexer.rs",
            "We decided to use a table in lexer.rs instead of a match because it is faster.",
        ));
    }
    let (one, other) =
        (one.engine.topics().load(ROOT).unwrap(), other.engine.topics().load(ROOT).unwrap());
    let groups = |map: &tome_topics::TopicMap| {
        let mut groups: Vec<_> = map.group_ids().groups.clone().into_values().collect();
        groups.sort();
        groups
    };
    assert_eq!(groups(&one), groups(&other));
    let labels = |map: &tome_topics::TopicMap| -> Vec<String> {
        map.top(TopicKind::Group, 9).into_iter().map(|topic| topic.label).collect()
    };
    assert_eq!(labels(&one), labels(&other));
}

/// An open segment is in the topics at once, and the projection is not behind because of it.
#[test]
fn an_open_segment_counts() {
    let fixture = EngineFixture::new();
    fill(&fixture);
    fixture.engine.topics().load(ROOT).unwrap();
    let now = crate::engine_fixture::NOW.0 - MINUTE_MS;
    let mut events = turn(
        "today",
        now,
        "Make the lexer accept emoji in src/lexer.rs",
        "/app/src/lexer.rs",
        "The lexer accepts emoji now, see lexer.rs.",
    );
    events.pop();
    fixture.ingest(events);
    fixture.catch_up();
    let path = fixture.engine.stores().find_store_path(ROOT).unwrap();
    let store = fixture.engine.stores().open(&path).unwrap();
    assert!(!Projection::is_behind(&**fixture.engine.topics(), &store).unwrap());
    let map = fixture.engine.topics().load(ROOT).unwrap();
    assert_eq!(map.status().segments, 7);
    let FileLookup::Found(page) = map.file_page("lexer.rs") else { panic!("no page") };
    assert_eq!(page.entries.len(), 4);
    let report = Projection::report(&**fixture.engine.topics(), &store).unwrap();
    assert_eq!((report[0].behind, report[0].entries), (0, Some(7)));
}

#[test]
fn renames_are_followed_and_outside_paths_are_ignored() {
    let fixture = EngineFixture::new();
    fill(&fixture);
    let at = MORNING_MS - DAY_MS;
    let mut events =
        turn("move", at, "Move the lexer to its own folder", "/etc/passwd", "Moved it.");
    events.insert(
        1,
        json!({
            "session_id": "move", "at": at + 500, "kind": "tool_result", "text": "",
            "tool": { "name": "Bash", "input": { "command": "git mv src/lexer.rs lexer/mod.rs" }, "output": { "stdout": "", "exitCode": 0 } },
        }),
    );
    events.extend(turn(
        "later",
        at + 60 * MINUTE_MS,
        "Document the lexer in lexer/mod.rs",
        "/app/lexer/mod.rs",
        "The lexer is documented in lexer/mod.rs.",
    ));
    fixture.ingest(events);
    let map = fixture.engine.topics().load(ROOT).unwrap();
    let files: Vec<String> =
        map.top(TopicKind::File, 9).into_iter().map(|topic| topic.label).collect();
    assert_eq!(files, ["lexer/mod.rs", "billing/invoice.rs"]);
    let FileLookup::Found(page) = map.file_page("src/lexer.rs") else { panic!("no page") };
    assert_eq!(page.former_names, ["src/lexer.rs"]);
    assert!(page.entries.len() >= 4, "{page:#?}");
}

/// A session that runs one command.
fn command(session: &str, at: u64, prompt: &str, command: &str) -> Vec<Value> {
    let mut events = turn(session, at, prompt, "/app/notes/plan.md", "Done, as asked.");
    events[2]["tool"]["input"]["command"] = json!(command);
    events
}

#[test]
fn packages_and_renames_of_commands_in_other_folders_are_found() {
    let fixture = EngineFixture::new();
    let at = MORNING_MS - 5 * DAY_MS;
    fixture.ingest(turn(
        "w1",
        at,
        "Draw the chart in web/app.ts",
        "/app/web/app.ts",
        "It is drawn.",
    ));
    let later = |hours: u64| at + hours * 60 * MINUTE_MS;
    fixture.ingest(command("w2", later(2), "Rename the page", "cd web && git mv app.ts main.ts"));
    fixture.ingest(command(
        "w3",
        later(4),
        "Use a client",
        "cd web && npm install --save-dev vitest",
    ));
    fixture.ingest(command("w4", later(6), "Rename again", "git -C web mv main.ts page.ts"));
    let map = fixture.engine.topics().load(ROOT).unwrap();
    assert_eq!(map.top(TopicKind::Package, 5)[0].id, "package:vitest");
    let FileLookup::Found(page) = map.file_page("web/app.ts") else { panic!("no page") };
    assert_eq!(page.topic.label, "web/page.ts");
    let details: Vec<&str> = page.entries.iter().map(|entry| entry.detail.as_str()).collect();
    assert_eq!(details, ["renamed from web/main.ts", "renamed from web/app.ts", "1 edit"]);
}

/// A long line of a tool keeps its outcome and its citation.
#[test]
fn long_lines_keep_their_citations() {
    let fixture = EngineFixture::new();
    let long = "because the invoices of the largest customers are rounded to cents ".repeat(6);
    let prompt = format!("Round the invoices in billing/invoice.rs, {long}");
    let path = "/app/billing/invoice.rs";
    let answer = format!("We decided to round half to even in invoice.rs, {long}.");
    fixture.ingest(turn("b1", MORNING_MS - DAY_MS, &prompt, path, &answer));
    let caller = Caller { cwd: Some(ROOT.to_owned()), ..Caller::default() };
    let tools = fixture.engine.tools().unwrap();
    let call = json!({ "path": "billing/invoice.rs" }).to_string();
    let page = tools.call("file_history", &call, &caller).unwrap();
    let lines: Vec<&str> = page.text.lines().filter(|line| line.starts_with("- 20")).collect();
    assert!(!lines.is_empty(), "{}", page.text);
    for line in page.text.lines().filter(|line| line.starts_with("- ") && line.len() > 100) {
        assert!(line.ends_with(']') && line.contains("[#"), "{line}");
        assert!(line.len() <= 250, "{line}");
    }
    assert!(lines[0].contains("(1 edit) [#"), "{lines:?}");
    assert_eq!(page.json["entries_total"], 1);
    let listed = tools.call("topics", "{}", &caller).unwrap();
    assert!(listed.text.contains("1 of 1 segments of work are in no topic"), "{}", listed.text);
    assert_eq!(listed.json["segments_in_no_topic"], 1);
    let folder = json!({ "path": "billing" }).to_string();
    let folder = tools.call("file_history", &folder, &caller).unwrap();
    assert!(folder.failure.is_some() && folder.text.contains("is a folder"), "{}", folder.text);
    assert!(folder.text.contains("folder:billing/"), "{}", folder.text);
}

#[test]
fn the_tools_answer_and_refuse() {
    let fixture = EngineFixture::new();
    fill(&fixture);
    let caller = Caller { cwd: Some(ROOT.to_owned()), ..Caller::default() };
    let call = |name: &str, arguments: Value| {
        let tools = fixture.engine.tools().unwrap();
        tools.call(name, &arguments.to_string(), &caller).unwrap()
    };
    let listed = call("topics", json!({}));
    assert!(listed.text.contains("file:src/lexer.rs"), "{}", listed.text);
    let id = listed.json["topics"][0]["id"].as_str().unwrap().to_owned();
    assert!(call("topics", json!({ "id": id })).text.contains("Sessions"));
    let found = call("topics", json!({ "query": "billing invoices" }));
    assert!(found.text.contains("invoice"), "{}", found.text);
    assert!(call("topics", json!({ "query": "zebra" })).text.contains("No topic matches"));
    let history = call("file_history", json!({ "path": "src/lexer.rs" }));
    assert!(history.text.contains("Decisions") && history.text.contains("[#"), "{}", history.text);
    // An id of a known kind never opens another topic.
    for id in [
        "t-zzzzzz",
        "error:deadbeef",
        "issue:#9",
        "package:lexer",
        "branch:lexer",
        "file:lexer.txt",
    ] {
        let unknown = call("topics", json!({ "id": id }));
        assert_eq!(unknown.failure, Some(tome_engine::ToolFailure::NotFound), "{}", unknown.text);
        assert!(unknown.text.contains(&format!("no topic {id}")), "{}", unknown.text);
    }
    let unknown = call("file_history", json!({ "path": "src/lexers.rs" }));
    assert!(unknown.failure.is_some() && !unknown.text.contains("panicked"), "{}", unknown.text);
    for path in ["../../etc/passwd", "", "a\u{0}b", "日本語.rs"] {
        assert!(call("file_history", json!({ "path": path })).failure.is_some(), "{path:?}");
    }
}

/// A request after a change adds the new segment to its group; the projection clusters later.
#[test]
fn a_request_does_not_repeat_the_clustering() {
    let fixture = EngineFixture::new();
    fill(&fixture);
    fixture.engine.topics().load(ROOT).unwrap();
    let names = || std::fs::read_to_string(fixture.project().join("topics.json")).unwrap();
    let before = names();
    let at = MORNING_MS - DAY_MS;
    fixture.ingest(turn(
        "lexer9",
        at,
        "Make the lexer accept unicode identifiers in src/lexer.rs",
        "/app/src/lexer.rs",
        "The lexer accepts more identifiers in lexer.rs now.",
    ));
    let map = fixture.engine.topics().load(ROOT).unwrap();
    let sizes = |map: &tome_topics::TopicMap| {
        let mut sizes: Vec<usize> =
            map.group_ids().groups.values().map(std::collections::BTreeSet::len).collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(sizes(&map), [3, 4]);
    assert_eq!(names(), before, "nothing was clustered");
    fixture.catch_up();
    assert_ne!(names(), before, "the projection clusters");
    assert_eq!(sizes(&fixture.engine.topics().load(ROOT).unwrap()), [3, 4]);
    // Another process begins with the groups of the last clustering.
    let fixture = fixture.reopen(|_| {});
    assert_eq!(sizes(&fixture.engine.topics().load(ROOT).unwrap()), [3, 4]);
}

#[test]
fn a_session_without_work_has_no_topics() {
    let fixture = EngineFixture::new();
    fixture.ingest([json!({ "text": "hello there" })]);
    let map = fixture.engine.topics().load(ROOT).unwrap();
    assert_eq!((map.status().groups, map.top(TopicKind::File, 5).len()), (0, 0));
    assert!(fixture.engine.topics().load_if_quick(ROOT).unwrap().is_some());
    assert!(fixture.engine.topics().load_if_quick("/nowhere").unwrap().is_none());
}

#[test]
fn what_an_import_brings_is_not_read_while_a_question_waits() {
    let fixture = EngineFixture::new();
    fixture.ingest((0..600).map(|n| {
        json!({ "id": format!("e{n}"), "text": format!("Always name the caller of function {n}.") })
    }));
    let topics = || fixture.engine.topics().load_if_quick(ROOT).unwrap();
    let instructions = || fixture.engine.contents().instructions_at_hand(ROOT).unwrap().len();
    assert!(topics().is_none());
    assert_eq!(instructions(), 0);
    fixture.catch_up();
    assert!(topics().is_some());
    assert_eq!(instructions(), 500, "the latest are kept");
    fixture.ingest([json!({ "id": "last", "text": "Never use tabs." })]);
    assert!(topics().is_some());
    let latest = fixture.engine.contents().instructions_at_hand(ROOT).unwrap();
    assert!(latest.iter().any(|one| one.instruction.text == "Never use tabs."));
}

#[test]
fn recall_names_the_topic_of_its_hits_and_searches_topics() {
    let fixture = EngineFixture::new();
    fill(&fixture);
    fixture.catch_up();
    let call_for = |is_for_person: bool, arguments: Value| {
        let tools = fixture.engine.tools().unwrap();
        let command = is_for_person.then(|| "tome recall".to_owned());
        let caller = Caller { cwd: Some(ROOT.to_owned()), command, ..Caller::default() };
        tools.call("recall_memory", &arguments.to_string(), &caller).unwrap()
    };
    let query = json!({ "query": "unicode identifiers in the lexer", "tokens": 2_000 });
    let found = call_for(true, query.clone());
    assert!(found.text.contains("(also in topic ") && found.text.contains("tome topics show t-"));
    // It names a command, which an agent may not be able to run.
    assert!(!call_for(false, query).text.contains("also in topic"));
    let call = |arguments: Value| call_for(false, arguments);
    let found = call(json!({ "query": "billing invoices", "scope": "topics" }));
    assert!(found.text.contains("invoice") && !found.text.contains("lexer"), "{}", found.text);
    assert!(call(json!({ "scope": "topics", "query": "" })).text.contains("file:src/lexer.rs"));
}

#[test]
fn a_session_start_names_recent_topics() {
    let fixture = EngineFixture::new();
    for (index, session) in ["a", "b"].into_iter().enumerate() {
        let at = MORNING_MS - (2 - index as u64) * DAY_MS;
        for (name, path, offset) in
            [("lexer", "/app/src/lexer.rs", 0), ("billing", "/app/billing/invoice.rs", 90)]
        {
            fixture.ingest(turn(
                &format!("{name}{session}"),
                at + offset * MINUTE_MS,
                &format!("Rework the {name} in {path}"),
                path,
                &format!("Reworked the {name}."),
            ));
        }
    }
    let parts = std::sync::Mutex::new(tome_engine::StartParts::unread());
    let starting = tome_engine::StartRequest {
        project: ROOT.to_owned(),
        session: None,
        kind: tome_engine::StartKind::Fresh,
    };
    fixture.engine.injector().unwrap().gather_start(&starting, &parts);
    let parts = parts.into_inner().unwrap();
    assert_eq!(parts.recent.len(), 2, "{:?}", parts.recent);
    let room = tome_engine::TokenBudget { tokens: 2_000, bytes: 9_500 };
    let text = tome_engine::render_start(&parts, room).unwrap().text;
    assert!(text.contains("\nRecently: "), "{text}");
}

/// A path as people write it opens the file; one that leads outside opens nothing of the project.
#[test]
fn a_path_is_one_of_the_project() {
    let fixture = EngineFixture::new();
    fill(&fixture);
    let call = |path: &str| fixture.call_tool("file_history", &json!({ "path": path }));
    for path in [
        "src/lexer.rs:12",
        "src/lexer.rs:12:3",
        "@src/lexer.rs",
        "file:src/lexer.rs",
        "/app/src/lexer.rs",
    ] {
        let answer = call(path);
        assert!(answer.failure.is_none(), "{path}: {}", answer.text);
    }
    for path in ["/", "..", "../..", "...", "/lexer.rs", "/src/lexer.rs", "~/src/lexer.rs", " "] {
        let answer = call(path);
        assert!(answer.failure.is_some(), "{path}: {}", answer.text);
        assert!(!answer.text.contains("invoice.rs"), "{path}: {}", answer.text);
    }
    for root in [".", "/app", "./"] {
        assert!(call(root).text.contains("is a folder with 2 changed files"), "{root}");
    }
}
