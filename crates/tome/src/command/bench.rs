//! `tome bench recall`: gives the benchmark this program's daemon and its way of storing events.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result};
use indicatif::ProgressBar;
use tome_bench::{BenchOptions, BenchRecallArgs, DaemonFlags, MeasuredProgram};
use tome_client::DaemonConnector;
use tome_proto::Client;

use super::{Outcome, ingest, own_program};
use crate::cli::GlobalOptions;
use crate::config::{Config, ConfigFlags};
use crate::connect::build_connector;
use crate::platform;

pub fn run_recall(global: &GlobalOptions, args: &BenchRecallArgs) -> Result<Outcome> {
    let GlobalOptions { home, config, set, json, .. } = global.clone();
    tome_bench::run_recall(&ThisProgram, &BenchOptions { home, config, set, json }, args)
}

struct ThisProgram;

impl MeasuredProgram for ThisProgram {
    fn build_connector(&self, flags: &DaemonFlags) -> Result<DaemonConnector> {
        let DaemonFlags { home, config, set } = flags.clone();
        let flags = ConfigFlags { home: Some(home), config: Some(config), set };
        let config = Config::load(&flags, &|_| None)?;
        match config.problems.first() {
            Some(problem) => Err(problem.clone().into()),
            None => Ok(build_connector(&config.to_settings(), &flags)),
        }
    }

    fn build_command(&self) -> Result<Command> {
        let program = std::env::current_exe().context("cannot find this program")?;
        Ok(own_program::build_command(&program))
    }

    async fn store_lines(
        &self,
        client: &Client,
        file: &Path,
        bar: &ProgressBar,
    ) -> Result<Vec<(u64, String)>> {
        let report = ingest::stream_lines(client, None, Some(file.to_path_buf()), bar).await?;
        Ok(report.rejected.into_iter().map(|rejected| (rejected.line, rejected.reason)).collect())
    }

    async fn wait_for_termination(&self) {
        platform::wait_for_termination().await;
    }
}
