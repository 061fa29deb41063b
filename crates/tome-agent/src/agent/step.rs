//! One step of the loop: runs every tool call of a reply in order and sends all results back in one
//! message. Injections follow the last result, because providers require every call to have one.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;
use tome_engine::triggers::Due;
use tome_llm::{Part, Reply, Stop, ToolCall, ToolResult};
use tome_model::{EventId, EventKind, Tool};

use super::log::Logged;
use super::resume::{CALL, STEP};
use super::{Agent, Run, Said};
use crate::Moment;
use crate::context::{Context, Unit, cap_tokens};
use crate::tools::{Ran, not_run};

impl Agent {
    pub(super) fn step(
        &mut self,
        run: &mut Run,
        reply: &Reply,
        said: &mut dyn FnMut(Said<'_>),
        stop: &Stop,
    ) {
        let parts = with_own_ids(&reply.parts);
        let calls: Vec<&ToolCall> = parts.iter().filter_map(call_of).collect();
        let (name, mut moments) = self.words(&reply.text());
        let room = self.context.result_room(calls.len());
        let (mut results, mut dues) = (Vec::with_capacity(calls.len()), Vec::new());
        for call in calls {
            said(Said::Calling(call));
            let ran = match stop.is_stopped() {
                true => not_run(call),
                false => self.settings.tools.run(&self.memory, call, stop),
            };
            run.calls += 1;
            said(Said::Called { call, result: &ran.result });
            let Logged { moment, due } = self.keep_result(&name, call, &ran);
            dues.extend(due);
            results.push(shown(ran.result, room, &moment.id));
            moments.push(moment);
        }
        let notes = dues.into_iter().filter_map(|due: Due| self.note(Some(due), said)).collect();
        self.context.push(Unit::step(parts, &results, notes, moments));
    }

    /// Records the text before the calls, and returns the step's name.
    fn words(&mut self, text: &str) -> (String, Vec<Moment>) {
        let memory = Arc::clone(&self.memory);
        let moment = self.log.moment(&*memory, EventKind::AssistantMessage, text);
        let name = moment.id.to_string();
        if text.trim().is_empty() {
            return (name, Vec::new());
        }
        let logged = self.log.keep(&*memory, moment.with_meta(STEP, name.clone()));
        (name, vec![logged.moment])
    }

    fn keep_result(&mut self, step: &str, call: &ToolCall, ran: &Ran) -> Logged {
        let memory = Arc::clone(&self.memory);
        let tool = Tool {
            name: call.name.clone(),
            input: ran.input.clone(),
            output: Value::String(ran.result.text.clone()),
        };
        let moment = self.log.moment(&*memory, EventKind::ToolResult, "").with_tool(tool);
        let moment = moment.with_meta(STEP, step).with_meta(CALL, call.id.clone());
        let moment = if ran.result.failed { moment.with_meta("failed", true) } else { moment };
        self.log.keep(&*memory, moment)
    }
}

/// Caps a prompt to its share of the turn budget.
pub(super) fn shown_prompt(prompt: &str, context: &Context) -> String {
    cap_tokens(prompt, context.room() / 3, "cut here; recall_memory finds the rest")
}

/// Caps a tool result to its beginning and end. The mark in between says how to find the rest.
pub(super) fn shown(result: ToolResult, room: u64, event: &EventId) -> ToolResult {
    let mark = format!(
        "cut here: {} characters in total; recall_memory (scope messages) with words of this text finds the rest (event {event})",
        result.text.chars().count(),
    );
    ToolResult { text: cap_tokens(&result.text, room, &mark), ..result }
}

fn call_of(part: &Part) -> Option<&ToolCall> {
    match part {
        Part::Call(call) => Some(call),
        Part::Text(_) | Part::Result(_) => None,
    }
}

/// Gives every call a unique id, because some models send none, or the same one twice. Ids are compared
/// in
/// sanitized form: providers reject other characters, so ids that differ only there collide when sent.
fn with_own_ids(parts: &[Part]) -> Vec<Part> {
    let mut seen = HashSet::new();
    let mut own = Vec::with_capacity(parts.len());
    for (n, part) in parts.iter().enumerate() {
        own.push(match part {
            Part::Call(call) => {
                let (mut id, mut tries) = (call.id.clone(), 0_usize);
                while id.trim().is_empty() || !seen.insert(safe(&id)) {
                    id = format!("{}call-{}", call.id.trim(), n + tries);
                    tries += 1;
                }
                Part::Call(ToolCall { id, ..call.clone() })
            }
            part => part.clone(),
        });
    }
    own
}

/// Returns the id in the form in which it is sent.
fn safe(id: &str) -> String {
    let is_taken = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    id.replace(|c| !is_taken(c), "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_their_own_as_they_are_sent() {
        let ids = ["a.b", "a_b", "", "a:b", "call-2", " ", "a.bcall-3", "a.b", "a.b"];
        let call = |id: &str| {
            let (id, name) = (id.to_owned(), "echo".to_owned());
            Part::Call(ToolCall { id, name, arguments: String::new() })
        };
        let parts: Vec<Part> = ids.iter().map(|id| call(id)).collect();
        let own = with_own_ids(&parts);
        let sent: HashSet<String> = own.iter().filter_map(call_of).map(|c| safe(&c.id)).collect();
        assert_eq!(sent.len(), ids.len(), "{own:?}");
        assert_eq!(call_of(&own[0]).unwrap().id, "a.b");
    }
}
