//! Failures between a chat and its model: clear messages with a next step, and nothing is lost.

use serde_json::json;
use tome_testkit::{ModelServer, ScriptedAnswer, World};

use crate::chat::at;
use crate::chat_model::{BOTH, chat, check_calls, configured, last};
use crate::support::{list, texts, world};

/// A prompt fails; then the model works again, and the resumed chat still has the prompt.
fn check_failure(provider: &str, broken: &ScriptedAnswer, kind: &str, hint: &str) {
    let broken = broken.clone();
    let server = ModelServer::directed(move |request| {
        if last(request).contains("better now?") {
            ScriptedAnswer::text("Mended.")
        } else {
            broken.clone()
        }
    });
    let world = configured(&server, provider, "timeout = \"30s\"");
    let failed = chat(&world, &["-p", "--json", "--session", "s", "find the marmot"], "");
    let lines = failed.json_lines();
    let error = lines.iter().find(|line| line["type"] == "error");
    let error = error.unwrap_or_else(|| panic!("{kind}: no error in {lines:?}"));
    assert_eq!((failed.code, &error["kind"]), (1, &kind.into()), "{error}");
    assert!(error["hint"].as_str().unwrap().contains(hint), "{error}");
    let plain = chat(&world, &["-p", "--session", "t", "find the marmot"], "");
    assert!(plain.code == 1 && plain.stdout.is_empty(), "{plain:?}");
    assert!(plain.stderr.contains("error: ") && plain.stderr.contains("hint: "), "{plain:?}");
    let mended = chat(&world, &["-p", "--resume", "s", "better now?"], "");
    assert_eq!((mended.code, mended.stdout.as_str()), (0, "Mended.\n"), "{mended:?}");
    let requests = server.requests();
    assert!(requests.last().unwrap().body.to_string().contains("find the marmot"));
    check_calls(requests.last().unwrap());
}

#[test]
fn a_rejected_key_is_reported() {
    let answer = ScriptedAnswer::status(401, "invalid x-api-key");
    for provider in BOTH {
        check_failure(provider, &answer, "unauthorized", "chat.key_env");
    }
}

#[test]
fn an_unknown_model_is_reported() {
    let answer = ScriptedAnswer::status(404, "model: small does not exist");
    for provider in BOTH {
        check_failure(provider, &answer, "not_found", "--model NAME");
    }
}

#[test]
fn a_context_over_the_limit_is_reported() {
    let answer = ScriptedAnswer::status(400, "prompt is too long: 300000 tokens > 200000 maximum");
    for provider in BOTH {
        check_failure(provider, &answer, "context_too_long", "chat.window_tokens");
    }
}

#[test]
fn an_endpoint_that_is_not_a_model_is_reported() {
    let answer = ScriptedAnswer::http(200, "<html>welcome</html>");
    check_failure("openai", &answer, "broken_off", "chat.base_url");
}

#[test]
fn an_unreachable_model_is_reported() {
    let server = ModelServer::start([]);
    let world = configured(&server, "openai", "");
    drop(server);
    let ran = chat(&world, &["-p", "--session", "s", "anybody there?"], "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.stderr.contains("cannot be reached") && ran.stderr.contains("--offline"),
        "{ran:?}"
    );
    assert_eq!(
        texts(&list(&world, &["--session", "s", "--kind", "user_message"])),
        ["anybody there?"]
    );
    // The script works in the same chat.
    let offline =
        World::run(&mut at(&world, &["chat", "--offline", "--resume", "s", "I am Ada"]), b"");
    assert!(offline.stdout.contains("Name: Ada"), "{offline:?}");
}

#[test]
fn an_exhausted_daily_budget_stops_requests() {
    let server = ModelServer::directed(|_| ScriptedAnswer::text("Hello."));
    let world = configured(&server, "anthropic", "[summarizer]\ndaily_tokens = 50");
    let ran = chat(&world, &["-p", "hello"], "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("tokens are spent"), "{ran:?}");
    assert!(ran.stderr.contains("tome config set summarizer.daily_tokens"), "{ran:?}");
    assert!(server.requests().is_empty(), "nothing was asked that cannot be paid");
}

#[test]
fn settings_that_cannot_work_are_reported_before_a_request() {
    let server = ModelServer::start([]);
    let world = configured(&server, "anthropic", "key_file = \"nowhere.key\"");
    let ran = chat(&world, &["-p", "hello"], "");
    assert!(ran.code == 2 && ran.stderr.contains("nowhere.key"), "{ran:?}");
}

#[test]
fn invalid_tool_calls_are_reported_to_the_model() {
    for provider in BOTH {
        let server = ModelServer::directed(|request| {
            check_calls(request);
            let last = last(request);
            if last.contains("do something") {
                ScriptedAnswer::text("Let me see.")
                    .and_call_with("read_file", "{\"path\": ")
                    .and_call("launch_rocket", &json!({}))
                    .and_call("read_file", &json!({"path": "../../etc/passwd"}))
            } else {
                for part in
                    ["not a JSON object", "there is no tool", "list_files", "outside the project"]
                {
                    assert!(last.contains(part), "{part} in {last}");
                }
                ScriptedAnswer::text("Three times no.")
            }
        });
        let world = configured(&server, provider, "");
        let ran = chat(&world, &["do something", "--no-reflect"], "");
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (0, "Let me see.\nThree times no.\n"),
            "{ran:?}"
        );
        assert_eq!(ran.stderr.matches('✗').count(), 3, "{}", ran.stderr);
    }
}

#[test]
fn endless_tool_calls_are_stopped_after_the_round_limit() {
    let server = ModelServer::directed(|request| {
        if last(request).contains("stop now") {
            ScriptedAnswer::text("Stopped.")
        } else {
            ScriptedAnswer::call("list_files", &json!({}))
        }
    });
    let world = configured(&server, "openai", "");
    let ran = chat(&world, &["--rounds", "3", "--session", "s", "--no-reflect", "work"], "");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("stopped after 3 rounds of tool calls"), "{}", ran.stderr);
    assert_eq!(server.requests().len(), 3);
    let resumed = chat(&world, &["-p", "--resume", "s", "stop now"], "");
    assert_eq!(resumed.stdout, "Stopped.\n", "{resumed:?}");
    server.requests().iter().for_each(check_calls);
}

#[test]
fn a_truncated_or_refused_reply_is_reported() {
    for (answer, word) in [
        (ScriptedAnswer::text("Once upon").cut_off(), "say `go on`"),
        (ScriptedAnswer::text("I would rather not.").refused(), "rephrase the prompt"),
    ] {
        let server = ModelServer::directed(move |_| answer.clone());
        let world = configured(&server, "anthropic", "");
        let ran = chat(&world, &["--no-reflect", "tell me"], "");
        assert!(ran.stderr.contains(word), "{ran:?}");
    }
}

#[test]
fn hints_name_the_settings_in_effect() {
    for (status, keys) in [
        (401, ["summarizer.key_env", "summarizer.key_file"]),
        (404, ["summarizer.model", "summarizer.base_url"]),
    ] {
        let server = ModelServer::directed(move |_| ScriptedAnswer::status(status, "no"));
        let world = world();
        let url = server.openai_url();
        world.write(
            "config.toml",
            &format!("[summarizer]\nkind = \"openai\"\nmodel = \"small\"\nbase_url = \"{url}\"\n"),
        );
        let ran = chat(&world, &["-p", "hello"], "");
        assert_eq!(ran.code, 1, "{ran:?}");
        for key in keys {
            assert!(ran.stderr.contains(key), "{key} in {ran:?}");
        }
    }
}
