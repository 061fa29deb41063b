//! The request to store: after meaningful work, once, and never in a circle.

use super::check;

#[test]
fn ten_calls_with_an_edit_are_work() {
    check(
        "prompt read*9 edit stop[store work 10]
         prompt read*8 edit stop
         prompt read*30 stop
         prompt read*5 edit stop prompt read*4 stop[store work 10]
         prompt read*9 fail stop
         prompt stop",
    );
}

#[test]
fn once_for_one_stretch_of_work() {
    check(
        "prompt edit*10 stop[store work 10] stop
         prompt edit*10 stop[store work 10] read*20 edit stop-again stop prompt stop
         prompt edit*10 stop[store work 10] nudge edit*20 stop prompt edit*9 stop prompt read stop[store work 10]
         prompt edit*10 stop[store work 10] prompt edit*10 stop[store work 10]",
    );
}

#[test]
fn a_stop_that_a_hook_has_already_sent_back_is_left_alone() {
    check(
        "prompt edit*10 stop-again prompt stop[store work 10]
         prompt edit*10 stop-failed stop[store work 10]",
    );
}

/// Copilot's answers come after their stops. They are no stops of their own.
#[test]
fn an_answer_that_comes_after_its_stop_is_no_other_stop() {
    check(
        "prompt edit*10 stop[store work 10] answer edit*20 stop-again answer prompt stop
         prompt edit*10 answer stop[store work 10]
         prompt stop answer-plan:6 prompt[replan]",
    );
}

#[test]
fn who_has_stored_is_not_asked() {
    check(
        "prompt todo:6[replan] edit*10 lesson stop
         prompt edit*10 lesson edit*10 stop[store work 10]
         prompt edit*10 sub-lesson stop",
    );
}

#[test]
fn frustration_makes_less_work_worth_it() {
    check(
        "prompt read stop angry read stop[store mood failure] prompt read stop
         angry stop prompt read stop[store mood failure]
         angry todo:6[replan] stop[store plan failure]
         angry read lesson stop",
    );
}
