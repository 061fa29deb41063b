//! The layout of `$TOME_HOME`: which path means what. Nothing here touches the disk.

use std::path::{Path, PathBuf};

/// Tome's home folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// A home at an absolute path.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self(root.into())
    }

    /// The folder itself.
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// One folder a project.
    pub fn projects(&self) -> PathBuf {
        self.0.join("projects")
    }

    /// The one ledger of all projects, in unified mode.
    pub fn unified_ledger(&self) -> PathBuf {
        self.0.join("unified").join("ledger")
    }

    /// Events that wait for the daemon.
    pub fn spool(&self) -> PathBuf {
        self.0.join("spool")
    }

    /// Socket, locks, log.
    pub fn run(&self) -> PathBuf {
        self.0.join("run")
    }
}
