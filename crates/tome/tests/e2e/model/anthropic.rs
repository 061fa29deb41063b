//! Anthropic's Messages API.

use serde_json::{Value, json};

use super::script::{Call, Step};

pub fn events(step: &Step, number: usize) -> String {
    let usage = json!({"input_tokens": 100, "cache_creation_input_tokens": 0,
                       "cache_read_input_tokens": 0, "output_tokens": 5});
    let message = json!({"id": format!("msg_{number}"), "type": "message", "role": "assistant",
        "model": "claude-sonnet-4-6", "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": usage});
    let mut events = vec![json!({"type": "message_start", "message": message})];
    let (text, calls) = step.parts();
    if let Some(text) = text {
        let block = json!({"type": "text", "text": ""});
        block_of(&mut events, 0, &block, &json!({"type": "text_delta", "text": text}));
    }
    for (index, call) in calls.iter().enumerate() {
        called(&mut events, number, index + usize::from(text.is_some()), call);
    }
    let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
    let end = json!({"stop_reason": reason, "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": end, "usage": {"output_tokens": 17}}));
    events.push(json!({"type": "message_stop"}));
    let line = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    };
    events.iter().map(line).collect()
}

fn called(events: &mut Vec<Value>, number: usize, index: usize, call: &Call) {
    let id = format!("toolu_{number:04}_{index}");
    let block = json!({"type": "tool_use", "id": id, "name": call.tool, "input": {}});
    let arguments = call.arguments.to_string();
    let delta = json!({"type": "input_json_delta", "partial_json": arguments});
    block_of(events, index, &block, &delta);
}

fn block_of(events: &mut Vec<Value>, index: usize, block: &Value, delta: &Value) {
    events.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
    events.push(json!({"type": "content_block_delta", "index": index, "delta": delta}));
    events.push(json!({"type": "content_block_stop", "index": index}));
}

pub fn results(body: &Value) -> Vec<Value> {
    let messages = body["messages"].as_array().into_iter().flatten();
    let blocks = messages.flat_map(|message| message["content"].as_array().into_iter().flatten());
    let results = blocks.filter(|block| block["type"] == "tool_result");
    results.map(|block| block["content"].clone()).collect()
}
