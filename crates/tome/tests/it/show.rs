//! `tome show`: one event by its id or a prefix.

use serde_json::json;

use crate::scene::{line, line_with, world};

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
    let text = world.tome(&["show", "tool1"]).stdout;
    for part in ["Bash", "cargo test", "\"turn\":7", "tool_result"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(!text.contains('\u{1b}'), "no control characters: {text:?}");
}
