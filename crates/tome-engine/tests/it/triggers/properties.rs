//! Properties of every session.

use proptest::prelude::*;
use serde_json::{Value, json};
use tome_engine::triggers::{
    DueInjection, STATE_BYTES_MAX, StoreReason, TriggerEvent, TriggerSettings, TriggerState,
};
use tome_model::{Draft, EventKind, Identity, Millis};

use super::{call, draft, event, is_prompt};

const WORDS: [&str; 32] = [
    "prompt",
    "prompt",
    "prompt",
    "angry",
    "nudge",
    "todo:5",
    "todo:6",
    "todo:9",
    "task:1",
    "task:2",
    "task:3",
    "told:3",
    "task:4",
    "told:5",
    "task:6",
    "done:1",
    "read",
    "read",
    "read",
    "edit",
    "edit",
    "fail",
    "lesson",
    "overview",
    "plan:7",
    "stop",
    "stop",
    "stop-plan:7",
    "stop-again",
    "stop-failed",
    "compact",
    "clear",
];

fn sessions() -> impl Strategy<Value = Vec<Draft>> {
    let runs = prop::collection::vec((prop::sample::select(&WORDS[..]), 1usize..5), 0..20);
    runs.prop_map(|runs| {
        let words: Vec<&str> =
            runs.into_iter().flat_map(|(word, times)| vec![word; times]).collect();
        words.iter().enumerate().map(|(number, word)| event(number, word)).collect()
    })
}

fn dues(session: &[Draft]) -> Vec<Option<DueInjection>> {
    let mut state = TriggerState::default();
    session
        .iter()
        .map(|draft| {
            state.process_event(&TriggerEvent::from_draft(draft), &TriggerSettings::default())
        })
        .collect()
}

fn is_long_plan(draft: &Draft) -> bool {
    let listed = draft.tool.as_ref().and_then(|tool| tool.input["todos"].as_array());
    let task = draft.tool.as_ref().is_some_and(|tool| tool.name == "TaskCreate");
    let told = draft.meta.contains_key("event");
    listed.is_some_and(|todos| todos.len() > 5) || task || told || draft.text.contains("7. ")
}

fn is_failed(draft: &Draft) -> bool {
    draft.meta.contains_key("failed")
}

/// An independent count of what happened since the last store or store request. Every task counts
/// as a long plan here; other tests cover which of them make one.
#[derive(Default)]
struct Stretch {
    calls: u32,
    edits: u32,
    planned: bool,
    angry: bool,
}

impl Stretch {
    fn allows(&self, why: StoreReason) -> bool {
        match why {
            StoreReason::Plan => self.planned && self.calls > 0,
            StoreReason::Work { tool_calls } => {
                tool_calls >= 10 && self.calls >= tool_calls && self.edits > 0
            }
            StoreReason::Frustration => self.angry && self.calls > 0,
        }
    }

    fn take(&mut self, draft: &Draft) {
        let name = draft.tool.as_ref().map_or("", |tool| tool.name.as_str());
        if name.ends_with("coder_memory_store") {
            // A plan that was only proposed is still ahead.
            *self = Self { planned: self.planned, ..Self::default() };
            return;
        }
        self.calls += u32::from(!name.is_empty());
        self.edits += u32::from(name == "Edit" && !is_failed(draft));
        self.planned |= is_long_plan(draft);
        self.angry |= draft.text.starts_with("wtf");
    }
}

proptest! {
    #[test]
    fn at_most_one_replan_per_loop(session in sessions()) {
        let mut replanned = false;
        for (draft, due) in session.iter().zip(dues(&session)) {
            replanned &= !is_prompt(draft);
            if let Some(DueInjection::Replan { .. }) = due {
                prop_assert!(!replanned, "{draft:?}");
                replanned = true;
            }
        }
    }

    #[test]
    fn every_store_request_has_a_new_reason(session in sessions()) {
        let mut stretch = Stretch::default();
        let mut proposed = false;
        for (draft, due) in session.iter().zip(dues(&session)) {
            stretch.take(draft);
            proposed |= draft.text.contains("7. ");
            if let Some(DueInjection::Store { why, frustrated }) = due {
                prop_assert!(stretch.allows(why), "{why:?} at {draft:?}");
                prop_assert!(stretch.angry || !frustrated);
                stretch = Stretch { planned: proposed, ..Stretch::default() };
                proposed = false;
            }
        }
    }

    #[test]
    fn nothing_is_due_at_events_that_accept_no_text(session in sessions()) {
        for (draft, due) in session.iter().zip(dues(&session)) {
            let fits = match due {
                None => true,
                Some(DueInjection::Store { .. }) => {
                    draft.kind == EventKind::AssistantStop
                        && !draft.meta.contains_key("stop_hook_active")
                        && !is_failed(draft)
                }
                Some(DueInjection::Replan { .. } | DueInjection::Overview { .. }) => {
                    is_prompt(draft) || draft.kind == EventKind::ToolResult && !is_failed(draft)
                }
            };
            prop_assert!(fits, "{due:?} at {draft:?}");
        }
    }

    #[test]
    fn a_restart_changes_nothing(session in sessions()) {
        let (mut kept, mut read) = (TriggerState::default(), TriggerState::default());
        for draft in &session {
            read = TriggerState::from_bytes(&read.to_bytes());
            let settings = TriggerSettings::default();
            let seen = TriggerEvent::from_draft(draft);
            prop_assert_eq!(kept.process_event(&seen, &settings), read.process_event(&seen, &settings));
            prop_assert_eq!(&kept, &read);
        }
    }

    #[test]
    fn a_repeated_event_changes_nothing(session in sessions(), back in 0usize..20) {
        let mut state = TriggerState::default();
        for (at, draft) in session.iter().enumerate() {
            state.process_event(&TriggerEvent::from_draft(draft), &TriggerSettings::default());
            let before = state.clone();
            let again = &session[at.saturating_sub(back)];
            prop_assert_eq!(state.process_event(&TriggerEvent::from_draft(again), &TriggerSettings::default()), None);
            prop_assert_eq!(&state, &before);
        }
    }

    #[test]
    fn a_subagents_work_changes_nothing(session in sessions(), other in sessions()) {
        let memory = |draft: &Draft| {
            draft.tool.as_ref().is_some_and(|tool| tool.name.contains("memory"))
        };
        let mut mixed: Vec<Draft> = Vec::new();
        let mut inner = other.iter().filter(|draft| !memory(draft)).cycle();
        for draft in &session {
            mixed.push(draft.clone());
            if let Some(inner) = inner.next() {
                let mut inner = inner.clone();
                inner.identity = Identity::ByText(format!("inner {}", mixed.len()));
                inner.meta.insert("subagent".to_owned(), json!("w1"));
                mixed.push(inner);
            }
        }
        let due: Vec<DueInjection> = dues(&session).into_iter().flatten().collect();
        let mixed_due: Vec<DueInjection> = dues(&mixed).into_iter().flatten().collect();
        prop_assert_eq!(due, mixed_due);
    }

    #[test]
    fn the_state_stays_small_for_arbitrary_input(
        calls in prop::collection::vec((tools(), inputs(), "\\PC{0,60}"), 0..8)
    ) {
        let mut state = TriggerState::default();
        for (number, (name, input, text)) in calls.into_iter().enumerate() {
            let mut one = call(number * 3, name, input.clone());
            one.tool.as_mut().unwrap().output = input;
            let stop = draft(number * 3 + 1, EventKind::AssistantStop, &text, None, json!({}));
            let prompt = draft(number * 3 + 2, EventKind::UserMessage, &text, None, json!({}));
            for draft in [one, stop, prompt] {
                let due = state.process_event(&TriggerEvent::from_draft(&draft), &TriggerSettings::default());
                if let Some(DueInjection::Replan { about }) = due {
                    let plain = about.chars().all(|c| c == '\n' || !c.is_control());
                    prop_assert!(plain && about.len() <= 1_000);
                }
            }
        }
        let bytes = state.to_bytes();
        prop_assert!(bytes.len() <= STATE_BYTES_MAX);
        prop_assert_eq!(&TriggerState::from_bytes(&bytes), &state);
    }

    #[test]
    fn arbitrary_bytes_decode_to_a_state(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0usize..400) {
        TriggerState::from_bytes(&bytes);
        let mut state = TriggerState::default();
        state.process_event(&TriggerEvent::from_draft(&event(1, "todo:6")), &TriggerSettings::default());
        let whole = state.to_bytes();
        let torn = &whole[..cut.min(whole.len() - 1)];
        prop_assert_eq!(TriggerState::from_bytes(torn), TriggerState::default());
    }
}

fn tools() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "TodoWrite",
        "update_plan",
        "sql",
        "TaskCreate",
        "TaskUpdate",
        "ExitPlanMode",
        "Edit",
        "Bash",
        "mcp__tome__memory_write",
        "mcp__tome__coder_memory_store",
        "",
        "__",
    ])
}

fn inputs() -> impl Strategy<Value = Value> {
    let text = prop_oneof![
        "\\PC{0,80}",
        "(INSERT INTO todos|UPDATE todos SET status='done'|[(),';]| VALUES | WHERE |[a-z]){0,30}",
        "([0-9]{1,4}[.) ] ?|#|\\*\\*|- \\[.\\]|\n| |[a-zé]){0,60}",
        "[\"\\\\\u{1b}\u{0}]{0,300}",
    ];
    let list = prop::collection::vec(text.clone().prop_map(Value::from), 0..12);
    let keys = prop::sample::select(vec![
        "todos", "plan", "query", "subject", "taskId", "status", "path", "command", "task", "scope",
    ]);
    let value = prop_oneof![
        text.clone().prop_map(Value::from),
        list.prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        Just(Value::Null),
    ];
    let map = prop::collection::vec((keys, value), 0..4)
        .prop_map(|fields| fields.into_iter().map(|(k, v)| (k.to_owned(), v)).collect());
    prop_oneof![text.prop_map(Value::from), map]
}

#[test]
fn huge_plans_and_endless_tasks_are_bounded() {
    let settings = TriggerSettings::default();
    let mut state = TriggerState::default();
    let long = "\"\\".repeat(500_000);
    let todos: Vec<Value> = (0..2_000).map(|n| json!({ "content": format!("part {n}") })).collect();
    for (number, input) in [
        json!({ "todos": todos }),
        json!({ "todos": vec![json!({ "content": long }); 7] }),
        json!({ "todos": long }),
        json!(long),
    ]
    .into_iter()
    .enumerate()
    {
        state.process_event(&TriggerEvent::from_draft(&event(number * 2, "prompt")), &settings);
        let due = state.process_event(
            &TriggerEvent::from_draft(&call(number * 2 + 1, "TodoWrite", input)),
            &settings,
        );
        assert_eq!(due.is_some(), number < 2, "{number}");
        assert!(state.to_bytes().len() <= STATE_BYTES_MAX);
    }
    let mut replans = 0;
    for number in 0..10_000 {
        let subject = json!({ "subject": format!("{number} {}", "\"".repeat(40)) });
        let due = state.process_event(
            &TriggerEvent::from_draft(&call(100 + number, "TaskCreate", subject)),
            &settings,
        );
        replans += usize::from(matches!(due, Some(DueInjection::Replan { .. })));
        if number % 500 == 0 {
            assert!(state.to_bytes().len() <= STATE_BYTES_MAX);
        }
    }
    assert_eq!(replans, 1);
    // Later loops still trigger, even beyond the number of tasks that are tracked.
    state.process_event(&TriggerEvent::from_draft(&event(20_000, "prompt")), &settings);
    let due = state.process_event(
        &TriggerEvent::from_draft(&call(20_001, "TaskCreate", json!({ "subject": "x" }))),
        &settings,
    );
    assert!(matches!(due, Some(DueInjection::Replan { .. })));
}

#[test]
fn a_state_of_another_version_is_reset() {
    let mut state = TriggerState::default();
    state
        .process_event(&TriggerEvent::from_draft(&event(1, "todo:6")), &TriggerSettings::default());
    assert_ne!(state, TriggerState::default());
    let mut other: Value = serde_json::from_slice(&state.to_bytes()).unwrap();
    other["version"] = json!(0);
    assert_eq!(TriggerState::from_bytes(other.to_string().as_bytes()), TriggerState::default());
    other["version"] = json!(1);
    assert_eq!(TriggerState::from_bytes(other.to_string().as_bytes()), state);
    other["unheard_of"] = json!(1);
    assert_eq!(TriggerState::from_bytes(other.to_string().as_bytes()), TriggerState::default());
    let padded = format!("{}{}", String::from_utf8(state.to_bytes()).unwrap(), " ".repeat(20_000));
    assert_eq!(TriggerState::from_bytes(padded.as_bytes()), TriggerState::default());
}

#[test]
fn the_same_prompt_without_an_id_is_one_event_within_two_seconds() {
    let settings = TriggerSettings::default();
    let prompt_at = |at: u64| {
        let mut prompt = event(1, "prompt");
        prompt.identity = Identity::ByText("go on".to_owned());
        prompt.at = Millis(1_794_735_000_000 + at);
        prompt
    };
    let mut state = TriggerState::default();
    state.process_event(&TriggerEvent::from_draft(&event(2, "todo:6")), &settings);
    state.process_event(&TriggerEvent::from_draft(&prompt_at(0)), &settings);
    let after = |state: &mut TriggerState, number| {
        state
            .process_event(&TriggerEvent::from_draft(&event(number, "todo:6")), &settings)
            .is_some()
    };
    assert!(after(&mut state, 3));
    state.process_event(&TriggerEvent::from_draft(&prompt_at(1_500)), &settings);
    assert!(!after(&mut state, 4), "the same prompt, seen by two hooks");
    state.process_event(&TriggerEvent::from_draft(&prompt_at(60_000)), &settings);
    assert!(after(&mut state, 5), "repeated later");
}
