//! Distinguishes lines that explain a failure from lines that only report it.

use crate::extract::commands::location::split_location;
use crate::extract::language::text::has_cjk;

/// Whether a line of a failure names its cause.
pub(crate) fn names_cause(line: &str) -> bool {
    let lower = line.to_lowercase();
    let is_cut = lower.contains("panicked at") && lower.trim_end().ends_with(':');
    !is_cut
        && !is_exit_report(&lower)
        && !is_count(&lower)
        && !is_bare_assertion(&lower)
        && !is_bare_system_error(&lower)
}

/// `Caused by: No such file or directory (os error 2)`: the line before it names the file.
fn is_bare_system_error(lower: &str) -> bool {
    let message = lower.trim().trim_start_matches("caused by:").trim_start_matches("error:");
    message.contains("(os error ") && !message.contains([':', '/', '`', '\'', '"'])
}

/// `script "check" exited with code 2`, `make: *** [test] Error 2`.
fn is_exit_report(lower: &str) -> bool {
    const MARKS: [&str; 7] = [
        "exited with code",
        "exit code",
        "exit status",
        "non-zero exit",
        "elifecycle",
        "failed with code",
        "failed with exit",
    ];
    const REASON_WORDS_MIN: usize = 3;
    let is_make = lower.starts_with("make") && lower.contains(": *** [");
    let is_npm = ["npm err! ", "npm error "].iter().any(|prefix| {
        lower.strip_prefix(prefix).is_some_and(|rest| {
            ["code ", "path ", "command ", "lifecycle ", "workspace ", "location ", "errno "]
                .iter()
                .any(|field| rest.starts_with(field))
        })
    });
    let parts = MARKS.iter().find_map(|mark| lower.split_once(mark));
    let is_bare = |(before, after): (&str, &str)| {
        words(after).count() < REASON_WORDS_MIN && words(before).count() < 2 * REASON_WORDS_MIN
    };
    is_make || is_npm || parts.is_some_and(is_bare)
}

/// `3 failed, 12 passed in 0.4s`, `Some tests failed`.
fn is_count(lower: &str) -> bool {
    #[rustfmt::skip]
    const COUNTED: &[&str] = &[
        "a", "all", "and", "are", "aborting", "assertion", "assertions", "check", "checks", "due",
        "during", "collection", "emitted", "applying", "error", "errors", "example", "examples", "fail",
        "failed", "failing", "fails", "failure", "failures", "file", "files", "filtered", "finished",
        "fixes", "found", "have", "ignored", "in", "interrupted", "is", "job", "jobs", "lint", "measured",
        "ms", "not", "of", "ok", "one", "or", "more", "out", "passed", "passing", "pending", "previous",
        "problem", "problems", "ran", "result", "results", "run", "running", "runs", "skipped", "some", "spec", "specs",
        "succeeded", "suite", "suites", "task", "tasks", "test", "tests", "the", "there", "todo",
        "total", "unsuccessful", "warning", "warnings", "were", "while", "with",
    ];
    !has_cjk(lower) && words(lower).all(|word| COUNTED.contains(&word))
}

/// `AssertionError: expected 3 to equal 4`: the values alone do not explain the expectation.
fn is_bare_assertion(lower: &str) -> bool {
    #[rustfmt::skip]
    const VALUES: &[&str] = &[
        "actual", "assert", "assertion", "assertionerror", "be", "deeply", "equal", "equality",
        "equals", "error", "expect", "expected", "failed", "false", "got", "instead", "is", "left",
        "nan", "nil", "none", "not", "null", "object", "of", "received", "right", "same", "strictly",
        "the", "to", "true", "undefined", "value", "values", "want",
    ];
    let asserts = lower.contains("assert") || lower.contains("expected");
    let message = split_location(lower).map_or(lower, |(_, message)| message);
    asserts && !has_cjk(message) && words(message).all(|word| VALUES.contains(&word))
}

/// Words of letters, without single ones.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.filter(|word| word.len() > 1 && word.starts_with(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_counts_and_bare_values_are_no_causes() {
        for line in [
            "error: script \"check\" exited with code 2",
            "make: *** [Makefile:12: test] Error 2",
            "npm error code ELIFECYCLE",
            "test result: FAILED. 12 passed; 3 failed; 0 ignored; finished in 0.01s",
            "Tests: 2 failed, 40 passed, 42 total",
            "× Some errors were found.",
            "test_cart.py:31: AssertionError",
            "AssertionError: expected null to equal undefined",
            "E       assert 3 == 4",
            "Caused by: No such file or directory (os error 2)",
            "thread 'cart::tests::adds' (81) panicked at src/cart.rs:16:9:",
        ] {
            assert!(!names_cause(line), "{line}");
        }
        for line in [
            "error TS2322: Type 'string' is not assignable to type 'number'.",
            "AssertionError: assert 'paid' == 'open'",
            "FAILED tests/test_cart.py::test_total",
            "--- FAIL: TestTotal (0.00s)",
            "Error: exit code 2: no space left on device",
            "× This import is unused.",
            "fatal: not a git repository",
            "error: Failed to spawn: `ruff`",
        ] {
            assert!(names_cause(line), "{line}");
        }
    }
}
