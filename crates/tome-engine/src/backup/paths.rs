//! Which paths may be in a backup, and what they are.

use super::BackupError;

/// The history of a notebook, relative to its folder.
pub(crate) const HISTORY: &str = ".history/history.jsonl";

/// Whether a path in a notebook is that of a note.
pub(crate) fn is_note(path: &str) -> bool {
    path.ends_with(".md") && !path.split('/').any(|part| part.starts_with('.'))
}

/// Whether a file is an index, which is built from the notes and is none itself.
pub(crate) fn is_built(path: &str) -> bool {
    path == "MEMORY.md" || path.ends_with("README.md")
}

/// Whether a notebook's backup may hold this path.
pub(crate) fn belongs_to_notebook(path: &str) -> bool {
    path == HISTORY || is_note(path)
}

/// Whether a file outside of notebooks may be in a backup.
pub(crate) fn is_kept_file(has_project: bool, path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    match (has_project, parts.as_slice()) {
        (true, ["injections.jsonl" | "injections.old.jsonl" | "topics.json"])
        | (true, ["sessions", _, "messages.kept.jsonl"])
        | (false, ["pauses.jsonl"]) => true,
        (true, ["memory", ".moved", rest @ ..]) => !rest.is_empty(),
        _ => false,
    }
}

/// Whether a notebook can be in this folder.
pub(crate) fn is_notebook_folder(has_project: bool, folder: &str) -> bool {
    let parts: Vec<&str> = folder.split('/').collect();
    matches!(
        (has_project, parts.as_slice()),
        (false, ["coder"]) | (true, ["memory"] | ["sessions", _, "working-memory"])
    )
}

/// Accepts relative paths of plain names only.
pub(crate) fn check_path(path: &str) -> Result<(), BackupError> {
    let is_plain = |part: &str| {
        !matches!(part, "" | "." | "..")
            && part.len() <= 255
            && !part.contains(|c: char| matches!(c, '\\' | ':' | '\0') || c.is_control())
    };
    if !path.is_empty() && path.len() <= 4096 && path.split('/').all(is_plain) {
        Ok(())
    } else {
        Err(BackupError::Path(tome_model::truncate_to(path, 200).to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_a_home_has_are_accepted() {
        for path in ["../x.md", "/etc/x.md", "a//b.md", "a/./b.md", "a\\..\\b.md", "c:x.md", ""] {
            assert!(check_path(path).is_err(), "{path:?}");
        }
        assert!(check_path("facts/user.md").is_ok());
        assert!(belongs_to_notebook("facts/user.md") && belongs_to_notebook(HISTORY));
        assert!(!belongs_to_notebook(".history/turn") && !belongs_to_notebook("x.sh"));
        assert!(is_kept_file(true, "memory/.moved/history.jsonl"));
        assert!(!is_kept_file(true, "ledger/STORE") && !is_kept_file(false, "run/token"));
        assert!(!is_notebook_folder(true, "coder") && is_notebook_folder(false, "coder"));
    }
}
