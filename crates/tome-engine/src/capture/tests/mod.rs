//! Capture, tested through what the crate offers: `Redactor` and `Sealer`.

mod cuts;
mod keeps;
mod properties;
mod sealing;

use super::{OwnPattern, Redactor};

fn redactor() -> Redactor {
    Redactor::new(&[]).unwrap()
}

/// Checks lines of `text => what is left of it`, and that a second look changes nothing.
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

/// Checks that these are returned byte for byte.
fn check_kept(texts: &[&str]) {
    let same: Vec<(&str, &str)> = texts.iter().map(|text| (*text, *text)).collect();
    check(&same);
}
