//! Replies in the chat completions protocol: a completion, or the chunks of a stream.

use serde_json::{Value, json};

use super::scripted_answer::{
    ReplyEnd, ReplyPart, ScriptedReply, set_field, split_in_half, split_words,
};

/// Renders a whole completion; `number` makes its call ids unique.
pub(super) fn render_completion(reply: &ScriptedReply, model: &Value, number: usize) -> Value {
    let mut message = json!({"role": "assistant", "content": reply_text(reply)});
    let calls: Vec<Value> = reply_calls(reply)
        .enumerate()
        .map(|(index, (name, arguments))| {
            let function = json!({"name": name, "arguments": arguments});
            json!({"id": call_id(number, index), "type": "function", "function": function})
        })
        .collect();
    if !calls.is_empty() {
        set_field(&mut message, "tool_calls", calls);
    }
    let mut completion = json!({
        "id": format!("chatcmpl-{number}"), "object": "chat.completion", "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(reply)}],
    });
    if let Some(usage) = usage(reply) {
        set_field(&mut completion, "usage", usage);
    }
    completion
}

/// Renders the chunks of a stream, with the usage if the request asks for it.
pub(super) fn render_chunks(reply: &ScriptedReply, request: &Value, number: usize) -> Vec<String> {
    let chunk = |choices: Value| {
        json!({
            "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk",
            "model": request.get("model"), "choices": choices,
        })
    };
    let delta = |delta: Value| chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}]));
    let mut sent = vec![delta(json!({"role": "assistant", "content": ""}))];
    let text = reply_text(reply);
    let text = text.as_str().unwrap_or("");
    sent.extend(split_words(text).map(|word| delta(json!({"content": word}))));
    for (index, (name, arguments)) in reply_calls(reply).enumerate() {
        let function = json!({"name": name, "arguments": ""});
        let id = call_id(number, index);
        let start = json!({"index": index, "id": id, "type": "function", "function": function});
        sent.push(delta(json!({"tool_calls": [start]})));
        for half in split_in_half(arguments) {
            let more = json!({"index": index, "function": {"arguments": half}});
            sent.push(delta(json!({"tool_calls": [more]})));
        }
    }
    let last = json!([{"index": 0, "delta": {}, "finish_reason": finish_reason(reply)}]);
    sent.push(chunk(last));
    if request.pointer("/stream_options/include_usage") == Some(&Value::Bool(true))
        && let Some(usage) = usage(reply)
    {
        let mut counted = chunk(json!([]));
        set_field(&mut counted, "usage", usage);
        sent.push(counted);
    }
    let mut lines: Vec<String> = sent.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    lines.push("data: [DONE]\n\n".to_owned());
    lines
}

/// The whole text; null if there is none.
fn reply_text(reply: &ScriptedReply) -> Value {
    let text: String = reply
        .parts
        .iter()
        .filter_map(|part| match part {
            ReplyPart::Text(text) => Some(text.as_str()),
            ReplyPart::Call { .. } => None,
        })
        .collect();
    if text.is_empty() { Value::Null } else { text.into() }
}

fn reply_calls(reply: &ScriptedReply) -> impl Iterator<Item = (&str, &str)> {
    reply.parts.iter().filter_map(|part| match part {
        ReplyPart::Call { name, arguments } => Some((name.as_str(), arguments.as_str())),
        ReplyPart::Text(_) => None,
    })
}

fn finish_reason(reply: &ScriptedReply) -> &'static str {
    match reply.end {
        ReplyEnd::Cut => "length",
        ReplyEnd::Refused => "content_filter",
        ReplyEnd::Done if reply.has_calls() => "tool_calls",
        ReplyEnd::Done => "stop",
    }
}

/// In this protocol input tokens include cached tokens.
fn usage(reply: &ScriptedReply) -> Option<Value> {
    let tokens = reply.tokens?;
    let prompt = tokens.input + tokens.cache_read + tokens.cache_written;
    Some(json!({
        "prompt_tokens": prompt, "completion_tokens": tokens.output,
        "total_tokens": prompt + tokens.output,
        "prompt_tokens_details": {"cached_tokens": tokens.cache_read},
    }))
}

fn call_id(number: usize, index: usize) -> String {
    format!("call_{number}_{index}")
}
