//! Finds commits and pull requests in shell tool calls, from the output of git and of the hosting
//! tools, or else from their arguments.

use std::sync::LazyLock;

use regex::Regex;
use tome_model::{Event, EventKind, Tool};
use tome_text::first_chars;

use crate::extract::commands::chain::{ChainJoint, split_chain, unquote};
use crate::extract::commands::command_name::{find_git_verb, strip_wrappers};
use crate::extract::commands::command_run::find_command_line;
use crate::extract::commands::outcome::{ToolOutcome, read_outcome};
use crate::extract::language::text::{head_and_tail, output_texts};

/// Commits of one tool call that are read.
const COMMITS_MAX: usize = 20;

/// A commit that a tool call made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MadeCommit<'a> {
    pub(crate) event: usize,
    /// The short hash, if git printed it.
    pub(crate) hash: Option<&'a str>,
    pub(crate) branch: Option<&'a str>,
    /// The first line of the message.
    pub(crate) subject: &'a str,
    /// The line that shows it, verbatim.
    pub(crate) raw: &'a str,
    /// Whether it replaces the commit before it; in a turn, only if that was made before the segment.
    pub(crate) is_amended: bool,
}

impl MadeCommit<'_> {
    /// The subject, and the hash if it is known.
    pub(crate) fn describe(&self) -> String {
        const HASH_CHARS: usize = 8;
        match self.hash {
            Some(hash) => format!("{} ({})", self.subject, first_chars(hash, HASH_CHARS)),
            None => self.subject.to_owned(),
        }
    }
}

/// A rebase that a tool call finished.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FinishedRebase<'a> {
    pub(crate) event: usize,
    /// Git's line, verbatim.
    pub(crate) raw: &'a str,
    pub(crate) branch: Option<&'a str>,
    /// The rebased commit, if there was exactly one.
    pub(crate) commit: Option<MadeCommit<'a>>,
}

/// A pull request that a tool call opened or looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedPull<'a> {
    pub(crate) event: usize,
    pub(crate) number: u64,
    pub(crate) title: Option<&'a str>,
    /// The text that shows it, verbatim.
    pub(crate) raw: &'a str,
    pub(crate) is_opened: bool,
}

/// Counts the commits that a tool call undid: `git reset HEAD~2`.
pub(crate) fn count_undone_commits(event: &Event, tool: &Tool) -> usize {
    let Some(line) = find_command_line(tool).filter(|line| line.contains("reset")) else {
        return 0;
    };
    if read_outcome(event, tool) != ToolOutcome::Exited(0) {
        return 0;
    }
    let mut undone = 0;
    for stage in split_chain(line).iter().flat_map(|part| &part.stages) {
        let Some(words) = strip_wrappers(stage) else { continue };
        let Some((program, arguments)) = words.split_first() else { continue };
        if program.rsplit('/').next() == Some("git") && find_git_verb(arguments) == Some("reset") {
            // With paths, it only takes files out of the index.
            let mut paths = arguments.iter().filter(|word| !word.starts_with('-')).skip(2);
            let has_paths = arguments.contains(&"--") || paths.next().is_some();
            let back = arguments.iter().find_map(|word| parse_commits_back(word));
            undone = back.filter(|_| !has_paths).map_or(undone, |back| back.saturating_add(undone));
        }
    }
    undone
}

/// The number of commits between a revision and the current one: 2 for `HEAD~2` and `HEAD^^`.
fn parse_commits_back(revision: &str) -> Option<usize> {
    let rest = revision.strip_prefix("HEAD").or_else(|| revision.strip_prefix('@'))?;
    match rest.strip_prefix('~') {
        Some("") => Some(1),
        Some(count) => count.parse().ok(),
        None => (!rest.is_empty() && rest.chars().all(|c| c == '^')).then_some(rest.len()),
    }
}

/// Lists the commits that the tool calls of a session made and did not undo, in order: `subject (hash)`.
pub fn list_commits<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<String> {
    let mut commits: Vec<String> = Vec::new();
    let calls = events.into_iter().filter(|event| event.kind == EventKind::ToolResult);
    for (event, tool) in calls.filter_map(|event| Some((event, event.tool.as_ref()?))) {
        let undone = count_undone_commits(event, tool).min(commits.len());
        commits.truncate(commits.len() - undone);
        for commit in find_commits(0, event, tool) {
            if commit.is_amended {
                commits.pop();
            }
            commits.push(commit.describe());
        }
    }
    commits
}

/// Finds the commits that a tool call made.
pub(crate) fn find_commits<'a>(at: usize, event: &'a Event, tool: &'a Tool) -> Vec<MadeCommit<'a>> {
    let Some(line) = find_command_line(tool) else { return Vec::new() };
    if !line.contains("git") {
        return Vec::new();
    }
    let chain = split_chain(line);
    let mut calls = Vec::new();
    for (index, part) in chain.iter().enumerate() {
        for stage in &part.stages {
            let Some(words) = strip_wrappers(stage) else { continue };
            let Some((program, arguments)) = words.split_first() else { continue };
            if program.rsplit('/').next() == Some("git")
                && let Some(verb) = find_git_verb(arguments)
            {
                let hidden = chain.iter().skip(index + 1).any(|next| next.joint != ChainJoint::And)
                    || part.stages.len() > 1;
                calls.push((verb, *stage, words, hidden));
            }
        }
    }
    if calls.is_empty() {
        return Vec::new();
    }
    let outcome = read_outcome(event, tool);
    if matches!(outcome, ToolOutcome::Rejected | ToolOutcome::NotRun | ToolOutcome::NoResult) {
        return Vec::new();
    }
    let is_amended =
        calls.iter().any(|(verb, _, words, _)| *verb == "commit" && words.contains(&"--amend"));
    // A rebase prints the commits that it reapplies; they are not new.
    let makes = ["commit", "cherry-pick", "revert", "merge", "am", "pull"];
    let is_replay = !calls.iter().any(|(verb, ..)| makes.contains(verb));
    let is_rebase = calls.iter().any(|(verb, ..)| *verb == "rebase");
    if is_replay || is_rebase {
        return Vec::new();
    }
    let mut printed = read_printed_commits(at, event, is_amended);
    // Of several commits of one call, the first ones were made by it.
    let made = printed.len().saturating_sub(1);
    printed.iter_mut().take(made).for_each(|commit| commit.is_amended = false);
    if !printed.is_empty() {
        return printed;
    }
    // `git commit -q` prints nothing, but agents often look at the log right after it.
    let logged = read_logged_commits(at, event, line, is_amended);
    if !logged.is_empty() {
        return logged;
    }
    let passed = outcome == ToolOutcome::Exited(0);
    calls
        .iter()
        .filter(|(verb, _, words, hidden)| {
            let dry = words.iter().any(|word| matches!(*word, "--dry-run" | "--help" | "-h"));
            *verb == "commit" && passed && !hidden && !dry
        })
        .filter_map(|(_, stage, ..)| {
            let subject = parse_message(stage)?;
            let commit = MadeCommit {
                event: at,
                hash: None,
                branch: None,
                subject,
                raw: subject,
                is_amended,
            };
            Some(commit)
        })
        .take(COMMITS_MAX)
        .collect()
}

/// Reads the lines that git prints for new commits: `[main 1a2b3c4] Subject`.
fn read_printed_commits<'a>(at: usize, event: &'a Event, is_amended: bool) -> Vec<MadeCommit<'a>> {
    static PRINTED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?m)^\[([^\s\]]+(?: HEAD)?)(?: \(root-commit\))? ([0-9a-f]{7,40})\] (\S[^\r\n]*)",
        )
        .ok()
    });
    let Some(pattern) = PRINTED.as_ref() else { return Vec::new() };
    let mut commits: Vec<MadeCommit<'a>> = Vec::new();
    for text in output_texts(event) {
        for part in head_and_tail(text, 16 * 1024, 16 * 1024) {
            for groups in pattern.captures_iter(part).take(COMMITS_MAX) {
                let (Some(raw), Some(branch), Some(hash), Some(subject)) =
                    (groups.get(0), groups.get(1), groups.get(2), groups.get(3))
                else {
                    continue;
                };
                let is_listed = commits.iter().any(|commit| commit.hash == Some(hash.as_str()));
                if !is_listed && commits.len() < COMMITS_MAX {
                    let branch = branch.as_str();
                    commits.push(MadeCommit {
                        event: at,
                        hash: Some(hash.as_str()),
                        branch: (!branch.contains("HEAD")).then_some(branch),
                        subject: strip_trailer(subject.as_str()).trim_end(),
                        raw: raw.as_str().trim_end(),
                        is_amended,
                    });
                }
            }
        }
    }
    commits
}

/// A subject without the trailer that git appends to it if no empty line separates them.
fn strip_trailer(subject: &str) -> &str {
    const TRAILERS: [&str; 5] = [
        " Entire-Checkpoint: ",
        " Co-authored-by: ",
        " Co-Authored-By: ",
        " Signed-off-by: ",
        " Change-Id: ",
    ];
    let trailer = TRAILERS.iter().filter_map(|trailer| subject.find(trailer)).min();
    trailer.and_then(|at| subject.get(..at)).unwrap_or(subject)
}

/// Reads the lines of `git log --oneline` whose subject is that of a commit in the same command line.
fn read_logged_commits<'a>(
    at: usize,
    event: &'a Event,
    line: &str,
    is_amended: bool,
) -> Vec<MadeCommit<'a>> {
    static LOGGED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?m)^([0-9a-f]{7,40}) (?:\([^)\n]*\) )?(\S[^\r\n]{2,})$").ok()
    });
    let Some(pattern) = LOGGED.as_ref().filter(|_| line.contains("log")) else {
        return Vec::new();
    };
    let texts = output_texts(event);
    let parts = texts.iter().flat_map(|text| head_and_tail(text, 16 * 1024, 16 * 1024));
    let mut commits: Vec<MadeCommit<'a>> = Vec::new();
    for groups in parts.flat_map(|part| pattern.captures_iter(part)) {
        let (Some(raw), Some(hash), Some(subject)) = (groups.get(0), groups.get(1), groups.get(2))
        else {
            continue;
        };
        let subject = subject.as_str().trim_end();
        let is_listed = commits.iter().any(|commit| commit.subject == subject);
        let is_made = || line.lines().any(|one| is_subject_of(one, subject));
        if !is_listed && commits.len() < COMMITS_MAX && is_made() {
            commits.push(MadeCommit {
                event: at,
                hash: Some(hash.as_str()),
                branch: None,
                subject,
                raw: raw.as_str().trim_end(),
                is_amended,
            });
        }
    }
    // The log shows the last one first.
    commits.reverse();
    commits
}

/// Whether a line of a command is a commit's subject, or gives it in quotes.
fn is_subject_of(line: &str, subject: &str) -> bool {
    let quoted = |quote: char| line.contains(&format!("{quote}{subject}{quote}"));
    let begins = |quote: char| line.ends_with(&format!("{quote}{subject}"));
    line.trim() == subject || ['"', '\''].iter().any(|quote| quoted(*quote) || begins(*quote))
}

/// Finds the line with which git reports a finished rebase.
pub(crate) fn find_finished_rebase<'a>(
    at: usize,
    event: &'a Event,
    tool: &'a Tool,
) -> Option<FinishedRebase<'a>> {
    const DONE: &str = "Successfully rebased and updated ";
    let line = find_command_line(tool)?;
    if !line.contains("git") || !["rebase", "pull"].iter().any(|verb| line.contains(verb)) {
        return None;
    }
    let raw = output_texts(event).into_iter().find_map(|text| {
        head_and_tail(text, 16 * 1024, 16 * 1024).into_iter().find_map(|part| {
            let from = part.find(DONE)?;
            part.get(from..)?.lines().next()
        })
    })?;
    let branch = raw.strip_prefix(DONE)?.trim_end_matches('.').strip_prefix("refs/heads/");
    // The rebased commits, if git printed them.
    let commit = match read_printed_commits(at, event, false).as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    };
    Some(FinishedRebase { event: at, raw, branch, commit })
}

/// The first line of a commit message, from `-m`, `--message`, `-am` or a here-document.
fn parse_message(call: &str) -> Option<&str> {
    static MESSAGE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?s)\s(?:-[a-zA-Z]*m|--message)[ =]?\s*(?:"\$\(cat <<-?\s*['"]?\w+['"]?\s*\n([^\n]+)|"((?:[^"\\]|\\.)+)|'([^']+)|(\S+))"#).ok()
    });
    static INPUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"\s(?:-F|--file)[ =]?-\s*<<-?\s*['"]?\w+['"]?[^\n]*\n([^\n]+)"#).ok()
    });
    let message = MESSAGE.as_ref()?.captures(call);
    let message = message.and_then(|groups| (1..=4).find_map(|group| groups.get(group)));
    let input = || INPUT.as_ref()?.captures(call)?.get(1);
    let text = message.or_else(input)?.as_str();
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    (first.chars().count() >= 3 && !first.starts_with("$(")).then_some(first)
}

/// Finds pull requests that a tool call opened or looked at.
pub(crate) fn find_pulls<'a>(at: usize, event: &'a Event, tool: &'a Tool) -> Vec<NamedPull<'a>> {
    static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"https?://[^\s\x22']+/(?:pull|merge_requests)/(\d{1,9})").ok()
    });
    static TITLE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?:"title":\s*"((?:[^"\\]|\\.){3,200})"|(?m)^title:\t([^\n]{3,200}))"#).ok()
    });
    let Some(line) = find_command_line(tool) else { return Vec::new() };
    if !["gh pr", "glab mr"].iter().any(|tool| line.contains(tool)) {
        return Vec::new();
    }
    if !matches!(read_outcome(event, tool), ToolOutcome::Exited(0) | ToolOutcome::Unknown) {
        return Vec::new();
    }
    let is_opened = ["gh pr create", "glab mr create"].iter().any(|verb| line.contains(verb));
    let looks = ["pr view", "mr view", "pr checkout"].iter().any(|verb| line.contains(verb));
    let is_renamed = line.contains("gh pr edit") && find_title_flag(line).is_some();
    if !is_opened && !looks && !is_renamed {
        return Vec::new();
    }
    let output = output_texts(event);
    let Some(address) = ADDRESS.as_ref() else { return Vec::new() };
    let pull = output.iter().find_map(|text| {
        let groups = address.captures(text)?;
        Some((groups.get(0)?.as_str(), groups.get(1)?.as_str().parse::<u64>().ok()?))
    });
    let Some((raw, number)) = pull else { return Vec::new() };
    let printed = output.iter().find_map(|text| {
        let groups = TITLE.as_ref()?.captures(text)?;
        groups.get(1).or_else(|| groups.get(2)).map(|title| title.as_str())
    });
    let title = if is_opened || is_renamed { find_title_flag(line) } else { printed };
    let title = title.or_else(|| output.iter().find_map(|text| find_title_line(text, number)));
    vec![NamedPull { event: at, number, title, raw, is_opened }]
}

/// The line after the number, where a call printed number, title and address in lines.
fn find_title_line(text: &str, number: u64) -> Option<&str> {
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| line.parse() == Ok(number))?;
    lines.next().filter(|line| line.contains(' ') && !line.contains("://") && line.len() <= 200)
}

/// The value of `--title` or `-t`.
fn find_title_flag(line: &str) -> Option<&str> {
    let chain = split_chain(line);
    let call = chain.iter().flat_map(|part| part.stages.iter()).find(|stage| {
        ["pr create", "mr create", "pr edit"].iter().any(|verb| stage.contains(verb))
    })?;
    let words = crate::extract::commands::chain::split_words(call);
    let mut rest = words.iter().skip_while(|word| !matches!(**word, "--title" | "-t"));
    rest.next()?;
    rest.next().map(|word| unquote(word)).filter(|title| title.chars().count() >= 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_subcommand_of_git_is_found_after_its_flags() {
        assert_eq!(find_git_verb(&["-C", "dir", "commit", "-m", "x"]), Some("commit"));
        assert_eq!(find_git_verb(&["-c", "user.name=x", "--no-pager", "log"]), Some("log"));
        assert_eq!(find_git_verb(&["--git-dir=x", "push"]), Some("push"));
        assert_eq!(find_git_verb(&["--version"]), None);
    }

    #[test]
    fn messages_are_read_in_every_form() {
        assert_eq!(parse_message("git commit -m \"fix: a 'b'\""), Some("fix: a 'b'"));
        assert_eq!(parse_message("git commit -am 'fix: a'"), Some("fix: a"));
        assert_eq!(parse_message("git commit --message=\"fix (it)\""), Some("fix (it)"));
        assert_eq!(
            parse_message("git commit -q -m \"$(cat <<'EOF'\nSubject (1)\n\nbody\nEOF\n)\""),
            Some("Subject (1)")
        );
        assert_eq!(parse_message("git commit --amend --no-edit"), None);
    }
}
