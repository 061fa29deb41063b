//! The isolated environment of a benchmark: its own home and daemon.
//!
//! The user's config file and environment variables do not apply, only flags on this command line. The
//! daemon stops with the benchmark, even if it fails.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;
use tome_client::{DaemonConnector, StartPolicy};
use tome_proto::Client;
use tome_terminal::CommandError;

use crate::program::{BenchOptions, DaemonFlags, MeasuredProgram};

/// Folder that marks a home as created by a benchmark.
const MARKER_FOLDER: &str = "bench";
/// Defaults that the command line can override: times without a zone are UTC, and the daemon of a
/// killed benchmark exits after a while.
const DEFAULT_SETTINGS: [&str; 2] = ["contents.zone=UTC", "daemon.idle_exit=10m"];

pub struct BenchSandbox<'a, P> {
    pub program: &'a P,
    flags: DaemonFlags,
    connector: DaemonConnector,
    /// Deletes a temporary home on drop; `None` for a home that is kept.
    _folder: Option<TempDir>,
}

impl<'a, P: MeasuredProgram> BenchSandbox<'a, P> {
    /// Creates a temporary home, or uses the one given with `--home`.
    pub fn new(program: &'a P, options: &BenchOptions) -> Result<Self> {
        let (home, folder) = match &options.home {
            Some(home) => (check_kept_home(home)?, None),
            None => {
                let folder = tempfile::Builder::new().prefix("tome-bench").tempdir();
                let folder = folder.context("cannot create a temporary folder")?;
                (folder.path().join("home"), Some(folder))
            }
        };
        let projects = home.join(MARKER_FOLDER);
        std::fs::create_dir_all(&projects)
            .with_context(|| format!("cannot create {}", projects.display()))?;
        let home = home.canonicalize()?;
        let config = match &options.config {
            Some(config) => config.clone(),
            None => {
                let config = home.join(MARKER_FOLDER).join("config.toml");
                tome_home::write_atomic(&config, b"")?;
                config
            }
        };
        let set = DEFAULT_SETTINGS.iter().map(|set| (*set).to_owned()).chain(options.set.clone());
        let flags = DaemonFlags { home, config, set: set.collect() };
        let connector = program.build_connector(&flags)?;
        Ok(Self { program, flags, connector, _folder: folder })
    }

    /// The folder with the projects of a data set.
    pub fn projects_folder(&self, set: &str) -> PathBuf {
        self.flags.home.join(MARKER_FOLDER).join(set)
    }

    pub async fn start_daemon(&self) -> Result<Client> {
        let DaemonFlags { home, config, set } = &self.flags;
        let mut command = self.program.build_command()?;
        command.arg("--home").arg(home).arg("--config").arg(config);
        command.args(set.iter().flat_map(|setting| ["--set", setting.as_str()]));
        command.arg("start").current_dir(home).stdin(Stdio::null()).stdout(Stdio::null());
        let started = command.output().context("cannot run this program")?;
        let stderr = String::from_utf8_lossy(&started.stderr);
        ensure!(started.status.success(), "the daemon did not start: {}", stderr.trim());
        Ok(self.connector.connect(StartPolicy::Never).await?)
    }
}

impl<P> Drop for BenchSandbox<'_, P> {
    fn drop(&mut self) {
        // Stops the daemon from within this process: the binary on disk may have been replaced meanwhile.
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
            let _ = runtime.block_on(self.connector.stop_daemon(true));
        }
    }
}

/// Checks a home given with `--home`: it must be empty or created by a benchmark.
fn check_kept_home(home: &Path) -> Result<PathBuf> {
    let is_empty = std::fs::read_dir(home).map_or(true, |mut entries| entries.next().is_none());
    if !is_empty && !home.join(MARKER_FOLDER).is_dir() {
        let problem = format!("{} was not created by a benchmark", home.display());
        let hint =
            "give an empty or new folder, so that benchmark data does not mix with your memory";
        return Err(CommandError::bad_input(problem).with_hint(hint).into());
    }
    Ok(home.to_owned())
}
