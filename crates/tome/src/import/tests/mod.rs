//! Property tests: no file in place of a transcript can break an import.

use std::io::Write;

use anyhow::Result;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tome_model::{Agent, Draft, Millis};

use super::RecordSink;
use super::reader::SourceReader;
use super::sources::{TranscriptFormat, TranscriptSource};
use crate::agents::transcript_record::RecordOutcome;

#[derive(Default)]
struct Kept {
    drafts: Vec<Draft>,
    damaged: Vec<u64>,
    skipped: usize,
}

impl RecordSink for Kept {
    fn accept(&mut self, step: RecordOutcome, _: u64) -> Result<()> {
        match step {
            RecordOutcome::Event(draft) => self.drafts.push(*draft),
            RecordOutcome::Unanswered(_) | RecordOutcome::Skipped(_) => self.skipped += 1,
        }
        Ok(())
    }

    fn report_damage(&mut self, line: u64, _: String) {
        self.damaged.push(line);
    }

    fn add_bytes_read(&mut self, _: u64) {}
}

fn read(agent: &str, form: TranscriptFormat, bytes: &[u8]) -> Kept {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let source = TranscriptSource {
        agent: Agent::parse(agent).unwrap(),
        path: file.path().to_path_buf(),
        format: form,
        bytes: bytes.len() as u64,
        modified: Some(Millis(1_794_735_000_000)),
    };
    let mut kept = Kept::default();
    // Errors are fine, panics are not.
    let _ = SourceReader::new(std::iter::once(&source), None).read_source(&source, &mut kept);
    kept
}

const FORMS: [(&str, TranscriptFormat); 7] = [
    ("claude-code", TranscriptFormat::Lines),
    ("codex", TranscriptFormat::Lines),
    ("codex", TranscriptFormat::Compressed),
    ("copilot", TranscriptFormat::Lines),
    ("gemini", TranscriptFormat::Updates),
    ("gemini", TranscriptFormat::Conversation),
    ("opencode", TranscriptFormat::Database),
];

/// Values from transcripts in unexpected places.
fn value() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "user",
        "assistant",
        "gemini",
        "text",
        "tool_use",
        "tool_result",
        "message",
        "function_call",
        "function_call_output",
        "response_item",
        "session_meta",
        "compacted",
        "event_msg",
        "success",
        "user.message",
        "assistant.message",
        "tool.execution_complete",
        "session.start",
        "",
        "<system-reminder>",
        "</system-reminder>",
        "<hook_context></hook_context>",
        "é\u{0}",
        "2026-11-15T09:30:00Z",
        "/home/dev/app",
        "{\"output\":1,\"metadata\":2}",
        "Chunk ID:Output:\n",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        words.prop_map(Value::from),
    ];
    let names = prop::sample::select(vec![
        "type",
        "message",
        "content",
        "id",
        "uuid",
        "sessionId",
        "session_id",
        "timestamp",
        "payload",
        "data",
        "cwd",
        "role",
        "text",
        "call_id",
        "tool_use_id",
        "toolCalls",
        "toolRequests",
        "name",
        "arguments",
        "input",
        "output",
        "result",
        "$set",
        "$rewindTo",
        "messages",
        "kind",
        "context",
        "isSidechain",
        "agentId",
        "forked_from_id",
        "source",
        "projectHash",
        "toolCallId",
        "status",
    ]);
    leaf.prop_recursive(4, 48, 8, move |inner| {
        let map = prop::collection::vec((names.clone(), inner.clone()), 0..8);
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::from),
            map.prop_map(|pairs| {
                let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value));
                Value::Object(pairs.collect::<Map<_, _>>())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn properties_arbitrary_bytes_cause_no_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for (agent, form) in FORMS {
            read(agent, form, &bytes);
        }
    }

    #[test]
    fn properties_arbitrary_records_yield_valid_drafts(records in prop::collection::vec(value(), 0..12)) {
        let lines: String = records.iter().map(|record| format!("{record}\n")).collect();
        for (agent, form) in FORMS {
            let kept = read(agent, form, lines.as_bytes());
            for draft in kept.drafts {
                prop_assert!(!draft.session.as_str().is_empty());
                prop_assert!(draft.cwd.starts_with('/'));
            }
        }
        let chat = json!({"sessionId": "s", "messages": records}).to_string();
        read("gemini", TranscriptFormat::Conversation, chat.as_bytes());
    }

    #[test]
    fn properties_damaged_lines_are_reported_by_number(cut in 1usize..60) {
        let good = json!({"type": "user", "uuid": "u", "sessionId": "s", "cwd": "/app",
            "timestamp": "2026-11-15T09:30:00Z", "message": {"role": "user", "content": "hello there"}})
        .to_string();
        let bad: String = good.chars().take(cut).collect();
        let kept = read("claude-code", TranscriptFormat::Lines, format!("{good}\n{bad}\n{good}\n").as_bytes());
        prop_assert_eq!(kept.damaged, [2]);
        prop_assert_eq!(kept.drafts.iter().filter(|draft| draft.text == "hello there").count(), 2);
    }
}
