//! The notebook through its public API, on real folders.

mod basics;
mod processes;
mod random;
mod sandbox;
mod world;
