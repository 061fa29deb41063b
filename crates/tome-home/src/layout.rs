//! The layout of `$TOME_HOME`. Builds paths only; does not touch the disk.

use std::path::{Path, PathBuf};

/// Tome's home folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

impl Home {
    /// Creates a home at an absolute path.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self(root.into())
    }

    /// The home folder itself.
    pub fn root(&self) -> &Path {
        &self.0
    }

    /// Contains one folder per project.
    pub fn projects(&self) -> PathBuf {
        self.0.join("projects")
    }

    /// The coder's notebook.
    pub fn coder(&self) -> PathBuf {
        self.0.join("coder")
    }

    /// The ledger of all projects, in unified mode.
    pub fn unified_ledger(&self) -> PathBuf {
        self.0.join("unified").join("ledger")
    }

    /// Events that wait for the daemon.
    pub fn spool(&self) -> PathBuf {
        self.0.join("spool")
    }

    /// Folders of projects that were merged into another.
    pub fn merged(&self) -> PathBuf {
        self.0.join("merged")
    }

    /// The periods in which nothing is recorded.
    pub fn pauses(&self) -> PathBuf {
        self.0.join("pauses.jsonl")
    }

    /// Returns the project root used for offline chats held in `project`. Offline chats only
    /// demonstrate memory, so they are kept apart from the sessions that worked on the code.
    pub fn offline_project(&self, project: &str) -> String {
        format!("{}{}", self.offline_root().display(), project)
    }

    /// Whether a project holds offline chats.
    pub fn is_offline_project(&self, project: &str) -> bool {
        Path::new(project).starts_with(self.offline_root())
    }

    /// Root of the projects that hold offline chats.
    pub fn offline_root(&self) -> PathBuf {
        self.0.join("offline")
    }

    /// Maps each session to its project.
    pub fn session_index(&self) -> PathBuf {
        self.run().join("sessions.jsonl")
    }

    /// Socket, locks and log.
    pub fn run(&self) -> PathBuf {
        self.0.join("run")
    }

    /// The lock that the daemon holds while it runs; contains its process id and version.
    pub fn daemon_lock(&self) -> PathBuf {
        self.run().join("daemon.lock")
    }

    /// The token for calls to the daemon over TCP.
    pub fn daemon_token(&self) -> PathBuf {
        self.run().join("token")
    }

    /// The file in which a daemon without a socket publishes its address.
    pub fn daemon_address(&self) -> PathBuf {
        self.run().join("address")
    }
}

/// A session's transcript: a line per event.
pub const MESSAGES: &str = "messages.jsonl";

/// Lines of a transcript that no event has, kept when the transcript is rebuilt.
pub const KEPT_MESSAGES: &str = "messages.kept.jsonl";

/// Whether a path is that of a transcript.
pub fn is_transcript(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    matches!(name, Some(MESSAGES | KEPT_MESSAGES))
}

/// The notebook in a project's folder.
pub fn notebook_dir(project: &Path) -> PathBuf {
    project.join("memory")
}

/// The history of a project's notebook, also of one that lies in the repository.
pub fn history_dir(project: &Path) -> PathBuf {
    notebook_dir(project).join(".history")
}

/// Files removed when a notebook was moved into the repository.
pub fn moved_notes_dir(project: &Path) -> PathBuf {
    notebook_dir(project).join(".moved")
}

/// The folder of a session in a project's folder.
pub fn session_dir(project: &Path, session: &str) -> PathBuf {
    sessions_dir(project).join(session_dir_name(session))
}

/// The folder of all sessions in a project's folder.
pub fn sessions_dir(project: &Path) -> PathBuf {
    project.join("sessions")
}

/// Whether a project's folder holds anything that would be lost with its `project.toml`.
pub fn has_content(project: &Path) -> bool {
    [project.join("ledger"), sessions_dir(project), notebook_dir(project)]
        .iter()
        .any(|it| it.exists())
}

/// The indexes over a ledger.
pub fn index_dir(ledger: &Path) -> PathBuf {
    ledger.with_file_name("finder")
}

/// State of running sessions, in a project's folder.
pub fn trigger_state_dir(project: &Path) -> PathBuf {
    project.join("triggers")
}

/// The longest name of a session's folder; file systems allow 255 bytes.
const SESSION_NAME_BYTES_MAX: usize = 128;

/// A session's id as the name of a folder. Ids of letters, digits, `.`, `_` and `-` are their own
/// names. Others begin with `~`, which those cannot hold, and have every other byte as `%XX`; what
/// gets too long is `~~` and a hash. Two ids never get the same name.
pub fn session_dir_name(session: &str) -> String {
    if is_plain_name(session) {
        return session.to_owned();
    }
    let mut name = String::from("~");
    for byte in session.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' => name.push(char::from(byte)),
            _ => name.push_str(&format!("%{byte:02X}")),
        }
    }
    if name.len() > SESSION_NAME_BYTES_MAX {
        return format!("~~{}", blake3::hash(session.as_bytes()).to_hex());
    }
    name
}

fn is_plain_name(session: &str) -> bool {
    (1..=SESSION_NAME_BYTES_MAX).contains(&session.len())
        && session.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
        && !session.starts_with('.')
        // Windows drops a trailing dot.
        && !session.ends_with('.')
        && !is_windows_device(session)
}

/// Device names reserved by Windows, with any extension.
fn is_windows_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    matches!(stem.as_str(), "con" | "prn" | "aux" | "nul")
        || ["com", "lpt"].iter().any(|port| {
            stem.strip_prefix(port)
                .is_some_and(|rest| rest.len() == 1 && rest.bytes().all(|b| b.is_ascii_digit()))
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ordinary_ids_are_their_own_folder_names() {
        for id in ["0198c3f2-7b1e-7000-8a9b-0123456789ab", "ses_4Kd.2", "s1"] {
            assert_eq!(session_dir_name(id), id);
        }
    }

    #[test]
    fn unusual_ids_get_safe_folder_names() {
        for (id, name) in [
            ("..", "~%2E%2E"),
            ("a/b", "~a%2Fb"),
            ("~a%2Fb", "~%7Ea%252Fb"),
            (".hidden", "~%2Ehidden"),
            ("CON", "~CON"),
            ("nul.1", "~nul%2E1"),
            ("end.", "~end%2E"),
        ] {
            assert_eq!(session_dir_name(id), name);
        }
        assert_eq!(session_dir_name(&"x".repeat(129)).len(), 66);
    }

    proptest! {
        #[test]
        fn different_ids_have_different_folder_names(a in "[a./~%]{1,5}|\\PC{1,200}", b in "[a./~%]{1,5}|\\PC{1,200}") {
            prop_assert_eq!(a == b, session_dir_name(&a) == session_dir_name(&b));
            let name = session_dir_name(&a);
            prop_assert!(name.len() <= SESSION_NAME_BYTES_MAX && !name.starts_with('.'));
            prop_assert!(name.bytes().all(|b| b.is_ascii_graphic() && b != b'/' && b != b'\\'));
        }
    }
}
