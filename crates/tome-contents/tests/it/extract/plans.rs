//! Plans of each agent as titles, and what is no plan.

use serde_json::{Value, json};
use tome_model::{Event, EventLine};

use super::{check, event, summarize};

/// Builds a session from kinds, texts and tool calls, a second apart.
fn session(steps: &[(&str, &str, Value)]) -> Vec<Event> {
    (1..).zip(steps).map(|(n, step)| event(line(n, step))).collect()
}

fn line(n: u64, (kind, text, tool): &(&str, &str, Value)) -> EventLine {
    let mut line = json!({
        "id": format!("e{n}"), "at": n * 1_000, "session_id": "s", "agent": "codex", "cwd": "/app",
        "kind": kind, "text": text,
    });
    if !tool.is_null() {
        line["tool"] = tool.clone();
    }
    EventLine::parse(&line.to_string()).unwrap()
}

fn title(steps: &[(&str, &str, Value)]) -> String {
    let events = session(steps);
    let summary = summarize(&events);
    check(&summary, &events);
    summary.title
}

const PLAN: &str = "# Plan: Stream the report in chunks\n\n1. Read\n2. Write\n";
const HEADING: &str = "Stream the report in chunks";

#[expect(clippy::needless_pass_by_value, reason = "json!(…) reads better without a &")]
fn tool(name: &str, input: Value, output: Value) -> (&'static str, &'static str, Value) {
    ("tool_result", "", json!({"name": name, "input": input, "output": output}))
}

#[test]
fn an_approved_plan_of_any_agent_gives_the_title() {
    let ask = ("user_message", "The report is too slow", Value::Null);
    let file = "/home/dev/.gemini/tmp/app/plans/report.md";
    let gemini = tool("write_file", json!({"file_path": file, "content": PLAN}), json!("ok"));
    let approved = "Plan approved. The approved implementation plan is stored at: report.md";
    let exit =
        |output: &str| tool("exit_plan_mode", json!({"plan_filename": "report.md"}), json!(output));
    assert_eq!(title(&[ask.clone(), gemini.clone(), exit(approved)]), HEADING);
    for refused in ["Plan rejected. User feedback: no", "User cancelled the dialog."] {
        assert_ne!(title(&[ask.clone(), gemini.clone(), exit(refused)]), HEADING);
    }
    assert_ne!(title(&[ask.clone(), gemini]), HEADING, "not approved yet");

    let path = ".opencode/plans/1794701681533-glowing-falcon.md";
    let opencode = tool("write", json!({"filePath": path, "content": PLAN}), json!("ok"));
    let exit = tool("plan_exit", json!({}), json!("User approved switching."));
    assert_eq!(title(&[ask.clone(), opencode, exit]), HEADING);

    let path = "/home/dev/.copilot/session-state/34a3/plan.md";
    let copilot = tool("create", json!({"path": path, "file_text": PLAN}), json!("ok"));
    let exit = |output: &str| tool("exit_plan_mode", json!({"summary": "- chunks"}), json!(output));
    assert_eq!(title(&[ask.clone(), copilot.clone(), exit("Approved.")]), HEADING);
    assert_ne!(title(&[ask.clone(), copilot, exit("Plan not approved.")]), HEADING);

    let claude = tool("ExitPlanMode", json!({}), json!({"plan": PLAN, "filePath": "/p.md"}));
    assert_eq!(title(&[ask.clone(), claude]), HEADING);

    let proposal = format!("Here it is.\n<proposed_plan>\n{PLAN}</proposed_plan>");
    let proposal = ("assistant_stop", proposal.as_str(), Value::Null);
    let go = ("user_message", "Implement the plan.", Value::Null);
    assert_eq!(title(&[ask.clone(), proposal.clone(), go]), HEADING);
    let no = ("user_message", "No, leave it as it is", Value::Null);
    assert_ne!(title(&[ask, proposal, no]), HEADING);
}

#[test]
fn a_list_of_steps_has_no_heading() {
    let ask = ("user_message", "Make the report stream in chunks", Value::Null);
    let steps = json!([{"step": "Read the whole report", "status": "pending"}]);
    let plan = json!({"explanation": "I begin with the reader", "plan": steps});
    let codex = tool("update_plan", plan, json!("Plan updated"));
    let todos = json!({"todos": [{"description": "Read the whole report", "status": "pending"}]});
    let gemini = tool("write_todos", todos, json!("Updated"));
    assert_eq!(title(&[ask, codex, gemini]), "Make the report stream in chunks");
}
