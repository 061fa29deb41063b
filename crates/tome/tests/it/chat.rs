//! `tome chat` with the built-in script: the whole loop, and everything around the model: sessions,
//! commands, files, errors.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::Value;
use tome_testkit::{CommandResult, World, eventually};

use crate::support::{list, texts, world};

/// Runs a chat with the script in the project `app`, with these lines as input.
fn chat(world: &World, args: &[&str], typed: &str) -> CommandResult {
    let args = [&["chat", "--offline"], args].concat();
    World::run(&mut at(world, &args), typed.as_bytes())
}

pub fn at(world: &World, args: &[&str]) -> Command {
    let mut command = world.command(args);
    command.current_dir(project(world));
    command
}

pub fn project(world: &World) -> std::path::PathBuf {
    let app = world.folder("app");
    world.write("app/.git/HEAD", "ref: refs/heads/main\n");
    app
}

fn stdout(ran: &CommandResult) -> &str {
    assert_eq!(ran.code, 0, "{ran:?}");
    &ran.stdout
}

#[test]
fn a_fact_learned_in_one_chat_is_known_in_the_next() {
    let world = world();
    let learnt = chat(&world, &[], "I am Zhang San.\n");
    assert!(stdout(&learnt).contains("Noted in facts/user.md: Name: Zhang San."), "{learnt:?}");
    assert!(learnt.stderr.contains("· memory_write facts/user.md"), "{}", learnt.stderr);
    let answered = chat(&world, &["What's my name?"], "");
    assert_eq!(stdout(&answered).trim(), "You are Zhang San (facts/user.md).");
    let printed = chat(&world, &["-p", "what is my name?"], "");
    assert_eq!(
        (printed.code, printed.stdout.as_str()),
        (0, "You are Zhang San (facts/user.md).\n")
    );
    assert_eq!(printed.stderr, "", "with -p there is nothing but the answer");

    // A person reads the note and corrects it by hand.
    let note = World::run(&mut at(&world, &["memory", "read", "facts/user.md"]), b"");
    assert_eq!(
        note.stdout,
        "# User\n\n> Summary: name and preferences of the user\n\n- Name: Zhang San\n"
    );
    let located = World::run(&mut at(&world, &["init", "--json"]), b"").json();
    let file = std::path::Path::new(located["folder"].as_str().unwrap()).join("facts/user.md");
    std::fs::write(&file, note.stdout.replace("Zhang San", "Zhang Wei")).unwrap();
    let answered = chat(&world, &["-p", "Who am I?"], "");
    assert_eq!(stdout(&answered).trim(), "You are Zhang Wei (facts/user.md).");
    // And corrects it in the chat.
    chat(&world, &["call me Li Na"], "");
    let note = std::fs::read_to_string(&file).unwrap();
    assert!(note.contains("- Name: Li Na\n") && !note.contains("Zhang"), "{note}");
}

#[test]
fn a_chat_is_stored_as_a_session() {
    let world = world();
    let ran =
        chat(&world, &["--session", "monday"], "we use tabs\nremember that the port is 7070\n");
    assert_eq!(ran.code, 0, "{ran:?}");
    let events = list(&world, &["--session", "monday", "--limit", "0"]);
    let kinds: Vec<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    let turn = ["user_message", "tool_result", "tool_result", "assistant_stop"];
    let expected = [&["session_start"], &turn[..], &turn[..], &["session_end"]].concat();
    assert_eq!(kinds, expected, "{events:?}");
    assert!(events.iter().all(|event| event["agent"] == "tome"));
    assert_eq!(events[0]["meta"]["source"], "startup");
    let found = World::run(&mut at(&world, &["recall", "which port", "--json"]), b"").json();
    assert!(found.to_string().contains("7070"), "{found}");
    let known = chat(&world, &["-p", "what do you know about the port?"], "");
    assert!(stdout(&known).contains("- The port is 7070 (facts/project.md)"), "{known:?}");
    let recalled = chat(&world, &["-p", "what did we say about tabs?"], "");
    assert!(
        !stdout(&recalled).contains("we use tabs"),
        "a demonstration is no memory: {recalled:?}"
    );
}

#[test]
fn an_earlier_chat_can_be_resumed() {
    let world = world();
    let none = chat(&world, &["--continue"], "");
    assert_eq!(none.code, 4, "{none:?}");
    assert!(none.stderr.contains("start one with `tome chat`"), "{}", none.stderr);
    chat(&world, &["--session", "aa-first"], "I am Ada.\n");
    let resumed = chat(&world, &["--resume", "aa", "--json"], "hello\n");
    let lines = resumed.json_lines();
    assert_eq!((&lines[0]["session_id"], &lines[0]["resumed"]), (&"aa-first".into(), &true.into()));
    let only = chat(&world, &["--resume"], "");
    assert!(only.stderr.contains("resumed") && only.stderr.contains("> hello"), "{}", only.stderr);
    chat(&world, &["--session", "ab-second"], "we use spaces\n");
    let several = chat(&world, &["--resume"], "");
    assert_eq!(several.code, 2, "{several:?}");
    for part in ["ab-secon", "we use spaces", "aa-first", "2 prompts", "--resume ID"] {
        assert!(several.stderr.contains(part), "{part} in {}", several.stderr);
    }
    let unclear = chat(&world, &["--resume", "a"], "");
    assert!(unclear.code == 2 && unclear.stderr.contains("ab-second"), "{unclear:?}");
    let unknown = chat(&world, &["--resume", "zz"], "");
    assert!(unknown.code == 4 && unknown.stderr.contains("zz"), "{unknown:?}");
    let latest = chat(&world, &["-c", "--json"], "");
    assert_eq!(latest.json_lines()[0]["session_id"], "ab-second");
    // There are none in another folder.
    let elsewhere = world.tome(&["chat", "--offline", "--continue"]);
    assert_eq!(elsewhere.code, 4, "{elsewhere:?}");
}

#[test]
fn slash_commands_are_run_by_the_chat() {
    let world = world();
    chat(&world, &[], "I am Ada.\n");
    let typed = "/memory\n/memory facts/user.md\n/recall Ada\n/toc\n/overview\n/cost\n/reflect\n/help\n/mem\n/nonsense\n/recall\n/exit\nnever\n";
    let ran = chat(&world, &["--session", "s"], typed);
    let (out, err) = (stdout(&ran), &ran.stderr);
    assert!(out.contains("facts/user.md") && out.contains("- Name: Ada"), "{out}");
    assert!(!out.contains("I am Ada."), "an offline chat is in neither recall nor contents: {out}");
    assert!(out.contains("0 tokens in") && out.contains("costs nothing"), "{out}");
    assert!(out.contains("/overview") && out.contains("Ctrl-C stops"), "{out}");
    for part in [
        "this chat has no overview yet",
        "nothing to reflect on yet: fewer than 6 messages",
        "unknown command /mem; did you mean /memory?",
        "unknown command /nonsense; available: /memory",
        "add a query",
    ] {
        assert!(err.contains(part), "{part} in {err}");
    }
    // None of it is recorded as a prompt.
    assert_eq!(world.tome(&["events", "--session", "s"]).code, 4, "nothing was recorded");
    let path = chat(&world, &["--session", "t"], "/etc/hosts says what?\n");
    assert_eq!(path.code, 0);
    assert!(texts(&list(&world, &["--session", "t"])).contains(&"/etc/hosts says what?"));
}

#[test]
fn a_plan_triggers_an_injection_of_lessons() {
    let world = world();
    let lesson = r#"{"type":"procedural","title":"Freeze the lexer before a release","description":"release order","content":"Tag the lexer first. Release the parser after it. Otherwise the release breaks.","tags":["release","lexer","success"]}"#;
    let stored = world.tome(&["tool", "coder_memory_store", lesson]);
    assert_eq!(stored.code, 0, "{stored:?}");
    let ran = chat(&world, &["--session", "s"], "plan the release of the lexer\n");
    let (out, err) = (stdout(&ran), &ran.stderr);
    assert!(err.contains("· update_plan 7 steps"), "{err}");
    assert!(err.contains("memory: lessons for this plan"), "{err}");
    assert!(err.contains("· update_plan 8 steps"), "{err}");
    assert!(out.contains("It takes into account: Freeze the lexer before a release"), "{out}");
    let injected = world.tome(&["injections", "--session", "s", "--json"]).json_lines();
    let whys: Vec<&str> = injected.iter().map(|one| one["why"].as_str().unwrap()).collect();
    assert_eq!(whys, ["replan", "store"]);
    assert_eq!((&injected[0]["agent"], &injected[0]["handed"]), (&"tome".into(), &true.into()));
    assert!(injected[0]["text"].as_str().unwrap().contains("Tag the lexer first"));
}

#[test]
fn a_finished_chat_is_reflected_on() {
    let world = world();
    let typed = "we use tabs\nwe fixed the leak in the logger because stdout was shared\nhello\n";
    let left_out = chat(&world, &["--session", "a", "--no-reflect"], typed);
    assert!(!left_out.stderr.contains("remembered"), "{}", left_out.stderr);
    let ran = chat(&world, &["--session", "b"], typed);
    assert!(ran.stderr.contains("remembered in episodes/"), "{}", ran.stderr);
    let answered = chat(&world, &["-p", "what do you know about the logger?"], "");
    assert!(stdout(&answered).contains("the leak in the logger"), "{answered:?}");
    let recalled = chat(&world, &["-p", "what bug did we fix last time?"], "");
    assert!(stdout(&recalled).contains("logger"), "{recalled:?}");
    // A second reflection adds nothing.
    let again = chat(&world, &["--resume", "b"], "hello again\n");
    assert!(again.stderr.contains("nothing new to remember"), "{}", again.stderr);
}

#[test]
fn json_mode_prints_one_object_per_line() {
    let world = world();
    let ran = chat(&world, &["--json", "--session", "s"], "I am Ada.\n/cost\n");
    let lines = ran.json_lines();
    let of =
        |kind: &str| -> Vec<&Value> { lines.iter().filter(|one| one["type"] == kind).collect() };
    assert_eq!(of("session")[0]["model"], "offline");
    let tools: Vec<&str> = of("tool").iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(tools, ["memory_read", "memory_write"]);
    assert_eq!((&of("tool")[0]["failed"], &of("tool")[1]["failed"]), (&true.into(), &false.into()));
    let reply = of("reply")[0];
    assert_eq!(
        (&reply["ended"], &reply["rounds"], &reply["calls"]),
        (&"done".into(), &3.into(), &2.into())
    );
    assert_eq!(of("reflection")[0]["skipped"], "fewer than 6 messages");
    assert_eq!(ran.stderr, "");
}

#[test]
fn slash_commands_in_json_mode_print_json() {
    let world = world();
    let typed = "I am Ada.\n/memory\n/memory facts/user.md\n/recall Ada\n/recall --help\n/recall --nonsense\n/toc\n/overview\n/help\n";
    let ran = chat(&world, &["--json", "--no-reflect"], typed);
    let lines = ran.json_lines();
    assert!(lines.iter().all(|line| line["type"].is_string()), "{lines:?}");
    let commands: Vec<&str> = lines.iter().filter_map(|line| line["command"].as_str()).collect();
    let expected = [
        "tome memory list --json",
        "tome memory read facts/user.md --json",
        "tome recall Ada --json",
        "tome recall --help --json",
        "tome recall --nonsense --json",
        "tome toc --json",
    ];
    assert_eq!(commands, expected);
    assert_eq!(ran.stderr, "");
}

#[test]
fn a_prompt_may_have_several_lines_and_has_a_size_limit() {
    let world = world();
    let ran = chat(&world, &["--session", "s"], "remember that\\\nthe port is 7070\n\n  \n");
    assert!(stdout(&ran).contains("The port is 7070"), "{ran:?}");
    let events = list(&world, &["--session", "s"]);
    assert!(texts(&events).contains(&"remember that\nthe port is 7070"), "{events:?}");
    let empty = chat(&world, &["-p"], "  \n");
    assert!(empty.code == 1 && empty.stderr.contains("the prompt is empty"), "{empty:?}");
    let piped = chat(&world, &["-p", "--session", "p"], "I am Ada.\nThat is all.\n");
    assert!(stdout(&piped).contains("Name: Ada"), "{piped:?}");
    let flood = chat(&world, &["-p"], &"x".repeat(2 << 20));
    assert!(flood.code == 1 && flood.stderr.contains("into a file"), "{flood:?}");
}

#[test]
fn a_chat_survives_a_killed_daemon() {
    let world = world();
    let (reader, mut pen) = std::io::pipe().unwrap();
    let mut child = at(&world, &["chat", "--offline", "--session", "s", "--json"])
        .stdin(reader)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    writeln!(pen, "I am Ada.").unwrap();
    until(&mut out, "reply");
    world.kill_daemon().unwrap();
    writeln!(pen, "What is my name?").unwrap();
    assert_eq!(until(&mut out, "reply")["text"], "You are Ada (facts/user.md).");
    drop(pen);
    assert!(child.wait().unwrap().success());
    let prompts = list(&world, &["--session", "s", "--kind", "user_message"]);
    assert_eq!(texts(&prompts), ["I am Ada.", "What is my name?"]);
}

/// Reads lines up to one of this type.
pub fn until(out: &mut impl std::io::BufRead, kind: &str) -> Value {
    loop {
        let mut line = String::new();
        assert_ne!(out.read_line(&mut line).unwrap(), 0, "the chat ended before a {kind}");
        let value: Value = serde_json::from_str(&line).unwrap();
        if value["type"] == kind {
            return value;
        }
    }
}

#[test]
fn without_a_model_the_error_explains_how_to_configure_one() {
    let world = world();
    let ran = World::run(&mut at(&world, &["chat", "hello"]), b"");
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{ran:?}");
    for part in [
        "no chat model is configured",
        "tome config set chat.provider anthropic",
        "tome config set chat.base_url http://127.0.0.1:11434/v1",
        "ANTHROPIC_API_KEY",
        "tome chat --offline",
    ] {
        assert!(ran.stderr.contains(part), "{part} in {}", ran.stderr);
    }
    // The suggested commands are valid.
    for line in ran.stderr.lines().filter_map(|line| line.split_once("tome config set ")) {
        let words: Vec<&str> = line.1.split_whitespace().collect();
        let file = world.config_file();
        let mut set = world.command(&["config", "set", words[0], words[1]]);
        let ran = World::run(set.env("TOME_CONFIG", &file), b"");
        assert_eq!(ran.code, 0, "{words:?}: {ran:?}");
    }
    let shown = world.tome(&["config", "--json"]).json();
    assert!(shown["settings"].to_string().contains("http://127.0.0.1:11434/v1"), "{shown}");
    eventually("no daemon was needed to say so", || world.daemon_pid().is_none().then_some(()));
}
