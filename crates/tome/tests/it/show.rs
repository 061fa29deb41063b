//! `tome show`: one event by its id or a prefix.

use serde_json::json;

use crate::support::{line, line_with, world};

#[test]
fn an_event_is_shown_by_id_or_prefix() {
    let world = world();
    world.ingest(&(line("abcd1111", 1_000, "one") + &line("abcd2222", 2_000, "two")));
    for id in ["abcd1111", "abcd11", "abcd1"] {
        let ran = world.tome(&["show", id, "--json"]);
        assert_eq!((ran.code, &ran.json()["text"]), (0, &json!("one")), "{id}");
    }
    let text = world.tome(&["show", "abcd2222"]).stdout;
    assert!(text.contains("abcd2222") && text.ends_with("\ntwo\n"), "{text}");
}

#[test]
fn a_complete_id_is_not_ambiguous() {
    let world = world();
    world.ingest(&(line("abcd", 1_000, "short") + &line("abcdef", 2_000, "long")));
    let ran = world.tome(&["show", "abcd", "--json"]);
    assert_eq!(ran.json()["text"], "short");
}

#[test]
fn an_ambiguous_prefix_lists_the_candidates() {
    let world = world();
    world.ingest(&(line("abcd1111", 1_000, "one") + &line("abcd2222", 2_000, "two")));
    let ran = world.tome(&["show", "abcd"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    for id in ["abcd1111", "abcd2222"] {
        assert!(ran.stderr.contains(id), "{}", ran.stderr);
    }
}

#[test]
fn a_missing_event_exits_with_4() {
    let world = world();
    for id in ["nothing-here", "ab", "a b"] {
        let ran = world.tome(&["show", id]);
        let code = if id.contains(' ') { 2 } else { 4 };
        assert_eq!((ran.code, ran.stdout.as_str()), (code, ""), "{id}");
        assert!(ran.stderr.starts_with("error: "), "{}", ran.stderr);
    }
}

#[test]
fn an_event_of_any_project_is_shown() {
    let world = world();
    for n in 0..3 {
        let (id, cwd) = (format!("event{n}"), format!("/project{n}"));
        world.ingest(&line_with(&json!({"id": id, "cwd": cwd, "text": id})));
    }
    for n in 0..3 {
        let ran = world.tome(&["show", &format!("event{n}"), "--json"]);
        assert_eq!(ran.json()["project"], format!("/project{n}"));
    }
    assert_eq!(world.tome(&["show", "event"]).code, 2);
}

#[test]
fn a_tool_call_is_shown_in_full() {
    let world = world();
    world.ingest(&line_with(&json!({
        "id": "tool1", "kind": "tool_result", "text": "", "meta": {"turn": 7},
        "tool": {"name": "Bash", "input": {"command": "cargo test"}, "output": "ok\u{1b}]0;title\u{7}"},
    })));
    let text = world.tome(&["show", "tool1", "-v"]).stdout;
    for part in ["Bash", "cargo test", "\"turn\":7", "tool_result"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains('\u{1b}'), "no control characters: {text:?}");
    let listed = world.tome(&["events", "--full"]).stdout;
    assert!(listed.contains("$ cargo test") && listed.contains("ok"), "{listed}");
}

#[test]
fn the_words_of_a_search_are_kept_in_a_long_output() {
    let world = world();
    let filler = "Compiling one more file of the project\n".repeat(300);
    let output = format!("{filler}replication lag limit: 40 s\n{filler}");
    let tool = json!({"name": "Bash", "input": {"command": "make"}, "output": output});
    world.ingest(&line_with(
        &json!({"id": "made", "kind": "tool_result", "text": "", "tool": tool}),
    ));
    let found = world.tome(&["recall", "replication lag limit"]).stdout;
    assert!(found.contains("tome show 1 'replication lag limit'"), "{found}");
    let shown = world.tome(&["show", "1", "replication lag limit"]).stdout;
    assert!(shown.contains("replication lag limit: 40 s"), "{shown}");
    assert!(!world.tome(&["show", "1"]).stdout.contains("replication lag limit"));
    let empty = world.tome(&["show", ""]);
    assert_eq!(empty.code, 2);
    assert!(empty.stderr.contains("the id is empty"), "{}", empty.stderr);
}

#[test]
fn the_steps_of_a_long_turn_are_counted() {
    let world = world();
    let step = |n: u64| {
        let tool =
            json!({"name": "Bash", "input": {"command": format!("make part-{n}")}, "output": ""});
        line_with(&json!({"id": format!("step{n}"), "kind": "tool_result", "at": 2_000 + n,
            "text": "", "tool": tool}))
    };
    let steps: String = (0..20).map(step).collect();
    let answer = json!({"id": "answer", "kind": "assistant_message", "at": 9_000, "text": "All parts are made."});
    world.ingest(&(line("ask", 1_000, "make all parts") + &steps + &line_with(&answer)));
    let text = world.tome(&["show", "1"]).stdout;
    assert!(text.contains("… 13 more events, #6 to #18 …"), "{text}");
    assert!(text.contains("make part-3") && !text.contains("make part-4\n"), "{text}");
    assert!(text.contains("make part-19") && text.contains("All parts are made."), "{text}");
    assert!(world.tome(&["show", "1", "--full"]).stdout.contains("make part-4\n"));
    let middle = world.tome(&["show", "12"]).stdout;
    for part in ["make all parts", "#6 to #7", "> #12", "make part-10", "All parts are made."] {
        assert!(middle.contains(part), "{part}: {middle}");
    }
    assert!(world.tome(&["show", "1", "--around", "12"]).stdout.contains("make part-9\n"));

    let ends = "The record of the session ends here.";
    assert!(world.tome(&["show", "1", "--around", "50"]).stdout.contains(ends));
    assert!(!world.tome(&["show", "1", "--around", "5"]).stdout.contains(ends));
}

#[test]
fn a_listed_prompt_is_what_the_user_typed() {
    let world = world();
    let text = "<ide_opened_file>The user opened src/lexer.rs in the editor.</ide_opened_file>lock the channel";
    world.ingest(&line("ask", 1_000, text));
    let listed = world.tome(&["events", "--role", "user"]).stdout;
    assert!(listed.contains("lock the channel") && !listed.contains("ide_opened"), "{listed}");
}
