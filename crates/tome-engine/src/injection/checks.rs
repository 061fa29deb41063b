//! The commands that check the project, for the text of a start.

use std::collections::BTreeMap;

use tome_model::{Fact, FactKind, Work};

use super::fact_line::{format_citation, format_day};
use crate::quote::quote_line;

const COMMAND_CHARS_MAX: usize = 80;
const CHECKS_MAX: usize = 5;
/// Stands before what made a failed command pass.
const FIX_MARK: &str = " — ";

/// The checks in one line, with the days on which they last passed, and whether they failed after that.
pub(super) fn describe_checks(checks: &[(&str, &Fact)], all: &[&Work]) -> Option<String> {
    let last = format_day(checks.iter().map(|(_, fact)| fact.at).max()?);
    let problems = all.iter().flat_map(|work| work.facts_of(FactKind::Problem));
    let unfixed: Vec<&Fact> = problems.filter(|fact| !fact.text.contains(FIX_MARK)).collect();
    let (mut of_last_day, mut others) = (Vec::new(), Vec::new());
    for (command, check) in checks {
        let command = quote_line(command, COMMAND_CHARS_MAX);
        let named = format!("`{command}`{}", format_citation(check));
        let has_failed = unfixed.iter().filter(|failure| failure.at > check.at).any(|failure| {
            failed_command(&failure.text).is_some_and(|name| check.text.contains(name))
        });
        let day = format_day(check.at);
        match (has_failed, day == last) {
            (true, _) => others.push(format!("{named} (passed {day}, failed after that)")),
            (false, true) => of_last_day.push(named),
            (false, false) => others.push(format!("{named} (passed {day})")),
        }
    }
    if let Some(end) = of_last_day.last_mut() {
        end.push_str(&format!(" (last passed {last})"));
    }
    Some(format!("- Check with {}", [of_last_day, others].concat().join(", ")))
}

/// The command in the text of a failure: "`cargo test` failed: …".
fn failed_command(failure: &str) -> Option<&str> {
    failure.strip_prefix('`')?.split_once("` failed").map(|(command, _)| command)
}

/// A command without the steps into a folder of another worktree before it.
fn skip_folders(command: &str) -> &str {
    let mut rest = command;
    while let Some(after) = rest.strip_prefix("cd ")
        && after.trim_start_matches(['"', '\'']).starts_with(['/', '~', '$'])
        && let Some((_, next)) = after.split_once(" && ").or_else(|| after.split_once("; "))
    {
        rest = next.trim_start();
    }
    rest
}

/// The commands that check the whole project rather than one test or file, most used first, each with its last
/// pass.
pub(super) fn best_checks<'a>(all: &[&'a Work]) -> Vec<(&'a str, &'a Fact)> {
    const NARROW: [&str; 8] =
        [" -run", " -k ", "::", "/tmp", " -o ", "--test ", "--filter", " -t "];
    let mut found: BTreeMap<&str, (u32, &Fact)> = BTreeMap::new();
    for fact in all.iter().flat_map(|work| work.facts_of(FactKind::Check)) {
        let is_file = |word: &str| {
            let is_path = word.contains('.') && !word.contains("...") && word.contains('/');
            is_path && !word.ends_with("/activate")
        };
        let command = skip_folders(&fact.text);
        if NARROW.iter().any(|mark| command.contains(mark)) || command.split(' ').any(is_file) {
            continue;
        }
        let entry = found.entry(command).or_insert((0, fact));
        entry.0 += fact.weight.max(1);
        if fact.at > entry.1.at {
            entry.1 = fact;
        }
    }
    let mut checks: Vec<(&str, (u32, &Fact))> = found.into_iter().collect();
    checks.sort_by_key(|(_, (passes, fact))| std::cmp::Reverse((*passes, fact.at)));
    checks.into_iter().take(CHECKS_MAX).map(|(command, (_, fact))| (command, fact)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_told_without_the_folder_of_its_worktree() {
        for (command, told) in [
            ("cd /home/a/worktrees/x && bun run lint", "bun run lint"),
            ("cd '/wt/x' && cd \"/wt/x/y\"; make check", "make check"),
            ("cd web && npm test", "cd web && npm test"),
            ("cargo test", "cargo test"),
        ] {
            assert_eq!(skip_folders(command), told);
        }
    }
}
