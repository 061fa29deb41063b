//! Finds pull requests in calls of the hosting tools.

use std::sync::LazyLock;

use regex::Regex;
use tome_model::{Event, Tool};

use crate::extract::commands::chain::{ChainJoint, split_chain, unquote};
use crate::extract::commands::command_name::strip_wrappers;
use crate::extract::commands::command_run::find_command_line;
use crate::extract::commands::outcome::{ToolOutcome, read_outcome};
use crate::extract::language::text::output_texts;

/// A pull request that a tool call opened, merged or looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedPull<'a> {
    pub(crate) event: usize,
    pub(crate) number: u64,
    pub(crate) title: Option<&'a str>,
    /// The text that shows it, verbatim.
    pub(crate) raw: &'a str,
    pub(crate) is_opened: bool,
    pub(crate) is_merged: bool,
}

/// Finds pull requests that a tool call opened, merged or looked at.
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
    let outcome = read_outcome(event, tool);
    if !matches!(outcome, ToolOutcome::Exited(0) | ToolOutcome::Unknown) {
        return Vec::new();
    }
    let output = output_texts(event);
    let mut pulls = find_merges(at, line, &output, outcome == ToolOutcome::Exited(0));
    let is_opened = ["gh pr create", "glab mr create"].iter().any(|verb| line.contains(verb));
    let looks = ["pr view", "mr view", "pr checkout"].iter().any(|verb| line.contains(verb));
    let is_renamed = line.contains("gh pr edit") && find_title_flag(line).is_some();
    if !is_opened && !looks && !is_renamed {
        return pulls;
    }
    let Some(address) = ADDRESS.as_ref() else { return pulls };
    let pull = output.iter().find_map(|text| {
        let groups = address.captures(text)?;
        Some((groups.get(0)?.as_str(), groups.get(1)?.as_str().parse::<u64>().ok()?))
    });
    let Some((raw, number)) = pull else { return pulls };
    let printed = output.iter().find_map(|text| {
        let groups = TITLE.as_ref()?.captures(text)?;
        groups.get(1).or_else(|| groups.get(2)).map(|title| title.as_str())
    });
    let title = if is_opened || is_renamed { find_title_flag(line) } else { printed };
    let title = title.or_else(|| output.iter().find_map(|text| find_title_line(text, number)));
    let shown = NamedPull { event: at, number, title, raw, is_opened, is_merged: false };
    pulls.insert(0, shown);
    pulls
}

/// Finds the pull requests that a command line merged: by the line that the tool prints at a terminal, or else
/// by its exit code, if nothing hides that.
fn find_merges<'a>(
    at: usize,
    line: &'a str,
    output: &[&'a str],
    has_passed: bool,
) -> Vec<NamedPull<'a>> {
    static MERGED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let verbs = "Merged|Squashed and merged|Rebased and merged";
        let name = r"pull request [\w./-]*#(\d{1,9})(?: \(([^\n]{3,200})\))?";
        Regex::new(&format!("(?m)(?:{verbs}) {name}$")).ok()
    });
    let chain = split_chain(line);
    let mut merged = Vec::new();
    for (index, part) in chain.iter().enumerate() {
        let Some(stage) = part.stages.first() else { continue };
        let words = strip_wrappers(stage).unwrap_or_default();
        let arguments = match words.as_slice() {
            ["gh", "pr", "merge", rest @ ..] | ["glab", "mr", "merge", rest @ ..] => rest,
            _ => continue,
        };
        let is_later = |word: &&str| matches!(*word, "--auto" | "--disable-auto" | "--help" | "-h");
        if arguments.iter().any(is_later) {
            continue;
        }
        let mut free = arguments.iter().filter(|word| !word.starts_with('-'));
        let named = free.find_map(|word| parse_pull_number(unquote(word)));
        let printed = output.iter().find_map(|text| {
            let found = MERGED.as_ref()?.captures_iter(text).find(|groups| {
                let number = groups.get(1).and_then(|number| number.as_str().parse().ok());
                number.is_some() && (named.is_none() || number == named)
            })?;
            let title = found.get(2).map(|title| title.as_str());
            Some((found.get(0)?.as_str(), found.get(1)?.as_str().parse().ok()?, title))
        });
        let is_silent = output.iter().all(|text| text.trim().is_empty());
        let is_hidden = chain.iter().skip(index + 1).any(|next| next.joint != ChainJoint::And)
            || part.stages.len() > 1 && !(is_silent && stage.contains("2>&1"));
        let is_refused = output.iter().any(|text| text.contains("already merged"));
        let found = match (printed, named) {
            (Some(printed), _) => printed,
            (None, Some(number)) if has_passed && !is_hidden && !is_refused => {
                (*stage, number, None)
            }
            _ => continue,
        };
        let (raw, number, title) = found;
        merged.push(NamedPull { event: at, number, title, raw, is_opened: false, is_merged: true });
    }
    merged
}

/// The number in `88`, `#88` or the address of a pull request.
fn parse_pull_number(word: &str) -> Option<u64> {
    let number = match word.rsplit_once('/') {
        Some((address, number)) if address.ends_with("/pull") => number,
        Some(_) => return None,
        None => word.trim_start_matches(['#', '!']),
    };
    number.parse().ok()
}

/// The repository that a line about a pull request names: of an address, of `-R acme/app`, or of `acme/app#5`.
pub(crate) fn find_repository(raw: &str) -> Option<&str> {
    static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let address = r"https?://[^/\s]+/([\w.-]+/[\w.-]+)/";
        let flag = r"(?:-R|--repo)[ =]([\w.-]+/[\w.-]+)";
        Regex::new(&format!(r"{address}|{flag}|([\w.-]+/[\w.-]+)#\d")).ok()
    });
    let groups = NAMED.as_ref()?.captures(raw)?;
    (1..=3).find_map(|group| groups.get(group)).map(|name| name.as_str())
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
