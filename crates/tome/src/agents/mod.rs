//! Coding agents: turns the payloads of their hooks into drafts of events. One folder per agent.
//!
//! Parsing never fails and never panics: an unreadable payload becomes one `unknown` draft with the
//! raw text, an unknown event an `unknown` draft with all its fields. Only the events in an agent's
//! `REDUNDANT_EVENTS` are dropped, because their content arrives with another event. Redaction and
//! size limits come later. No disk, clock or environment access.
//!
//! A new agent needs, besides its folder here:
//!
//! - its name in `Agent::KNOWN` (`tome-model/src/agent.rs`)
//! - its peculiarities (`profile.rs`)
//! - the response its hooks accept (`response.rs`), and which tool calls edit files (`tool_notice.rs`)
//! - its transcripts (`transcript.rs`), where they lie (`../import/sources.rs`), and its name for the
//!   client of an MCP connection (`../mcp/caller.rs`)
//! - how its headless runs are recognized (`../hook/headless.rs`)
//! - the files that setup installs (`../setup/integration`)
//! - its own checks in `tome doctor`, if any (`../command/agent_checks.rs`)
//! - its phrases for rejected tool calls (`tome-contents/src/rejection.rs`)
//! - its command to resume a session (`tome-contents/src/session_list.rs`)
//! - its tool for questions (`tome-contents/src/extract/facts/choices.rs`) and its form of plans
//!   (`tome-contents/src/extract/turns/plan.rs`), if they differ
//! - its name among those that are no subject of a topic (`tome-topics/src/label.rs`)
//! - its name in help and messages: `HOOK_HELP` (`../cli.rs`), `SETUP_HELP` (`../cli/setup.rs`), `IMPORT_HELP`
//!   (`../cli/import.rs`), `../command/overview/first_steps.rs`
//! - a real-client test (`tests/e2e`)

mod claude_code;
mod codex;
mod copilot;
mod fields;
mod gemini;
mod hook_context;
mod identity;
mod injection_point;
mod lenient_json;
mod opencode;
mod profile;
mod prompt_text;
mod response;
#[cfg(test)]
mod tests;
mod tool_notice;
pub mod transcript;
pub mod transcript_record;

use std::path::Path;

use tome_model::{Agent, Draft, Millis};

use hook_context::HookContext;
pub use injection_point::InjectionPoint;
use lenient_json::ParsedPayload;
pub use profile::AgentProfile;
pub use response::{build_response, max_text_bytes};
pub use tool_notice::{ToolNotice, parse_tool_notice};

/// The input of one run of a hook.
pub struct HookInput<'a> {
    /// From the command line.
    pub agent: &'a Agent,
    /// The event name from the command line (`tome hook copilot sessionStart`). A name in the
    /// payload takes precedence.
    pub event: Option<&'a str>,
    /// Raw stdin; any bytes.
    pub payload: &'a [u8],
    /// For agents whose payloads carry no time.
    pub now: Millis,
    /// The process's working directory, for payloads that name none.
    pub cwd: &'a str,
    /// Reads the end of a transcript, at most its last 256 KiB.
    pub read_tail: &'a dyn Fn(&Path) -> Option<String>,
    /// Waits briefly for a transcript that is written after its hooks; returns `false` without
    /// waiting once the deadline has passed. Used only by `read_transcript_drafts`.
    pub wait: &'a dyn Fn() -> bool,
}

/// Whether a hook received several events at once. The agent expects no response to them.
pub fn is_batch(agent: &str, event: Option<&str>) -> bool {
    event.is_some() && event == AgentProfile::by_name(agent).batch_event
}

/// Parses a hook payload into drafts; none for empty payloads and redundant events.
pub fn parse_drafts(input: &HookInput<'_>) -> Vec<Draft> {
    if is_batch(input.agent.as_str(), input.event) {
        return opencode::hook::split_batch(input.payload)
            .filter_map(|payload| parse_event(&HookInput { event: None, payload, ..*input }))
            .collect();
    }
    parse_event(input).into_iter().collect()
}

fn parse_event(input: &HookInput<'_>) -> Option<Draft> {
    match lenient_json::parse_payload(input.payload) {
        ParsedPayload::Empty => None,
        ParsedPayload::Text(text) => {
            HookContext::without_fields(input).map(|context| context.raw_draft(input.event, text))
        }
        ParsedPayload::Object(fields) => match input.agent.as_str() {
            "codex" => codex::hook::parse_draft(input, fields),
            "gemini" => gemini::hook::parse_draft(input, fields),
            "copilot" => copilot::hook::parse_draft(input, fields),
            "opencode" => opencode::hook::parse_draft(input, fields),
            // Most unknown agents use Claude Code's format; the payloads of the others are kept as
            // unknown events.
            _ => claude_code::hook::parse_draft(input, fields),
        },
    }
}

/// Whether the agent's transcript will hold more about this event than the payload: Copilot CLI's
/// replies, patches that Codex applies itself. The transcript may not be written yet.
pub fn has_more_in_transcript(input: &HookInput<'_>) -> bool {
    let is_stop = match input.agent.as_str() {
        "codex" => contains_text(input.payload, "\"Stop\""),
        "copilot" => input.event.is_none_or(|event| matches!(event, "agentStop" | "Stop")),
        _ => false,
    };
    // Most payloads are not stops; parsing a large one a second time would be a waste.
    if !is_stop {
        return false;
    }
    match (lenient_json::parse_payload(input.payload), input.agent.as_str()) {
        (ParsedPayload::Object(fields), "codex") => codex::applied_patches::is_due(input, &fields),
        (ParsedPayload::Object(fields), _) => copilot::turn::is_due(input, fields),
        _ => false,
    }
}

fn contains_text(payload: &[u8], word: &str) -> bool {
    payload.windows(word.len()).any(|part| part == word.as_bytes())
}

/// Reads the events that only the transcript has, with the identities that an import gives them.
/// Waits for the transcript.
pub fn read_transcript_drafts(input: &HookInput<'_>) -> Vec<Draft> {
    match (lenient_json::parse_payload(input.payload), input.agent.as_str()) {
        (ParsedPayload::Object(fields), "codex") => {
            codex::applied_patches::read_patches(input, fields)
        }
        (ParsedPayload::Object(fields), "copilot") => copilot::turn::read_replies(input, fields),
        _ => Vec::new(),
    }
}
