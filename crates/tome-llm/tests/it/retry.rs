//! When failed calls are retried, and when not.

use std::time::Duration;

use serde_json::json;
use tome_llm::{
    CancelToken, LanguageModel, ModelFailure, OpenAiModel, Retry, Retrying, ScriptedModel,
};

use crate::server::{Server, answer, prompt};

fn retry(attempts: u32) -> Retry {
    Retry { attempts, base: Duration::from_millis(1), seed: 1 }
}

fn down() -> ModelFailure {
    ModelFailure::Unreachable { message: "500".to_owned() }
}

#[test]
fn a_recovering_server_is_retried() {
    let body = json!({"choices": [{"message": {"content": "back"}}]}).to_string();
    let server = Server::start(vec![
        answer(500, Vec::new(), String::new()),
        answer(429, vec![("retry-after", "0.01")], String::new()),
        answer(200, Vec::new(), body),
    ]);
    let model = OpenAiModel::new(&server.endpoint(), "small").unwrap();
    let model = Retrying::new(model, retry(3), CancelToken::default());
    assert_eq!(model.complete(&prompt()).unwrap().text, "back");
    assert_eq!(server.requests().len(), 3);
    assert_eq!(model.name(), "openai/small");
}

#[test]
fn the_last_failure_is_returned() {
    let model = ScriptedModel::new([Err(down()), Err(down()), Ok("too late".to_owned())]);
    let model = std::sync::Arc::new(model);
    let failure =
        Retrying::new(model.clone(), retry(2), CancelToken::default()).complete(&prompt());
    assert_eq!(failure.unwrap_err(), down());
    assert_eq!(model.requests().len(), 2);
}

#[test]
fn permanent_failures_are_not_retried() {
    for failure in [
        ModelFailure::Unauthorized { message: String::new() },
        ModelFailure::Truncated { tokens_max: 1 },
        ModelFailure::Malformed { message: String::new() },
        ModelFailure::BudgetUnavailable { message: String::new() },
        ModelFailure::Overloaded {
            retry_after: Some(Duration::from_secs(3_600)),
            message: String::new(),
        },
    ] {
        let model = std::sync::Arc::new(ScriptedModel::new([Err(failure.clone())]));
        let retrying = Retrying::new(model.clone(), retry(5), CancelToken::default());
        assert_eq!(retrying.complete(&prompt()).unwrap_err(), failure);
        assert_eq!(model.requests().len(), 1, "{failure:?}");
    }
}

#[test]
fn zero_attempts_means_one() {
    let model =
        Retrying::new(ScriptedModel::new([Ok("yes".to_owned())]), retry(0), CancelToken::default());
    assert_eq!(model.complete(&prompt()).unwrap().text, "yes");
}

#[test]
fn cancelling_ends_the_wait() {
    let stop = CancelToken::default();
    stop.cancel();
    let slow = Retry { base: Duration::from_secs(50), ..retry(3) };
    let model = Retrying::new(ScriptedModel::new([Err(down())]), slow, stop);
    assert_eq!(model.complete(&prompt()).unwrap_err(), ModelFailure::Cancelled);
}
