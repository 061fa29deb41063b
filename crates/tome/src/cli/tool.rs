//! The command line of `tome tool`.

use std::path::PathBuf;

use clap::Args;

/// `tome tool`
#[derive(Debug, Args)]
pub struct ToolCommandArgs {
    /// The tool; without it, all tools are listed
    pub name: Option<String>,
    /// Arguments as a JSON object; - for standard input [default: {}, or piped input]
    #[arg(value_name = "JSON")]
    pub arguments: Option<String>,
    /// Act as this agent
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Act in this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// This project, by name or folder [default: the current folder]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
    /// List only this toolset: recall, notes, coder, contents, topics, anthropic
    #[arg(long, value_name = "SET", conflicts_with = "name")]
    pub toolset: Option<String>,
}
