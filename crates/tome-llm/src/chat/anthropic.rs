//! Conversations over Anthropic's Messages API.
//!
//! Cache breakpoints are set at the last tool, at marked parts of the system prompt, and at the last
//! block of the conversation, so that the next request reads this one from the cache. The protocol
//! allows four; the last ones of the system prompt win.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::draft::{Draft, Slot};
use super::wording::{as_object, safe_id, safe_name, says_something, set};
use super::{Flow, Reader, broken_off, converse, parsed, text_at};
use crate::anthropic::VERSION;
use crate::{
    AnthropicModel, ChatModel, End, Heard, ModelFailure, Part, Reply, Role, Stop, SystemPart, Talk,
    Usage,
};

const CACHE_ENDS_MAX: usize = 4;

impl ChatModel for AnthropicModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply(
        &self,
        talk: &Talk,
        heard: &mut dyn FnMut(Heard<'_>),
        stop: &Stop,
    ) -> Result<Reply, ModelFailure> {
        let headers = [("x-api-key", "{key}"), ("anthropic-version", VERSION)];
        let body = body(&self.model, talk);
        let (mut reader, mut draft) = (Messages::default(), Draft::new(heard));
        converse(&self.http, (&headers, &body), &mut reader, &mut draft, stop)?;
        reader.reply(talk, draft)
    }
}

fn body(model: &str, talk: &Talk) -> Value {
    let mut messages = messages(talk);
    let last = messages
        .last_mut()
        .and_then(|message| message.get_mut("content")?.as_array_mut()?.last_mut());
    let mut ends = CACHE_ENDS_MAX;
    if let Some(block) = last {
        end_cache(block);
        ends -= 1;
    }
    let mut body = json!({
        "model": model, "max_tokens": talk.tokens_max, "stream": true, "messages": messages,
    });
    let mut tools: Vec<Value> = talk
        .tools
        .iter()
        .map(|tool| {
            json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema})
        })
        .collect();
    if let Some(tool) = tools.last_mut() {
        end_cache(tool);
        ends -= 1;
        set(&mut body, "tools", tools);
    }
    let system = system(&talk.system, ends);
    if !system.is_empty() {
        set(&mut body, "system", system);
    }
    body
}

fn system(parts: &[SystemPart], mut ends: usize) -> Vec<Value> {
    let said = parts.iter().filter(|part| says_something(&part.text));
    let mut blocks: Vec<Value> = said
        .rev()
        .map(|part| {
            let mut block = json!({"type": "text", "text": part.text});
            if part.cache_until_here && ends > 0 {
                end_cache(&mut block);
                ends -= 1;
            }
            block
        })
        .collect();
    blocks.reverse();
    blocks
}

fn end_cache(block: &mut Value) {
    set(block, "cache_control", json!({"type": "ephemeral"}));
}

/// Builds the messages with alternating roles: consecutive messages of one role are merged.
fn messages(talk: &Talk) -> Vec<Value> {
    let mut turns: Vec<(Role, Vec<&Part>)> = Vec::new();
    for message in &talk.messages {
        match turns.last_mut() {
            Some((role, parts)) if *role == message.role => parts.extend(&message.parts),
            _ => turns.push((message.role, message.parts.iter().collect())),
        }
    }
    let turns = turns.into_iter().map(|(role, mut parts)| {
        // The protocol requires tool results before any other content of the user.
        parts.sort_by_key(|part| !matches!(part, Part::Result(_)));
        let role = if role == Role::User { "user" } else { "assistant" };
        (role, parts.into_iter().filter_map(block).collect::<Vec<_>>())
    });
    turns
        .filter(|(_, blocks)| !blocks.is_empty())
        .map(|(role, blocks)| json!({"role": role, "content": blocks}))
        .collect()
}

fn block(part: &Part) -> Option<Value> {
    Some(match part {
        Part::Text(text) if !says_something(text) => return None,
        Part::Text(text) => json!({"type": "text", "text": text}),
        Part::Call(call) => json!({
            "type": "tool_use", "id": safe_id(&call.id), "name": safe_name(&call.name),
            "input": as_object(&call.arguments),
        }),
        Part::Result(result) => {
            let mut block = json!({"type": "tool_result", "tool_use_id": safe_id(&result.id)});
            if says_something(&result.text) {
                set(&mut block, "content", result.text.as_str());
            }
            if result.failed {
                set(&mut block, "is_error", true);
            }
            block
        }
    })
}

/// Parses the events of a reply.
#[derive(Debug, Default)]
pub(super) struct Messages {
    slots: HashMap<u64, Slot>,
    stop_reason: Option<String>,
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_written: Option<u64>,
    output: Option<u64>,
}

impl Messages {
    /// Updates the usage. The numbers are running totals; the latest wins.
    fn count(&mut self, usage: Option<&Value>) {
        let told = |field: &str| usage?.get(field)?.as_u64();
        self.input = told("input_tokens").or(self.input);
        self.cache_read = told("cache_read_input_tokens").or(self.cache_read);
        self.cache_written = told("cache_creation_input_tokens").or(self.cache_written);
        self.output = told("output_tokens").or(self.output);
    }

    /// Begins a block. Blocks that are not part of a reply, such as thinking, are ignored.
    fn begin(
        &mut self,
        block: &Value,
        draft: &mut Draft<'_>,
    ) -> Result<Option<Slot>, ModelFailure> {
        Ok(match text_at(block, "type") {
            "text" => {
                let slot = draft.open_text()?;
                draft.add(slot, text_at(block, "text"))?;
                Some(slot)
            }
            "tool_use" => {
                let slot = draft.open_call(text_at(block, "id"), text_at(block, "name"))?;
                // Usually an empty object that deltas fill; some endpoints send the whole input here.
                if let Some(input) = block.get("input")
                    && input.as_object().is_none_or(|fields| !fields.is_empty())
                {
                    draft.add(slot, &input.to_string())?;
                }
                Some(slot)
            }
            _ => None,
        })
    }

    fn delta(&mut self, event: &Value, draft: &mut Draft<'_>) -> Result<(), ModelFailure> {
        let slot = event.get("index").and_then(Value::as_u64).and_then(|at| self.slots.get(&at));
        let (Some(slot), Some(delta)) = (slot, event.get("delta")) else { return Ok(()) };
        match text_at(delta, "type") {
            "text_delta" => draft.add(*slot, text_at(delta, "text")),
            "input_json_delta" => draft.add(*slot, text_at(delta, "partial_json")),
            _ => Ok(()),
        }
    }

    fn ended(&mut self, message: Option<&Value>) {
        let reason = message.and_then(|message| message.get("stop_reason")).and_then(Value::as_str);
        self.stop_reason = reason.map(str::to_owned).or(self.stop_reason.take());
    }
}

impl Reader for Messages {
    fn event(&mut self, data: &[u8], draft: &mut Draft<'_>) -> Result<Flow, ModelFailure> {
        let event = parsed(data)?;
        match text_at(&event, "type") {
            "message_start" => self.count(event.pointer("/message/usage")),
            "content_block_start" => {
                let block = event.get("content_block").unwrap_or(&Value::Null);
                if let Some(slot) = self.begin(block, draft)?
                    && let Some(index) = event.get("index").and_then(Value::as_u64)
                {
                    self.slots.insert(index, slot);
                }
            }
            "content_block_delta" => self.delta(&event, draft)?,
            "message_delta" => {
                self.ended(event.get("delta"));
                self.count(event.get("usage"));
            }
            "message_stop" => return Ok(Flow::Over),
            // Pings and unknown events.
            _ => {}
        }
        Ok(Flow::More)
    }

    fn whole(&mut self, answer: &Value, draft: &mut Draft<'_>) -> Result<(), ModelFailure> {
        let Some(blocks) = answer.get("content").and_then(Value::as_array) else {
            return Err(ModelFailure::Malformed { said: "it has no content".to_owned() });
        };
        for block in blocks {
            self.begin(block, draft)?;
        }
        self.ended(Some(answer));
        self.count(answer.get("usage"));
        Ok(())
    }

    fn has_end(&self) -> bool {
        self.stop_reason.is_some()
    }

    fn reply(self, talk: &Talk, draft: Draft<'_>) -> Result<Reply, ModelFailure> {
        let Some(reason) = &self.stop_reason else { return Err(broken_off()) };
        let end = match reason.as_str() {
            "max_tokens" | "model_context_window_exceeded" => End::Cut,
            "refusal" => End::Refused,
            _ if draft.has_calls() => End::Calls,
            _ => End::Done,
        };
        let usage = Usage {
            input: self.input.unwrap_or_else(|| talk.budget_tokens()),
            cache_read: self.cache_read.unwrap_or(0),
            cache_written: self.cache_written.unwrap_or(0),
            output: self.output.unwrap_or_else(|| draft.budget_tokens()),
        };
        Ok(Reply { parts: draft.into_parts(talk), end, usage })
    }
}
