//! Cancellation, timeouts and retries of a reply.

use std::sync::Arc;
use std::time::Duration;

use tome_llm::{
    CancelToken, ChatModel, ChatResponse, MeterState, Metered, ModelEndpoint, ModelFailure, Retry,
    Retrying, ScriptedChat, StreamEvent, TokenMeter,
};
use tome_testkit::{ScriptedAnswer, eventually};

use crate::chat::{BOTH, ask, chat_request};
use crate::server::Server;

fn retry(attempts: u32) -> Retry {
    Retry { attempts, base: Duration::from_millis(1), seed: 1 }
}

fn down() -> ModelFailure {
    ModelFailure::Unreachable { message: "gone".to_owned() }
}

/// The endpoint would wait for minutes; the call returns as soon as it is cancelled, and the server
/// sees the connection close.
#[test]
fn cancelling_ends_a_reply_at_any_point() {
    for protocol in BOTH {
        for answer in
            [ScriptedAnswer::silence(), ScriptedAnswer::text("one two three").silent_after(4)]
        {
            let server = Server::start(vec![answer]);
            let endpoint = ModelEndpoint { timeout: Duration::from_secs(600), ..server.endpoint() };
            let model = protocol.model(&endpoint);
            let stop = CancelToken::default();
            let failure = std::thread::scope(|scope| {
                let asking = scope.spawn(|| model.reply(&chat_request(), &mut |_| {}, &stop));
                eventually("a request", || (!server.requests().is_empty()).then_some(()));
                stop.cancel();
                asking.join().unwrap().unwrap_err()
            });
            assert_eq!(failure, ModelFailure::Cancelled);
            eventually("the hang-up", || (server.model.disconnects() == 1).then_some(()));
        }
    }
}

#[test]
fn cancelling_from_the_callback_keeps_received_events() {
    for protocol in BOTH {
        let server = Server::start(vec![ScriptedAnswer::text("one two three").silent_after(5)]);
        let endpoint = ModelEndpoint { timeout: Duration::from_secs(600), ..server.endpoint() };
        let (stop, mut streamed) = (CancelToken::default(), String::new());
        let mut on_event = |piece: StreamEvent<'_>| {
            if let StreamEvent::Text(text) = piece {
                streamed.push_str(text);
                stop.cancel();
            }
        };
        let failure =
            protocol.model(&endpoint).reply(&chat_request(), &mut on_event, &stop).unwrap_err();
        assert_eq!(failure, ModelFailure::Cancelled);
        assert!(streamed.starts_with("one "), "{streamed}");
    }
}

#[test]
fn cancelling_before_the_call_sends_nothing() {
    for protocol in BOTH {
        let server = Server::start(Vec::new());
        let stop = CancelToken::default();
        stop.cancel();
        let reply = protocol.model(&server.endpoint()).reply(&chat_request(), &mut |_| {}, &stop);
        assert_eq!(reply.unwrap_err(), ModelFailure::Cancelled);
        assert!(server.requests().is_empty());
    }
}

#[test]
fn a_silent_endpoint_times_out() {
    let short = Duration::from_millis(500);
    let silences =
        || [ScriptedAnswer::silence(), ScriptedAnswer::text("one two three").silent_after(4)];
    std::thread::scope(|scope| {
        for (protocol, answer) in BOTH.into_iter().flat_map(|one| silences().map(|two| (one, two)))
        {
            scope.spawn(move || {
                let server = Server::start(vec![answer]);
                let endpoint = ModelEndpoint { timeout: short, ..server.endpoint() };
                let failure = ask(&*protocol.model(&endpoint), &chat_request()).0.unwrap_err();
                assert_eq!(failure, ModelFailure::TimedOut { after: short });
                eventually("the hang-up", || (server.model.disconnects() == 1).then_some(()));
            });
        }
    });
}

/// The timeout applies to silence, so a stream that takes longer overall is read to its end.
#[test]
fn a_slow_stream_does_not_time_out() {
    let timeout = Duration::from_secs(3);
    let words = "word ".repeat(130);
    std::thread::scope(|scope| {
        for protocol in BOTH {
            let words = &words;
            scope.spawn(move || {
                // More than 130 chunks, with a pause before each.
                let slow = ScriptedAnswer::text(words.clone()).slowly(Duration::from_millis(25));
                let server = Server::start(vec![slow]);
                let endpoint = ModelEndpoint { timeout, ..server.endpoint() };
                let (reply, streamed) = ask(&*protocol.model(&endpoint), &chat_request());
                assert_eq!((&reply.unwrap().text(), &streamed), (words, words));
            });
        }
    });
}

#[test]
fn an_interrupted_reply_is_retried() {
    for protocol in BOTH {
        let server = Server::start(vec![
            ScriptedAnswer::text("one two three").broken_off_after(4),
            ScriptedAnswer::status(529, "later").header("retry-after", "0.01"),
            ScriptedAnswer::text("whole"),
        ]);
        let model =
            Retrying::new(protocol.model(&server.endpoint()), retry(3), CancelToken::default());
        let (reply, streamed) = ask(&model, &chat_request());
        assert_eq!(reply.unwrap().text(), "whole");
        let (before, after) = streamed.split_once("[again]").unwrap();
        assert!(before.starts_with("one"), "{streamed}");
        assert_eq!(after, "whole");
    }
}

#[test]
fn a_retry_before_any_text_discards_nothing() {
    let model = ScriptedChat::new([Err(down()), Ok(ChatResponse::from_text("yes"))]);
    let (reply, streamed) =
        ask(&Retrying::new(model, retry(2), CancelToken::default()), &chat_request());
    assert_eq!(reply.unwrap().text(), "yes");
    assert_eq!(streamed, "yes");
    let long = ModelFailure::ContextTooLong { message: "too long".to_owned() };
    let model = Arc::new(ScriptedChat::new([Err(long.clone())]));
    let retrying = Retrying::new(Arc::clone(&model), retry(5), CancelToken::default());
    assert_eq!(ask(&retrying, &chat_request()).0.unwrap_err(), long);
    assert_eq!(model.requests(), [chat_request()]);
}

#[test]
fn cancelling_ends_the_wait_between_attempts() {
    let stop = CancelToken::default();
    let slow = Retry { base: Duration::from_secs(50), ..retry(3) };
    let model =
        ScriptedChat::new([Err(down())]).with_text_before_failure("some words").with_chunk_size(4);
    let model = Retrying::new(model, slow, CancelToken::default());
    let mut on_event = |_: StreamEvent<'_>| {};
    std::thread::scope(|scope| {
        let asking = scope.spawn(|| model.reply(&chat_request(), &mut on_event, &stop));
        stop.cancel();
        assert_eq!(asking.join().unwrap().unwrap_err(), ModelFailure::Cancelled);
    });
}

#[test]
fn conversations_and_prompts_share_one_budget() {
    let chat_request = chat_request();
    let needed = chat_request.estimate_tokens_conservatively() + u64::from(chat_request.tokens_max);
    let meter = Arc::new(TokenMeter::new(Some(needed + 30), MeterState::default()));
    let today = || "2026-11-15".to_owned();
    let server =
        Server::start(vec![ScriptedAnswer::text("first").with_tokens(10, 5).with_cached(15, 0)]);
    for protocol in BOTH.into_iter().take(1) {
        let model = Metered::new(protocol.model(&server.endpoint()), Arc::clone(&meter), today);
        ask(&model, &chat_request).0.unwrap();
        let spent = meter.state();
        assert_eq!((spent.input_tokens, spent.output_tokens), (25, 5));
        ask(&model, &chat_request).0.unwrap_err();
    }
    let scripted = Metered::new(
        ScriptedChat::new([Err(down())]).with_text_before_failure("abcabc"),
        Arc::clone(&meter),
        today,
    );
    // Text received before the failure was billed.
    let (failure, streamed) = ask(&scripted, &chat_request);
    assert_eq!((failure.unwrap_err(), streamed.as_str()), (down(), "abcabc"));
    let reading = meter.snapshot("2026-11-15");
    assert_eq!(reading.today.output_tokens, 7);
    assert_eq!(reading.today.input_tokens, 25 + chat_request.estimate_tokens_conservatively());
    let over = ask(&scripted, &chat_request).0.unwrap_err();
    assert!(matches!(over, ModelFailure::OverBudget { .. }), "{over:?}");
    assert_eq!(server.requests().len(), 2);
}
