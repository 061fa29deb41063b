//! Gemini's streamGenerateContent: one event with everything in it.

use serde_json::{Value, json};

use super::script::Step;

pub fn events(step: &Step) -> String {
    let (text, calls) = step.parts();
    let calls = calls
        .iter()
        .map(|call| json!({"functionCall": {"name": call.tool, "args": call.arguments}}));
    let parts: Vec<Value> =
        text.map(|text| json!({"text": text})).into_iter().chain(calls).collect();
    let candidate = json!({"content": {"role": "model", "parts": parts}, "finishReason": "STOP",
                           "index": 0});
    let usage = json!({"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15});
    format!("data: {}\n\n", json!({"candidates": [candidate], "usageMetadata": usage}))
}

pub fn results(body: &Value) -> Vec<Value> {
    let contents = body["contents"].as_array().into_iter().flatten();
    let parts = contents.flat_map(|content| content["parts"].as_array().into_iter().flatten());
    let results = parts.filter_map(|part| part.get("functionResponse"));
    results.map(|result| result["response"].clone()).collect()
}
