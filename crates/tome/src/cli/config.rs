//! The command line of `tome config`.

use clap::{Args, Subcommand};

/// `tome config`
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// Show every setting, not only those that differ from their defaults
    #[arg(long)]
    pub all: bool,
    #[command(subcommand)]
    pub change: Option<ConfigChange>,
}

/// One setting: its value, or a change to the config file.
#[derive(Debug, Subcommand)]
pub enum ConfigChange {
    /// Show every setting, as `--all` does
    #[command(hide = true, visible_alias = "ls")]
    List,
    /// Print the value of a setting
    Get {
        /// Name of the setting, such as chat.model
        key: String,
    },
    /// Set a value in the config file, such as `tome config set chat.model qwen3`
    Set {
        /// Name of the setting, such as chat.model
        key: String,
        /// The new value
        value: String,
    },
    /// Remove a setting from the config file
    Unset {
        /// Name of the setting, such as chat.model
        key: String,
    },
}
