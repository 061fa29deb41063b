//! The command line of `tome mcp`.

use std::path::PathBuf;

use clap::Args;

/// Help text below the options.
pub const MCP_HELP: &str = "\
MCP clients start the server themselves; `tome setup` configures them. By hand, for Claude Code:
  claude mcp add tome -- tome mcp
The server uses standard input and output, starts the daemon if necessary, and exits when its input ends.
Session and project come from the client's environment (CLAUDE_CODE_SESSION_ID, CLAUDE_PROJECT_DIR,
GEMINI_SESSION_ID, GEMINI_PROJECT_DIR), or from the current folder.";

/// `tome mcp`
#[derive(Debug, Args)]
pub struct McpArgs {
    /// Comma-separated toolsets to offer: core, recall, notes, coder, contents, topics, anthropic, all;
    /// read-only leaves out tools that change something [default: mcp.toolsets]
    #[arg(long, value_name = "SETS")]
    pub toolsets: Option<String>,
    /// The calling agent [default: as reported by the client]
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// The agent's session [default: as reported by the client]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// This project, by name or folder [default: as reported by the client, or the current folder]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
}
