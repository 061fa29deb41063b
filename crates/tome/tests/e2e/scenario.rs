//! The scenario that every agent runs through, and its checks.
//!
//! A fact, a lesson and an earlier conversation are stored. The user asks about that conversation;
//! the model searches for it through MCP, makes a plan of six steps, reports that it is done, is
//! asked to store what it learned, and answers that there is nothing.

use std::time::Duration;

use serde_json::{Value, json};
use tome_testkit::{eventually, eventually_within};

use crate::agent_fixture::AgentFixture;
use crate::model::{Call, ModelRequest, Step};

pub const PROMPT: &str = "How do we flush the frobnicator cache before the nightly migration?";

/// A fact that is injected at every session start.
const FACT: &str = "prefers answers of one sentence";
/// The answer in the earlier conversation, and the citation of its event.
const ANSWER: &str = "Flush the frobnicator cache with `frob flush --all` first.";
const CITATION: &str = "] #2 (";
/// A lesson that is relevant to the plan.
const LESSON: &str = "Bisect a slow test suite";
/// Text that accompanies the lessons for a plan.
const REPLAN: &str = "With recalled memory, please replan if needed";
/// Beginning of the request to store.
const STORE: &str = "Tome, the memory of this session:";
/// Replies of the model before and after the request to store.
const DONE: &str = "The cache is flushed and the plan is done.";
const NOTHING: &str = "There is nothing to store.";

/// Agent-specific names and calls for the script.
pub struct AgentCalls {
    /// Tome's name of the agent.
    pub agent: &'static str,
    /// Builds a recall call with these arguments.
    pub recall: fn(Value) -> Call,
    /// Builds the calls for a plan with these steps.
    pub plan: fn(&[String]) -> Vec<Call>,
}

/// The model's script.
pub fn script(calls: &AgentCalls) -> Vec<Step> {
    let steps: Vec<String> =
        (1..=6).map(|n| format!("bisect the slow test suite, part {n}")).collect();
    vec![
        Step::Use(vec![(calls.recall)(json!({"query": "flush the frobnicator cache"}))]),
        Step::Use((calls.plan)(&steps)),
        Step::Say(DONE),
        Step::Say(NOTHING),
    ]
}

/// Stores what the scenario needs.
pub fn begin(fixture: &AgentFixture) {
    fixture.ask_headless_runs();
    let content = format!("# User\n\n- {FACT}\n");
    fixture.tool("memory_write", &json!({"path": "facts/user.md", "content": content}));
    fixture.tool(
        "coder_memory_store",
        &json!({"type": "procedural", "title": LESSON, "tags": ["success", "testing"],
            "description": "Halve the suite until one slow test is left.",
            "content": "Run half of the tests and take the time. Keep the slower half and halve it again. \
                        Five rounds found the one test that slept in a suite of forty."}),
    );
    let line = |id: &str, at: u64, kind: &str, text: &str| {
        json!({"id": id, "session_id": "old", "agent": "earlier", "cwd": fixture.app, "kind": kind,
               "at": 1_794_735_000_000_u64 + at, "text": text})
        .to_string()
    };
    let lines = [
        line("h1", 0, "user_message", PROMPT),
        line("h2", 1_000, "assistant_message", ANSWER),
        line("h3", 2_000, "user_message", "Thanks. Now rename the button to Save."),
    ];
    fixture.world.ingest(&(lines.join("\n") + "\n"));
}

/// Time for the daemon to read the transcript of a silent session, even on a busy machine.
const HEALED_WITHIN: Duration = Duration::from_secs(150);

/// Checks all results and stops the daemon. Hooks have production deadlines: an injection that is
/// not ready in time is not expected in a request.
pub fn end(fixture: &AgentFixture, calls: &AgentCalls) {
    let requests = fixture.model.requests();
    let told = Told::by(fixture);
    // Another request would be a second nudge.
    let nudges = usize::from(told.has("store"));
    let steps = (requests.len(), fixture.model.steps_left());
    assert_eq!(steps, (3 + nudges, 1 - nudges), "{}", fixture.model.log());
    the_model_was_told(&requests, &told);
    the_mcp_server_answered(&requests, calls);
    the_events_are_stored(fixture, calls, &told);
    everything_is_stored_without_an_import(fixture, calls);
    an_import_finds_nothing_new(fixture, calls);
    let ran = fixture.world.tome(&["stop"]);
    assert_eq!(ran.code, 0, "tome stop: {}", ran.stderr);
    eventually("the daemon to be gone", || fixture.world.daemon_pid().is_none().then_some(()));
}

/// Reasons of the injections delivered in time, oldest first.
struct Told(Vec<String>);

impl Told {
    fn by(fixture: &AgentFixture) -> Self {
        let all = fixture.injections();
        let why = |one: &Value| one["why"].as_str().unwrap_or_default().to_owned();
        let (handed, late): (Vec<&Value>, Vec<&Value>) =
            all.iter().partition(|one| one["handed"] == true);
        let late: Vec<String> = late.into_iter().map(why).collect();
        println!("too late: {late:?}");
        let handed: Vec<String> = handed.into_iter().map(why).collect();
        let expected = ["startup", "new", "hints", "replan", "store"];
        assert!(handed.iter().all(|why| expected.contains(&why.as_str())), "{handed:?}");
        let mut once = handed.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), handed.len(), "nothing is told twice: {handed:?}");
        Self(handed)
    }

    fn has(&self, why: &str) -> bool {
        self.0.iter().any(|told| told == why)
    }
}

/// Checks that each delivered injection is in the following request, and in none before.
fn the_model_was_told(requests: &[ModelRequest], told: &Told) {
    let first = requests[0].text();
    let started = told.has("startup") || told.has("new");
    assert_eq!(first.contains("<tome-memory kind=\"start\">"), started, "{first}");
    assert!(!started || first.contains(FACT), "{first}");
    assert_eq!(first.contains("<tome-memory kind=\"hints\">"), told.has("hints"), "{first}");
    assert!(!told.has("hints") || first.contains(ANSWER), "{first}");
    assert!(!requests[1].text().contains(REPLAN));
    let planned = requests[2].text();
    assert_eq!(planned.contains(REPLAN), told.has("replan"), "{planned}");
    assert!(!told.has("replan") || planned.contains(LESSON), "{planned}");
    assert!(requests[..3].iter().all(|one| !one.text().contains(STORE)));
    if let Some(last) = requests.get(3) {
        assert!(last.text().contains(STORE), "{}", last.text());
        assert_eq!(last.text().matches(REPLAN).count(), planned.matches(REPLAN).count());
    }
}

fn the_mcp_server_answered(requests: &[ModelRequest], calls: &AgentCalls) {
    let call = (calls.recall)(Value::Null);
    for name in [Some(call.tool), call.group].into_iter().flatten() {
        let offered = requests[0].offered();
        assert!(offered.iter().any(|tool| tool == name), "{name} in {offered:?}");
    }
    let results = requests[1].results();
    assert_eq!(results.len(), 1, "{results:?}");
    assert!(results[0].contains(ANSWER) && results[0].contains(CITATION), "{results:?}");
}

fn the_events_are_stored(fixture: &AgentFixture, calls: &AgentCalls, told: &Told) {
    let last = if told.has("store") { NOTHING } else { DONE };
    // Not every agent waits for its last hook.
    let events = eventually("the end of the session", || {
        let events = fixture.world.events();
        let mine: Vec<Value> =
            events.into_iter().filter(|event| event["session_id"] != "old").collect();
        let has = |kind: &str, text: &str| {
            let mut of_kind = mine.iter().filter(|event| event["kind"] == kind);
            of_kind.any(|event| event["text"].as_str().is_some_and(|stored| stored.contains(text)))
        };
        (has("session_end", "") && has("assistant_stop", last)).then_some(mine)
    });
    println!("{}", events.iter().map(|event| format!("{event}\n")).collect::<String>());
    assert!(events.iter().all(|event| event["agent"] == calls.agent));
    let of = |kind: &str| -> Vec<&str> {
        let events = events.iter().filter(|event| event["kind"] == kind);
        events.filter_map(|event| event["text"].as_str()).collect()
    };
    assert_eq!(of("session_start").len(), 1);
    assert_eq!(of("user_message"), [PROMPT]);
    let plan = (calls.plan)(&[String::new()]).len();
    let results = of("tool_result");
    assert!(results.len() > plan, "{results:?}");
    let stops = of("assistant_stop");
    // Copilot CLI's stops come without a text; the texts follow.
    let answers: Vec<&str> = stops.into_iter().filter(|text| !text.is_empty()).collect();
    assert_eq!(answers.len(), 1 + usize::from(told.has("store")), "{answers:?}");
    assert!(answers[0].contains(DONE) && answers[answers.len() - 1].contains(last), "{answers:?}");
    assert_eq!(of("session_end").len(), 1);
    // No injected text is recorded as a message.
    let own =
        |event: &&Value| [STORE, REPLAN].iter().any(|own| event["text"].to_string().contains(own));
    assert_eq!(events.iter().find(own), None);
}

/// Checks that everything in the agent's transcripts is stored once without an import.
fn everything_is_stored_without_an_import(fixture: &AgentFixture, calls: &AgentCalls) {
    let covered = || {
        let report = fixture.world.tome(&["doctor", "--deep", "--json"]).json();
        let agents = report["coverage"]["agents"].as_array().cloned().unwrap_or_default();
        agents.into_iter().find(|one| one["agent"] == calls.agent).unwrap_or_default()
    };
    let complete = eventually_within(HEALED_WITHIN, || {
        let covered = covered();
        (covered["percent"] == 100.0).then_some(covered)
    });
    let covered = complete.unwrap_or_else(|| panic!("{}", covered()));
    assert_eq!(covered["duplicates"], json!([]), "{covered}");
}

/// Checks that the agent's transcripts contain nothing that its hooks have not reported.
fn an_import_finds_nothing_new(fixture: &AgentFixture, calls: &AgentCalls) {
    let before = fixture.world.events();
    let ran = fixture.world.tome(&["import", "--agent", calls.agent]);
    assert_eq!(ran.code, 0, "tome import: {}", ran.stderr);
    assert!(ran.stdout.contains("duplicates"), "{}", ran.stdout);
    let mut new = fixture.world.events();
    new.retain(|event| !before.iter().any(|old| old["id"] == event["id"]));
    assert_eq!(new, Vec::<Value>::new());
}
