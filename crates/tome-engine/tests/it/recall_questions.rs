//! Natural questions: several in one, long ones, and times without records.

use serde_json::json;
use tome_recall::Confidence;

use crate::engine_fixture::{EngineFixture, MINUTE_MS, MORNING_MS};

/// A fixture with these messages, a minute apart, each in its own session.
fn fixture_with(texts: &[&str]) -> EngineFixture {
    let fixture = EngineFixture::new();
    fixture.ingest((0..).zip(texts).map(|(n, text): (u64, _)| {
        json!({
            "id": format!("q{n}"), "session_id": format!("q{n}"),
            "at": MORNING_MS + n * MINUTE_MS, "text": text,
        })
    }));
    fixture
}

/// Checks the messages found without indexes, and then with them.
fn find_in_any_tier(fixture: &EngineFixture, question: &str, check: impl Fn(&[String])) {
    check(&fixture.find_messages(question));
    fixture.catch_up();
    check(&fixture.find_messages(question));
}

#[test]
fn both_of_two_questions_are_answered() {
    let fixture = fixture_with(&[
        "The login button is teal.",
        "Invoices of the Hamburg office are printed on the second floor.",
        "Invoices of the Hamburg office were printed twice in May.",
        "Nobody in the Hamburg office reads printed invoices.",
        "The Hamburg office wants its invoices printed in colour.",
        "Printed invoices of the Hamburg office go to the archive.",
        "The office in Hamburg moved; invoices and printers moved with it.",
    ]);
    let question = "Where are the printed invoices of the Hamburg office? And the login button?";
    find_in_any_tier(&fixture, question, |found| {
        assert!(found.iter().any(|text| text.contains("teal")), "{found:#?}");
        assert!(found.iter().any(|text| text.contains("Hamburg")), "{found:#?}");
    });
}

#[test]
fn the_end_of_a_long_question_is_searched() {
    let before: Vec<String> =
        (0..60).map(|n: u8| format!("{0}{0}matter", char::from(b'a' + n % 26))).collect();
    let before = before.join(" ");
    let fixture = fixture_with(&["The zeppelin lands at noon.", &before, "The weather was fine."]);
    let question = format!("{before}, and when does the zeppelin land?");
    let found = fixture.find_messages(&question);
    assert!(!found.iter().any(|text| text.contains("weather")), "{found:#?}");
    find_in_any_tier(&fixture, &question, |found| {
        assert!(found.iter().any(|text| text.contains("zeppelin")), "{found:#?}");
    });
}

#[test]
fn a_time_without_records_is_searched_as_text() {
    let fixture =
        fixture_with(&["The turbine was oiled.", "Twenty years ago the turbine was oiled."]);
    find_in_any_tier(&fixture, "turbine oiled twenty years ago", |found| {
        assert_eq!(found.first().map(|text| text.contains("years")), Some(true), "{found:#?}");
    });
}

#[test]
fn a_time_phrase_without_records_does_not_suppress_results() {
    let fixture = fixture_with(&["We rotate refresh tokens every 15 minutes.", "The tea is cold."]);
    find_in_any_tier(&fixture, "refresh three years ago", |found| {
        assert!(found.first().is_some_and(|text| text.contains("rotate")), "{found:#?}");
    });
}

#[test]
fn an_event_without_text_is_not_a_hit() {
    let fixture = EngineFixture::new();
    fixture.ingest([
        json!({"id": "start", "kind": "session_start", "text": ""}),
        json!({"id": "ask", "at": MORNING_MS + 1, "text": "How is the zeppelin moored?"}),
        json!({"id": "say", "at": MORNING_MS + 2, "kind": "assistant_stop", "text": "By its nose."}),
    ]);
    find_in_any_tier(&fixture, "how is the zeppelin moored", |found| {
        assert!(found.iter().any(|text| text.contains("zeppelin")), "{found:#?}");
        assert!(found.iter().all(|text| !text.is_empty()), "{found:#?}");
    });
}

/// A prompt that got no answer says nothing, however well its words match.
#[test]
fn an_unanswered_prompt_with_the_words_of_the_query_comes_last() {
    let fixture = EngineFixture::new();
    let event = |n: u64, session: &str, kind: &str, text: &str| {
        let at = MORNING_MS + n * MINUTE_MS;
        json!({"id": format!("e{n}"), "session_id": session, "kind": kind, "at": at, "text": text})
    };
    fixture.ingest([
        event(1, "s1", "user_message", "The prompts hang in the pty tests."),
        event(2, "s1", "assistant_message", "Set ACCESSIBLE=1, then huh reads from the pty."),
        event(3, "s1", "session_end", ""),
        event(4, "s2", "user_message", "How do I make huh read from the pty in our tests?"),
        event(5, "s2", "user_message", "[Request interrupted by user]"),
    ]);
    let answer =
        fixture.search_indexed(&fixture.query("how do I make huh read from the pty in tests"));
    let numbers: Vec<_> = answer.hits.iter().map(|hit| hit.text.as_str()).collect();
    assert!(numbers[0].contains("ACCESSIBLE=1"), "{numbers:#?}");
    assert!(numbers.last().unwrap().starts_with("How do I"), "{numbers:#?}");
    assert!(numbers.iter().all(|text| !text.contains("interrupted")), "{numbers:#?}");
}

#[test]
fn a_list_of_tasks_comes_after_a_message_about_them() {
    let fixture = EngineFixture::new();
    let todo = json!({
        "name": "TodoWrite",
        "input": {"todos": [{"content": "Run the harbor tests with the seed", "status": "pending"}]},
        "output": "Todos have been modified",
    });
    fixture.ingest([
        json!({"id": "ask", "at": MORNING_MS, "text": "Please look at the harbor suite."}),
        json!({"id": "todo", "at": MORNING_MS + 1, "kind": "tool_result", "text": "", "tool": todo}),
        json!({"id": "say", "at": MORNING_MS + 2, "kind": "assistant_stop",
            "text": "Use `make check SEED=7` for the harbor tests."}),
    ]);
    let answer =
        fixture.search_indexed(&fixture.query("how do I run the harbor tests with the seed"));
    let texts: Vec<_> = answer.hits.iter().map(|hit| hit.text.as_str()).collect();
    assert!(texts[0].contains("SEED=7"), "{texts:#?}");
}

/// A session that ended before its answer was stored asks with the words of the query.
#[test]
fn an_unanswered_question_comes_after_a_statement_with_the_same_words() {
    let fixture = fixture_with(&[
        "The yearly allowance for travel is $4,000.",
        "what is the yearly allowance for travel?",
        "The office moved to the second floor.",
    ]);
    for query in ["yearly travel allowance", "travel allowance"] {
        let found = fixture.search_indexed(&fixture.query(query));
        let texts: Vec<_> = found.hits.iter().map(|hit| hit.text.as_str()).collect();
        assert!(texts[0].contains("$4,000"), "{query}: {texts:#?}");
        let asked = found.hits.iter().find(|hit| hit.text.starts_with("what is")).unwrap();
        assert!(found.hits[0].confidence >= asked.confidence, "{found:#?}");
    }
}

#[test]
fn statements_with_the_only_word_of_a_query_do_not_make_each_other_weak() {
    let mut texts = vec![
        "The allowance for the fair is 5000 euros.".to_owned(),
        "I spent 1200 of the allowance on posters.".to_owned(),
        "Mia moved 300 of the allowance to travel.".to_owned(),
        "The allowance review is done, 900 euros are left.".to_owned(),
    ];
    texts.extend((0..20).map(|n| format!("Rename the button of page {n} to Save")));
    let fixture = fixture_with(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    let found = fixture.search_indexed(&fixture.query("allowance"));
    let stated: Vec<_> = found.hits.iter().filter(|hit| hit.kind == "user_message").collect();
    assert!(stated.len() >= 3, "{found:#?}");
    assert!(stated.iter().all(|hit| hit.confidence >= Confidence::Likely), "{found:#?}");
    // A word of many messages tells nothing.
    let found = fixture.search_indexed(&fixture.query("button"));
    assert!(found.hits.iter().skip(1).all(|hit| hit.confidence == Confidence::Weak), "{found:#?}");
}
