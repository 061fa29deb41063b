//! Tests of redaction through the crate's interface.

mod contexts;
mod cuts;
mod keeps;
mod linear;
mod properties;

use super::{CustomPattern, Redactor};

fn redactor() -> Redactor {
    Redactor::new(&[]).unwrap()
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
