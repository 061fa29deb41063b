//! Facts about a project from its contents, as short instructions for the start text: the work on the
//! current branch, what is open, decisions, rules and corrections of the user, and the commands that
//! pass here. Each line cites its evidence.

use std::collections::BTreeSet;

use tome_contents::{
    Instruction, ListedInstruction, find_work_title, names_whole_work, stands_alone,
    strip_own_request, strip_request,
};
use tome_ledger::{EventRange, Ledger, ScanDirection};
use tome_model::{Fact, FactKind, GripId, Millis, Node, SessionId, Work};
use tome_text::{content_stems, is_unspaced};
use tome_topics::defers_choice;

use super::Injector;
use super::checks::{best_checks, describe_checks};
use super::choice_text::quote_choice;
use super::fact_line::{TEXT_CHARS_MAX, format_citation, format_cited_fact, format_day};
use crate::quote::quote_line;
use tome_home::HomeError;

/// Years whose pages are read: this one and the last, around New Year.
const YEARS_READ: usize = 2;
/// The beginning of a citation of a quoted excerpt.
const GRIP_MARK: &str = "[grip:";
/// Lines per group.
const OUTCOMES_MAX: usize = 3;
const COMMITS_MAX: usize = 3;
const DECISIONS_MAX: usize = 4;
/// The weight of a decision that the user made in words, or by answering a question.
const DECISION_WEIGHT_MIN: u32 = 8;
/// Decisions of which it is found out whether they still hold.
const DECISIONS_READ_MAX: usize = 40;
const CORRECTIONS_MAX: usize = 3;
const OPEN_MAX: usize = 3;
const EARLIER_MAX: usize = 6;
/// Sessions of a branch whose last activity is compared: they may have run side by side.
const SESSIONS_COMPARED_MAX: usize = 4;
/// Open ends of other work are told for two weeks of work on the project.
const OPEN_AGE_MS_MAX: u64 = 14 * 24 * 60 * 60 * 1_000;
/// Characters of the title and of the result of earlier work.
const EARLIER_CHARS_MAX: usize = 140;
const EARLIER_RESULT_CHARS_MAX: usize = 220;

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
    /// Standing instructions of the user, the latest first.
    pub instructions: Vec<String>,
    /// Corrections by the user.
    pub corrections: Vec<String>,
    /// Decisions of the user that still hold.
    pub decisions: Vec<String>,
    /// The commands that pass.
    pub checks: Option<String>,
    /// Decisions, the latest first, of which it is not known yet whether they hold.
    pub(super) undecided: Vec<StatedDecision>,
    /// The last session on the branch.
    pub session: Option<SessionId>,
}

/// A decision as the contents state it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StatedDecision {
    /// The whole statement.
    text: String,
    at: Millis,
    /// For the start text.
    line: String,
}

impl KnownFacts {
    /// Facts to know before working here, one per line.
    pub(super) fn how_to_work(&self) -> Vec<String> {
        let lines = self.corrections.iter().chain(&self.decisions).chain(&self.checks);
        lines.cloned().collect()
    }
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
        let here = work.iter().filter(|work| work.branch.is_some() && work.branch == branch);
        let here = here.flat_map(|work| work.sessions.iter().rev().take(SESSIONS_COMPARED_MAX));
        let mut last: Option<(Millis, SessionId)> = None;
        for session in here.filter(|session| Some(*session) != current) {
            let at = find_last_event(&store, session)?;
            if at.is_some_and(|at| last.as_ref().is_none_or(|(last, _)| at > *last)) {
                last = at.map(|at| (at, session.clone()));
            }
        }
        known.session = last.map(|(_, session)| session);
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
        let undecided = known.undecided.iter_mut().map(|one| &mut one.line);
        let to_work = known.instructions.iter_mut().chain(&mut known.corrections);
        let lines = lines.chain(to_work).chain(&mut known.checks).chain(undecided);
        for line in lines.chain(earlier) {
            *line = self.redact_text(&number_citations(&store, project, line)?);
        }
        Ok(known)
    }

    /// Finds out which decisions still hold. Without the topics, which know what was said later, none is told.
    pub(super) fn check_decisions(
        &self,
        project: &str,
        known: &mut KnownFacts,
    ) -> Result<(), HomeError> {
        if known.undecided.is_empty() {
            return Ok(());
        }
        let Some(topics) = self.topics.load_latest_if_quick(project)? else { return Ok(()) };
        let holding = std::mem::take(&mut known.undecided).into_iter();
        let holding = holding.filter(|one| topics.find_reversal(&one.text, one.at).is_none());
        known.decisions = holding.take(DECISIONS_MAX).map(|one| one.line).collect();
        Ok(())
    }
}

/// When a session was last active.
fn find_last_event(store: &Ledger, session: &SessionId) -> Result<Option<Millis>, HomeError> {
    let range = EventRange {
        session: Some(session.clone()),
        direction: ScanDirection::Backward,
        ..EventRange::default()
    };
    let last = store.events(&range).next().transpose()?;
    Ok(last.map(|(_, event)| event.at))
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
    }
    let elsewhere: Vec<&Work> = all
        .iter()
        .copied()
        .filter(|work| here.is_none_or(|here| !std::ptr::eq(*work, here)))
        .collect();
    known.earlier = list_earlier_work(&elsewhere);
    let last_at = all.iter().flat_map(|work| &work.facts).map(|fact| fact.at).max();
    let mut open: Vec<&Fact> = elsewhere
        .iter()
        .flat_map(|work| work.facts_of(FactKind::Open))
        .filter(|fact| !is_question(&fact.text))
        .filter(|fact| last_at.is_some_and(|last| last.distance_ms(fact.at) <= OPEN_AGE_MS_MAX))
        .collect();
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
        facts.retain(|fact| {
            kind != FactKind::Decision
                || fact.weight >= DECISION_WEIGHT_MIN
                    && !is_choice_of_next_step(&fact.text)
                    && !defers_choice(&fact.text)
        });
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
        .collect();
    known.instructions = rules
        .iter()
        .map(|rule| quoted("The user's rule", &rule.text, &format!(" [#{}]", rule.number)))
        .collect();
    let corrections = latest(FactKind::Correction, CORRECTIONS_MAX);
    let corrections = corrections
        .iter()
        .filter(|fact| !rule_texts.contains(fact.text.as_str()) && says_what_to_do(&fact.text));
    known.corrections = corrections
        .map(|fact| quoted("The user corrected", &fact.text, &format_citation(fact)))
        .collect();
    let state = |fact: &&Fact| StatedDecision {
        text: fact.text.clone(),
        at: fact.at,
        line: format!(
            "- Decided {}: {}{}",
            format_day(fact.at),
            quote_choice(&fact.text, TEXT_CHARS_MAX),
            format_citation(fact)
        ),
    };
    known.undecided = latest(FactKind::Decision, DECISIONS_READ_MAX).iter().map(state).collect();
    known.checks = describe_checks(&best_checks(all), all);
    known
}

/// Whether an open end is an offer of the agent that ended with its session. One about changes tells that they
/// may not be committed.
fn is_question(open: &str) -> bool {
    open.trim_end().ends_with(['?', '？']) && !open.contains("(changes to ")
}

/// Whether a correction says what to do or not to do without the work that was corrected.
fn says_what_to_do(correction: &str) -> bool {
    #[rustfmt::skip]
    const MARKS: &[&str] = &[
        "don't", "do not", "don’t", "never", "always", "instead", "rather than", "should", "must", "stop ", "not ",
        "不要", "别", "必须", "应该", "しない", "べき", "하지 마", "nicht", "immer", "nunca", "siempre", "jamais",
        "toujours", "não", "sempre",
    ];
    let lower = correction.to_lowercase();
    !lower.trim_end().ends_with(['?', '？']) && MARKS.iter().any(|mark| lower.contains(mark))
}

/// Whether a decision only chose how the agent should go on, which the next session need not know.
fn is_choice_of_next_step(decision: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "want me to", "would you like", "do you want me to", "should i ", "shall i ", "shall we", "should we proceed",
        "how should i proceed", "how should we proceed", "how would you like to proceed", "what would you like",
        "ready to", "more questions", "what's next", "what next", "which would you like",
    ];
    // A list of steps that the user agreed to is carried out by now.
    const AGREED: &str = "(proposed by the agent, agreed)";
    let lower = decision.to_lowercase();
    let answer = lower.rsplit_once("? ").map(|(_, answer)| answer);
    let consents = answer.is_some_and(|answer| {
        #[rustfmt::skip]
        let begins = [
            "yes", "no,", "ok", "go ahead", "all ", "both", "done", "skip", "fix ", "start ", "generate ",
        ];
        begins.iter().any(|start| answer.starts_with(start)) && answer.split(' ').count() <= 5
    });
    consents
        || decision.ends_with(AGREED) && decision.contains("; ")
        || STARTS.iter().any(|start| lower.starts_with(start))
}

/// Pieces of work in a line each, the latest first.
fn list_earlier_work(all: &[&Work]) -> Vec<EarlierWork> {
    let last_at = |work: &Work| work.facts.iter().map(|fact| fact.at).max();
    let mut works: Vec<&Work> = all.to_vec();
    works.sort_by_key(|work| std::cmp::Reverse(last_at(work)));
    let describe = |work: &&Work| {
        let (title, session) = (find_work_title(work)?, work.sessions.last()?.clone());
        // Work may last for weeks: each statement has its own day.
        let day = format_day(title.at);
        let text = quote_line(&title.text, EARLIER_CHARS_MAX);
        // With its own request, unless that is the title: a result answers one turn.
        let outcome = find_last_result(work, title).map_or(String::new(), |fact| {
            let (label, result) = match strip_own_request(&title.text, &fact.text) {
                Some(result) => ("Result", result),
                None => ("Last", fact.text.as_str()),
            };
            let text = quote_line(result, EARLIER_RESULT_CHARS_MAX);
            let result_day = format_day(fact.at);
            let when = if result_day == day { String::new() } else { format!(" {result_day}") };
            format!(" {label}{when}: {text}{}", format_citation(fact))
        });
        Some(EarlierWork {
            session,
            line: format!("- {day}: {text}{}.{outcome}", format_citation(title)),
        })
    };
    // The text of a command is the same in every session that used it.
    let titles: Vec<&str> =
        works.iter().filter_map(|work| Some(find_work_title(work)?.text.as_str())).collect();
    let is_template = |work: &Work| {
        let own = find_work_title(work).map(|title| title.text.as_str());
        titles.iter().filter(|title| Some(**title) == own).count() > 1
    };
    let own = works.iter().filter(|work| !is_template(work));
    own.filter_map(describe).take(EARLIER_MAX).collect()
}

/// The last result of a piece of work that is likely true, if it came after what gave the work its title: earlier
/// ones are changed by later turns six times as often. That it was committed or pushed says nothing, so the one
/// before is told; if the last one only repeats the title, none is.
fn find_last_result<'w>(work: &'w Work, title: &Fact) -> Option<&'w Fact> {
    let outcomes = work.facts_of(FactKind::Outcome).filter(|fact| {
        let result = strip_request(&fact.text);
        stands_alone(fact)
            && !tells_problem(result)
            && (!tells_delivery(result) || adds_to_title(result, &title.text))
    });
    let last = outcomes.max_by_key(|fact| fact.at)?;
    let adds = adds_to_title(strip_request(&last.text), &title.text);
    (adds && last.at >= title.at).then_some(last)
}

/// Whether a result tells that the work was committed, pushed or deployed.
fn tells_delivery(result: &str) -> bool {
    const WORDS: [&str; 4] = ["commit", "push", "deploy", "stage"];
    let stems = content_stems(result);
    WORDS.iter().any(|word| content_stems(word).iter().any(|stem| stems.contains(stem)))
}

/// Whether a result is a diagnosis: a problem is usually fixed later in the same work.
fn tells_problem(result: &str) -> bool {
    #[rustfmt::skip]
    const STARTS: &[&str] = &[
        "the problem", "the issue", "the error", "the bug", "problem", "the failure", "i don't see", "let me",
    ];
    result.split(". ").any(|sentence| {
        let lower = sentence.trim_start().to_lowercase();
        let mut rests = STARTS.iter().filter_map(|start| lower.strip_prefix(start));
        rests.any(|rest| !rest.starts_with(char::is_alphabetic))
    })
}

/// Whether a result says more than the title and that the work was committed, pushed or restarted.
fn adds_to_title(result: &str, title: &str) -> bool {
    /// Words of a result that tell how work is delivered, and nothing about it.
    #[rustfmt::skip]
    const DELIVERY: [&str; 41] = [
        "already", "automatically", "branch", "change", "clean", "commit", "complete", "create", "deploy", "done",
        "everything", "file", "finish", "generate", "image", "implement", "main", "merge", "now", "only", "origin",
        "prior", "push", "ready", "remain", "repo", "restart", "revise", "server", "ship", "should", "stage",
        "successfully", "tree", "unrelated", "unstage", "update", "user", "work", "yes", "again",
    ];
    const WORDS_MIN: usize = 3;
    // Without spaces between its words, they cannot be compared one by one.
    if result.chars().any(is_unspaced) {
        return true;
    }
    let known = content_stems(title);
    let delivery: BTreeSet<String> = DELIVERY.iter().flat_map(|word| content_stems(word)).collect();
    let is_hash = |word: &str| word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let adds = |word: &&String| {
        !known.contains(*word) && !delivery.contains(*word) && !is_hash(word.as_str())
    };
    content_stems(result).iter().filter(adds).count() >= WORDS_MIN
}

/// The work on a branch: what it is about, its latest results, and what is open.
fn describe_branch(work: &Work) -> Vec<String> {
    let mut lines = Vec::new();
    let mut commits: Vec<&Fact> = work.facts_of(FactKind::Commit).collect();
    commits.sort_by_key(|fact| std::cmp::Reverse(fact.at));
    if commits.is_empty() {
        lines.extend(find_work_title(work).filter(|title| names_whole_work(title)).map(|title| {
            let text = quote_line(&title.text, TEXT_CHARS_MAX);
            format!("- About: {text}{}", format_citation(title))
        }));
    } else {
        let named = commits.iter().take(COMMITS_MAX).map(|fact| {
            format!("{}{}", quote_line(&fact.text, EARLIER_CHARS_MAX), format_citation(fact))
        });
        lines.push(format!("- Last commits: {}", named.collect::<Vec<_>>().join("; ")));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_adds_to_the_title_and_is_no_diagnosis() {
        let title = "Show prices in euros on the invoice page";
        for empty in [
            "Commit created successfully: `1a2b3c4 Show prices in euros`.",
            "The invoice page has been pushed and should deploy automatically.",
            "Only the unrelated files remain unstaged.",
        ] {
            assert!(!adds_to_title(empty, title), "{empty}");
        }
        for telling in
            ["Amounts are rounded half up and shown with two digits.", "金额四舍五入，保留两位小数"]
        {
            assert!(adds_to_title(telling, title), "{telling}");
        }
        assert!(tells_problem("The server runs. The problem is that port 9000 is taken"));
        assert!(!tells_problem("The problematic port is no longer used"));
    }

    #[test]
    fn only_what_helps_the_next_session_is_told() {
        for offer in ["Should I push it now?", "Would you like me to clean up?"] {
            assert!(is_question(offer), "{offer}");
        }
        assert!(!is_question("The agent asked \"Commit?\", no answer (changes to lexer.rs)"));
        assert!(!is_question("Delete the old shim"));
        for order in
            ["Don't edit the generated tables", "use spans instead of offsets", "不要改这个文件"]
        {
            assert!(says_what_to_do(order), "{order}");
        }
        for question in ["Where is the width table", "why not use spans?", "Try it again"] {
            assert!(!says_what_to_do(question), "{question}");
        }
        for step in [
            "Want me to plan the lexer first? Plan it",
            "Which parts should change? All of them",
            "First: read the tables; Then: delete the shim (proposed by the agent, agreed)",
        ] {
            assert!(is_choice_of_next_step(step), "{step}");
        }
        for choice in [
            "Which parser should we use? A hand-written one",
            "Keep the tables in a build script, because the crate must build offline",
        ] {
            assert!(!is_choice_of_next_step(choice), "{choice}");
        }
    }
}
