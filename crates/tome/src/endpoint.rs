//! The daemon's endpoint: the socket in its home, or TCP with a token.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tome_home::Home;
use tome_proto::{Client, ClientError};

use crate::config::Settings;
use crate::platform;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DaemonEndpoint {
    /// The owner-only Unix socket.
    Socket(PathBuf),
    Tcp {
        address: SocketAddr,
        /// The content of `run/token`.
        token: String,
    },
    /// No daemon has published its address yet; holds the file that will contain it.
    Unknown(PathBuf),
}

impl DaemonEndpoint {
    /// Resolves the endpoint from the settings.
    pub fn from_settings(settings: &Settings) -> Self {
        if let Some(address) = settings.daemon_endpoint {
            return Self::Tcp { address, token: load_token(&settings.home).unwrap_or_default() };
        }
        if let Some(path) = platform::find_socket(settings.home.root()) {
            return Self::Socket(path);
        }
        let path = address_file(&settings.home);
        let address = std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
        match address {
            Some(address) => {
                Self::Tcp { address, token: load_token(&settings.home).unwrap_or_default() }
            }
            None => Self::Unknown(path),
        }
    }

    /// Connects, without retries.
    pub async fn connect(&self) -> Result<Client, ClientError> {
        match self {
            Self::Socket(path) => {
                let path = path.clone();
                Client::connect(move || platform::connect_socket(path.clone()), None).await
            }
            Self::Tcp { address, token } => {
                let address = *address;
                Client::connect(move || tokio::net::TcpStream::connect(address), Some(token)).await
            }
            Self::Unknown(path) => {
                Err(ClientError::Unreachable(format!("{} does not exist", path.display())))
            }
        }
    }
}

impl std::fmt::Display for DaemonEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Socket(path) => write!(f, "{}", path.display()),
            Self::Tcp { address, .. } => write!(f, "{address}"),
            Self::Unknown(path) => write!(f, "{}", path.display()),
        }
    }
}

/// The file with the token for TCP.
pub fn token_file(home: &Home) -> PathBuf {
    home.run().join("token")
}

/// The file in which a daemon without a socket publishes its address.
pub fn address_file(home: &Home) -> PathBuf {
    home.run().join("address")
}

fn load_token(home: &Home) -> Option<String> {
    std::env::var("TOME_TOKEN").ok().or_else(|| read_token(&token_file(home)))
}

/// Reads a token from a file; `None` if it is missing or empty.
pub fn read_token(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|token| !token.is_empty())
}
