//! Recall over a whole engine: answers depend on what is stored, not on what is indexed already.

use serde_json::json;
use tome_model::Scope;
use tome_recall::{Across, QueryOrigin, QuerySyntax, RecallLimits, RecallQuery, RecallScope, Tier};

use crate::engine_fixture::{EngineFixture, MINUTE_MS, NOW, ROOT};

const DAY_MS: u64 = 24 * 60 * MINUTE_MS;

fn store_event(
    fixture: &EngineFixture,
    session: &str,
    number: u64,
    at: u64,
    kind: &str,
    text: &str,
) {
    let id = format!("{session}-{number}");
    fixture
        .ingest([json!({"id": id, "session_id": session, "kind": kind, "at": at, "text": text})]);
}

#[test]
fn answers_are_identical_after_a_rebuild() {
    let fixture = EngineFixture::new();
    let topics = ["refresh tokens", "the lexer cache", "retry limits", "the release notes"];
    for (day, topic) in (1..).zip(topics) {
        for turn in 0..6_u64 {
            let at = NOW.0 - day * DAY_MS + turn * MINUTE_MS;
            let session = format!("session-{day}");
            let (number, answer) = (turn * 2, turn * 2 + 1);
            let prompt = format!("how do we rotate {topic} in step {turn} of the deployment?");
            store_event(&fixture, &session, number, at, "user_message", &prompt);
            let reply =
                format!("step {turn}: {topic} are rotated by the deployment of stage {turn}");
            store_event(&fixture, &session, answer, at + 1_000, "assistant_message", &reply);
        }
        // In steps, as a daemon would: a rebuild then has to arrive at the same by one long step.
        fixture.engine.catch_up_project(ROOT).unwrap();
    }
    let facts = "# Facts\n\n<!-- META: - keywords: [\"rotation\"] -->\n\nTokens are rotated weekly.\n\n## Deployment\n\nThe deployment has six steps.\n";
    fixture.write_note(Scope::Project, "facts/project.md", facts);
    fixture.write_note(
        Scope::Coder,
        "semantic/deployment.md",
        "# Deployment\n\nRotate tokens before a deployment.\n",
    );
    let explicit = fixture.query("rotate refresh tokens during the deployment");
    // A query notices which notes are not indexed yet.
    fixture.search(&explicit);
    fixture.engine.catch_up_project(ROOT).unwrap();
    fixture.engine.recall().catch_up_note_indexes(&|| false).unwrap();

    let mut queries = vec![explicit.clone(), fixture.query("last week"), fixture.query("rotation")];
    for scope in [RecallScope::Messages, RecallScope::Contents, RecallScope::Notes] {
        let mut query = explicit.clone();
        query.filter.scope = scope;
        queries.push(query);
    }
    for tier in [Tier::Literal, Tier::Bm25, Tier::Vectors] {
        queries.push(RecallQuery { tier: Some(tier), ..explicit.clone() });
    }
    let mut in_session = explicit.clone();
    in_session.filter.across = Across::Session;
    in_session.filter.session = Some("session-1".to_owned());
    queries.push(in_session);
    let mut few = explicit.clone();
    few.limits = RecallLimits { hits: 2, tokens: Some(200), skip: 0 };
    queries.push(few);
    let agent = QueryOrigin::Agent { prompts: Vec::new() };
    queries.push(RecallQuery { origin: agent, ..explicit.clone() });
    let prompt = "how do we rotate refresh tokens in the deployment of stage 3".to_owned();
    let origin = QueryOrigin::Proactive { prompt: prompt.clone() };
    queries.push(RecallQuery { text: prompt, origin, ..explicit.clone() });
    let syntax = QuerySyntax::Regex;
    queries.push(RecallQuery { text: "stage [24]".to_owned(), syntax, ..explicit });

    let answers = || queries.iter().map(|query| fixture.search(query)).collect::<Vec<_>>();
    let before = answers();
    for (query, answer) in queries.iter().zip(&before) {
        assert!(!answer.hits.is_empty(), "{query:?}");
        assert!(answer.unread.is_empty(), "{query:?}: {:?}", answer.unread);
    }
    assert!(before.iter().flat_map(|answer| &answer.hits).any(|hit| !hit.also.is_empty()));

    let store = fixture.engine.stores().open_project(ROOT).unwrap();
    fixture.engine.rebuild(&store).unwrap();
    for ((query, before), after) in queries.iter().zip(&before).zip(answers()) {
        assert_eq!(after, *before, "{query:?}");
    }
}

#[test]
fn notes_are_quoted_alike_before_and_after_they_are_indexed() {
    let fixture = EngineFixture::new();
    store_event(&fixture, "session-1", 0, NOW.0, "user_message", "what about the harbour?");
    fixture.engine.catch_up_project(ROOT).unwrap();
    let note = "# Harbour\n\nShips enter at high tide.\n\n<!-- META: - created: 2026-01-15T10:30:00Z - keywords: [\"anchorage\"] -->\n\nThe pilot boards at the lighthouse.\n";
    fixture.write_note(Scope::Project, "facts/harbour.md", note);

    let found = |text: &str| {
        let mut query = fixture.query(text);
        query.filter.scope = RecallScope::Notes;
        let answer = fixture.search(&query);
        let texts = answer.hits.into_iter().map(|hit| (hit.citation, hit.text));
        (answer.behind, texts.collect::<Vec<_>>())
    };
    // The notebook adds the summary below the title.
    let text = "# Harbour\n> Summary: Ships enter at high tide\nShips enter at high tide. The pilot boards at the lighthouse.";
    let expected = |line: u32| vec![(format!("memory/facts/harbour.md#L{line}"), text.to_owned())];
    let check = |behind: u64| {
        assert_eq!(found("the pilot of the lighthouse"), (behind, expected(9)));
        // Keywords find the note, but are not quoted.
        assert_eq!(found("anchorage"), (behind, expected(1)));
        assert_eq!(found("2026-01-15T10:30:00Z created").1, Vec::new());
    };
    check(1);
    fixture.engine.catch_up_project(ROOT).unwrap();
    check(0);
}

#[test]
fn pages_of_an_answer_list_every_hit_once() {
    let fixture = EngineFixture::new();
    for number in 0..23_u64 {
        let session = format!("session-{}", number % 4);
        let text = format!("the deployment of stage {number} rotates the refresh tokens");
        store_event(&fixture, &session, number, NOW.0 - number * MINUTE_MS, "user_message", &text);
    }
    fixture.engine.catch_up_project(ROOT).unwrap();
    let mut query = fixture.query("deployment rotates refresh tokens");
    query.filter.scope = RecallScope::Messages;
    let mut seen: Vec<String> = Vec::new();
    loop {
        query.limits = RecallLimits { hits: 5, tokens: None, skip: seen.len() };
        let page = fixture.search(&query);
        if page.hits.is_empty() {
            break;
        }
        for hit in page.hits {
            assert!(!seen.contains(&hit.id), "{} is listed twice", hit.id);
            seen.push(hit.id);
        }
    }
    assert_eq!(seen.len(), 23, "{seen:?}");
    // An answer cut short by its tokens is continued where it ended.
    query.limits = RecallLimits { hits: 5, tokens: None, skip: 3 };
    let continued: Vec<String> =
        fixture.search(&query).hits.into_iter().map(|hit| hit.id).collect();
    assert_eq!(continued, seen[3..5]);
}

#[test]
fn a_retracted_claim_is_not_a_hint() {
    let prompt = "why does the flaky lexer test fail on the build machine";
    let claim = "The flaky lexer test fails on the build machine because of the shared cache.";
    let hints = |correction: &str| {
        let fixture = EngineFixture::new();
        store_event(&fixture, "old", 1, NOW.0 - DAY_MS, "user_message", "look at the lexer test");
        store_event(&fixture, "old", 2, NOW.0 - DAY_MS + 1, "assistant_message", claim);
        let later = NOW.0 - DAY_MS + 17 * MINUTE_MS;
        store_event(&fixture, "old", 3, later, "assistant_message", correction);
        fixture.engine.catch_up_project(ROOT).unwrap();
        let origin = QueryOrigin::Proactive { prompt: prompt.to_owned() };
        let answer = fixture.search(&RecallQuery { origin, ..fixture.query(prompt) });
        answer
            .hits
            .into_iter()
            .filter(|hit| hit.text.contains("because of the shared cache"))
            .count()
    };
    assert_eq!(hints("I updated the changelog."), 1);
    assert_eq!(hints("The shared cache is not why the flaky lexer test fails."), 0);
}

#[test]
fn a_hit_names_what_speaks_against_it() {
    let fixture = EngineFixture::new();
    let say = |session: &str, number: u64, kind: &str, text: &str| {
        store_event(&fixture, session, number, NOW.0 - DAY_MS + number * MINUTE_MS, kind, text);
    };
    let claim = "Nothing uses the exported lexer constants; they are dead code.";
    say("agent", 0, "user_message", "Why do we export the lexer constants?");
    say("agent", 1, "assistant_message", claim);
    say("agent", 2, "user_message", "Do it.");
    fixture.ingest([json!({
        "id": "agent-3", "session_id": "agent", "kind": "tool_result", "text": "",
        "at": NOW.0 - DAY_MS + 3 * MINUTE_MS,
        "tool": {"name": "Bash", "input": {"command": "cargo test"}, "output": "test result: ok. 9 passed"},
    })]);
    let correction = "The exports are actually needed, because the generated parser imports them.";
    say("agent", 4, "assistant_message", correction);
    fixture.engine.catch_up_project(ROOT).unwrap();

    let answer = fixture.search(&fixture.query("are the exported lexer constants dead code"));
    let hit = answer.hits.iter().find(|hit| hit.text.contains("dead code")).unwrap();
    let [other] = hit.others.as_slice() else { panic!("{hit:?}") };
    assert_eq!((other.relation.as_str(), other.text.as_str()), ("contradicted by", correction));

    // A later question is no objection.
    say("asked", 10, "user_message", "Make the agent field of the form free text");
    say("asked", 11, "assistant_message", "Done, the agent field of the form is free text now.");
    say("asked", 12, "user_message", "How can I test the form while it is still in a branch?");
    say("asked", 13, "assistant_message", "Push the branch and open the form in the preview.");
    fixture.engine.catch_up_project(ROOT).unwrap();
    let asked = fixture.search(&fixture.query("is the agent field of the form free text"));
    let hit = asked.hits.iter().find(|hit| hit.text.starts_with("Done")).unwrap();
    assert_eq!(hit.others, []);

    // Nobody is told of it unasked.
    let prompt = "are the exported lexer constants dead code?".to_owned();
    let origin = QueryOrigin::Proactive { prompt: prompt.clone() };
    let unasked = fixture.search(&RecallQuery { text: prompt, origin, ..fixture.query("x") });
    assert!(unasked.hits.iter().all(|hit| !hit.text.contains("dead code")), "{unasked:?}");
}

#[test]
fn a_repeated_prompt_is_shown_with_its_answer() {
    let fixture = EngineFixture::new();
    let prompt = "The retry loop lacks test coverage; cover the backoff and the limit";
    let answer = "I added four tests of the retry loop: backoff, limit, cancellation and reset.";
    store_event(&fixture, "first", 0, NOW.0 - DAY_MS, "user_message", prompt);
    store_event(&fixture, "first", 1, NOW.0 - DAY_MS + MINUTE_MS, "assistant_message", answer);
    store_event(&fixture, "second", 0, NOW.0 - DAY_MS / 2, "user_message", prompt);
    fixture.engine.catch_up_project(ROOT).unwrap();

    let mut query = fixture.query("test coverage of the retry loop");
    query.filter.scope = RecallScope::Messages;
    let found = fixture.search(&query);
    let prompts: Vec<_> = found.hits.iter().filter(|hit| hit.text.contains("lacks")).collect();
    assert!(prompts.iter().all(|hit| hit.turn.answer.is_some()), "{prompts:?}");
}

#[test]
fn a_time_is_answered_by_the_pages_that_fit_its_length() {
    let fixture = EngineFixture::new();
    for day in 1..4 {
        for turn in 0..3 {
            // Hours apart, so that a day has several segments.
            let at = NOW.0 - day * DAY_MS + turn * 180 * MINUTE_MS;
            let text = format!("rotate the keys of stage {day} in region {turn}");
            store_event(&fixture, &format!("s{day}"), turn, at, "user_message", &text);
        }
    }
    fixture.engine.catch_up_project(ROOT).unwrap();
    let citations = |text: &str| -> Vec<String> {
        let mut query = fixture.query(text);
        query.limits.hits = 20;
        fixture.search(&query).hits.into_iter().map(|hit| hit.citation).collect()
    };
    let days = citations("what did we do yesterday");
    assert!(matches!(days.as_slice(), [day] if day.starts_with("toc:day:")), "{days:?}");
    let days = citations("the last 5 days");
    assert_eq!(days.len(), 3, "{days:?}");
    assert!(days.is_sorted_by(|newer, older| newer > older), "newest first: {days:?}");
    // Of a longer time, the month within it and the days that are left.
    store_event(&fixture, "old", 0, NOW.0 - 40 * DAY_MS, "user_message", "plan the rotation");
    store_event(&fixture, "old", 1, NOW.0 - 51 * DAY_MS, "user_message", "list the keys");
    fixture.engine.catch_up_project(ROOT).unwrap();
    let pages = citations("the last 50 days");
    assert_eq!(pages, ["toc:month:2026-03", "toc:day:2026-02-13"]);
}

#[test]
fn a_day_is_answered_by_its_page_or_by_the_work_of_one_agent() {
    let fixture = EngineFixture::new();
    let day = NOW.0 - 2 * DAY_MS;
    store_event(&fixture, "s1", 0, day, "user_message", "Please keep the changelog short.");
    store_event(
        &fixture,
        "s1",
        1,
        day + MINUTE_MS,
        "assistant_stop",
        "The changelog is short now.",
    );
    let citations = |text: &str, agents: &[&str]| -> Vec<String> {
        let mut query = fixture.query(text);
        query.filter.agents = agents.iter().map(|agent| (*agent).to_owned()).collect();
        fixture.search(&query).hits.into_iter().map(|hit| hit.citation).collect()
    };
    for query in ["2026-03-23", "what did we do on 2026-03-23"] {
        assert_eq!(citations(query, &[]), ["toc:day:2026-03-23"], "{query}");
        let of_agent = citations(query, &["codex"]);
        assert!(of_agent[0].starts_with("toc:segment:"), "{query}: {of_agent:?}");
        assert_eq!(citations(query, &["gemini"]), Vec::<String>::new(), "{query}");
    }
    assert_eq!(citations("what happened on 2019-02-03", &[]), Vec::<String>::new());
    // Any other words in the query are searched for.
    let found = citations("changelog 2026-03-23", &[]);
    assert!(found[0].contains("messages.jsonl#L"), "{found:?}");
}

/// Two sessions that give two values of one thing, as the user or the agent says them.
fn store_two_values(kind: &str) -> EngineFixture {
    let fixture = EngineFixture::new();
    let ask = |session: &str, at: u64, prompt: &str, reply: &str| {
        let asked = "user_message";
        match kind {
            "user_message" => store_event(&fixture, session, 1, at, asked, reply),
            _ => {
                store_event(&fixture, session, 1, at, asked, prompt);
                store_event(&fixture, session, 2, at + 1_000, kind, reply);
            }
        }
    };
    ask("old", NOW.0 - 9 * DAY_MS, "Look at the mirror", "The nightly mirror job starts at 2 am.");
    let change = "I changed it: the nightly mirror job starts at 4 am.";
    ask("new", NOW.0 - 2 * DAY_MS, "And now?", change);
    ask("other", NOW.0 - DAY_MS, "And the rest?", "The release notes are written by hand.");
    fixture
}

#[test]
fn each_of_two_values_names_the_other() {
    for kind in ["user_message", "assistant_stop"] {
        let fixture = store_two_values(kind);
        // However the question is worded, also with every word of the subject.
        for question in ["mirror job", "when does the nightly mirror job start"] {
            let found = fixture.search_indexed(&fixture.query(question));
            let relations = |value: &str| {
                let hit = found.hits.iter().find(|hit| hit.text.contains(value)).unwrap();
                hit.others.iter().map(|other| other.relation.as_str()).collect::<Vec<_>>()
            };
            let both = (relations("4 am"), relations("2 am"));
            assert_eq!(both, (vec!["earlier"], vec!["newer"]), "{kind}, {question}: {found:#?}");
        }
    }
}

#[test]
fn a_hint_does_not_give_a_value_that_was_replaced() {
    let fixture = store_two_values("user_message");
    let prompt = "check when the nightly mirror job starts".to_owned();
    let query = fixture.query(&prompt);
    fixture.search_indexed(&query);
    let found = fixture.search(&RecallQuery { origin: QueryOrigin::Proactive { prompt }, ..query });
    assert!(!found.hits.iter().any(|hit| hit.text.contains("2 am")), "{found:#?}");
}

#[test]
fn the_vectors_tier_is_not_judged_by_keywords() {
    let fixture = EngineFixture::new();
    let text = "The author was empty in the list of releases, which the git hosting shows beside the \
                badge, the screenshots and the table of downloads. A fallback to the name of the account \
                is in place, the colors of the chart are fixed, the footer wraps on narrow screens again, \
                the fonts are served from the same domain, and the search field keeps its focus.";
    store_event(&fixture, "s1", 1, NOW.0 - DAY_MS, "assistant_message", text);
    fixture.ingest(
        (0..5).map(|n| json!({"id": format!("n{n}"), "text": format!("step {n} is done")})),
    );
    let query = fixture.query("fallback of the git author");
    assert!(!fixture.search_indexed(&query).hits.is_empty());
    let answer = fixture.search(&RecallQuery { tier: Some(Tier::Vectors), ..query });
    let best = answer.hits.first().map_or("", |hit| hit.text.as_str());
    assert!(best.contains("author"), "{answer:#?}");
}
