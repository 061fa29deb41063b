//! The prompts in transcripts: typed, queued while the agent worked, and given as slash commands.

use serde_json::{Value, json};
use tome_model::{Agent, Draft, EventKind, Millis};

use crate::agents::transcript::build_transcript_reader;
use crate::agents::transcript_record::{RecordOutcome, TranscriptOrigin};

/// The events of a transcript of these records.
fn read_events(agent: &str, records: &[Value]) -> Vec<Draft> {
    let origin = TranscriptOrigin {
        agent: Agent::parse(agent).unwrap(),
        path: "/t.jsonl".to_owned(),
        session: "s".to_owned(),
        cwd: "/app".to_owned(),
        at: Millis(1_000),
    };
    let mut reader = build_transcript_reader(origin, None);
    let mut steps = Vec::new();
    for record in records {
        reader.read_record(record.as_object().unwrap().clone(), &mut steps);
    }
    reader.finish(&mut steps);
    let event = |step| match step {
        RecordOutcome::Event(draft) => Some(*draft),
        RecordOutcome::Unanswered(_) | RecordOutcome::Skipped(_) => None,
    };
    steps.into_iter().filter_map(event).collect()
}

fn prompts(events: &[Draft]) -> Vec<&str> {
    let prompts = events.iter().filter(|event| event.kind == EventKind::UserMessage);
    prompts.map(|event| event.text.as_str()).collect()
}

/// A record of Claude Code.
fn claude(kind: &str, minute: u32, fields: &Value) -> Value {
    let mut record = json!({"type": kind, "sessionId": "s", "uuid": format!("u{minute}"), "cwd": "/app",
        "timestamp": format!("2026-11-15T09:{minute:02}:00Z")});
    for (name, value) in fields.as_object().unwrap() {
        record[name] = value.clone();
    }
    record
}

fn typed(minute: u32, text: &str) -> Value {
    claude("user", minute, &json!({"promptId": format!("p{minute}"), "message": {"content": text}}))
}

#[test]
fn a_slash_command_that_prompts_the_model_is_a_prompt() {
    let command = |minute, name: &str, arguments: &str| {
        typed(
            minute,
            &format!(
                "<command-message>{name} is running…</command-message>\n\
                 <command-name>/{name}</command-name>{arguments}"
            ),
        )
    };
    let expansion = claude(
        "user",
        4,
        &json!({"isMeta": true, "message": {"content": [{"type": "text", "text": "You review code."}]}}),
    );
    let events = read_events(
        "claude-code",
        &[
            typed(
                1,
                "<command-name>/model</command-name>\n<command-message>model</command-message>",
            ),
            typed(2, "<local-command-stdout>Set model to sonnet</local-command-stdout>"),
            command(3, "review", "\n<command-args>the parser, please</command-args>"),
            expansion,
            command(5, "commit", ""),
            // A skill that the model loaded.
            typed(6, "<command-message>pdf</command-message>\n<command-name>pdf</command-name>"),
        ],
    );
    assert_eq!(prompts(&events), ["/review the parser, please", "/commit"]);
}

#[test]
fn a_prompt_queued_while_the_agent_worked_is_a_prompt() {
    let queued = |minute, prompt: Value, mode: &str| {
        let attachment = json!({"type": "queued_command", "prompt": prompt, "commandMode": mode});
        claude("attachment", minute, &json!({"attachment": attachment}))
    };
    let queued_by = |minute, prompt: &str, who: &str| {
        let attachment = json!({"type": "queued_command", "prompt": prompt, "commandMode": "prompt",
            "origin": {"kind": who}});
        claude("attachment", minute, &json!({"attachment": attachment}))
    };
    let events = read_events(
        "claude-code",
        &[
            typed(1, "Fix the login form"),
            queued(2, json!("and the name is not required"), "prompt"),
            queued(3, json!([{"type": "text", "text": "nor is the street"}]), "prompt"),
            queued(4, json!("<task-notification>done</task-notification>"), "task-notification"),
            claude("attachment", 5, &json!({"attachment": {"type": "file", "filename": "a.rs"}})),
            // Some versions write a record of the message, too.
            typed(6, "nor is the street"),
            queued_by(7, "delete the branch", "peer"),
            queued_by(8, "and the town?", "human"),
        ],
    );
    assert_eq!(
        prompts(&events),
        [
            "Fix the login form",
            "and the name is not required",
            "nor is the street",
            "and the town?"
        ]
    );
    // The turn of the prompt before it would make it a repetition of that one.
    let turns: Vec<_> = events.iter().filter_map(|event| event.meta.get("prompt_id")).collect();
    assert_eq!(turns, [&json!("p1")]);
}

/// Old versions of Claude Code record no attachment.
#[test]
fn a_prompt_that_only_the_queue_knows_is_told_if_the_agent_got_it() {
    let operation = |minute, name: &str, text: &str| {
        let mut fields = json!({"operation": name});
        if !text.is_empty() {
            fields["content"] = text.into();
        }
        claude("queue-operation", minute, &fields)
    };
    let reply = |minute, text: &str| {
        let content = json!([{"type": "text", "text": text}]);
        claude(
            "assistant",
            minute,
            &json!({"message": {"id": format!("m{minute}"), "content": content}}),
        )
    };
    let queued = |minute, text: &str| {
        let attachment = json!({"type": "queued_command", "prompt": text, "commandMode": "prompt"});
        claude("attachment", minute, &json!({"attachment": attachment}))
    };
    let events = read_events(
        "claude-code",
        &[
            typed(1, "Fix the login form"),
            operation(2, "enqueue", "Commit it, too"),
            operation(3, "enqueue", "<task-notification>done</task-notification>"),
            reply(4, "I look at the form."),
            operation(5, "remove", ""),
            operation(6, "remove", ""),
            reply(7, "Fixed and committed."),
            // An attachment tells the prompt, before or after the queue does.
            operation(8, "enqueue", "And push"),
            queued(9, "And push"),
            operation(10, "remove", ""),
            reply(11, "Pushed."),
            operation(12, "enqueue", "Tag it"),
            operation(13, "remove", ""),
            queued(14, "Tag it"),
            reply(15, "Tagged."),
            // It begins a turn, with a record of its own.
            operation(16, "enqueue", "Delete the branch"),
            operation(17, "dequeue", ""),
            typed(18, "Delete the branch"),
            // Taken back, or never read by the agent.
            operation(19, "enqueue", "And the tag"),
            operation(20, "popAll", ""),
            reply(21, "Deleted."),
            operation(22, "enqueue", "Restore it"),
            operation(23, "remove", ""),
        ],
    );
    assert_eq!(
        prompts(&events),
        ["Fix the login form", "Commit it, too", "And push", "Tag it", "Delete the branch"]
    );
    let times: Vec<Millis> = events.iter().map(|event| event.at).collect();
    assert!(times.is_sorted(), "{times:?}");
}

#[test]
fn the_rest_of_the_output_of_a_codex_command_belongs_to_the_command() {
    let item = |payload: Value| json!({"timestamp": "2026-11-15T09:30:00Z", "type": "response_item", "payload": payload});
    let call = |id: &str, name: &str, arguments: Value| {
        item(
            json!({"type": "function_call", "name": name, "call_id": id, "arguments": arguments.to_string()}),
        )
    };
    let output = |id: &str, text: &str| {
        item(json!({"type": "function_call_output", "call_id": id, "output": text}))
    };
    let command = "gh pr create --fill";
    let running =
        "Chunk ID: 1\nWall time: 10.0 seconds\nProcess running with session ID 512\nOutput:\n";
    let ended = "Chunk ID: 2\nWall time: 1.0 seconds\nProcess exited with code 0\nOutput:\nhttps://forge.example/acme/app/pull/5\n";
    let events = read_events(
        "codex",
        &[
            call("c1", "exec_command", json!({"cmd": command, "workdir": "/app/web"})),
            output("c1", running),
            call("c2", "write_stdin", json!({"session_id": 512, "chars": ""})),
            output("c2", ended),
            call("c3", "write_stdin", json!({"session_id": 99, "chars": ""})),
            output("c3", ended),
        ],
    );
    let calls: Vec<&Draft> = events.iter().filter(|event| event.tool.is_some()).collect();
    let input = |at: usize| &calls[at].tool.as_ref().unwrap().input;
    assert_eq!(input(1)["command"], command);
    assert_eq!(calls[1].meta.get("workdir"), Some(&json!("/app/web")));
    assert_eq!(calls[1].meta.get("exit_code"), Some(&json!(0)));
    assert_eq!(input(2).get("command"), None);
}

#[test]
fn codex_says_which_message_is_no_answer_yet() {
    let message = |text: &str, phase: &str| {
        json!({"timestamp": "2026-11-15T09:30:00Z", "type": "response_item", "payload": {"type": "message",
            "role": "assistant", "phase": phase, "content": [{"type": "output_text", "text": text}]}})
    };
    let events = read_events(
        "codex",
        &[message("I look at it.", "commentary"), message("It works.", "final_answer")],
    );
    let replies = events.iter().filter(|event| event.kind == EventKind::AssistantMessage);
    let phases: Vec<_> = replies.filter_map(|event| event.meta.get("phase")).collect();
    assert_eq!(phases, ["commentary", "final_answer"]);
}
