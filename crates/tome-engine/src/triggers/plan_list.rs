//! Parses the lists of steps that plan tools write, in the forms that agents use.

use std::borrow::Cow;

use serde_json::Value;
use tome_contents::tool_base_name;
use tome_model::{Tool, truncate_to};

use super::limits::PARSED_BYTES_MAX;
use super::tool_calls::text_field;

/// Tools that write a whole plan, lowercase and without a server prefix.
const PLAN_TOOLS: [&str; 5] =
    ["todowrite", "todo_write", "write_todos", "update_plan", "update_todo"];
const LIST_FIELDS: [&str; 4] = ["todos", "plan", "steps", "items"];
/// Fields that contain a step's text, short forms first.
#[rustfmt::skip]
const STEP_FIELDS: [&str; 7] = ["content", "step", "title", "subject", "description", "text", "task"];
const DONE_STATUSES: [&str; 5] = ["completed", "cancelled", "done", "deleted", "closed"];

/// A plan as a tool call contains it.
pub(crate) enum PlanList<'a> {
    Items(Cow<'a, [Value]>),
    /// A Markdown list, or a JSON list that was truncated in storage.
    Text(&'a str),
}

impl<'a> PlanList<'a> {
    /// Returns the plan that a call wrote; `None` if it is not a call of a plan tool.
    pub(crate) fn from_call(tool: &'a Tool) -> Option<Self> {
        if !PLAN_TOOLS.contains(&tool_base_name(&tool.name).as_str()) {
            return None;
        }
        let list = LIST_FIELDS.iter().find_map(|name| tool.input.get(name)).unwrap_or(&tool.input);
        match list {
            Value::Array(items) => Some(Self::Items(Cow::Borrowed(items))),
            Value::String(text) => Self::from_text(truncate_to(text, PARSED_BYTES_MAX)),
            _ => None,
        }
    }

    fn from_text(text: &'a str) -> Option<Self> {
        match serde_json::from_str(text) {
            Ok(Value::Array(items)) => Some(Self::Items(Cow::Owned(items))),
            Ok(Value::Object(mut map)) => {
                let list = LIST_FIELDS.iter().find_map(|name| map.remove(*name))?;
                let Value::Array(items) = list else { return None };
                Some(Self::Items(Cow::Owned(items)))
            }
            _ => Some(Self::Text(text)),
        }
    }
}

pub(crate) fn step_text(item: &Value) -> Option<&str> {
    item.as_str().or_else(|| text_field(item, &STEP_FIELDS))
}

/// Whether a step, or a task that was updated, is finished.
pub(crate) fn is_done(item: &Value) -> bool {
    text_field(item, &["status"]).is_some_and(|status| DONE_STATUSES.contains(&status))
}
