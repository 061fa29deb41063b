//! The command line of `tome mcp`.

use std::path::PathBuf;

use clap::Args;

/// What is said below the options.
pub const HELP: &str = "\
Clients start it themselves; `tome setup` tells them to. By hand, such as for Claude Code:
  claude mcp add tome -- tome mcp
It speaks over standard input and output, starts the daemon when it is away, and ends with its
input. Which session and project are meant is taken from what the client says of itself
(CLAUDE_CODE_SESSION_ID, CLAUDE_PROJECT_DIR, GEMINI_SESSION_ID, GEMINI_PROJECT_DIR), else from
where it is started.";

/// `tome mcp`
#[derive(Debug, Args)]
pub struct Mcp {
    /// Offer only these, with commas between them: core, recall, notes, coder, contents, anthropic, all;
    /// read-only leaves out what changes something [default: mcp.toolsets]
    #[arg(long, value_name = "SETS")]
    pub toolsets: Option<String>,
    /// The agent that calls [default: as the client says]
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Its session [default: as the client says]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// A folder of the project [default: as the client says, else where it is started]
    #[arg(long, value_name = "DIR")]
    pub project: Option<PathBuf>,
}
