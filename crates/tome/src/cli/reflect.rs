//! The command line of `tome reflect`.

use std::path::PathBuf;

use clap::Args;

const REFLECT_HELP: &str = "\
Examples:
  tome reflect                     the latest session of this project
  tome reflect 8c1f-… --dry-run    whether there is anything to reflect on; no model is asked
The model is shown what is known already and what was said and done, and writes facts/ and episodes/ of the
session's project; `tome memory log` shows what it wrote, and every version can be had back. The daemon does
this by itself when a session ends, is compacted, or is silent for reflect.idle (reflect.enabled=off keeps it
from that). The whole session is looked at, whatever was reflected on before.";

/// `tome reflect`
#[derive(Debug, Args)]
#[command(after_help = REFLECT_HELP)]
pub struct Reflect {
    /// Which session [default: the latest of the project you stand in, if Tome knows it, else of all]
    #[arg(value_name = "SESSION")]
    pub session: Option<String>,
    /// The latest session of this project
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
    /// Say what would be done, and ask no model
    #[arg(long)]
    pub dry_run: bool,
}
