//! Answers that are no results, and choices of the user.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tome_model::FactKind;

use super::edge_cases::lines;
use super::facts::facts;
use super::{check, events, rendered, summarize};

#[track_caller]
fn check_summary(values: &[Value], expected: &Expect) {
    let line = |(index, value): (usize, &Value)| {
        let at = 1_772_442_000_000_u64 + u64::try_from(index).unwrap() * 1000;
        let mut line =
            json!({"at": at, "session_id": "s", "agent": "claude-code", "cwd": "/home/dev/app"});
        line.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        line.to_string()
    };
    let events = events(&values.iter().enumerate().map(line).collect::<Vec<_>>().join("\n"));
    let summary = summarize(&events);
    check(&summary, &events);
    expected.assert_eq(&rendered(&summary));
}

fn user(text: &str) -> Value {
    json!({"kind": "user_message", "text": text})
}

fn agent(text: &str) -> Value {
    json!({"kind": "assistant_message", "text": text})
}

fn edit(path: &str) -> Value {
    json!({"kind": "tool_result", "tool": {"name": "Edit", "input": {"file_path": path, "old_string": "a", "new_string": "b"}, "output": {"filePath": path}}})
}

/// A message of the agent's service is no result; the request stays open.
#[test]
fn a_limit_of_the_service_is_no_conclusion() {
    check_summary(
        &[
            user("Add retries with backoff to the upload client"),
            agent("You've hit your limit · resets 11am (UTC)"),
        ],
        &expect![[r##"
            # Add retries with backoff to the upload client
            - Open: Not answered: Add retries with backoff to the upload client
                0 "Add retries with backoff to the upload client"
                1 "You've hit your limit · resets 11am (UTC)"
            [retries, backoff, upload, client]
        "##]],
    );
}

/// Neither the steps that are left nor the sources are the result.
#[test]
fn next_steps_and_sources_are_no_conclusion() {
    check_summary(
        &[
            user("Make the lexer accept unicode identifiers"),
            edit("/home/dev/app/src/lexer.rs"),
            agent(
                "`Lexer::ident` now follows the XID rules.\n\n## Next steps\n- Fixed-width identifiers should be removed from `parser.rs`\n- Run `cargo test`\n\nSources:\n- [Unicode identifiers](https://unicode.org/reports/tr31/)",
            ),
        ],
        &expect![[r##"
            # Lexer::ident now follows the XID rules
            - Make the lexer accept unicode identifiers → `Lexer::ident` now follows the XID rules.
                0 "Make the lexer accept unicode identifiers"
                2 "`Lexer::ident` now follows the XID rules."
            [lexer.rs, Lexer::ident, identifiers, unicode, accept, follows, XID]
        "##]],
    );
}

/// A plan that waits for consent is only proposed; the consent is a decision.
#[test]
fn a_proposal_is_decided_by_consent() {
    check_summary(
        &[
            user("Make the retry state of uploads survive a crash"),
            agent(
                "The plan has two steps:\n- Move the retry state into `uploads.db`\n- Read it again when the client starts\n\nDoes this plan look right?",
            ),
            user("yes"),
            edit("/home/dev/app/src/uploads.rs"),
            agent("Retry state is now stored in `uploads.db`."),
        ],
        &expect![[r##"
            # Retry state is now stored in uploads.db
            - Decided: The plan has two steps: Move the retry state into `uploads.db`; Read it again when the client starts (proposed by the agent, agreed)
                1 "The plan has two steps:"
                1 "- Move the retry state into `uploads.db`"
                1 "- Read it again when the client starts"
                2 "yes"
            - Make the retry state of uploads survive a crash → Retry state is now stored in `uploads.db`.
                0 "Make the retry state of uploads survive a crash"
                4 "Retry state is now stored in `uploads.db`."
            [uploads.rs, retry, survive, crash, stored, plan, client]
        "##]],
    );
}

/// An option chosen by its letter is told in its own words.
#[test]
fn an_option_is_told_in_its_own_words() {
    check_summary(
        &[
            user("Which queue should the importer use?"),
            agent(
                "A) Keep the channel in memory\nB) Use a table in SQLite\n\nWhich one do you prefer?",
            ),
            user("B"),
            edit("/home/dev/app/src/importer.rs"),
            agent("The importer now reads its jobs from the SQLite table `jobs`."),
        ],
        &expect![[r##"
            # The importer now reads its jobs from the SQLite table `jobs`
            - Decided: Which one do you prefer? Use a table in SQLite
                1 "Which one do you prefer?"
                1 "B) Use a table in SQLite"
                2 "B"
            - Which queue should the importer use? → The importer now reads its jobs from the SQLite table `jobs`.
                0 "Which queue should the importer use?"
                4 "The importer now reads its jobs from the SQLite table `jobs`."
            [importer.rs, jobs, SQLite, table, queue, reads, prefer]
        "##]],
    );
}

/// The direct answer to a question comes before its reasons, also if the agent went on to look around.
#[test]
fn a_question_is_answered_by_its_direct_answer() {
    let asked = user("Should we define agents in a file or continue ad hoc?");
    let answered = agent(
        "Continue ad hoc. Here's why:\n\n**What repeated today:** The commit pattern (3 times, same shape, different repos).",
    );
    let told = facts(FactKind::Outcome, &[asked, answered]);
    assert!(told.iter().any(|text| text.contains("→ Continue ad hoc.")), "{told:?}");
    let looked = json!({"kind": "tool_result", "tool": {"name": "Read", "input": {"file_path": "/home/dev/app/plugin.json"}, "output": "{}"}});
    let told = facts(
        FactKind::Outcome,
        &[
            user("Should the install command still exist?"),
            agent("No. The plugin provides the skills directly, so there is no installation step."),
            looked,
            agent("The `install` command is defined in `plugin.json` of the plugin."),
        ],
    );
    assert!(told.iter().any(|text| text.contains("→ No. The plugin provides")), "{told:?}");
}

/// "Yes" to an offer is no answer to the question before it.
#[test]
fn consent_does_not_answer_the_question_before_the_offer() {
    let bullets = summarize(&lines(&[
        user("Does this follow the guidelines for plugins and skills?"),
        agent(
            "Copying skills into the folder of the user is an undocumented pattern that creates duplicates.\n\nWant me to remove both commands from `plugin.json`?",
        ),
        user("yes remove both"),
        edit("/home/dev/app/plugin.json"),
        agent("`install-statusline` stays, because it only configures the status bar."),
    ]))
    .bullets;
    let wrong = bullets.iter().find(|bullet| {
        bullet.text.contains("guidelines") && bullet.text.contains("install-statusline")
    });
    assert!(wrong.is_none(), "{wrong:?}");
}

/// The words of the user below the template of a command, not the template.
#[test]
fn the_template_of_a_command_is_no_request() {
    check_summary(
        &[
            user(
                "## User Input\n\n```text\nAdd a dark theme to the settings page\n```\n\nYou **MUST** consider the user input before proceeding.\n\n## Outline\n\n1. Run `.specify/scripts/check.sh --json` from repo root.",
            ),
            edit("/home/dev/app/src/settings.tsx"),
            agent("The settings page has a dark theme now, chosen with `theme=dark`."),
        ],
        &expect![[r##"
            # The settings page has a dark theme now, chosen with theme=dark
            - The settings page has a dark theme now, chosen with `theme=dark`.
                0 "Add a dark theme to the settings page"
                2 "The settings page has a dark theme now, chosen with `theme=dark`."
            [settings.tsx, dark, theme, page, chosen]
        "##]],
    );
}

/// A long description of the problem leaves no space for the solution, which is the result.
#[test]
fn the_solution_is_the_result_not_the_problem() {
    check_summary(
        &[
            user("The explain command fails with session not found"),
            edit("/home/dev/app/src/explain.rs"),
            agent(
                "## Summary\n\n**Problem:** `explain` was failing with \"session not found\" when the current session had no checkpoints yet, even though there was other useful context to show.\n\n**Solution:** Changed `run_explain` in `explain.rs` to:\n1. Check whether the session exists before explaining it\n2. Show an overview of the available sessions otherwise",
            ),
        ],
        &expect![[r##"
            # Reported: The explain command fails with session not found
            - The explain command fails with session not found → Solution: Changed `run_explain` in `explain.rs` to: Check whether the session exists before explaining it; Show an overview of the available sessions otherwise
                0 "The explain command fails with session not found"
                2 "**Solution:** Changed `run_explain` in `explain.rs` to:"
                2 "1. Check whether the session exists before explaining it"
                2 "2. Show an overview of the available sessions otherwise"
            [explain.rs, session, run_explain, Solution, exists, overview, available]
        "##]],
    );
}

/// "Ready to commit" is no result, and neither are the names of the files that were changed for the request.
#[test]
fn a_status_of_the_agent_is_no_result() {
    check_summary(
        &[
            user("Rename the flag `--fast` to `--quick` in the manual"),
            edit("/home/dev/app/docs/manual.md"),
            agent("Ready to commit when you are."),
            user("Sort the chapters of the manual by their age"),
            edit("/home/dev/app/docs/manual.md"),
            agent("The chapters of `manual.md` are sorted by the date of their first commit now."),
        ],
        &expect![[r##"
            # Rename the flag --fast to --quick in the manual
            - Sort the chapters of the manual by their age → The chapters of `manual.md` are sorted by the date of their first commit now.
                3 "Sort the chapters of the manual by their age"
                5 "The chapters of `manual.md` are sorted by the date of their first commit now."
            [manual.md, chapters, Rename, flag, fast, Sort, date]
        "##]],
    );
}

/// A request whose turn ends without an answer is told by the title only: names of files say little.
#[test]
fn a_request_without_an_answer_has_no_line() {
    check_summary(
        &[
            user("Teach the exporter to write its tables as CSV files"),
            edit("/home/dev/app/src/exporter.rs"),
            edit("/home/dev/app/src/table.rs"),
            user("Translate the labels of the menu into French"),
            agent("All 14 labels of the menu are translated into French."),
        ],
        &expect![[r##"
            # Teach the exporter to write its tables as CSV files
            - Translate the labels of the menu into French → All 14 labels of the menu are translated into French.
                3 "Translate the labels of the menu into French"
                4 "All 14 labels of the menu are translated into French."
            [exporter.rs, table.rs, labels, menu, French, Translate, Teach]
        "##]],
    );
}

/// That a commit was made is told by the commit.
#[test]
fn an_answer_that_only_reports_the_commit_is_left_out() {
    let mut commit = json!({"kind": "tool_result", "role": "tool", "text": ""});
    commit["tool"] = json!({
        "name": "Bash",
        "input": {"command": "git commit -am 'Sort the chapters by age'"},
        "output": "[main 1a2b3c4] Sort the chapters by age\n 1 file changed, 2 insertions(+)",
    });
    check_summary(
        &[
            user("Commit the new order of the chapters in the manual"),
            commit,
            agent("Committed as `1a2b3c4` on `main`, with the new order of the chapters."),
        ],
        &expect![[r##"
            # Sort the chapters by age
            - Committed: Sort the chapters by age (1a2b3c4)
                1 "[main 1a2b3c4] Sort the chapters by age"
            [chapters, Sort, age]
        "##]],
    );
}
