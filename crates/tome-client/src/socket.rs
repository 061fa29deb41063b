//! The daemon's owner-only socket: where it is, and how to connect to it.
//!
//! Systems without Unix sockets have none; there the daemon listens on loopback with a token.

use std::io;
use std::path::{Path, PathBuf};

/// A connection to the daemon's socket.
#[cfg(unix)]
pub type LocalStream = tokio::net::UnixStream;

/// Without owner-only sockets, the daemon is reached by TCP.
#[cfg(not(unix))]
pub type LocalStream = tokio::net::TcpStream;

/// Maximum length of a socket path on any Unix (macOS has 104 bytes, including the NUL).
#[cfg(unix)]
const SOCKET_PATH_BYTES_MAX: usize = 103;

/// Folders of the user outside the home. A process takes them from its environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserFolders {
    /// The folder for sockets and the like (`XDG_RUNTIME_DIR`); `None` for the system's default.
    pub runtime: Option<PathBuf>,
    /// The folder for temporary files.
    pub temporary: PathBuf,
}

impl Default for UserFolders {
    fn default() -> Self {
        Self { runtime: None, temporary: PathBuf::from("/tmp") }
    }
}

impl UserFolders {
    /// Private folders of a home outside of it, for a socket whose path would be too long, or for the
    /// record of lost events if the home is read-only. Write to the first; read from all, because
    /// processes may run with different environments.
    pub fn private_folders(&self, home: &Path) -> Vec<PathBuf> {
        let tag = blake3::hash(home.as_os_str().as_encoded_bytes()).to_hex();
        let tag: String = tag.chars().take(16).collect();
        #[cfg(unix)]
        let user = rustix::process::getuid().as_raw().to_string();
        // The folder for temporary files is the user's own.
        #[cfg(not(unix))]
        let user = "user";
        let runtime = self.runtime.clone().or_else(|| Some(format!("/run/user/{user}").into()));
        let runtime = runtime.filter(|path| path.is_dir());
        let temporary = self.temporary.join(format!("tome-{user}-{tag}"));
        let runtime = runtime.map(|path| path.join(format!("tome-{tag}")));
        runtime.into_iter().chain([temporary]).collect()
    }

    /// The private folder outside the home to write to.
    pub fn private_folder(&self, home: &Path) -> PathBuf {
        self.private_folders(home).into_iter().next().unwrap_or_default()
    }
}

/// Where the daemon creates its socket: in `run/`, unless that path is too long.
#[cfg(unix)]
pub fn socket_path(home: &Path, user: &UserFolders) -> PathBuf {
    let path = home.join("run").join("tome.sock");
    if path.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
        path
    } else {
        user.private_folder(home).join("tome.sock")
    }
}

/// Where a client finds the socket; `None` on systems without Unix sockets.
pub(crate) fn find_socket(home: &Path, user: &UserFolders) -> Option<PathBuf> {
    #[cfg(unix)]
    {
        let path = socket_path(home, user);
        if path.exists() || path.starts_with(home) {
            return Some(path);
        }
        let mut elsewhere =
            user.private_folders(home).into_iter().map(|folder| folder.join("tome.sock"));
        Some(elsewhere.find(|path| path.exists()).unwrap_or(path))
    }
    #[cfg(not(unix))]
    {
        let _ = (home, user);
        None
    }
}

/// Connects to the socket, and checks that the daemon runs as this user.
pub(crate) async fn connect_socket(path: PathBuf) -> io::Result<LocalStream> {
    #[cfg(unix)]
    {
        let stream = LocalStream::connect(&path).await?;
        if is_own_peer(&stream) {
            return Ok(stream);
        }
        let problem = format!("{} belongs to another user", path.display());
        Err(io::Error::new(io::ErrorKind::PermissionDenied, problem))
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Whether the peer of a connection is this user or root.
#[cfg(unix)]
pub fn is_own_peer(stream: &LocalStream) -> bool {
    let own_uid = rustix::process::getuid().as_raw();
    stream.peer_cred().is_ok_and(|peer| peer.uid() == own_uid || peer.uid() == 0)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_socket_whose_path_would_be_too_long_is_outside_the_home() {
        let runtime = tempfile::tempdir().unwrap();
        let user = UserFolders {
            runtime: Some(runtime.path().to_path_buf()),
            temporary: runtime.path().join("tmp"),
        };
        let short = Path::new("/home/ada/.tome");
        assert_eq!(find_socket(short, &user), Some(short.join("run/tome.sock")));
        let long = PathBuf::from("/").join("x".repeat(90));
        let path = socket_path(&long, &user);
        assert!(path.starts_with(runtime.path()) && !path.starts_with(runtime.path().join("tmp")));
        assert_eq!(find_socket(&long, &user), Some(path));
        // A daemon that was started without the variable used the temporary folder.
        let folders = user.private_folders(&long);
        std::fs::create_dir_all(&folders[1]).unwrap();
        std::fs::File::create(folders[1].join("tome.sock")).unwrap();
        assert_eq!(find_socket(&long, &user), Some(folders[1].join("tome.sock")));
    }
}
