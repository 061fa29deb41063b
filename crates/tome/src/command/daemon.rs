//! `tome daemon`: runs the daemon in the foreground.

use std::io::Write;

use anyhow::Result;

use super::{CommandContext, Outcome};
use crate::daemon::{self, DaemonExit};
use crate::platform;

pub fn run(context: CommandContext, detached: bool) -> Result<Outcome> {
    if detached {
        platform::detach_from_session();
    } else {
        let home = context.settings.home.root().display();
        writeln!(tome_terminal::stderr(), "serving {home}; press Ctrl-C to stop")?;
    }
    match daemon::run(context.settings)? {
        DaemonExit::Served => Ok(Outcome::Done),
        // The client that started this process only needs some daemon to be running.
        DaemonExit::AlreadyRunning(_) if detached => Ok(Outcome::Done),
        DaemonExit::AlreadyRunning(pid) => {
            let pid = pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
            writeln!(
                tome_terminal::stderr(),
                "a daemon is already running for this home{pid}; `tome stop` stops it"
            )?;
            Ok(Outcome::Failed)
        }
    }
}
