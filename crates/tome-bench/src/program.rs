//! The interface to the program under test.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use indicatif::ProgressBar;
use tome_client::DaemonConnector;
use tome_proto::Client;

/// The options that every command has.
#[derive(Debug, Clone, Default)]
pub struct BenchOptions {
    /// `--home`: keep the benchmark's home here.
    pub home: Option<PathBuf>,
    /// `--config`
    pub config: Option<PathBuf>,
    /// `--set key=value`, in order.
    pub set: Vec<String>,
    /// Print JSON instead of tables.
    pub json: bool,
}

/// The flags of the benchmark's own daemon.
#[derive(Debug, Clone)]
pub struct DaemonFlags {
    /// `--home`
    pub home: PathBuf,
    /// `--config`
    pub config: PathBuf,
    /// `--set key=value`, in order.
    pub set: Vec<String>,
}

/// The program that is measured.
pub trait MeasuredProgram {
    /// Builds the connector of a home with these flags; the user's variables do not apply.
    fn build_connector(&self, flags: &DaemonFlags) -> Result<DaemonConnector>;

    /// Builds a command that runs the program without the user's variables and without arguments.
    fn build_command(&self) -> Result<Command>;

    /// Stores the events in a file of JSON lines as `tome ingest` does. Returns the rejected
    /// lines: number and reason.
    fn store_lines(
        &self,
        client: &Client,
        file: &Path,
        bar: &ProgressBar,
    ) -> impl Future<Output = Result<Vec<(u64, String)>>>;

    /// Waits until the program is told to stop.
    fn wait_for_termination(&self) -> impl Future<Output = ()>;
}
