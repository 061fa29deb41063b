//! Segments with little in them, or too much.

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tome_contents::{Extractive, SegmentInput, Summarizer};
use tome_model::Event;

use super::{check, events, rendered, summarize};

pub(super) fn lines(values: &[Value]) -> Vec<Event> {
    let line = |(index, value): (usize, &Value)| {
        let mut line = json!({"at": 1_772_442_000_000_u64 + u64::try_from(index).unwrap() * 1000, "session_id": "s", "agent": "claude-code", "cwd": "/home/dev/app"});
        line.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        line.to_string()
    };
    events(&values.iter().enumerate().map(line).collect::<Vec<_>>().join("\n"))
}

#[track_caller]
fn check_summary(values: &[Value], expected: &Expect) {
    let events = lines(values);
    let summary = summarize(&events);
    check(&summary, &events);
    expected.assert_eq(&rendered(&summary));
}

pub(super) fn message(kind: &str, text: &str) -> Value {
    json!({"kind": kind, "text": text})
}

pub(super) fn bash(command: &str, stdout: &str) -> Value {
    json!({"kind": "tool_result", "tool": {"name": "Bash", "input": {"command": command}, "output": {"stdout": stdout, "stderr": ""}}})
}

pub(super) fn bash_failed(command: &str, output: &str) -> Value {
    json!({"kind": "tool_result", "meta": {"failed": true}, "tool": {"name": "Bash", "input": {"command": command}, "output": output}})
}

pub(super) fn edit(path: &str) -> Value {
    json!({"kind": "tool_result", "tool": {"name": "Edit", "input": {"file_path": path, "old_string": "a", "new_string": "b"}, "output": {"filePath": path}}})
}

#[test]
fn a_session_start_alone_has_a_title() {
    check_summary(
        &[json!({"kind": "session_start", "meta": {"source": "startup"}})],
        &expect![[r#"
            # Session opened, nothing asked yet
            []
        "#]],
    );
}

#[test]
fn no_events_give_an_empty_summary() {
    check_summary(
        &[],
        &expect![[r#"
        # Nothing said
        []
    "#]],
    );
}

#[test]
fn tool_calls_alone_are_summarized_as_actions() {
    check_summary(
        &[
            edit("/home/dev/app/src/lexer.rs"),
            bash_failed(
                "cargo test 2>&1 | tail -40",
                "Exit code 101\nerror[E0425]: cannot find value `end` in this scope\nerror: could not compile `app`",
            ),
            edit("/home/dev/app/src/lexer.rs"),
            bash("cargo test", "test result: ok. 7 passed; 0 failed"),
        ],
        &expect![[r##"
            # Changed lexer.rs
            - `cargo test` failed: error[E0425]: cannot find value `end` in this scope — passed after changes to lexer.rs
                1 "error[E0425]: cannot find value `end` in this scope"
                3 "test result: ok. 7 passed; 0 failed"
                2 "/home/dev/app/src/lexer.rs"
            [lexer.rs, E0425, cargo, scope]
        "##]],
    );
}

#[test]
fn reads_alone_are_summarized_as_reads() {
    check_summary(
        &[
            json!({"kind": "tool_result", "tool": {"name": "Read", "input": {"file_path": "/home/dev/app/src/lib.rs"}, "output": "…"}}),
            bash("git log --oneline -5", "4be21d7 lexer: fix"),
        ],
        &expect![[r#"
            # Read lib.rs
            [lib.rs]
        "#]],
    );
    check_summary(
        &[bash("git diff main...HEAD --stat", " src/a.rs | 4 +-\n")],
        &expect![[r#"
            # Ran git diff main...HEAD --stat
            [diff, HEAD, stat]
        "#]],
    );
}

#[test]
fn logs_alone_are_summarized_by_their_failure() {
    check_summary(
        &[message(
            "unknown",
            "2026-03-02T10:00:00Z INFO  starting\n2026-03-02T10:00:03Z ERROR db: connection refused (os error 111)",
        )],
        &expect![[r#"
            # ERROR db: connection refused (os error 111)
            [connection, refused]
        "#]],
    );
}

#[test]
fn a_pasted_log_is_not_a_request() {
    check_summary(
        &[
            message(
                "user_message",
                "❯ git push\n! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'origin'",
            ),
            message(
                "assistant_stop",
                "Somebody pushed before you. Run `git pull --rebase` first, then push again.",
            ),
        ],
        &expect![[r#"
            # Error: failed to push some refs to 'origin'
            [push, refs, origin]
        "#]],
    );
}

#[test]
fn injections_and_reminders_are_ignored() {
    check_summary(
        &[
            message(
                "user_message",
                "<tome-memory kind=\"start\">Remember: always decide quickly.</tome-memory>\n<system-reminder>The todo list is empty, do not mention it.</system-reminder>\nRename the flag `--fast` to `--quick` in cli.rs",
            ),
            edit("/home/dev/app/src/cli.rs"),
            message(
                "assistant_stop",
                "\u{1b}[32mRenamed\u{1b}[0m `--fast` to `--quick`; the old name still works and warns. The token is [redacted].",
            ),
        ],
        &expect![[r##"
            # Renamed --fast to --quick, the old name still works and warns
            - Rename the flag `--fast` to `--quick` in cli.rs → Renamed `--fast` to `--quick`; the old name still works and warns.
                0 "Rename the flag `--fast` to `--quick` in cli.rs"
                2 "\u{1b}[32mRenamed\u{1b}[0m `--fast` to `--quick`; the old name still works and warns."
            [cli.rs, fast, Rename, flag, name, warns]
        "##]],
    );
}

#[test]
fn an_acknowledgment_is_not_a_title() {
    check_summary(
        &[
            message("user_message", "yes, do it"),
            edit("/home/dev/app/src/retry.rs"),
            bash("git commit -am \"retry: back off exponentially\"", "[main 1] retry"),
            message("assistant_stop", "Done."),
        ],
        &expect![[r##"
            # Retry: back off exponentially
            - Committed: retry: back off exponentially
                2 "retry: back off exponentially"
            [retry.rs, exponentially]
        "##]],
    );
}

#[test]
fn the_request_before_a_split_gives_the_title() {
    let before = lines(&[message("user_message", "Move the session cache from Redis to Postgres")]);
    let events =
        lines(&[edit("/home/dev/app/cache.go"), bash("go test ./...", "ok  \tapp/cache\t0.2s")]);
    let summary = Extractive
        .summarize_segment(&SegmentInput {
            events: &events,
            earlier_request: before.first(),
            ..SegmentInput::default()
        })
        .unwrap();
    check(&summary, &events);
    expect![[r#"
        # Move the session cache from Redis to Postgres
        [cache.go, session, Redis]
    "#]]
    .assert_eq(&rendered(&summary));
}

#[test]
fn huge_texts_are_read_at_head_and_tail() {
    let row = "{\"id\": 1, \"name\": \"näme\", \"error\": null}, ";
    let huge = format!(
        "[{}]\nError: row 7 has no price\ntest result: FAILED. 3 passed; 1 failed",
        row.repeat(120_000)
    );
    check_summary(
        &[
            message("user_message", "Run the whole suite against the export"),
            bash_failed("cargo test --test export", &huge),
            message(
                "assistant_stop",
                &format!("The export is too big: {}", "very ".repeat(200_000)),
            ),
        ],
        &expect![[r##"
            # Run the whole suite against the export
            - Open: `cargo test` fails: Error: row 7 has no price
                1 "Error: row 7 has no price"
            [export, suite, row, price, cargo]
        "##]],
    );
}
