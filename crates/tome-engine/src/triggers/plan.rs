//! Detects plans in the forms that agents use: a whole list in one call, tasks created one by one,
//! rows of a table, a written plan, a reply that is a plan.
//!
//! Finished steps count too, as long as one is open; a list with no open step is not a plan.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use tome_model::{Tool, truncate_to};

use super::deeds::{name_of, text};
use super::limits::{LEAD_BYTES_MAX, READ_BYTES_MAX};
use super::tasks::Tasks;
use super::words::add_step;
use super::{sql, steps};

/// Fields that contain a step's text, and a list's steps.
#[rustfmt::skip]
const WORDS: [&str; 7] = ["content", "description", "step", "title", "subject", "text", "task"];
const LISTS: [&str; 4] = ["todos", "plan", "steps", "items"];
const DONE: [&str; 5] = ["completed", "cancelled", "done", "deleted", "closed"];

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) steps: usize,
    pub(super) about: String,
}

/// Returns the plan that a tool call made or extended. Tasks created one by one are kept in
/// `tasks`.
pub(super) fn of_call(tool: &Tool, tasks: &mut Tasks) -> Option<Plan> {
    match name_of(tool).as_str() {
        "todowrite" | "todo_write" | "write_todos" | "update_plan" | "update_todo" => {
            listed(&tool.input)
        }
        "exitplanmode" | "exit_plan_mode" => {
            let plan = text(&tool.input, &["plan"]).or_else(|| text(&tool.output, &["plan"]))?;
            Some(written(plan))
        }
        "taskcreate" | "tracker_create_task" => {
            let subject = text(&tool.input, &["subject", "title", "description"])?;
            task(tasks, task_id(&tool.output), subject)
        }
        "taskupdate" | "tracker_update_task" => {
            let done = text(&tool.input, &["status"]).is_some_and(|status| DONE.contains(&status));
            if let Some(id) = text(&tool.input, &["taskId", "id"]).filter(|_| done) {
                tasks.finish(id);
            }
            None
        }
        // A tool named `sql` on another server belongs to some application.
        "sql" if tool.name == "sql" => {
            let added = sql::read(text(&tool.input, &["query", "sql"])?, tasks);
            (added > 0).then(|| all_of(tasks))
        }
        _ => None,
    }
}

/// Adds a task and returns the whole list; `None` if the task is known.
pub(super) fn task(tasks: &mut Tasks, id: Option<&str>, subject: &str) -> Option<Plan> {
    let subject = truncate_to(subject, READ_BYTES_MAX);
    tasks.add(id, subject).then(|| all_of(tasks))
}

fn all_of(tasks: &Tasks) -> Plan {
    Plan { steps: tasks.count(), about: tasks.about().to_owned() }
}

/// Parses the id of a new task from a field, or from `Task #3 created …`, `Created task 3f9a1c: …`.
fn task_id(output: &Value) -> Option<&str> {
    let said = output.as_str().unwrap_or_default();
    let rest = said.strip_prefix("Task #").or_else(|| said.strip_prefix("Created task "));
    let id = |rest: &str| rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let told = rest.and_then(|rest| rest.get(..id(rest)));
    output.get("task").and_then(|task| text(task, &["id"])).or(told).filter(|id| !id.is_empty())
}

fn listed(input: &Value) -> Option<Plan> {
    match LISTS.iter().find_map(|name| input.get(name)).unwrap_or(input) {
        Value::Array(items) => of_items(items),
        Value::String(text) => match serde_json::from_str(truncate_to(text, READ_BYTES_MAX)) {
            Ok(Value::Array(items)) => of_items(&items),
            Ok(Value::Object(map)) => {
                let items = LISTS.iter().find_map(|name| map.get(*name)?.as_array())?;
                of_items(items)
            }
            _ => of_text(text),
        },
        _ => None,
    }
}

fn of_items(items: &[Value]) -> Option<Plan> {
    let done = |item: &Value| text(item, &["status"]).is_some_and(|status| DONE.contains(&status));
    if items.iter().all(done) {
        return None;
    }
    let mut about = String::new();
    // Count all items, but quote only the first.
    for item in items.iter().take(64) {
        add_step(&mut about, item.as_str().or_else(|| text(item, &WORDS)).unwrap_or_default());
    }
    Some(Plan { steps: items.len(), about })
}

/// Parses a Markdown list, or a JSON list that was truncated in storage.
fn of_text(text: &str) -> Option<Plan> {
    let text = truncate_to(text, READ_BYTES_MAX);
    let checks = steps::checklist(text);
    if checks.all > 0 {
        return (checks.open > 0).then(|| Plan { steps: checks.all, about: quoted(text) });
    }
    let cut = text.matches("\"status\"").count();
    if cut > 0 {
        return Some(Plan { steps: cut, about: quoted(text) });
    }
    Some(written(text))
}

/// Parses a written plan: counts its numbered steps or checklist, otherwise its bullets.
fn written(plan: &str) -> Plan {
    let plan = truncate_to(plan, READ_BYTES_MAX);
    let numbered = steps::numbered(plan).map_or(0, |list| list.steps);
    let counted = numbered.max(steps::checklist(plan).all);
    let steps = if counted > 0 { counted } else { steps::bullets(plan) };
    Plan { steps, about: quoted(plan) }
}

/// Parses a reply as a plan: a numbered list of named steps, or one introduced by a cue that it is
/// still to be done. Other lists (findings, files, questions) do not count.
pub(super) fn of_reply(reply: &str) -> Option<Plan> {
    let reply = truncate_to(reply, READ_BYTES_MAX);
    let list = steps::numbered(reply)?;
    let before = reply.get(..list.starts)?;
    let lead = before.get(floor_of_lead(before)..).unwrap_or_default();
    let announced = CUES.as_ref().is_some_and(|cues| cues.is_match(lead));
    let about = || quoted(reply.get(list.starts..).unwrap_or_default());
    (list.called_steps || announced).then(|| Plan { steps: list.steps, about: about() })
}

fn floor_of_lead(before: &str) -> usize {
    tome_model::floor_boundary(before, before.len().saturating_sub(LEAD_BYTES_MAX))
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

fn quoted(text: &str) -> String {
    let mut about = String::new();
    for line in text.lines().filter(|line| line.chars().any(char::is_alphanumeric)).take(64) {
        add_step(&mut about, line);
    }
    about
}
