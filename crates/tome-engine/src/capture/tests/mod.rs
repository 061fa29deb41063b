//! Capture, tested through what the crate offers: `Sealer`.

mod sealing;

use tome_redact::Redactor;

fn redactor() -> Redactor {
    Redactor::new(&[]).unwrap()
}
