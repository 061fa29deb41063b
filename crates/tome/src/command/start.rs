//! `tome start` and `tome stop`.

use std::io::Write;

use anyhow::Result;
use serde_json::json;

use super::{CommandContext, Outcome};
use crate::connect::{ConnectError, StartPolicy};

pub fn start_daemon(context: &CommandContext) -> Result<Outcome> {
    let status = context.block_on(async {
        let client = match context.connector.connect(StartPolicy::IfNotRunning).await {
            Ok(client) => client,
            // An explicit start overrides `daemon.autostart = false`.
            Err(ConnectError::NotRunning) => context.connector.start_daemon().await?,
            Err(error) => return Err(error.into()),
        };
        Ok(client.get_status(false).await?)
    })?;
    if context.json {
        context.print_json(&json!({
            "running": true, "pid": status.pid, "version": status.version, "endpoints": status.endpoints,
        }))?;
    } else {
        let at = status.endpoints.join(" and ");
        writeln!(
            tome_terminal::stdout(),
            "daemon running (pid {}, version {}) at {at}",
            status.pid,
            status.version
        )?;
    }
    Ok(Outcome::Done)
}

pub fn stop_daemon(context: &CommandContext, force: bool) -> Result<Outcome> {
    let stopped = context.block_on(async { Ok(context.connector.stop_daemon(force).await?) })?;
    if context.json {
        context.print_json(&json!({"running": false, "stopped_pid": stopped}))?;
    } else {
        let mut out = tome_terminal::stdout();
        match stopped {
            Some(pid) => writeln!(out, "daemon stopped (pid {pid})")?,
            None => writeln!(out, "daemon was not running")?,
        }
    }
    Ok(Outcome::Done)
}
