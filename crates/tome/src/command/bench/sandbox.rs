//! The isolated environment of a benchmark: its own home and daemon.
//!
//! The user's config file and environment variables do not apply, only flags on this command line. The
//! daemon stops with the benchmark, even if it fails.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;
use tome_proto::Client;

use crate::cli::GlobalOptions;
use crate::command::CommandError;
use crate::config::{Config, ConfigFlags};
use crate::connect::{DaemonConnector, StartPolicy, build_connector};

/// Folder that marks a home as created by a benchmark.
const MARKER_FOLDER: &str = "bench";
/// Defaults that the command line can override: times without a zone are UTC, and the daemon of a
/// killed benchmark exits after a while.
const DEFAULT_SETTINGS: [&str; 2] = ["contents.zone=UTC", "daemon.idle_exit=10m"];

pub struct BenchSandbox {
    home: PathBuf,
    flags: ConfigFlags,
    reach: DaemonConnector,
    /// Deletes a temporary home on drop; `None` for a home that is kept.
    _folder: Option<TempDir>,
}

impl BenchSandbox {
    /// Creates a temporary home, or uses the one given with `--home`.
    pub fn new(global: &GlobalOptions) -> Result<Self> {
        let (home, folder) = match &global.home {
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
        let config = match &global.config {
            Some(config) => config.clone(),
            None => {
                let config = home.join(MARKER_FOLDER).join("config.toml");
                tome_home::write_atomic(&config, b"")?;
                config
            }
        };
        let set = DEFAULT_SETTINGS.iter().map(|set| (*set).to_owned()).chain(global.set.clone());
        let flags =
            ConfigFlags { home: Some(home.clone()), config: Some(config), set: set.collect() };
        let config = Config::load(&flags, &|_| None)?;
        if let Some(problem) = config.problems.first() {
            return Err(problem.clone().into());
        }
        let reach = build_connector(&config.to_settings(), &flags);
        Ok(Self { home, flags, reach, _folder: folder })
    }

    /// The folder with the projects of a data set.
    pub fn projects_folder(&self, set: &str) -> PathBuf {
        self.home.join(MARKER_FOLDER).join(set)
    }

    pub async fn start_daemon(&self) -> Result<Client> {
        let started =
            self.build_command(&["start"])?.output().context("cannot run this program")?;
        let said = String::from_utf8_lossy(&started.stderr);
        ensure!(started.status.success(), "the daemon did not start: {}", said.trim());
        Ok(self.reach.connect(StartPolicy::Never).await?)
    }

    /// Builds a command that runs this program in the benchmark's home.
    fn build_command(&self, args: &[&str]) -> Result<Command> {
        let mut command =
            Command::new(std::env::current_exe().context("cannot find this program")?);
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(|name| name.starts_with("TOME_")) {
                command.env_remove(name);
            }
        }
        command.arg("--home").arg(&self.home).current_dir(&self.home);
        if let Some(config) = &self.flags.config {
            command.arg("--config").arg(config);
        }
        for setting in &self.flags.set {
            command.arg("--set").arg(setting);
        }
        command.args(args).stdin(Stdio::null()).stdout(Stdio::null());
        Ok(command)
    }
}

impl Drop for BenchSandbox {
    fn drop(&mut self) {
        // Stops the daemon from within this process: the binary on disk may have been replaced meanwhile.
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
            let _ = runtime.block_on(self.reach.stop_daemon(true));
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
