//! An injection that did not reach the agent in time is repeated once.

use super::check;

#[test]
fn a_missed_replan_comes_with_the_next_result_or_prompt() {
    check(
        "prompt !todo:6[replan] read[replan] read todo:7
         prompt !todo:6[replan] !read[replan] prompt[replan] todo:6
         prompt !todo:6[replan] stop[store plan] prompt[replan]",
    );
}

#[test]
fn a_missed_store_request_comes_at_the_next_stop() {
    check(
        "prompt edit*10 !stop[store work 10] prompt stop[store work 10] prompt stop
         prompt edit*10 !stop[store work 10] prompt read*2 stop[store work 12] prompt stop
         prompt todo:6[replan] !stop[store plan] prompt stop[store plan] prompt stop
         angry read !stop[store mood failure] prompt stop[store mood failure] prompt stop",
    );
}

/// Storing in the meantime cancels the request.
#[test]
fn a_missed_store_request_is_dropped_after_a_store() {
    check("prompt edit*10 !stop[store work 10] prompt lesson stop");
}

#[test]
fn a_missed_reminder_comes_with_the_next_event_and_counts_only_then() {
    check(
        "prompt*10 !prompt[overview 10] read[overview 10] read prompt*9 prompt[overview 20]
         prompt*10 !prompt[overview 10] !prompt[overview 11] prompt[overview 12] prompt",
    );
}
