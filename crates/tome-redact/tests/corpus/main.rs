//! Corpora of secrets and of similar ordinary strings, with limits on misses and on wrong cuts.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::cast_possible_truncation,
    reason = "tests assert by panicking"
)]

mod generate;
mod kinds;
mod more_kinds;
mod ordinary;
mod surroundings;

use generate::{Random, generate};
use surroundings::{Surrounding, place_line, place_token};
use tome_redact::Redactor;

/// Percentage of kinds that may be missed.
const MISSED_PERCENT_MAX: usize = 5;
/// Number of ordinary strings that may be cut.
const FALSE_POSITIVES_MAX: usize = 1;

/// One kind of secret in one context.
struct Sample {
    kind: &'static str,
    surrounding: Surrounding,
    text: String,
    secret: String,
}

fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for (kind, spec) in kinds::TOKENS {
        let secret = generate(spec, &mut Random::seeded(kind));
        for surrounding in Surrounding::ALL {
            let text = place_token(&secret, surrounding);
            samples.push(Sample { kind, surrounding, text, secret: secret.clone() });
        }
    }
    for (kind, line, spec) in kinds::LINES.iter().chain(more_kinds::MORE_LINES) {
        let secret = generate(spec, &mut Random::seeded(kind));
        for surrounding in Surrounding::ALL {
            let text = place_line(line, &secret, surrounding);
            samples.push(Sample { kind, surrounding, text, secret: secret.clone() });
        }
    }
    samples
}

/// Whether an identifying part of a secret is left in a text.
fn leaks(text: &str, secret: &str) -> bool {
    let shown: Vec<u8> = surroundings::without_escapes(text).into_bytes();
    let secret: Vec<u8> = secret.bytes().collect();
    let part = (secret.len() / 3).clamp(6.min(secret.len()), 24);
    secret.windows(part).any(|part| shown.windows(part.len()).any(|here| here == part))
}

#[test]
fn secrets_of_nearly_all_kinds_are_cut_in_all_surroundings() {
    let redactor = Redactor::new(&[]).unwrap();
    let mut missed: Vec<&str> = Vec::new();
    let mut report = String::new();
    for sample in samples() {
        let redacted = redactor.redact(&sample.text);
        assert_eq!(redactor.redact(&redacted), redacted, "{}", sample.kind);
        if leaks(&redacted, &sample.secret) {
            missed.push(sample.kind);
            report
                .push_str(&format!("{} ({:?}): {:?}\n", sample.kind, sample.surrounding, redacted));
        }
    }
    missed.dedup();
    let kinds = kinds::TOKENS.len() + kinds::LINES.len() + more_kinds::MORE_LINES.len();
    assert!(kinds >= 190, "{kinds} kinds");
    assert!(
        missed.len() * 100 <= kinds * MISSED_PERCENT_MAX,
        "missed {} of {kinds} kinds\n{report}",
        missed.len()
    );
}

#[test]
fn ordinary_strings_are_kept() {
    let redactor = Redactor::new(&[]).unwrap();
    let strings = ordinary::strings();
    assert!(strings.len() >= 130, "{} strings", strings.len());
    let cut: Vec<String> = strings
        .iter()
        .filter(|text| redactor.redact(text) != text.as_str())
        .map(|text| format!("{text:?} -> {:?}", redactor.redact(text)))
        .collect();
    assert!(cut.len() <= FALSE_POSITIVES_MAX, "{} cut\n{}", cut.len(), cut.join("\n"));
}
