//! Recovers patches that Codex applies itself.
//!
//! Codex does not run a shell command that consists only of `apply_patch` with a patch: it applies
//! the patch and calls no `PostToolUse` hook. The rollout has the call and its output, which are
//! read from there when the turn stops, with the same identities as an import.

use std::path::PathBuf;

use serde_json::{Map, Value};
use tome_model::{Draft, EventKind};

use super::transcript::RolloutReader;
use crate::agents::HookInput;
use crate::agents::claude_code::hook::event_name;
use crate::agents::fields::PayloadFields;
use crate::agents::transcript_record::{
    RecordOutcome, SCRIPT_START_META_KEY, TranscriptOrigin, TranscriptReader,
    parse_complete_records,
};

/// First line of every patch.
const PATCH_HEADER: &str = "*** Begin Patch";

/// Returns whether the turn that stops may contain such a patch. Codex has written its tool calls
/// to the rollout by then, because the model has already replied to their output.
pub(in crate::agents) fn is_due(input: &HookInput<'_>, fields: &PayloadFields) -> bool {
    let path = fields.get_str("transcript_path").filter(|_| event_name(input, fields) == "Stop");
    let tail = path.and_then(|path| (input.read_tail)(&PathBuf::from(path)));
    tail.is_some_and(|tail| tail.contains(PATCH_HEADER))
}

/// Reads the patches of the turn. Waits until the rollout has the turn's last message; if that
/// takes too long, what the rollout has so far is still correct.
pub(in crate::agents) fn read_patches(
    input: &HookInput<'_>,
    mut fields: PayloadFields,
) -> Vec<Draft> {
    let Some(path) = fields.get_str("transcript_path").map(PathBuf::from) else {
        return Vec::new();
    };
    let turn = fields.take_text("turn_id");
    let answer = fields.take_text("last_assistant_message");
    let origin = TranscriptOrigin {
        agent: input.agent.clone(),
        path: path.display().to_string(),
        session: fields.take_text("session_id"),
        cwd: fields.get_str("cwd").unwrap_or(input.cwd).to_owned(),
        at: input.now,
    };
    loop {
        let tail = (input.read_tail)(&path).unwrap_or_default();
        let records = parse_complete_records(&tail);
        let is_complete = records.iter().any(|record| ends_turn(record, &turn, &answer));
        if is_complete || !(input.wait)() {
            return collect_patches(records, &turn, origin);
        }
    }
}

fn collect_patches(
    records: Vec<Map<String, Value>>,
    turn: &str,
    origin: TranscriptOrigin,
) -> Vec<Draft> {
    let mut rollout = RolloutReader::new(origin, None);
    let mut steps = Vec::new();
    for record in records {
        rollout.read_record(record, &mut steps);
    }
    let events = steps.into_iter().filter_map(|step| match step {
        RecordOutcome::Event(draft) => Some(*draft),
        RecordOutcome::Unanswered(_) | RecordOutcome::Skipped(_) => None,
    });
    // Hooks report the calls of scripts, with other ids.
    let is_of_script = |draft: &Draft| draft.meta.contains_key(SCRIPT_START_META_KEY);
    let is_of_turn =
        |draft: &Draft| draft.meta.get("turn_id").and_then(Value::as_str) == Some(turn);
    let is_missing =
        |draft: &Draft| is_of_turn(draft) && is_shell_patch(draft) && !is_of_script(draft);
    events.filter(is_missing).collect()
}

fn is_shell_patch(draft: &Draft) -> bool {
    let shell = draft.tool.as_ref().filter(|tool| tool.name == "Bash");
    let command = shell.and_then(|tool| tool.input.get("command")).and_then(Value::as_str);
    draft.kind == EventKind::ToolResult
        && command.is_some_and(|command| command.contains(PATCH_HEADER))
}

/// Returns whether a record comes after every tool call of a turn: its last message, or its end.
fn ends_turn(record: &Map<String, Value>, turn: &str, answer: &str) -> bool {
    let Some(about) = record.get("payload") else { return false };
    let text = |name: &str| about.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "task_complete" => text("turn_id") == turn,
        "message" if text("role") == "assistant" && !answer.trim().is_empty() => {
            let named = about.get("internal_chat_message_metadata_passthrough");
            let turn_id = named.and_then(|named| named.get("turn_id")).and_then(Value::as_str);
            let parts = about.get("content").and_then(Value::as_array);
            let texts: Vec<&str> = parts
                .into_iter()
                .flatten()
                .filter_map(|part| part.get("text").and_then(Value::as_str))
                .collect();
            turn_id == Some(turn) && texts.join("\n").trim() == answer.trim()
        }
        _ => false,
    }
}
