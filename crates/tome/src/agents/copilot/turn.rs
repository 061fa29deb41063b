//! Reads the replies of a finished turn from the end of the session's log.
//!
//! Copilot CLI writes its log after its hooks run: when a stop hook runs, the turn's last replies
//! are often missing, and an earlier message of the same turn would be mistaken for the answer. The
//! log is complete for a turn once it contains the `hook.start` record of that stop; nothing is
//! read before.

use std::path::PathBuf;

use serde_json::{Map, Value};
use tome_model::{Draft, EventKind, Millis, Role};

use super::hook::event_name;
use super::transcript::{CopilotLogReader, stop_time};
use crate::agents::HookInput;
use crate::agents::fields::PayloadFields;
use crate::agents::hook_context::parse_timestamp;
use crate::agents::transcript_record::{
    RecordOutcome, TranscriptOrigin, TranscriptReader, parse_complete_records,
};

/// Returns whether the log will hold more about this event than its payload.
pub(in crate::agents) fn is_due(input: &HookInput<'_>, fields: PayloadFields) -> bool {
    let fields = fields.into_snake_case();
    event_name(input, &fields) == "agentStop" && fields.get_str("transcript_path").is_some()
}

/// Reads the replies of the turn that ended with this stop, with the same identities as an import.
/// Waits for the log to be complete; returns none if that takes too long.
pub(in crate::agents) fn read_replies(input: &HookInput<'_>, fields: PayloadFields) -> Vec<Draft> {
    let mut fields = fields.into_snake_case();
    let Some(path) = fields.get_str("transcript_path").map(PathBuf::from) else {
        return Vec::new();
    };
    let stopped = parse_timestamp(&fields.take_value("timestamp"));
    let origin = TranscriptOrigin {
        agent: input.agent.clone(),
        path: path.display().to_string(),
        session: fields.take_text("session_id"),
        cwd: fields.get_str("cwd").unwrap_or(input.cwd).to_owned(),
        at: stopped.unwrap_or(input.now),
    };
    loop {
        let tail = (input.read_tail)(&path).filter(|tail| tail.contains("agentStop"));
        if let Some(replies) = tail.and_then(|tail| parse_replies(&tail, stopped, origin.clone())) {
            return replies;
        }
        if !(input.wait)() {
            return Vec::new();
        }
    }
}

/// Returns the replies between the previous stop and this one; `None` if the log lacks this stop.
fn parse_replies(
    tail: &str,
    stopped: Option<Millis>,
    origin: TranscriptOrigin,
) -> Option<Vec<Draft>> {
    let records = parse_complete_records(tail);
    let stops: Vec<(usize, Millis)> = records
        .iter()
        .enumerate()
        .filter_map(|(at, record)| Some((at, record_stop_time(record)?)))
        .collect();
    let stop_index =
        stops.iter().rposition(|(_, at)| stopped.is_none_or(|stopped| *at == stopped))?;
    let (last, _) = *stops.get(stop_index)?;
    let first =
        stop_index.checked_sub(1).and_then(|before| stops.get(before)).map_or(0, |(at, _)| at + 1);
    let mut log = CopilotLogReader::new(origin);
    let mut replies = Vec::new();
    for (at, record) in records.into_iter().enumerate().take(last + 1) {
        let mut steps = Vec::new();
        log.read_record(record, &mut steps);
        let of_turn = steps.into_iter().filter(|_| at >= first);
        replies.extend(of_turn.filter_map(|step| match step {
            RecordOutcome::Event(draft) if is_reply(&draft) => Some(*draft),
            _ => None,
        }));
    }
    Some(replies)
}

fn is_reply(draft: &Draft) -> bool {
    let is_message = matches!(draft.kind, EventKind::AssistantMessage | EventKind::AssistantStop);
    is_message && draft.role == Role::Assistant
}

/// Returns the time of the stop whose hooks a record reports as started.
fn record_stop_time(record: &Map<String, Value>) -> Option<Millis> {
    if record.get("type").and_then(Value::as_str) != Some("hook.start") {
        return None;
    }
    let written = record.get("timestamp").and_then(parse_timestamp).unwrap_or_default();
    let about = record.get("data").and_then(Value::as_object)?;
    stop_time(&mut PayloadFields::new(about.clone()), written)
}
