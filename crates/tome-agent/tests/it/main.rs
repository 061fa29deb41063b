//! The library through its public API.

mod memory;
mod world;
