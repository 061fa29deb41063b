//! Interrupted reflections, unavailable models, and a shared budget.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use tome_proto::v1;
use tome_testkit::{ModelServer, ScriptedAnswer, World, eventually};

use crate::notes_cli::{memory, memory_json};
use crate::reflect::{configure, configured, done, reflections, restart, session, writes_fact};
use crate::support::{in_parallel, status, world};

fn wait_for_requests(server: &ModelServer, times: usize) {
    eventually("a question", || (server.requests().len() >= times).then_some(()));
}

/// Killed between two replies: written notes are complete, and it is retried once.
#[test]
fn a_killed_reflection_is_retried_once() {
    let mut count = 0;
    let server = ModelServer::directed(move |_| {
        count += 1;
        match count {
            1 => writes_fact(),
            2 => ScriptedAnswer::silence(),
            _ => ScriptedAnswer::text("all of it is known"),
        }
    });
    let world = configured(&server, "anthropic", "");
    session(&world, "s1", "first");
    wait_for_requests(&server, 2);
    world.kill_daemon();
    let fact = memory(&world, &["read", "facts/user.md"]);
    assert!(fact.contains("- Name: Zhang San"), "{fact}");
    done(&world, 1);
    let again = server.requests()[2].body.to_string();
    assert!(again.contains("(first-1)") && again.contains("discusses in Chinese"), "{again}");
    assert_eq!(memory_json(&world, &["list"]).len(), 1);
}

/// Killed twice: given up and reported; still possible by command.
#[test]
fn a_reflection_killed_twice_is_given_up() {
    let mut count = 0;
    let server = ModelServer::directed(move |_| {
        count += 1;
        if count <= 2 { ScriptedAnswer::silence() } else { ScriptedAnswer::text("none") }
    });
    let world = configured(&server, "openai", "");
    session(&world, "s1", "first");
    for times in 1..=2 {
        wait_for_requests(&server, times);
        world.kill_daemon();
        assert_eq!(world.tome(&["start"]).code, 0);
    }
    let left = eventually("a session left alone", || {
        let left = reflections(&world)["left"].clone();
        (left != json!([])).then_some(left)
    });
    assert_eq!(left[0]["session_id"], "s1");
    assert!(left[0]["why"].as_str().unwrap().contains("twice"), "{left}");
    assert_eq!(server.requests().len(), 2);
    let status = world.tome(&["status"]).stdout;
    assert!(
        status.contains("gave up on 1 session") && status.contains("tome reflect s1"),
        "{status}"
    );
    let doctor = world.tome(&["doctor"]).stdout;
    assert!(doctor.contains("gave up on 1 session after two attempts"), "{doctor}");
    assert_eq!(world.tome(&["reflect", "s1"]).code, 0);
    assert_eq!(reflections(&world)["left"], json!([]));
}

fn budget(tokens: u64) -> String {
    format!("[summarizer]\ndaily_tokens = {tokens}")
}

fn failure(world: &World) -> Value {
    eventually("a failure", || {
        let seen = reflections(world);
        (seen["failure"] != "").then_some(seen)
    })
}

/// When the budget runs out midway, written notes stay, and a raised budget is used once.
#[test]
fn a_budget_exhausted_midway_keeps_written_notes() {
    let server = ModelServer::start([
        writes_fact().with_tokens(190_000, 5_000),
        ScriptedAnswer::text("all of it is known"),
    ]);
    let world = configured(&server, "anthropic", &budget(200_000));
    session(&world, "s1", "first");
    let seen = failure(&world);
    assert!(seen["failure"].as_str().unwrap().contains("of today's 200000 tokens"), "{seen}");
    assert!(memory(&world, &["read", "facts/user.md"]).contains("Zhang San"));
    assert_eq!(server.requests().len(), 1);
    configure(&world, &server, "anthropic", &budget(900_000));
    restart(&world);
    done(&world, 1);
    assert_eq!(server.requests().len(), 2);
    assert_eq!(status(&world)["daemon"]["model"]["tokens"], 195_120);
}

/// With an exhausted budget nothing is sent, neither now nor at the single retry.
#[test]
fn an_exhausted_budget_defers_the_reflection() {
    let server = ModelServer::start([ScriptedAnswer::text("none")]);
    let world = configured(&server, "anthropic", &budget(10));
    session(&world, "s1", "first");
    let seen = failure(&world);
    assert_eq!((&seen["waiting"], &seen["left"]), (&json!(1), &json!([])), "{seen}");
    configure(&world, &server, "anthropic", &budget(20));
    restart(&world);
    let left = eventually("a session left alone", || {
        let left = reflections(&world)["left"].clone();
        (left != json!([])).then_some(left)
    });
    assert!(left[0]["why"].as_str().unwrap().contains("of today's 20 tokens"), "{left}");
    assert!(server.requests().is_empty());
}

/// Several processes reserve from one budget and never exceed it together.
#[test]
fn all_processes_share_one_budget() {
    let server = ModelServer::start([]);
    let world = configured(&server, "anthropic", &budget(10_000));
    assert_eq!(world.tome(&["start"]).code, 0);
    let granted: u64 = std::thread::scope(|scope| {
        let process = || {
            world.with_client(async |client| {
                let mut granted = 0;
                for _ in 0..20 {
                    let wanted = v1::ReserveRequest { input_tokens: 300, output_tokens_max: 100 };
                    let answer = client.reserve_tokens(wanted).await.unwrap();
                    granted += if answer.over_budget.is_some() { 0 } else { 400 };
                }
                granted
            })
        };
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(process)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert_eq!(granted, 10_000);
    // Nothing is left for the daemon itself.
    session(&world, "s1", "first");
    assert!(failure(&world)["failure"].as_str().unwrap().contains("10000 of today's 10000 tokens"));
    assert!(server.requests().is_empty());
}

/// Tokens spent by another process are counted, shown, and kept across a restart.
#[test]
fn tokens_spent_by_others_are_counted_and_kept() {
    let server = ModelServer::start([]);
    let world = configured(&server, "anthropic", &budget(10_000));
    assert_eq!(world.tome(&["start"]).code, 0);
    world.with_client(async |client| {
        let wanted = v1::ReserveRequest { input_tokens: 3_000, output_tokens_max: 1_000 };
        let reserved = client.reserve_tokens(wanted).await.unwrap();
        assert_eq!(client.get_token_usage().await.unwrap().tokens_left, 6_000);
        let spent = v1::SettleRequest {
            id: reserved.id,
            input_tokens: 3_000,
            output_tokens_max: 1_000,
            input_tokens_spent: 2_500,
            output_tokens_spent: 250,
            failure: String::new(),
        };
        client.settle_tokens(spent).await.unwrap();
        assert_eq!(client.get_token_usage().await.unwrap().tokens_left, 7_250);
    });
    world.kill_daemon();
    assert_eq!(world.tome(&["start"]).code, 0);
    let model = status(&world)["daemon"]["model"].clone();
    assert_eq!((&model["calls"], &model["tokens"]), (&json!(1), &json!(2_750)), "{model}");
    assert!(world.tome(&["status"]).stdout.contains("2,750 of 10,000 tokens"));
}

#[test]
fn without_a_model_the_message_explains_how_to_configure_one() {
    let world = world();
    session(&world, "s1", "first");
    let ran = world.tome(&["reflect"]);
    assert_eq!(ran.code, 1);
    assert!(
        ran.stderr.contains("chat.provider") && ran.stderr.contains("tome config"),
        "{}",
        ran.stderr
    );
    assert_eq!(reflections(&world), Value::Null);
}

#[test]
fn settings_that_cannot_work_are_reported() {
    let cases = [
        ("[chat]\nprovider = \"anthropic\"", "chat.model is not set"),
        ("[chat]\nbase_url = \"http://127.0.0.1:1\"", "chat.provider is not set"),
        ("[chat]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"nowhere\"", "the base URL"),
        ("[chat]\nprovider = \"openai\"\nmodel = \"m\"\nkey_file = \"none.txt\"", "none.txt"),
        (
            "[chat]\nprovider = \"openai\"\nmodel = \"m\"\nkey_file = \"k\"\nkey_env = \"K\"",
            "chat.key_env and chat.key_file are both set",
        ),
    ];
    for (settings, message) in cases {
        let world = world();
        world.write("config.toml", settings);
        let ran = world.tome(&["reflect"]);
        assert_eq!(ran.code, 1, "{settings}: {}", ran.stderr);
        assert!(ran.stderr.contains(message), "{settings}: {}", ran.stderr);
        assert!(world.tome(&["status"]).stdout.contains(message), "{settings}");
    }
    for (settings, message) in [
        ("provider = \"mystery\"", "use anthropic, openai or none"),
        ("price_input = \"cheap\"", "a price per million tokens"),
        ("window_tokens = 5", "number of tokens"),
    ] {
        let world = world();
        world.write("config.toml", &format!("[chat]\n{settings}"));
        let ran = world.tome(&["config"]);
        assert_eq!(ran.code, 2, "{settings}");
        assert!(ran.stderr.contains(message), "{settings}: {}", ran.stderr);
    }
}

/// The summarizer's endpoint also serves chats unless configured otherwise.
#[test]
fn the_summarizers_model_is_the_default() {
    let server = ModelServer::directed(|_| ScriptedAnswer::text("none"));
    let world = world();
    let summarizer = format!(
        "[summarizer]\nkind = \"openai\"\nmodel = \"small\"\nbase_url = \"{}\"\n",
        server.openai_url()
    );
    world.write("config.toml", &summarizer);
    session(&world, "s1", "first");
    done(&world, 1);
    let model = status(&world)["daemon"]["model"].clone();
    assert_eq!(
        (&model["name"], &model["chat_name"]),
        (&json!("openai/small"), &json!("openai/small"))
    );
    world.write(
        "config.toml",
        &format!("{summarizer}[chat]\nmodel = \"large\"\nprice_input = 0.25\n"),
    );
    restart(&world);
    let looked = world.tome(&["reflect", "--dry-run", "--json"]).json();
    assert_eq!(looked["model"], "openai/large");
    world.write("config.toml", &format!("{summarizer}[chat]\nprovider = \"none\"\n"));
    restart(&world);
    assert_eq!(world.tome(&["reflect"]).code, 1);
}

/// The key is sent to its endpoint and shown nowhere; a wrong one is reported.
#[test]
fn a_wrong_key_is_reported_but_not_shown() {
    let server =
        ModelServer::directed(|_| ScriptedAnswer::status(401, "invalid x-api-key k-secret-123456"));
    let world = world();
    world.write(
        "config.toml",
        &format!(
            "[chat]\nprovider = \"anthropic\"\nmodel = \"m\"\nbase_url = \"{}\"\nkey_file = \"key.txt\"\n",
            server.url()
        ),
    );
    let file = world.write("home/key.txt", "k-secret-123456\n");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    session(&world, "s1", "first");
    let seen = failure(&world);
    assert!(seen["failure"].as_str().unwrap().contains("rejected the API key"), "{seen}");
    assert_eq!(server.requests()[0].header("x-api-key"), Some("k-secret-123456"));
    let log = std::fs::read_to_string(world.home().join("run/daemon.log")).unwrap();
    let book = std::fs::read_to_string(world.home().join("run/reflections.json")).unwrap();
    let shown =
        format!("{log}{book}{}{}", world.tome(&["status"]).stdout, world.tome(&["doctor"]).stdout);
    assert!(!shown.contains("k-secret-123456"), "{shown}");
}

/// An expired key or a missing model is waited for: no model has seen the session.
#[test]
fn a_failure_before_any_model_is_not_an_attempt() {
    in_parallel([401, 404, 503], |status| {
        let server = ModelServer::directed(move |_| ScriptedAnswer::status(status, "not today"));
        let world = configured(&server, "anthropic", "");
        session(&world, "s1", "first");
        let seen = failure(&world);
        assert_eq!((&seen["waiting"], &seen["left"]), (&json!(1), &json!([])), "{seen}");
        let book = std::fs::read_to_string(world.home().join("run/reflections.json")).unwrap();
        let book: Value = serde_json::from_str(&book).unwrap();
        assert_eq!(book["sessions"][0]["tries"], 0, "{status}: {book}");
    });
}
