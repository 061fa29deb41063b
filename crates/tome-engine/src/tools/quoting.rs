//! The last step of every call by an agent: quotes recorded text and breaks markers.
//!
//! It is applied centrally, so no tool can omit it. The JSON of an answer is for programs and stays
//! exact; an interface that shows JSON to a model must quote it itself.

use serde_json::Value;

use super::{ToolAnswer, ToolEffect, ToolSpec};
use crate::quote::{neutralize_markers, quote_text};

/// Upper bound on the tokens of a fence with a source name of usual length.
pub(super) const FENCE_TOKENS: usize = 48;

/// Makes an answer safe for a model: fenced if it repeats recorded text, with markers broken.
pub(super) fn quote_answer(tool: &ToolSpec, mut answer: ToolAnswer) -> ToolAnswer {
    answer.text = if tool.effect == ToolEffect::Reads && answer.failure.is_none() {
        quote_text(&name_source(tool.name, &answer.json), &answer.text)
    } else {
        neutralize_markers(&answer.text).into_owned()
    };
    answer
}

/// Names the source of an answer's text.
fn name_source(tool: &str, answer: &Value) -> String {
    let named = |name: &str| answer.get(name).and_then(Value::as_str).unwrap_or_default();
    match tool {
        "memory_read" => format!("note {}", named("path")),
        "memory_list" | "memory_view" => "the index of the notes".to_owned(),
        "memory_show" => format!("the record, {}", named("citation")),
        "coder_memory_recall" => "lessons stored in earlier work".to_owned(),
        "recall_memory" => "earlier sessions and notes".to_owned(),
        _ => "the record of earlier sessions".to_owned(),
    }
}
