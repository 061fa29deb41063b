//! OpenAI's Chat Completions API.

use serde_json::{Value, json};

use super::script::Step;

pub fn events(step: &Step, number: usize) -> String {
    let (text, calls) = step.parts();
    let call = |(index, call): (usize, &super::Call)| {
        let function = json!({"name": call.tool, "arguments": call.arguments.to_string()});
        json!({"tool_calls": [{"index": index, "id": format!("call_{number}_{index}"),
                               "type": "function", "function": function}]})
    };
    let text = text.map(|text| json!({"content": text}));
    let deltas: Vec<Value> = text.into_iter().chain(calls.iter().enumerate().map(call)).collect();
    let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
    let opening = json!({"role": "assistant", "content": ""});
    let choice = |delta: &Value, reason: Option<&str>| json!([{"index": 0, "delta": delta, "finish_reason": reason}]);
    let mut chunks: Vec<Value> = vec![chunk(number, &choice(&opening, None))];
    chunks.extend(deltas.iter().map(|delta| chunk(number, &choice(delta, None))));
    chunks.push(chunk(number, &choice(&json!({}), Some(reason))));
    let mut usage = chunk(number, &json!([]));
    usage["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    chunks.push(usage);
    chunks.iter().map(|event| format!("data: {event}\n\n")).collect::<String>() + "data: [DONE]\n\n"
}

fn chunk(number: usize, choices: &Value) -> Value {
    json!({"id": format!("chat_{number}"), "object": "chat.completion.chunk",
           "created": 1_794_735_000, "model": "scripted", "choices": choices})
}

pub fn results(body: &Value) -> Vec<Value> {
    let messages = body["messages"].as_array().into_iter().flatten();
    let results = messages.filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].clone()).collect()
}
