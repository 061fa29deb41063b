//! The facts of a segment: what passes, what went wrong, what the user decided and corrected.

use serde_json::{Value, json};
use tome_model::FactKind;

use super::edge_cases::{bash, bash_failed, edit, lines};
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

fn problems(values: &[Value]) -> Vec<String> {
    facts(FactKind::Problem, values)
}

fn write(path: &str) -> Value {
    json!({"kind": "tool_result", "tool": {"name": "Write", "input": {"file_path": path, "content": "a"}, "output": {"type": "create", "filePath": path}}})
}

#[test]
fn a_run_without_tests_is_no_pass() {
    let none = "0 runs, 0 assertions, 0 failures, 0 errors";
    assert!(checks(&[bash("bin/rails test", none)]).is_empty());
    let some =
        "running 0 tests\ntest result: ok. 0 passed\nrunning 7 tests\ntest result: ok. 7 passed";
    assert_eq!(checks(&[bash("cargo test", some)]), ["cargo test"]);
}

#[test]
fn a_problem_names_its_cause() {
    let lint = "× Some errors were found.\n\nerror: script \"check\" exited with code 2\n";
    let named =
        format!("src/cart.ts:3:10 lint/noUnusedImports\n\n  × This import is unused.\n{lint}");
    assert!(problems(&[bash_failed("bun run check", lint), bash("ls", "")]).is_empty());
    assert_eq!(
        problems(&[bash_failed("bun run check", &named), bash("bun run check", "ok")]),
        ["`bun run check` failed: This import is unused — passed in a later run"]
    );
    let counts = "test result: FAILED. 2 passed; 3 failed; 0 ignored";
    assert!(problems(&[bash_failed("cargo test", counts), bash("cargo test", "ok")]).is_empty());
    let panic =
        format!("thread 'cart' panicked at src/cart.rs:16:9:\nno price for an apple\n{counts}");
    assert_eq!(
        problems(&[bash_failed("cargo test", &panic), bash("cargo test", "1 passed")]),
        ["`cargo test` failed: cart.rs:16:9: no price for an apple — passed in a later run"]
    );
    let typed =
        "src/cart.ts(7,3): error TS2322: Type 'string' is not assignable to type 'number'.\nFound 1 error.";
    assert_eq!(
        problems(&[bash_failed("npx tsc --noEmit", typed), bash("tsc --noEmit", "")]),
        [
            "`tsc` failed: cart.ts: error TS2322: Type 'string' is not assignable to type 'number' — passed in a later run"
        ]
    );
}

#[test]
fn a_problem_names_the_command_that_failed() {
    // The rest of a chain did not run.
    let missing = "cp: prices.csv: No such file or directory";
    assert!(problems(&[bash_failed("cp prices.csv data && git pull", missing)]).is_empty());
    let values = [
        bash_failed("pip install -q shop && pytest", "E  AssertionError: assert 'paid' == 'open'"),
        bash("pip install -q shop && pytest", "3 passed"),
    ];
    assert_eq!(
        problems(&values),
        ["`pytest` failed: AssertionError: assert 'paid' == 'open' — passed in a later run"]
    );
    // Another command in the same environment tells nothing about this one.
    let values = [
        bash_failed("uv run pytest", "ModuleNotFoundError: No module named 'shop'"),
        bash("uv run mypy src", "Success: no issues found"),
        edit("/home/dev/app/a.py"),
        json!({"kind": "assistant_stop", "text": "The module is missing."}),
    ];
    assert_eq!(
        facts(FactKind::Problem, &values),
        ["`pytest` failed: ModuleNotFoundError: No module named 'shop'"]
    );
}

#[test]
fn a_fix_lies_between_the_last_failure_and_the_pass() {
    let error = "error[E0308]: mismatched types";
    let values = [
        edit("/home/dev/app/src/before.rs"),
        bash_failed("cargo test", error),
        edit("/home/dev/app/src/tried.rs"),
        bash_failed("cargo test", error),
        edit("/home/dev/app/src/fixed.rs"),
        bash("cargo test", "4 passed"),
        edit("/home/dev/app/src/tried.rs"),
    ];
    assert_eq!(
        problems(&values),
        ["`cargo test` failed: error[E0308]: mismatched types — passed after changes to fixed.rs"]
    );
    let unused = "error: unused import: `std::fmt`";
    let values = [
        bash_failed("npm run lint", unused),
        bash("npm run lint:fix", "Fixed 1 file"),
        bash("npm run lint", "0 errors"),
    ];
    assert_eq!(
        problems(&values),
        [
            "`npm run lint` failed: error: unused import: `std::fmt` — passed after `npm run lint:fix`"
        ]
    );
}

#[test]
fn slips_of_the_moment_are_no_problems() {
    let error = "NameError: name 'totl' is not defined";
    let own = [
        write("/home/dev/app/cart.py"),
        bash_failed("pytest", error),
        edit("/home/dev/app/cart.py"),
        bash("pytest", "4 passed"),
    ];
    assert!(problems(&own).is_empty());
    let lock = "fatal: Unable to create '/home/dev/app/.git/index.lock': File exists.";
    let retried = [bash_failed("git commit -m a", lock), bash("git commit -m a", "[main 1] a")];
    assert!(problems(&retried).is_empty());
}

#[test]
fn a_check_that_still_fails_is_told_once() {
    let values = [bash_failed("cargo test", "error[E0308]: mismatched types")];
    assert!(problems(&values).is_empty());
    assert_eq!(
        facts(FactKind::Open, &values),
        ["`cargo test` fails: error[E0308]: mismatched types"]
    );
}
