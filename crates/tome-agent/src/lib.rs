//! The agent library: what an agent needs that remembers.
//!
//! This crate knows no socket, no terminal, no environment and no wall clock: whoever builds an agent
//! brings a model, a memory and, where it has some, tools of its own.

mod error;
mod memory;

pub use error::MemoryError;
pub use memory::{EngineTools, Local, LocalSettings, Memory, MemoryTools, Moment, Who};
