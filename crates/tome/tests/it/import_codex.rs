//! Codex's rollouts: compressed, forked, and of its first versions.

use expect_test::expect;

use crate::import::{fixture, import, listed};
use crate::support::{MORNING_MS, world};

const SESSIONS: &str = "person/.codex/sessions/2026/11/15";
const PARENT: &str = "rollout-2026-11-15T09-30-00-019a9d22-7b10-7c31-8e44-5f60a1b2c3d4.jsonl";
const FORK: &str = "rollout-2026-11-15T09-31-00-019a9d33-0000-7000-8000-0000000000f0.jsonl";

#[test]
fn a_compressed_rollout_gives_the_same_events() {
    let plain = world();
    plain.write(&format!("{SESSIONS}/{PARENT}"), &fixture("codex.jsonl", MORNING_MS));
    import(&plain, &[]);
    let compressed = world();
    let bytes = zstd::encode_all(fixture("codex.jsonl", MORNING_MS).as_bytes(), 3).unwrap();
    let folder = compressed.folder("person/.codex/archived_sessions");
    std::fs::write(folder.join(format!("{PARENT}.zst")), &bytes).unwrap();
    let report = import(&compressed, &[]);
    assert_eq!(listed(&compressed.events(), MORNING_MS), listed(&plain.events(), MORNING_MS));
    // During compression both files exist.
    std::fs::write(folder.join(PARENT), fixture("codex.jsonl", MORNING_MS)).unwrap();
    let again = import(&compressed, &[]);
    assert_eq!((&again["files"], &again["imported"]), (&1.into(), &0.into()));
    assert_eq!(again["already_there"], report["imported"]);
    // A truncated file yields what it has and is reported.
    std::fs::remove_file(folder.join(PARENT)).unwrap();
    std::fs::write(folder.join(format!("{PARENT}.zst")), &bytes[..bytes.len() / 2]).unwrap();
    let cut = import(&compressed, &[]);
    assert_eq!((&cut["imported"], &cut["damaged_lines"]), (&0.into(), &1.into()));
}

#[test]
fn history_copied_by_a_fork_is_not_stored_twice() {
    let world = world();
    world.write(&format!("{SESSIONS}/{PARENT}"), &fixture("codex.jsonl", MORNING_MS));
    world.write(&format!("{SESSIONS}/{FORK}"), &fixture("codex.fork.jsonl", MORNING_MS));
    let report = import(&world, &[]);
    assert!(report["skipped"]["copied"].as_u64().unwrap() == 9, "{report}");
    let events = world.events();
    let forked: Vec<_> = events
        .into_iter()
        .filter(|event| event["session_id"].as_str().unwrap().starts_with("019a9d33"))
        .collect();
    expect![[r#"
        +60000 session_start
        +70000 user_message "instead, forbid them and say why"
        +71000 assistant_message "They are forbidden now, with a message."
    "#]]
    .assert_eq(&listed(&forked, MORNING_MS));
}

#[test]
fn a_fork_whose_parent_is_gone_keeps_the_history() {
    let world = world();
    world.write(&format!("{SESSIONS}/{FORK}"), &fixture("codex.fork.jsonl", MORNING_MS));
    let report = import(&world, &[]);
    assert!(report["skipped"].get("copied").is_none(), "{report}");
    assert!(
        world
            .events()
            .iter()
            .any(|event| event["text"] == "make the parser accept trailing commas")
    );
}

#[test]
fn rollouts_of_the_first_versions_are_read() {
    let world = world();
    let name = "rollout-2025-06-01T10-00-00-5973b6c0-94b8-487b-a530-2aeb6098ae0e.jsonl";
    world.write(&format!("{SESSIONS}/{name}"), &fixture("codex.old.jsonl", MORNING_MS));
    import(&world, &[]);
    let events = world.events();
    expect![[r#"
        +0 session_start
        +0 user_message "what does the old lexer do?"
        +0 tool_result Bash({"command":"ls -l"}) failed -> "lexer.c\n"
        +0 assistant_message "It splits at spaces."
    "#]]
    .assert_eq(&listed(&events, MORNING_MS));
    assert!(events.iter().all(|event| event["cwd"] == "/home/dev/old"), "{events:?}");
    world.write(&format!("{SESSIONS}/rollout-x.jsonl"), &fixture("codex.events.jsonl", MORNING_MS));
    import(&world, &[]);
    let texts: Vec<String> = world.events().iter().map(|event| event["text"].to_string()).collect();
    assert!(texts.contains(&"\"only events here\"".to_owned()), "{texts:?}");
    assert!(texts.contains(&"\"Then they are read.\"".to_owned()), "{texts:?}");
}
