//! Injections that were not ready in time: they come with the next suitable event, and delivered
//! ones do not come again.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use tome_proto::v1;
use tome_testkit::{World, eventually};

use crate::injections::{
    QUESTION, context, edit, hook, injections, lesson, remembered, says, stop, todos,
};
use crate::support::{strings, world};

/// Records an event and requests its injection like a hook with no time left.
fn too_late(world: &World, app: &Path, payload: &Value, kind: &str, bytes_max: u32) {
    // The hook discards the response; the request is made by hand.
    let mut command = world.command(&["hook", "claude-code"]);
    command.env("TOME_INJECT_ENABLED", "off").env("TOME_HOOK_PATIENCE", "50");
    World::run_hook_command(&mut command, payload.to_string());
    let newest = world.tome(&["events", "--all-projects", "--newest-first", "-n", "1", "--json"]);
    let event = newest.json_lines().remove(0);
    assert_eq!(event["kind"], kind, "{event}");
    let request = v1::InjectRequest {
        event_id: event["id"].as_str().unwrap().to_owned(),
        agent: "claude-code".to_owned(),
        session_id: event["session_id"].as_str().unwrap().to_owned(),
        cwd: app.display().to_string(),
        kind: kind.to_owned(),
        within_ms: 0,
        bytes_max,
        settings: Some(v1::InjectSettings {
            start: true,
            hints: true,
            plan: true,
            store: true,
            overview: true,
            budget_tokens: 2_000,
            plan_steps: 5,
            store_tool_calls: 10,
            overview_rounds: 10,
            ..v1::InjectSettings::default()
        }),
        ..v1::InjectRequest::default()
    };
    let response =
        world.with_client(async |client| client.inject(request, Duration::from_secs(60)).await);
    assert_eq!(response.unwrap(), "");
}

/// The file with a session's hints and triggers.
fn kept(world: &World, session: &str) -> String {
    let mut folders = vec![world.home().join("projects")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.ends_with(format!("triggers/{session}")) {
                return std::fs::read_to_string(path).unwrap_or_default();
            }
            folders.extend(path.is_dir().then_some(path));
        }
    }
    String::new()
}

#[test]
fn late_hints_come_with_the_next_prompt() {
    let world = world();
    let app = world.folder("app");
    remembered(&world, &app);
    too_late(&world, &app, &says(&app, "s1", QUESTION), "user_message", 9_500);
    eventually("what recall found", || kept(&world, "s1").contains("frob flush").then_some(()));
    // A killed daemon still has them.
    world.kill_daemon().unwrap();
    assert_eq!(world.tome(&["start"]).code, 0);
    let response = hook(&world, &["claude-code"], &says(&app, "s1", "yes")).unwrap();
    assert!(context(&response).contains("frob flush --all"), "{response}");
    // Delivered once and not again, also for the same question.
    for prompt in ["go on", &format!("{QUESTION}, please")] {
        assert_eq!(hook(&world, &["claude-code"], &says(&app, "s1", prompt)), None, "{prompt}");
    }
    assert_eq!(strings(&injections(&world), "why"), ["hints"]);
}

#[test]
fn a_late_request_to_store_comes_at_the_next_stop() {
    let world = world();
    let app = world.folder("app");
    assert_eq!(world.tome(&["start"]).code, 0);
    hook(&world, &["claude-code"], &says(&app, "s1", "make it faster"));
    for id in 0..10 {
        hook(&world, &["claude-code"], &edit(&app, "s1", id));
    }
    let stops = |words: &str| {
        let mut payload = stop(&app, "s1", false);
        payload["last_assistant_message"] = json!(words);
        payload
    };
    too_late(&world, &app, &stops("It is faster."), "assistant_stop", 9_500);
    hook(&world, &["claude-code"], &says(&app, "s1", "thank you"));
    let response = hook(&world, &["claude-code"], &stops("You are welcome.")).unwrap();
    assert_eq!(response["decision"], "block", "{response}");
    // Once.
    hook(&world, &["claude-code"], &says(&app, "s1", "thanks again"));
    assert_eq!(hook(&world, &["claude-code"], &stops("Any time.")), None);
    let listed = injections(&world);
    let handed: Vec<bool> = listed.iter().map(|one| one["handed"].as_bool().unwrap()).collect();
    assert_eq!((strings(&listed, "why"), handed), (vec!["store", "store"], vec![false, true]));
}

/// First too late, then a hook whose agent no longer listens: neither loses the lessons.
#[test]
fn late_lessons_for_a_plan_come_with_the_next_result() {
    let world = world();
    let app = world.folder("app");
    lesson(&world, &app);
    hook(&world, &["claude-code"], &says(&app, "s1", "make the tests fast"));
    too_late(&world, &app, &todos(&app, "s1", 1, 6), "tool_result", 9_500);
    too_late(&world, &app, &edit(&app, "s1", 2), "tool_result", 0);
    let response = hook(&world, &["claude-code"], &edit(&app, "s1", 3)).unwrap();
    assert!(context(&response).contains("Bisect a slow test suite"), "{response}");
    assert_eq!(hook(&world, &["claude-code"], &todos(&app, "s1", 4, 7)), None);
}

#[test]
fn a_stale_overview_triggers_a_reminder() {
    let world = world();
    let app = world.folder("app");
    assert_eq!(world.tome(&["start"]).code, 0);
    let prompt = |n: u32| hook(&world, &["claude-code"], &says(&app, "s1", &format!("part {n}")));
    for n in 0..10 {
        assert_eq!(prompt(n), None, "{n}");
    }
    too_late(&world, &app, &says(&app, "s1", "part 10"), "user_message", 9_500);
    let response = prompt(11).unwrap();
    assert!(context(&response).contains("it has not changed for 11 rounds"), "{response}");
    for n in 12..21 {
        assert_eq!(prompt(n), None, "{n}");
    }
    assert!(context(&prompt(21).unwrap()).contains("21 rounds"));
    // A write ends the reminders, and the state survives the daemon.
    let written = json!({"path": "overview.md", "content": "# Working Memory", "scope": "session"});
    let write = crate::injections::tool(&app, "s1", 90, "mcp__tome__memory_write", &written);
    assert_eq!(hook(&world, &["claude-code"], &write), None);
    world.kill_daemon().unwrap();
    assert_eq!(world.tome(&["start"]).code, 0);
    for n in 30..40 {
        assert_eq!(prompt(n), None, "{n}");
    }
    assert!(context(&prompt(40).unwrap()).contains("10 rounds"));
    let off = [("TOME_INJECT_OVERVIEW", "off")];
    for n in 50..75 {
        let payload = says(&app, "s2", &format!("part {n}"));
        let response = crate::injections::hook_with(&world, &["claude-code"], &payload, &off);
        assert_eq!(response, None, "{n}");
    }
}
