//! The agent library: what an agent needs that remembers.
//!
//! This crate knows no socket, no terminal, no environment and no wall clock: whoever builds an agent
//! brings a model, a memory and, where it has some, tools of its own.

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
