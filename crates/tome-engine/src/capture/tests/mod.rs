//! Tests of `Sealer` through its public API.

mod sealing;

use tome_redact::Redactor;

fn redactor() -> Redactor {
    Redactor::new(&[]).unwrap()
}
