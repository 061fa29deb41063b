//! The last step of every call by an agent: recorded text is quoted, and no marker passes.
//!
//! It happens here and not in the tools, so that no tool can forget it. The JSON of an answer is for
//! programs and stays exact; faces that show JSON to a model have to quote it themselves.

use serde_json::Value;

use super::{Effect, ToolAnswer, specs};
use crate::quote::{neutralize, quoted_text};

/// What the fence around an answer costs at most, in tokens, with a name that is not unusually long.
pub(super) const FENCE_TOKENS: usize = 48;

/// The answer as a model may read it: in a fence if it repeats recorded text, and without markers.
pub(super) fn quote_answer(tool: &str, mut answer: ToolAnswer) -> ToolAnswer {
    let reads = specs::all().iter().any(|spec| spec.name == tool && spec.effect == Effect::Reads);
    answer.text = match reads && answer.failure.is_none() {
        true => quoted_text(&source_of(tool, &answer.json), &answer.text),
        false => neutralize(&answer.text).into_owned(),
    };
    answer
}

/// Where the text of an answer comes from.
fn source_of(tool: &str, answer: &Value) -> String {
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
