//! Paths of working directories, without the disk.
//!
//! Transcripts of Windows may be imported elsewhere. Such a folder cannot be looked up on this
//! machine, and read as a path of this system it would be relative to the folder of the process.

/// Windows puts this before a path that may be longer than usual, or that was canonicalized.
const LONG_PATH_PREFIX: &str = "\\\\?\\";

/// Whether a path is absolute on Windows, and this is another system.
pub fn is_foreign_path(path: &str) -> bool {
    cfg!(not(windows)) && is_windows_path(path)
}

fn is_windows_path(path: &str) -> bool {
    has_drive(path) || path.starts_with("\\\\")
}

fn has_drive(path: &str) -> bool {
    let bytes = path.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1) == Some(&b':')
        && matches!(bytes.get(2), Some(b'\\' | b'/'))
}

/// The path of a folder below another one, with `/` between its parts; empty if both are the same.
/// `None` if it is elsewhere.
pub fn relative_folder(folder: &str, above: &str) -> Option<String> {
    let (folder, above) = (normalize_path(folder), normalize_path(above));
    let separator = if is_windows_path(&above) { '\\' } else { '/' };
    let rest = folder.strip_prefix(above.trim_end_matches(separator))?;
    if rest.is_empty() {
        return Some(String::new());
    }
    rest.strip_prefix(separator).map(|rest| rest.replace(separator, "/"))
}

/// Normalizes a path of Windows lexically, so that a folder has one spelling: agents differ in the
/// case of the drive, in the separators, and in the prefix of long paths.
fn normalize_foreign_path(path: &str) -> String {
    let path = path.strip_prefix(LONG_PATH_PREFIX).filter(|rest| has_drive(rest)).unwrap_or(path);
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split(['\\', '/']) {
        match part {
            "" | "." => {}
            ".." if parts.len() > 1 => drop(parts.pop()),
            ".." => {}
            part => parts.push(part),
        }
    }
    let joined = parts.join("\\");
    if path.starts_with("\\\\") {
        return format!("\\\\{joined}");
    }
    let mut chars = joined.chars();
    let drive = chars.next().map(|drive| drive.to_ascii_uppercase());
    let rest = chars.as_str();
    let end = if parts.len() == 1 { "\\" } else { "" };
    drive.map_or_else(String::new, |drive| format!("{drive}{rest}{end}"))
}

/// The repository above a worktree that is gone, by the folders that tools put worktrees into. Also
/// for transcripts of another machine.
pub(crate) fn guess_repository_of_worktree(path: &str) -> &str {
    const FOLDERS: [&str; 6] = [
        "/.worktrees/",
        "/.claude/worktrees/",
        "/.git/worktrees/",
        "\\.worktrees\\",
        "\\.claude\\worktrees\\",
        "\\.git\\worktrees\\",
    ];
    let cut = FOLDERS.iter().filter_map(|folder| path.find(folder)).min();
    cut.filter(|at| *at > 0).and_then(|at| path.get(..at)).unwrap_or(path)
}

/// Normalizes a path lexically: removes trailing separators, `.` and `..`.
pub fn normalize_path(path: &str) -> String {
    if is_foreign_path(path) {
        return normalize_foreign_path(path);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    if path.starts_with('/') {
        format!("/{}", parts.join("/"))
    } else {
        path.trim_end_matches('\\').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worktree_that_is_gone_belongs_to_the_repository_above_it() {
        assert_eq!(guess_repository_of_worktree("/gone/app/.worktrees/4/src"), "/gone/app");
        assert_eq!(guess_repository_of_worktree("/gone/app/.claude/worktrees/x"), "/gone/app");
        assert_eq!(guess_repository_of_worktree("/gone/app/worktrees"), "/gone/app/worktrees");
        assert_eq!(guess_repository_of_worktree("/.worktrees/4"), "/.worktrees/4");
    }

    #[cfg(not(windows))]
    #[test]
    fn a_folder_of_windows_has_one_spelling() {
        for path in [
            "C:\\Users\\dev\\app",
            "c:\\Users\\dev\\app\\",
            "C:/Users/dev/./x/../app",
            "\\\\?\\C:\\Users\\dev\\app",
            "\\\\?\\c:\\Users\\dev\\app\\",
        ] {
            assert!(is_foreign_path(path), "{path}");
            assert_eq!(normalize_foreign_path(path), "C:\\Users\\dev\\app");
        }
        assert_eq!(normalize_foreign_path("d:\\"), "D:\\");
        assert_eq!(normalize_foreign_path("\\\\server\\share\\app"), "\\\\server\\share\\app");
        for path in ["/home/dev", "C:", "c:relative", "relative", ""] {
            assert!(!is_foreign_path(path), "{path}");
        }
    }

    #[test]
    fn a_folder_below_another_is_found_by_its_parts() {
        let below = |folder, above| relative_folder(folder, above).unwrap_or("none".to_owned());
        assert_eq!(below("/home/dev/app/crates/lexer/", "/home/dev/app"), "crates/lexer");
        assert_eq!(below("/home/dev/app", "/home/dev/app/"), "");
        assert_eq!(below("/home/dev/app-clone", "/home/dev/app"), "none");
        assert_eq!(below("/home", "/"), "home");
    }

    #[cfg(not(windows))]
    #[test]
    fn a_folder_of_windows_is_below_another_in_every_spelling() {
        let below = |folder, above| relative_folder(folder, above).unwrap_or("none".to_owned());
        for folder in ["c:/dev/app/crates/lexer", "\\\\?\\C:\\dev\\app\\crates\\lexer\\"] {
            assert_eq!(below(folder, "C:\\dev\\app"), "crates/lexer");
            assert_eq!(below(folder, "C:\\"), "dev/app/crates/lexer");
            assert_eq!(below(folder, "D:\\dev\\app"), "none");
        }
        assert_eq!(below("C:\\dev\\app-clone", "C:\\dev\\app"), "none");
    }
}
