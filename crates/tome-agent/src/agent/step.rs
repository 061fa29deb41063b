//! One step of the loop: runs every tool call of a reply in order and sends all results back in one
//! message. Injections follow the last result, because providers require every call to have one.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;
use tome_engine::triggers::DueInjection;
use tome_llm::{CancelToken, ChatResponse, ContentPart, ToolCall, ToolResult};
use tome_model::{EventId, EventKind, Tool};

use super::log::{LoggedEvent, META_CALL, META_STEP};
use super::{AgentEvent, AgentLoop, AgentRun};
use crate::SessionEvent;
use crate::context::{ContextUnit, ContextWindow, cap_tokens};
use crate::tools::{FinishedToolCall, cancelled_outcome};

impl AgentLoop {
    pub(super) fn run_tool_calls(
        &mut self,
        run: &mut AgentRun,
        reply: &ChatResponse,
        on_event: &mut dyn FnMut(AgentEvent<'_>),
        stop: &CancelToken,
    ) {
        let parts = with_unique_ids(&reply.parts);
        let calls: Vec<&ToolCall> = parts.iter().filter_map(as_tool_call).collect();
        let (name, mut events) = self.record_reply_text(&reply.text());
        let budget = self.context.result_budget(calls.len());
        let (mut results, mut dues) = (Vec::with_capacity(calls.len()), Vec::new());
        for call in calls {
            on_event(AgentEvent::ToolStart(call));
            let ran = if stop.is_cancelled() {
                cancelled_outcome(call)
            } else {
                self.settings.tools.run_call(&self.memory, call, stop)
            };
            run.tool_calls += 1;
            on_event(AgentEvent::ToolEnd { call, result: &ran.result });
            let LoggedEvent { event, due } = self.record_tool_result(&name, call, &ran);
            dues.extend(due);
            results.push(cap_result(ran.result, budget, &event.id));
            events.push(event);
        }
        let notes = dues
            .into_iter()
            .filter_map(|due: DueInjection| self.compose_injection(Some(due), on_event))
            .collect();
        self.context.push(ContextUnit::step(parts, &results, notes, events));
    }

    /// Records the text before the calls, and returns the step's name.
    fn record_reply_text(&mut self, text: &str) -> (String, Vec<SessionEvent>) {
        let memory = Arc::clone(&self.memory);
        let event = self.log.new_event(&*memory, EventKind::AssistantMessage, text);
        let name = event.id.to_string();
        if text.trim().is_empty() {
            return (name, Vec::new());
        }
        let logged = self.log.append(&*memory, event.with_meta(META_STEP, name.clone()));
        (name, vec![logged.event])
    }

    fn record_tool_result(
        &mut self,
        step: &str,
        call: &ToolCall,
        ran: &FinishedToolCall,
    ) -> LoggedEvent {
        let memory = Arc::clone(&self.memory);
        let tool = Tool {
            name: call.name.clone(),
            input: ran.input.clone(),
            output: Value::String(ran.result.text.clone()),
        };
        let event = self.log.new_event(&*memory, EventKind::ToolResult, "").with_tool(tool);
        let event = event.with_meta(META_STEP, step).with_meta(META_CALL, call.id.clone());
        let event = if ran.result.failed { event.with_meta("failed", true) } else { event };
        self.log.append(&*memory, event)
    }
}

/// Caps a prompt to its share of the turn budget.
pub(super) fn cap_prompt(prompt: &str, context: &ContextWindow) -> String {
    cap_tokens(prompt, context.turn_budget() / 3, "cut here; recall_memory finds the rest")
}

/// Caps a tool result to its beginning and end. The mark in between points to the rest.
pub(super) fn cap_result(result: ToolResult, budget: u64, event: &EventId) -> ToolResult {
    let mark = format!(
        "cut here: {} characters in total; recall_memory (scope messages) with words of this text finds the rest (event {event})",
        result.text.chars().count(),
    );
    ToolResult { text: cap_tokens(&result.text, budget, &mark), ..result }
}

fn as_tool_call(part: &ContentPart) -> Option<&ToolCall> {
    match part {
        ContentPart::ToolCall(call) => Some(call),
        ContentPart::Text(_) | ContentPart::ToolResult(_) => None,
    }
}

/// Gives every call a unique id, because some models send none, or the same one twice. Ids are
/// compared in sanitized form: providers reject other characters, so ids that differ only there
/// collide when sent.
fn with_unique_ids(parts: &[ContentPart]) -> Vec<ContentPart> {
    let mut used_ids = HashSet::new();
    let mut unique = Vec::with_capacity(parts.len());
    for (n, part) in parts.iter().enumerate() {
        unique.push(match part {
            ContentPart::ToolCall(call) => {
                let (mut id, mut tries) = (call.id.clone(), 0_usize);
                while id.trim().is_empty() || !used_ids.insert(sanitize_call_id(&id)) {
                    id = format!("{}call-{}", call.id.trim(), n + tries);
                    tries += 1;
                }
                ContentPart::ToolCall(ToolCall { id, ..call.clone() })
            }
            part => part.clone(),
        });
    }
    unique
}

/// Returns the id in the form in which it is sent.
fn sanitize_call_id(id: &str) -> String {
    let is_taken = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    id.replace(|c| !is_taken(c), "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_call_ids_are_unique_after_sanitizing() {
        let ids = ["a.b", "a_b", "", "a:b", "call-2", " ", "a.bcall-3", "a.b", "a.b"];
        let call = |id: &str| {
            let (id, name) = (id.to_owned(), "echo".to_owned());
            ContentPart::ToolCall(ToolCall { id, name, arguments: String::new() })
        };
        let parts: Vec<ContentPart> = ids.iter().map(|id| call(id)).collect();
        let unique = with_unique_ids(&parts);
        let sent: HashSet<String> =
            unique.iter().filter_map(as_tool_call).map(|c| sanitize_call_id(&c.id)).collect();
        assert_eq!(sent.len(), ids.len(), "{unique:?}");
        assert_eq!(as_tool_call(&unique[0]).unwrap().id, "a.b");
    }
}
