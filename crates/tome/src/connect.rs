//! Connects this program to the daemon with the configured settings.

use std::ffi::OsString;
use std::sync::Arc;

use tome_client::{ClientSettings, DaemonProgram};
use tome_model::SystemClock;

use crate::config::{ConfigFlags, Settings};
use crate::platform;

pub use tome_client::{ConnectError, DaemonConnector, StartPolicy, is_older_version};

/// Builds the connector of a home. A daemon that has to be started runs this program with the same
/// `flags`.
pub fn build_connector(settings: &Settings, flags: &ConfigFlags) -> DaemonConnector {
    DaemonConnector::new(ClientSettings {
        home: settings.home.clone(),
        endpoint: settings.daemon_endpoint,
        autostart: settings.daemon_autostart,
        program: own_program(flags),
        token: std::env::var("TOME_TOKEN").ok(),
        user_folders: platform::user_folders(),
        clock: Arc::new(SystemClock),
    })
}

/// This program with the same flags, except `--home`.
fn own_program(flags: &ConfigFlags) -> Option<DaemonProgram> {
    let mut arguments: Vec<OsString> = Vec::new();
    if let Some(config) = &flags.config {
        arguments.extend(["--config".into(), config.into()]);
    }
    for setting in &flags.set {
        arguments.extend(["--set".into(), setting.into()]);
    }
    let path = std::env::current_exe().ok()?;
    Some(DaemonProgram { path, arguments, environment: Vec::new() })
}
