//! `tome hook`: captured payloads through the real program into the ledger.

use std::process::Stdio;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use tome_testkit::{CommandResult, World, eventually, eventually_within};

use crate::support::{daemon_up, prompt, strings, texts, tool_result, world};

/// Feeds a file of payloads to the hook and lists the stored events, one per line, ordered by kind
/// and text, because payloads without a time are stamped on arrival.
fn check(agent: &str, name: &str, expect: &Expect) {
    let world = world();
    daemon_up_now(&world);
    let folder = std::path::absolute("tests/fixtures/payloads").unwrap();
    // Copilot's replies are in a log that its payloads name, and are read after the hooks.
    let log = folder.join("copilot.events.jsonl");
    let session =
        "/home/dev/.copilot/session-state/e41c7b90-2d3f-4a66-b1d5-90af3c5e6d70/events.jsonl";
    let payloads = std::fs::read_to_string(folder.join(name)).unwrap();
    let payloads = payloads.replace(session, log.to_str().unwrap());
    for row in payloads.lines() {
        let value: Value = serde_json::from_str(row).unwrap();
        match value.get("payload").filter(|_| value.get("argv").is_some()) {
            Some(payload) => {
                let event = value["argv"].as_str().unwrap();
                world.hook(&[agent, event], payload.to_string());
            }
            None => world.hook(&[agent], row),
        }
    }
    let events = eventually("everything", || {
        let is_last = |event: &Value| event["text"] == "Nested comments have a test now. ";
        Some(world.events()).filter(|all| agent != "copilot" || all.iter().any(is_last))
    });
    let mut shown: Vec<String> = events.iter().map(show).collect();
    shown.sort();
    expect.assert_eq(&(shown.join("\n") + "\n"));
}

fn daemon_up_now(world: &World) {
    assert_eq!(world.tome(&["start"]).code, 0);
}

fn show(event: &Value) -> String {
    assert_eq!(event["project"], "/home/dev/app");
    let mut line = event["kind"].as_str().unwrap().to_owned();
    if event["text"] != "" {
        line += &format!(" {}", event["text"]);
    }
    if let Some(tool) = event.get("tool") {
        let brief = |part: &str| tool[part].to_string().chars().take(40).collect::<String>();
        line += &format!(
            " {}({}) -> {}",
            tool["name"].as_str().unwrap(),
            brief("input"),
            brief("output")
        );
    }
    for name in ["source", "reason", "trigger", "phase", "event", "subagent_type"] {
        if let Some(value) = event["meta"].get(name) {
            line += &format!(" {name}={}", value.as_str().unwrap());
        }
    }
    line
}

#[test]
fn claude_code_payloads_are_stored() {
    check(
        "claude-code",
        "claude-code.jsonl",
        &expect![[r#"
        assistant_stop "API Error: Rate limit reached"
        assistant_stop "Identifiers may now hold any XID character; the lexer tests pass."
        assistant_stop "Stored the lesson about XID characters."
        session_end reason=prompt_input_exit
        session_start source=startup
        subagent_start subagent_type=Explore
        subagent_stop "Two places assume ASCII: src/lexer.rs and src/token.rs." subagent_type=Explore
        tool_result Bash({"command":"cargo test lexer","descripti) -> "Exit code 101\nthread 'accents' panicke
        tool_result Grep({"pattern":"is_ascii_alphanumeric"}) -> {"mode":"files_with_matches","filenames" subagent_type=Explore
        tool_result Read({"file_path":"/home/dev/app/src/lexer.rs) -> {"type":"text","file":{"filePath":"/home
        tool_result TaskCreate({"subject":"Accept unicode identifiers",) -> {"task":{"id":"1","subject":"Accept unic
        tool_result mcp__tracker__comment({"issue":12,"body":"fixed"}) -> [{"type":"text","text":"commented on #12
        unknown "<task-notification>background build finished</task-notification>" event=UserPromptSubmit
        unknown "Accept unicode identifiers" event=TaskCreated
        unknown "Claude needs your permission to use Bash" event=Notification
        unknown "check the build again" event=UserPromptSubmit
        unknown event=FutureThing
        unknown event=InstructionsLoaded
        user_message "the lexer stops at “é” in identifiers, please fix it"
    "#]],
    );
}

#[test]
fn claude_code_compactions_are_stored() {
    check(
        "claude-code",
        "claude-code.compact.jsonl",
        &expect![[r#"
        compaction "The lexer accepts XID characters since today." trigger=manual phase=after
        session_end reason=other
        session_start source=compact
        session_start source=resume
    "#]],
    );
}

#[test]
fn codex_payloads_are_stored() {
    check(
        "codex",
        "codex.jsonl",
        &expect![[r#"
        assistant_stop
        assistant_stop "`tok()` did not advance at the end of input; it does now. "
        compaction trigger=auto phase=after
        session_end reason=other
        session_start source=startup
        subagent_start subagent_type=worker
        subagent_stop "The loop never advances past the quote." subagent_type=worker
        tool_result Bash({"command":"cargo test quote"}) -> "test quote ... FAILED\n"
        tool_result mcp__tracker__find({"q":"quote"}) -> {"content":[{"type":"text","text":"1 iss
        tool_result update_plan({"plan":[{"step":"find the loop","status) -> "Plan updated"
        unknown "<hook_prompt hook_run_id=\"h2\">run the linter before you stop</hook_prompt>" event=UserPromptSubmit
        unknown "user pressed escape" event=Interrupt
        user_message "why does `tok()` loop forever on a lone quote?"
    "#]],
    );
}

#[test]
fn gemini_payloads_are_stored() {
    check(
        "gemini",
        "gemini.jsonl",
        &expect![[r#"
        assistant_stop "The lexer walks over chars now. "
        assistant_stop "The lexer walks over chars now. \nSaved."
        compaction trigger=manual phase=before
        session_end reason=exit
        session_start source=startup
        tool_result mcp_tracker_find({"q":"bytes"}) -> "2 issues\n#12 and #14"
        tool_result read_file({"file_path":"logo.png"}) -> [{"inlineData":{"mimeType":"image/png","
        tool_result read_file({"file_path":"src/nope.rs"}) -> {"error":{"message":"File not found: src
        tool_result replace({"file_path":"src/lexer.rs","old_string") -> "Successfully modified file: src/lexer.r
        tool_result run_shell_command({"command":"cargo check","description":") -> "Output: Finished dev profile\nProcess G
        unknown "Allow cargo check?" event=Notification
        user_message "make the lexer work on chars, not bytes"
    "#]],
    );
}

#[test]
fn copilot_payloads_in_camel_case_are_stored() {
    check(
        "copilot",
        "copilot.camel.jsonl",
        &expect![[r#"
            assistant_message "A small compiler."
            assistant_message "words of a subagent"
            assistant_stop
            assistant_stop
            assistant_stop "Nested comments have a test now. "
            compaction "keep the test names" trigger=manual phase=before
            session_end reason=complete
            session_start source=new
            subagent_start subagent_type=explore
            subagent_stop "Comments are lexed in src/trivia.rs." subagent_type=explore
            tool_result bash({"command":"cargo test comments","descri) -> "1 passed\n<shellId: 0 completed with ex
            tool_result edit({"path":"/home/dev/app/src/lexer.rs"}) -> "old_str not found"
            tool_result sql({"description":"add todos","query":"INSE) -> "1 row(s) inserted."
            tool_result view({"path":"/home/dev/app/src/nope.rs"}) -> "Path does not exist"
            unknown "Copilot is waiting for you" event=notification
            unknown "connect ECONNREFUSED" event=errorOccurred
            user_message "add a test for nested comments"
        "#]],
    );
}

#[test]
fn copilot_payloads_in_pascal_case_are_stored() {
    check(
        "copilot",
        "copilot.pascal.jsonl",
        &expect![[r#"
            assistant_message "A small compiler."
            assistant_message "words of a subagent"
            assistant_stop
            assistant_stop
            assistant_stop "Nested comments have a test now. "
            compaction "keep the test names" trigger=manual phase=before
            session_end reason=complete
            session_start source=new
            subagent_start subagent_type=explore
            subagent_stop "Comments are lexed in src/trivia.rs." subagent_type=explore
            tool_result Bash({"command":"cargo test comments","descri) -> "1 passed\n<shellId: 0 completed with ex
            tool_result Edit({"path":"/home/dev/app/src/lexer.rs"}) -> "old_str not found"
            tool_result Read({"path":"/home/dev/app/src/nope.rs"}) -> "Path does not exist"
            tool_result sql({"description":"add todos","query":"INSE) -> "1 row(s) inserted."
            unknown "Copilot is waiting for you" event=notification
            unknown "connect ECONNREFUSED" event=errorOccurred
            user_message "add a test for nested comments"
        "#]],
    );
}

#[test]
fn opencode_payloads_are_stored() {
    check(
        "opencode",
        "opencode.jsonl",
        &expect![[r#"
        assistant_message "The lexer has 214 lines; they are counted now."
        assistant_stop
        assistant_stop "The lexer has 214 lines; they are counted now."
        compaction phase=after
        compaction phase=before
        session_end reason=deleted
        session_start
        subagent_start
        tool_result bash({"command":"wc -l src/lexer.rs","descrip) -> "214 src/lexer.rs\n"
        tool_result edit({"filePath":"src/lexer.rs"}) -> "oldString not found"
        tool_result tracker_find({"q":"lines"}) -> "1 issue"
        unknown "no key for provider local" event=session.error
        unknown event=command.executed
        unknown event=session_title
        user_message "count lines in the \"lexer\" too"
    "#]],
    );
}

/// With every hook installed twice, each event is still stored once.
#[test]
fn hooks_that_fire_twice_are_stored_once() {
    let world = world();
    daemon_up_now(&world);
    let payloads = [
        prompt("fix the lexer"),
        tool_result("call1", &json!({"command": "ls"}), &json!("a b")),
        json!({"session_id": "s1", "cwd": "/app", "hook_event_name": "SessionStart", "source": "startup"}).to_string(),
        json!({"session_id": "s1", "cwd": "/app", "hook_event_name": "Stop", "last_assistant_message": "Done."}).to_string(),
        json!({"session_id": "s1", "cwd": "/app", "hook_event_name": "Novelty", "x": 1}).to_string(),
    ];
    for payload in &payloads {
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| world.hook(&["claude-code"], payload));
            }
        });
    }
    let events = world.events();
    let mut kinds = strings(&events, "kind");
    kinds.sort_unstable();
    assert_eq!(
        kinds,
        ["assistant_stop", "session_start", "tool_result", "unknown", "user_message"]
    );
}

#[test]
fn the_same_text_in_another_turn_is_another_event() {
    let world = world();
    daemon_up_now(&world);
    for turn in ["t1", "t2", "t1"] {
        let payload = json!({"session_id": "s1", "cwd": "/app", "hook_event_name": "UserPromptSubmit",
                             "prompt": "continue", "prompt_id": turn});
        world.hook(&["claude-code"], payload.to_string());
    }
    assert_eq!(texts(&world.events()), ["continue", "continue"]);
}

#[test]
fn injections_are_not_recorded_as_user_text() {
    let world = world();
    daemon_up_now(&world);
    let injected = "<tome-memory kind=\"start\">five rules, rule seven</tome-memory>";
    let nudge = "<tome-memory kind=\"stop\">store what was learned</tome-memory>";
    world.hook(&["claude-code"], prompt(&format!("{injected}\n\nfix the lexer")));
    world.hook(&["claude-code"], prompt(nudge));
    world.hook(&["codex"], prompt(nudge));
    let gemini = json!({"session_id": "g1", "cwd": "/app", "hook_event_name": "BeforeAgent",
        "timestamp": "2026-11-15T09:30:00Z", "prompt": "&lt;tome-memory&gt;rules&lt;/tome-memory&gt; go on"});
    world.hook(&["gemini"], gemini.to_string());
    let events = world.events();
    let stored: Vec<&str> = events
        .iter()
        .filter(|event| event["kind"] == "user_message")
        .map(|event| event["text"].as_str().unwrap())
        .collect();
    assert_eq!(stored.len(), 2, "{events:#?}");
    assert!(stored.contains(&"fix the lexer") && stored.contains(&"go on"), "{stored:?}");
    let everything = format!("{events:?}");
    assert!(!everything.contains("rule seven") && !everything.contains("store what was learned"));
}

#[test]
fn an_unknown_event_is_kept_as_unknown() {
    let world = world();
    daemon_up_now(&world);
    let payload = json!({"session_id": "s1", "cwd": "/app", "hook_event_name": "FutureThing",
                         "colour": "teal", "depth": {"levels": [1, 2]}});
    world.hook(&["claude-code"], payload.to_string());
    let events = world.events();
    assert_eq!(strings(&events, "kind"), ["unknown"]);
    let meta = events[0]["meta"].to_string();
    assert!(meta.contains("FutureThing") && meta.contains("teal"), "{meta}");
}

/// A large unknown event may be truncated but not lost.
#[test]
fn a_large_unknown_event_is_kept() {
    let world = world();
    daemon_up_now(&world);
    let payload = json!({"session_id": "s1", "cwd": "/app", "hook_event_name": "FutureThing",
                         "body": "x".repeat(300_000), "rows": vec!["row"; 20_000]});
    world.hook(&["claude-code"], payload.to_string());
    let events =
        eventually("the event", || Some(world.events()).filter(|events| !events.is_empty()));
    assert_eq!(strings(&events, "kind"), ["unknown"]);
    assert_eq!(events[0]["meta"]["event"], "FutureThing");
}

#[test]
fn any_input_leaves_the_hook_silent_and_successful() {
    let world = world();
    let cases: &[(&[&str], &[u8])] = &[
        (&[], b"{}"),
        (&[], b""),
        (&["claude-code"], b""),
        (&["claude-code"], b"   \n"),
        (&["claude-code"], b"not json"),
        (&["claude-code"], b"{\"session_id\": \"s1\", \"hook_event"),
        (&["claude-code"], b"\xff\xfe\x00\x01"),
        (&["claude-code"], b"[1, 2, 3]"),
        (&["claude-code"], b"null"),
        (&["claude-code"], b"{}"),
        (&["claude-code", "Stop", "more", "--words"], b"{}"),
        (&["no-such-agent"], b"{\"session_id\": \"s1\"}"),
        (&["NOT AN AGENT"], b"{}"),
        (&["--version"], b"{}"),
        (&["--no-such-flag", "codex"], b"{}"),
        (&["copilot"], b"{\"sessionId\": 7, \"timestamp\": \"x\", \"cwd\": []}"),
        (&["opencode"], b"{\"ev\": 5, \"input\": null}"),
        (&["gemini"], b"{\"session_id\": \"\\u0000\", \"cwd\": \"relative\"}"),
    ];
    for (args, payload) in cases {
        world.hook(args, payload);
    }
    let deep = format!("{}{}", "{\"a\":".repeat(5_000), "}".repeat(5_000));
    world.hook(&["claude-code"], deep);
}

/// Options before `hook` change nothing.
#[test]
fn options_before_hook_are_accepted() {
    let world = world();
    daemon_up_now(&world);
    let home = world.home();
    let home = home.to_str().unwrap();
    World::run_hook_command(
        world.command(&["--home", home, "hook", "claude-code"]).env_remove("TOME_HOME"),
        prompt("with an option"),
    );
    assert_eq!(texts(&world.events()), ["with an option"]);
    World::run_hook_command(&mut world.command(&["--json", "hook"]), "{}");
    World::run_hook_command(&mut world.command(&["--home", home, "hook"]), "{}");
}

/// Options are global and may follow `hook`.
#[test]
fn options_after_hook_are_accepted() {
    let world = world();
    daemon_up_now(&world);
    let home = world.home();
    let home = home.to_str().unwrap();
    for (args, text) in [
        (["hook", "--home", home, "claude-code"], "in front of the agent"),
        (["hook", "claude-code", "--home", home], "behind the agent"),
    ] {
        World::run_hook_command(world.command(&args).env_remove("TOME_HOME"), prompt(text));
    }
    let events = world.events();
    let mut stored = texts(&events);
    stored.sort_unstable();
    assert_eq!(stored, ["behind the agent", "in front of the agent"]);
}

/// Runs a hook whose pipe gets these bytes and is never closed.
fn hook_on_an_open_pipe(world: &World, bytes: &[u8]) {
    let (stdin, mut pen) = std::io::pipe().unwrap();
    std::io::Write::write_all(&mut pen, bytes).unwrap();
    let mut child = world
        .command(&["hook", "claude-code"])
        .env("TOME_HOOK_PATIENCE", "4")
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let ended = eventually_within(std::time::Duration::from_secs(5), || child.try_wait().unwrap());
    assert!(ended.is_some(), "the hook hangs on an open pipe");
    drop(pen);
    assert_eq!(CommandResult::from(child.wait_with_output().unwrap()), CommandResult::silent());
}

#[test]
fn a_pipe_that_is_never_closed_does_not_block_the_hook() {
    let world = world();
    daemon_up_now(&world);
    hook_on_an_open_pipe(&world, prompt("the pipe stays open").as_bytes());
    assert_eq!(texts(&world.events()), ["the pipe stays open"]);
    hook_on_an_open_pipe(&world, b"");
}

/// An agent too slow to send everything: the received part is kept, or the loss is counted.
#[test]
fn half_a_payload_is_kept_or_counted_as_lost() {
    let world = world();
    daemon_up_now(&world);
    let whole = prompt("this is only half of what the person said");
    let (half, _) = whole.split_at(whole.len() - 25);
    hook_on_an_open_pipe(&world, half.as_bytes());
    eventually("the half", || {
        let kept = world.events().len() as u64;
        let lost = crate::support::status(&world)["lost"]["events"].as_u64();
        (kept + lost.unwrap() >= 1).then_some(())
    });
}

#[test]
fn a_payload_of_five_megabytes_is_stored() {
    let world = world();
    daemon_up_now(&world);
    let output = format!("head {} tail", "0123456789abcdef".repeat(330_000));
    world.hook(&["claude-code"], tool_result("big", &json!({"command": "cat"}), &json!(output)));
    // The agent does not wait for this: another process continues.
    let events =
        eventually("the event", || Some(world.events()).filter(|events| !events.is_empty()));
    assert_eq!(events.len(), 1, "the event is there once");
    assert_eq!(events[0]["kind"], "tool_result");
    assert_eq!(events[0]["tool"]["input"], json!({"command": "cat"}));
    let kept = events[0]["tool"]["output"].as_str().unwrap();
    assert!(kept.starts_with("head 0123") && kept.ends_with("cdef tail"));
}

/// Copilot runs the hooks of a repository's Claude Code settings; the events are still Copilot's.
#[test]
fn claude_hooks_run_by_copilot_are_copilots() {
    let world = world();
    daemon_up_now(&world);
    let mut command = world.command(&["hook", "claude-code"]);
    World::run_hook_command(command.env("COPILOT_CLI", "1"), prompt("hi"));
    assert_eq!(strings(&world.events(), "agent"), ["copilot"]);
}

/// Copilot CLI with hooks of its own, in a repository set up for Claude Code: both run, in two
/// dialects, milliseconds apart. Only Copilot's own are recorded.
#[test]
fn claude_hooks_run_by_copilot_are_silent_beside_its_own() {
    let world = world();
    daemon_up_now(&world);
    let app = world.folder("app/src");
    let payload = json!({"hook_event_name": "PostToolUse", "session_id": "s1", "cwd": app,
        "timestamp": "2026-11-15T09:30:00.627Z", "tool_name": "Bash",
        "tool_input": {"command": "echo hi"}, "tool_result": {"result_type": "success",
        "text_result_for_llm": "hi"}});
    let run = |session: &str| {
        let mut payload = payload.clone();
        payload["session_id"] = json!(session);
        let mut command = world.command(&["hook", "claude-code"]);
        command.env("COPILOT_CLI", "1").current_dir(&app);
        World::run_hook_command(&mut command, payload.to_string());
    };
    run("alone");
    for (session, path) in [
        ("the person's", "person/.copilot/hooks/tome.json"),
        ("the project's", "app/.github/hooks/tome.json"),
    ] {
        let file = world.write(path, "{\"bash\": \"tome hook copilot sessionStart\"}");
        run(session);
        std::fs::remove_file(file).unwrap();
    }
    // An unrelated file of that name has no effect.
    world.write("person/.copilot/hooks/tome.json", "{\"version\": 1}");
    run("foreign");
    assert_eq!(strings(&world.events(), "session_id"), ["alone", "foreign"]);
}

/// With only hooks running, the first one starts the daemon.
#[test]
fn the_first_hook_in_a_new_home_starts_the_daemon() {
    let world = world();
    world.hook(&["claude-code"], prompt("the very first"));
    daemon_up(&world);
    assert_eq!(texts(&world.events()), ["the very first"]);
}
