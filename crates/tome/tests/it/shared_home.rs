//! Agents of the library `tome-agent` share a home with the daemon.

use std::sync::Arc;

use serde_json::{Value, json};
use tome_agent::{
    AgentLoop, AgentSettings, ClientSettings, DaemonProgram, HomeMemory, HomeMemorySettings,
    LocalMemory, LocalMemorySettings, Memory, MemoryTools, SessionInfo,
};
use tome_llm::{CancelToken, ChatResponse, ScriptedChat};
use tome_testkit::World;

use crate::support::{line_with, strings, texts, world};

/// A session of the agent `heron` in the world's project.
fn session(world: &World) -> SessionInfo {
    let project = world.folder("app").to_str().unwrap().to_owned();
    SessionInfo::for_agent("heron", "h1", project).unwrap()
}

fn agent(memory: &Arc<HomeMemory>, replies: &[&str]) -> AgentLoop {
    let replies: Vec<_> = replies.iter().map(|text| Ok(ChatResponse::from_text(*text))).collect();
    let memory = Arc::clone(memory);
    AgentLoop::new(Arc::new(ScriptedChat::new(replies)), memory, AgentSettings::default()).unwrap()
}

fn run(agent: &mut AgentLoop, prompt: &str) {
    agent.run(prompt, &mut |_event| {}, &CancelToken::default()).unwrap();
}

/// The texts of the agent's messages, as the daemon lists them.
fn messages(world: &World) -> Vec<String> {
    let is_message = |event: &Value| {
        event["agent"] == "heron"
            && ["user_message", "assistant_stop"].contains(&event["kind"].as_str().unwrap())
    };
    let events: Vec<Value> = world.events().into_iter().filter(is_message).collect();
    texts(&events).into_iter().map(str::to_owned).collect()
}

#[test]
fn an_agent_works_beside_the_daemon_that_holds_its_home() {
    let world = world();
    let cwd = world.folder("app");
    world.ingest(&line_with(&json!({"id": "e1", "text": "the quokka cache", "cwd": cwd})));
    let daemon = world.daemon_pid().unwrap();
    // In this process the store cannot be opened, because the daemon has it open.
    let local = LocalMemory::open(LocalMemorySettings::new(world.home(), session(&world))).unwrap();
    let moment =
        local.session().new_event(tome_model::EventKind::UserMessage, local.now(), "1", "no");
    assert!(local.record_events(&[moment]).is_err());
    drop(local);

    let settings = HomeMemorySettings::new(world.home(), session(&world));
    let memory = Arc::new(HomeMemory::open(settings).unwrap());
    let mut agent = agent(&memory, &["Herons wait."]);
    run(&mut agent, "How do herons hunt?");
    assert!(!memory.is_local());
    // The daemon has the agent's events, and the agent finds what others stored there.
    assert_eq!(messages(&world), ["How do herons hunt?", "Herons wait."]);
    let found = memory.call_tool("recall_memory", r#"{"query":"quokka cache"}"#).unwrap();
    assert!(found.text.contains("the quokka cache"), "{}", found.text);
    let recalled = world.tome(&["recall", "herons hunt", "--all-projects", "--json"]);
    assert!(recalled.stdout.contains("How do herons hunt?"), "{recalled:?}");
    agent.finish("exit").unwrap();
    assert_eq!(world.daemon_pid(), Some(daemon));
}

#[test]
fn an_agent_goes_on_in_its_own_process_when_the_daemon_is_gone() {
    let world = world();
    let cwd = world.folder("app");
    world.ingest(&line_with(&json!({"id": "e1", "cwd": cwd})));
    let settings = HomeMemorySettings::new(world.home(), session(&world));
    let memory = Arc::new(HomeMemory::open(settings).unwrap());
    let mut agent = agent(&memory, &["one", "two"]);
    run(&mut agent, "first");
    assert!(!memory.is_local());
    world.kill_daemon().unwrap();
    run(&mut agent, "second");
    assert!(memory.is_local());
    agent.finish("exit").unwrap();
    drop((agent, memory));
    assert_eq!(messages(&world), ["first", "one", "second", "two"]);
}

#[test]
fn a_memory_with_a_program_starts_the_daemon() {
    let world = world();
    let config = world.write("config.toml", "");
    let environment = [
        ("HOME", world.folder("person").into_os_string()),
        ("XDG_RUNTIME_DIR", world.folder("runtime").into_os_string()),
        ("TOME_DAEMON_IDLE_EXIT", "2m".into()),
        ("TOME_CAPTURE_TRANSCRIPTS", "off".into()),
    ];
    let program = DaemonProgram {
        path: world.program().to_path_buf(),
        arguments: vec!["--config".into(), config.into()],
        environment: environment.map(|(name, value)| (name.into(), value)).into(),
    };
    let client = ClientSettings {
        autostart: true,
        program: Some(program),
        ..ClientSettings::new(world.home())
    };
    let settings =
        HomeMemorySettings { client, ..HomeMemorySettings::new(world.home(), session(&world)) };
    let memory = Arc::new(HomeMemory::open(settings).unwrap());
    let mut agent = agent(&memory, &["one", "two"]);
    run(&mut agent, "first");
    world.kill_daemon().unwrap();
    run(&mut agent, "second");
    assert!(!memory.is_local());
    assert!(world.daemon_pid().is_some());
    assert_eq!(messages(&world), ["first", "one", "second", "two"]);
    assert!(strings(&world.events(), "agent").contains(&"heron"));
}
