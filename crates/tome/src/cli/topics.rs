//! The command lines of `tome topics` and `tome file`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

const TOPICS_HELP: &str = "\
Examples:
  tome topics                     what this project has been about, most days of work first
  tome topics lock timeout        topics with these words
  tome topics show t-k3m9xq       the page of one
  tome topics show branch:fix/x   also file:, folder:, command:, error:, package:, symbol:, issue:";

/// `tome topics`
#[derive(Debug, Args)]
#[command(after_help = TOPICS_HELP, args_conflicts_with_subcommands = true)]
pub struct TopicsArgs {
    #[command(subcommand)]
    pub command: Option<TopicsCommand>,
    /// Only topics with these words [default: the most important ones]
    pub words: Vec<String>,
    /// Only this project, by name or folder [default: the current one if known, otherwise all]
    #[arg(long, value_name = "PROJECT", conflicts_with = "all_projects")]
    pub project: Option<PathBuf>,
    /// Topics of all projects
    #[arg(long)]
    pub all_projects: bool,
    /// Show at most N topics
    #[arg(long, short = 'n', value_name = "N", default_value_t = 12,
          value_parser = clap::value_parser!(u32).range(1..=500))]
    pub limit: u32,
}

#[derive(Debug, Subcommand)]
pub enum TopicsCommand {
    /// Show the page of a topic: sessions, decisions, problems, files, related topics
    Show(TopicShowArgs),
}

/// `tome topics show`
#[derive(Debug, Args)]
pub struct TopicShowArgs {
    /// Id of a topic
    pub id: String,
    /// Only this project, by name or folder [default: the current one if known, otherwise the one that has it]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
}

const FILE_HELP: &str = "\
Examples:
  tome file src/lexer.rs          who changed it and why, what was decided, what broke
  tome file lexer.rs              the end of the path is enough if only one file has it
Outside of a project, the file is looked for in all of them.";

/// `tome file`
#[derive(Debug, Args)]
#[command(after_help = FILE_HELP)]
pub struct FileArgs {
    /// Path of a file, current or former
    pub path: String,
    /// Only this project, by name or folder [default: the current one if known, otherwise the one that has it]
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<PathBuf>,
    /// Show at most the latest N changes
    #[arg(long, short = 'n', value_name = "N", default_value_t = 12,
          value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub limit: u32,
}
