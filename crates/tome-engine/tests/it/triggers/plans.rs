//! Detection of plans and of their number of steps.

use serde_json::{Value, json};
use tome_engine::triggers::{DueInjection, TriggerEvent, TriggerSettings, TriggerState};
use tome_model::EventKind;

use super::{call, draft, due_of, event, numbered};

fn list(field: &str, steps: usize) -> Vec<Value> {
    (1..=steps).map(|n| json!({ field: format!("s{n}"), "status": "pending" })).collect()
}

fn checklist(steps: usize) -> String {
    (1..=steps).map(|n| format!("- [ ] s{n}\n")).collect()
}

fn rows(steps: usize) -> String {
    let rows: Vec<String> = (1..=steps).map(|n| format!("('s{n}', 'it''s (s{n}), yes')")).collect();
    format!("INSERT INTO todos (id, title) VALUES {};", rows.join(", "))
}

type Made = fn(usize) -> (&'static str, Value);

#[test]
fn a_list_of_six_steps_is_a_long_plan_for_every_agent() {
    let shapes: [Made; 12] = [
        |n| ("TodoWrite", json!({ "todos": list("content", n) })),
        |n| ("TodoWrite", json!({ "todos": checklist(n) })),
        |n| ("update_todo", json!({ "todos": checklist(n) })),
        |n| ("update_plan", json!({ "plan": list("step", n), "explanation": "why" })),
        |n| ("write_todos", json!({ "todos": list("description", n) })),
        |n| ("todowrite", json!({ "todos": list("content", n) })),
        |n| ("todo_write", json!({ "todos": list("content", n) })),
        |n| ("sql", json!({ "query": rows(n), "description": "add todos" })),
        |n| ("ExitPlanMode", json!({ "plan": numbered("# Plan", n) })),
        |n| ("ExitPlanMode", json!({ "plan": checklist(n) })),
        // Older payloads: the list as JSON in a string, complete or truncated.
        |n| ("TodoWrite", json!({ "todos": json!(list("content", n)).to_string() })),
        |n| ("TodoWrite", json!(format!("{}…", json!({ "todos": list("content", n) })))),
    ];
    for (number, shape) in shapes.iter().enumerate() {
        let (name, input) = shape(5);
        assert_eq!(due_of(name, input), None, "{name}, shape {number}");
        let (name, input) = shape(6);
        let Some(DueInjection::Replan { about }) = due_of(name, input.clone()) else {
            panic!("{name}, shape {number}: {input}");
        };
        assert!(about.contains("s1") || about.contains("part 1"), "{name}: {about:?}");
    }
}

/// Gemini CLI's tracker creates tasks one by one and names each in its output.
#[test]
fn tracker_tasks_are_counted() {
    let mut state = TriggerState::default();
    let mut step = |number: usize, name: &str, input: Value, output: Value| {
        let mut made = call(number, name, input);
        made.tool.as_mut().unwrap().output = output;
        state.process_event(&TriggerEvent::from_draft(&made), &TriggerSettings::default())
    };
    let title = |n: usize| json!({ "title": format!("s{n}"), "type": "task", "description": "d" });
    let id = |n: usize| format!("aa000{n}");
    for n in 1..=5 {
        let told = json!(format!("Created task {}: s{n}", id(n)));
        assert_eq!(step(n, "tracker_create_task", title(n), told), None);
    }
    let sixth = step(6, "tracker_create_task", title(6), json!("Created task aa0006: s6"));
    assert!(matches!(sixth, Some(DueInjection::Replan { about }) if about.contains("s1")));
    // All closed: what follows is another list.
    for n in 1..=6 {
        let input = json!({ "id": id(n), "status": "closed" });
        assert_eq!(step(10 + n, "tracker_update_task", input, json!("Updated")), None);
    }
    let prompt = draft(20, EventKind::UserMessage, "and now the parser", None, json!({}));
    assert_eq!(
        state.process_event(&TriggerEvent::from_draft(&prompt), &TriggerSettings::default()),
        None
    );
    let another = call(21, "tracker_create_task", title(7));
    assert_eq!(
        state.process_event(&TriggerEvent::from_draft(&another), &TriggerSettings::default()),
        None
    );
}

#[test]
fn a_completed_list_is_not_a_plan() {
    let mut steps = list("content", 7);
    for step in &mut steps {
        step["status"] = json!("completed");
    }
    assert_eq!(due_of("TodoWrite", json!({ "todos": steps })), None);
    steps[6]["status"] = json!("in_progress");
    assert!(due_of("TodoWrite", json!({ "todos": steps })).is_some());
    assert_eq!(due_of("update_todo", json!({ "todos": checklist(7).replace("[ ]", "[x]") })), None);
}

/// Replays queries and counts the replans they trigger.
fn replans(queries: &[&str]) -> usize {
    let mut state = TriggerState::default();
    let due = |(number, query): (usize, &&str)| {
        let drafts =
            [event(number * 2, "prompt"), call(number * 2 + 1, "sql", json!({ "query": query }))];
        let step = |draft| {
            state.process_event(&TriggerEvent::from_draft(draft), &TriggerSettings::default())
        };
        drafts.iter().filter_map(step).count()
    };
    queries.iter().enumerate().map(due).sum()
}

#[test]
fn rows_of_the_todo_table_are_counted_as_steps() {
    let one =
        |id: &str| format!("insert or ignore into \"todos\" (title, id) values ('t', '{id}')");
    let six: Vec<String> = ["a", "b", "c", "d", "e", "f"].map(one).to_vec();
    assert_eq!(replans(&[&six.join("; ")]), 1);
    let single: Vec<&str> = six.iter().map(String::as_str).collect();
    assert_eq!(replans(&single), 1);
    // The same row again does not count.
    assert_eq!(replans(&[&six[0], &six[0], &six[0], &six[0], &six[0], &six[0]]), 0);
    // A finished or deleted list is followed by another.
    for end in ["UPDATE todos SET status = 'done'", "DELETE FROM todos"] {
        assert_eq!(replans(&[&rows(5), end, &rows(5)]), 0, "{end}");
    }
    let some = "UPDATE todos SET status = 'done' WHERE id IN ('s1', 's2', 's3', 's4', 's5')";
    assert_eq!(replans(&[&rows(5), some, "INSERT INTO todos VALUES ('x', 'x')"]), 0);
    let start = "UPDATE todos SET status = 'in_progress' WHERE id = 's1'";
    assert_eq!(replans(&[&rows(5), start, "INSERT INTO todos VALUES ('x', 'x')"]), 1);
    // Other tables, and queries that only read.
    let deps = rows(9).replace("INTO todos", "INTO todo_deps");
    assert_eq!(replans(&[&deps, "SELECT * FROM todos", "'", "INSERT INTO todos"]), 0);
}

#[test]
fn the_sql_tool_of_another_server_is_ignored() {
    assert_eq!(due_of("mcp__db__sql", json!({ "query": rows(9) })), None);
}

/// Whether a reply triggers a replan at the next prompt.
fn is_plan(reply: &str) -> bool {
    let (mut state, settings) = (TriggerState::default(), TriggerSettings::default());
    let stop = draft(1, EventKind::AssistantStop, reply, None, json!({}));
    assert_eq!(state.process_event(&TriggerEvent::from_draft(&stop), &settings), None);
    state.process_event(&TriggerEvent::from_draft(&event(2, "prompt")), &settings).is_some()
}

#[test]
fn replies_with_long_plans_are_recognized() {
    let german = numbered("So gehe ich vor, in diesen Schritten:", 6);
    let chinese: String = (1..=6).map(|n| format!("{n}、第{n}件事\n")).collect();
    let steps: String = (1..=6).map(|n| format!("### Step {n}: part\n\n1. a\n2. b\n\n")).collect();
    let bold: String = (1..=6).map(|n| format!("**{n}. Part**\n   - detail\n")).collect();
    let nested: String = (1..=6)
        .map(|n| format!("{n}. part\n   1. one\n   2. two\n\n   ```\n   1. x\n   ```\n"))
        .collect();
    let ones = "1. part\n".repeat(6);
    for reply in [
        numbered("Here is the plan:", 6),
        numbered("I'll do this:", 9),
        german,
        format!("计划如下：\n{chinese}"),
        steps,
        format!("## Plan\n{bold}"),
        format!("The approach:\n{nested}"),
        format!("Steps:\n{ones}"),
    ] {
        assert!(is_plan(&reply), "{reply}");
    }
}

#[test]
fn other_replies_do_not_count_as_plans() {
    let nested = format!("My plan:\n1. part\n{}2. rest\n", "   1. a\n   2. b\n   3. c\n   4. d\n");
    let code = format!("My plan:\n```\n{}```\n", numbered("", 9));
    for reply in [
        numbered("Here is the plan:", 5),
        numbered("I found these problems:", 9),
        numbered("An explanation of the files:", 9),
        nested,
        code,
        "My plan took 1.5 s\n2.5 s\n3.5 s\n4.5 s\n5.5 s\n6.5 s\n".to_owned(),
        "The plan is simple.".to_owned(),
        String::new(),
    ] {
        assert!(!is_plan(&reply), "{reply}");
    }
}
