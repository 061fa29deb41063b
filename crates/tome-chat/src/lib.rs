//! `tome chat`: an agent in the terminal, built on the agent library. Its memory is the daemon's;
//! its tools are the memory tools and read-only access to the project's files.
//!
//! | item | purpose |
//! | --- | --- |
//! | [`ChatArgs`] | the command line |
//! | [`ChatSetup`] | what the program provides: the daemon, the model, settings, the other commands |
//! | [`run_chat`] | runs a chat until the user leaves |
//! | [`DaemonBudget`] | the daily token budget that the daemon keeps |
//!
//! The crate reads neither the configuration nor the environment nor the clock.

mod args;
mod budget;
mod chat;
mod cost;
mod files;
mod input;
mod line_wrap;
mod model;
mod offline;
mod screen;
mod session;
mod settings;
mod setup;
mod slash;
mod user_error;

pub use args::{CHAT_HELP, ChatArgs};
pub use budget::DaemonBudget;
pub use chat::run_chat;
pub use setup::{BuildModel, ChatSetup, ModelSections};
