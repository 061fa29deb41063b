//! Natural questions: several in one, long ones, and times without records.

use serde_json::json;

use crate::scene::{MINUTE_MS, MORNING_MS, Scene};

/// A scene with these messages, a minute apart, each in its own session.
fn scene_with(texts: &[&str]) -> Scene {
    let scene = Scene::new();
    scene.ingest((0..).zip(texts).map(|(n, text): (u64, _)| {
        json!({
            "id": format!("q{n}"), "session_id": format!("q{n}"),
            "at": MORNING_MS + n * MINUTE_MS, "text": text,
        })
    }));
    scene
}

/// Checks the messages found without indexes, and then with them.
fn find_in_any_tier(scene: &Scene, question: &str, check: impl Fn(&[String])) {
    check(&scene.find_messages(question));
    scene.catch_up();
    check(&scene.find_messages(question));
}

#[test]
fn both_of_two_questions_are_answered() {
    let scene = scene_with(&[
        "The login button is teal.",
        "Invoices of the Hamburg office are printed on the second floor.",
        "Invoices of the Hamburg office were printed twice in May.",
        "Nobody in the Hamburg office reads printed invoices.",
        "The Hamburg office wants its invoices printed in colour.",
        "Printed invoices of the Hamburg office go to the archive.",
        "The office in Hamburg moved; invoices and printers moved with it.",
    ]);
    let question = "Where are the printed invoices of the Hamburg office? And the login button?";
    find_in_any_tier(&scene, question, |found| {
        assert!(found.iter().any(|text| text.contains("teal")), "{found:#?}");
        assert!(found.iter().any(|text| text.contains("Hamburg")), "{found:#?}");
    });
}

#[test]
fn the_end_of_a_long_question_is_searched() {
    let before: Vec<String> =
        (0..60).map(|n: u8| format!("{0}{0}matter", char::from(b'a' + n % 26))).collect();
    let before = before.join(" ");
    let scene = scene_with(&["The zeppelin lands at noon.", &before, "The weather was fine."]);
    let question = format!("{before}, and when does the zeppelin land?");
    let found = scene.find_messages(&question);
    assert!(!found.iter().any(|text| text.contains("weather")), "{found:#?}");
    find_in_any_tier(&scene, &question, |found| {
        assert!(found.iter().any(|text| text.contains("zeppelin")), "{found:#?}");
    });
}

#[test]
fn a_time_without_records_is_searched_as_text() {
    let scene = scene_with(&["The turbine was oiled.", "Twenty years ago the turbine was oiled."]);
    find_in_any_tier(&scene, "turbine oiled twenty years ago", |found| {
        assert_eq!(found.first().map(|text| text.contains("years")), Some(true), "{found:#?}");
    });
}

#[test]
fn a_time_phrase_without_records_does_not_suppress_results() {
    let scene = scene_with(&["We rotate refresh tokens every 15 minutes.", "The tea is cold."]);
    find_in_any_tier(&scene, "refresh three years ago", |found| {
        assert!(found.first().is_some_and(|text| text.contains("rotate")), "{found:#?}");
    });
}

#[test]
fn an_event_without_a_text_is_no_hit() {
    let scene = Scene::new();
    scene.ingest([
        json!({"id": "start", "kind": "session_start", "text": ""}),
        json!({"id": "ask", "at": MORNING_MS + 1, "text": "How is the zeppelin moored?"}),
        json!({"id": "say", "at": MORNING_MS + 2, "kind": "assistant_stop", "text": "By its nose."}),
    ]);
    find_in_any_tier(&scene, "how is the zeppelin moored", |found| {
        assert!(found.iter().any(|text| text.contains("zeppelin")), "{found:#?}");
        assert!(found.iter().all(|text| !text.is_empty()), "{found:#?}");
    });
}
