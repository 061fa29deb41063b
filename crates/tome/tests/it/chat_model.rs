//! `tome chat` with a model, streaming in both protocols: facts survive a restart, and a killed
//! chat can be resumed.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tome_testkit::{
    CommandResult, ModelRequest, ModelServer, ScriptedAnswer, Signal, World, send_signal,
};

use crate::chat::{at, project, until};
use crate::support::{list, texts, world};

pub const BOTH: [&str; 2] = ["anthropic", "openai"];

/// A world whose chats use this server.
pub fn configured(server: &ModelServer, provider: &str, more: &str) -> World {
    let world = world();
    let url = if provider == "anthropic" { server.url() } else { server.openai_url() };
    world.write(
        "config.toml",
        &format!(
            "[chat]\nprovider = \"{provider}\"\nmodel = \"small\"\nbase_url = \"{url}\"\n{more}\n"
        ),
    );
    world
}

pub fn chat(world: &World, args: &[&str], typed: &str) -> CommandResult {
    World::run(&mut at(world, &[&["chat"], args].concat()), typed.as_bytes())
}

/// Returns the texts of a request's last message: a prompt or tool results.
pub fn last(request: &ModelRequest) -> String {
    let messages = request.body["messages"].as_array().unwrap();
    let tail: Vec<&Value> = messages
        .iter()
        .rev()
        .take_while(|one| one["role"] == "user" || one["role"] == "tool")
        .collect();
    tail.into_iter().rev().map(|one| words(&one["content"])).collect::<Vec<_>>().join("\n")
}

fn words(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(words).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => {
            let inner = part.get("text").or_else(|| part.get("content"));
            inner.map(words).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Whether the request comes from the reflector.
pub fn reflects(request: &ModelRequest) -> bool {
    request.body.to_string().contains("You keep the long-term memory")
}

/// Checks that every call of a request has its result in the following message.
pub fn check_calls(request: &ModelRequest) {
    let messages = request.body["messages"].as_array().unwrap();
    for (n, message) in messages.iter().enumerate() {
        let calls = message["content"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|part| part["type"] == "tool_use");
        let calls = calls.chain(message["tool_calls"].as_array().into_iter().flatten());
        for call in calls {
            let id = call["id"].as_str().unwrap();
            let behind = messages[n + 1..].iter().take_while(|one| one["role"] != "assistant");
            let mut results = behind.flat_map(|one| {
                let parts = one["content"].as_array().cloned().unwrap_or_default();
                let ids = parts.iter().map(|part| part["tool_use_id"].clone());
                ids.chain([one["tool_call_id"].clone()]).collect::<Vec<_>>()
            });
            assert!(results.any(|result| result == id), "{id} has no result in {messages:?}");
        }
    }
}

#[test]
fn a_name_is_known_after_a_restart() {
    for provider in BOTH {
        let server = ModelServer::directed(|request| {
            let last = last(request);
            let knows = last.split("- Name: ").nth(1).and_then(|rest| rest.lines().next());
            if last.contains("I'm Zhang San") {
                let note = json!({"path": "facts/user.md", "content": "# User\n\n> Summary: user name\n\n- Name: Zhang San\n"});
                ScriptedAnswer::call("memory_write", &note)
            } else if let Some(name) = knows {
                ScriptedAnswer::text(format!("You are {name}."))
            } else if last.contains("what's my name?") {
                // Only because the index refers to the note.
                assert!(
                    last.contains("Available memory:") && last.contains("facts/user.md"),
                    "{last}"
                );
                ScriptedAnswer::call("memory_read", &json!({"path": "facts/user.md"}))
            } else {
                ScriptedAnswer::text("Nice to meet you.")
            }
        });
        let world = configured(&server, provider, "");
        let met = chat(&world, &["I'm Zhang San"], "");
        assert_eq!((met.code, met.stdout.as_str()), (0, "Nice to meet you.\n"), "{met:?}");
        let answered = chat(&world, &["-p", "what's my name?"], "");
        assert_eq!(answered.stdout, "You are Zhang San.\n", "{answered:?}");
        // The file is readable for a person, and manual edits count.
        let located = World::run(&mut at(&world, &["init", "--json"]), b"").json();
        let file = std::path::Path::new(located["folder"].as_str().unwrap()).join("facts/user.md");
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(text, "# User\n\n> Summary: user name\n\n- Name: Zhang San\n");
        std::fs::write(&file, text.replace("Zhang San", "Zhang Wei")).unwrap();
        let answered = chat(&world, &["-p", "what's my name?"], "");
        assert_eq!(answered.stdout, "You are Zhang Wei.\n", "{answered:?}");
        let all = server.requests();
        assert!(all.iter().all(ModelRequest::wants_stream), "everything streams");
        all.iter().for_each(check_calls);
    }
}

#[test]
fn a_fix_is_known_in_the_next_chat() {
    for provider in BOTH {
        let server = ModelServer::directed(|request| {
            let last = last(request);
            if reflects(request) && last.contains("What happened:") {
                assert!(last.contains("the logger writes to stdout"), "{last}");
                let month = last.split("in episodes/").nth(1).unwrap().split(".md").next().unwrap();
                let entry = "## Logger leaked into stdout\n- Summary: logger stdout leak\n- Problem: output was mixed\n- Solution: the logger writes to stderr\n- Lesson: keep stdout for answers";
                ScriptedAnswer::call(
                    "memory_append",
                    &json!({"path": format!("episodes/{month}.md"), "entry": entry}),
                )
            } else if reflects(request) {
                ScriptedAnswer::text("none")
            } else if last.contains("Logger leaked into stdout")
                || last.contains("logger stdout leak")
            {
                ScriptedAnswer::text("The logger leaked into stdout; it writes to stderr now.")
            } else if last.contains("What bug did we fix last time?") {
                ScriptedAnswer::call(
                    "recall_memory",
                    &json!({"query": "bug fixed logger", "scope": "notes"}),
                )
            } else if last.contains("look at the code") {
                ScriptedAnswer::call("list_files", &json!({}))
            } else {
                ScriptedAnswer::text("I see.")
            }
        });
        let world = configured(&server, provider, "");
        world.write("app/log.rs", "// the logger\n");
        let typed = "the logger writes to stdout\nlook at the code\nit has to write to stderr\n";
        let worked = chat(&world, &["--session", "work"], typed);
        assert_eq!(worked.code, 0, "{worked:?}");
        assert!(worked.stderr.contains("remembered in episodes/"), "{}", worked.stderr);
        let answered = chat(&world, &["-p", "What bug did we fix last time?"], "");
        assert_eq!(
            answered.stdout, "The logger leaked into stdout; it writes to stderr now.\n",
            "{answered:?}"
        );
        // The daemon does not reflect again on a chat that was reflected on.
        let reflections = server.requests().iter().filter(|request| reflects(request)).count();
        assert_eq!(reflections, 2, "one call, and the word that that was all");
    }
}

#[test]
fn a_chat_killed_during_a_tool_call_can_be_resumed() {
    for provider in BOTH {
        // Locked once the model has the prompt, so that the call of `memory_write` blocks.
        let notebook: Arc<Mutex<Option<File>>> = Arc::default();
        let to_lock = Arc::clone(&notebook);
        let server = ModelServer::directed(move |request| {
            check_calls(request);
            if last(request).contains("go on") {
                return ScriptedAnswer::text("Going on.");
            }
            if let Some(folder) = &*to_lock.lock().unwrap() {
                folder.lock().unwrap();
            }
            ScriptedAnswer::call("list_files", &json!({}))
                .and_call("memory_write", &json!({"path": "facts/a.md", "content": "x"}))
        });
        let world = configured(&server, provider, "");
        project(&world);
        // An existing note creates the folder.
        let note = ["tool", "memory_write", r#"{"path": "facts/b.md", "content": "b"}"#];
        assert_eq!(World::run(&mut at(&world, &note), b"").code, 0);
        let located = World::run(&mut at(&world, &["init", "--json"]), b"").json();
        let folder = File::open(located["folder"].as_str().unwrap()).unwrap();
        *notebook.lock().unwrap() = Some(folder);
        let mut child = at(&world, &["chat", "--session", "s", "do it"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains("· memory_write") {
            assert_ne!(err.read_until(b'e', &mut seen).unwrap(), 0, "it ended before its call");
        }
        send_signal(child.id(), Signal::Kill);
        child.wait().unwrap();
        drop(notebook.lock().unwrap().take());
        let resumed = chat(&world, &["--continue", "--no-reflect", "go on"], "");
        assert_eq!((resumed.code, resumed.stdout.as_str()), (0, "Going on.\n"), "{resumed:?}");
        let requests = server.requests();
        let request = requests.last().unwrap().body.to_string();
        assert!(request.contains("do it") && request.contains("list_files"), "{request}");
        let prompts = list(&world, &["--session", "s", "--kind", "user_message"]);
        assert_eq!(texts(&prompts), ["do it", "go on"]);
    }
}

#[test]
fn ctrl_c_stops_the_reply_but_not_the_chat() {
    let server = ModelServer::directed(|request| {
        if last(request).contains("second") {
            ScriptedAnswer::text("Here I am.")
        } else {
            ScriptedAnswer::text("It was a dark and stormy night, and it rained").silent_after(4)
        }
    });
    let world = configured(&server, "openai", "");
    let (reader, mut pen) = std::io::pipe().unwrap();
    let mut child = at(&world, &["chat", "--json", "--session", "s", "--no-reflect"])
        .stdin(reader)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    writeln!(pen, "tell me a story").unwrap();
    until(&mut out, "text");
    let interrupted =
        std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(interrupted.unwrap().success());
    assert_eq!(until(&mut out, "reply")["ended"], "stopped");
    writeln!(pen, "second question").unwrap();
    assert_eq!(until(&mut out, "reply")["text"], "Here I am.");
    drop(pen);
    assert!(child.wait().is_ok());
    // The partial reply is kept.
    let replies = list(&world, &["--session", "s", "--kind", "assistant_message"]);
    assert!(texts(&replies)[0].starts_with("It was"), "{replies:?}");
}

#[test]
fn tokens_and_cost_are_shown() {
    let prices = "price_input = 3\nprice_output = 15";
    let server = ModelServer::directed(|_| {
        ScriptedAnswer::text("Yes.").with_tokens(1_000, 100).with_cached(500, 0)
    });
    let world = configured(&server, "anthropic", prices);
    let ran = chat(&world, &["--no-reflect"], "is it so?\n/cost\n");
    assert!(ran.stdout.contains("1,500 tokens in (500 cached), 100 out"), "{}", ran.stdout);
    assert!(ran.stdout.contains("0.0060 at the prices"), "{}", ran.stdout);
    assert!(ran.stdout.contains("of 200,000 tokens used"), "{}", ran.stdout);
    let other = chat(&world, &["-p", "--model", "large", "hello"], "");
    assert_eq!(other.code, 0, "{other:?}");
    assert_eq!(server.requests().last().unwrap().body["model"], "large");
}
