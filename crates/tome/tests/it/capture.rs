//! Redaction before anything is written: secrets, private text, text that is too long. Checked
//! against the bytes of the whole home.

use std::path::Path;

use serde_json::json;
use tome_testkit::World;

use crate::support::{line_with, prompt, tool_result, world};

/// One secret of each kind: its mark, the text around it, and the part that must be removed.
const SECRETS: [(&str, &str, &str); 16] = [
    ("aws", "key AKIAQ3EGRZZT5WVN2XKD here", "AKIAQ3EGRZZT5WVN2XKD"),
    (
        "github",
        "use 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",
        "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",
    ),
    ("gitlab", "use glpat-Zx9yQ3vWk7LmN2pR8sTu", "glpat-Zx9yQ3vWk7LmN2pR8sTu"),
    (
        "slack",
        "xoxb-263594206564-2343594206574-FGqddMF8t08v8N7Oq4i57vs1",
        "FGqddMF8t08v8N7Oq4i57vs1",
    ),
    (
        "google",
        "key AIzaSyDdI0hCZtE6vySjMm-WEfRq3CPzqKqqsHI",
        "AIzaSyDdI0hCZtE6vySjMm-WEfRq3CPzqKqqsHI",
    ),
    ("stripe", "sk_live_4eC39HqLyjWDarjtT1zdp7dc", "4eC39HqLyjWDarjtT1zdp7dc"),
    (
        "openai",
        "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7cDe0f",
        "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7cDe0f",
    ),
    (
        "anthropic",
        "sk-ant-api03-Qw3rTy6uIo9pAs2dFg5hJk8lZx1cVb4nMq7wEr0t",
        "Qw3rTy6uIo9pAs2dFg5hJk8lZx1cVb4nMq7wEr0t",
    ),
    (
        "jwt",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    ),
    (
        "pem",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEAwJ9xQ2v7\nqZt4mB8s\n-----END RSA PRIVATE KEY-----",
        "MIIEpAIBAAKCAQEAwJ9xQ2v7",
    ),
    (
        "bearer",
        "Authorization: Bearer q1W2e3R4t5Y6u7I8o9P0aSdFgHjK",
        "q1W2e3R4t5Y6u7I8o9P0aSdFgHjK",
    ),
    ("password", "password=correct-horse-Battery-9", "correct-horse-Battery-9"),
    ("password", "DB_PASSWORD: \"s3cr3t-Pa55phrase\"", "s3cr3t-Pa55phrase"),
    ("url", "postgres://admin:Tr0ub4dor3xyz@db.example.com/app", "Tr0ub4dor3xyz"),
    ("env", "SESSION_SALT=Zk3Jq8Xv1Bn6Mw4Tr9Yp2Ls7Hd5Gc0Fa", "Zk3Jq8Xv1Bn6Mw4Tr9Yp2Ls7Hd5Gc0Fa"),
    ("private", "<private>the merger is on Thursday</private>", "merger is on Thursday"),
];

/// Collects every file below a folder whose bytes contain a text.
fn holders(folder: &Path, text: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            holders(&path, text, found);
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(text.len()).any(|window| window == text.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
}

fn check_clean(world: &World, way: &str) {
    let mut leaked = Vec::new();
    for (kind, _, secret) in SECRETS {
        let mut found = Vec::new();
        holders(&world.home(), secret, &mut found);
        if !found.is_empty() {
            leaked.push(format!("{kind}: {secret} in {found:?}"));
        }
    }
    assert!(leaked.is_empty(), "{way}:\n{}", leaked.join("\n"));
}

/// Stored events are checked too, because values may be compressed on disk.
fn check_stored(world: &World, way: &str) {
    let stored = serde_json::to_string(&world.events()).unwrap();
    for (kind, _, secret) in SECRETS {
        assert!(!stored.contains(secret), "{way}: {kind} {secret}");
    }
    assert!(stored.contains("[redacted:") && stored.contains("[private]"), "{way}");
}

fn hooks(world: &World) {
    for (n, (_, text, _)) in SECRETS.iter().enumerate() {
        world.hook(&["claude-code"], prompt(&format!("prompt {n}: {text} after it")));
        let call = tool_result(
            &format!("call{n}"),
            &json!({"command": format!("echo {text}"), "nested": [{"deep": text}]}),
            &json!({"stdout": text}),
        );
        world.hook(&["claude-code"], call);
    }
}

#[test]
fn secrets_are_redacted_on_the_way_from_a_hook_to_the_daemon() {
    let world = world();
    world.tome(&["start"]);
    hooks(&world);
    check_stored(&world, "hook");
    world.tome(&["stop"]);
    check_clean(&world, "hook");
}

#[test]
fn secrets_are_redacted_on_the_way_from_a_hook_to_the_spool() {
    let world = world();
    std::fs::write(world.config_file(), "[daemon]\nautostart = false\n").unwrap();
    hooks(&world);
    assert!(world.home().join("spool/events.jsonl").exists());
    check_clean(&world, "spool");
    world.tome(&["start"]);
    check_stored(&world, "spool");
}

#[test]
fn secrets_are_redacted_by_ingest() {
    let world = world();
    let mut lines = String::new();
    for (n, (_, text, _)) in SECRETS.iter().enumerate() {
        lines += &line_with(&json!({
            "id": format!("n{n}"), "text": text, "kind": "tool_result", "meta": {"note": text},
            "tool": {"name": "Bash", "input": {"command": text}, "output": text},
        }));
    }
    world.ingest(&lines);
    check_stored(&world, "ingest");
    world.tome(&["admin", "flush"]);
    check_clean(&world, "ingest");
    world.tome(&["stop"]);
    check_clean(&world, "ingest");
}

#[test]
fn each_kind_has_its_own_mark() {
    let world = world();
    for (n, (kind, text, _)) in SECRETS.iter().enumerate() {
        let id = format!("secret{n}");
        world.ingest(&line_with(&json!({"id": id, "text": format!("before {text} after")})));
        let shown = world.tome(&["show", &id, "--json"]).json();
        let shown = shown["text"].as_str().unwrap();
        assert!(shown.starts_with("before ") && shown.ends_with(" after"), "{kind}: {shown}");
        assert!(shown.contains("[redacted:") || shown.contains("[private]"), "{kind}: {shown}");
    }
}

#[test]
fn prose_about_secrets_is_kept() {
    let world = world();
    for (n, text) in [
        "the password has to be at least twelve characters long",
        "rotate the token, then set the bearer header again",
        "what does a JWT look like? header.payload.signature",
        "see https://example.com/docs/api-keys?page=2#tokens",
        "git checkout 4f5e6d7c8b9a0f1e2d3c4b5a69788796a5b4c3d2",
        "let token = lexer.next_token();",
        "a lone </private> tag is only a word",
        "RUST_LOG=debug cargo test --workspace",
    ]
    .iter()
    .enumerate()
    {
        let id = format!("prose{n}");
        world.ingest(&line_with(&json!({"id": id, "text": text})));
        assert_eq!(&world.tome(&["show", &id, "--json"]).json()["text"], text);
    }
}

#[test]
fn private_text_is_removed_across_lines() {
    let world = world();
    let text =
        "before <private>one\ntwo\r\n\nthree</private> between <private>four</private> after";
    world.ingest(&line_with(&json!({"id": "private", "text": text})));
    let shown = world.tome(&["show", "private", "--json"]).json();
    assert_eq!(shown["text"], "before [private] between [private] after");
}

#[test]
fn custom_patterns_are_redacted() {
    let world = world();
    std::fs::write(
        world.config_file(),
        "[[capture.redact]]\nname = \"badge\"\npattern = 'EMP-\\d{6}'\n",
    )
    .unwrap();
    world.ingest(&line_with(&json!({"id": "own", "text": "my badge is EMP-123456, yes"})));
    let shown = world.tome(&["show", "own", "--json"]).json();
    assert_eq!(shown["text"], "my badge is [redacted:badge], yes");
}

#[test]
fn a_long_text_keeps_its_head_and_tail() {
    let world = world();
    let long = format!("HEAD {} TAIL", "é日".repeat(100_000));
    world.ingest(&line_with(&json!({
        "id": "long", "text": long, "kind": "tool_result",
        "tool": {"name": "Bash", "input": {"command": "cat"}, "output": {"stdout": long}},
    })));
    let event = world.tome(&["show", "long", "--json"]).json();
    let text = event["text"].as_str().unwrap();
    let output = event["tool"]["output"]["stdout"].as_str();
    for (what, kept) in [("text", text), ("tool output", output.unwrap())] {
        assert!(kept.len() <= 256 * 1024, "{what}: {}", kept.len());
        assert!(kept.len() > 100 * 1024, "{what}: {}", kept.len());
        assert!(kept.starts_with("HEAD é") && kept.ends_with("日 TAIL"), "{what}");
        assert!(kept.contains(" bytes cut …]"), "{what}");
        assert!(!kept.contains('\u{fffd}'), "{what}: no character is split");
    }
}

#[test]
fn the_size_limit_is_configurable() {
    let world = world();
    std::fs::write(world.config_file(), "[capture]\ntext_max_bytes = 4096\n").unwrap();
    world.ingest(&line_with(&json!({"id": "capped", "text": "x".repeat(10_000)})));
    let text =
        world.tome(&["show", "capped", "--json"]).json()["text"].as_str().unwrap().to_owned();
    assert!(text.len() <= 4096 && text.contains("bytes cut"), "{}", text.len());
}
