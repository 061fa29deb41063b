//! Recall never returns the agent's current turn, nor an earlier copy of its question without an
//! answer; an answered copy is returned as its answer.

use serde_json::{Value, json};

use crate::import::now_ms;
use crate::injections::{context, hook, says};
use crate::mcp_client::McpClient;
use crate::support::*;

const QUESTION: &str = "Why does the frobnicator drop its cache at midnight?";
/// The same with other whitespace, case and punctuation.
const AGAIN: &str = "why does  the FROBNICATOR drop its cache\nat midnight";
const ANSWER: &str = "A cron job empties the cache directory when the date changes.";

fn event(app: &std::path::Path, session: &str, minute: u64, kind: &str, text: &str) -> String {
    let at = now_ms() - (120 - minute) * 60_000;
    line_with(
        &json!({"agent": "codex", "session_id": session, "cwd": app, "kind": kind, "text": text, "at": at}),
    )
}

/// The question in three sessions: answered, abandoned, and current.
fn ask_three_times(world: &tome_testkit::World) -> std::path::PathBuf {
    let app = world.folder("app");
    let at = now_ms() - 9 * 60_000;
    let found = line_with(
        &json!({"agent": "codex", "session_id": "live", "cwd": app, "kind": "tool_result", "text": "", "at": at,
        "tool": {"name": "Bash", "input": {"command": "grep frobnicator"}, "output": "frobnicator cache drop midnight in this very turn"}}),
    );
    world.ingest(
        &[
            event(&app, "answered", 1, "user_message", QUESTION),
            event(&app, "answered", 2, "assistant_stop", ANSWER),
            event(&app, "answered", 3, "session_end", ""),
            event(&app, "given-up", 4, "user_message", &QUESTION.to_uppercase()),
            event(&app, "given-up", 5, "session_end", ""),
            event(
                &app,
                "live",
                50,
                "user_message",
                "The frobnicator cache is the subject of today.",
            ),
            event(&app, "live", 51, "assistant_stop", "Understood, the frobnicator cache it is."),
            event(&app, "live", 110, "user_message", AGAIN),
            found,
        ]
        .concat(),
    );
    app
}

/// The lines of the results, which are indented.
fn contents_of(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("    ")).collect()
}

fn is_question(text: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    };
    words(text.trim_start_matches("Asked: ")) == words(QUESTION)
}

#[test]
fn an_earlier_question_is_returned_as_its_answer() {
    let world = world();
    let app = ask_three_times(&world);
    let question: Value =
        json!({"query": "why does the frobnicator drop its cache at midnight", "limit": 20});
    for flags in [&["--session", "live"][..], &[]] {
        let args = [&["mcp", "--agent", "codex"], flags].concat();
        let mut client =
            McpClient::open_as(world.command(&args).current_dir(&app), "codex-mcp-client");
        let output = client.call_text("recall_memory", question.clone());
        let contents = contents_of(&output);
        assert!(
            contents.iter().any(|text| text.contains("cron job empties")),
            "{flags:?} {output}"
        );
        assert!(!contents.iter().any(|text| is_question(text)), "{flags:?} {output}");
        assert!(!contents.iter().any(|text| text.contains("this very turn")), "{flags:?} {output}");
        assert!(
            contents.iter().any(|text| text.contains("subject of today")),
            "earlier turns stay: {output}"
        );
    }
}

#[test]
fn a_hint_contains_the_answer_and_not_the_question() {
    let world = world();
    let app = ask_three_times(&world);
    let response = hook(&world, &["claude-code"], &says(&app, "new", AGAIN)).unwrap();
    let hints: Vec<&str> =
        context(&response).lines().filter(|line| line.starts_with("- ")).collect();
    assert!(hints.iter().any(|hint| hint.contains("cron job empties")), "{hints:?}");
    assert!(
        !hints.iter().any(|hint| hint.to_lowercase().contains("why does the frobnicator")),
        "{hints:?}"
    );
}

/// Two concurrent sessions of one agent, and a server that does not know its session.
#[test]
fn all_turns_in_progress_are_excluded() {
    let world = world();
    let app = world.folder("app");
    world.ingest(
        &[
            event(
                &app,
                "one",
                100,
                "user_message",
                "Find out why the zeppelin mooring slips. First.",
            ),
            event(
                &app,
                "two",
                101,
                "user_message",
                "Find out why the zeppelin mooring slips. Second.",
            ),
            event(&app, "done", 90, "user_message", "The zeppelin mooring slips, they say."),
            event(
                &app,
                "done",
                91,
                "assistant_stop",
                "The zeppelin mooring slips because its rope is wet.",
            ),
        ]
        .concat(),
    );
    let args = ["mcp", "--agent", "codex"];
    let mut client = McpClient::open_as(world.command(&args).current_dir(&app), "codex-mcp-client");
    let output =
        client.call_text("recall_memory", json!({"query": "zeppelin mooring slips", "limit": 20}));
    let contents = contents_of(&output);
    assert!(contents.iter().any(|text| text.contains("rope is wet")), "{output}");
    assert!(!contents.iter().any(|text| text.contains("Find out")), "{output}");
}
