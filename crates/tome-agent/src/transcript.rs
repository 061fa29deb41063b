//! Renders events as a transcript for a model. Messages are verbatim; tool output is fenced as data.

use tome_contents::event_texts;
use tome_engine::quote_text;
use tome_model::{Event, EventKind};
use tome_text::estimate_tokens_conservatively;

use crate::context::cap_tokens;

const RESULT_TOKENS_MAX: u64 = 400;
const MESSAGE_TOKENS_MAX: u64 = 2_000;

/// Renders events within a token budget. The oldest are omitted first, and counted.
pub(crate) fn render_transcript(events: &[Event], tokens_max: u64) -> String {
    let blocks: Vec<String> = events.iter().filter_map(render_event).collect();
    let mut left = tokens_max.saturating_sub(30);
    let mut kept = 0;
    for text in blocks.iter().rev() {
        let Some(rest) = left.checked_sub(estimate_tokens_conservatively(text) + 2) else { break };
        left = rest;
        kept += 1;
    }
    let out = blocks.len() - kept;
    let mut text = String::new();
    if out > 0 {
        text.push_str(&format!("[{out} earlier messages are left out]\n\n"));
    }
    text.push_str(&blocks.get(out..).unwrap_or_default().join("\n\n"));
    text
}

fn render_event(event: &Event) -> Option<String> {
    let words = || cap_tokens(event.text.trim(), MESSAGE_TOKENS_MAX, "cut");
    let text = match event.kind {
        EventKind::UserMessage => format!("USER: {}", words()),
        EventKind::AssistantMessage | EventKind::AssistantStop => format!("AGENT: {}", words()),
        EventKind::ToolResult => {
            let tool = event.tool.as_ref()?;
            let all: Vec<_> = event_texts(event).collect();
            let shown = cap_tokens(&all.join("\n"), RESULT_TOKENS_MAX, "cut");
            format!("TOOL {}:\n{}", tool.name, quote_text(&tool.name, &shown))
        }
        EventKind::Unknown
        | EventKind::SessionStart
        | EventKind::SubagentStart
        | EventKind::SubagentStop
        | EventKind::SessionEnd
        | EventKind::Compaction => return None,
    };
    (text.len() > "AGENT: ".len()).then_some(text)
}
