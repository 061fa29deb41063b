//! Contents in a language model's words: closed nodes are worded in the background by whatever is
//! configured, and whatever goes wrong with it leaves the built-in words in place.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tome_testkit::{World, eventually};

use crate::contents::{lexer_session, lines, node};
use crate::scene::world;

const DAY: &str = "toc:day:2026-11-15";

/// What a good model says of the session about the lexer; one bullet is made up.
fn words() -> Value {
    json!({
        "title": "Unicode identifiers in the lexer of this project",
        "bullets": [
            {"text": "The lexer rejected identifiers such as café and now follows the XID rules"},
            {"text": "NFKC normalisation was decided against because spans would not match the source"},
            {"text": "Zebras were counted on the savannah throughout the afternoon"},
        ],
        "keywords": ["lexer", "unicode", "XID"],
    })
}

/// A server on loopback that gives these answers in order, the last one for ever.
fn server(answers: Vec<(u16, String)>) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let asked: Arc<Mutex<Vec<String>>> = Arc::default();
    let heard = Arc::clone(&asked);
    std::thread::spawn(move || {
        for (count, stream) in listener.incoming().take(100).enumerate() {
            let Ok(mut stream) = stream else { return };
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).unwrap_or(0) > 0 {}
            let length = head.lines().find_map(|line| {
                line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok()
            });
            let mut body = vec![0; length.unwrap_or(0)];
            let _ = reader.read_exact(&mut body);
            let text = format!("{head}{}", String::from_utf8_lossy(&body));
            heard.lock().unwrap().push(text);
            let (code, answer) = answers.get(count).or(answers.last()).unwrap();
            let _ = write!(
                stream,
                "HTTP/1.1 {code} x\r\nretry-after: 1\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
                answer.len()
            );
        }
    });
    (base, asked)
}

fn configured(text: &str) -> World {
    let world = world();
    world.write("config.toml", &format!("[summarizer]\n{text}\n"));
    world
}

/// Waits until the day is in the words of somebody else than the built-in summarizer.
fn worded(world: &World) -> Value {
    eventually("a worded day", || {
        let day = node(world, DAY);
        (day["summarizer"] != "extractive").then_some(day)
    })
}

fn model(world: &World) -> Value {
    world.tome(&["status", "--json"]).json()["daemon"]["model"].clone()
}

#[test]
fn a_command_words_what_is_closed() {
    let world = configured("kind = \"command\"\ncommand = \"./model.sh\"");
    let script =
        world.write("home/model.sh", &format!("#!/bin/sh\ncat >/dev/null\necho '{}'\n", words()));
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.ingest(&lexer_session("s1", 0));
    let day = worded(&world);
    assert_eq!(day["title"], words()["title"]);
    let bullets = day["bullets"].as_array().unwrap();
    assert!(!bullets[0]["grips"].as_array().unwrap().is_empty(), "{day}");
    assert_eq!(bullets[2]["unsupported"], true, "{day}");
    let versions = lines(&world, &["toc", DAY, "--versions"]);
    assert_eq!(versions.len(), 2, "the built-in words are kept: {versions:?}");
    let meter = model(&world);
    assert!(meter["tokens"].as_u64().unwrap() > 0 && meter["problem"] == "", "{meter}");
    let checked = world.tome(&["admin", "verify"]);
    assert_eq!(checked.code, 0, "{}", checked.stdout);
}

#[test]
fn anthropic_is_asked_with_its_key_and_tried_again_when_busy() {
    let answer = json!({
        "content": [{"type": "text", "text": words().to_string()}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 100, "output_tokens": 50},
    });
    let (base, asked) = server(vec![(429, "{}".to_owned()), (200, answer.to_string())]);
    let world = configured(&format!(
        "kind = \"anthropic\"\nmodel = \"some-model\"\nbase_url = \"{base}\"\nkey_env = \"MY_KEY\""
    ));
    let mut ingest = world.command(&["ingest"]);
    let ran = World::run(ingest.env("MY_KEY", "k-123"), lexer_session("s1", 0).as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(worded(&world)["summarizer"], "anthropic/some-model");
    let asked = asked.lock().unwrap();
    assert!(asked[0].contains("x-api-key: k-123") && asked[0].starts_with("POST /v1/messages"));
    let log = std::fs::read_to_string(world.home().join("run/daemon.log")).unwrap();
    assert!(!log.contains("k-123"), "{log}");
}

#[test]
fn an_endpoint_that_speaks_as_openai_does_is_enough() {
    let answer = json!({
        "choices": [{"message": {"role": "assistant", "content": words().to_string()}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 50},
    });
    let (base, _) = server(vec![(200, answer.to_string())]);
    let world = configured(&format!("kind = \"openai\"\nmodel = \"m\"\nbase_url = \"{base}/v1\""));
    world.ingest(&lexer_session("s1", 0));
    assert_eq!(worded(&world)["summarizer"], "openai/m");
}

/// Nonsense, an outage, a missing model, a spent budget: the built-in words stay and it is said why.
#[test]
fn a_model_that_fails_changes_nothing() {
    let (nonsense, _) = server(vec![(200, "{\"choices\": 5}".to_owned())]);
    let (down, _) = server(vec![(400, "{}".to_owned())]);
    for (settings, said) in [
        (format!("kind = \"openai\"\nmodel = \"m\"\nbase_url = \"{nonsense}\""), ""),
        (format!("kind = \"openai\"\nmodel = \"m\"\nbase_url = \"{down}\""), ""),
        ("kind = \"anthropic\"".to_owned(), "summarizer.model"),
        ("kind = \"command\"\ncommand = \"no-such-program-here\"".to_owned(), ""),
        (
            format!("kind = \"openai\"\nmodel = \"m\"\nbase_url = \"{down}\"\ndaily_tokens = 10"),
            "budget",
        ),
    ] {
        let world = configured(&settings);
        world.ingest(&lexer_session("s1", 0));
        let meter = eventually("a problem", || {
            let meter = model(&world);
            (meter["problem"] != "").then_some(meter)
        });
        assert!(meter["problem"].as_str().unwrap().contains(said), "{settings}: {meter}");
        assert_eq!(node(&world, DAY)["summarizer"], "extractive");
        assert_eq!(world.tome(&["admin", "verify"]).code, 0);
    }
}

/// A model that is an agent with hooks of its own must not be recorded.
#[test]
fn a_hook_that_is_switched_off_records_nothing() {
    let world = world();
    let payload = crate::scene::prompt("asked by Tome itself");
    let mut hook = world.command(&["hook", "claude-code"]);
    World::hook_command(hook.env("TOME_HOOK_OFF", "1"), payload);
    assert!(world.events().is_empty());
}
