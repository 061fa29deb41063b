//! Secrets as they occur in terminals, commands and manifests, and private parts in all spellings:
//! none of it reaches a file, through the socket or the spool.

use serde_json::json;
use tome_testkit::World;

use crate::support::{line_with, prompt, tool_result, world};

/// A text and the parts that must not be stored.
const TEXTS: [(&str, &[&str]); 12] = [
    ("\u{1b}[34mpassword\u{1b}[0m=\u{1b}[32mcorrect9Horse7\u{1b}[0m", &["correct9Horse7"]),
    ("AKIAQ3EG\u{1b}[01;31m\u{1b}[KRZZT5WVN2XKD\u{1b}[m", &["AKIAQ3EG", "RZZT5WVN2XKD"]),
    (
        "{\"log\": \"\\u001b[1m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\\u001b[0m\"}",
        &["wWPw5k4aXc"],
    ),
    ("ghp_wWPw5k4aXcaT4f\u{200b}NP0UcnZwJUVFk6LO0pINUx", &["wWPw5k4aXc", "ZwJUVFk6LO"]),
    ("mysql -u root -phorse9Battery app", &["horse9Battery"]),
    ("db.internal:5432:app:app_user:horse8Staple", &["horse8Staple"]),
    ("{\"auths\": {\"r\": {\"auth\": \"Ym9iOmNvcnJlY3QtaG9yc2U=\"}}}", &["Ym9iOmNvcnJlY3"]),
    ("kind: Secret\ndata:\n  pin: c3RhcGxlLTQyCg==\n", &["c3RhcGxlLTQyCg"]),
    ("Cookie: theme=dark; sid=Zk3Jq8Xv1Bn6Mw4Tr9", &["Zk3Jq8Xv1Bn6Mw4Tr9"]),
    ("open <private reason=\"deal\">merger-one</private> close", &["merger-one"]),
    ("open <PRIVATE >merger-two</private > close", &["merger-two"]),
    ("open <private>merger-three without an end", &["merger-three"]),
];

fn check(world: &World) {
    let stored = serde_json::to_string(&world.events()).unwrap();
    for (text, parts) in TEXTS {
        for part in parts {
            assert!(!stored.contains(part), "{part:?} of {text:?}");
        }
    }
    assert!(stored.contains("[redacted:aws]") && stored.contains("[private]"));
}

fn run_hooks(world: &World) {
    for (n, (text, _)) in TEXTS.iter().enumerate() {
        world.hook(&["claude-code"], prompt(&format!("prompt {n}: {text}")));
        let call =
            tool_result(&format!("call{n}"), &json!({"command": text}), &json!({"stdout": text}));
        world.hook(&["claude-code"], call);
    }
}

#[test]
fn disguised_secrets_are_redacted_by_the_daemon() {
    let world = world();
    world.tome(&["start"]);
    run_hooks(&world);
    check(&world);
}

#[test]
fn disguised_secrets_are_redacted_before_the_spool() {
    let world = world();
    std::fs::write(world.config_file(), "[daemon]\nautostart = false\n").unwrap();
    run_hooks(&world);
    let spooled = std::fs::read_to_string(world.home().join("spool/events.jsonl")).unwrap();
    for (text, parts) in TEXTS {
        for part in parts {
            assert!(!spooled.contains(part), "{part:?} of {text:?}");
        }
    }
    world.tome(&["start"]);
    check(&world);
}

#[test]
fn an_unclosed_private_part_hides_the_rest_of_a_long_text() {
    let world = world();
    let text = format!("start <private>hush {} hush", "word ".repeat(200_000));
    world.ingest(&line_with(&json!({"id": "long", "text": text})));
    let shown = world.tome(&["show", "long", "--json"]).json();
    let shown = shown["text"].as_str().unwrap();
    assert!(shown.starts_with("start [private]") && !shown.contains("hush"), "{shown}");
    assert!(shown.ends_with("[private]"), "{shown}");
}
