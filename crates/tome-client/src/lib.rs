//! A client of Tome's daemon: it finds the daemon of a home, starts it if it is not running, replaces
//! it if it is older, and talks to it.
//!
//! | item | purpose |
//! | --- | --- |
//! | [`ClientSettings`] | the home, and how to reach and start its daemon |
//! | [`DaemonConnector`] | connects to the daemon; starts, replaces and stops it |
//! | [`DaemonEndpoint`] | where the daemon listens |
//! | [`DaemonMemory`] | the memory of an agent's session, over the daemon |
//!
//! The crate reads neither the environment nor the clock: the token, the program that starts the daemon
//! and the folders of the user are part of the settings.

mod connector;
mod endpoint;
mod memory;
mod process;
mod settings;
mod socket;

pub use connector::{ConnectError, DaemonConnector, StartPolicy, daemon_pid, is_older_version};
pub use endpoint::{DaemonEndpoint, read_token};
pub use memory::DaemonMemory;
pub use process::signal_process;
pub use settings::{ClientSettings, DaemonProgram};
pub use socket::{LocalStream, UserFolders};
#[cfg(unix)]
pub use socket::{is_own_peer, socket_path};
pub use tome_home::Home;
