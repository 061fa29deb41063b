//! The facts of a segment: what passes, what went wrong, what the user decided and corrected.

use serde_json::Value;
use tome_model::FactKind;

use super::edge_cases::{bash, lines};
use super::{check, summarize};

/// The texts of all facts of a kind.
fn facts(kind: FactKind, values: &[Value]) -> Vec<String> {
    let events = lines(values);
    let summary = summarize(&events);
    check(&summary, &events);
    let facts = summary.work.into_iter().flat_map(|work| work.facts);
    facts.filter(|fact| fact.kind == kind).map(|fact| fact.text).collect()
}

fn checks(values: &[Value]) -> Vec<String> {
    facts(FactKind::Check, values)
}

#[test]
fn a_check_is_shown_with_what_makes_it_run() {
    let passed = "12 passed";
    assert_eq!(
        checks(&[
            bash("cd /home/dev/app/web && npm test 2>&1 | tail -5", passed),
            bash("source .venv/bin/activate && pytest", passed),
            bash("cd $TARGET && cargo test", passed),
        ]),
        ["cd web && npm test", "source .venv/bin/activate && pytest"]
    );
}

#[test]
fn of_a_suite_the_latest_full_run_is_shown() {
    let passed = "12 passed";
    assert_eq!(
        checks(&[
            bash("pytest tests/ -v --tb=short", passed),
            bash("python -m pytest -q --cov=shop", passed),
            bash("pytest tests/test_cart.py -x", passed),
        ]),
        ["python -m pytest -q --cov=shop"]
    );
    assert_eq!(checks(&[bash("pytest", passed), bash("pytest -m slow", passed)]), ["pytest"]);
    assert_eq!(
        checks(&[bash("pytest tests/unit", passed), bash("pytest tests/api -q", passed)]),
        ["pytest tests/unit", "pytest tests/api -q"]
    );
    // The same words in another folder are another check.
    assert_eq!(
        checks(&[bash("npm test", passed), bash("cd web && npm test", passed)]),
        ["npm test", "cd web && npm test"]
    );
}

#[test]
fn commands_that_write_are_no_checks() {
    assert_eq!(
        checks(&[
            bash("npm run lint:fix", "Fixed 1 file."),
            bash("ruff check --fix .", "All checks passed!"),
            bash("npm run lint", "0 errors"),
        ]),
        ["npm run lint"]
    );
}
