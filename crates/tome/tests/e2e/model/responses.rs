//! OpenAI's Responses API: the events that Codex waits for.

use serde_json::{Value, json};

use super::script::Step;

pub fn events(step: &Step, number: usize) -> String {
    let id = format!("resp_{number}");
    let mut messages = vec![json!({"type": "response.created", "response": {"id": id}})];
    for (index, item) in items(step, number).into_iter().enumerate() {
        messages.push(
            json!({"type": "response.output_item.done", "output_index": index, "item": item}),
        );
    }
    let usage = json!({"input_tokens": 10, "input_tokens_details": null, "output_tokens": 5,
                       "output_tokens_details": null, "total_tokens": 15});
    messages.push(json!({"type": "response.completed", "response": {"id": id, "usage": usage}}));
    let line = |event: &Value| {
        let kind = event["type"].as_str().unwrap_or_default();
        format!("event: {kind}\ndata: {event}\n\n")
    };
    messages.iter().map(line).collect()
}

fn items(step: &Step, number: usize) -> Vec<Value> {
    let (text, calls) = step.parts();
    let message = text.map(|text| {
        json!({"type": "message", "role": "assistant", "id": format!("msg_{number}"),
               "content": [{"type": "output_text", "text": text}]})
    });
    let calls = calls.iter().enumerate().map(|(index, call)| {
        let mut item = json!({"type": "function_call", "id": format!("fc_{number}_{index}"),
            "call_id": format!("call_{number}_{index}"), "name": call.tool,
            "arguments": call.arguments.to_string(), "status": "completed"});
        if let Some(group) = call.group {
            item["namespace"] = json!(group);
        }
        item
    });
    message.into_iter().chain(calls).collect()
}

pub fn results(body: &Value) -> Vec<Value> {
    let items = body["input"].as_array().into_iter().flatten();
    let results = items.filter(|item| item["type"] == "function_call_output");
    results.map(|item| item["output"].clone()).collect()
}
