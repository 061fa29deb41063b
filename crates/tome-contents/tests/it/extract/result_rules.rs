//! Which texts are results and titles, and which are left out.

use serde_json::{Value, json};
use tome_contents::{Extractive, RollupInput, SegmentInput, Summarizer};
use tome_model::{Fact, FactKind};

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
    // The other way fails for a reason of its own.
    let values = [
        bash_failed("npx wrap test", "error: unrecognized subcommand 'test'"),
        bash_failed("cargo test", "error[E0425]: cannot find value `end` in this scope"),
    ];
    let told = facts(FactKind::Problem, &values);
    assert!(told.iter().all(|text| !text.contains("subcommand")), "{told:?}");
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

#[expect(clippy::needless_pass_by_value, reason = "json!(…) reads better without a &")]
fn call(tool: &str, input: Value, output: Value) -> Value {
    json!({"kind": "tool_result", "tool": {"name": tool, "input": input, "output": output}})
}

#[test]
fn finished_steps_are_told_instead_of_the_names_of_files() {
    let ask = user("Add a quiet mode to the importer");
    let create = |id: &str, subject: &str| {
        call(
            "TaskCreate",
            json!({"subject": subject}),
            json!({"task": {"id": id, "subject": subject}}),
        )
    };
    let update = |id: &str, status: &str| {
        call("TaskUpdate", json!({"taskId": id, "status": status}), json!({"success": true}))
    };
    let edited = edit("/home/dev/app/src/importer.rs");
    let claude = [
        ask.clone(),
        create("1", "Hide the table of skipped rows"),
        create("2", "Write the flag into the manual"),
        create("3", "Run all tests again"),
        update("1", "in_progress"),
        edited.clone(),
        update("1", "completed"),
        update("3", "completed"),
    ];
    assert_eq!(bullets(&claude), ["Finished: Hide the table of skipped rows"]);
    let plan = |first: &str, second: &str| {
        let steps = json!([
            {"step": "Hide the table of skipped rows", "status": first},
            {"step": "Write the flag into the manual", "status": second},
        ]);
        call("update_plan", json!({"plan": steps}), json!("Plan updated"))
    };
    let codex = [
        ask.clone(),
        plan("in_progress", "pending"),
        edited.clone(),
        plan("completed", "completed"),
    ];
    assert_eq!(
        bullets(&codex),
        ["Finished: Hide the table of skipped rows; Write the flag into the manual"]
    );
    // They may have been finished before.
    assert!(bullets(&[ask.clone(), plan("completed", "completed"), edited.clone()]).is_empty());
    assert!(bullets(&[ask, edited]).is_empty());
}

#[test]
fn a_commit_that_is_amended_twice_is_still_that_of_earlier_work() {
    let amend =
        |hash: &str| bash("git commit --amend --no-edit", &format!("[main {hash}] Add a cache"));
    let values =
        [user("Address the review comments on the cache"), amend("1a2b3c4"), amend("9f8e7d6")];
    assert!(bullets(&values).iter().all(|text| !text.starts_with("Committed")));
    assert_eq!(summarize(&lines(&values)).title, "Address the review comments on the cache");
}

#[test]
fn commits_that_are_squashed_onto_an_older_one_are_gone() {
    let values = [
        user("Drop the old loader and squash it"),
        bash("git commit -am 'Drop the old loader'", "[main 4ce8ecc] Drop the old loader"),
        bash(
            "git reset -q --soft 6cffc57 && git commit -qam 'Check the config'",
            "8975f26 Check the config\n6cffc57 Read the config",
        ),
    ];
    let told = facts(FactKind::Commit, &values);
    assert!(told.iter().all(|text| !text.contains("4ce8ecc")), "{told:?}");
}

#[test]
fn a_session_is_named_by_the_request_that_names_its_subject() {
    let title = |values: &[Value]| summarize(&lines(values)).title;
    let overview =
        [user("Get an overview of the repository"), agent("It has four crates.")].to_vec();
    let invoices =
        [user("Write the invoices to one archive per month"), edit("/home/dev/app/src/export.rs")];
    assert_eq!(
        title(&[overview, invoices.to_vec()].concat()),
        "Write the invoices to one archive per month"
    );
    let merged =
        [user("Merge it"), bash("gh pr merge 6 --squash", "✓ Squashed and merged pull request #6")];
    assert_eq!(title(&merged), "Merged PR #6");
    let deleted = [
        user("Clean up those"),
        bash("rm -r old", ""),
        agent("Deleted all 20 stale exports of `invoices` from the bucket of the old account."),
    ];
    assert!(title(&deleted).starts_with("Deleted all 20 stale exports"), "{}", title(&deleted));
}

#[test]
fn the_heading_of_an_enumeration_is_no_title() {
    let values = [
        user("And the second one please, for the launch of the importer"),
        agent("### Post 2: the importer and its quiet launch\n\nIt reads rows faster.\n"),
    ];
    assert!(!summarize(&lines(&values)).title.starts_with("Post 2"));
}

#[test]
fn the_result_of_a_review_is_told_to_those_who_asked_for_one() {
    let answer = "All confirmed. C1 and C2 are real, and the repair of the importer missed both of them.\n\n\
                  ## Review result: BLOCKED (second pass)\n\nThe importer reads a flag that no file sets.";
    let told = |prompt: &str| {
        let values = [user(prompt), edit("/home/dev/app/src/importer.rs"), agent(answer)];
        facts(FactKind::Outcome, &values).iter().any(|text| text.contains("Review result: BLOCKED"))
    };
    assert!(told("Repair the importer and review it again"));
    assert!(!told("Repair the importer and its flag"));
}

#[test]
fn an_error_of_git_is_not_blamed_on_the_check_before_it() {
    let failed = bash_failed(
        "gofmt -w a.go && go test ./... && git add b.go",
        "fatal: pathspec 'b.go' did not match any files",
    );
    assert!(facts(FactKind::Problem, &[failed]).is_empty());
}

#[test]
fn a_proposed_plan_gives_the_title_unless_it_is_refused() {
    let plan = agent("<proposed_plan>\n# Queue for failed uploads\n\n1. Read\n</proposed_plan>");
    let ask = user("Think about the uploads that fail at night");
    let title = |values: &[Value]| summarize(&lines(values)).title;
    assert_eq!(title(&[ask.clone(), plan.clone()]), "Queue for failed uploads");
    assert_ne!(title(&[ask, plan, user("No, leave it")]), "Queue for failed uploads");
}

#[test]
fn a_day_leaves_out_doubtful_results_of_a_session_with_better_ones() {
    let child = |what: &str, session: &str| {
        let prompt = format!("Where does the {what} keep its index?");
        let answer = format!(
            "The {what} keeps its index in `{what}/index.db`, which is written once per day."
        );
        let mut node =
            super::periods::node(&summarize(&lines(&[user(&prompt), agent(&answer)])), session, 2);
        node.work.iter_mut().for_each(|work| work.branch = Some("indexes".to_owned()));
        node
    };
    let doubtful = |session: &str| {
        let mut node = child("scheduler", session);
        for fact in node.work.iter_mut().flat_map(|work| &mut work.facts) {
            if fact.kind == FactKind::Outcome {
                let grips = fact.grips().to_vec();
                *fact = Fact::new(fact.kind, fact.text.clone(), fact.at, 1, grips).unwrap();
            }
        }
        node
    };
    let tells = |session: &str| {
        let sure = ["exporter", "importer", "uploader"].map(|what| child(what, "s"));
        let children = [&sure[..], &[doubtful(session)]].concat();
        let input = RollupInput {
            level: tome_model::Level::Day,
            period: "Monday, March 2, 2026",
            children: &children,
        };
        let bullets = Extractive.summarize_period(&input).unwrap().bullets;
        bullets.iter().any(|bullet| bullet.text.contains("scheduler"))
    };
    assert!(!tells("s"));
    assert!(tells("other"));
}

#[test]
fn a_day_leaves_out_a_result_that_a_later_segment_takes_back() {
    let exchange = |prompt: &str, answer: &str| [user(prompt), agent(answer)].to_vec();
    let first = exchange(
        "Why is the nightly import of the invoices slow?",
        "The nightly import of the invoices is slow because the cache of `load_rows` is never hit.",
    );
    let second = exchange(
        "Measure the cache of the nightly import of the invoices",
        "I was wrong: the cache of `load_rows` is hit in the nightly import of the invoices, which waits for the disk.",
    );
    let child = |values: &[Value]| super::periods::node(&summarize(&lines(values)), "s", 2);
    let children = [child(&first), child(&second)];
    let input = RollupInput {
        level: tome_model::Level::Day,
        period: "Monday, March 2, 2026",
        children: &children,
    };
    let bullets = Extractive.summarize_period(&input).unwrap().bullets;
    assert!(bullets.iter().all(|bullet| !bullet.text.contains("is never hit")), "{bullets:?}");
    assert!(bullets.iter().any(|bullet| bullet.text.contains("waits for the disk")), "{bullets:?}");
}
