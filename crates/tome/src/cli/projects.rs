//! The command line of `tome projects`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

pub const PROJECTS_HELP: &str = "\
A project is named after its folder, or as you like. Its name works wherever --project does.
None of these commands changes or deletes what was recorded.

Examples:
  tome projects                          list all projects
  tome recall --project backend 'retry'  use a name instead of a folder
  tome projects rename ~/code/api backend
  tome projects mv ~/code/api ~/src/api  after you moved the folder
  tome projects merge ~/tmp/api-clone backend";

/// `tome projects`
#[derive(Debug, Args)]
pub struct ProjectsArgs {
    #[command(subcommand)]
    pub change: Option<ProjectChange>,
}

/// A change to a project, given by its name or folder.
#[derive(Debug, Subcommand)]
pub enum ProjectChange {
    /// List all projects, as without a command
    #[command(hide = true, visible_alias = "ls")]
    List,
    /// Give a project another name
    Rename {
        /// The project's name or folder
        project: PathBuf,
        /// The new name
        name: String,
    },
    /// Tell Tome that a project's folder was moved
    #[command(visible_alias = "move")]
    Mv {
        /// The project's name or former folder
        old: PathBuf,
        /// The new folder
        new: PathBuf,
    },
    /// Merge a clone of a repository into another: sessions and notes are copied, nothing is deleted
    Merge {
        /// The name or folder of the clone
        project: PathBuf,
        /// The name or folder of the project that takes over
        into: PathBuf,
    },
    /// Forget a project that holds no events and no notes
    #[command(visible_alias = "remove")]
    Rm {
        /// The project's name or folder
        project: PathBuf,
    },
}
