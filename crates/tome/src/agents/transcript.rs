//! Reads the transcripts that agents leave on disk: records in, drafts of events out.
//!
//! Each agent's reader is a small state machine over records, without access to disk, clock or
//! environment: the importer finds the files, reads them line by line and passes the records in.
//! Readers accept anything and never panic. Wherever a transcript has the necessary data,
//! identities match those of the hooks (`identity.rs`).
//!
//! Records that are not events (bookkeeping, injected context, the harness's own text) are skipped
//! and counted by reason.

use serde_json::{Map, Value};
use tome_model::Agent;

use super::lenient_json::{self, ParsedPayload};
use super::transcript_record::{TranscriptOrigin, TranscriptReader};
use super::{claude_code, codex, copilot};

pub use super::codex::transcript::{CopiedHistory, parent_session_id, record_fingerprint};
pub use super::gemini::transcript::{
    GeminiChatHeader as ChatHeader, GeminiChatReader, workspace_folder as chat_folder_in,
};
pub use super::opencode::transcript::OpenCodeSessionReader as OpenCodeSession;

/// Creates the reader for a JSONL transcript. Only Codex copies histories.
pub fn build_transcript_reader(
    origin: TranscriptOrigin,
    copies: Option<CopiedHistory>,
) -> Box<dyn TranscriptReader> {
    match origin.agent.as_str() {
        "codex" => Box::new(codex::transcript::RolloutReader::new(origin, copies)),
        "copilot" => Box::new(copilot::transcript::CopilotLogReader::new(origin)),
        _ => Box::new(claude_code::transcript::ClaudeTranscriptReader::new(origin)),
    }
}

/// Maps the names that an agent uses for the same tool to one.
pub fn canonical_tool_name<'a>(agent: &Agent, name: &'a str) -> &'a str {
    match agent.as_str() {
        "copilot" => copilot::hook::canonical_tool_name(name),
        _ => name,
    }
}

/// Detects which agent wrote a record.
pub fn detect_agent(record: &Map<String, Value>) -> Option<&'static str> {
    let has = |name: &str| record.contains_key(name);
    let is = |name: &str| record.get("type").and_then(Value::as_str) == Some(name);
    match () {
        () if has("projectHash") || has("$set") || has("$rewindTo") => Some("gemini"),
        () if has("payload") && has("type") || is("session_meta") => Some("codex"),
        () if has("data") && has("parentId") && has("type") => Some("copilot"),
        () if has("sessionId") || has("parentUuid") || has("leafUuid") => Some("claude-code"),
        _ => None,
    }
}

/// Parses a line as a record; `Ok(None)` for a blank line, an error with the reason for any other
/// text. Repairs lone surrogates, raw control characters and invalid UTF-8.
pub fn parse_record(line: &[u8]) -> Result<Option<Map<String, Value>>, String> {
    let why = match serde_json::from_slice::<Value>(line) {
        Ok(Value::Object(record)) => return Ok(Some(record)),
        Ok(_) => return Err("is not a record: the JSON value is not an object".to_owned()),
        Err(why) => why,
    };
    match lenient_json::parse_payload(line) {
        ParsedPayload::Empty => Ok(None),
        ParsedPayload::Object(fields) if !fields.has("trailing") => Ok(Some(fields.into_map())),
        ParsedPayload::Object(_) | ParsedPayload::Text(_) => {
            let why = why.to_string();
            // serde_json reports a position within this line.
            let (what, column) = why.split_once(" at line 1 column ").unwrap_or((&why, "0"));
            Err(format!("is not JSON: {what} at byte {column}"))
        }
    }
}
