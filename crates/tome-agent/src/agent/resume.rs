//! Resuming a session: converts its events back into the units of a context window.
//!
//! A tool result is stored together with its call, so every restored call has a result however the last
//! run ended. Events before the latest compaction are not restored.

use serde_json::Value;
use tome_llm::{ContentPart, ToolCall, ToolResult};
use tome_model::{Event, EventId, EventKind};
use tome_text::estimate_tokens_conservatively;

use crate::SessionEvent;
use crate::context::{CompactionTotals, ContextUnit, ContextWindow, fence_capped};

use super::log::{META_CALL, META_FILE, META_KEPT_FROM, META_MESSAGES, META_STEP};
use super::step::{cap_prompt, cap_result};

#[derive(Debug, Default)]
pub(super) struct RestoredSession {
    pub units: Vec<ContextUnit>,
    pub compacted: CompactionTotals,
}

/// Restores a session from its events, in order, with the same size limits as during the live session.
pub(super) fn restore_session(events: &[Event], context: &ContextWindow) -> RestoredSession {
    let mut compacted = CompactionTotals::default();
    let mut from = 0;
    for event in events.iter().filter(|event| event.kind == EventKind::Compaction) {
        compacted.compactions += 1;
        compacted.messages += event.meta.get(META_MESSAGES).and_then(Value::as_u64).unwrap_or(0);
        compacted.latest = Some(render_compaction(
            meta_text(event, META_FILE),
            &event.text,
            context.summary_budget(),
        ));
        let kept = meta_text(event, META_KEPT_FROM);
        from = events.iter().position(|one| Some(one.id.as_str()) == kept).unwrap_or(from);
    }
    let mut replay = SessionReplay { context, units: Vec::new(), step: None };
    for event in events.get(from..).unwrap_or_default() {
        replay.apply_event(event);
    }
    replay.finish_step();
    RestoredSession { units: replay.units, compacted }
}

/// Describes a compaction for the head of the context, within a token budget. The summary may contain
/// tool output and is therefore fenced.
pub(super) fn render_compaction(file: Option<&str>, summary: &str, tokens_max: u64) -> String {
    let file = match file {
        Some(file) => format!("{file} (memory_read with scope session); "),
        None => String::new(),
    };
    let intro = format!(
        "Earlier turns have left this context: {file}recall_memory finds the full text. Summary:\n"
    );
    let budget = tokens_max.saturating_sub(estimate_tokens_conservatively(&intro) + 1);
    let rest = "memory_read with scope session has the full text";
    intro + &fence_capped("the record of this session", summary, budget, rest)
}

fn meta_text<'e>(event: &'e Event, name: &str) -> Option<&'e str> {
    event.meta.get(name)?.as_str()
}

struct SessionReplay<'c> {
    context: &'c ContextWindow,
    units: Vec<ContextUnit>,
    step: Option<ReplayStep>,
}

struct ReplayStep {
    name: String,
    reply_parts: Vec<ContentPart>,
    results: Vec<(ToolResult, EventId)>,
    events: Vec<SessionEvent>,
}

impl SessionReplay<'_> {
    fn apply_event(&mut self, event: &Event) {
        let step = meta_text(event, META_STEP).map(str::to_owned);
        match (event.kind, step) {
            (EventKind::AssistantMessage, Some(name)) if !event.text.is_empty() => {
                let step = self.step_named(name);
                step.reply_parts.push(ContentPart::Text(event.text.clone()));
                step.events.push(to_session_event(event));
            }
            (EventKind::ToolResult, name) => self.apply_tool_result(event, name),
            (EventKind::UserMessage, _) => {
                self.finish_step();
                let shown = cap_prompt(&event.text, self.context);
                self.units.push(ContextUnit::prompt(
                    &shown,
                    Vec::new(),
                    vec![to_session_event(event)],
                ));
            }
            (EventKind::AssistantMessage | EventKind::AssistantStop, _) => {
                self.finish_step();
                self.units.push(ContextUnit::reply(&event.text, vec![to_session_event(event)]));
            }
            _ => {}
        }
    }

    fn apply_tool_result(&mut self, event: &Event, name: Option<String>) {
        let Some(tool) = &event.tool else { return };
        let id = meta_text(event, META_CALL).unwrap_or(event.id.as_str()).to_owned();
        let value_text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        let call = ToolCall {
            id: id.clone(),
            name: tool.name.clone(),
            arguments: value_text(&tool.input),
        };
        let failed = event.meta.get("failed") == Some(&Value::Bool(true));
        let result = ToolResult { id, text: value_text(&tool.output), failed };
        let step = self.step_named(name.unwrap_or_else(|| event.id.to_string()));
        step.reply_parts.push(ContentPart::ToolCall(call));
        step.results.push((result, event.id.clone()));
        step.events.push(to_session_event(event));
    }

    fn step_named(&mut self, name: String) -> &mut ReplayStep {
        if self.step.as_ref().is_some_and(|step| step.name != name) {
            self.finish_step();
        }
        self.step.get_or_insert_with(|| ReplayStep {
            name,
            reply_parts: Vec::new(),
            results: Vec::new(),
            events: Vec::new(),
        })
    }

    fn finish_step(&mut self) {
        let Some(ReplayStep { reply_parts, results, events, .. }) = self.step.take() else {
            return;
        };
        let unit = if results.is_empty() {
            let texts = reply_parts.iter().map(|part| match part {
                ContentPart::Text(text) => text.as_str(),
                ContentPart::ToolCall(_) | ContentPart::ToolResult(_) => "",
            });
            ContextUnit::reply(&texts.collect::<String>(), events)
        } else {
            let budget = self.context.result_budget(results.len());
            let results = results.into_iter().map(|(result, id)| cap_result(result, budget, &id));
            ContextUnit::step(reply_parts, &results.collect::<Vec<_>>(), Vec::new(), events)
        };
        self.units.push(unit);
    }
}

fn to_session_event(event: &Event) -> SessionEvent {
    SessionEvent {
        kind: event.kind,
        at: event.at,
        id: event.id.clone(),
        text: event.text.clone(),
        tool: event.tool.clone(),
        meta: event.meta.clone(),
    }
}
