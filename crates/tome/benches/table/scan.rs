//! Baseline without an index: a program that scans every line of `messages.jsonl`.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

/// ripgrep if installed, otherwise grep.
#[derive(Clone, Copy)]
pub enum LineScanner {
    Ripgrep,
    Grep,
}

impl LineScanner {
    pub fn detect() -> Self {
        let mut command = Command::new("rg");
        let tried = command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if tried.is_ok_and(|status| status.success()) { Self::Ripgrep } else { Self::Grep }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Ripgrep => "rg -iF, any word",
            Self::Grep => "grep -riF, any word",
        }
    }

    /// Searches for any of the words below a folder; returns the run time.
    pub fn search(self, query: &str, folder: &Path) -> Result<Duration> {
        let mut command = match self {
            Self::Ripgrep => Command::new("rg"),
            Self::Grep => Command::new("grep"),
        };
        match self {
            Self::Ripgrep => command.args(["-i", "-F", "--no-ignore", "--count-matches"]),
            Self::Grep => command.args(["-r", "-i", "-F", "-c"]),
        };
        for word in query.split_whitespace() {
            command.args(["-e", word]);
        }
        // Without a locale grep compares bytes, which is much faster.
        command.arg(folder).env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::null());
        let begun = Instant::now();
        let status = command.status().context("cannot run grep")?;
        let took = begun.elapsed();
        ensure!(status.success(), "{} finds nothing for {query:?}", self.name());
        Ok(took)
    }
}
