//! Resuming a session: converts its events back into the units of a context window.
//!
//! A tool result is stored together with its call, so every restored call has a result however the last
//! run ended. Events before the latest compaction are not restored.

use serde_json::Value;
use tome_llm::{Part, ToolCall, ToolResult};
use tome_model::{Event, EventId, EventKind};
use tome_text::budget_tokens;

use crate::Moment;
use crate::context::{Compacted, Context, Unit, fenced};

use super::step::{shown, shown_prompt};

// Keys in an event's metadata. `step` groups the calls of a reply, `call` is a call's id.
pub(super) const STEP: &str = "step";
pub(super) const CALL: &str = "call";
// Of a compaction: its note, the number of messages that left, and the first event that stayed.
pub(super) const FILE: &str = "file";
pub(super) const MESSAGES: &str = "messages";
pub(super) const KEPT_FROM: &str = "kept_from";

#[derive(Debug, Default)]
pub(super) struct Resumed {
    pub units: Vec<Unit>,
    pub compacted: Compacted,
}

/// Restores a session from its events, in order, with the same size limits as during the live session.
pub(super) fn resumed(events: &[Event], context: &Context) -> Resumed {
    let mut compacted = Compacted::default();
    let mut from = 0;
    for event in events.iter().filter(|event| event.kind == EventKind::Compaction) {
        compacted.times += 1;
        compacted.messages += event.meta.get(MESSAGES).and_then(Value::as_u64).unwrap_or(0);
        compacted.latest = Some(latest(text_of(event, FILE), &event.text, context.summary_room()));
        let kept = text_of(event, KEPT_FROM);
        from = events.iter().position(|one| Some(one.id.as_str()) == kept).unwrap_or(from);
    }
    let mut reading = Reading { context, units: Vec::new(), step: None };
    for event in events.get(from..).unwrap_or_default() {
        reading.take(event);
    }
    reading.end_step();
    Resumed { units: reading.units, compacted }
}

/// Describes a compaction for the head of the context, within a token budget. The summary may contain
/// tool output and is therefore fenced.
pub(super) fn latest(file: Option<&str>, summary: &str, tokens_max: u64) -> String {
    let place = match file {
        Some(file) => format!("{file} (memory_read with scope session); "),
        None => String::new(),
    };
    let said = format!(
        "Earlier turns have left this context: {place}recall_memory finds the full text. Summary:\n"
    );
    let room = tokens_max.saturating_sub(budget_tokens(&said) + 1);
    let rest = "memory_read with scope session has the full text";
    said + &fenced("the record of this session", summary, room, rest)
}

fn text_of<'e>(event: &'e Event, name: &str) -> Option<&'e str> {
    event.meta.get(name)?.as_str()
}

struct Reading<'c> {
    context: &'c Context,
    units: Vec<Unit>,
    step: Option<Step>,
}

struct Step {
    name: String,
    said: Vec<Part>,
    results: Vec<(ToolResult, EventId)>,
    moments: Vec<Moment>,
}

impl Reading<'_> {
    fn take(&mut self, event: &Event) {
        let step = text_of(event, STEP).map(str::to_owned);
        match (event.kind, step) {
            (EventKind::AssistantMessage, Some(name)) if !event.text.is_empty() => {
                let step = self.step_of(name);
                step.said.push(Part::Text(event.text.clone()));
                step.moments.push(moment(event));
            }
            (EventKind::ToolResult, name) => self.tool_result(event, name),
            (EventKind::UserMessage, _) => {
                self.end_step();
                let shown = shown_prompt(&event.text, self.context);
                self.units.push(Unit::prompt(&shown, Vec::new(), vec![moment(event)]));
            }
            (EventKind::AssistantMessage | EventKind::AssistantStop, _) => {
                self.end_step();
                self.units.push(Unit::reply(&event.text, vec![moment(event)]));
            }
            _ => {}
        }
    }

    fn tool_result(&mut self, event: &Event, name: Option<String>) {
        let Some(tool) = &event.tool else { return };
        let id = text_of(event, CALL).unwrap_or(event.id.as_str()).to_owned();
        let words = |value: &Value| match value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        let call =
            ToolCall { id: id.clone(), name: tool.name.clone(), arguments: words(&tool.input) };
        let failed = event.meta.get("failed") == Some(&Value::Bool(true));
        let result = ToolResult { id, text: words(&tool.output), failed };
        let step = self.step_of(name.unwrap_or_else(|| event.id.to_string()));
        step.said.push(Part::Call(call));
        step.results.push((result, event.id.clone()));
        step.moments.push(moment(event));
    }

    fn step_of(&mut self, name: String) -> &mut Step {
        if self.step.as_ref().is_some_and(|step| step.name != name) {
            self.end_step();
        }
        self.step.get_or_insert_with(|| Step {
            name,
            said: Vec::new(),
            results: Vec::new(),
            moments: Vec::new(),
        })
    }

    fn end_step(&mut self) {
        let Some(Step { said, results, moments, .. }) = self.step.take() else { return };
        let unit = if results.is_empty() {
            let words = said.iter().map(|part| match part {
                Part::Text(text) => text.as_str(),
                Part::Call(_) | Part::Result(_) => "",
            });
            Unit::reply(&words.collect::<String>(), moments)
        } else {
            let room = self.context.result_room(results.len());
            let results = results.into_iter().map(|(result, id)| shown(result, room, &id));
            Unit::step(said, &results.collect::<Vec<_>>(), Vec::new(), moments)
        };
        self.units.push(unit);
    }
}

fn moment(event: &Event) -> Moment {
    Moment {
        kind: event.kind,
        at: event.at,
        id: event.id.clone(),
        text: event.text.clone(),
        tool: event.tool.clone(),
        meta: event.meta.clone(),
    }
}
