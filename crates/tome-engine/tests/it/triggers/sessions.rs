//! Triggers over whole sessions.

use tome_engine::triggers::{TriggerEvent, TriggerSettings, TriggerState};

use super::{check, check_with, event};

#[test]
fn the_first_long_plan_of_a_loop_triggers_a_replan() {
    check(
        "prompt todo:5 todo:6[replan] todo:7 read stop[store plan]
         prompt todo:6[replan] stop[store plan] prompt todo:6[replan]
         prompt todo:5 stop
         todo:6[replan]",
    );
}

#[test]
fn tasks_are_counted_once_over_the_session() {
    check(
        "prompt task:1 task:2 task:3 task:4 task:5 task:6[replan] task:7
         prompt task:1 task:2 task:3 stop prompt task:4 task:5 task:6[replan]
         prompt told:1 task:1 told:2 task:2 told:3 task:3 told:4 task:4 told:5 task:5 told:6 task:6[replan]
         prompt task:1*7",
    );
}

#[test]
fn a_finished_list_does_not_count_toward_the_next() {
    check(
        "prompt task:1 task:2 task:3 done:1 done:2 done:3 prompt task:4 task:5 task:6 task:7
         prompt task:1 task:2 task:3 done:1 done:2 task:4 task:5 task:6[replan]",
    );
}

#[test]
fn a_replan_waits_for_an_event_that_accepts_text() {
    check(
        "prompt stop-plan:6 prompt[replan] edit stop[store plan]
         prompt stop-plan:5 prompt
         prompt plan:6 read[replan] stop[store plan]
         prompt told:1 told:2 told:3 told:4 told:5 told:6 fail read[replan]
         prompt read stop-plan:6 nudge prompt[replan]
         prompt stop-plan:6 clear prompt
         prompt stop-plan:6 compact prompt[replan]",
    );
}

#[test]
fn a_proposed_plan_counts_as_work_only_when_work_follows() {
    check(
        "prompt read stop-plan:6 prompt[replan] stop prompt read stop[store plan]
         prompt read stop-plan:6 prompt[replan] stop*2",
    );
}

#[test]
fn lists_that_are_not_plans_trigger_nothing() {
    check(
        "prompt stop-list:9 prompt
         prompt edit stop-plan:9 prompt",
    );
}

#[test]
fn subagents_trigger_nothing() {
    check(
        "prompt sub-todo:9 sub-stop sub-edit*20 stop
         prompt sub-prompt sub-stop-plan:9 prompt",
    );
}

#[test]
fn a_session_of_a_subagent_triggers_nothing() {
    let mut state = TriggerState::default();
    let mut opened = event(0, "compact");
    opened.kind = tome_model::EventKind::SubagentStart;
    opened.meta.insert("parent".to_owned(), "ses_1".into());
    let settings = TriggerSettings::default();
    assert_eq!(state.process_event(&TriggerEvent::from_draft(&opened), &settings), None);
    for (number, word) in ["prompt", "todo:9", "edit", "stop", "angry", "stop"].iter().enumerate() {
        let due =
            state.process_event(&TriggerEvent::from_draft(&event(number + 1, word)), &settings);
        assert_eq!(due, None, "{word}");
    }
}

#[test]
fn a_disabled_trigger_does_not_affect_the_others() {
    let all = TriggerSettings::default();
    check_with(
        &TriggerSettings { replan: false, ..all.clone() },
        "prompt todo:6 stop[store plan]
         prompt stop-plan:6 prompt read stop[store plan]",
    );
    check_with(
        &TriggerSettings { store: false, ..all.clone() },
        "prompt todo:6[replan] edit*20 stop",
    );
    check_with(&TriggerSettings { overview: false, ..all.clone() }, "prompt*40");
    check_with(
        &TriggerSettings { plan_steps: 3, store_tool_calls: 2, ..all },
        "prompt todo:3 todo:4[replan]
         prompt read edit stop[store work 2]",
    );
}
