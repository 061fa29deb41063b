//! Which texts are results and titles, and which are left out.

use serde_json::{Value, json};
use tome_contents::{Extractive, RollupInput, SegmentInput, Summarizer};
use tome_model::FactKind;

use super::edge_cases::{bash, bash_failed, edit, lines, message};
use super::facts::facts;
use super::summarize;

fn user(text: &str) -> Value {
    message("user_message", text)
}

fn agent(text: &str) -> Value {
    message("assistant_message", text)
}

fn bullets(values: &[Value]) -> Vec<String> {
    summarize(&lines(values)).bullets.into_iter().map(|bullet| bullet.text).collect()
}

#[test]
fn a_message_before_more_work_is_no_result() {
    let events = lines(&[
        user("Move the session store to the new table"),
        edit("/home/dev/app/src/session.rs"),
        agent("Changed `session.rs` to read the new table and removed the old query."),
    ]);
    let outcomes = |breaks_turn: bool| {
        let input = SegmentInput {
            events: &events,
            is_followed: true,
            breaks_turn,
            ..SegmentInput::default()
        };
        let summary = Extractive.summarize_segment(&input).unwrap();
        let facts = summary.work.into_iter().flat_map(|work| work.facts);
        facts.filter(|fact| fact.kind == FactKind::Outcome).count()
    };
    assert_eq!(outcomes(false), 1);
    assert_eq!(outcomes(true), 0);
}

#[test]
fn a_result_that_the_agent_takes_back_is_left_out() {
    let first =
        "The token is read from `auth.toml`, which the installer writes on the first start.";
    let admission = "I owe you a correction: `auth.toml` is never read. The token comes from the \
                     keyring of the system, and the installer only writes the name of the account.";
    let told = |later: &str| {
        let values = [
            user("Where does the client read its token from?"),
            agent(first),
            user("Can you check that once more in the source?"),
            agent(later),
        ];
        facts(FactKind::Outcome, &values).iter().any(|text| text.contains("the installer writes"))
    };
    assert!(told("The installer of the client is signed, and `sign.toml` has the key for it."));
    assert!(!told(admission));
}

#[test]
fn of_two_requests_in_a_row_the_answer_is_told_for_the_one_it_is_about() {
    let answer = "Added the `--quiet` flag to the importer, which hides the table of skipped rows.";
    let told = |first: &str, second: &str| {
        let values =
            [user(first), edit("/home/dev/app/src/importer.rs"), user(second), agent(answer)];
        facts(FactKind::Outcome, &values)
    };
    let flag = "Add a quiet flag to the importer";
    let tiles = "Show the map tiles in two columns";
    assert!(told(tiles, flag).iter().any(|text| text.starts_with("Add a quiet flag")));
    assert!(!told(flag, tiles).iter().any(|text| text.starts_with("Show the map")));
}

#[test]
fn a_failure_is_not_explained_by_a_line_of_source_code() {
    let failed = |output: &str| facts(FactKind::Problem, &[bash_failed("bun test", output)]);
    let listing = "12 | throw new Error(\"queue is closed\");\n\nTypeError: jobs is not iterable";
    assert!(failed(listing).iter().all(|text| text.contains("jobs is not iterable")));
    let frame = "   | ^^^^^ expected `str`, found `int`\nerror: Invalid argument type in jobs.py";
    assert!(failed(frame).iter().all(|text| !text.contains("^^^")));
}

#[test]
fn a_wrapper_that_is_missing_is_no_problem_of_the_project() {
    let values = [
        user("Run the tests of the importer"),
        bash_failed("npx wrap test", "error: unrecognized subcommand 'test'"),
        bash("cargo test", "test result: ok. 12 passed"),
        agent("ok"),
    ];
    assert!(facts(FactKind::Problem, &values).is_empty());
}

#[test]
fn the_number_of_a_pull_request_alone_is_no_bullet() {
    let values = [user("Look at the pull request"), bash("gh pr view 7 --json state", "OPEN")];
    assert!(bullets(&values).iter().all(|text| text != "PR #7"));
}

#[test]
fn a_command_that_only_looks_gives_no_title() {
    let title =
        |command: &str| summarize(&lines(&[user("yes"), bash(command, "On branch main")])).title;
    assert!(!title("git status").starts_with("Ran "));
    assert!(title("make package").starts_with("Ran "));
}

#[test]
fn a_plan_file_is_told_by_its_heading() {
    let path = "/home/dev/.agent/plans/purple-dancing-fox.md";
    let plan = json!({"kind": "tool_result", "tool": {"name": "Write", "input": {"file_path": path, "content": "# Plan: Queue for failed uploads\n\nSteps"}, "output": {"filePath": path}}});
    assert_eq!(summarize(&lines(&[plan])).title, "Plan: Queue for failed uploads");
}

#[test]
fn the_title_of_a_day_names_what_most_of_its_work_is_about() {
    let exchange = |prompt: &str, answer: &str| [user(prompt), agent(answer)].to_vec();
    let work = [
        exchange("How large is the logo?", "The logo has 40 KB, of which 30 are its metadata."),
        exchange(
            "Plan the export of invoices as archives",
            "The export of invoices writes one archive per month with `zip` and an index of its files.",
        ),
        exchange(
            "Which archives does the export of invoices keep?",
            "The export of invoices keeps the archives of 24 months in `exports/` and deletes older ones.",
        ),
        exchange(
            "Where does the export of invoices log its errors?",
            "The export of invoices logs errors of its archives to `export.log` beside the index.",
        ),
    ];
    let children: Vec<_> = work
        .iter()
        .map(|values| super::periods::node(&summarize(&lines(values)), "s", 2))
        .collect();
    let input = RollupInput {
        level: tome_model::Level::Day,
        period: "Monday, March 2, 2026",
        children: &children,
    };
    let title = Extractive.summarize_period(&input).unwrap().title;
    assert!(title.contains("xport of invoices"), "{title}");
}
