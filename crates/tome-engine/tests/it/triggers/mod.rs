//! The triggers: what is due at which point of a session.
//!
//! Test tables are written as sessions: one word per event, followed in brackets by what it makes
//! due. `check` removes the brackets, replays the words, and compares what became due. `!` before a
//! word means that the injection does not reach the agent.

mod clients;
mod frustration;
mod missed;
mod pace;
mod plans;
mod properties;
mod sessions;
mod storing;

use std::fmt::Write;

use serde_json::{Map, Value, json};
use tome_engine::triggers::{
    DueInjection, StoreReason, TriggerEvent, TriggerSettings, TriggerState, texts,
};
use tome_model::{Agent, Draft, EventKind, Identity, Millis, Role, SessionId, Tool};

fn draft(
    number: usize,
    kind: EventKind,
    text: &str,
    tool: Option<Tool>,
    meta: impl Into<Value>,
) -> Draft {
    let agent = Agent::parse("claude-code").unwrap();
    let session = SessionId::parse("s").unwrap();
    let role = kind.default_role();
    Draft {
        identity: Identity::from_name(&agent, &session, role, &number.to_string()),
        at: Millis(1_794_735_000_000 + number as u64 * 1_000),
        session,
        agent,
        cwd: "/home/dev/app".to_owned(),
        project: None,
        kind,
        role,
        text: text.to_owned(),
        tool,
        meta: match meta.into() {
            Value::Object(meta) => meta,
            _ => Map::new(),
        },
    }
}

fn call(number: usize, name: &str, input: Value) -> Draft {
    let tool = Tool { name: name.to_owned(), input, output: json!("ok") };
    draft(number, EventKind::ToolResult, "", Some(tool), json!({}))
}

fn todos(steps: usize) -> Value {
    let todo = |n| json!({ "content": format!("step {n}"), "status": "pending" });
    json!({ "todos": (1..=steps).map(todo).collect::<Vec<_>>() })
}

fn numbered(lead: &str, steps: usize) -> String {
    let list: Vec<String> = (1..=steps).map(|n| format!("{n}. do part {n}")).collect();
    format!("{lead}\n\n{}\n", list.join("\n"))
}

fn overview() -> Value {
    json!({ "path": "overview.md", "content": "# Working Memory", "scope": "session" })
}

/// The event that a word stands for.
fn event(number: usize, word: &str) -> Draft {
    use EventKind::{AssistantMessage, AssistantStop, SessionStart, Unknown, UserMessage};
    let (name, count) = word.split_once(':').unwrap_or((word, "1"));
    let count: usize = count.parse().unwrap_or(1);
    let plain = |kind, text: &str| draft(number, kind, text, None, json!({}));
    match name {
        "prompt" => plain(UserMessage, "fix the lexer"),
        "angry" => plain(UserMessage, "wtf, I told you not to touch the parser"),
        "nudge" => {
            let due = DueInjection::Store { why: StoreReason::Plan, frustrated: false };
            plain(UserMessage, &texts::render_due(&due))
        }
        "todo" => call(number, "TodoWrite", todos(count)),
        "task" => {
            let mut task = call(number, "TaskCreate", json!({ "subject": format!("t{count}") }));
            task.tool.as_mut().unwrap().output = json!({ "task": { "id": count.to_string() } });
            task
        }
        "told" => {
            let meta =
                json!({ "event": "TaskCreated", "payload": { "task_id": count.to_string() } });
            draft(number, Unknown, &format!("t{count}"), None, meta)
        }
        "done" => {
            let input = json!({ "taskId": count.to_string(), "status": "completed" });
            call(number, "TaskUpdate", input)
        }
        "read" => call(number, "Read", json!({ "file_path": "/home/dev/app/src/lexer.rs" })),
        "edit" => call(number, "Edit", json!({ "file_path": "/home/dev/app/src/lexer.rs" })),
        "fail" => {
            let mut failed = call(number, "Edit", json!({ "file_path": "/home/dev/app/a" }));
            failed.meta.insert("failed".to_owned(), json!(true));
            failed
        }
        "lesson" => call(number, "mcp__tome__coder_memory_store", json!({ "title": "t" })),
        "overview" => call(number, "mcp__tome__memory_write", overview()),
        "plan" => plain(AssistantMessage, &numbered("Here is my plan:", count)),
        "stop" => plain(AssistantStop, "Done."),
        "stop-plan" => plain(AssistantStop, &numbered("Here is my plan:", count)),
        "stop-list" => plain(AssistantStop, &numbered("These files hold tests:", count)),
        // The text of a stop that was first reported without it.
        "answer" => draft(number, AssistantStop, "Done.", None, json!({ "message_id": "m1" })),
        "answer-plan" => {
            let plan = numbered("Here is my plan:", count);
            draft(number, AssistantStop, &plan, None, json!({ "message_id": "m1" }))
        }
        "stop-again" => {
            draft(number, AssistantStop, "Done.", None, json!({ "stop_hook_active": true }))
        }
        "stop-failed" => draft(number, AssistantStop, "429", None, json!({ "failed": true })),
        "clear" => draft(number, SessionStart, "", None, json!({ "source": "clear" })),
        "compact" => draft(number, SessionStart, "", None, json!({ "source": "compact" })),
        sub if sub.starts_with("sub-") => {
            let mut inner = event(number, sub.trim_start_matches("sub-"));
            inner.meta.insert("subagent".to_owned(), json!("w1"));
            inner
        }
        other => panic!("no event is called {other}"),
    }
}

fn describe(due: &DueInjection) -> String {
    match due {
        DueInjection::Replan { .. } => "replan".to_owned(),
        DueInjection::Store { why, frustrated } => {
            let why = match why {
                StoreReason::Plan => "plan".to_owned(),
                StoreReason::Work { tool_calls } => format!("work {tool_calls}"),
                StoreReason::Frustration => "mood".to_owned(),
            };
            format!("store {why}{}", if *frustrated { " failure" } else { "" })
        }
        DueInjection::Overview { rounds } => format!("overview {rounds}"),
    }
}

/// The words of a session; `read*9` repeats a word nine times.
fn words(session: &str) -> Vec<String> {
    let mut bare = String::new();
    let mut inside = false;
    for c in session.chars() {
        inside = (inside || c == '[') && c != ']';
        if !inside && c != ']' {
            bare.push(c);
        }
    }
    let times = |word: &str| match word.split_once('*') {
        Some((word, times)) => vec![word.to_owned(); times.parse().unwrap()],
        None => vec![word.to_owned()],
    };
    bare.split_whitespace().flat_map(times).collect()
}

/// Replays a session and renders it with what became due; repeated words are folded.
fn played(session: &str, settings: &TriggerSettings) -> String {
    let mut state = TriggerState::default();
    let mut folded: Vec<(String, usize)> = Vec::new();
    for (number, word) in words(session).iter().enumerate() {
        let event = event(number, word.trim_start_matches('!'));
        // Every state survives a restart.
        state = TriggerState::from_bytes(&state.to_bytes());
        let due = state.process_event(&TriggerEvent::from_draft(&event), settings);
        if let Some(due) = due.as_ref().filter(|_| word.starts_with('!')) {
            state.mark_missed(due, settings);
        }
        let word = match due {
            Some(due) => format!("{word}[{}]", describe(&due)),
            None => word.clone(),
        };
        match folded.last_mut() {
            Some((last, times)) if *last == word && !word.contains('[') => *times += 1,
            _ => folded.push((word, 1)),
        }
    }
    let mut out = String::new();
    for (word, times) in folded {
        let space = if out.is_empty() { "" } else { " " };
        match times {
            1 => write!(out, "{space}{word}").unwrap(),
            _ => write!(out, "{space}{word}*{times}").unwrap(),
        }
    }
    out
}

/// Replays each line; the result must be the line itself.
fn check(sessions: &str) {
    check_with(&TriggerSettings::default(), sessions);
}

fn check_with(settings: &TriggerSettings, sessions: &str) {
    for session in sessions.lines().map(str::trim).filter(|line| !line.is_empty()) {
        assert_eq!(played(session, settings), session);
    }
}

/// Returns what is due after a single call in a new session.
fn due_of(name: &str, input: Value) -> Option<DueInjection> {
    TriggerState::default().process_event(
        &TriggerEvent::from_draft(&call(1, name, input)),
        &TriggerSettings::default(),
    )
}

/// Whether a draft is a prompt of the user.
fn is_prompt(draft: &Draft) -> bool {
    draft.role == Role::User && !texts::is_own_text(&draft.text)
}
