//! `tome bench recall`: measures recall against queries with known answers.
//!
//! It uses the same paths as real use: documents are stored as `tome ingest` stores them, and queries go
//! over the daemon's socket. Only documents that a returned citation opens count, so an empty store
//! scores zero.
//!
//! | item | purpose |
//! | --- | --- |
//! | [`BenchCommand`], [`BenchRecallArgs`] | the command line |
//! | [`BenchOptions`] | the options that every command has |
//! | [`MeasuredProgram`] | the program: its daemon, and how it stores events |
//! | [`run_recall`] | measures and prints |

mod args;
mod dataset;
mod fts5;
mod indexing_wait;
mod metrics;
mod print;
mod program;
mod recall;
mod resolver;
mod runner;
mod sandbox;
mod time_formats;
mod timeline;

pub use args::{BenchCommand, BenchRecallArgs};
pub use program::{BenchOptions, DaemonFlags, MeasuredProgram};
pub use recall::run_recall;
