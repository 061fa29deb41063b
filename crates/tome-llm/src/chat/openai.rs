//! Conversations over the chat completions protocol.
//!
//! Endpoints differ in how they number the calls of a reply, whether calls have ids, and whether they
//! report usage; all variants are supported.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::draft::{Draft, Slot};
use super::wording::{as_object, safe_id, safe_name, says_something, set};
use super::{Flow, Reader, broken_off, converse, parsed, text_at};
use crate::{
    ChatModel, End, Heard, Message, ModelFailure, OpenAiModel, Part, Reply, Role, Stop, Talk,
    ToolCall, Usage,
};

impl ChatModel for OpenAiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply(
        &self,
        talk: &Talk,
        heard: &mut dyn FnMut(Heard<'_>),
        stop: &Stop,
    ) -> Result<Reply, ModelFailure> {
        let headers = [("authorization", "Bearer {key}")];
        loop {
            let body = self.talk_body(talk);
            let (mut reader, mut draft) = (Chunks::default(), Draft::new(&mut *heard));
            match converse(&self.http, (&headers, &body), &mut reader, &mut draft, stop) {
                Ok(()) => return reader.reply(talk, draft),
                // A rejected field is never sent again, so this terminates.
                Err(failure) if self.learns_from(&failure, &body) => {}
                Err(failure) => return Err(failure),
            }
        }
    }
}

impl OpenAiModel {
    fn talk_body(&self, talk: &Talk) -> Value {
        let mut body = json!({"model": self.model, "stream": true, "messages": messages(talk)});
        set(&mut body, self.room_field(), talk.tokens_max);
        if !self.leaves_stream_options_out.load(Ordering::Relaxed) {
            set(&mut body, "stream_options", json!({"include_usage": true}));
        }
        let tools: Vec<Value> = talk
            .tools
            .iter()
            .map(|tool| {
                json!({"type": "function", "function": {
                    "name": tool.name, "description": tool.description, "parameters": tool.schema,
                }})
            })
            .collect();
        if !tools.is_empty() {
            set(&mut body, "tools", tools);
        }
        body
    }
}

fn messages(talk: &Talk) -> Vec<Value> {
    let system: Vec<&str> = talk.system.iter().map(|part| part.text.as_str()).collect();
    let system = system.join("\n\n");
    let mut messages = Vec::new();
    if says_something(&system) {
        messages.push(json!({"role": "system", "content": system}));
    }
    for message in &talk.messages {
        match message.role {
            Role::User => user(message, &mut messages),
            Role::Assistant => messages.extend(assistant(message)),
        }
    }
    messages
}

/// Appends a user message. Tool results are separate messages here and come first, after their calls.
fn user(message: &Message, messages: &mut Vec<Value>) {
    let mut words = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text(text) if says_something(text) => words.push(text.as_str()),
            Part::Result(result) => {
                // The protocol has no field for failures.
                let failed = if result.failed { "error: " } else { "" };
                let content = format!("{failed}{}", result.text);
                let id = safe_id(&result.id);
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
            }
            Part::Text(_) | Part::Call(_) => {}
        }
    }
    if !words.is_empty() {
        messages.push(json!({"role": "user", "content": words.join("\n\n")}));
    }
}

fn assistant(message: &Message) -> Option<Value> {
    let text = message.text();
    let text = if says_something(&text) { Value::from(text) } else { Value::Null };
    let calls: Vec<Value> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Call(call) => Some(called(call)),
            Part::Text(_) | Part::Result(_) => None,
        })
        .collect();
    if text.is_null() && calls.is_empty() {
        return None;
    }
    let mut said = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        set(&mut said, "tool_calls", calls);
    }
    Some(said)
}

/// Builds a tool call. Some endpoints parse the arguments again, so they are always an object.
fn called(call: &ToolCall) -> Value {
    let is_object = call.arguments.trim_start().starts_with('{')
        && serde_json::from_str::<serde_json::Map<String, Value>>(&call.arguments).is_ok();
    let arguments = if is_object {
        call.arguments.clone()
    } else {
        Value::Object(as_object(&call.arguments)).to_string()
    };
    let function = json!({"name": safe_name(&call.name), "arguments": arguments});
    json!({"id": safe_id(&call.id), "type": "function", "function": function})
}

/// Parses the chunks of a reply.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    text: Option<Slot>,
    calls: Vec<Known>,
    has_choice: bool,
    is_refusal: bool,
    /// `[DONE]` arrived; it also ends a reply without a finish reason.
    is_done: bool,
    finish: Option<String>,
    usage: Option<Value>,
}

/// A call whose arguments are still arriving.
#[derive(Debug)]
struct Known {
    index: Option<u64>,
    id: String,
    slot: Slot,
}

impl Chunks {
    fn choice(
        &mut self,
        choice: &Value,
        said: &Value,
        draft: &mut Draft<'_>,
    ) -> Result<(), ModelFailure> {
        self.has_choice = true;
        self.text(&text_of(said.get("content")), draft)?;
        let refusal = text_at(said, "refusal");
        self.is_refusal |= !refusal.is_empty();
        self.text(refusal, draft)?;
        for call in said.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(call, draft)?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(reason.to_owned());
        }
        Ok(())
    }

    fn text(&mut self, text: &str, draft: &mut Draft<'_>) -> Result<(), ModelFailure> {
        if text.is_empty() {
            return Ok(());
        }
        let slot = match self.text {
            Some(slot) => slot,
            None => *self.text.insert(draft.open_text()?),
        };
        draft.add(slot, text)
    }

    fn call(&mut self, call: &Value, draft: &mut Draft<'_>) -> Result<(), ModelFailure> {
        let function = call.get("function").unwrap_or(&Value::Null);
        let (id, name) = (text_at(call, "id"), text_at(function, "name"));
        let index = call.get("index").and_then(Value::as_u64);
        let slot = match self.known(index, id, name) {
            Some(known) => {
                if known.id.is_empty() {
                    id.clone_into(&mut known.id);
                }
                draft.complete_call(known.slot, id, name);
                known.slot
            }
            None => {
                let slot = draft.open_call(id, name)?;
                self.calls.push(Known { index, id: id.to_owned(), slot });
                // Text after a call becomes a new part.
                self.text = None;
                slot
            }
        };
        match function.get("arguments") {
            Some(Value::String(more)) => draft.add(slot, more),
            Some(Value::Null) | None => Ok(()),
            Some(other) => draft.add(slot, &other.to_string()),
        }
    }

    /// Finds the call that a delta continues: by index, or by id where endpoints give all calls the
    /// same index or none. A delta without index and id continues the last call unless it has a name.
    fn known(&mut self, index: Option<u64>, id: &str, name: &str) -> Option<&mut Known> {
        match index {
            Some(_) => self
                .calls
                .iter_mut()
                .rfind(|known| known.index == index)
                .filter(|known| id.is_empty() || known.id.is_empty() || known.id == id),
            None if !id.is_empty() => self.calls.iter_mut().rfind(|known| known.id == id),
            None if name.is_empty() => self.calls.last_mut(),
            None => None,
        }
    }

    fn count(&mut self, answer: &Value) {
        if let Some(usage) = answer.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(usage.clone());
        }
    }

    fn used(&self, talk: &Talk, draft: &Draft<'_>) -> Usage {
        let told = |place: &str| self.usage.as_ref()?.pointer(place)?.as_u64();
        let read = told("/prompt_tokens").unwrap_or_else(|| talk.budget_tokens());
        let cached = told("/prompt_tokens_details/cached_tokens")
            .or_else(|| told("/prompt_cache_hit_tokens"))
            .map_or(0, |cached| cached.min(read));
        Usage {
            input: read - cached,
            cache_read: cached,
            cache_written: 0,
            output: told("/completion_tokens").unwrap_or_else(|| draft.budget_tokens()),
        }
    }
}

impl Reader for Chunks {
    fn event(&mut self, data: &[u8], draft: &mut Draft<'_>) -> Result<Flow, ModelFailure> {
        if data.trim_ascii() == b"[DONE]" {
            self.is_done = true;
            return Ok(Flow::Over);
        }
        let chunk = parsed(data)?;
        if let Some(choice) = chunk.pointer("/choices/0") {
            let said = choice.get("delta").or_else(|| choice.get("message"));
            self.choice(choice, said.unwrap_or(&Value::Null), draft)?;
        }
        self.count(&chunk);
        Ok(Flow::More)
    }

    fn whole(&mut self, answer: &Value, draft: &mut Draft<'_>) -> Result<(), ModelFailure> {
        if let Some(choice) = answer.pointer("/choices/0") {
            let said = choice.get("message").unwrap_or(&Value::Null);
            self.choice(choice, said, draft)?;
        }
        self.count(answer);
        self.is_done = true;
        Ok(())
    }

    fn has_end(&self) -> bool {
        self.is_done || self.finish.is_some()
    }

    fn reply(self, talk: &Talk, draft: Draft<'_>) -> Result<Reply, ModelFailure> {
        if !self.has_end() {
            return Err(broken_off());
        }
        if !self.has_choice {
            return Err(ModelFailure::Malformed { said: "it has no choices".to_owned() });
        }
        let end = match self.finish.as_deref() {
            Some("length") => End::Cut,
            Some("content_filter") => End::Refused,
            _ if self.is_refusal => End::Refused,
            _ if draft.has_calls() => End::Calls,
            _ => End::Done,
        };
        let usage = self.used(talk, &draft);
        Ok(Reply { parts: draft.into_parts(talk), end, usage })
    }
}

/// Extracts text from a string or a list of text parts.
fn text_of(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().map(|part| text_at(part, "text")).collect(),
        _ => String::new(),
    }
}
