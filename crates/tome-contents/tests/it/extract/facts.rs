//! The facts of a segment: what passes, what went wrong, what the user decided and corrected.

use serde_json::{Value, json};
use tome_model::FactKind;

use super::edge_cases::{bash, bash_failed, edit, lines, message};
use super::{check, summarize};

/// The texts of all facts of a kind.
pub(crate) fn facts(kind: FactKind, values: &[Value]) -> Vec<String> {
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
    // A flag may widen a check.
    assert_eq!(
        checks(&[bash("cargo test --workspace", passed), bash("cargo test", passed)]),
        ["cargo test --workspace", "cargo test"]
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
    assert!(
        problems(&[bash_failed("bun run check", lint), bash("bun run check", "ok")]).is_empty()
    );
    assert_eq!(
        problems(&[bash_failed("bun run check", &named), bash("bun run check", "ok")]),
        ["`bun run check` failed: This import is unused — passed in a later run"]
    );
    let system = "Error: The package needs a newer system. To update it, run:\n  update";
    assert_eq!(
        problems(&[bash_failed("brew install jq", system), bash("brew install jq", "ok")]),
        ["`brew install` failed: Error: The package needs a newer system — passed in a later run"]
    );
    let counts = "test result: FAILED. 2 passed; 3 failed; 0 ignored";
    assert!(problems(&[bash_failed("cargo test", counts), bash("cargo test", "ok")]).is_empty());
    let panic =
        format!("thread 'cart' panicked at src/cart.rs:16:9:\nno price for an apple\n{counts}");
    assert_eq!(
        problems(&[bash_failed("cargo test", &panic), bash("cargo test", "1 passed")]),
        ["`cargo test` failed: cart.rs:16:9: no price for an apple — passed in a later run"]
    );
    let typed = "src/cart.ts(7,3): error TS2322: Type 'string' is not assignable to type 'number'.\nFound 1 error.";
    assert_eq!(
        problems(&[bash_failed("npx tsc --noEmit", typed), bash("tsc --noEmit", "")]),
        [
            "`tsc` failed: cart.ts: error TS2322: Type 'string' is not assignable to type 'number' — passed in a later run"
        ]
    );
}

fn open(values: &[Value]) -> Vec<String> {
    facts(FactKind::Open, values)
}

#[test]
fn a_failure_without_a_cause_is_told_with_its_exit_code() {
    let make = bash_failed("make test", "Exit code 2\nmake: *** [Makefile:3: test] Error 2");
    let chain = bash_failed("npm run lint && npm test", "Exit code 1");
    let killed = bash_failed("go vet ./...", "Exit code 137");
    let late = bash_failed("pytest tests/slow", "Command timed out after 2m 0.0s");
    let counts = "Exit code 101\ntest result: FAILED. 3 passed; 1 failed; 0 ignored";
    let counted = bash_failed("cargo fmt && cargo test && git commit -am 'Try it'", counts);
    let said = message("assistant_stop", "It does not work yet, for reasons that are unclear.");
    for (run, problem, end) in [
        (make.clone(), "`make test` failed (exit 2)", "`make test` fails (exit 2)"),
        (
            chain,
            "`npm run lint && npm test` failed (exit 1)",
            "`npm run lint && npm test` fails (exit 1)",
        ),
        (killed, "`go vet` failed (exit 137)", "`go vet` fails (exit 137)"),
        (late, "`pytest` timed out", "`pytest` timed out"),
        (counted, "`cargo test` failed (exit 101)", "`cargo test` fails (exit 101)"),
    ] {
        assert_eq!(problems(&[run.clone(), said.clone()]), [problem]);
        assert_eq!(open(&[run, said.clone()]), [end]);
    }
    // A failure that came back is open, too.
    assert_eq!(open(&[make.clone(), edit("/home/dev/app/a.c"), make.clone()]).len(), 1);
    // A failure that was settled, stopped from outside or is of no check is not told.
    assert!(problems(&[make, bash("make test", "ok")]).is_empty());
    assert!(problems(&[bash_failed("npm test", "Exit code 130")]).is_empty());
    assert!(problems(&[bash_failed("gh pr ready", "Exit code 1")]).is_empty());
    let unclear = bash_failed("npm test && git commit -m a && git push", "Exit code 1");
    assert!(problems(&[unclear]).is_empty());
}

#[test]
fn a_push_with_force_settles_one_that_was_rejected() {
    let refused =
        "Exit code 1\n ! [rejected] b2 -> b2 (stale info)\nerror: failed to push some refs to 'x'";
    let lease = bash_failed("git push --force-with-lease", refused);
    let pushed = |command: &str| {
        let told = problems(&[lease.clone(), bash(command, "+ 1..2 b2 -> b2 (forced update)")]);
        told.into_iter().any(|text| text.contains(" — passed"))
    };
    assert!(pushed("git push --force origin b2"));
    assert!(pushed("git push -f"));
    assert!(!pushed("git push --force --dry-run"));
    let other = bash_failed("git push --force-with-lease origin b2", refused);
    let told = problems(&[other, bash("git push --force origin b3", "ok")]);
    assert!(told.iter().all(|text| !text.contains(" — passed")), "{told:?}");
}

fn issues(values: &[Value]) -> Vec<String> {
    facts(FactKind::Issue, values)
}

#[test]
fn issues_are_told_where_they_are_named() {
    let prompt = "Fix https://forge.example/acme/app/issues/42 and mention GH-17.";
    assert_eq!(issues(&[message("user_message", prompt)]), ["Issue #42", "Issue #17"]);
    let committed = bash(
        "git commit -m 'Start faster' -m 'Fixes #42, and see issue #43.'",
        "[main 1a2b3c4] Start faster",
    );
    assert_eq!(issues(&[committed.clone(), committed]), ["Issue #42", "Issue #43"]);
    let opened = bash(
        "gh pr create --title 'Start faster' --body 'Closes acme/app#42'",
        "https://forge.example/acme/app/pull/7",
    );
    assert_eq!(issues(&[opened]), ["Issue #42"]);
    let mut on_branch = message("user_message", "Make the start faster");
    on_branch["meta"] = json!({"branch": "fix/issue-42-slow-start"});
    assert_eq!(issues(&[on_branch]), ["Issue #42"]);
}

#[test]
fn other_numbers_are_no_issues() {
    for prompt in [
        "Do #3 and fix #4 of your list",
        "Look at https://forge.example/acme/app/pull/42",
        "Here is the log:\n```\nissue #42 failed\n```",
        "Color it #123456 to fix the issue",
    ] {
        assert_eq!(issues(&[message("user_message", prompt)]), [""; 0], "{prompt}");
    }
    let answer = message("assistant_stop", "I found three: #1 a leak, #2 a race, #3 a typo.");
    assert_eq!(issues(&[answer, message("user_message", "Issue #2 first")]), [""; 0]);
    let script = "python3 - <<'EOF'\nprint('fixes #42')\nEOF\ngit commit -m 'Start faster'";
    assert_eq!(issues(&[bash(script, "[main 1a2b3c4] Start faster")]), [""; 0]);
    let squashed = bash("git commit -m 'Start faster (#42)'", "[main 1a2b3c4] Start faster (#42)");
    assert_eq!(issues(&[squashed]), [""; 0]);
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
    let events = lines(&[bash_failed("cargo test", "error[E0308]: mismatched types")]);
    let bullets = summarize(&events).bullets;
    let texts: Vec<&str> = bullets.iter().map(|bullet| bullet.text.as_str()).collect();
    assert_eq!(texts, ["Open: `cargo test` fails: error[E0308]: mismatched types"]);
}

fn decisions(question: &str, answer: &str) -> Vec<String> {
    let values = [message("assistant_stop", question), message("user_message", answer)];
    facts(FactKind::Decision, &values)
}

/// A second thought replaces the choice before it.
#[test]
fn a_choice_that_was_taken_back_is_no_decision() {
    let values = [
        message("user_message", "Let's go with the OAuth app for authentication in CI"),
        message("assistant_stop", "I'll set up the OAuth app of the organization."),
        message(
            "user_message",
            "actually lets go with the ANTHROPIC_API_KEY approach you recommended",
        ),
    ];
    assert_eq!(
        facts(FactKind::Decision, &values),
        ["Lets go with the ANTHROPIC_API_KEY approach you recommended"]
    );
}

#[test]
fn a_choice_between_designs_is_a_decision() {
    let menu = "Where should carts live?\n\n- A) In Postgres, one row each\n- B) In Redis only";
    assert_eq!(decisions(menu, "B"), ["Where should carts live? In Redis only"]);
    let distant = "Why did it fail? The lock is stale.\n\n- A) Delete the stale lock file\n- B) Wait for the other process to end";
    assert_eq!(decisions(distant, "B"), ["Wait for the other process to end"]);
    let choice = "Should carts live in Postgres or in Redis?";
    assert_eq!(decisions(choice, "Put carts in Redis").len(), 1);
}

#[test]
fn steps_and_dialogs_are_no_decisions() {
    let steps = "All done.\n\n**Next steps**\n1. Write the tests of the cart\n2. Update the readme";
    let going = "The plan is ready.\n\n1. Write the tests of the cart\n2. Go back to the start";
    let two_menus =
        "Three ways to list carts:\n- C) A table with filters on top\n\n[R] Refine [C] Continue";
    let long = "Saved.\n\n- [A] Refine the text\n- [C] Continue with the next chapter of the guide";
    let unclear =
        "What do you mean by smaller?\n\n1. Shorten the names of the columns\n2. Drop some";
    for (menu, label) in [(steps, "1"), (going, "2"), (two_menus, "c"), (long, "c"), (unclear, "1")]
    {
        assert!(decisions(menu, label).is_empty(), "{menu}");
    }
    let commit = "Shall I push cart.rs today, or hold off?";
    assert!(decisions(commit, "Hold off with cart.rs please").is_empty());
    let choice = "Should the parser of carts be strict or lenient?";
    assert!(decisions(choice, "shop.ParseError: carts.xml has no parser").is_empty());
}

#[test]
fn the_answer_to_a_question_tool_decides_unless_it_asks_back() {
    let asked = |question: &str, answer: &str| {
        let input = json!({"questions": [{"question": question}]});
        let tool = json!({"name": "AskUserQuestion", "input": input, "output": {"answers": {question: answer}}});
        facts(FactKind::Decision, &[json!({"kind": "tool_result", "tool": tool})]).len()
    };
    assert_eq!(asked("Which store should carts use?", "Redis"), 1);
    assert_eq!(asked("Which store should carts use?", "Could we try SQLite first?"), 0);
    assert_eq!(asked("Which store should carts use?", "Wait, let me look first"), 0);
    assert_eq!(asked("Should I work on all of it in this session?", "One task after the other"), 0);
}

#[test]
fn a_no_that_answers_a_question_corrects_nothing() {
    let corrections = |before: &str, prompt: &str| {
        let values = [message("assistant_stop", before), message("user_message", prompt)];
        facts(FactKind::Correction, &values)
    };
    let no = "No, the refund tests run against a sandbox";
    assert!(corrections("Do the tests for refunds cost money?", no).is_empty());
    assert_eq!(corrections("I ran the tests for refunds.", no), [no]);
    let vague = "That is not an option";
    assert!(corrections("I ran the tests for refunds.", vague).is_empty());
    let wrong = "That's wrong, carts expire after a day";
    assert_eq!(corrections("They expire after an hour. Shall I go on?", wrong), [wrong]);
}

#[test]
fn a_pasted_document_states_no_rules() {
    let prompt =
        "Always sort the cart by name.\n\n## Prices\n\nA price should never hold a currency sign.";
    assert_eq!(
        facts(FactKind::Convention, &[message("user_message", prompt)]),
        ["Always sort the cart by name."]
    );
    let glued = "no, read thisHere are **all rules** of the warehouse.\n\n---\n\n## Shelves\n\nHow are shelves counted?";
    assert!(facts(FactKind::Correction, &[message("user_message", glued)]).is_empty());
}

#[test]
fn a_failure_is_told_if_it_lasted() {
    let failed = bash_failed(
        "cargo test",
        "Exit code 101\nerror[E0425]: cannot find value `end` in this scope",
    );
    let passed = bash("cargo test", "test result: ok. 7 passed; 0 failed; 0 ignored");
    let edited = edit("/home/dev/app/src/lexer.rs");
    let request = message("user_message", "Speed up the lexer");
    let committed = bash("git commit -am x", "[main 1a2b3c4] Look up characters in a table");
    let told = |values: &[Value]| {
        let events = lines(values);
        let bullets = summarize(&events).bullets;
        bullets.iter().any(|bullet| bullet.text.contains("failed"))
    };
    // Set right at once, it is no news beside the result.
    assert!(!told(&[
        request.clone(),
        failed.clone(),
        edited.clone(),
        passed.clone(),
        committed.clone()
    ]));
    let again = [request, failed.clone(), edited.clone(), failed, edited, passed, committed];
    assert!(told(&again));
}

#[test]
fn questions_about_the_next_step_are_no_decisions() {
    let ask = |question: &str| {
        let input = json!({"questions": [{"question": question, "options": [{"label": "A"}, {"label": "B"}]}]});
        let mut event = bash("", "");
        event["tool"] = json!({"name": "AskUserQuestion", "input": input,
                               "output": {"answers": {question: "The second of them"}}});
        facts(FactKind::Decision, &[event]).len()
    };
    assert_eq!(ask("How should these fixups be committed?"), 0);
    assert_eq!(ask("What would you like to do with this todo?"), 0);
    assert_eq!(ask("Which commit convention should the linter enforce?"), 1);
}
