//! Ignore rules: `.gitignore` files, and folders that common tools create.
//!
//! Patterns follow git: `*`, `?`, `[…]` and `**`; a slash anchors a pattern to its file's folder, a
//! trailing slash matches folders only, `!` negates. The last matching pattern wins.

use std::io::Read;
use std::path::Path;

use regex::{Regex, RegexBuilder};

use tome_home::{FinalLink, open_regular};

const TOOL_FOLDERS: [&str; 13] = [
    ".git",
    ".hg",
    ".svn",
    ".jj",
    "node_modules",
    "target",
    "__pycache__",
    ".venv",
    "venv",
    ".mypy_cache",
    ".pytest_cache",
    ".tox",
    ".gradle",
];
const MACOS_METADATA_FILE: &str = ".DS_Store";

/// Limits per `.gitignore` file and for all patterns together.
const GITIGNORE_BYTES_MAX: u64 = 64 * 1024;
const PATTERNS_MAX: usize = 2_000;
/// Patterns that compile to a larger regex are ignored.
const REGEX_BYTES_MAX: usize = 256 * 1024;

/// Patterns, those of outer folders first.
#[derive(Debug, Default)]
pub struct IgnoreRules(Vec<IgnorePattern>);

#[derive(Debug)]
struct IgnorePattern {
    /// Folder of the `.gitignore`, relative to the root; empty or with a trailing slash.
    base: String,
    fits: Regex,
    takes_back: bool,
    folders_only: bool,
}

impl IgnoreRules {
    /// Adds the patterns of a folder's `.gitignore`. `base` is the folder relative to the root.
    pub fn add_gitignore(&mut self, folder: &Path, base: &str) {
        let ignored = folder.join(".gitignore");
        let Ok(file) = open_regular(&ignored, FinalLink::Refuse) else { return };
        let mut bytes = Vec::new();
        if file.take(GITIGNORE_BYTES_MAX).read_to_end(&mut bytes).is_err() {
            return;
        }
        let base = if base.is_empty() { String::new() } else { format!("{base}/") };
        for line in String::from_utf8_lossy(&bytes).lines() {
            if self.0.len() < PATTERNS_MAX {
                self.0.extend(IgnorePattern::parse(line, &base));
            }
        }
    }

    pub fn is_ignored(&self, path: &str, is_folder: bool) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        if is_folder && TOOL_FOLDERS.contains(&name) || name == MACOS_METADATA_FILE {
            return true;
        }
        let fitting = self.0.iter().rev().find(|pattern| {
            let below = path.strip_prefix(pattern.base.as_str());
            (is_folder || !pattern.folders_only)
                && below.is_some_and(|below| pattern.fits.is_match(below))
        });
        fitting.is_some_and(|pattern| !pattern.takes_back)
    }
}

impl IgnorePattern {
    fn parse(line: &str, base: &str) -> Option<Self> {
        let line = line.trim_end();
        if line.is_empty() || line.starts_with('#') {
            return None;
        }
        let (takes_back, line) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest));
        let (folders_only, line) =
            line.strip_suffix('/').map_or((false, line), |rest| (true, rest));
        let fits = parse_glob(line)?;
        Some(Self { base: base.to_owned(), fits, takes_back, folders_only })
    }
}

/// Compiles a file name pattern. With a slash it is anchored at the beginning, otherwise it matches
/// a name at any depth. `None` if invalid.
pub fn parse_glob(pattern: &str) -> Option<Regex> {
    let is_tied = pattern.contains('/');
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    let mut regex = String::from(if is_tied { "^" } else { "^(?:.*/)?" });
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let (written, taken) = if rest.starts_with("**/") {
            ("(?:.*/)?".to_owned(), 3)
        } else if rest.starts_with("**") {
            (".*".to_owned(), 2)
        } else if let Some(class) = parse_char_class(rest) {
            class
        } else {
            match c {
                '*' => ("[^/]*".to_owned(), 1),
                '?' => ("[^/]".to_owned(), 1),
                c => (regex::escape(&c.to_string()), c.len_utf8()),
            }
        };
        regex.push_str(&written);
        rest = rest.get(taken..).unwrap_or_default();
    }
    regex.push('$');
    RegexBuilder::new(&regex).size_limit(REGEX_BYTES_MAX).build().ok()
}

/// Converts a leading `[a-z]` to a regular expression; also returns its length.
fn parse_char_class(rest: &str) -> Option<(String, usize)> {
    let inner = rest.strip_prefix('[')?;
    let end = inner.find(']').filter(|end| *end > 0)?;
    let chars = inner.get(..end)?;
    let (not, chars) = match chars.strip_prefix(['!', '^']) {
        Some(chars) => ("^", chars),
        None => ("", chars),
    };
    let chars =
        chars.replace('\\', "\\\\").replace('[', "\\[").replace('&', "\\&").replace('~', "\\~");
    Some((format!("[{not}{chars}]"), end + 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_git() {
        let text = "# a comment\n*.log\n/build\ndocs/*.tmp\nout/\n!keep.log\na/**/z\n[ab].txt\n";
        let mut ignored = IgnoreRules::default();
        ignored.0.extend(text.lines().filter_map(|line| IgnorePattern::parse(line, "")));
        for (path, is_folder, expected) in [
            ("x.log", false, true),
            ("deep/er/x.log", false, true),
            ("keep.log", false, false),
            ("build", true, true),
            ("sub/build", true, false),
            ("docs/a.tmp", false, true),
            ("docs/b/a.tmp", false, false),
            ("out", true, true),
            ("out", false, false),
            ("a/z", false, true),
            ("a/b/c/z", false, true),
            ("b.txt", false, true),
            ("c.txt", false, false),
            ("node_modules", true, true),
            ("venv", true, true),
            ("scripts/venv", false, false),
            ("target", false, false),
            (".DS_Store", false, true),
            ("src/main.rs", false, false),
        ] {
            assert_eq!(ignored.is_ignored(path, is_folder), expected, "{path}");
        }
    }

    #[test]
    fn a_pattern_applies_only_below_its_folder() {
        let mut ignored = IgnoreRules::default();
        ignored.0.extend(IgnorePattern::parse("/gen", "sub/"));
        assert!(ignored.is_ignored("sub/gen", true));
        assert!(!ignored.is_ignored("gen", true));
    }
}
