//! Ignore rules: `.gitignore` files, and folders that common tools create.
//!
//! The last matching pattern of the innermost folder wins, as in git.

use std::io::Read;
use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::{Override, OverrideBuilder};

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
/// Longer patterns are ignored: compiled, they take many times their length.
const PATTERN_BYTES_MAX: usize = 1_024;

/// Rules, those of outer folders first.
#[derive(Debug, Default)]
pub struct IgnoreRules(Vec<FolderRules>);

#[derive(Debug)]
struct FolderRules {
    /// Folder of the `.gitignore`, relative to the root; empty or with a trailing slash.
    base: String,
    patterns: Gitignore,
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
        self.add_patterns(&String::from_utf8_lossy(&bytes), base);
    }

    fn add_patterns(&mut self, text: &str, base: String) {
        let known: usize = self.0.iter().map(|rules| rules.patterns.len()).sum();
        let is_pattern = |line: &&str| {
            !line.trim().is_empty() && !line.starts_with('#') && line.len() <= PATTERN_BYTES_MAX
        };
        let mut patterns = GitignoreBuilder::new(".");
        for line in text.lines().filter(is_pattern).take(PATTERNS_MAX.saturating_sub(known)) {
            // Invalid patterns match nothing.
            let _ = patterns.add_line(None, line);
        }
        if let Ok(patterns) = patterns.build()
            && !patterns.is_empty()
        {
            self.0.push(FolderRules { base, patterns });
        }
    }

    pub fn is_ignored(&self, path: &str, is_folder: bool) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        if is_folder && TOOL_FOLDERS.contains(&name) || name == MACOS_METADATA_FILE {
            return true;
        }
        let matched = self.0.iter().rev().find_map(|rules| {
            let matched = rules.patterns.matched(path.strip_prefix(&rules.base)?, is_folder);
            (!matched.is_none()).then(|| matched.is_ignore())
        });
        matched.unwrap_or(false)
    }
}

/// File names to list or search, written like a pattern in `.gitignore`: with a slash it is
/// anchored at the root, otherwise it matches a name at any depth; `!` excludes.
#[derive(Debug)]
pub struct NamePattern(Override);

impl NamePattern {
    /// The error is addressed to the model.
    pub fn parse(pattern: &str) -> Result<Self, &'static str> {
        let mut patterns = OverrideBuilder::new(".");
        let patterns = patterns.add(pattern).and_then(|patterns| patterns.build());
        patterns.map(Self).map_err(|_| "pattern is not a valid file name pattern")
    }

    pub fn matches(&self, name: &str) -> bool {
        !self.0.matched(name, false).is_ignore()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_git() {
        let text = "# a comment\n*.log\n/build\ndocs/*.tmp\nout/\n!keep.log\na/**/z\n[ab].txt\n\\#note\n{x\n";
        let mut ignored = IgnoreRules::default();
        ignored.add_patterns(text, String::new());
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
            ("#note", false, true),
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
        ignored.add_patterns("/gen", "sub/".to_owned());
        assert!(ignored.is_ignored("sub/gen", true));
        assert!(!ignored.is_ignored("gen", true));
    }

    #[test]
    fn an_inner_folder_overrides_an_outer_one() {
        let mut ignored = IgnoreRules::default();
        ignored.add_patterns("*.log", String::new());
        ignored.add_patterns("!keep.log", "sub/".to_owned());
        assert!(ignored.is_ignored("keep.log", false));
        assert!(!ignored.is_ignored("sub/keep.log", false));
        assert!(ignored.is_ignored("sub/other.log", false));
        assert!(ignored.is_ignored("submarine/keep.log", false));
    }

    #[test]
    fn name_patterns_are_anchored_only_by_a_slash() {
        for (pattern, name, expected) in [
            ("*.rs", "src/main.rs", true),
            ("*.rs", "src/main.md", false),
            ("src/**/*.md", "src/a/b.md", true),
            ("src/**/*.md", "src/b.md", true),
            ("src/**/*.md", "docs/src/b.md", false),
            ("src/*.md", "src/a/b.md", false),
            ("*.{rs,md}", "README.md", true),
            ("!*.rs", "src/main.rs", false),
            ("!*.rs", "README.md", true),
        ] {
            let matches = NamePattern::parse(pattern).unwrap().matches(name);
            assert_eq!(matches, expected, "{pattern} {name}");
        }
        assert!(NamePattern::parse("[a").is_err());
    }
}
