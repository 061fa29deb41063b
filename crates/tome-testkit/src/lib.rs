//! A hermetic environment for tests of the shipped binary: its own home and environment variables,
//! and a daemon that ends with the test. Nothing of the machine's user is read or written.
//!
//! Also: a language model on loopback (`ModelServer`), the crash test (`CrashTest`), seeded random
//! numbers, and polling for a condition.

mod chance;
mod model;
mod process;
#[cfg(unix)]
mod siege;
mod wait;
mod world;

pub use chance::SeededRng;
pub use model::{ModelRequest, ModelServer, ScriptedAnswer};
pub use process::{Signal, is_alive, send_signal};
#[cfg(unix)]
pub use siege::{CrashTest, CrashTestPlan, CrashTestReport, StopCondition};
pub use wait::{eventually, eventually_within, pause};
pub use world::{CommandResult, World};
