//! Conversations over Anthropic's Messages API.
//!
//! Cache breakpoints are set at the last tool, at marked parts of the system prompt, and at the last
//! block of the conversation, so that the next request reads this one from the cache. The protocol
//! allows four; the last ones of the system prompt win.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::builder::{PartIndex, ResponseBuilder};
use super::sanitize::{is_not_blank, parse_arguments, sanitize_id, sanitize_name, set_field};
use super::{ReplyState, ResponseParser, exchange, interrupted_failure, parse_event, text_at};
use crate::anthropic::API_VERSION;
use crate::{
    AnthropicModel, CancelToken, ChatModel, ChatRequest, ChatResponse, ChatRole, ContentPart,
    ModelFailure, StopReason, StreamEvent, SystemPart, Usage,
};

const CACHE_BREAKPOINTS_MAX: usize = 4;

impl ChatModel for AnthropicModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply(
        &self,
        request: &ChatRequest,
        on_event: &mut dyn FnMut(StreamEvent<'_>),
        stop: &CancelToken,
    ) -> Result<ChatResponse, ModelFailure> {
        let headers = [("x-api-key", "{key}"), ("anthropic-version", API_VERSION)];
        let body = build_body(&self.model, request);
        let (mut reader, mut draft) = (MessagesParser::default(), ResponseBuilder::new(on_event));
        exchange(&self.http, (&headers, &body), &mut reader, &mut draft, stop)?;
        reader.into_response(request, draft)
    }
}

fn build_body(model: &str, request: &ChatRequest) -> Value {
    let mut messages = build_messages(request);
    let last = messages
        .last_mut()
        .and_then(|message| message.get_mut("content")?.as_array_mut()?.last_mut());
    let mut ends = CACHE_BREAKPOINTS_MAX;
    if let Some(block) = last {
        set_cache_breakpoint(block);
        ends -= 1;
    }
    let mut body = json!({
        "model": model, "max_tokens": request.tokens_max, "stream": true, "messages": messages,
    });
    let mut tools: Vec<Value> = request
        .tools
        .iter()
        .map(|tool| {
            json!({"name": tool.name, "description": tool.description, "input_schema": tool.schema})
        })
        .collect();
    if let Some(tool) = tools.last_mut() {
        set_cache_breakpoint(tool);
        ends -= 1;
        set_field(&mut body, "tools", tools);
    }
    let system = build_system(&request.system, ends);
    if !system.is_empty() {
        set_field(&mut body, "system", system);
    }
    body
}

fn build_system(parts: &[SystemPart], mut ends: usize) -> Vec<Value> {
    let filled = parts.iter().filter(|part| is_not_blank(&part.text));
    let mut blocks: Vec<Value> = filled
        .rev()
        .map(|part| {
            let mut block = json!({"type": "text", "text": part.text});
            if part.cache_breakpoint && ends > 0 {
                set_cache_breakpoint(&mut block);
                ends -= 1;
            }
            block
        })
        .collect();
    blocks.reverse();
    blocks
}

fn set_cache_breakpoint(block: &mut Value) {
    set_field(block, "cache_control", json!({"type": "ephemeral"}));
}

/// Builds the messages with alternating roles: consecutive messages of one role are merged.
fn build_messages(request: &ChatRequest) -> Vec<Value> {
    let mut turns: Vec<(ChatRole, Vec<&ContentPart>)> = Vec::new();
    for message in &request.messages {
        match turns.last_mut() {
            Some((role, parts)) if *role == message.role => parts.extend(&message.parts),
            _ => turns.push((message.role, message.parts.iter().collect())),
        }
    }
    let turns = turns.into_iter().map(|(role, mut parts)| {
        // The protocol requires tool results before any other content of the user.
        parts.sort_by_key(|part| !matches!(part, ContentPart::ToolResult(_)));
        let role = if role == ChatRole::User { "user" } else { "assistant" };
        (role, parts.into_iter().filter_map(build_block).collect::<Vec<_>>())
    });
    turns
        .filter(|(_, blocks)| !blocks.is_empty())
        .map(|(role, blocks)| json!({"role": role, "content": blocks}))
        .collect()
}

fn build_block(part: &ContentPart) -> Option<Value> {
    Some(match part {
        ContentPart::Text(text) if !is_not_blank(text) => return None,
        ContentPart::Text(text) => json!({"type": "text", "text": text}),
        ContentPart::ToolCall(call) => json!({
            "type": "tool_use", "id": sanitize_id(&call.id), "name": sanitize_name(&call.name),
            "input": parse_arguments(&call.arguments),
        }),
        ContentPart::ToolResult(result) => {
            let mut block = json!({"type": "tool_result", "tool_use_id": sanitize_id(&result.id)});
            if is_not_blank(&result.text) {
                set_field(&mut block, "content", result.text.as_str());
            }
            if result.failed {
                set_field(&mut block, "is_error", true);
            }
            block
        }
    })
}

/// Parses the events of a reply.
#[derive(Debug, Default)]
pub(super) struct MessagesParser {
    slots: HashMap<u64, PartIndex>,
    stop_reason: Option<String>,
    input: Option<u64>,
    cache_read: Option<u64>,
    cache_written: Option<u64>,
    output: Option<u64>,
}

impl MessagesParser {
    /// Updates the usage. The numbers are running totals; the latest wins.
    fn update_usage(&mut self, usage: Option<&Value>) {
        let count = |field: &str| usage?.get(field)?.as_u64();
        self.input = count("input_tokens").or(self.input);
        self.cache_read = count("cache_read_input_tokens").or(self.cache_read);
        self.cache_written = count("cache_creation_input_tokens").or(self.cache_written);
        self.output = count("output_tokens").or(self.output);
    }

    /// Begins a block. Blocks that are not part of a reply, such as thinking, are ignored.
    fn begin_block(
        &mut self,
        block: &Value,
        draft: &mut ResponseBuilder<'_>,
    ) -> Result<Option<PartIndex>, ModelFailure> {
        Ok(match text_at(block, "type") {
            "text" => {
                let slot = draft.begin_text()?;
                draft.append(slot, text_at(block, "text"))?;
                Some(slot)
            }
            "tool_use" => {
                let slot = draft.begin_call(text_at(block, "id"), text_at(block, "name"))?;
                // Usually an empty object that deltas fill; some endpoints send the whole input here.
                if let Some(input) = block.get("input")
                    && input.as_object().is_none_or(|fields| !fields.is_empty())
                {
                    draft.append(slot, &input.to_string())?;
                }
                Some(slot)
            }
            _ => None,
        })
    }

    fn apply_delta(
        &mut self,
        event: &Value,
        draft: &mut ResponseBuilder<'_>,
    ) -> Result<(), ModelFailure> {
        let slot = event.get("index").and_then(Value::as_u64).and_then(|at| self.slots.get(&at));
        let (Some(slot), Some(delta)) = (slot, event.get("delta")) else { return Ok(()) };
        match text_at(delta, "type") {
            "text_delta" => draft.append(*slot, text_at(delta, "text")),
            "input_json_delta" => draft.append(*slot, text_at(delta, "partial_json")),
            _ => Ok(()),
        }
    }

    fn set_stop_reason(&mut self, message: Option<&Value>) {
        let reason = message.and_then(|message| message.get("stop_reason")).and_then(Value::as_str);
        self.stop_reason = reason.map(str::to_owned).or(self.stop_reason.take());
    }
}

impl ResponseParser for MessagesParser {
    fn process_event(
        &mut self,
        data: &[u8],
        draft: &mut ResponseBuilder<'_>,
    ) -> Result<ReplyState, ModelFailure> {
        let event = parse_event(data)?;
        match text_at(&event, "type") {
            "message_start" => self.update_usage(event.pointer("/message/usage")),
            "content_block_start" => {
                let block = event.get("content_block").unwrap_or(&Value::Null);
                if let Some(slot) = self.begin_block(block, draft)?
                    && let Some(index) = event.get("index").and_then(Value::as_u64)
                {
                    self.slots.insert(index, slot);
                }
            }
            "content_block_delta" => self.apply_delta(&event, draft)?,
            "message_delta" => {
                self.set_stop_reason(event.get("delta"));
                self.update_usage(event.get("usage"));
            }
            "message_stop" => return Ok(ReplyState::Complete),
            // Pings and unknown events.
            _ => {}
        }
        Ok(ReplyState::More)
    }

    fn process_body(
        &mut self,
        answer: &Value,
        draft: &mut ResponseBuilder<'_>,
    ) -> Result<(), ModelFailure> {
        let Some(blocks) = answer.get("content").and_then(Value::as_array) else {
            return Err(ModelFailure::Malformed { message: "it has no content".to_owned() });
        };
        for block in blocks {
            self.begin_block(block, draft)?;
        }
        self.set_stop_reason(Some(answer));
        self.update_usage(answer.get("usage"));
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.stop_reason.is_some()
    }

    fn into_response(
        self,
        request: &ChatRequest,
        draft: ResponseBuilder<'_>,
    ) -> Result<ChatResponse, ModelFailure> {
        let Some(reason) = &self.stop_reason else { return Err(interrupted_failure()) };
        let end = match reason.as_str() {
            "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
            "refusal" => StopReason::Refusal,
            _ if draft.has_calls() => StopReason::ToolCalls,
            _ => StopReason::EndTurn,
        };
        let usage = Usage {
            input: self.input.unwrap_or_else(|| request.estimate_tokens_conservatively()),
            cache_read: self.cache_read.unwrap_or(0),
            cache_written: self.cache_written.unwrap_or(0),
            output: self.output.unwrap_or_else(|| draft.estimate_tokens_conservatively()),
        };
        Ok(ChatResponse { parts: draft.into_parts(request), stop_reason: end, usage })
    }
}
