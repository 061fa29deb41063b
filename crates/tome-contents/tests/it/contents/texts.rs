//! Texts of events, and their token estimates.

use serde_json::{Value, json};
use tome_contents::event_texts;
use tome_model::Tool;
use tome_text::estimate_tokens;

use super::memory::Memory;
use super::*;

fn tool_event(text: &str, input: Value, output: Value) -> Event {
    let memory = Memory::default();
    let ledger = memory.open();
    let mut draft = draft("e", "s", Millis(1), text);
    draft.tool = Some(Tool { name: "Bash".into(), input, output });
    append(&ledger, PROJECT, draft);
    ledger.event(&EventId::parse("e").unwrap()).unwrap().unwrap()
}

#[test]
fn texts_are_the_event_text_then_the_tool_strings_in_order() {
    let event = tool_event(
        "ran it",
        json!({"command": "cargo test", "timeout": 5, "env": {"A": "b", "": ""}}),
        json!([{"stdout": "ok"}, null, ["x", ["y"]], true]),
    );
    let texts: Vec<_> = event_texts(&event).collect();
    assert_eq!(texts, ["ran it", "cargo test", "b", "ok", "x", "y"]);
}

#[test]
fn a_scalar_value_is_its_own_text() {
    for (value, expected) in [
        (json!("plain"), vec!["plain"]),
        (json!(42), vec!["42"]),
        (json!(false), vec!["false"]),
        (json!(null), vec![]),
        (json!([]), vec![]),
    ] {
        let event = tool_event("", Value::Null, value);
        assert_eq!(event_texts(&event).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn the_texts_of_a_huge_value_are_capped() {
    let rows: Vec<Value> = (0..60_000).map(|n| json!({ "name": format!("row {n}") })).collect();
    let event = tool_event("", Value::Null, Value::Array(rows));
    assert_eq!(event_texts(&event).count(), 10_000);
    assert_eq!(event_texts(&event).next().unwrap(), "row 0");
    let mut deep = json!("bottom");
    for _ in 0..45 {
        deep = json!({ "in": [deep] });
    }
    let event = tool_event("", deep, Value::Null);
    assert_eq!(event_texts(&event).count(), 1);
}

#[test]
fn token_estimates_are_plausible_for_every_script() {
    // From rules of thumb, with a margin on both sides; no tokenizer is run.
    for (text, low, high) in [
        ("The quick brown fox jumps over the lazy dog.", 8, 13),
        ("fn main() {\n    println!(\"{}\", compute_total(&items)?);\n}\n", 14, 26),
        ("我们昨天决定使用事件日志作为唯一的事实来源。", 14, 26),
        ("昨日、パーサーのバグを修正しました。", 11, 22),
        ("Вчера мы решили хранить события в журнале.", 9, 20),
        ("error[E0308]: mismatched types --> src/main.rs:10:5", 13, 24),
        ("2026-11-14T09:30:00.000Z 192.168.0.1 GET /api/v1/users 200", 20, 40),
    ] {
        let tokens = estimate_tokens(text);
        assert!((low..=high).contains(&tokens), "{tokens} of {text}");
    }
    assert_eq!(estimate_tokens(""), 0);
}
