//! Recall as an agent sees it: pages of turns, timelines and opened citations.

use serde_json::{Value, json};
use tome_engine::{Caller, ToolAnswer};

use crate::engine_fixture::{EngineFixture, MINUTE_MS, MORNING_MS, ROOT};

const DAY_MS: u64 = 24 * 60 * MINUTE_MS;
const OTHER_ROOT: &str = "/other";

#[expect(clippy::needless_pass_by_value, reason = "json!(…) reads better without a &")]
fn call(fixture: &EngineFixture, tool: &str, arguments: Value) -> ToolAnswer {
    let caller =
        Caller { cwd: Some(ROOT.to_owned()), agent: Some("codex".into()), ..Caller::default() };
    let tools = fixture.engine.tools().unwrap();
    let mut answer = tools.call(tool, &arguments.to_string(), &caller).unwrap();
    assert_eq!(answer.failure, None, "{tool} {arguments}: {}", answer.text);
    answer.text = tome_engine::strip_fence(&answer.text).to_owned();
    answer
}

fn text(fixture: &EngineFixture, tool: &str, arguments: Value) -> String {
    call(fixture, tool, arguments).text
}

/// Records a turn: a prompt, what the agent says on the way, and its answer.
fn record_turn(fixture: &EngineFixture, root: &str, number: u64, texts: [&str; 3]) {
    let kinds = ["user_message", "assistant_message", "assistant_stop"];
    fixture.ingest((0..).zip(kinds).zip(texts).map(|((step, kind), text)| {
        json!({
            "id": format!("{root}-{number}-{step}"), "cwd": root, "kind": kind, "text": text,
            "session_id": format!("{root}-s{}", number / 4).replace('/', ""),
            "at": MORNING_MS - 20 * DAY_MS + number * DAY_MS + step * MINUTE_MS,
            "meta": if step == 0 { json!({"branch": "gateway"}) } else { json!({}) },
        })
    }));
}

/// Twelve turns about the same subject, each on a day of its own.
fn gateway_turns(fixture: &EngineFixture, root: &str) {
    const TENANTS: [&str; 12] = [
        "Acme", "Borealis", "Cinder", "Dunes", "Ember", "Fjord", "Grove", "Harbor", "Isle",
        "Juniper", "Kestrel", "Lagoon",
    ];
    for (number, tenant) in (0..).zip(TENANTS) {
        record_turn(
            fixture,
            root,
            number,
            [
                &format!("Why does the gateway limit drop requests of tenant {tenant}?"),
                &format!("The gateway limit of tenant {tenant} is read from its plan."),
                &format!("The gateway limit of tenant {tenant} is {} per minute.", 100 + number),
            ],
        );
    }
    fixture.engine.catch_up_project(root).unwrap();
}

fn prompts_of(page: &Value) -> Vec<u64> {
    page["hits"].as_array().unwrap().iter().filter_map(|hit| hit["turn"].as_u64()).collect()
}

#[test]
fn limits_pages_and_counts_are_of_turns() {
    let fixture = EngineFixture::new();
    gateway_turns(&fixture, ROOT);
    let mut seen = Vec::new();
    let mut cursor = json!(0);
    let mut more_before = None;
    while !cursor.is_null() {
        let page = call(
            &fixture,
            "recall_memory",
            json!({
                "query": "gateway limit of a tenant", "scope": "messages", "limit": 4,
                "tokens": 2_000, "cursor": cursor,
            }),
        );
        let turns = prompts_of(&page.json);
        assert!((1..=4).contains(&turns.len()), "{}", page.text);
        let more = page.json["more"].as_u64().unwrap();
        if let Some(before) = more_before {
            assert_eq!(more + turns.len() as u64, before, "{}", page.text);
        }
        let head = format!("Found {} result(s)", turns.len());
        assert!(page.text.starts_with(&head), "{}", page.text);
        for hit in page.json["hits"].as_array().unwrap() {
            let passages = hit["passages"].as_array().unwrap().len();
            assert!(passages > 0, "the messages of a turn stand together: {hit}");
            assert_eq!(hit["branch"], "gateway");
            let label = hit["confidence"].as_str().unwrap();
            assert!(["strong", "likely", "weak"].contains(&label), "{hit}");
        }
        assert!(page.text.contains(", branch gateway)\n"), "{}", page.text);
        seen.extend(turns);
        more_before = Some(more);
        cursor = page.json["cursor"].clone();
    }
    let mut distinct = seen.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!((seen.len(), distinct.len()), (12, 12), "{seen:?}");
    assert_eq!(more_before, Some(0));
}

#[test]
fn a_passage_that_a_turn_repeats_is_shown_once() {
    let fixture = EngineFixture::new();
    let said = "The retry budget of the uploader is seven attempts per hour.";
    record_turn(&fixture, ROOT, 1, ["Look at the uploader.", said, "It is described now."]);
    fixture.ingest([json!({
        "id": "again", "cwd": ROOT, "kind": "assistant_message", "text": said, "session_id": format!("{ROOT}-s0").replace('/', ""),
        "at": MORNING_MS - 19 * DAY_MS + 90_000,
    })]);
    fixture.engine.catch_up_project(ROOT).unwrap();
    let arguments = json!({ "query": "retry budget of the uploader", "tokens": 2_000 });
    let answer = call(&fixture, "recall_memory", arguments);
    assert_eq!(answer.text.matches("seven attempts per hour").count(), 1, "{}", answer.text);
}

#[test]
fn four_hundred_tokens_hold_five_turns() {
    let fixture = EngineFixture::new();
    gateway_turns(&fixture, ROOT);
    let page = call(&fixture, "recall_memory", json!({"query": "gateway limit of a tenant"}));
    assert!(page.json["tokens"].as_u64().unwrap() <= 400, "{}", page.text);
    assert!(page.text.starts_with("Found 5 result(s)"), "{}", page.text);
    let answers = page.text.matches(" per minute.").count();
    assert!(answers >= 4, "{}", page.text);
}

#[test]
fn citations_in_other_projects_are_complete() {
    let fixture = EngineFixture::new();
    record_turn(
        &fixture,
        OTHER_ROOT,
        1,
        ["Which port does the relay use?", "Let me look at the config.", "The relay uses 7070."],
    );
    fixture.engine.catch_up_project(OTHER_ROOT).unwrap();
    let found = call(
        &fixture,
        "recall_memory",
        json!({"query": "Which port does the relay use?", "across": "all", "scope": "messages"}),
    );
    let hit = &found.json["hits"][0];
    for id in [&hit["id"], &hit["answer"]["id"]] {
        let Some(id) = id.as_str() else { continue };
        assert!(id.starts_with("projects/--other--/#"), "{}", found.text);
        assert!(found.text.contains(id), "{id} in {}", found.text);
        let opened = text(&fixture, "memory_show", json!({"citation": id}));
        assert!(opened.contains("The relay uses 7070."), "{opened}");
    }
    assert!(!found.text.contains(" #"), "{}", found.text);
}

#[test]
fn a_timeline_shows_what_was_said_and_leaves_nothing_out_silently() {
    let fixture = EngineFixture::new();
    for root in [ROOT, OTHER_ROOT] {
        gateway_turns(&fixture, root);
    }
    let page = |cursor: u64, across: &str| {
        call(
            &fixture,
            "recall_memory",
            json!({
                "query": "gateway limit of a tenant", "sort": "time", "tokens": 300,
                "cursor": cursor, "across": across,
            }),
        )
    };
    for (across, turns) in [("project", 12), ("all", 24)] {
        let mut lines: Vec<String> = Vec::new();
        let mut cursor = Some(0);
        while let Some(from) = cursor {
            let page = page(from, across);
            assert!(!page.text.contains("toc:"), "{}", page.text);
            assert!(page.text.contains(" → The gateway limit of tenant "), "{}", page.text);
            let is_turn = |line: &&str| line.starts_with("  ");
            let shown: Vec<String> = page.text.lines().filter(is_turn).map(str::to_owned).collect();
            assert_eq!(page.json["hits"].as_array().unwrap().len(), shown.len(), "{}", page.text);
            lines.extend(shown);
            let more = page.json["more"].as_u64().unwrap();
            assert_eq!(lines.len() as u64 + more, turns, "{}", page.text);
            assert_eq!(page.text.contains("more; cursor"), more > 0, "{}", page.text);
            cursor = page.json["cursor"].as_u64();
        }
        let ids: std::collections::BTreeSet<&str> =
            lines.iter().filter_map(|line| line.split_whitespace().next()).collect();
        assert_eq!((lines.len() as u64, ids.len() as u64), (turns, turns), "{lines:#?}");
    }
}

#[test]
fn a_long_message_opens_with_both_ends_and_the_match() {
    let fixture = EngineFixture::new();
    let code = |from: usize| {
        (from..from + 150).map(|n| format!("let part_{n} = fetch_page(cursor_{n});\n"))
    };
    let reply: String = std::iter::once("Here is the worker.\n".to_owned())
        .chain(code(0))
        .chain(["The lease of the mirror lock lasts 45 seconds.\n".to_owned()])
        .chain(code(150))
        .chain(["The nightly vacuum begins at 3 am.".to_owned()])
        .collect();
    record_turn(&fixture, ROOT, 1, ["Write the sync worker", "I look at the queue first.", &reply]);
    let show = |more: Value| {
        let mut arguments = json!({"citation": "#3"});
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        text(&fixture, "memory_show", arguments)
    };
    let plain = show(json!({}));
    assert!(plain.contains("> #3 ") && plain.contains("Here is the worker."), "{plain}");
    assert!(plain.contains("begins at 3 am.") && plain.contains("bytes left out"), "{plain}");
    assert!(plain.contains("#1 ") && plain.len() < 10_000, "{plain}");
    let about = show(json!({"query": "how long is the lease of the mirror lock"}));
    for part in ["Here is the worker.", "lasts 45 seconds.", "begins at 3 am."] {
        assert!(about.contains(part), "{part} in {about}");
    }
    let whole = show(json!({"whole": true}));
    assert!(whole.contains(&reply) && !whole.contains("left out"), "{whole}");
    let around = show(json!({"around": 1}));
    assert!(around.contains("#2 ") && !around.contains("#1 "), "{around}");
}

#[test]
fn the_cited_event_of_a_long_turn_is_always_shown() {
    let fixture = EngineFixture::new();
    let long = "the pipeline writes its report into the shared folder ".repeat(12);
    fixture.ingest((1..=120).map(|n| {
        let kind = if n == 1 { "user_message" } else { "assistant_message" };
        let text = if n == 100 { format!("{long}The report is in Latin-1.") } else { long.clone() };
        json!({"id": format!("e{n}"), "kind": kind, "text": text, "at": MORNING_MS + n * 1_000})
    }));
    let opened = text(&fixture, "memory_show", json!({"citation": "#100"}));
    assert!(opened.contains("> #100 ") && opened.contains("is in Latin-1."), "{opened}");
    assert!(opened.contains("lines before left out"), "{opened}");
    assert!(opened.len() <= 16_000, "{} bytes", opened.len());
}

#[test]
fn events_are_listed_by_their_numbers() {
    let fixture = EngineFixture::new();
    record_turn(&fixture, ROOT, 1, ["Rename the flag", "On it.", "The flag is --quiet now."]);
    let listed = call(&fixture, "get_events", json!({"session_id": "app-s0"}));
    assert!(listed.text.contains("\n#3 ") && !listed.text.contains("/app-1-2"), "{}", listed.text);
    assert_eq!(listed.json["events"][2]["number"], 3);
}

#[test]
fn instructions_are_listed_across_projects() {
    let fixture = EngineFixture::new();
    let say = |root: &str, n: u64, prompt: &str| {
        record_turn(&fixture, root, n, [prompt, "Understood.", "I will."]);
    };
    say(ROOT, 1, "Rename the flag. Also, please don't push to main without asking.");
    say(ROOT, 2, "Don't add emojis to commit messages.");
    say(ROOT, 3, "Don't touch the lock file yet.");
    say(OTHER_ROOT, 1, "Always sign the images of the registry.");
    let list = |arguments: Value| text(&fixture, "recall_memory", arguments);
    let here = list(json!({"scope": "instructions", "across": "project"}));
    assert!(here.contains("please don't push to main without asking"), "{here}");
    assert!(here.contains("Don't add emojis") && !here.contains("lock file"), "{here}");
    assert!(!here.contains("sign the images"), "{here}");
    let short = list(json!({"scope": "instructions", "across": "project", "tokens": 30}));
    assert_eq!(short.matches("standing instruction").count(), 1, "{short}");
    assert!(short.contains("(1 more; call again with a higher limit or more tokens)"), "{short}");
    let all = list(json!({"scope": "instructions", "across": "all"}));
    assert!(all.contains("instruction projects/--other--/#1 ("), "{all}");
    assert!(all.contains("emojis"), "{all}");
}

#[test]
fn guides_of_tome_and_unrelated_projects_are_no_answers() {
    let fixture = EngineFixture::new();
    let lesson = "# Login\n\n## Retry flaky logins\n\nThe login test is flaky without a clock.\n";
    fixture.write_note(tome_model::Scope::Coder, "semantic/login.md", lesson);
    fixture.catch_up();
    let found = call(
        &fixture,
        "recall_memory",
        json!({"query": "guide phase write store lessons", "across": "all", "tokens": 4_000}),
    );
    assert!(!found.text.contains("-guide.md"), "{}", found.text);
    record_turn(
        &fixture,
        OTHER_ROOT,
        1,
        ["Draw a chart of the slow months", "Sure.", "The chart is in charts/months.svg."],
    );
    record_turn(&fixture, ROOT, 1, ["Rename the flag", "On it.", "It is --quiet now."]);
    for root in [ROOT, OTHER_ROOT] {
        fixture.engine.catch_up_project(root).unwrap();
    }
    let none = call(&fixture, "recall_memory", json!({"query": "compaction stall slow disk"}));
    assert!(!none.text.contains("other projects have hits"), "{}", none.text);
    let there = call(&fixture, "recall_memory", json!({"query": "chart of the slow months"}));
    assert!(there.text.contains("/other has "), "{}", there.text);
}
