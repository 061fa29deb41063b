//! The command line of `tome reflect`.

use std::path::PathBuf;

use clap::Args;

const REFLECT_HELP: &str = "\
Examples:
  tome reflect                     the latest session of this project
  tome reflect 8c1f-… --dry-run    show whether there is anything to reflect on, without calling the model
The model gets the session and the existing notes, and writes facts/ and episodes/ of the session's
project. `tome memory log` shows what it wrote; every earlier version can be restored.
The daemon does this automatically when a session ends, is compacted, or is idle for reflect.idle
(turn it off with reflect.enabled=off). This command always covers the whole session, including parts
that were reflected on before.";

/// `tome reflect`
#[derive(Debug, Args)]
#[command(after_help = REFLECT_HELP)]
pub struct ReflectArgs {
    /// The session [default: the latest of the current project if known, otherwise of all projects]
    #[arg(value_name = "SESSION")]
    pub session: Option<String>,
    /// Use the latest session of this project, by name or folder
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
    /// Show what would be done without calling the model
    #[arg(long)]
    pub dry_run: bool,
}
