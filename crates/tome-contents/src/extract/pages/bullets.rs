//! Chooses the facts that a page shows, and writes them as bullets.

use tome_model::FactKind;
use tome_text::truncate_words;

use crate::extract::facts::draft_fact::{DraftFact, PASSED_AFTER, PASSING_TROUBLE, QUESTION_END};
use crate::extract::facts::segment_facts::{AMENDED_WEIGHT, DOUBTFUL_WEIGHT, STEPS_WEIGHT};
use crate::extract::git::commit_subject::is_ceremony;
use crate::extract::language::similarity::{Statement, is_similar};
use crate::extract::pages::title_weight::FROM_FILES;
use crate::extract::pages::work::repeats_request;
use crate::{SummaryBullet, Support};

pub(crate) const BULLETS_MAX: usize = 7;
pub(crate) const BULLET_CHARS_MAX: usize = 320;
/// A text that repeats the title and is not longer by this adds nothing.
const LONGER_CHARS_MIN: usize = 30;

/// The beginning of a decision that needs no label.
const DECIDED: &str = "Decided ";

/// Rank of a kind of fact, and how many of it a page shows.
pub(crate) fn rank_kind(kind: FactKind) -> (u32, usize) {
    match kind {
        FactKind::Commit => (60, 2),
        FactKind::Outcome => (50, 5),
        FactKind::Decision => (46, 2),
        FactKind::Problem => (44, 2),
        FactKind::Open => (42, 1),
        FactKind::PullRequest => (40, 1),
        FactKind::Convention => (38, 1),
        FactKind::Check => (10, 0),
        FactKind::Request => (20, 3),
        // Without the work that was corrected, readers learned nothing from two of three corrections.
        // Names of files alone do not show what was changed.
        FactKind::Change | FactKind::Correction | FactKind::Title => (0, 0),
        FactKind::Issue | FactKind::UndoneCommit => (0, 0),
    }
}

/// Rank of a fact, by kind and weight.
pub(crate) fn rank_fact(kind: FactKind, weight: u32) -> u32 {
    const DOUBTFUL_RANK: u32 = 18;
    const STEPS_RANK: u32 = 30;
    match kind {
        FactKind::Outcome if weight <= DOUBTFUL_WEIGHT => return DOUBTFUL_RANK,
        FactKind::Outcome if weight == STEPS_WEIGHT => return STEPS_RANK,
        _ => {}
    }
    rank_kind(kind).0 + weight.min(40) / 2
}

/// Whether a fact may be a bullet: no passing failure, no request without its result, and no commit that is a
/// mere step of the work.
pub(crate) fn is_worth_bullet(kind: FactKind, text: &str, weight: u32) -> bool {
    let is_step = match kind {
        FactKind::Commit => is_ceremony(text) || weight <= AMENDED_WEIGHT,
        // Without an answer, half of the requests were useless to readers.
        FactKind::Request => !text.contains(QUESTION_END),
        FactKind::Problem => weight <= PASSING_TROUBLE,
        // Its number alone says nothing.
        FactKind::PullRequest => text.starts_with("PR #") && !text.contains(": "),
        _ => false,
    };
    rank_kind(kind).1 > 0 && !is_step
}

/// Puts a label before a fact that names its kind, unless the fact says so itself.
pub(crate) fn label_fact(kind: FactKind, text: &str) -> String {
    let label = match kind {
        FactKind::Commit => "Committed: ",
        FactKind::Decision if !text.starts_with(DECIDED) => "Decided: ",
        FactKind::Open => "Open: ",
        FactKind::Convention => "Rule of the user: ",
        FactKind::Request if !text.contains(QUESTION_END) => "Asked: ",
        FactKind::Title
        | FactKind::Correction
        | FactKind::Check
        | FactKind::PullRequest
        | FactKind::Problem
        | FactKind::Outcome
        | FactKind::Request
        | FactKind::Decision
        | FactKind::Change
        | FactKind::Issue
        | FactKind::UndoneCommit => "",
    };
    format!("{label}{text}")
}

/// Chooses the facts of a segment worth a bullet and renders them in order of time.
pub(crate) fn build_bullets(facts: &[DraftFact]) -> Vec<SummaryBullet> {
    let title = facts.iter().find(|fact| fact.kind == FactKind::Title);
    // Always show open work, even if that displaces another bullet.
    let open = facts.iter().rfind(|fact| fact.kind == FactKind::Open);
    // A check that still fails is shown once.
    let is_open = |fact: &DraftFact| {
        fact.kind == FactKind::Problem && open.is_some_and(|open| open.event == fact.event)
    };
    let mut ranked: Vec<&DraftFact> = facts
        .iter()
        .filter(|fact| is_worth_bullet(fact.kind, &fact.text, fact.weight) && !is_open(fact))
        .collect();
    ranked.sort_by_key(|fact| std::cmp::Reverse(rank_fact(fact.kind, fact.weight)));
    let heading = title.map(|title| Statement::new(&title.text));
    let mut chosen: Vec<&DraftFact> = Vec::new();
    let mut stated: Vec<Statement<'_>> = Vec::new();
    for fact in ranked {
        let of_kind = chosen.iter().filter(|one| one.kind == fact.kind).count();
        if chosen.len() >= BULLETS_MAX || of_kind >= rank_kind(fact.kind).1 {
            continue;
        }
        let states = Statement::new(&fact.text);
        if !stated.iter().any(|one| one.is_similar(&states))
            && !heading.as_ref().is_some_and(|title| repeats_title(title, fact.kind, &states))
        {
            chosen.push(fact);
            stated.push(states);
            // A decision that is the result of a request is told once.
            let result = fact.text.split_once(QUESTION_END).map(|(_, result)| result);
            stated.extend(result.map(Statement::new));
        }
    }
    if chosen.is_empty() && title.is_none_or(|title| title.weight <= FROM_FILES) {
        // A failure that was fixed is better than nothing.
        let is_fixed = |fact: &&DraftFact| {
            fact.kind == FactKind::Problem && !is_open(fact) && fact.text.contains(PASSED_AFTER)
        };
        chosen.extend(facts.iter().rfind(is_fixed));
    }
    if let Some(open) = open.filter(|open| !chosen.iter().any(|fact| fact.kind == open.kind)) {
        chosen.truncate(BULLETS_MAX - 1);
        chosen.push(open);
    }
    let texts: Vec<String> = chosen.iter().map(|fact| fact.text.clone()).collect();
    let shown = title.map_or("", |title| title.text.as_str());
    chosen.retain(|fact| {
        fact.kind != FactKind::Commit || !is_told_elsewhere(&fact.text, shown, &texts)
    });
    chosen.sort_by_key(|fact| (fact.kind == FactKind::Open, fact.event));
    chosen
        .into_iter()
        .map(|fact| SummaryBullet {
            text: truncate_words(&render_fact(shown, fact), BULLET_CHARS_MAX),
            support: Support::Excerpts(fact.evidence.clone()),
        })
        .collect()
}

/// A fact with its label, without the request before a result if the title repeats it.
fn render_fact(title: &str, fact: &DraftFact) -> String {
    match fact.text.split_once(QUESTION_END) {
        Some((request, result))
            if matches!(fact.kind, FactKind::Outcome | FactKind::Request)
                && repeats_request(title, request) =>
        {
            result.to_owned()
        }
        _ => label_fact(fact.kind, &fact.text),
    }
}

/// Whether the title is a commit's subject and another bullet names its hash.
pub(crate) fn is_told_elsewhere(commit: &str, title: &str, bullets: &[String]) -> bool {
    let Some((subject, hash)) = commit.rsplit_once(" (") else { return false };
    let hash = tome_text::first_chars(hash.trim_end_matches(')'), 7);
    let same = is_similar(title, subject);
    same && bullets.iter().any(|text| text != commit && text.contains(hash))
}

/// Whether a conclusion or pull request adds nothing to the title.
fn repeats_title(title: &Statement<'_>, kind: FactKind, states: &Statement<'_>) -> bool {
    let more = states.text.chars().count() > title.text.chars().count() + LONGER_CHARS_MIN;
    matches!(kind, FactKind::Outcome | FactKind::PullRequest) && !more && title.is_similar(states)
}
