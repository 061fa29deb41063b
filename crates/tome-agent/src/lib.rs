//! The agent library: what an agent needs that remembers.
//!
//! An [`Agent`] takes a prompt, lets a model speak and call tools until it is done, and keeps all of it:
//! every word is an event in the ledger, facts and episodes are Markdown, and what leaves the model's
//! context is summarised and found again. Its requests stay the same size however long the session is.
//!
//! | piece | what it does |
//! | --- | --- |
//! | [`Memory`] | what an agent asks of its memory; [`Local`] answers in this process, over a home folder |
//! | [`Toolbox`] | the tools of memory, the same that MCP offers, and the agent's own ([`Tool`], [`FnTool`]) |
//! | [`Context`] | system prompt, protocol, overview, index of notes, last turns, within a budget |
//! | [`Compaction`] | what becomes of turns that leave the window; [`CompactBy`] says by whom |
//! | [`Agent`] | the loop, with the triggers: lessons for a longer plan, the request to store |
//! | [`reflect()`] | after a task: a loop of its own that writes down facts and episodes |
//!
//! This crate knows no socket, no terminal, no environment and no wall clock: whoever builds an agent
//! brings a model, a memory and, where it has some, tools of its own.
//!
//! # Example
//!
//! ```
//! use std::sync::Arc;
//!
//! use serde_json::{Value, json};
//! use tome_agent::{Agent, AgentSettings, FnTool, Local, LocalSettings, MemorySet, Toolbox, Who};
//! use tome_llm::{End, Part, Reply, ScriptedChat, Stop, Usage};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let (home, cwd) = (folder.path().join("tome"), folder.path().display().to_string());
//! // The memory of one session: a home folder, a session's name, where the agent stands.
//! let memory = Local::open(LocalSettings::new(home, Who::new("monday", cwd)?))?;
//!
//! // Any `ChatModel`: `AnthropicModel`, `OpenAiModel`, or, as here, a script.
//! let says = |text: &str| Reply {
//!     parts: vec![Part::Text(text.to_owned())],
//!     end: End::Done,
//!     usage: Usage::default(),
//! };
//! let model = ScriptedChat::new([Ok(says("Good morning."))]);
//!
//! // All tools of memory, and one of the agent's own.
//! let schema = json!({ "type": "object", "properties": {} });
//! let dice = FnTool::new("dice", "Throws a die.", schema, |_: &Value| Ok("4".to_owned()));
//! let tools = Toolbox::new(MemorySet::Full).with(dice);
//!
//! let settings = AgentSettings { tools, ..AgentSettings::default() };
//! let mut agent = Agent::new(Arc::new(model), Arc::new(memory), settings)?;
//! let run = agent.run("Hello!", &mut |_said| {}, &Stop::default())?;
//! assert_eq!(run.text, "Good morning.");
//! # Ok(())
//! # }
//! ```
//!
//! `examples/minimal.rs` is a whole agent; `examples/summarizer.rs` brings a summarizer of its own.

mod agent;
mod compaction;
mod context;
mod error;
pub mod limits;
mod memory;
mod reflect;
mod tools;
mod transcript;

pub use agent::{Agent, AgentSettings, Ended, Run, Said};
pub use compaction::{CompactBy, Compaction};
pub use context::{Compacted, Context, ContextSettings, Unit, cap_tokens};
pub use error::{AgentError, MemoryError};
pub use memory::{EngineTools, Local, LocalSettings, Memory, MemoryTools, Moment, Who, index_text};
pub use reflect::{
    Activity, ReflectCause, ReflectError, ReflectSettings, Reflection, Skip, gate, reflect,
};
pub use tools::{FnTool, MemorySet, PlanTool, Ran, Tool, Toolbox};
