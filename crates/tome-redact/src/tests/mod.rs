//! Tests of redaction through the crate's interface.

mod contexts;
mod cuts;
mod keeps;
mod linear;
mod properties;

use serde_json::Value;

use super::{CustomPattern, Redactor, rewrite_json};

fn redactor() -> Redactor {
    Redactor::new(&[]).unwrap()
}

/// Redacts every string in a JSON value, including keys.
fn redact_json(value: &Value) -> Value {
    let redactor = redactor();
    rewrite_json(value, &mut |text| redactor.redact(text))
}

/// Checks pairs of a text and its redacted form, and that redacting again changes nothing.
fn check(cases: &[(&str, &str)]) {
    let redactor = redactor();
    let mut wrong = String::new();
    for (text, expected) in cases {
        let once = redactor.redact(text);
        let twice = redactor.redact(&once);
        if once != *expected || twice != once {
            wrong.push_str(&format!(
                "\n  text     {text:?}\n  expected {expected:?}\n  once     {once:?}\n  twice    {twice:?}\n"
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Checks that these texts stay unchanged.
fn check_kept(texts: &[&str]) {
    let same: Vec<(&str, &str)> = texts.iter().map(|text| (*text, *text)).collect();
    check(&same);
}
