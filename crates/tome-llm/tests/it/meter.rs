//! The daily token budget.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use tome_llm::{
    Budget, CallCost, CompletionRequest, CostEstimate, LanguageModel, MeterState, Metered,
    ModelFailure, ScriptedModel, TokenMeter,
};
use tome_text::estimate_tokens_conservatively;

fn prompt(input_tokens: usize, tokens_max: u32) -> CompletionRequest {
    CompletionRequest {
        user: "abc".repeat(input_tokens),
        tokens_max,
        ..CompletionRequest::default()
    }
}

fn metered(
    meter: &Arc<TokenMeter>,
    answers: Vec<Result<String, ModelFailure>>,
) -> Metered<ScriptedModel> {
    Metered::new(ScriptedModel::new(answers), meter.clone(), || "2026-11-15".to_owned())
}

#[test]
fn calls_tokens_and_failures_are_counted() {
    let meter = Arc::new(TokenMeter::new(Some(1_000), MeterState::default()));
    let model = metered(
        &meter,
        vec![
            Ok("answer".to_owned()),
            Err(ModelFailure::Unreachable { message: "gone".to_owned() }),
        ],
    );
    model.complete(&prompt(10, 50)).unwrap();
    model.complete(&prompt(10, 50)).unwrap_err();
    let reading = meter.snapshot("2026-11-15");
    let today = &reading.today;
    assert_eq!((today.calls, today.failures), (2, 1));
    assert_eq!((today.input_tokens, today.output_tokens), (10, 2));
    assert_eq!(reading.tokens_left, Some(988));
    assert_eq!(today.last_failure.as_deref(), Some("the model cannot be reached: gone"));
}

#[test]
fn a_call_that_might_exceed_the_budget_is_not_made() {
    let meter = Arc::new(TokenMeter::new(Some(100), MeterState::default()));
    let model = metered(&meter, vec![Ok("abc".repeat(30)), Ok("never".to_owned())]);
    model.complete(&prompt(10, 90)).unwrap();
    assert_eq!(
        model.complete(&prompt(10, 51)).unwrap_err(),
        ModelFailure::OverBudget { spent: 40, budget: 100, needed: 61 }
    );
    // A rejected call is not counted, and a call that still fits is allowed.
    assert_eq!(meter.snapshot("2026-11-15").today.calls, 1);
    model.complete(&prompt(10, 50)).unwrap();
}

#[test]
fn failures_that_may_be_billed_are_counted() {
    let cost_of = |failure| {
        let meter = Arc::new(TokenMeter::new(None, MeterState::default()));
        metered(&meter, vec![Err(failure)]).complete(&prompt(10, 50)).unwrap_err();
        meter.state().tokens()
    };
    assert_eq!(cost_of(ModelFailure::Truncated { tokens_max: 50 }), 60);
    assert_eq!(cost_of(ModelFailure::Refused { message: String::new() }), 10);
    assert_eq!(cost_of(ModelFailure::Unauthorized { message: String::new() }), 0);
}

#[test]
fn the_meter_resets_on_a_new_day_and_survives_a_restart() {
    let day = Arc::new(Mutex::new("2026-11-15".to_owned()));
    let meter = Arc::new(TokenMeter::new(Some(100), MeterState::default()));
    let clock = day.clone();
    let answers = vec![Ok("abc".repeat(20)); 3];
    let model = Metered::new(ScriptedModel::new(answers), meter.clone(), move || {
        clock.lock().unwrap().clone()
    });
    model.complete(&prompt(70, 20)).unwrap();
    model.complete(&prompt(70, 20)).unwrap_err();

    let kept = serde_json::to_string(&meter.state()).unwrap();
    let again = TokenMeter::new(Some(100), serde_json::from_str(&kept).unwrap());
    assert_eq!(again.snapshot("2026-11-15").tokens_left, Some(10));

    *day.lock().unwrap() = "2026-11-16".to_owned();
    model.complete(&prompt(70, 20)).unwrap();
    assert_eq!(meter.snapshot("2026-11-16").today.calls, 1);
    assert_eq!(meter.snapshot("2026-11-17").tokens_left, Some(100));
}

/// A killed client settles nothing: its reservation expires, and only the estimated input is counted. A
/// late settlement is not counted twice.
#[test]
fn unsettled_reservations_expire() {
    let day = "2026-11-15";
    let needed = CostEstimate { input_tokens: 30, output_tokens_max: 60 };
    let spent = CallCost { input_tokens: 35, output_tokens: 9, failure: None };

    let patient = TokenMeter::new(Some(100), MeterState::default());
    let reserved = patient.reserve(day, needed).unwrap();
    assert_eq!(patient.snapshot(day).tokens_left, Some(10));
    assert!(matches!(patient.reserve(day, needed), Err(ModelFailure::OverBudget { .. })));
    patient.settle(day, &reserved, &spent);
    assert_eq!(patient.snapshot(day).tokens_left, Some(56));

    let hasty =
        TokenMeter::new(Some(100), MeterState::default()).with_reservation_ttl(Duration::ZERO);
    let lost = hasty.reserve(day, needed).unwrap();
    let reading = hasty.snapshot(day);
    assert_eq!(reading.tokens_left, Some(70));
    assert_eq!((reading.today.calls, reading.today.failures), (1, 1));
    hasty.settle(day, &lost, &spent);
    let reading = hasty.snapshot(day);
    assert_eq!(reading.tokens_left, Some(56));
    assert_eq!((reading.today.calls, reading.today.failures), (1, 0));

    // The daemon restarted in between: the call is counted, and no other reservation is settled.
    let fresh = TokenMeter::new(Some(100), MeterState::default());
    let _other =
        fresh.reserve(day, CostEstimate { input_tokens: 1, output_tokens_max: 1 }).unwrap();
    fresh.settle(day, &reserved, &spent);
    assert_eq!(fresh.snapshot(day).tokens_left, Some(54));
}

#[test]
fn meter_states_of_other_versions_are_read() {
    let state: MeterState = serde_json::from_str("{\"day\":\"2026-11-15\",\"more\":1}").unwrap();
    assert_eq!(state, MeterState { day: "2026-11-15".to_owned(), ..MeterState::default() });
}

proptest! {
    #[test]
    fn a_budget_is_never_overspent(budget in 0_u64..400, calls in prop::collection::vec((0_usize..40, 0_usize..40), 1..20)) {
        let meter = Arc::new(TokenMeter::new(Some(budget), MeterState::default()));
        for (input, output) in calls {
            let model = metered(&meter, vec![Ok("abc".repeat(output))]);
            let output_max = u32::try_from(output).unwrap();
            let before = meter.state().tokens();
            let refused = model.complete(&prompt(input, output_max)).is_err();
            let needed = estimate_tokens_conservatively(&"abc".repeat(input)) + u64::from(output_max);
            prop_assert_eq!(refused, before + needed > budget);
            prop_assert!(meter.state().tokens() <= budget);
        }
    }
}
