//! Finds commits in shell tool calls, from the output of git, or else from its arguments.

use std::sync::LazyLock;

use regex::Regex;
use tome_model::{Event, Tool};
use tome_text::first_chars;

use crate::extract::commands::chain::{ChainJoint, split_chain, unquote};
use crate::extract::commands::command_environment::{enter_folder, read_folders};
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
    /// The folder in which git ran, if known.
    pub(crate) folder: Option<String>,
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

/// Finds the commits that a tool call made.
pub(crate) fn find_commits<'a>(at: usize, event: &'a Event, tool: &'a Tool) -> Vec<MadeCommit<'a>> {
    let Some(line) = find_command_line(tool) else { return Vec::new() };
    if !line.contains("git") {
        return Vec::new();
    }
    let chain = split_chain(line);
    let mut calls = Vec::new();
    let mut committed_in = None;
    for ((index, part), folder) in chain.iter().enumerate().zip(read_folders(&chain, event, tool)) {
        for stage in &part.stages {
            let Some(words) = strip_wrappers(stage) else { continue };
            let Some((program, arguments)) = words.split_first() else { continue };
            if program.rsplit('/').next() == Some("git")
                && let Some(verb) = find_git_verb(arguments)
            {
                let hidden = chain.iter().skip(index + 1).any(|next| next.joint != ChainJoint::And)
                    || part.stages.len() > 1;
                if verb == "commit" {
                    let named = arguments.iter().skip_while(|word| **word != "-C").nth(1);
                    let named = named.map(|named| enter_folder(folder.as_deref(), unquote(named)));
                    committed_in = named.unwrap_or_else(|| folder.clone());
                }
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
    printed.iter_mut().for_each(|commit| commit.folder.clone_from(&committed_in));
    if !printed.is_empty() {
        return printed;
    }
    // `git commit -q` prints nothing, but agents often look at the log right after it.
    let mut logged = read_logged_commits(at, event, line, is_amended);
    logged.iter_mut().for_each(|commit| commit.folder.clone_from(&committed_in));
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
                folder: committed_in.clone(),
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
                        folder: None,
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
                folder: None,
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
