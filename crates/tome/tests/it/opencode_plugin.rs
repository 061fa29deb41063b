//! OpenCode's plugin under Node, driven by recordings of OpenCode 1.18.33 (`fixtures/plugin`): how
//! many processes it starts, and what is stored. Skipped with a notice if Node is missing.

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

use crate::setup::plugins::{node, write_plugin};
use crate::setup::{done, one};
use crate::support::{daemon_up, strings};

/// Replays a recording as OpenCode does: hooks are awaited, bus events are not. Prints start and
/// end time of each awaited hook.
const REPLAY: &str = r#"
import { readFileSync } from "node:fs"
import { Tome } from "./tome.mjs"
const hooks = await Tome({ client: {}, directory: "/app", worktree: "/app" })
const ran = {}
let last = Date.now()
for (const line of readFileSync(process.argv[2], "utf8").trim().split("\n")) {
  const { event, hook, input, output } = JSON.parse(line)
  while (Date.now() === last); // no two of them in one millisecond
  last = Date.now()
  if (event) hooks.event({ event })
  else {
    const from = Date.now()
    await hooks[hook]?.(input, output)
    ran[hook] = [from, Date.now()]
  }
}
console.log(JSON.stringify(ran))
"#;

/// Stored events and started processes of one recording.
struct Replayed {
    events: Vec<Value>,
    /// Event names in the command lines of the processes, sorted.
    started: Vec<String>,
    /// Start and end times of the hooks.
    ran: Value,
}

fn replay(recording: &str, expected: usize) -> Option<Replayed> {
    let mut node = node()?;
    let world = one("opencode");
    done(&world, &[]);
    world.tome(&["start"]);
    daemon_up(&world);
    let started = world.folder("driver").join("started");
    // Logs one line per process, then runs Tome.
    let script = format!(
        "#!/bin/sh\nfor event; do :; done\necho \"$event\" >> '{}'\nexec '{}' --home '{}' \"$@\"\n",
        started.display(),
        world.program().display(),
        world.home().display()
    );
    write_plugin(&world, &json!(["sh", world.write("driver/tome.sh", &script)]));
    let recording = world.write("driver/recording.jsonl", recording);
    node.arg(world.write("driver/replay.mjs", REPLAY)).arg(recording);
    node.env_clear().current_dir(world.folder("elsewhere"));
    node.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    node.env("HOME", world.folder("person")).env("TMPDIR", world.folder("tmp"));
    node.env("TOME_DAEMON_IDLE_EXIT", "2m");
    let ran = World::run(&mut node, b"");
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    // A hook that misses its deadline continues in a background process.
    let events = eventually("all events", || {
        let events = world.events();
        (events.len() >= expected).then_some(events)
    });
    assert_eq!(events.len(), expected, "{events:#?}");
    let text = std::fs::read_to_string(started).unwrap();
    let mut started: Vec<String> = text.lines().map(str::to_owned).collect();
    started.sort_unstable();
    Some(Replayed { events, started, ran: ran.json() })
}

fn kinds(events: &[Value]) -> Vec<&str> {
    let mut kinds = strings(events, "kind");
    kinds.sort_unstable();
    kinds
}

fn at_ms(event: &Value) -> u64 {
    serde_json::from_value::<tome_model::Millis>(event["at"].clone()).unwrap().0
}

fn only<'a>(events: &'a [Value], kind: &str) -> &'a Value {
    let mut found = events.iter().filter(|event| event["kind"] == kind);
    let first = found.next().unwrap_or_else(|| panic!("no {kind} in {events:#?}"));
    assert_eq!(found.next(), None, "{kind} twice");
    first
}

/// `opencode run` with one tool call: 83 bus events, 49 of them about the program itself.
#[test]
fn a_run_starts_one_process_per_response_and_one_for_the_rest() {
    let recording = include_str!("../fixtures/plugin/opencode-run.jsonl");
    let Some(replayed) = replay(recording, 7) else { return };
    assert_eq!(
        replayed.started,
        ["batch", "chat.message", "session.created", "tool.execute.after"]
    );
    let events = &replayed.events;
    let expected = [
        "assistant_message",
        "assistant_stop",
        "session_end",
        "session_start",
        "tool_result",
        "unknown",
        "user_message",
    ];
    assert_eq!(kinds(events), expected);
    assert!(events.iter().all(|event| event["session_id"] == "ses_000000000001"), "{events:#?}");
    assert_eq!(only(events, "user_message")["text"], "USE_TOOL please");
    assert_eq!(only(events, "unknown")["meta"]["event"], "session_title");
    let answer = only(events, "assistant_message");
    assert_eq!(answer["text"], "The answer is 42.");
    assert_eq!(at_ms(answer), 1_794_808_912_056);
    let at = at_ms(only(events, "tool_result"));
    let ran = &replayed.ran["tool.execute.after"];
    assert!(ran[0].as_u64().unwrap() <= at && at <= ran[1].as_u64().unwrap(), "{at} in {ran}");
}

/// The same without the tool call.
#[test]
fn the_answer_of_a_short_run_is_stored() {
    let recording = include_str!("../fixtures/plugin/opencode-run.jsonl");
    let is_kept = |line: &&str| !line.contains("call_000000000001");
    let recording = recording.lines().filter(is_kept).collect::<Vec<_>>().join("\n");
    let Some(replayed) = replay(&recording, 6) else { return };
    assert_eq!(replayed.started, ["batch", "chat.message", "session.created"]);
    assert_eq!(only(&replayed.events, "assistant_message")["text"], "The answer is 42.");
    assert_eq!(only(&replayed.events, "session_end")["meta"]["reason"], "exit");
}

/// A server that compacts a session, runs a subagent, and exits without disposing of its plugins.
#[test]
fn a_compaction_has_its_summary_and_a_subagent_its_own_session() {
    let recording = include_str!("../fixtures/plugin/opencode-compaction.jsonl");
    let Some(replayed) = replay(recording, 17) else { return };
    let events = &replayed.events;
    let compaction = only(events, "compaction");
    assert_eq!(compaction["text"], "SUMMARY of the talk");
    assert_eq!(compaction["meta"]["phase"], "after");
    let of = |session: &str| -> Vec<Value> {
        events.iter().filter(|event| event["session_id"] == session).cloned().collect()
    };
    let (main, subagent) = (of("ses_000000000001"), of("ses_000000000002"));
    assert_eq!(main.len() + subagent.len(), events.len(), "{events:#?}");
    let expected = ["assistant_message", "assistant_stop", "subagent_start", "unknown"];
    assert_eq!(kinds(&subagent), expected);
    let prompt = only(&subagent, "unknown");
    assert_eq!(prompt["text"], "look around please");
    assert_eq!(prompt["meta"]["event"], "subagent_prompt");
    only(&main, "session_end");
    let prompts: Vec<&Value> = main.iter().filter(|e| e["kind"] == "user_message").collect();
    assert_eq!(prompts.len(), 2, "{prompts:#?}");
}
