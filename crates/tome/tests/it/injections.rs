//! Injections by hooks at a start, a prompt, a plan and a stop, and where there are none. Deadlines
//! are extended here; latency is measured by the bench.

use std::path::Path;

use serde_json::{Value, json};
use tome_testkit::{Signal, World, eventually, send_signal};

use crate::support::*;

/// Runs a hook with extended deadlines; returns its output.
pub fn hook(world: &World, args: &[&str], payload: &Value) -> Option<Value> {
    hook_with(world, args, payload, &[])
}

pub fn hook_with(
    world: &World,
    args: &[&str],
    payload: &Value,
    env: &[(&str, &str)],
) -> Option<Value> {
    let mut command = world.command(&[&["hook"], args].concat());
    // Tests have no terminal; headless behavior has tests of its own.
    command.env("TOME_HOOK_PATIENCE", "100").env("TOME_INJECT_HEADLESS", "on");
    command.envs(env.iter().copied());
    World::run_hook_command(&mut command, payload.to_string())
}

/// Claude Code's payload of an event in a project, with additional fields.
fn at(app: &Path, session: &str, event: &str, more: &Value) -> Value {
    let mut payload = json!({"session_id": session, "cwd": app, "hook_event_name": event});
    for (name, value) in more.as_object().unwrap() {
        payload[name] = value.clone();
    }
    payload
}

fn start(app: &Path, session: &str, source: &str) -> Value {
    at(app, session, "SessionStart", &json!({"source": source}))
}

pub fn says(app: &Path, session: &str, prompt: &str) -> Value {
    at(app, session, "UserPromptSubmit", &json!({"prompt": prompt}))
}

pub fn tool(app: &Path, session: &str, id: usize, name: &str, input: &Value) -> Value {
    let id = format!("toolu_{session}_{id:08}");
    let more =
        json!({"tool_name": name, "tool_use_id": id, "tool_input": input, "tool_response": "ok"});
    at(app, session, "PostToolUse", &more)
}

pub fn edit(app: &Path, session: &str, id: usize) -> Value {
    let input = json!({"file_path": "src/a.rs", "old_string": "a", "new_string": "b"});
    tool(app, session, id, "Edit", &input)
}

pub fn stop(app: &Path, session: &str, active: bool) -> Value {
    let words = format!("done with {session} {active}");
    let more = json!({"stop_hook_active": active, "last_assistant_message": words});
    at(app, session, "Stop", &more)
}

/// The text that Claude Code adds to the context.
pub fn context(response: &Value) -> &str {
    response["hookSpecificOutput"]["additionalContext"].as_str().unwrap()
}

fn call(world: &World, app: &Path, tool: &str, arguments: &Value) {
    let mut command = world.command(&["tool", tool, "-"]);
    let ran = World::run(command.current_dir(app), arguments.to_string().as_bytes());
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{tool} {arguments}");
}

/// A project with stored knowledge.
fn known(world: &World) -> std::path::PathBuf {
    let app = world.folder("app");
    call(
        world,
        &app,
        "memory_write",
        &json!({"path": "facts/user.md", "content": "# User\n\n- prefers short answers\n"}),
    );
    call(
        world,
        &app,
        "memory_write",
        &json!({"path": "lexer.md", "name": "Lexer", "description": "how identifiers are read", "type": "project", "content": "XID tables"}),
    );
    app
}

/// A project with a running daemon, because a spooled event triggers nothing.
fn ready(world: &World) -> std::path::PathBuf {
    assert_eq!(world.tome(&["start"]).code, 0);
    world.folder("app")
}

pub fn injections(world: &World) -> Vec<Value> {
    world.tome(&["injections", "--all-projects", "--json"]).json_lines()
}

#[test]
fn a_session_start_injects_notes_and_earlier_work() {
    let world = world();
    let app = known(&world);
    for (n, source) in ["startup", "resume", "clear", "compact"].into_iter().enumerate() {
        let response =
            hook(&world, &["claude-code"], &start(&app, &format!("s{n}"), source)).unwrap();
        assert_eq!(response["hookSpecificOutput"]["hookEventName"], "SessionStart");
        let text = context(&response);
        assert!(
            text.starts_with("<tome-memory kind=\"start\">") && text.ends_with("</tome-memory>")
        );
        assert!(text.contains("- prefers short answers") && text.contains("lexer.md"), "{text}");
    }
    let listed = injections(&world);
    let whys: Vec<&str> = strings(&listed, "why");
    assert_eq!(whys, ["startup", "resume", "clear", "compact"]);
    assert!(listed.iter().all(|one| one["handed"] == true && one["moment"] == "start"));
    assert!(listed[0]["tokens"].as_u64().unwrap() <= 2_000);
    // None of it is recorded as an event.
    assert!(world.events().iter().all(|event| !event.to_string().contains("short answers")));
}

#[test]
fn every_agent_gets_the_injection_in_its_format() {
    let world = world();
    let app = known(&world);
    let nested = "/hookSpecificOutput/additionalContext";
    let gemini = json!({"session_id": "g1", "cwd": app, "hook_event_name": "SessionStart",
                        "timestamp": "2026-11-15T09:30:00.000Z", "source": "startup"});
    let copilot = json!({"sessionId": "c1", "timestamp": MORNING_MS, "cwd": app, "source": "new",
                         "initialPrompt": "hi"});
    let opencode = json!({"event": {"type": "session.created", "properties": {"sessionID": "ses_1",
                          "info": {"id": "ses_1", "title": "x", "time": {"created": MORNING_MS}}}},
                          "directory": app});
    for (args, payload, pointer) in [
        (&["codex"][..], start(&app, "x1", "startup"), nested),
        (&["gemini"], gemini, nested),
        (&["copilot", "sessionStart"], copilot, "/additionalContext"),
        (&["opencode"], opencode, "/context"),
    ] {
        let response = hook(&world, args, &payload).unwrap();
        let text = response.pointer(pointer).and_then(Value::as_str);
        assert!(
            text.is_some_and(|text| text.contains("- prefers short answers")),
            "{args:?} {response}"
        );
        assert_eq!(response.as_object().unwrap().len(), 1, "{response}");
    }
}

/// The first session of a project gets the instructions how to begin.
#[test]
fn an_unknown_project_gets_the_instructions() {
    let world = world();
    let app = ready(&world);
    let response = hook(&world, &["claude-code"], &start(&app, "s1", "startup")).unwrap();
    let text = context(&response);
    assert!(text.contains("3. After significant work, save what the next session needs"), "{text}");
    assert!(text.contains("Nothing is noted or recorded here yet"), "{text}");
    assert_eq!(
        hook(&world, &["claude-code"], &says(&app, "s1", "what do we know about lexers?")),
        None
    );
    assert_eq!(strings(&injections(&world), "why"), ["startup"]);
    let elsewhere = world.folder("elsewhere");
    let project = ["injections", "--preview", "--project", elsewhere.to_str().unwrap()];
    let preview = world.tome(&project);
    assert_eq!(preview.code, 0);
    assert!(preview.stdout.contains("Nothing is noted"), "{}", preview.stdout);
    let small = world.tome(&[&project[..], &["--set", "inject.budget_tokens=30"]].concat());
    assert_eq!((small.code, small.stdout.as_str()), (0, ""));
    assert!(small.stderr.contains("nothing to inject: inject.budget_tokens"), "{}", small.stderr);
}

#[test]
fn every_injection_can_be_switched_off() {
    let world = world();
    let app = known(&world);
    for off in [
        ("TOME_INJECT_ENABLED", "off"),
        ("TOME_INJECT_START", "off"),
        ("TOME_INJECT_BUDGET_TOKENS", "30"),
    ] {
        let payload = start(&app, off.0, "startup");
        assert_eq!(hook_with(&world, &["claude-code"], &payload, &[off]), None, "{off:?}");
    }
    assert_eq!(world.events().len(), 3);
    assert_eq!(injections(&world), Vec::<Value>::new());
}

#[test]
fn a_preview_equals_the_next_injection() {
    let world = world();
    let app = known(&world);
    let mut command = world.command(&["injections", "--preview", "--agent", "codex", "--json"]);
    let preview = World::run(command.current_dir(&app), b"").json();
    let response = hook(&world, &["codex"], &start(&app, "s1", "startup")).unwrap();
    assert_eq!(preview["text"].as_str().unwrap(), context(&response));
    assert_eq!(preview["budget_tokens"], 2_000);
    let unknown = world.tome(&["injections", "--preview", "--agent", "nobody"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("known agents: claude-code"), "{}", unknown.stderr);
}

/// A distinctive statement from an earlier session.
pub fn remembered(world: &World, app: &Path) {
    world.ingest(&[
        line_with(&json!({"id": "h1", "session_id": "old", "cwd": app, "at": MORNING_MS,
            "text": "How do we flush the frobnicator cache before the nightly migration?"})),
        line_with(&json!({"id": "h2", "session_id": "old", "cwd": app, "at": MORNING_MS + 1_000, "kind": "assistant_message",
            "text": "Flush the frobnicator cache with `frob flush --all` before the nightly migration starts."})),
        line_with(&json!({"id": "h3", "session_id": "old", "cwd": app, "at": MORNING_MS + 2_000,
            "text": "Thanks. Now rename the button on the settings page to Save."})),
    ].concat());
    wait_for_indexes(world, app, QUESTION);
}

pub const QUESTION: &str = "flush the frobnicator cache before the nightly migration";

#[test]
fn a_prompt_gets_relevant_hints_only_once() {
    let world = world();
    let app = world.folder("app");
    remembered(&world, &app);
    let response = hook(&world, &["claude-code"], &says(&app, "s1", QUESTION)).unwrap();
    assert_eq!(response["hookSpecificOutput"]["hookEventName"], "UserPromptSubmit");
    let text = context(&response);
    assert!(text.contains("frob flush --all") && text.contains("[#2]"), "{text}");
    assert!(text.contains("<tome-quoted") && !text.contains("button"), "{text}");
    // The same question, also reworded, is not answered again.
    for prompt in [format!("{QUESTION}, please"), format!("again: {QUESTION}")] {
        assert_eq!(hook(&world, &["claude-code"], &says(&app, "s1", &prompt)), None, "{prompt}");
    }
    // Another session gets it as well.
    assert!(hook(&world, &["claude-code"], &says(&app, "s4", QUESTION)).is_some());
    let off = [("TOME_INJECT_HINTS", "off")];
    assert_eq!(hook_with(&world, &["claude-code"], &says(&app, "s3", QUESTION), &off), None);
    let listed = injections(&world);
    assert_eq!(strings(&listed, "why"), ["hints", "hints"]);
    assert!(listed[0]["tokens"].as_u64().unwrap() <= 300);
}

#[test]
fn hints_already_given_are_remembered_across_a_crash() {
    let world = world();
    let app = world.folder("app");
    remembered(&world, &app);
    assert!(hook(&world, &["claude-code"], &says(&app, "s1", QUESTION)).is_some());
    world.kill_daemon().unwrap();
    assert_eq!(world.tome(&["start"]).code, 0);
    let again = format!("{QUESTION}!");
    wait_for_indexes(&world, &app, QUESTION);
    assert_eq!(hook(&world, &["claude-code"], &says(&app, "s1", &again)), None);
    wait_for_indexes(&world, &app, QUESTION);
    assert!(hook(&world, &["claude-code"], &says(&app, "s2", QUESTION)).is_some());
}

pub fn todos(app: &Path, session: &str, id: usize, count: usize) -> Value {
    let todo = |n: usize| json!({"content": format!("bisect the slow test suite, part {n}"), "status": "pending", "activeForm": "bisecting"});
    let input = json!({"todos": (0..count).map(todo).collect::<Vec<_>>()});
    tool(app, session, id, "TodoWrite", &input)
}

pub fn lesson(world: &World, app: &Path) {
    call(
        world,
        app,
        "coder_memory_store",
        &json!({"type": "procedural", "title": "Bisect a slow test suite", "tags": ["success", "testing"],
            "description": "Halve the suite until one slow test is left.",
            "content": "Run half of the tests and take the time. Keep the slower half and halve it again. \
                        Five rounds found the one test that slept in a suite of forty."}),
    );
}

#[test]
fn a_longer_plan_gets_lessons_once() {
    let world = world();
    let app = world.folder("app");
    lesson(&world, &app);
    hook(&world, &["claude-code"], &says(&app, "s1", "make the tests fast"));
    assert_eq!(hook(&world, &["claude-code"], &todos(&app, "s1", 1, 5)), None);
    let response = hook(&world, &["claude-code"], &todos(&app, "s1", 2, 6)).unwrap();
    assert_eq!(response["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    let text = context(&response);
    assert!(text.contains("Bisect a slow test suite (procedural) [coder/procedural/"), "{text}");
    assert!(text.contains("With recalled memory, please replan if needed"), "{text}");
    assert_eq!(hook(&world, &["claude-code"], &todos(&app, "s1", 3, 7)), None);
    let off = [("TOME_INJECT_PLAN", "off")];
    hook(&world, &["claude-code"], &says(&app, "s2", "make the tests fast"));
    assert_eq!(hook_with(&world, &["claude-code"], &todos(&app, "s2", 1, 6), &off), None);
}

/// Ten tool calls, some of them edits.
fn work(world: &World, agent: &str, app: &Path, session: &str, calls: std::ops::Range<usize>) {
    for n in calls {
        assert_eq!(hook(world, &[agent], &edit(app, session, n)), None, "{n}");
    }
}

#[test]
fn a_stop_after_work_asks_exactly_once() {
    let world = world();
    let app = ready(&world);
    hook(&world, &["codex"], &says(&app, "s1", "rework the parser"));
    work(&world, "codex", &app, "s1", 0..6);
    // A crash in the middle loses nothing.
    world.kill_daemon().unwrap();
    assert_eq!(world.tome(&["start"]).code, 0);
    work(&world, "codex", &app, "s1", 6..10);
    let response = hook(&world, &["codex"], &stop(&app, "s1", false)).unwrap();
    assert_eq!(response["decision"], "block");
    let reason = response["reason"].as_str().unwrap();
    assert!(
        reason.contains("coder_memory_store") && reason.contains("memory-store-guide.md"),
        "{reason}"
    );
    assert_eq!(response.as_object().unwrap().len(), 2, "{response}");
    // The agent continues, stops, and is not asked again; nor the next time, without further work.
    assert_eq!(hook(&world, &["codex"], &stop(&app, "s1", true)), None);
    assert_eq!(hook(&world, &["codex"], &says(&app, "s1", "thanks")), None);
    assert_eq!(hook(&world, &["codex"], &stop(&app, "s1", false)), None);
    let listed = injections(&world);
    assert_eq!(strings(&listed, "why"), ["store"]);
    assert_eq!(listed[0]["text"].as_str().unwrap(), reason);
}

#[test]
fn trivial_work_and_disabled_triggers_ask_nothing() {
    let world = world();
    let app = ready(&world);
    work(&world, "claude-code", &app, "s1", 0..2);
    assert_eq!(hook(&world, &["claude-code"], &stop(&app, "s1", false)), None);
    let few = [("TOME_INJECT_STORE_TOOL_CALLS", "2")];
    let off = [few[0], ("TOME_INJECT_STORE", "off")];
    work(&world, "claude-code", &app, "s2", 0..2);
    assert_eq!(hook_with(&world, &["claude-code"], &stop(&app, "s2", false), &off), None);
    work(&world, "claude-code", &app, "s3", 0..2);
    assert!(hook_with(&world, &["claude-code"], &stop(&app, "s3", false), &few).is_some());
}

/// Gemini CLI and Copilot CLI return the reason of a denied stop as a prompt.
#[test]
fn a_returned_injection_is_not_recorded_as_a_prompt() {
    let world = world();
    let app = ready(&world);
    let few = [("TOME_INJECT_STORE_TOOL_CALLS", "2")];
    let gemini = |event: &str, at: u64, more: &Value| {
        let mut payload = json!({"session_id": "g1", "cwd": app, "hook_event_name": event,
                                 "timestamp": format!("2026-11-15T09:30:{at:02}.000Z")});
        for (name, value) in more.as_object().unwrap() {
            payload[name] = value.clone();
        }
        payload
    };
    for n in 1..3 {
        let input = json!({"file_path": "src/a.rs", "old_string": "a", "new_string": "b"});
        let more = json!({"tool_name": "replace", "tool_input": input, "tool_response": {"llmContent": "done"}});
        hook_with(&world, &["gemini"], &gemini("AfterTool", n, &more), &few);
    }
    let more = json!({"prompt": "x", "prompt_response": "finished", "stop_hook_active": false});
    let response = hook_with(&world, &["gemini"], &gemini("AfterAgent", 5, &more), &few).unwrap();
    assert_eq!(response["decision"], "deny");
    let reason = response["reason"].as_str().unwrap().to_owned();
    for back in [reason.clone(), reason.replace('<', "&lt;").replace('>', "&gt;")] {
        let more = json!({"prompt": back});
        assert_eq!(hook_with(&world, &["gemini"], &gemini("BeforeAgent", 6, &more), &few), None);
    }
    let copilot = json!({"sessionId": "c1", "timestamp": MORNING_MS, "cwd": app, "prompt": reason});
    assert_eq!(hook(&world, &["copilot", "userPromptSubmitted"], &copilot), None);
    let kinds = world.events();
    assert_eq!(strings(&kinds, "kind"), ["tool_result", "tool_result", "assistant_stop"]);
}

#[test]
fn subagents_get_no_injections() {
    let world = world();
    let app = known(&world);
    remembered(&world, &app);
    let inside = |mut payload: Value| {
        payload["agent_id"] = json!("a1");
        payload
    };
    assert_eq!(hook(&world, &["claude-code"], &inside(start(&app, "s1", "startup"))), None);
    assert_eq!(hook(&world, &["claude-code"], &inside(says(&app, "s1", QUESTION))), None);
    let created = json!({"event": {"type": "session.created", "properties": {"sessionID": "ses_2",
        "info": {"id": "ses_2", "parentID": "ses_1", "time": {"created": MORNING_MS}}}}, "directory": app});
    assert_eq!(hook(&world, &["opencode"], &created), None);
    let prompt = json!({"input": {"sessionID": "ses_2"}, "directory": app, "output": {
        "message": {"id": "msg_1", "role": "user", "sessionID": "ses_2"},
        "parts": [{"type": "text", "text": QUESTION}]}});
    assert_eq!(hook(&world, &["opencode", "chat.message"], &prompt), None);
    assert_eq!(injections(&world), Vec::<Value>::new());
}

#[test]
fn a_hung_daemon_does_not_delay_a_hook() {
    let world = world();
    let app = known(&world);
    let pid = daemon_up(&world);
    assert!(send_signal(pid, Signal::Stop));
    // With production deadlines; the hook's guarantees are checked with every hook.
    assert_eq!(world.hook_output(&["claude-code"], start(&app, "s1", "startup").to_string()), None);
    assert_eq!(world.hook_output(&["claude-code"], says(&app, "s1", QUESTION).to_string()), None);
    assert!(send_signal(pid, Signal::Continue));
    eventually("both events", || (world.events().len() == 2).then_some(()));
}

#[test]
fn a_session_start_waits_for_a_starting_daemon() {
    let world = world();
    let app = known(&world);
    world.kill_daemon().unwrap();
    let response = hook(&world, &["claude-code"], &start(&app, "s1", "startup")).unwrap();
    assert!(context(&response).contains("- prefers short answers"));
    eventually("the event", || (world.events().len() == 1).then_some(()));
}

#[test]
fn budgets_hold_with_many_notes() {
    let world = world();
    let app = world.folder("app");
    for n in 0..60 {
        world.write(
            &format!("app/.memory/note{n}.md"),
            &format!(
                "---\nname: Note {n}\ndescription: {}\ntype: project\n---\n\nx\n",
                "says a lot about many things ".repeat(6)
            ),
        );
    }
    world.write(
        "app/.memory/facts/user.md",
        &"- another fact that somebody wrote down\n".repeat(300),
    );
    for (budget, session) in [("2000", "s1"), ("900", "s2"), ("400", "s3")] {
        let env = [("TOME_INJECT_BUDGET_TOKENS", budget)];
        let response =
            hook_with(&world, &["claude-code"], &start(&app, session, "startup"), &env).unwrap();
        let text = context(&response);
        assert!(text.len() < 10_000 && text.contains("left out or cut:"), "{text}");
        // A repository's notes may come from anyone.
        assert!(text.contains("<tome-quoted from=\"notes in the repository\""), "{text}");
    }
    for one in injections(&world) {
        let budget = match one["session_id"].as_str().unwrap() {
            "s1" => 2_000,
            "s2" => 900,
            _ => 400,
        };
        assert!(one["tokens"].as_u64().unwrap() <= budget, "{one}");
        assert!(one["cut"].as_array().unwrap().contains(&json!("facts")), "{one}");
    }
    let shown = world.tome(&["injections", "--all-projects"]).stdout;
    assert!(shown.contains("startup") && shown.contains("cut: facts"), "{shown}");
}

/// The other agents' formats of a denied stop, each once.
#[test]
fn every_agent_is_asked_to_store_in_its_format() {
    let world = world();
    let app = ready(&world);
    let few = [("TOME_INJECT_STORE_TOOL_CALLS", "1")];
    let copilot = |event: &str, mut payload: Value| {
        payload["sessionId"] = json!("c1");
        payload["cwd"] = json!(app);
        hook_with(&world, &["copilot", event], &payload, &few)
    };
    let stops = |at: u64, active: bool| json!({"timestamp": MORNING_MS + at, "stopReason": "end_turn", "stop_hook_active": active});
    let edited = json!({"timestamp": MORNING_MS, "toolName": "edit", "toolArgs": {"path": "src/a.rs"},
                        "toolResult": {"resultType": "success", "textResultForLlm": "edited"}});
    assert_eq!(copilot("postToolUse", edited), None);
    let response = copilot("agentStop", stops(1_000, false)).unwrap();
    assert_eq!(response["decision"], "block");
    assert_eq!(copilot("agentStop", stops(2_000, true)), None);
    let opencode =
        |event: &str, payload: &Value| hook_with(&world, &["opencode", event], payload, &few);
    let edited = json!({"input": {"tool": "edit", "sessionID": "ses_1", "callID": "call_0123456789",
        "args": {"filePath": "src/a.rs"}}, "output": {"title": "a", "output": "edited"}, "directory": app});
    assert_eq!(opencode("tool.execute.after", &edited), None);
    let idle = |active: bool| {
        json!({"event": {"type": "session.idle", "properties": {"sessionID": "ses_1",
            "last_assistant_message": format!("done {active}"), "stop_hook_active": active}}, "directory": app})
    };
    let response = opencode("session.idle", &idle(false)).unwrap();
    assert_eq!(response["decision"], "block");
    assert!(
        response["reason"].as_str().unwrap().starts_with("<tome-memory kind=\"store\">"),
        "{response}"
    );
    assert_eq!(opencode("session.idle", &idle(true)), None);
    assert_eq!(strings(&injections(&world), "why"), ["store", "store"]);
}
