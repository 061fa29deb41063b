//! `tome daemon`: runs the daemon in the foreground.

use std::io::Write;

use anyhow::Result;

use super::{Context, Outcome};
use crate::daemon::{self, Ran};
use crate::platform;

pub fn run(context: Context, detached: bool) -> Result<Outcome> {
    if detached {
        platform::leave_session();
    } else {
        let home = context.settings.home.root().display();
        writeln!(crate::terminal::stderr(), "serving {home}; Ctrl-C ends it")?;
    }
    match daemon::run(context.settings)? {
        Ran::Served => Ok(Outcome::Done),
        // Whoever started this one wanted a daemon, and there is one.
        Ran::AlreadyRunning(_) if detached => Ok(Outcome::Done),
        Ran::AlreadyRunning(pid) => {
            let pid = pid.map(|pid| format!(" (process {pid})")).unwrap_or_default();
            writeln!(
                crate::terminal::stderr(),
                "a daemon serves this home already{pid}; `tome stop` ends it"
            )?;
            Ok(Outcome::Failed)
        }
    }
}
