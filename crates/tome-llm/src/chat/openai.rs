//! Conversations over the chat completions protocol.
//!
//! Endpoints differ in how they number the calls of a reply, whether calls have ids, and whether they
//! report usage; all variants are supported.

use std::sync::atomic::Ordering;

use serde_json::{Value, json};

use super::builder::{PartIndex, ResponseBuilder};
use super::sanitize::{is_not_blank, parse_arguments, sanitize_id, sanitize_name, set_field};
use super::{ReplyState, ResponseParser, exchange, interrupted_failure, parse_event, text_at};
use crate::{
    CancelToken, ChatMessage, ChatModel, ChatRequest, ChatResponse, ChatRole, ContentPart,
    ModelFailure, OpenAiModel, StopReason, StreamEvent, ToolCall, Usage,
};

impl ChatModel for OpenAiModel {
    fn name(&self) -> &str {
        &self.name
    }

    fn reply(
        &self,
        request: &ChatRequest,
        on_event: &mut dyn FnMut(StreamEvent<'_>),
        stop: &CancelToken,
    ) -> Result<ChatResponse, ModelFailure> {
        let headers = [("authorization", "Bearer {key}")];
        loop {
            let body = self.build_chat_body(request);
            let (mut reader, mut draft) =
                (ChunksParser::default(), ResponseBuilder::new(&mut *on_event));
            match exchange(&self.http, (&headers, &body), &mut reader, &mut draft, stop) {
                Ok(()) => return reader.into_response(request, draft),
                // A rejected field is never sent again, so this terminates.
                Err(failure) if self.adapt_to(&failure, &body) => {}
                Err(failure) => return Err(failure),
            }
        }
    }
}

impl OpenAiModel {
    fn build_chat_body(&self, request: &ChatRequest) -> Value {
        let mut body =
            json!({"model": self.model, "stream": true, "messages": build_messages(request)});
        set_field(&mut body, self.max_tokens_field(), request.tokens_max);
        if !self.omits_stream_options.load(Ordering::Relaxed) {
            set_field(&mut body, "stream_options", json!({"include_usage": true}));
        }
        let tools: Vec<Value> = request
            .tools
            .iter()
            .map(|tool| {
                json!({"type": "function", "function": {
                    "name": tool.name, "description": tool.description, "parameters": tool.schema,
                }})
            })
            .collect();
        if !tools.is_empty() {
            set_field(&mut body, "tools", tools);
        }
        body
    }
}

fn build_messages(request: &ChatRequest) -> Vec<Value> {
    let system: Vec<&str> = request.system.iter().map(|part| part.text.as_str()).collect();
    let system = system.join("\n\n");
    let mut messages = Vec::new();
    if is_not_blank(&system) {
        messages.push(json!({"role": "system", "content": system}));
    }
    for message in &request.messages {
        match message.role {
            ChatRole::User => push_user_messages(message, &mut messages),
            ChatRole::Assistant => messages.extend(build_assistant_message(message)),
        }
    }
    messages
}

/// Appends a user message. Tool results are separate messages here and come first, after their calls.
fn push_user_messages(message: &ChatMessage, messages: &mut Vec<Value>) {
    let mut words = Vec::new();
    for part in &message.parts {
        match part {
            ContentPart::Text(text) if is_not_blank(text) => words.push(text.as_str()),
            ContentPart::ToolResult(result) => {
                // The protocol has no field for failures.
                let failed = if result.failed { "error: " } else { "" };
                let content = format!("{failed}{}", result.text);
                let id = sanitize_id(&result.id);
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
            }
            ContentPart::Text(_) | ContentPart::ToolCall(_) => {}
        }
    }
    if !words.is_empty() {
        messages.push(json!({"role": "user", "content": words.join("\n\n")}));
    }
}

fn build_assistant_message(message: &ChatMessage) -> Option<Value> {
    let text = message.text();
    let text = if is_not_blank(&text) { Value::from(text) } else { Value::Null };
    let calls: Vec<Value> = message
        .parts
        .iter()
        .filter_map(|part| match part {
            ContentPart::ToolCall(call) => Some(build_tool_call(call)),
            ContentPart::Text(_) | ContentPart::ToolResult(_) => None,
        })
        .collect();
    if text.is_null() && calls.is_empty() {
        return None;
    }
    let mut sent = json!({"role": "assistant", "content": text});
    if !calls.is_empty() {
        set_field(&mut sent, "tool_calls", calls);
    }
    Some(sent)
}

/// Builds a tool call. Some endpoints parse the arguments again, so they are always an object.
fn build_tool_call(call: &ToolCall) -> Value {
    let is_object = call.arguments.trim_start().starts_with('{')
        && serde_json::from_str::<serde_json::Map<String, Value>>(&call.arguments).is_ok();
    let arguments = if is_object {
        call.arguments.clone()
    } else {
        Value::Object(parse_arguments(&call.arguments)).to_string()
    };
    let function = json!({"name": sanitize_name(&call.name), "arguments": arguments});
    json!({"id": sanitize_id(&call.id), "type": "function", "function": function})
}

/// Parses the chunks of a reply.
#[derive(Debug, Default)]
pub(super) struct ChunksParser {
    text: Option<PartIndex>,
    calls: Vec<CallInProgress>,
    has_choice: bool,
    is_refusal: bool,
    /// `[DONE]` arrived; it also ends a reply without a finish reason.
    is_done: bool,
    finish: Option<String>,
    usage: Option<Value>,
}

/// A call whose arguments are still arriving.
#[derive(Debug)]
struct CallInProgress {
    index: Option<u64>,
    id: String,
    slot: PartIndex,
}

impl ChunksParser {
    fn apply_choice(
        &mut self,
        choice: &Value,
        content: &Value,
        draft: &mut ResponseBuilder<'_>,
    ) -> Result<(), ModelFailure> {
        self.has_choice = true;
        self.append_text(&extract_text(content.get("content")), draft)?;
        let refusal = text_at(content, "refusal");
        self.is_refusal |= !refusal.is_empty();
        self.append_text(refusal, draft)?;
        for call in content.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.apply_call_delta(call, draft)?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finish = Some(reason.to_owned());
        }
        Ok(())
    }

    fn append_text(
        &mut self,
        text: &str,
        draft: &mut ResponseBuilder<'_>,
    ) -> Result<(), ModelFailure> {
        if text.is_empty() {
            return Ok(());
        }
        let slot = match self.text {
            Some(slot) => slot,
            None => *self.text.insert(draft.begin_text()?),
        };
        draft.append(slot, text)
    }

    fn apply_call_delta(
        &mut self,
        call: &Value,
        draft: &mut ResponseBuilder<'_>,
    ) -> Result<(), ModelFailure> {
        let function = call.get("function").unwrap_or(&Value::Null);
        let (id, name) = (text_at(call, "id"), text_at(function, "name"));
        let index = call.get("index").and_then(Value::as_u64);
        let slot = match self.find_call(index, id, name) {
            Some(known) => {
                if known.id.is_empty() {
                    id.clone_into(&mut known.id);
                }
                draft.fill_call(known.slot, id, name);
                known.slot
            }
            None => {
                let slot = draft.begin_call(id, name)?;
                self.calls.push(CallInProgress { index, id: id.to_owned(), slot });
                // Text after a call becomes a new part.
                self.text = None;
                slot
            }
        };
        match function.get("arguments") {
            Some(Value::String(more)) => draft.append(slot, more),
            Some(Value::Null) | None => Ok(()),
            Some(other) => draft.append(slot, &other.to_string()),
        }
    }

    /// Finds the call that a delta continues: by index, or by id where endpoints give all calls the
    /// same index or none. A delta without index and id continues the last call unless it has a name.
    fn find_call(
        &mut self,
        index: Option<u64>,
        id: &str,
        name: &str,
    ) -> Option<&mut CallInProgress> {
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

    fn update_usage(&mut self, answer: &Value) {
        if let Some(usage) = answer.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(usage.clone());
        }
    }

    fn total_usage(&self, request: &ChatRequest, draft: &ResponseBuilder<'_>) -> Usage {
        let count = |pointer: &str| self.usage.as_ref()?.pointer(pointer)?.as_u64();
        let read =
            count("/prompt_tokens").unwrap_or_else(|| request.estimate_tokens_conservatively());
        let cached = count("/prompt_tokens_details/cached_tokens")
            .or_else(|| count("/prompt_cache_hit_tokens"))
            .map_or(0, |cached| cached.min(read));
        Usage {
            input: read - cached,
            cache_read: cached,
            cache_written: 0,
            output: count("/completion_tokens")
                .unwrap_or_else(|| draft.estimate_tokens_conservatively()),
        }
    }
}

impl ResponseParser for ChunksParser {
    fn process_event(
        &mut self,
        data: &[u8],
        draft: &mut ResponseBuilder<'_>,
    ) -> Result<ReplyState, ModelFailure> {
        if data.trim_ascii() == b"[DONE]" {
            self.is_done = true;
            return Ok(ReplyState::Complete);
        }
        let chunk = parse_event(data)?;
        if let Some(choice) = chunk.pointer("/choices/0") {
            let content = choice.get("delta").or_else(|| choice.get("message"));
            self.apply_choice(choice, content.unwrap_or(&Value::Null), draft)?;
        }
        self.update_usage(&chunk);
        Ok(ReplyState::More)
    }

    fn process_body(
        &mut self,
        answer: &Value,
        draft: &mut ResponseBuilder<'_>,
    ) -> Result<(), ModelFailure> {
        if let Some(choice) = answer.pointer("/choices/0") {
            let content = choice.get("message").unwrap_or(&Value::Null);
            self.apply_choice(choice, content, draft)?;
        }
        self.update_usage(answer);
        self.is_done = true;
        Ok(())
    }

    fn has_ended(&self) -> bool {
        self.is_done || self.finish.is_some()
    }

    fn into_response(
        self,
        request: &ChatRequest,
        draft: ResponseBuilder<'_>,
    ) -> Result<ChatResponse, ModelFailure> {
        if !self.has_ended() {
            return Err(interrupted_failure());
        }
        if !self.has_choice {
            return Err(ModelFailure::Malformed { message: "it has no choices".to_owned() });
        }
        let end = match self.finish.as_deref() {
            Some("length") => StopReason::MaxTokens,
            Some("content_filter") => StopReason::Refusal,
            _ if self.is_refusal => StopReason::Refusal,
            _ if draft.has_calls() => StopReason::ToolCalls,
            _ => StopReason::EndTurn,
        };
        let usage = self.total_usage(request, &draft);
        Ok(ChatResponse { parts: draft.into_parts(request), stop_reason: end, usage })
    }
}

/// Extracts text from a string or a list of text parts.
fn extract_text(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => parts.iter().map(|part| text_at(part, "text")).collect(),
        _ => String::new(),
    }
}
