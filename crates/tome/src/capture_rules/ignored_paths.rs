//! Ignored paths: the setting `capture.ignore`, and the files `.tomeignore` in a project or in a folder
//! above it. Both have the syntax of `.gitignore`.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use tome_home::{FinalLink, read_regular_text};

/// The file with the rules of a folder.
pub const IGNORE_FILE: &str = ".tomeignore";
/// A larger file is not read.
const FILE_BYTES_MAX: u64 = 64 * 1024;
/// Stands for any file when asking whether a folder is ignored as a whole.
const ANY_FILE: &str = "any file at all";
/// Folders whose rules are kept while a long history is read.
const FOLDERS_MAX: usize = 4096;

/// The rules read so far.
pub struct IgnoredPaths {
    everywhere: Gitignore,
    /// By folder; `None` for a folder without rules.
    folders: HashMap<PathBuf, Option<Gitignore>>,
}

impl IgnoredPaths {
    /// Parses the patterns of the setting, separated by commas. Invalid ones are left out; loading the
    /// config reports them.
    pub fn new(patterns: &str) -> Self {
        Self { everywhere: build_everywhere(patterns), folders: HashMap::new() }
    }

    /// The first pattern of the setting that is invalid, with the reason.
    pub fn check(patterns: &str) -> Result<(), String> {
        let mut builder = GitignoreBuilder::new("/");
        for pattern in split_patterns(patterns) {
            builder.add_line(None, &pattern).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Reads the rules that apply in a folder: its own and those of all folders above it.
    pub fn load_rules_for(&mut self, folder: &str) {
        if self.folders.len() > FOLDERS_MAX {
            self.folders.clear();
        }
        for folder in Path::new(folder).ancestors().filter(|folder| folder.is_absolute()) {
            if self.folders.contains_key(folder) {
                break;
            }
            self.folders.insert(folder.to_path_buf(), read_rules(folder));
        }
    }

    /// Whether there is any rule.
    pub fn has_rules(&self) -> bool {
        !self.everywhere.is_empty() || self.folders.values().any(Option::is_some)
    }

    /// Counts the rules that were read.
    pub fn count(&self) -> u64 {
        let folders = self.folders.values().flatten().map(Gitignore::num_ignores);
        self.everywhere.num_ignores() + folders.sum::<u64>()
    }

    /// Whether nothing that happens in a folder is recorded.
    pub fn is_folder_ignored(&self, folder: &str) -> bool {
        let folder = Path::new(folder);
        self.is_ignored(folder, true) || self.is_ignored(&folder.join(ANY_FILE), false)
    }

    /// Whether an absolute path is ignored.
    pub fn is_ignored(&self, path: &Path, is_folder: bool) -> bool {
        let Some(path) = normalize_absolute(path) else { return false };
        if matches_rules(&self.everywhere, Path::new("/"), &path, is_folder) {
            return true;
        }
        self.folders.iter().any(|(folder, rules)| {
            rules.as_ref().is_some_and(|rules| matches_rules(rules, folder, &path, is_folder))
        })
    }
}

fn matches_rules(rules: &Gitignore, root: &Path, path: &Path, is_folder: bool) -> bool {
    match path.strip_prefix(root) {
        Ok(rest) if !rest.as_os_str().is_empty() => {
            rules.matched_path_or_any_parents(rest, is_folder).is_ignore()
        }
        _ => false,
    }
}

fn build_everywhere(patterns: &str) -> Gitignore {
    let mut builder = GitignoreBuilder::new("/");
    for pattern in split_patterns(patterns) {
        let _ = builder.add_line(None, &pattern);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Splits the setting, and replaces `~` by the user's home folder.
fn split_patterns(patterns: &str) -> impl Iterator<Item = String> {
    let home = std::env::home_dir().map(|home| home.to_string_lossy().into_owned());
    let patterns = patterns.split(',').map(str::trim).filter(|pattern| !pattern.is_empty());
    patterns.map(move |pattern| match (pattern.strip_prefix("~/"), &home) {
        (Some(rest), Some(home)) => format!("{}/{rest}", home.trim_end_matches('/')),
        _ => pattern.to_owned(),
    })
}

fn read_rules(folder: &Path) -> Option<Gitignore> {
    let file = folder.join(IGNORE_FILE);
    let text = read_regular_text(&file, FinalLink::Refuse, FILE_BYTES_MAX).ok()?;
    let mut builder = GitignoreBuilder::new(folder);
    for line in text.lines() {
        // An invalid line is left out, as git does.
        let _ = builder.add_line(None, line);
    }
    builder.build().ok().filter(|rules| !rules.is_empty())
}

/// Removes `.` and `..` without the disk; `None` for a relative path.
fn normalize_absolute(path: &Path) -> Option<PathBuf> {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                clean.pop();
            }
            Component::CurDir => {}
            part => clean.push(part),
        }
    }
    clean.is_absolute().then_some(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_the_setting_apply_everywhere() {
        let rules = IgnoredPaths::new("*.pem, /srv/client, secrets/");
        let ignored = |path: &str| rules.is_ignored(Path::new(path), false);
        assert!(ignored("/app/key.pem") && ignored("/srv/client/a/b") && ignored("/x/secrets/y"));
        assert!(!ignored("/app/key.rs") && !ignored("/srv/clients") && !ignored("key.pem"));
        assert!(ignored("/app/../srv/client/a"));
        assert!(rules.is_folder_ignored("/srv/client") && !rules.is_folder_ignored("/srv"));
        assert!(IgnoredPaths::check("{a").is_err() && IgnoredPaths::check("a,b/**").is_ok());
    }

    #[test]
    fn a_file_in_a_folder_applies_below_it() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("app");
        std::fs::create_dir_all(root.join("private/deep")).unwrap();
        let rules = b"/private/\n*.env\n!sample.env\n";
        tome_home::write_atomic(&root.join(IGNORE_FILE), rules).unwrap();
        let mut ignored = IgnoredPaths::new("");
        let deep = root.join("private/deep");
        ignored.load_rules_for(deep.to_str().unwrap());
        assert!(ignored.is_folder_ignored(deep.to_str().unwrap()));
        assert!(!ignored.is_folder_ignored(root.to_str().unwrap()));
        assert!(ignored.is_ignored(&root.join("prod.env"), false));
        assert!(!ignored.is_ignored(&root.join("sample.env"), false));
        assert!(!ignored.is_ignored(&folder.path().join("prod.env"), false));
        tome_home::write_atomic(&root.join(IGNORE_FILE), b"*\n").unwrap();
        let mut all = IgnoredPaths::new("");
        all.load_rules_for(root.to_str().unwrap());
        assert!(all.is_folder_ignored(root.to_str().unwrap()));
    }
}
