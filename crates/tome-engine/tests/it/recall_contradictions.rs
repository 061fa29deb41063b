//! Statements that a session took back are marked on hits, and are never hints.

use serde_json::json;
use tome_recall::{QueryOrigin, RecallAnswer, RecallHit, RecallQuery};

use crate::engine_fixture::{EngineFixture, MINUTE_MS, NOW};

const DAY_MS: u64 = 24 * 60 * MINUTE_MS;

/// A fixture with a session of these messages, and one about other things. A line that begins with `>` is a prompt.
fn session_of(lines: &[&str]) -> EngineFixture {
    let fixture = EngineFixture::new();
    let store = |session: &str, number: u64, line: &str| {
        let (kind, text) = match line.strip_prefix("> ") {
            Some(prompt) => ("user_message", prompt),
            None => ("assistant_message", line),
        };
        let at = NOW.0 - DAY_MS + number * MINUTE_MS;
        let id = format!("{session}-{number}");
        fixture.ingest([
            json!({"id": id, "session_id": session, "kind": kind, "at": at, "text": text}),
        ]);
    };
    for (number, line) in (0..).zip(lines) {
        store("talk", number, line);
    }
    for number in 0..12 {
        store("work", 100 + 2 * number, &format!("> Rename the button of page {number} to Save"));
        store("work", 101 + 2 * number, &format!("The button of page {number} says Save now."));
    }
    fixture.catch_up();
    fixture
}

fn ask(fixture: &EngineFixture, question: &str) -> RecallAnswer {
    fixture.search_indexed(&fixture.query(question))
}

fn hint(fixture: &EngineFixture, prompt: &str) -> RecallAnswer {
    let origin = QueryOrigin::Proactive { prompt: prompt.to_owned() };
    fixture.search(&RecallQuery { origin, ..fixture.query(prompt) })
}

fn find<'a>(answer: &'a RecallAnswer, text: &str) -> &'a RecallHit {
    answer.hits.iter().find(|hit| hit.text.contains(text)).unwrap_or_else(|| panic!("{answer:#?}"))
}

fn contradictions(hit: &RecallHit) -> Vec<&str> {
    let others = hit.others.iter().filter(|other| other.relation.as_str() == "contradicted by");
    others.map(|other| other.text.as_str()).collect()
}

#[test]
fn an_answer_names_the_words_that_deny_it() {
    for (question, claim, denial) in [
        (
            "Which database keeps the carts?",
            "We use MariaDB for carts.",
            "no, we use SQLite for carts",
        ),
        ("Which city is the mirror in?", "The mirror is in Oslo.", "No, the mirror is in Bergen."),
        (
            "How many threads does the crawler start?",
            "The crawler starts 3 threads.",
            "no, that's wrong, it is 8",
        ),
        (
            "Who is the release lead?",
            "The release lead is Ada.",
            "wrong, the release lead is Grace",
        ),
    ] {
        let fixture = session_of(&[
            &format!("> {question}"),
            claim,
            &format!("> {denial}"),
            "You are right.",
        ]);
        let found = ask(&fixture, question);
        let hit = find(&found, claim);
        assert_eq!(contradictions(hit), [denial], "{found:#?}");
        let correction = found.hits.iter().find(|hit| hit.text.contains(denial));
        if let Some(correction) = correction {
            assert!(correction.confidence >= hit.confidence, "{found:#?}");
        }
        let hints = hint(&fixture, &question.to_lowercase());
        assert!(!hints.hits.iter().any(|hit| hit.text.contains(claim)), "{hints:#?}");
        assert!(
            hints.hits.iter().all(|hit| hit.turn.answer.as_ref().is_none_or(|it| it.text != claim)),
            "{hints:#?}"
        );
    }
}

#[test]
fn a_no_about_something_else_is_no_mark() {
    let claim = "The mirror is in Oslo.";
    for reply in
        ["no, that's all", "No problem, thanks.", "no need to move it", "no, use the parser"]
    {
        let fixture = session_of(&["> Which city is the mirror in?", claim, &format!("> {reply}")]);
        let found = ask(&fixture, "which city is the mirror in");
        assert_eq!(contradictions(find(&found, claim)), [""; 0], "{reply}");
        let hints = hint(&fixture, "which city is the mirror in?");
        assert!(hints.hits.iter().any(|hit| hit.text.contains(claim)), "{reply}: {hints:#?}");
    }
}

#[test]
fn an_agent_takes_back_what_it_said() {
    let claim = "The gauge server listens on port 7070.";
    let fixture = session_of(&[
        "> Which port does the gauge server listen on?",
        claim,
        "Correction: the gauge server listens on port 7171, 7070 is the dashboard.",
    ]);
    let found = ask(&fixture, "which port does the gauge server listen on");
    let [other] = contradictions(find(&found, claim))[..] else { panic!("{found:#?}") };
    assert!(other.starts_with("Correction: "), "{found:#?}");
    let hints = hint(&fixture, "which port does the gauge server listen on?");
    assert!(!hints.hits.iter().any(|hit| hit.text == claim), "{hints:#?}");

    let claim = "The upload form is slow because the preview cache is disabled in production.";
    let fixture = session_of(&[
        "> why is the upload form slow?",
        claim,
        "> check again with the profiler",
        "I was wrong: the preview cache is enabled. The upload form waits for the virus scan.",
    ]);
    let found = ask(&fixture, "why is the upload form slow");
    let [other] = contradictions(find(&found, claim))[..] else { panic!("{found:#?}") };
    assert_eq!(other, "I was wrong: the preview cache is enabled.");
    let hints = hint(&fixture, "the upload form is slow again, why?");
    assert!(!hints.hits.iter().any(|hit| hit.text.contains("disabled")), "{hints:#?}");
}

#[test]
fn a_statement_that_is_denied_with_a_question_is_no_hint() {
    let fixture = session_of(&[
        "> I finally obtained the signing key of the harbor service today.",
        "Great.",
        "> I have never obtained the signing key of the harbor service, how do I get one?",
        "Ask the operators.",
    ]);
    let hints = hint(&fixture, "do we have the signing key of the harbor service?");
    assert!(!hints.hits.iter().any(|hit| hit.text.contains("finally")), "{hints:#?}");
}

#[test]
fn what_a_later_session_takes_back_is_no_hint() {
    let claim = "The flaky lexer test fails on the build machine because of the shared cache.";
    let prompt = "why does the flaky lexer test fail on the build machine";
    let hints = |later: &str| {
        let fixture = session_of(&["> look at the lexer test", claim]);
        fixture.ingest([json!({
            "id": "later", "session_id": "later", "kind": "assistant_message",
            "at": NOW.0 - MINUTE_MS, "text": later,
        })]);
        fixture.catch_up();
        let found = hint(&fixture, prompt);
        found.hits.iter().filter(|hit| hit.text.contains("because of the shared cache")).count()
    };
    assert!(hints("The flaky lexer test runs on the build machine every night.") > 0);
    let denial = "The shared cache is not why the flaky lexer test fails on the build machine.";
    assert_eq!(hints(denial), 0);
}
