//! Replies in Anthropic's Messages protocol: a message, or the events of a stream.

use serde_json::{Value, json};

use super::scripted_answer::{
    ReplyEnd, ReplyPart, ScriptedReply, set_field, split_in_half, split_words,
};

/// Renders a whole message; `number` makes its call ids unique.
pub(super) fn render_message(reply: &ScriptedReply, model: &Value, number: usize) -> Value {
    let content: Vec<Value> = reply
        .parts
        .iter()
        .enumerate()
        .map(|(index, part)| match part {
            ReplyPart::Text(text) => json!({"type": "text", "text": text}),
            ReplyPart::Call { name, arguments } => {
                let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
                let id = call_id(number, index);
                json!({"type": "tool_use", "id": id, "name": name, "input": input})
            }
        })
        .collect();
    let mut message = json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": model,
        "content": content, "stop_reason": stop_reason(reply), "stop_sequence": null,
    });
    if let (Some(usage), Some(fields)) = (usage(reply), message.as_object_mut()) {
        fields.insert("usage".to_owned(), usage);
    }
    message
}

/// Renders the events of a stream.
pub(super) fn render_events(reply: &ScriptedReply, model: &Value, number: usize) -> Vec<String> {
    let empty = ScriptedReply { parts: Vec::new(), ..reply.clone() };
    let mut start = render_message(&empty, model, number);
    if let Some(fields) = start.as_object_mut() {
        fields.insert("stop_reason".to_owned(), Value::Null);
        if let Some(usage) = fields.get_mut("usage") {
            set_field(usage, "output_tokens", 1);
        }
    }
    let mut sent =
        vec![json!({"type": "message_start", "message": start}), json!({"type": "ping"})];
    for (index, part) in reply.parts.iter().enumerate() {
        render_block(&mut sent, index, part, number);
    }
    let mut last = json!({
        "type": "message_delta",
        "delta": {"stop_reason": stop_reason(reply), "stop_sequence": null},
    });
    if let (Some(tokens), Some(fields)) = (&reply.tokens, last.as_object_mut()) {
        fields.insert("usage".to_owned(), json!({"output_tokens": tokens.output}));
    }
    sent.push(last);
    sent.push(json!({"type": "message_stop"}));
    sent.iter()
        .map(|event| {
            let kind = event.get("type").and_then(Value::as_str).unwrap_or("");
            format!("event: {kind}\ndata: {event}\n\n")
        })
        .collect()
}

fn render_block(sent: &mut Vec<Value>, index: usize, part: &ReplyPart, number: usize) {
    let delta =
        |delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let start = match part {
        ReplyPart::Text(_) => json!({"type": "text", "text": ""}),
        ReplyPart::Call { name, .. } => {
            json!({"type": "tool_use", "id": call_id(number, index), "name": name, "input": {}})
        }
    };
    sent.push(json!({"type": "content_block_start", "index": index, "content_block": start}));
    match part {
        ReplyPart::Text(text) => {
            sent.extend(
                split_words(text).map(|word| delta(json!({"type": "text_delta", "text": word}))),
            );
        }
        ReplyPart::Call { arguments, .. } => sent.extend(
            split_in_half(arguments)
                .map(|half| delta(json!({"type": "input_json_delta", "partial_json": half}))),
        ),
    }
    sent.push(json!({"type": "content_block_stop", "index": index}));
}

fn stop_reason(reply: &ScriptedReply) -> &'static str {
    match reply.end {
        ReplyEnd::Cut => "max_tokens",
        ReplyEnd::Refused => "refusal",
        ReplyEnd::Done if reply.has_calls() => "tool_use",
        ReplyEnd::Done => "end_turn",
    }
}

fn usage(reply: &ScriptedReply) -> Option<Value> {
    let tokens = reply.tokens?;
    Some(json!({
        "input_tokens": tokens.input, "cache_read_input_tokens": tokens.cache_read,
        "cache_creation_input_tokens": tokens.cache_written, "output_tokens": tokens.output,
    }))
}

fn call_id(number: usize, index: usize) -> String {
    format!("toolu_{number}_{index}")
}
