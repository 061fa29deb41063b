//! Injections in a chat: lessons for a longer plan, once, and the request to store, once; tool
//! calls keep their results.

use serde_json::{Value, json};
use tome_testkit::{ModelServer, ScriptedAnswer};

use crate::chat_model::{BOTH, chat, check_calls, configured, last};

fn plan(steps: usize) -> Value {
    let step =
        |n: usize| json!({"step": format!("step {n} of the lexer release"), "status": "pending"});
    json!({ "plan": (1..=steps).map(step).collect::<Vec<_>>() })
}

const LESSON: &str = r#"{"type":"procedural","title":"Freeze the lexer before a release","description":"release order","content":"Tag the lexer first. Release the parser after it. Otherwise the release breaks.","tags":["release","lexer","success"]}"#;

#[test]
fn a_longer_plan_gets_lessons_once() {
    for provider in BOTH {
        let server = ModelServer::directed(|request| {
            check_calls(request);
            let last = last(request);
            let plans = request.body.to_string().matches("Plan noted").count();
            if last.contains("kind=\"store\"") {
                let lesson: Value =
                    serde_json::from_str(&LESSON.replace("Freeze", "Thaw")).unwrap();
                ScriptedAnswer::call("coder_memory_store", &lesson)
            } else if last.contains("release it") {
                // Two calls in one reply: the lessons follow both results.
                ScriptedAnswer::call("update_plan", &plan(6)).and_call("list_files", &json!({}))
            } else if plans == 1 {
                assert!(last.contains("Tag the lexer first"), "{last}");
                assert!(last.contains("replan"), "{last}");
                ScriptedAnswer::text("Replanned.").and_call("update_plan", &plan(7))
            } else if last.contains("Plan noted") {
                ScriptedAnswer::text("Done.")
            } else if last.contains("and now") {
                ScriptedAnswer::text("Nothing more.")
            } else {
                ScriptedAnswer::text("Stored.")
            }
        });
        let world = configured(&server, provider, "");
        world.write("app/notes.md", "x");
        assert_eq!(world.tome(&["tool", "coder_memory_store", LESSON]).code, 0);
        // A project note on the same subject is not a lesson.
        let note =
            r#"{"path": "facts/lexer.md", "content": "The lexer release is on Friday the 13th"}"#;
        let mut own = crate::chat::at(&world, &["tool", "memory_write", note]);
        assert_eq!(tome_testkit::World::run(&mut own, b"").code, 0);

        let typed = "release it\nand now?\n";
        let ran = chat(&world, &["--session", "s", "--no-reflect"], typed);
        assert_eq!(ran.stdout, "Replanned.\nDone.\nStored.\nNothing more.\n", "{ran:?}");
        let requests = server.requests();
        let count = |n: usize, what: &str| requests[n].body.to_string().matches(what).count();
        let lessons = r#"kind=\"plan\""#;
        let store = r#"kind=\"store\""#;
        assert_eq!(requests.len(), 6, "plan, replan, done, store, stored, and the next prompt");
        assert_eq!([0, 1, 2, 5].map(|n| count(n, lessons)), [0, 1, 1, 1], "once, and kept");
        assert_eq!([2, 3, 4, 5].map(|n| count(n, store)), [0, 1, 1, 1], "once, after the work");
        assert_eq!(count(1, "Friday the 13th"), 0, "only the coder's lessons");
        let recalled = world.tome(&["coder", "recall", "lexer", "release", "--json"]);
        assert!(recalled.stdout.contains("Thaw the lexer"), "{recalled:?}");
        let injected = world.tome(&["injections", "--session", "s", "--json"]).json_lines();
        let whys: Vec<&str> = injected.iter().map(|one| one["why"].as_str().unwrap()).collect();
        assert_eq!(whys, ["replan", "store"]);
    }
}

#[test]
fn a_short_plan_or_missing_lessons_inject_nothing() {
    let server = ModelServer::directed(|request| {
        let last = last(request);
        match () {
            () if last.contains("short") => ScriptedAnswer::call("update_plan", &plan(5)),
            () if last.contains("long") => ScriptedAnswer::call("update_plan", &plan(6)),
            () => ScriptedAnswer::text("Done."),
        }
    });
    let world = configured(&server, "anthropic", "[inject]\nstore = false");
    let ran = chat(&world, &["--session", "s", "--no-reflect"], "short\nlong\n");
    assert_eq!(ran.stdout, "Done.\nDone.\n", "{ran:?}");
    assert!(
        server.requests().iter().all(|request| !request.body.to_string().contains("<tome-memory"))
    );
}
