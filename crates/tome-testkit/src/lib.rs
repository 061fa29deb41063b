//! A hermetic environment for tests of the shipped binary: its own home and environment variables,
//! and a daemon that ends with the test. Nothing of the machine's user is read or written.
//!
//! Also: a language model on loopback (`ModelServer`), the crash test (`CrashTest`), seeded random
//! numbers, a terminal (`TestTerminal`), a draft and a clock, and polling for a condition.

#[cfg(unix)]
mod crash_test;
mod fixtures;
mod model;
mod process;
mod rng;
#[cfg(unix)]
mod terminal;
mod wait;
mod world;

#[cfg(unix)]
pub use crash_test::{CrashTest, CrashTestPlan, CrashTestReport, StopCondition};
pub use fixtures::{TickingClock, prompt_draft};
pub use model::{ModelRequest, ModelServer, ScriptedAnswer};
pub use process::{Signal, is_alive, send_signal};
pub use rng::SeededRng;
#[cfg(unix)]
pub use terminal::TestTerminal;
pub use wait::{eventually, eventually_within, pause};
pub use world::{CommandResult, World, temporary_folder};
