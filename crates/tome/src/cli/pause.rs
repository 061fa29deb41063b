//! The command line of `tome pause`.

use clap::Args;

pub const PAUSE_HELP: &str = "\
While recording is paused, hooks record nothing and inject nothing; anything said during the pause
is not imported later. Commands and tools work as usual.

Examples:
  tome pause 1h                          resume automatically in an hour
  tome pause                             until `tome unpause`
  tome config set capture.ignore '~/private/,*.pem'     never record these paths";

/// `tome pause`
#[derive(Debug, Args)]
pub struct PauseArgs {
    /// How long, such as 30m, 2h or 1d [default: until `tome unpause`]
    #[arg(value_name = "DURATION")]
    pub duration: Option<String>,
}
