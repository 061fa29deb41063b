//! Chooses the title of a segment. In order of preference: the heading of a plan, a pull request, a commit's
//! subject, a rebase, the request that the segment continues, a request that stands by itself, the agent's own
//! summary, the branch in words, a name that the agent gave its work, any other request, a result that is shown,
//! changed files. The result of a command is never a title.
//!
//! Readers who marked the texts that they would accept as titles of 250 sessions and parts of sessions found
//! nearly all plans acceptable, two of three pull requests, half of the commits, a quarter of the branches,
//! and of requests and conclusions one in eight.

use std::collections::BTreeSet;

use tome_model::{Event, FactKind, FileAction};
use tome_text::count_words;

use crate::Evidence;
use crate::extract::facts::draft_fact::{DraftFact, build_evidence, first_line};
use crate::extract::facts::segment_facts::SegmentFacts;
use crate::extract::git::commit_subject::{commit_type, is_chore, rank_commit_type};
use crate::extract::git::commits::MadeCommit;
use crate::extract::git::pulls::NamedPull;
use crate::extract::language::clause::{capitalize, is_main_clause, shorten_to_title};
use crate::extract::language::similarity::TermSet;
use crate::extract::language::terms::base_name;
use crate::extract::language::text::plain_text;
use crate::extract::pages::fallback_title::title_from_files;
use crate::extract::pages::task_titles::title_from_tasks;
use crate::extract::pages::title_candidates::{
    TurnTerms, title_from_conversation, title_from_result,
};
use crate::extract::pages::title_text::build_title;
use crate::extract::pages::title_weight::{
    FROM_BRANCH, FROM_CHORE_COMMIT, FROM_COMMIT, FROM_EARLIER_REQUEST, FROM_PLAN, FROM_PROPOSAL,
    FROM_PULL, FROM_REBASE, FROM_RESULT, FROM_SUMMARY, FROM_SUMMARY_OF_SESSION, FROM_TASK,
};
use crate::extract::turns::plan::find_proposed_plan;
use crate::extract::turns::prompt::is_prompt;
use crate::extract::turns::reaction::Reaction;
use crate::extract::turns::reference::refers_without_naming;
use crate::extract::turns::request::{UserRequest, parse_request};
use crate::extract::turns::turn::Turn;

/// A request with a lower weight does not name its subject.
const SPECIFIC_MIN: u32 = 4;

/// Adds the title of a segment, and maybe a second one for its session, before its facts.
pub(crate) fn add_titles(
    segment: &mut SegmentFacts<'_>,
    events: &[Event],
    earlier_request: Option<&Event>,
) {
    let SegmentFacts { turns, branch, facts } = segment;
    let mut titles: Vec<DraftFact> =
        choose_title(turns, facts, events, earlier_request, *branch).into_iter().collect();
    let is_new = |other: &DraftFact| titles.iter().all(|title| title.weight < other.weight);
    let summary = title_from_summary(turns, events, TitleScope::Session).filter(is_new);
    titles.extend(summary);
    facts.splice(0..0, titles);
}

/// Chooses the title of a segment, with its evidence.
pub(crate) fn choose_title(
    turns: &[Turn<'_>],
    facts: &[DraftFact],
    events: &[Event],
    earlier_request: Option<&Event>,
    branch: Option<&str>,
) -> Option<DraftFact> {
    let terms = TurnTerms::new(turns);
    title_from_plan(turns)
        .or_else(|| title_from_pull(turns))
        .or_else(|| title_from_commit(turns, &terms))
        .or_else(|| title_from_rebase(turns))
        .or_else(|| title_from_earlier_request(earlier_request?, events, turns))
        .or_else(|| {
            let asked = title_from_conversation(turns, &terms);
            let is_asked = |least: u32| asked.clone().filter(|title| title.weight >= least);
            title_from_proposal(turns, events)
                .or_else(|| is_asked(FROM_SUMMARY_OF_SESSION))
                .or_else(|| title_from_summary(turns, events, TitleScope::Segment))
                .or_else(|| is_asked(FROM_TASK))
                .or_else(|| title_from_branch(turns, events, branch))
                .or_else(|| title_from_tasks(turns, events, &terms))
                .or_else(|| is_asked(FROM_BRANCH))
                .or_else(|| title_from_result(turns, facts))
                .or_else(|| title_from_pull_number(facts))
                .or(asked)
        })
        .or_else(|| title_from_files(turns, events))
}

/// The commit whose words the turns use most, and of equals the first. Those that only add tests or documents
/// come last.
fn title_from_commit(turns: &[Turn<'_>], terms: &TurnTerms) -> Option<DraftFact> {
    let mut best: Option<(u8, usize, &MadeCommit<'_>)> = None;
    for turn in turns {
        let names_work = |commit: &&MadeCommit<'_>| !commit.is_amended && !is_chore(commit.subject);
        for commit in turn.commits.iter().filter(names_work) {
            let overlap = terms.compare(commit.subject, None);
            let shared = overlap.shared * 100 / overlap.terms.max(1);
            let rank = rank_commit_type(commit.subject);
            let is_better = |(known, most, _): &(u8, usize, &MadeCommit<'_>)| {
                rank < *known || rank == *known && shared > *most
            };
            if best.as_ref().is_none_or(is_better) {
                best = Some((rank, shared, commit));
            }
        }
    }
    let (rank, _, commit) = best?;
    let subject = plain_text(commit.subject);
    // A conventional subject is written as it is: `feat: …`.
    let is_typed = commit_type(&subject).is_some();
    let text = if is_typed { subject } else { capitalize(&subject) };
    let source = if rank > 0 { FROM_CHORE_COMMIT } else { FROM_COMMIT };
    build_title(&text, source, vec![build_evidence(commit.event, commit.raw)])
}

fn title_from_plan(turns: &[Turn<'_>]) -> Option<DraftFact> {
    let plan = turns.iter().rev().find_map(|turn| turn.plan)?;
    let text = capitalize(&plain_text(plan.text));
    build_title(&text, FROM_PLAN, vec![build_evidence(plan.event, plan.raw)])
}

/// The heading of the last plan that an answer proposes, unless the user refuses it.
fn title_from_proposal(turns: &[Turn<'_>], events: &[Event]) -> Option<DraftFact> {
    let plan = turns.iter().enumerate().rev().find_map(|(index, turn)| {
        let (at, answer) = turn.final_answer(events)?;
        let is_refused =
            turns.get(index + 1).is_some_and(|next| next.reaction == Reaction::Correction);
        find_proposed_plan(at, answer).filter(|_| !is_refused)
    })?;
    let text = capitalize(&plain_text(plan.text));
    build_title(&text, FROM_PROPOSAL, vec![build_evidence(plan.event, plan.raw)])
}

/// The events that a title is for.
#[derive(Debug, Clone, Copy)]
enum TitleScope {
    Segment,
    Session,
}

/// The title that the agent gave the session itself. Agents derive it from the first words, and it may be
/// unrelated to the work.
fn title_from_summary(
    turns: &[Turn<'_>],
    events: &[Event],
    scope: TitleScope,
) -> Option<DraftFact> {
    let (at, raw) = events.iter().enumerate().rev().find_map(|(at, event)| {
        let raw = event.meta.get("session_title")?.as_str()?;
        (count_words(raw) >= 2).then_some((at, raw))
    })?;
    let text = plain_text(raw);
    // At the end of a session, a few turns may be about its last chores only.
    const TURNS_MIN: usize = 3;
    let asked = turns.iter().filter(|turn| turn.request.as_ref().is_some_and(|one| one.weight > 2));
    let is_about = match scope {
        TitleScope::Segment => is_named(&text, turns, 2, 50),
        TitleScope::Session => asked.count() < TURNS_MIN || is_named(&text, turns, 1, 33),
    };
    is_about.then_some(())?;
    build_title(&capitalize(&text), FROM_SUMMARY, vec![build_evidence(at, raw)])
}

/// The last pull request that was opened, or else the one that the work was about, if there is only one.
fn title_from_pull(turns: &[Turn<'_>]) -> Option<DraftFact> {
    let pulls = || turns.iter().flat_map(|turn| &turn.pulls);
    // A pull request may get another title.
    let titled = |number: Option<_>| {
        let is_it = move |pull: &&NamedPull<'_>| number.is_none_or(|one| one == pull.number);
        pulls().rev().filter(is_it).find(|pull| pull.title.is_some())
    };
    let opened = pulls().rev().find(|pull| pull.is_opened).map(|pull| pull.number);
    let pull = titled(opened)?;
    let is_only = || pulls().all(|other| other.number == pull.number);
    let named = pull.title.filter(|_| opened.is_some() || is_only())?;
    let text = format!("PR #{}: {}", pull.number, plain_text(named));
    let evidence = vec![build_evidence(pull.event, pull.raw), build_evidence(pull.event, named)];
    build_title(&text, FROM_PULL, evidence)
}

/// "Merged PR #6", where nothing else names the work.
fn title_from_pull_number(facts: &[DraftFact]) -> Option<DraftFact> {
    let says =
        |fact: &&DraftFact| fact.kind == FactKind::PullRequest && !fact.text.starts_with("PR #");
    let pull = facts.iter().rfind(says)?;
    build_title(&pull.text, FROM_RESULT, pull.evidence.clone())
}

/// The rebased commit, if there was only one.
fn title_from_rebase(turns: &[Turn<'_>]) -> Option<DraftFact> {
    let commit = turns.iter().rev().find_map(|turn| turn.rebase.as_ref()?.commit.as_ref())?;
    let text = format!("Rebase: {}", plain_text(commit.subject));
    build_title(&text, FROM_REBASE, vec![build_evidence(commit.event, commit.raw)])
}

/// The branch in words: `user/ent-109-text-output-flag` is "Text output flag".
fn title_from_branch(
    turns: &[Turn<'_>],
    events: &[Event],
    branch: Option<&str>,
) -> Option<DraftFact> {
    let branch = branch?;
    let mut evidence = turns.iter().flat_map(|turn| turn.events.clone()).filter_map(|at| {
        let shows = crate::evidence::contains_excerpt(events.get(at)?, branch);
        shows.then(|| build_evidence(at, branch))
    });
    let text = words_of_branch(branch).filter(|text| is_named(text, turns, 2, 75))?;
    build_title(&text, FROM_BRANCH, vec![evidence.next()?])
}

/// Whether prompts, conclusions or changed files name at least this many words of a title, and this percentage of
/// them. A branch is often older than the work on it, and an agent's title may be about a greeting.
fn is_named(title: &str, turns: &[Turn<'_>], words_min: usize, percent_min: usize) -> bool {
    let mut terms: BTreeSet<String> = BTreeSet::new();
    let mut add = |text: &str| terms.extend(TermSet::from_text(text).into_terms());
    for turn in turns {
        turn.prompt_parts.sentences.iter().for_each(|sentence| add(&sentence.plain));
        turn.conclusion.iter().for_each(|(_, found)| add(&found.text));
        for file in turn.files.iter().filter(|file| file.action != FileAction::Read) {
            add(&base_name(file.path).replace('_', " "));
        }
    }
    // People mention branches whatever their subject is.
    let is_telling = |word: &String| !word.starts_with("branch");
    let words: Vec<String> = TermSet::from_text(title).into_terms().filter(is_telling).collect();
    let named = words.iter().filter(|word| terms.contains(*word)).count();
    named >= words_min && named * 100 >= words.len() * percent_min
}

fn words_of_branch(branch: &str) -> Option<String> {
    let name = base_name(branch);
    let words: Vec<&str> = name
        .split(['-', '_', '.'])
        .filter(|word| !word.is_empty())
        .skip_while(|word| {
            word.chars().all(|c| c.is_ascii_digit())
                || matches!(*word, "ent" | "issue" | "gh" | "pr")
        })
        .collect();
    // Agents name worktrees by chance: `bold-euler-8315c1`.
    let is_hash = |word: &&str| {
        word.len() >= 6
            && word.chars().all(|c| c.is_ascii_hexdigit())
            && word.contains(|c: char| c.is_ascii_digit())
    };
    if words.last().is_some_and(is_hash) {
        return None;
    }
    let worded =
        words.iter().filter(|word| word.len() >= 3 && word.chars().all(char::is_alphabetic));
    (words.len() >= 3 && worded.count() >= 2).then(|| capitalize(&words.join(" ")))
}

/// The request before the segment, if the segment only continues it. The work is its evidence.
fn title_from_earlier_request(
    request: &Event,
    events: &[Event],
    turns: &[Turn<'_>],
) -> Option<DraftFact> {
    let request = parse_request(0, &request.text)?;
    // A segment with a prompt of its own continues an earlier one only if that prompt is uninformative: "yes", "b".
    if events.iter().any(changes_subject) {
        return None;
    }
    let evidence = first_evidence(events, turns)?;
    build_title(&shorten_to_title(&request.text), FROM_EARLIER_REQUEST, vec![evidence])
}

/// Whether an event is a prompt with a request of its own: no mere "yes", "continue".
pub(crate) fn changes_subject(event: &Event) -> bool {
    let says = || parse_request(0, &event.text).is_some_and(|request| request.weight > 1);
    is_prompt(event) && (event.text.trim_start().starts_with('/') || says())
}

/// Whether an event is a prompt that states a request, understandable without the conversation around it.
pub(crate) fn names_request(event: &Event) -> bool {
    let says = |request: &UserRequest<'_>| {
        request.is_sure
            && request.is_asked
            && !request.pasted
            && request.weight >= SPECIFIC_MIN
            && !refers_without_naming(&request.text)
            && is_main_clause(&request.text)
    };
    is_prompt(event) && parse_request(0, &event.text).as_ref().is_some_and(says)
}

fn first_evidence(events: &[Event], turns: &[Turn<'_>]) -> Option<Evidence> {
    let files = turns.iter().flat_map(|turn| &turn.files);
    let file = files.map(|file| build_evidence(file.event, file.raw)).next();
    let run = turns.iter().flat_map(|turn| &turn.runs);
    let run = run.map(|run| build_evidence(run.event, first_line(run.command_line))).next();
    file.or(run).or_else(|| {
        events.iter().enumerate().find_map(|(at, event)| {
            let line = event.text.lines().find(|line| !line.trim().is_empty())?;
            Some(build_evidence(at, line))
        })
    })
}
