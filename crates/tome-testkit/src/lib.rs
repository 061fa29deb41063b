//! A hermetic world for tests of the shipped program: a home of its own, an environment of its own,
//! a daemon that ends with the test. Nothing of the machine's user is read or written.

mod world;

pub use world::{Ran, World};
