//! The issues that a session works on: those that its prompts, branches, commits and pull requests name.

use std::sync::LazyLock;

use regex::Regex;
use tome_model::{Event, FactKind};
use tome_text::first_chars;

use crate::Evidence;
use crate::extract::commands::chain::split_chain;
use crate::extract::commands::command_name::strip_wrappers;
use crate::extract::commands::command_run::find_command_line;
use crate::extract::facts::draft_fact::{DraftFact, build_evidence};
use crate::extract::language::terms::base_name;
use crate::extract::turns::turn::Turn;

/// Issues of one session that are told.
const ISSUES_MAX: usize = 10;
/// A prompt that names more pasted a list.
const PROMPT_ISSUES_MAX: usize = 4;
/// Characters of a prompt that are read; what follows is mostly pasted.
const PROMPT_CHARS_MAX: usize = 2_000;

/// Adds each issue once, with the first text that names it.
pub(crate) fn add_issue_facts(turns: &[Turn<'_>], events: &[Event], facts: &mut Vec<DraftFact>) {
    let mut issues: Vec<(u64, Evidence)> = Vec::new();
    let mut add = |event: usize, (number, raw): (u64, &str)| {
        if issues.len() < ISSUES_MAX && !issues.iter().any(|(known, _)| *known == number) {
            issues.push((number, build_evidence(event, raw)));
        }
    };
    let mut last_branch = None;
    for (index, turn) in turns.iter().enumerate() {
        let before = index.checked_sub(1).and_then(|before| turns.get(before));
        for found in turn.prompt.map(|at| find_in_prompt(at, before, events)).unwrap_or_default() {
            add(turn.prompt.unwrap_or_default(), found);
        }
        if let Some(branch) =
            turn.branch.filter(|branch| last_branch.replace(*branch) != Some(branch))
            && let Some(number) = number_of_branch(branch)
            && let Some(at) = turn.events.clone().find(|at| {
                let shows = |event| crate::evidence::contains_excerpt(event, branch);
                events.get(*at).is_some_and(shows)
            })
        {
            add(at, (number, branch));
        }
        let commits = turn.commits.iter().map(|commit| commit.event);
        let pulls = turn.pulls.iter().filter(|pull| pull.is_opened).map(|pull| pull.event);
        let mut calls: Vec<usize> = commits.chain(pulls).collect();
        calls.sort_unstable();
        calls.dedup();
        for at in calls {
            let tool = events.get(at).and_then(|event| event.tool.as_ref());
            let chain = split_chain(tool.and_then(find_command_line).unwrap_or_default());
            let calls = chain.iter().flat_map(|part| &part.stages).filter(|stage| is_forge(stage));
            calls.flat_map(|stage| find_named(stage)).for_each(|found| add(at, found));
        }
    }
    facts.extend(issues.into_iter().filter_map(|(number, evidence)| {
        DraftFact::new(FactKind::Issue, &format!("Issue #{number}"), 1, vec![evidence])
    }));
}

/// Whether a command is one of git or of a hosting tool.
fn is_forge(stage: &str) -> bool {
    let words = strip_wrappers(stage).unwrap_or_default();
    words.first().is_some_and(|program| matches!(base_name(program), "git" | "gh" | "glab"))
}

/// The issues of a prompt. A number that the answer before it has counts the points of that answer.
fn find_in_prompt<'a>(
    at: usize,
    before: Option<&Turn<'_>>,
    events: &'a [Event],
) -> Vec<(u64, &'a str)> {
    let Some(prompt) = events.get(at) else { return Vec::new() };
    let answer = before.and_then(|turn| events.get(turn.answer?)).map_or("", |event| &event.text);
    let head = first_chars(&prompt.text, PROMPT_CHARS_MAX);
    let head = head.split("```").next().unwrap_or_default();
    let is_counted = |number: u64| answer.contains(&format!("#{number}"));
    let mut found = find_named(head);
    found.retain(|(number, raw)| raw.contains("://") || !is_counted(*number));
    if found.len() > PROMPT_ISSUES_MAX { Vec::new() } else { found }
}

/// The issues that a text names by a word before the number, or by their address.
fn find_named(text: &str) -> Vec<(u64, &str)> {
    static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let word = r"\b(?:issues?|fix(?:es|ed)|close[sd]?|resolve[sd]?):?\s+(?:[\w.-]+/[\w.-]+)?#";
        let address = r"https?://[^\s/]+/[^\s/]+/[^\s]+?/issues/";
        Regex::new(&format!(r"(?i)(?:{word}|{address}|\bGH-)(\d{{1,7}})\b")).ok()
    });
    let Some(pattern) = NAMED.as_ref() else { return Vec::new() };
    let numbers = pattern.captures_iter(text).take(ISSUES_MAX).filter_map(|groups| {
        let number = groups.get(1)?.as_str().parse().ok().filter(|number| *number > 0)?;
        Some((number, groups.get(0)?.as_str()))
    });
    numbers.collect()
}

/// The issue in `fix/issue-42-slow-start` and `gh-42`.
fn number_of_branch(branch: &str) -> Option<u64> {
    static NAMED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)(?:^|[/_-])(?:issues?|gh)[/_-]#?(\d{1,7})(?:$|[/_-])").ok()
    });
    let groups = NAMED.as_ref()?.captures(branch)?;
    groups.get(1)?.as_str().parse().ok().filter(|number| *number > 0)
}
