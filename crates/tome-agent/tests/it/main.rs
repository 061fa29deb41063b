//! The library through its public API.

mod agent;
mod compaction;
mod context;
mod memory;
mod paper;
mod properties;
mod reflect;
mod script;
mod tools;
mod triggers;
mod world;
