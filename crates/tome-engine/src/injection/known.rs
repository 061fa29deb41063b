//! Facts about a project from its contents, as short instructions for the start text: the work on the
//! current branch, what is open, decisions, rules and corrections of the user, and the commands that
//! pass here. Each line cites its evidence.

use std::collections::{BTreeMap, BTreeSet};

use tome_contents::{
    Instruction, ListedInstruction, find_work_outcome, find_work_title, stands_alone,
};
use tome_ledger::Ledger;
use tome_model::{Fact, FactKind, GripId, Millis, Node, SessionId, Work};

use super::Injector;
use crate::quote::quote_line;
use tome_home::HomeError;

/// Years whose pages are read: this one and the last, around New Year.
const YEARS_READ: usize = 2;
const TEXT_CHARS_MAX: usize = 220;
const COMMAND_CHARS_MAX: usize = 80;
/// The beginning of a citation of a quoted excerpt.
const GRIP_MARK: &str = "[grip:";
/// Lines per group.
const OUTCOMES_MAX: usize = 3;
const DECISIONS_MAX: usize = 4;
const RULES_MAX: usize = 6;
const CHECKS_MAX: usize = 5;
const OPEN_MAX: usize = 3;
const EARLIER_MAX: usize = 6;
/// Characters of the title and of the result of earlier work.
const EARLIER_CHARS_MAX: usize = 140;

/// Lines for the start text, from the contents of a project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownFacts {
    /// The branch that the project's folder is on, if it is not the main branch.
    pub branch: Option<String>,
    /// The work on that branch so far.
    pub on_branch: Vec<String>,
    /// Other pieces of work, the latest first.
    pub earlier: Vec<EarlierWork>,
    /// Open ends of other work, latest first.
    pub open_elsewhere: Vec<String>,
    /// Rules, corrections and decisions of the user, and commands that pass.
    pub how_to_work: Vec<String>,
    /// The last session on the branch.
    pub session: Option<SessionId>,
}

/// A piece of work in one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EarlierWork {
    /// Its last session.
    pub session: SessionId,
    /// Its subject and its outcome.
    pub line: String,
}

impl Injector {
    /// Collects what the contents know of a project.
    pub(super) fn load_known_facts(
        &self,
        project: &str,
        current: Option<&SessionId>,
    ) -> Result<KnownFacts, HomeError> {
        let Some(path) = self.stores.find_store_path(project) else {
            return Ok(KnownFacts::default());
        };
        let head = self.stores.projects().read_git_location(project);
        let store = self.stores.open(&path)?;
        let mut years = Vec::new();
        for header in store.node_headers(project, "toc:year:", None) {
            let header = header?;
            if !header.removed {
                years.push(header.id);
            }
        }
        let mut nodes: Vec<Node> = Vec::new();
        for id in years.iter().rev().take(YEARS_READ) {
            nodes.extend(store.node(project, id, None)?);
        }
        let work: Vec<&Work> = nodes.iter().flat_map(|node| &node.work).collect();
        let branch = head.and_then(|head| head.branch);
        let rules = self.instructions.list(&store, project)?;
        let mut known = summarize_work(&work, &rules, branch.as_deref());
        known.session = known.session.filter(|session| Some(session) != current);
        known.earlier.retain(|work| Some(&work.session) != current);
        let mut of_users = Vec::new();
        for work in known.earlier {
            if !self.is_subagent(project, &work.session)? {
                of_users.push(work);
            }
        }
        known.earlier = of_users;
        let earlier = known.earlier.iter_mut().map(|work| &mut work.line);
        let lines = known.on_branch.iter_mut().chain(&mut known.open_elsewhere);
        for line in lines.chain(&mut known.how_to_work).chain(earlier) {
            *line = self.redact_text(&number_citations(&store, project, line)?);
        }
        Ok(known)
    }
}

/// Replaces the ids of quoted excerpts by the numbers of their events, which are shorter and open the
/// same way.
fn number_citations(store: &Ledger, project: &str, line: &str) -> Result<String, HomeError> {
    let mut parts = line.split(GRIP_MARK);
    let mut numbered = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let found = part
            .split_once(']')
            .and_then(|(id, rest)| Some((GripId::parse(&format!("grip:{id}")).ok()?, rest)));
        let grip = match &found {
            Some((id, _)) => store.grip(project, id)?,
            None => None,
        };
        let position = match grip {
            Some(grip) => store.position(&grip.first)?,
            None => None,
        };
        match (found, position) {
            (Some((_, rest)), Some(position)) => {
                numbered.push_str(&format!("[#{}]{rest}", position.order_key().seq));
            }
            _ => {
                numbered.push_str(GRIP_MARK);
                numbered.push_str(part);
            }
        }
    }
    Ok(numbered)
}

fn summarize_work(
    all: &[&Work],
    instructions: &[ListedInstruction],
    branch: Option<&str>,
) -> KnownFacts {
    let here = branch
        .and_then(|name| all.iter().copied().find(|work| work.branch.as_deref() == Some(name)));
    let mut known = KnownFacts { branch: branch.map(str::to_owned), ..KnownFacts::default() };
    if let Some(work) = here {
        known.on_branch = describe_branch(work);
        known.session = work.sessions.last().cloned();
    }
    let elsewhere: Vec<&Work> = all
        .iter()
        .copied()
        .filter(|work| here.is_none_or(|here| !std::ptr::eq(*work, here)))
        .collect();
    known.earlier = list_earlier_work(&elsewhere);
    let mut open: Vec<&Fact> =
        elsewhere.iter().flat_map(|work| work.facts_of(FactKind::Open)).collect();
    open.sort_by_key(|fact| std::cmp::Reverse(fact.at));
    known.open_elsewhere = open
        .iter()
        .take(OPEN_MAX)
        .map(|fact| format_cited_fact(&format!("- {}: ", format_day(fact.at)), fact))
        .collect();
    let latest = |kind: FactKind, most: usize| {
        let mut facts: Vec<&Fact> = all.iter().flat_map(|work| work.facts_of(kind)).collect();
        facts.sort_by_key(|fact| std::cmp::Reverse(fact.at));
        let mut seen = BTreeSet::new();
        facts.retain(|fact| seen.insert(fact.text.as_str()));
        facts.truncate(most);
        facts
    };
    let quoted = |label: &str, text: &str, cited: &str| {
        let text = quote_line(text, TEXT_CHARS_MAX).replace('"', "'");
        format!("- {label}: \"{text}\"{cited}")
    };
    // The latest first; one that a later one replaced no longer holds.
    let mut rule_texts = BTreeSet::new();
    let rules: Vec<&Instruction> = instructions
        .iter()
        .filter(|one| one.replaced_by.is_none())
        .map(|one| &one.instruction)
        .filter(|rule| rule_texts.insert(rule.text.as_str()))
        .take(RULES_MAX)
        .collect();
    known.how_to_work.extend(
        rules
            .iter()
            .map(|rule| quoted("The user's rule", &rule.text, &format!(" [#{}]", rule.number))),
    );
    let corrections = latest(FactKind::Correction, RULES_MAX - rules.len().min(RULES_MAX - 2));
    let corrections = corrections.iter().filter(|fact| !rule_texts.contains(fact.text.as_str()));
    known.how_to_work.extend(
        corrections.map(|fact| quoted("The user corrected", &fact.text, &format_citation(fact))),
    );
    let decisions = latest(FactKind::Decision, DECISIONS_MAX);
    known.how_to_work.extend(
        decisions
            .iter()
            .map(|fact| format_cited_fact(&format!("- Decided {}: ", format_day(fact.at)), fact)),
    );
    known.how_to_work.extend(describe_checks(&best_checks(all)));
    known
}

/// The checks in one line, with the day on which the last of them passed.
fn describe_checks(checks: &[&Fact]) -> Option<String> {
    let last = checks.iter().map(|fact| fact.at).max()?;
    let each = checks.iter().map(|fact| {
        let command = quote_line(&fact.text, COMMAND_CHARS_MAX);
        format!("`{command}`{}", format_citation(fact))
    });
    let each: Vec<String> = each.collect();
    Some(format!("- Check with {} (last passed {})", each.join(", "), format_day(last)))
}

/// The commands that check the whole project rather than one test or file, most used first.
fn best_checks<'a>(all: &[&'a Work]) -> Vec<&'a Fact> {
    const NARROW: [&str; 8] =
        [" -run", " -k ", "::", "/tmp", " -o ", "--test ", "--filter", " -t "];
    let mut found: BTreeMap<&str, (u32, &Fact)> = BTreeMap::new();
    for fact in all.iter().flat_map(|work| work.facts_of(FactKind::Check)) {
        let is_file = |word: &str| {
            let is_path = word.contains('.') && !word.contains("...") && word.contains('/');
            is_path && !word.ends_with("/activate")
        };
        if NARROW.iter().any(|mark| fact.text.contains(mark)) || fact.text.split(' ').any(is_file) {
            continue;
        }
        let entry = found.entry(fact.text.as_str()).or_insert((0, fact));
        entry.0 += fact.weight.max(1);
        if fact.at > entry.1.at {
            entry.1 = fact;
        }
    }
    let mut checks: Vec<(u32, &Fact)> = found.into_values().collect();
    checks.sort_by_key(|(passes, fact)| std::cmp::Reverse((*passes, fact.at)));
    checks.into_iter().take(CHECKS_MAX).map(|(_, fact)| fact).collect()
}

/// Pieces of work in a line each, the latest first.
fn list_earlier_work(all: &[&Work]) -> Vec<EarlierWork> {
    let last_at = |work: &Work| work.facts.iter().map(|fact| fact.at).max();
    let mut works: Vec<&Work> = all.to_vec();
    works.sort_by_key(|work| std::cmp::Reverse(last_at(work)));
    let describe = |work: &&Work| {
        let (title, session) = (find_work_title(work)?, work.sessions.last()?.clone());
        let day = format_day(last_at(work)?);
        let text = quote_line(&title.text, EARLIER_CHARS_MAX);
        let outcome = find_work_outcome(work).map_or(String::new(), |(fact, text)| {
            format!(" Result: {}{}", quote_line(text, EARLIER_CHARS_MAX), format_citation(fact))
        });
        Some(EarlierWork {
            session,
            line: format!("- {day}: {text}{}.{outcome}", format_citation(title)),
        })
    };
    works.iter().filter_map(describe).take(EARLIER_MAX).collect()
}

/// The work on a branch: what it is about, its latest results, and what is open.
fn describe_branch(work: &Work) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(title) = find_work_title(work) {
        let commits = match work.commits {
            0 => String::new(),
            1 => " (1 commit)".to_owned(),
            many => format!(" ({many} commits)"),
        };
        let text = quote_line(&title.text, TEXT_CHARS_MAX);
        lines.push(format!("- So far{commits}: {text}{}", format_citation(title)));
    }
    let outcomes = work.facts_of(FactKind::Outcome);
    let mut outcomes: Vec<&Fact> = outcomes.filter(|fact| stands_alone(fact)).collect();
    outcomes.sort_by_key(|fact| std::cmp::Reverse(fact.at));
    outcomes.truncate(OUTCOMES_MAX);
    outcomes.reverse();
    lines.extend(
        outcomes
            .iter()
            .map(|fact| format_cited_fact(&format!("- {}: ", format_day(fact.at)), fact)),
    );
    lines.extend(
        work.facts_of(FactKind::Open)
            .next_back()
            .map(|fact| format_cited_fact("- Still open: ", fact)),
    );
    lines
}

fn format_cited_fact(label: &str, fact: &Fact) -> String {
    format!("{label}{}{}", quote_line(&fact.text, TEXT_CHARS_MAX), format_citation(fact))
}

fn format_citation(fact: &Fact) -> String {
    fact.grips().last().map_or(String::new(), |grip| format!(" [{grip}]"))
}

fn format_day(at: Millis) -> String {
    at.to_string().chars().take(10).collect()
}
