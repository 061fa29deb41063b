//! An agent that shares its home with Tome: it uses the daemon while one is running, and opens the home
//! itself otherwise.
//!
//! Pass Tome's home to see the session in `tome events`. The replies are scripted, offline.
//! `cargo run -p tome-agent --example shared_home [-- <home folder>]`

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::Arc;

use tome_agent::model::{CancelToken, ChatResponse, ScriptedChat};
use tome_agent::{AgentLoop, AgentSettings, HomeMemory, HomeMemorySettings, SessionInfo};

fn main() -> Result<(), Box<dyn Error>> {
    let home = std::env::args().nth(1).map_or_else(
        || std::env::temp_dir().join(format!("tome-shared-{}", std::process::id())),
        Into::into,
    );
    let cwd = std::env::current_dir()?.display().to_string();
    let session = SessionInfo::for_agent("heron", &format!("heron-{}", std::process::id()), cwd)?;
    let memory = Arc::new(HomeMemory::open(HomeMemorySettings::new(home, session))?);
    println!("memory: {}", if memory.is_local() { "this process" } else { "the daemon" });

    let model = ScriptedChat::new([Ok(ChatResponse::from_text("Herons wait."))]);
    let mut agent = AgentLoop::new(Arc::new(model), memory, AgentSettings::default())?;
    let run = agent.run("How do herons hunt?", &mut |_event| {}, &CancelToken::default())?;
    println!("{}", run.text);
    for event in agent.recent_events(10)? {
        println!("stored: {} {}", event.kind.as_str(), event.text);
    }
    agent.finish("exit")?;
    Ok(())
}
