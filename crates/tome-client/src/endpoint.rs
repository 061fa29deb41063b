//! The daemon's endpoint: the socket in its home, or TCP with a token.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tome_proto::{Client, ClientError};

use crate::{ClientSettings, socket};

/// Where the daemon listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DaemonEndpoint {
    /// The owner-only Unix socket.
    Socket(PathBuf),
    /// A TCP address; calls need the token.
    Tcp {
        /// Address and port.
        address: SocketAddr,
        /// The content of `run/token`.
        token: String,
    },
    /// No daemon has published its address yet; holds the file that will contain it.
    Unknown(PathBuf),
}

impl DaemonEndpoint {
    /// Finds the endpoint of the daemon.
    pub fn from_settings(settings: &ClientSettings) -> Self {
        let tcp = |address| Self::Tcp { address, token: load_token(settings).unwrap_or_default() };
        if let Some(address) = settings.endpoint {
            return tcp(address);
        }
        if let Some(path) = socket::find_socket(settings.home.root(), &settings.user_folders) {
            return Self::Socket(path);
        }
        let path = settings.home.daemon_address();
        let address = std::fs::read_to_string(&path).ok().and_then(|text| text.trim().parse().ok());
        address.map_or(Self::Unknown(path), tcp)
    }

    /// Connects, without retries.
    pub async fn connect(&self) -> Result<Client, ClientError> {
        match self {
            Self::Socket(path) => {
                let path = path.clone();
                Client::connect(move || socket::connect_socket(path.clone()), None).await
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

fn load_token(settings: &ClientSettings) -> Option<String> {
    settings.token.clone().or_else(|| read_token(&settings.home.daemon_token()))
}

/// Reads a token from a file; `None` if it is missing or empty.
pub fn read_token(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(text.trim().to_owned()).filter(|token| !token.is_empty())
}
