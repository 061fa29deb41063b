//! A language model rewrites the summaries of closed nodes in the background. Any failure leaves the
//! built-in summary in place.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use tome_testkit::{ModelServer, ScriptedAnswer, World, eventually};

use crate::contents::{check_node, lexer_session, lines};
use crate::support::{in_parallel, world};

const DAY: &str = "toc:day:2026-11-15";

/// A good model's summary of the lexer session, with one invented bullet.
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

/// A server that gives these responses in order, repeating the last one.
fn server(answers: Vec<ScriptedAnswer>) -> ModelServer {
    let mut script = answers.into_iter();
    let mut last = ScriptedAnswer::silence();
    ModelServer::directed(move |_| {
        last = script.next().unwrap_or_else(|| last.clone());
        last.clone()
    })
}

fn configured(text: &str) -> World {
    let world = world();
    world.write("config.toml", &format!("[summarizer]\n{text}\n"));
    world
}

/// Waits until the day's summary comes from a model.
fn wait_for_rewrite(world: &World) -> Value {
    eventually("a rewritten day", || {
        let day = check_node(world, DAY);
        (day["summarizer"] != "extractive").then_some(day)
    })
}

fn model(world: &World) -> Value {
    world.tome(&["status", "--json"]).json()["daemon"]["model"].clone()
}

#[test]
fn a_command_summarizes_closed_nodes() {
    let world = configured("kind = \"command\"\ncommand = \"./model.sh\"");
    let script =
        world.write("home/model.sh", &format!("#!/bin/sh\ncat >/dev/null\necho '{}'\n", words()));
    std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.ingest(&lexer_session("s1", 0));
    let day = wait_for_rewrite(&world);
    assert_eq!(day["title"], words()["title"]);
    let bullets = day["bullets"].as_array().unwrap();
    assert!(!bullets[0]["grips"].as_array().unwrap().is_empty(), "{day}");
    assert_eq!(bullets[2]["unsupported"], true, "{day}");
    let versions = lines(&world, &["toc", DAY, "--versions"]);
    assert_eq!(versions.len(), 2, "the built-in summary is kept: {versions:?}");
    let meter = model(&world);
    assert!(meter["tokens"].as_u64().unwrap() > 0 && meter["problem"] == "", "{meter}");
    let checked = world.tome(&["admin", "verify"]);
    assert_eq!(checked.code, 0, "{}", checked.stdout);
}

#[test]
fn anthropic_gets_its_key_and_is_retried_when_busy() {
    let busy = ScriptedAnswer::http(429, "{}").header("retry-after", "1");
    let server = server(vec![busy, ScriptedAnswer::text(words().to_string())]);
    let world = configured(&format!(
        "kind = \"anthropic\"\nmodel = \"some-model\"\nbase_url = \"{}\"\nkey_env = \"MY_KEY\"",
        server.url()
    ));
    let mut ingest = world.command(&["ingest"]);
    let ran = World::run(ingest.env("MY_KEY", "k-123"), lexer_session("s1", 0).as_bytes());
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(wait_for_rewrite(&world)["summarizer"], "anthropic/some-model");
    let first = &server.requests()[0];
    assert_eq!(first.header("x-api-key"), Some("k-123"));
    assert!(first.line.starts_with("POST /v1/messages"), "{}", first.line);
    let log = std::fs::read_to_string(world.home().join("run/daemon.log")).unwrap();
    assert!(!log.contains("k-123"), "{log}");
}

#[test]
fn an_openai_compatible_endpoint_is_supported() {
    let server = server(vec![ScriptedAnswer::text(words().to_string())]);
    let world = configured(&format!(
        "kind = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"",
        server.openai_url()
    ));
    world.ingest(&lexer_session("s1", 0));
    assert_eq!(wait_for_rewrite(&world)["summarizer"], "openai/m");
}

/// The key comes from a file that only its owner can read; one that others can read is rejected,
/// with the command that fixes it.
#[test]
fn a_key_is_read_from_a_private_file() {
    let server = server(vec![ScriptedAnswer::text(words().to_string())]);
    let settings = format!(
        "kind = \"anthropic\"\nmodel = \"m\"\nbase_url = \"{}\"\nkey_file = \"key.txt\"",
        server.url()
    );
    let world = configured(&settings);
    let file = world.write("home/key.txt", "k-from-file\n");
    let allow = |mode| {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    allow(0o644);
    world.ingest(&lexer_session("s1", 0));
    let problem = model(&world)["problem"].as_str().unwrap_or_default().to_owned();
    assert!(problem.contains(&format!("chmod 600 {}", file.display())), "{problem}");
    assert!(server.requests().is_empty());
    assert_eq!(world.tome(&["stop"]).code, 0);

    allow(0o600);
    world.ingest(&lexer_session("s2", 60));
    assert_eq!(wait_for_rewrite(&world)["summarizer"], "anthropic/m");
    assert_eq!(server.requests()[0].header("x-api-key"), Some("k-from-file"));
    let shown =
        format!("{}{}", world.tome(&["status", "--json"]).stdout, world.tome(&["config"]).stdout);
    let log = std::fs::read_to_string(world.home().join("run/daemon.log")).unwrap();
    assert!(!shown.contains("k-from-file") && !log.contains("k-from-file"), "{shown}{log}");
}

#[test]
fn a_key_from_two_sources_is_rejected() {
    let world = configured(
        "kind = \"anthropic\"\nmodel = \"m\"\nkey_env = \"MY_KEY\"\nkey_file = \"/nowhere/key\"",
    );
    world.ingest(&lexer_session("s1", 0));
    let problem = model(&world)["problem"].as_str().unwrap_or_default().to_owned();
    assert_eq!(problem, "summarizer.key_env and summarizer.key_file are both set: keep only one");
    let world = configured("key_file = \"~/key\"");
    let shown = world.tome(&["config"]);
    assert!(format!("{}{}", shown.stdout, shown.stderr).contains("use the full path"), "{shown:?}");
}

/// Invalid output, an outage, a missing model, an exhausted budget: the built-in summary stays, and
/// the reason is reported.
#[test]
fn a_failing_model_changes_nothing() {
    let nonsense_server = server(vec![ScriptedAnswer::http(200, "{\"choices\": 5}")]);
    let down_server = server(vec![ScriptedAnswer::http(400, "{}")]);
    let (nonsense, down) = (nonsense_server.url(), down_server.url());
    let cases = [
        (format!("kind = \"openai\"\nmodel = \"m\"\nbase_url = \"{nonsense}\""), ""),
        (format!("kind = \"openai\"\nmodel = \"m\"\nbase_url = \"{down}\""), ""),
        ("kind = \"anthropic\"".to_owned(), "summarizer.model"),
        ("kind = \"command\"\ncommand = \"no-such-program-here\"".to_owned(), ""),
        (
            format!("kind = \"openai\"\nmodel = \"m\"\nbase_url = \"{down}\"\ndaily_tokens = 10"),
            "budget",
        ),
    ];
    in_parallel(cases, |(settings, problem)| {
        let world = configured(&settings);
        world.ingest(&lexer_session("s1", 0));
        let meter = eventually("a problem", || {
            let meter = model(&world);
            (meter["problem"] != "").then_some(meter)
        });
        assert!(meter["problem"].as_str().unwrap().contains(problem), "{settings}: {meter}");
        assert_eq!(check_node(&world, DAY)["summarizer"], "extractive");
        assert_eq!(world.tome(&["admin", "verify"]).code, 0);
    });
}

/// An agent with hooks that serves as a model must not be recorded.
#[test]
fn a_disabled_hook_records_nothing() {
    let world = world();
    let payload = crate::support::prompt("asked by Tome itself");
    let mut hook = world.command(&["hook", "claude-code"]);
    World::run_hook_command(hook.env("TOME_HOOK_OFF", "1"), payload);
    assert!(world.events().is_empty());
}
