//! The command line of the configuration, as typed.

use clap::{Args, Subcommand};

/// `tome config`
#[derive(Debug, Args)]
pub struct Config {
    #[command(subcommand)]
    pub change: Option<Change>,
}

/// What to change in the config file.
#[derive(Debug, Subcommand)]
pub enum Change {
    /// Write a setting into the config file; `tome config set chat.model qwen3`
    Set {
        /// Such as chat.model
        key: String,
        /// Its value
        value: String,
    },
    /// Take a setting out of the config file again
    Unset {
        /// Such as chat.model
        key: String,
    },
}
