//! The store request: after meaningful work, once, and never in a loop.

use super::check;

#[test]
fn ten_calls_with_an_edit_count_as_work() {
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
fn the_store_request_comes_once_per_period_of_work() {
    check(
        "prompt edit*10 stop[store work 10] stop
         prompt edit*10 stop[store work 10] read*20 edit stop-again stop prompt stop
         prompt edit*10 stop[store work 10] nudge edit*20 stop prompt edit*9 stop prompt read stop[store work 10]
         prompt edit*10 stop[store work 10] prompt edit*10 stop[store work 10]",
    );
}

#[test]
fn no_store_request_at_a_stop_that_a_hook_continued() {
    check(
        "prompt edit*10 stop-again prompt stop[store work 10]
         prompt edit*10 stop-failed stop[store work 10]",
    );
}

/// Copilot's answers arrive after their stops and are not stops of their own.
#[test]
fn an_answer_after_its_stop_is_not_another_stop() {
    check(
        "prompt edit*10 stop[store work 10] answer edit*20 stop-again answer prompt stop
         prompt edit*10 answer stop[store work 10]
         prompt stop answer-plan:6 prompt[replan]",
    );
}

#[test]
fn no_store_request_after_a_store() {
    check(
        "prompt todo:6[replan] edit*10 lesson stop
         prompt edit*10 lesson edit*10 stop[store work 10]
         prompt edit*10 sub-lesson stop",
    );
}

#[test]
fn frustration_lowers_the_work_needed_for_a_store_request() {
    check(
        "prompt read stop angry read stop[store mood failure] prompt read stop
         angry stop prompt read stop[store mood failure]
         angry todo:6[replan] stop[store plan failure]
         angry read lesson stop",
    );
}
