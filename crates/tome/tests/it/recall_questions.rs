//! Natural questions: several in one, long ones, and times without records.

use serde_json::{Value, json};
use tome_testkit::World;

use crate::scene::{MORNING_MS, line_with, world};

/// A world with these messages, a minute apart, each in its own session.
fn with_said(texts: &[&str]) -> World {
    let world = world();
    let lines: String = (0..)
        .zip(texts)
        .map(|(n, text): (u64, _)| {
            line_with(&json!({
                "id": format!("q{n}"), "session_id": format!("q{n}"),
                "at": MORNING_MS + n * 60_000, "text": text,
            }))
        })
        .collect();
    world.ingest(&lines);
    world
}

/// Texts of the message hits, best first.
fn told(world: &World, question: &str) -> Vec<String> {
    let args =
        ["recall", "--project", "/app", "--scope", "messages", "-n", "5", question, "--json"];
    let ran = world.tome(&args);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let hits: Vec<Value> = ran.json()["hits"].as_array().unwrap().clone();
    hits.iter().map(|hit| hit["text"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn both_of_two_questions_are_answered() {
    let world = with_said(&[
        "The login button is teal.",
        "Invoices of the Hamburg office are printed on the second floor.",
        "Invoices of the Hamburg office were printed twice in May.",
        "Nobody in the Hamburg office reads printed invoices.",
        "The Hamburg office wants its invoices printed in colour.",
        "Printed invoices of the Hamburg office go to the archive.",
        "The office in Hamburg moved; invoices and printers moved with it.",
    ]);
    let asked = "Where are the printed invoices of the Hamburg office? And the login button?";
    let told = told(&world, asked);
    assert!(told.iter().any(|text| text.contains("teal")), "{told:#?}");
    assert!(told.iter().any(|text| text.contains("Hamburg")), "{told:#?}");
}

#[test]
fn the_end_of_a_long_question_is_searched() {
    let before: Vec<String> =
        (0..60).map(|n: u8| format!("{0}{0}matter", char::from(b'a' + n % 26))).collect();
    let before = before.join(" ");
    let world = with_said(&["The zeppelin lands at noon.", &before, "The weather was fine."]);
    let told = told(&world, &format!("{before}, and when does the zeppelin land?"));
    assert!(told.iter().any(|text| text.contains("zeppelin")), "{told:#?}");
    assert!(!told.iter().any(|text| text.contains("weather")), "{told:#?}");
}

#[test]
fn a_time_without_records_is_searched_as_text() {
    let world = with_said(&["The turbine was oiled.", "Twenty years ago the turbine was oiled."]);
    let told = told(&world, "turbine oiled twenty years ago");
    assert_eq!(told.first().map(|text| text.contains("years")), Some(true), "{told:#?}");
}

#[test]
fn a_time_phrase_without_records_does_not_suppress_results() {
    let world = with_said(&["We rotate refresh tokens every 15 minutes.", "The tea is cold."]);
    let told = told(&world, "refresh three years ago");
    assert!(told.first().is_some_and(|text| text.contains("rotate")), "{told:#?}");
}
