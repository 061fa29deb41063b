//! The coding agents: what each one's hooks say, turned into drafts of events.
//!
//! One folder per agent. Reading never fails and never panics: what cannot be read becomes one
//! `unknown` draft with the raw text, an event that nobody here knows becomes an `unknown` draft
//! with everything it said, and only the events on an agent's named list are left out, because
//! their content arrives in another event. Nothing here redacts or caps text; that comes later on
//! an event's way in. Nothing here touches the disk, the clock or the environment.

mod answer;
mod claude_code;
mod codex;
mod copilot;
mod fields;
mod gemini;
mod identity;
mod lenient;
mod opencode;
mod prompt;
mod scene;
#[cfg(test)]
mod tests;
pub mod transcript;
pub mod wiring;

use std::path::Path;

use tome_model::{Agent, Draft, Millis};

pub use answer::{Moment, answer, bytes_max};
pub use copilot::wiring::has_own_hooks as copilot_has_own_hooks;
use lenient::Reading;
use scene::Scene;

/// What a hook was handed.
pub struct Heard<'a> {
    /// Whose hook it is, as the command line says.
    pub agent: &'a Agent,
    /// The event, where the command line names it (`tome hook copilot sessionStart`). What the
    /// payload itself says comes first.
    pub event: Option<&'a str>,
    /// What came on stdin: any bytes.
    pub payload: &'a [u8],
    /// The present moment, for agents whose payloads carry no time.
    pub now: Millis,
    /// Where the process stands, for payloads that name no directory.
    pub cwd: &'a str,
    /// Reads the end of a transcript: at most its last 256 KiB, or nothing.
    pub read_tail: &'a dyn Fn(&Path) -> Option<String>,
    /// Waits a moment for a transcript that is written behind its hooks; `false`, and no wait, once
    /// there is no time left for that. Used by `drafts_from_transcript` alone.
    pub wait: &'a dyn Fn() -> bool,
}

/// Whether a hook was handed several events at once. Nobody waits for an answer to them.
pub fn is_batch(agent: &str, event: Option<&str>) -> bool {
    agent == "opencode" && event == Some(opencode::hook::BATCH)
}

/// The events that one hook payload stands for; none for an empty payload and for echoes.
pub fn drafts(heard: &Heard<'_>) -> Vec<Draft> {
    if is_batch(heard.agent.as_str(), heard.event) {
        return opencode::hook::split_batch(heard.payload)
            .filter_map(|payload| read_event(&Heard { event: None, payload, ..*heard }))
            .collect();
    }
    read_event(heard).into_iter().collect()
}

fn read_event(heard: &Heard<'_>) -> Option<Draft> {
    match lenient::read(heard.payload) {
        Reading::Empty => None,
        Reading::Text(text) => Scene::bare(heard).map(|scene| scene.raw(heard.event, text)),
        Reading::Object(fields) => match heard.agent.as_str() {
            "codex" => codex::hook::draft(heard, fields),
            "gemini" => gemini::hook::draft(heard, fields),
            "copilot" => copilot::hook::draft(heard, fields),
            "opencode" => opencode::hook::draft(heard, fields),
            // Agents that Tome has never heard of mostly speak Claude Code's shapes; if they do
            // not, what they say is kept as unknown.
            _ => claude_code::hook::draft(heard, fields),
        },
    }
}

/// Whether an agent's transcript will say more about this event than the hook's payload does: Copilot
/// CLI's answers, patches that Codex applies itself. It may not be written yet.
pub fn has_more_in_transcript(heard: &Heard<'_>) -> bool {
    let is_stop = match heard.agent.as_str() {
        "codex" => mentions(heard.payload, "\"Stop\""),
        "copilot" => heard.event.is_none_or(|event| matches!(event, "agentStop" | "Stop")),
        _ => false,
    };
    // Most payloads are no stops; some are large, and have been read once.
    if !is_stop {
        return false;
    }
    match (lenient::read(heard.payload), heard.agent.as_str()) {
        (Reading::Object(fields), "codex") => codex::intercepted::is_due(heard, &fields),
        (Reading::Object(fields), _) => copilot::turn::is_due(heard, fields),
        _ => false,
    }
}

fn mentions(payload: &[u8], word: &str) -> bool {
    payload.windows(word.len()).any(|part| part == word.as_bytes())
}

/// The events about which only the transcript can tell, with the identities that an import gives them.
/// Waits for the transcript.
pub fn drafts_from_transcript(heard: &Heard<'_>) -> Vec<Draft> {
    match (lenient::read(heard.payload), heard.agent.as_str()) {
        (Reading::Object(fields), "codex") => codex::intercepted::patches(heard, fields),
        (Reading::Object(fields), "copilot") => copilot::turn::replies(heard, fields),
        _ => Vec::new(),
    }
}
