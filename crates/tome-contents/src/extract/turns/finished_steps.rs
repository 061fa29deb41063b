//! Steps of the agent's own list of tasks that it reports as finished.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;
use tome_model::{Event, EventKind, Tool};

use crate::extract::language::text::{begins_with_any, find_text_field};

/// Status of a finished step, as all agents write it.
const COMPLETED: &str = "completed";
/// Steps of one segment that are read.
const STEPS_MAX: usize = 200;

/// A step of the agent's list of tasks that was finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FinishedStep<'a> {
    /// The event that reports it as finished.
    pub(crate) event: usize,
    /// The event that names it.
    pub(crate) named_at: usize,
    pub(crate) raw: &'a str,
    /// The text of the reporting event that shows it.
    pub(crate) shown: &'a str,
}

/// Finds the steps that an event reports as finished after an earlier one had them open. A step that is finished when
/// it is first seen may be from work before the events.
pub(crate) fn find_finished_steps(events: &[Event]) -> Vec<FinishedStep<'_>> {
    let mut tasks: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
    let mut open: HashSet<&str> = HashSet::new();
    let mut finished: Vec<FinishedStep<'_>> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let is_own = event.kind == EventKind::ToolResult && !event.is_from_subagent();
        let Some(tool) = event.tool.as_ref().filter(|_| is_own) else { continue };
        match tool.name.as_str() {
            "TaskCreate" => tasks.extend(read_created_task(tool).map(|(id, raw)| (id, (at, raw)))),
            "TaskUpdate" => {
                let done = find_completed_task(tool);
                let task = done.and_then(|(id, shown)| Some((tasks.remove(id)?, shown)));
                finished.extend(task.map(|((named_at, raw), shown)| FinishedStep {
                    event: at,
                    named_at,
                    raw,
                    shown,
                }));
            }
            _ => {
                for (raw, is_done) in read_list(tool) {
                    if !is_done {
                        open.insert(raw);
                    } else if open.remove(raw) {
                        finished.push(FinishedStep { event: at, named_at: at, raw, shown: raw });
                    }
                }
            }
        }
        if finished.len() >= STEPS_MAX {
            break;
        }
    }
    finished
}

/// Whether a step only prepares, checks or hands over the work.
pub(crate) fn is_routine(step: &str) -> bool {
    #[rustfmt::skip]
    const ROUTINES: &[&str] = &[
        "run", "verify", "test", "check", "read", "review", "commit", "push", "explore", "look", "search", "find",
        "list", "examine", "inspect", "understand", "analyze", "wait", "ask", "summary", "next steps", "what", "how",
        "files", "changes", "step", "phase", "task", "option", "note", "usage", "example", "confirm", "ensure", "prepare",
    ];
    begins_with_any(step, ROUTINES)
}

/// The number and the subject of a task that a call created.
fn read_created_task(tool: &Tool) -> Option<(&str, &str)> {
    let subject = find_text_field(&tool.input, &["subject"])?;
    let task = tool.output.get("task").unwrap_or(&tool.output);
    Some((find_text_field(task, &["id", "taskId"])?, subject))
}

/// The number of a task that a call reports as finished, and its status.
fn find_completed_task(tool: &Tool) -> Option<(&str, &str)> {
    let status = find_text_field(&tool.input, &["status"]).filter(|status| *status == COMPLETED)?;
    Some((find_text_field(&tool.input, &["taskId", "id"])?, status))
}

/// The steps of a whole list, and whether each is finished.
fn read_list(tool: &Tool) -> Vec<(&str, bool)> {
    let (key, names): (&str, &[&str]) = match tool.name.as_str() {
        "TodoWrite" | "todowrite" | "todo_write" => ("todos", &["content"]),
        "write_todos" => ("todos", &["description", "content"]),
        "update_plan" => ("plan", &["step"]),
        _ => return Vec::new(),
    };
    let steps = tool.input.get(key).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let read = |step| {
        let is_done = find_text_field(step, &["status"]) == Some(COMPLETED);
        Some((find_text_field(step, names)?, is_done))
    };
    steps.iter().filter_map(read).collect()
}
