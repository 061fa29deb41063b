//! Several events of OpenCode in one hook, and events that the hook ignores whatever plugin sends
//! them.

use serde_json::{Value, json};
use tome_model::Millis;

use crate::support::{daemon_up, strings, world};

fn bus(kind: &str, properties: &Value, timestamp: u64) -> Value {
    json!({"event": {"type": kind, "properties": properties}, "timestamp": timestamp, "directory": "/app"})
}

#[test]
fn a_batch_is_stored_once_in_order_of_time() {
    let world = world();
    world.tome(&["start"]);
    daemon_up(&world);
    let part = json!({"id": "prt_1", "messageID": "msg_1", "sessionID": "ses_1", "type": "text",
                      "text": "Done.", "time": {"start": 1_794_735_001_000_u64, "end": 1_794_735_002_000_u64}});
    let failed = json!({"id": "prt_2", "messageID": "msg_1", "sessionID": "ses_1", "type": "tool", "tool": "edit",
                        "callID": "call_000000000001", "state": {"status": "error", "input": {}, "error": "no file",
                        "time": {"start": 1_794_735_000_000_u64, "end": 1_794_735_000_500_u64}}});
    let lines = [
        bus("session.ended", &json!({"sessionID": "ses_1", "reason": "exit"}), 1_794_735_004_000),
        bus("session.idle", &json!({"sessionID": "ses_1"}), 1_794_735_003_000),
        bus(
            "message.part.updated",
            &json!({"sessionID": "ses_1", "part": part}),
            1_794_735_009_000,
        ),
        bus(
            "message.part.updated",
            &json!({"sessionID": "ses_1", "part": failed}),
            1_794_735_009_000,
        ),
    ];
    let batch = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    // The sender may repeat a batch if in doubt. No response is expected.
    for _ in 0..2 {
        assert_eq!(world.hook_output(&["opencode", "batch"], &batch), None);
    }
    let events = world.events();
    let kinds = strings(&events, "kind");
    assert_eq!(kinds, ["tool_result", "assistant_message", "assistant_stop", "session_end"]);
    let time = |event: &Value| serde_json::from_value::<Millis>(event["at"].clone()).unwrap().0;
    let times: Vec<u64> = events.iter().map(time).collect();
    assert_eq!(times, [1_794_735_000_500, 1_794_735_002_000, 1_794_735_003_000, 1_794_735_004_000]);
}

/// An older plugin passes on every bus event.
#[test]
fn events_without_a_session_are_not_recorded() {
    let world = world();
    world.tome(&["start"]);
    daemon_up(&world);
    for (kind, properties) in [
        ("plugin.added", json!({"id": "anthropic"})),
        ("catalog.updated", json!({})),
        ("reference.updated", json!({})),
        ("integration.updated", json!({})),
        ("something.new", json!({"sessionID": "ses_1"})),
        (
            "session.error",
            json!({"error": {"name": "UnknownError", "data": {"message": "no plugin"}}}),
        ),
        ("session.idle", json!({"sessionID": " "})),
    ] {
        world.hook(&["opencode", kind], bus(kind, &properties, 1_794_735_000_000).to_string());
    }
    let known =
        bus("session.renamed", &json!({"sessionID": "ses_1", "title": "new"}), 1_794_735_000_000);
    world.hook(&["opencode", "session.renamed"], known.to_string());
    let events = world.events();
    assert_eq!(strings(&events, "session_id"), ["ses_1"], "{events:#?}");
    assert_eq!(events[0]["meta"]["event"], "session.renamed");
}
