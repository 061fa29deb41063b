//! Settings of a client: the home, and how to reach and start its daemon.

use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use tome_home::Home;
use tome_model::{Clock, SystemClock};

use crate::UserFolders;

/// Settings of a client.
#[derive(Clone)]
pub struct ClientSettings {
    /// The home whose daemon is meant.
    pub home: Home,
    /// TCP address of the daemon, instead of the socket in the home. Such a daemon is never started.
    pub endpoint: Option<SocketAddr>,
    /// Whether to start the daemon if it is not running. Needs a `program`.
    pub autostart: bool,
    /// The program that starts the daemon. Without it, a client only connects to a running daemon.
    pub program: Option<DaemonProgram>,
    /// Token for calls over TCP, instead of the one in the home.
    pub token: Option<String>,
    /// Where the socket may be if its path in the home would be too long.
    pub user_folders: UserFolders,
    /// The source of event times.
    pub clock: Arc<dyn Clock>,
}

/// The program `tome`, and how to run it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DaemonProgram {
    /// Path of the program.
    pub path: PathBuf,
    /// Arguments before the subcommand, in addition to `--home`.
    pub arguments: Vec<OsString>,
    /// Environment variables added for the daemon.
    pub environment: Vec<(OsString, OsString)>,
}

impl ClientSettings {
    /// Settings of a client that only connects to a running daemon of this home.
    pub fn new(home: impl Into<PathBuf>) -> Self {
        Self {
            home: Home::at(home),
            endpoint: None,
            autostart: false,
            program: None,
            token: None,
            user_folders: UserFolders::default(),
            clock: Arc::new(SystemClock),
        }
    }

    /// Starts the daemon with the program `tome` at this path if it is not running.
    #[must_use]
    pub fn with_program(mut self, path: impl Into<PathBuf>) -> Self {
        self.program = Some(DaemonProgram { path: path.into(), ..DaemonProgram::default() });
        self.autostart = true;
        self
    }
}

/// Leaves out the token.
impl fmt::Debug for ClientSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientSettings")
            .field("home", &self.home)
            .field("endpoint", &self.endpoint)
            .field("autostart", &self.autostart)
            .field("program", &self.program)
            .finish_non_exhaustive()
    }
}
