//! The bench's own world: a home that is nobody's memory, and a daemon of its own in it.
//!
//! Settings of the person's own do not reach it, in files or variables: only those on this command
//! line. The daemon ends with the bench, however that ends.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;
use tome_proto::Client;

use crate::cli::Global;
use crate::command::Refusal;
use crate::config::{Config, Flags};
use crate::reach::{Reach, Start};

/// Says that a home is a bench's.
const MARK: &str = "bench";
/// What holds unless the command line says otherwise: times without a zone are UTC, and a daemon
/// whose bench was killed leaves by itself.
const SETTINGS: [&str; 2] = ["contents.zone=UTC", "daemon.idle_exit=10m"];

/// The bench's own world.
pub struct House {
    home: PathBuf,
    flags: Flags,
    reach: Reach,
    /// Deletes it at the end; not there when it is to be kept.
    _folder: Option<TempDir>,
}

impl House {
    /// A home that is thrown away, or the one that was asked for.
    pub fn new(global: &Global) -> Result<Self> {
        let (home, folder) = match &global.home {
            Some(home) => (kept(home)?, None),
            None => {
                let folder = tempfile::Builder::new().prefix("tome-bench").tempdir();
                let folder = folder.context("cannot make a temporary folder")?;
                (folder.path().join("home"), Some(folder))
            }
        };
        let projects = home.join(MARK);
        std::fs::create_dir_all(&projects)
            .with_context(|| format!("cannot make {}", projects.display()))?;
        let home = home.canonicalize()?;
        let config = match &global.config {
            Some(config) => config.clone(),
            None => {
                let config = home.join(MARK).join("config.toml");
                tome_home::write_atomic(&config, b"")?;
                config
            }
        };
        let set = SETTINGS.iter().map(|set| (*set).to_owned()).chain(global.set.clone());
        let flags = Flags { home: Some(home.clone()), config: Some(config), set: set.collect() };
        let config = Config::load(&flags, &|_| None)?;
        if let Some(problem) = config.problems.first() {
            return Err(problem.clone().into());
        }
        let reach = Reach::new(config.settings(), flags.clone());
        Ok(Self { home, flags, reach, _folder: folder })
    }

    /// Where the projects of a data set lie.
    pub fn projects(&self, set: &str) -> PathBuf {
        self.home.join(MARK).join(set)
    }

    /// Starts the daemon.
    pub async fn start(&self) -> Result<Client> {
        let started = self.tome(&["start"])?.output().context("cannot run this program")?;
        let said = String::from_utf8_lossy(&started.stderr);
        ensure!(started.status.success(), "the daemon did not start: {}", said.trim());
        Ok(self.reach.client(Start::Never).await?)
    }

    /// This program, in the bench's world.
    fn tome(&self, args: &[&str]) -> Result<Command> {
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

impl Drop for House {
    fn drop(&mut self) {
        // Asked from here and not by running this program, which may have been replaced since.
        if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
            let _ = runtime.block_on(self.reach.stop(true));
        }
    }
}

/// A home that was asked for: a new one, or one that a bench has made.
fn kept(home: &Path) -> Result<PathBuf> {
    let is_empty = std::fs::read_dir(home).map_or(true, |mut entries| entries.next().is_none());
    if !is_empty && !home.join(MARK).is_dir() {
        let problem = format!("{} is not a home that a bench has made", home.display());
        let hint =
            "give an empty folder, or one that is not there: a data set is no memory of yours";
        return Err(Refusal::bad_input(problem).hint(hint).into());
    }
    Ok(home.to_owned())
}
