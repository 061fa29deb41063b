//! A library for building agents with long-term memory.
//!
//! An [`AgentLoop`] takes a prompt and lets a model reply and call tools until it is done. Everything is
//! stored: each message and tool result is an event in the ledger, facts and episodes are Markdown
//! notes, and turns that leave the model's context are summarized and stay searchable. The size of a
//! request is bounded, however long the session gets.
//!
//! | item | purpose |
//! | --- | --- |
//! | [`Memory`] | stores and retrieves what an agent knows; [`HomeMemory`] does so over Tome's home, through the daemon if it is running and in this process otherwise |
//! | [`DaemonMemory`], [`LocalMemory`] | only through the daemon, which it can start; only in this process |
//! | [`Toolbox`] | the tools a model may call: the memory tools, as offered over MCP, and your own ([`CustomTool`], [`FnTool`]) |
//! | [`ContextWindow`] | builds requests: system prompt, overview, index of notes and recent turns, within a token budget |
//! | [`Compaction`] | the summary of turns that left the context window; [`CompactionStrategy`] selects who writes it |
//! | [`AgentLoop`] | the agent loop, with triggers that inject lessons, reminders and the request to save what was learned |
//! | [`reflect()`] | a separate loop that runs after a task and writes facts and episodes |
//!
//! Types from other crates of the workspace are re-exported: [`model`] (chat models and their messages),
//! [`event`] (stored events, times), [`summary`] (summarizers). An agent needs no other crate of Tome.
//!
//! The crate reads neither the terminal, the environment nor the wall clock. The caller supplies a
//! model, a memory and, optionally, tools.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//!
//! use serde_json::{Value, json};
//! use tome_agent::model::{CancelToken, ChatResponse, ScriptedChat};
//! use tome_agent::{
//!     AgentLoop, AgentSettings, FnTool, HomeMemory, HomeMemorySettings, MemoryToolSet, SessionInfo,
//!     Toolbox,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let (home, cwd) = (folder.path().join("tome"), folder.path().display().to_string());
//! // The memory of one session: a home folder, a session id and the working directory.
//! let session = SessionInfo::new("monday", cwd)?;
//! let memory = HomeMemory::open(HomeMemorySettings::new(home, session))?;
//!
//! // Any `ChatModel`: `AnthropicModel`, `OpenAiModel` or, as here, scripted responses.
//! let model = ScriptedChat::new([Ok(ChatResponse::from_text("Good morning."))]);
//!
//! // All memory tools, and a custom one.
//! let schema = json!({ "type": "object", "properties": {} });
//! let dice = FnTool::new("dice", "Throws a die.", schema, |_: &Value| Ok("4".to_owned()));
//! let tools = Toolbox::new(MemoryToolSet::Full).with_tool(dice);
//!
//! let settings = AgentSettings { tools, ..AgentSettings::default() };
//! let mut agent = AgentLoop::new(Arc::new(model), Arc::new(memory), settings)?;
//! let run = agent.run("Hello!", &mut |_event| {}, &CancelToken::default())?;
//! assert_eq!(run.text, "Good morning.");
//! # Ok(())
//! # }
//! ```
//!
//! `examples/minimal.rs` is a complete agent, `examples/shared_home.rs` one that shares its home with a
//! running Tome; `examples/summarizer.rs` adds a custom summarizer.

mod agent;
mod compaction;
mod context;
mod error;
pub mod event;
pub mod limits;
mod memory;
pub mod model;
mod reflect;
pub mod summary;
mod tools;
mod transcript;

pub use agent::{AgentEvent, AgentLoop, AgentRun, AgentSettings, FinishReason};
pub use compaction::{Compaction, CompactionStrategy};
pub use context::{
    CompactionTotals, ContextSettings, ContextUnit, ContextWindow, WindowTooSmall, cap_tokens,
};
pub use error::AgentError;
pub use memory::{HomeMemory, HomeMemorySettings};
pub use reflect::{
    Reflection, ReflectionCause, ReflectionError, ReflectionSettings, SessionActivity, SkipReason,
    find_skip_reason, reflect,
};
pub use tome_client::{
    ClientSettings, ConnectError, DaemonConnector, DaemonMemory, DaemonProgram, Home, StartPolicy,
    UserFolders,
};
pub use tome_engine::triggers::TriggerSettings;
pub use tome_engine::{
    Caller, InjectionText, ToolAnswer, ToolEffect, ToolFailure, ToolSpec, Tools,
};
pub use tome_memory::{
    EngineTools, LocalMemory, LocalMemorySettings, Memory, MemoryError, MemoryTools, SessionEvent,
    SessionInfo, render_notes_index,
};
pub use tools::{CustomTool, FinishedToolCall, FnTool, MemoryToolSet, PlanTool, Toolbox};
