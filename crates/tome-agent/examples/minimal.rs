//! A minimal agent with memory: it learns a name in one session and recalls it in the next.
//!
//! Uses Anthropic's API if `ANTHROPIC_API_KEY` is set, otherwise scripted replies, offline.
//! `cargo run -p tome-agent --example minimal [-- <home folder>]`

#![allow(clippy::print_stdout)]

use std::{error::Error, io::Write, sync::Arc, time::Duration};

use tome_agent::model::{
    AnthropicModel, ApiKey, CancelToken, ChatModel, ChatResponse, ContentPart, ModelEndpoint,
    ScriptedChat, StopReason, ToolCall, Usage,
};
use tome_agent::{
    AgentEvent, AgentLoop, AgentSettings, LocalMemory, LocalMemorySettings, SessionInfo,
};

fn main() -> Result<(), Box<dyn Error>> {
    let home = std::env::args().nth(1).map_or_else(
        || std::env::temp_dir().join(format!("tome-minimal-{}", std::process::id())),
        Into::into,
    );
    let fact = r##"{"path":"facts/user.md","content":"# User\n\n> Summary: name\n\n- Name: Ada"}"##;
    let learned = [calls("memory_write", fact), says("Nice to meet you, Ada.")];
    let answered = [calls("memory_read", r#"{"path":"facts/user.md"}"#), says("You are Ada.")];
    for (session, prompt, script) in
        [("first", "Hello, I am Ada.", learned), ("second", "What is my name?", answered)]
    {
        let cwd = std::env::current_dir()?.display().to_string();
        let who = SessionInfo::new(session, cwd)?;
        let memory = LocalMemory::open(LocalMemorySettings::new(&home, who))?;
        let system_prompt = "You are friendly, and remember what people tell you.".to_owned();
        let settings = AgentSettings { system_prompt, ..AgentSettings::default() };
        let mut agent = AgentLoop::new(model(script)?, Arc::new(memory), settings)?;
        println!("> {prompt}");
        let run = agent.run(prompt, &mut show, &CancelToken::default())?;
        let tokens = run.usage.input_total() + run.usage.output;
        println!("\n({} rounds, {tokens} tokens)", run.rounds);
        agent.finish("exit")?;
    }
    Ok(())
}

fn show(event: AgentEvent<'_>) {
    match event {
        AgentEvent::Text(text) => print!("{text}"),
        AgentEvent::ToolEnd { call, .. } => println!("[{} {}]", call.name, call.arguments),
        _ => {}
    }
    let _ = std::io::stdout().flush();
}

fn model(script: [ChatResponse; 2]) -> Result<Arc<dyn ChatModel>, Box<dyn Error>> {
    let Ok(key) = std::env::var("ANTHROPIC_API_KEY") else {
        return Ok(Arc::new(ScriptedChat::new(script.map(Ok))));
    };
    let endpoint = ModelEndpoint {
        base_url: AnthropicModel::BASE_URL.to_owned(),
        key: Some(ApiKey::new(&key)?),
        timeout: Duration::from_secs(120),
        proxy: None,
    };
    Ok(Arc::new(AnthropicModel::new(&endpoint, "claude-sonnet-4-5")?))
}

fn says(text: &str) -> ChatResponse {
    ChatResponse {
        parts: vec![ContentPart::Text(text.to_owned())],
        stop_reason: StopReason::EndTurn,
        usage: Usage::default(),
    }
}

fn calls(name: &str, arguments: &str) -> ChatResponse {
    let (name, arguments) = (name.to_owned(), arguments.to_owned());
    let call = ContentPart::ToolCall(ToolCall { id: "call-1".to_owned(), name, arguments });
    ChatResponse { parts: vec![call], stop_reason: StopReason::ToolCalls, usage: Usage::default() }
}
