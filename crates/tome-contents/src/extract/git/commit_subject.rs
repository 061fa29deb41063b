//! Classifies commit subjects: work or routine, and their conventional type.

use tome_text::count_words;

use crate::extract::language::text::begins_with_any;

/// Subjects of commits that do not describe the work.
pub(crate) fn is_chore(subject: &str) -> bool {
    #[rustfmt::skip]
    const CHORES: &[&str] = &[
        "merge", "wip", "fixup!", "squash!", "fmt", "format", "lint", "fix lint", "fix tests",
        "fix test", "typo", "fix typo", "bump", "update", "address review", "address comments",
        "address pr", "cleanup", "clean up", "chore: bump", "chore: format", "push", "commit",
        "checkpoint", "initial commit", "continue", "test",
    ];
    let words = count_words(subject);
    words < 2 || is_ceremony(subject) || words <= 4 && begins_with_any(subject, CHORES)
}

/// Whether a commit is a formality: a merge, work in progress, a new run of a pipeline.
pub(crate) fn is_ceremony(subject: &str) -> bool {
    #[rustfmt::skip]
    const CEREMONIES: &[&str] = &[
        "merge branch", "merge pull request", "merge remote-tracking branch", "wip", "fixup!", "squash!",
        "first empty commit", "empty commit", "trigger deployment", "update deployment trigger", "trigger ci",
        "force redeploy", "save local changes",
    ];
    begins_with_any(subject, CEREMONIES)
}

/// The type of a conventional commit: `fix` of `fix(lexer)!: accept emoji`.
pub(crate) fn commit_type(subject: &str) -> Option<&str> {
    #[rustfmt::skip]
    const TYPES: &[&str] = &[
        "feat", "fix", "docs", "chore", "refactor", "perf", "test", "ci", "build", "style", "revert",
        "release",
    ];
    let (head, _) = subject.split_once(": ")?;
    let name = head.trim_end_matches('!').split('(').next()?;
    (TYPES.contains(&name) && !head.contains(' ')).then_some(name)
}

/// Commits of lower rank describe the work better.
pub(crate) fn rank_commit_type(subject: &str) -> u8 {
    match commit_type(&subject.to_lowercase()) {
        Some("chore" | "ci" | "build" | "style" | "docs" | "release" | "test") => 1,
        _ => 0,
    }
}
