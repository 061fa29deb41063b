//! `tome start` and `tome stop`.

use std::io::Write;

use anyhow::Result;
use serde_json::json;

use super::{Context, Outcome};
use crate::reach::{ReachError, Start};

pub fn start(context: &Context) -> Result<Outcome> {
    let status = context.block_on(async {
        let client = match context.reach.client(Start::IfAway).await {
            Ok(client) => client,
            // An explicit start overrides `daemon.autostart = false`.
            Err(ReachError::Away) => context.reach.start().await?,
            Err(error) => return Err(error.into()),
        };
        Ok(client.status(false).await?)
    })?;
    if context.json {
        context.print_json(&json!({
            "running": true, "pid": status.pid, "version": status.version, "endpoints": status.endpoints,
        }))?;
    } else {
        let at = status.endpoints.join(" and ");
        writeln!(
            crate::terminal::stdout(),
            "daemon running (pid {}, version {}) at {at}",
            status.pid,
            status.version
        )?;
    }
    Ok(Outcome::Done)
}

pub fn stop(context: &Context, force: bool) -> Result<Outcome> {
    let stopped = context.block_on(async { Ok(context.reach.stop(force).await?) })?;
    if context.json {
        context.print_json(&json!({"running": false, "stopped_pid": stopped}))?;
    } else {
        let mut out = crate::terminal::stdout();
        match stopped {
            Some(pid) => writeln!(out, "daemon stopped (pid {pid})")?,
            None => writeln!(out, "daemon was not running")?,
        }
    }
    Ok(Outcome::Done)
}
