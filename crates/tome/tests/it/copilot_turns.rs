//! Copilot CLI's answers. Its stop hook runs before its log contains the answer: the answer must be
//! read from the complete log, must not be an earlier message of the turn, and must be stored once,
//! whichever way it arrives.

use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};
use tome_model::Millis;
use tome_testkit::{World, eventually};

use crate::support::*;

const SESSION: &str = "0486f501-67a2-4cc1-ac00-008ab697034f";

/// The log of a session in Copilot CLI's format.
struct Log {
    path: PathBuf,
    app: PathBuf,
}

impl Log {
    fn new(world: &World) -> Self {
        let app = world.folder("app");
        let path =
            world.write(&format!("person/.copilot/session-state/{SESSION}/events.jsonl"), "");
        let log = Self { path, app };
        let context = json!({"cwd": log.app});
        log.write("session.start", 0, &json!({"sessionId": SESSION, "context": context}));
        log
    }

    fn write(&self, kind: &str, at: u64, data: &Value) {
        let record = json!({"type": kind, "data": data, "id": format!("{kind}-{at}"),
                            "timestamp": Millis(MORNING_MS + at).to_string(), "parentId": null});
        let mut file = std::fs::OpenOptions::new().append(true).open(&self.path).unwrap();
        file.write_all(format!("{record}\n").as_bytes()).unwrap();
    }

    fn prompt(&self, at: u64, text: &str) {
        self.write("user.message", at, &json!({"content": text, "messageId": format!("u{at}")}));
    }

    fn reply(&self, at: u64, text: &str) {
        let data = json!({"content": text, "messageId": format!("message-{at}")});
        self.write("assistant.message", at, &data);
    }

    fn stop(&self, at: u64) {
        self.write("hook.start", at, &json!({"hookType": "agentStop", "input": self.payload(at)}));
    }

    fn payload(&self, at: u64) -> Value {
        json!({"sessionId": SESSION, "timestamp": MORNING_MS + at, "cwd": self.app,
               "transcriptPath": self.path, "stopReason": "end_turn", "stop_hook_active": false})
    }
}

fn stop_hook(world: &World, log: &Log, at: u64) {
    world.hook(&["copilot", "agentStop"], log.payload(at).to_string());
}

/// Kinds and texts of the agent's messages, oldest first.
fn agent_messages(world: &World) -> Vec<(String, String)> {
    let events = world.events();
    let text = |event: &Value, name: &str| event[name].as_str().unwrap().to_owned();
    let messages = events.iter().filter(|event| event["role"] == "assistant");
    messages.map(|event| (text(event, "kind"), text(event, "text"))).collect()
}

fn answer(world: &World, text: &str) -> Vec<(String, String)> {
    eventually("the answer", || {
        Some(agent_messages(world))
            .filter(|messages| messages.iter().any(|(_, message)| message == text))
    })
}

fn pair(kind: &str, text: &str) -> (String, String) {
    (kind.to_owned(), text.to_owned())
}

#[test]
fn an_answer_written_after_the_stop_is_stored_once() {
    let world = world();
    assert_eq!(world.tome(&["start"]).code, 0);
    let log = Log::new(&world);
    log.prompt(100, "how many words?");
    log.reply(200, "First I count.");
    // The hook runs before the log contains the answer.
    stop_hook(&world, &log, 1_000);
    assert_eq!(agent_messages(&world), [pair("assistant_stop", "")]);
    log.reply(900, "There are 42 words.");
    assert_eq!(
        agent_messages(&world),
        [pair("assistant_stop", "")],
        "the log has not reached the stop"
    );
    log.stop(1_000);
    let expected = [
        pair("assistant_message", "First I count."),
        pair("assistant_stop", ""),
        pair("assistant_stop", "There are 42 words."),
    ];
    assert_eq!(answer(&world, "There are 42 words."), expected);
    // The same hook again, and an import, add nothing.
    let before = world.events();
    stop_hook(&world, &log, 1_000);
    let ran = world.tome(&["import", "--agent", "copilot", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let after = world.events();
    let added: Vec<&Value> = after.iter().filter(|event| !before.contains(event)).collect();
    assert_eq!(strings(&before, "kind").len() + added.len(), after.len());
    assert!(added.iter().all(|event| event["role"] != "assistant"), "{added:?}");
}

/// An import alone stores the same events: ids, kinds and times agree.
#[test]
fn an_import_stores_the_same_events() {
    let events = |by_hook: bool| -> Vec<Value> {
        let world = world();
        assert_eq!(world.tome(&["start"]).code, 0);
        let log = Log::new(&world);
        log.prompt(100, "how many words?");
        log.reply(200, "First I count.");
        log.reply(900, "There are 42 words.");
        log.stop(1_000);
        if by_hook {
            stop_hook(&world, &log, 1_000);
            answer(&world, "There are 42 words.");
        } else {
            assert_eq!(world.tome(&["import", "--agent", "copilot"]).code, 0);
        }
        let mut events = world.events();
        events.retain(|event| event["role"] == "assistant" && event["text"] != "");
        let kept = |event: &Value| {
            json!([event["id"], event["kind"], event["at"], event["text"], event["session_id"]])
        };
        events.iter().map(kept).collect()
    };
    let (hooked, imported) = (events(true), events(false));
    assert_eq!(hooked, imported);
    assert_eq!(hooked.len(), 2);
}

/// A home in which an earlier version mistook an earlier message for the answer.
#[test]
fn the_correct_answer_follows_a_wrongly_captured_one() {
    const RIGHT: &str =
        "`draft.md` has 42 words: the counter took tabs for words, and `words.rs` skips them now.";
    let world = world();
    let log = Log::new(&world);
    log.prompt(100, "how many words does draft.md have?");
    log.reply(200, "First I count.");
    log.reply(900, RIGHT);
    log.stop(1_000);
    let line = |id: &str, at: u64, kind: &str, text: &str| {
        line_with(&json!({"id": id, "session_id": SESSION, "agent": "copilot", "cwd": log.app,
                          "kind": kind, "at": MORNING_MS + at, "text": text}))
    };
    world.ingest(&line("p1", 110, "user_message", "how many words does draft.md have?"));
    world.ingest(&line("wrong", 1_000, "assistant_stop", "First I count."));
    assert_eq!(world.tome(&["import", "--agent", "copilot"]).code, 0);
    let expected = [pair("assistant_stop", "First I count."), pair("assistant_stop", RIGHT)];
    assert_eq!(agent_messages(&world), expected);
    // The contents end the turn with it, too.
    let app = log.app.to_str().unwrap();
    let shown = eventually("contents of the session", || {
        let ran = world.tome(&["toc", "toc:day:2026-11-15", "--project", app]);
        Some(ran.stdout).filter(|text| text.contains("42 words"))
    });
    assert!(!shown.contains("First I count"), "{shown}");
}

/// Without a daemon the answer goes through the spool like every event.
#[test]
fn an_answer_waits_in_the_spool() {
    let world = world();
    let log = Log::new(&world);
    log.prompt(100, "how many words?");
    log.reply(900, "There are 42 words.");
    log.stop(1_000);
    let payload = log.payload(1_000).to_string();
    let mut command = world.command(&["hook", "copilot", "agentStop"]);
    World::run_hook_command(command.env("TOME_DAEMON_AUTOSTART", "false"), &payload);
    let spool = world.home().join("spool");
    eventually("the answer in the spool", || {
        let files = std::fs::read_dir(&spool).ok()?.flatten();
        let texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        texts.into_iter().any(|text| text.contains("42 words")).then_some(())
    });
    assert_eq!(world.tome(&["start"]).code, 0);
    answer(&world, "There are 42 words.");
}
