//! Detects plans in the forms that agents use: a whole list in one call, tasks created one by one,
//! rows of a table, a written plan, a reply that is a plan.
//!
//! Finished steps count too, as long as one is open; a list with no open step is not a plan.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use tome_contents::tool_base_name;
use tome_model::{Tool, truncate_to};

use super::compact_text::append_step;
use super::limits::{LEAD_BYTES_MAX, PARSED_BYTES_MAX};
use super::plan_list::{PlanList, is_done, step_text};
use super::tasks::TaskList;
use super::tool_calls::text_field;
use super::{sql, steps};

#[derive(Debug, PartialEq, Eq)]
pub(super) struct DetectedPlan {
    pub(super) steps: usize,
    pub(super) about: String,
}

/// Returns the plan that a tool call made or extended. Tasks created one by one are kept in
/// `tasks`.
pub(super) fn parse_tool_call(tool: &Tool, tasks: &mut TaskList) -> Option<DetectedPlan> {
    if let Some(list) = PlanList::from_call(tool) {
        return match list {
            PlanList::Items(items) => parse_items(&items),
            PlanList::Text(text) => parse_text_list(text),
        };
    }
    match tool_base_name(&tool.name).as_str() {
        "exitplanmode" | "exit_plan_mode" => {
            let plan = text_field(&tool.input, &["plan"])
                .or_else(|| text_field(&tool.output, &["plan"]))?;
            Some(parse_written_plan(plan))
        }
        "taskcreate" | "tracker_create_task" => {
            let subject = text_field(&tool.input, &["subject", "title", "description"])?;
            add_task(tasks, parse_task_id(&tool.output), subject)
        }
        "taskupdate" | "tracker_update_task" => {
            let id = text_field(&tool.input, &["taskId", "id"]);
            if let Some(id) = id.filter(|_| is_done(&tool.input)) {
                tasks.finish(id);
            }
            None
        }
        // A tool named `sql` on another server belongs to some application.
        "sql" if tool.name == "sql" => {
            let added = sql::apply_query(text_field(&tool.input, &["query", "sql"])?, tasks);
            (added > 0).then(|| plan_from_tasks(tasks))
        }
        _ => None,
    }
}

/// Adds a task and returns the whole list; `None` if the task is known.
pub(super) fn add_task(
    tasks: &mut TaskList,
    id: Option<&str>,
    subject: &str,
) -> Option<DetectedPlan> {
    let subject = truncate_to(subject, PARSED_BYTES_MAX);
    tasks.add(id, subject).then(|| plan_from_tasks(tasks))
}

fn plan_from_tasks(tasks: &TaskList) -> DetectedPlan {
    DetectedPlan { steps: tasks.count(), about: tasks.about().to_owned() }
}

/// Parses the id of a new task from a field, or from `Task #3 created …`, `Created task 3f9a1c: …`.
fn parse_task_id(output: &Value) -> Option<&str> {
    let text = output.as_str().unwrap_or_default();
    let rest = text.strip_prefix("Task #").or_else(|| text.strip_prefix("Created task "));
    let id = |rest: &str| rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let id_in_text = rest.and_then(|rest| rest.get(..id(rest)));
    output
        .get("task")
        .and_then(|task| text_field(task, &["id"]))
        .or(id_in_text)
        .filter(|id| !id.is_empty())
}

fn parse_items(items: &[Value]) -> Option<DetectedPlan> {
    if items.iter().all(is_done) {
        return None;
    }
    let mut about = String::new();
    // Count all items, but quote only the first.
    for item in items.iter().take(64) {
        append_step(&mut about, step_text(item).unwrap_or_default());
    }
    Some(DetectedPlan { steps: items.len(), about })
}

/// Parses a Markdown list, or a JSON list that was truncated in storage.
fn parse_text_list(text: &str) -> Option<DetectedPlan> {
    let checks = steps::count_checkboxes(text);
    if checks.all > 0 {
        return (checks.open > 0)
            .then(|| DetectedPlan { steps: checks.all, about: summarize_lines(text) });
    }
    let cut = text.matches("\"status\"").count();
    if cut > 0 {
        return Some(DetectedPlan { steps: cut, about: summarize_lines(text) });
    }
    Some(parse_written_plan(text))
}

/// Parses a written plan: counts its numbered steps or checklist, otherwise its bullets.
fn parse_written_plan(plan: &str) -> DetectedPlan {
    let plan = truncate_to(plan, PARSED_BYTES_MAX);
    let numbered = steps::find_numbered_list(plan).map_or(0, |list| list.steps);
    let counted = numbered.max(steps::count_checkboxes(plan).all);
    let steps = if counted > 0 { counted } else { steps::count_bullets(plan) };
    DetectedPlan { steps, about: summarize_lines(plan) }
}

/// Parses a reply as a plan: a numbered list of named steps, or one introduced by a cue that it is
/// still to be done. Other lists (findings, files, questions) do not count.
pub(super) fn parse_reply(reply: &str) -> Option<DetectedPlan> {
    let reply = truncate_to(reply, PARSED_BYTES_MAX);
    let list = steps::find_numbered_list(reply)?;
    let before = reply.get(..list.starts)?;
    let lead = before.get(lead_start(before)..).unwrap_or_default();
    let announced = CUES.as_ref().is_some_and(|cues| cues.is_match(lead));
    let about = || summarize_lines(reply.get(list.starts..).unwrap_or_default());
    (list.called_steps || announced).then(|| DetectedPlan { steps: list.steps, about: about() })
}

fn lead_start(before: &str) -> usize {
    before.floor_char_boundary(before.len().saturating_sub(LEAD_BYTES_MAX))
}

static CUES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?ix) \b(?: plan | plans | steps? | approach | roadmap | i['’]ll | i\ will | we['’]ll
            | i['’]m\ going\ to | schritte? | schritten | vorgehen | ich\ werde | étapes? | pasos?
            | план | шаги ) \b
            | 计划 | 計劃 | 計画 | 步骤 | 步驟 | 方案 | 手順 | 接下来 ",
    )
    .ok()
});

fn summarize_lines(text: &str) -> String {
    let mut about = String::new();
    for line in text.lines().filter(|line| line.chars().any(char::is_alphanumeric)).take(64) {
        append_step(&mut about, line);
    }
    about
}
