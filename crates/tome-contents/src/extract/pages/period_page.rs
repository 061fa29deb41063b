//! Writes the page of a period from the work of its children: merged by branch or session, heaviest
//! first. Linear in the number of children.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use tome_model::{Fact, FactKind, GripId, Level, Millis, Node, SessionId, Work};
use tome_text::{count_noun, truncate_words};

use crate::extract::facts::draft_fact::QUESTION_END;
use crate::extract::facts::overturned::find_refuted_results;
use crate::extract::facts::pull_facts::name_pull;
use crate::extract::language::keywords::KEYWORDS_MAX;
use crate::extract::language::similarity::{Statement, is_similar};
use crate::extract::pages::bullets::{
    BULLET_CHARS_MAX, is_told_elsewhere, is_worth_bullet, label_fact, rank_fact, rank_kind,
};
use crate::extract::pages::recurrent_title::find_recurrent_title;
use crate::extract::pages::title_weight::{
    FROM_REBASE, FROM_RESULT, is_from_conversation, weigh_for_day,
};
use crate::extract::pages::undone_commits::find_undone_facts;
use crate::extract::pages::work::{
    find_work_outcome, find_work_title, rank_title, repeats_request, stands_alone, strip_request,
};
use crate::{RollupInput, Summary, SummaryBullet, SummaryFact, SummaryWork, Support};

/// Pieces of work that a node keeps; the lightest are dropped.
const WORK_MAX: usize = 40;
/// Facts of one kind that a piece of work keeps, the latest.
const FACTS_PER_KIND_MAX: usize = 6;
const SESSIONS_MAX: usize = 8;
const BULLETS_MAX: usize = 6;
/// Added to the rank of the last result of a piece of work.
const LAST_RANK: u32 = 20;
/// Bullets of a day with one piece of work.
const DAY_BULLETS_MAX: usize = 8;
/// With this many bullets, doubtful results are left out.
const SPARE_MIN: usize = 3;
const TITLE_CHARS_MAX: usize = 120;
/// Pieces of work named for a month of a year.
const MONTH_WORK_MAX: usize = 3;

/// A piece of work, merged from those of several nodes. It borrows: most facts are not kept.
struct MergedWork<'a> {
    branch: Option<&'a str>,
    sessions: Vec<&'a SessionId>,
    turns: u64,
    commits: u64,
    weight: u64,
    facts: Vec<&'a Fact>,
    /// The fact in place of a title, if that was a commit that is gone.
    substitute: Option<&'a Fact>,
    has_lost_title: bool,
    /// The results of sessions that have no better ones.
    only_results: Vec<&'a Fact>,
    /// Whether it is the work of one day.
    is_of_day: bool,
    /// The title whose words recur most in the work, if that tells it from the weightiest one.
    recurrent: Option<&'a Fact>,
}

impl<'a> MergedWork<'a> {
    /// The facts of one kind, in order of time.
    fn facts_of(&self, kind: FactKind) -> impl DoubleEndedIterator<Item = &'a Fact> {
        self.facts.iter().copied().filter(move |fact| fact.kind == kind)
    }

    /// The title with the highest weight. In a day, some titles weigh less ([`weigh_for_day`]); above it, the
    /// choice is the same as in the list of sessions.
    fn best_title(&self) -> Option<&'a Fact> {
        if self.recurrent.is_some() {
            return self.recurrent;
        }
        let weigh = |fact: &Fact| match self.is_of_day {
            true => weigh_for_day(fact.weight),
            false => fact.weight,
        };
        let best =
            self.facts_of(FactKind::Title).min_by_key(|fact| (Reverse(weigh(fact)), fact.at));
        best.or(self.substitute)
    }

    fn title(&self) -> &'a str {
        match self.best_title() {
            Some(commit) if commit.kind == FactKind::Commit => subject_of_commit(commit),
            Some(outcome) if outcome.kind == FactKind::Outcome => strip_request(&outcome.text),
            title => title.map_or("", |title| title.text.as_str()),
        }
    }

    /// Chooses what stands in place of titles that were commits that are gone.
    fn replace_title(&mut self) {
        if self.has_lost_title && self.best_title().is_none() {
            let commit = self.facts_of(FactKind::Commit).next_back();
            let results = self.facts_of(FactKind::Outcome).filter(|fact| stands_alone(fact));
            self.substitute = commit.or_else(|| results.max_by_key(|fact| (fact.weight, fact.at)));
        }
    }
}

impl<'a> MergedWork<'a> {
    fn new(work: &'a Work, is_of_day: bool) -> Self {
        Self {
            is_of_day,
            recurrent: None,
            substitute: None,
            has_lost_title: false,
            only_results: Vec::new(),
            branch: work.branch.as_deref(),
            sessions: Vec::new(),
            turns: 0,
            commits: 0,
            weight: 0,
            facts: Vec::new(),
        }
    }
}

impl From<MergedWork<'_>> for SummaryWork {
    fn from(work: MergedWork<'_>) -> Self {
        let title = work.substitute.map(|fact| SummaryFact {
            kind: FactKind::Title,
            text: work.title().to_owned(),
            weight: FROM_RESULT,
            ..SummaryFact::from(fact)
        });
        Self {
            branch: work.branch.map(str::to_owned),
            sessions: work.sessions.into_iter().cloned().collect(),
            turns: work.turns,
            commits: work.commits,
            weight: work.weight,
            facts: title.into_iter().chain(work.facts.into_iter().map(SummaryFact::from)).collect(),
        }
    }
}

pub(crate) fn summarize_period(input: &RollupInput<'_>) -> Summary {
    let work = merge_work(input.children, input.level == Level::Day);
    let keywords = top_keywords(input.children);
    if work.is_empty() {
        let idle = input.children.iter().map(|child| child.title.trim());
        let title = idle.into_iter().find(|title| !title.is_empty()).unwrap_or("Nothing said");
        return Summary {
            title: title.to_owned(),
            bullets: Vec::new(),
            keywords,
            work: Vec::new(),
        };
    }
    let title = join_work_titles(&work);
    let bullets = match input.level {
        Level::Year => describe_months(input.children),
        level => describe_work(&work, &title, level),
    };
    let work = work.into_iter().map(SummaryWork::from).collect();
    Summary { title, bullets, keywords, work }
}

/// Merges the work of nodes, in order of time, and sorts it by weight. Work belongs together if it is
/// on one branch; a session without a known branch continues what it did before.
fn merge_work(children: &[Node], is_of_day: bool) -> Vec<MergedWork<'_>> {
    let mut merged: Vec<MergedWork<'_>> = Vec::new();
    let mut by_branch: HashMap<&str, usize> = HashMap::new();
    let mut by_session: HashMap<&SessionId, usize> = HashMap::new();
    let all: Vec<&Work> = children.iter().flat_map(|child| &child.work).collect();
    let undone = find_undone_facts(&all);
    let told = all.iter().filter(|work| work.facts.iter().any(tells_result));
    let told: HashSet<&SessionId> = told.flat_map(|work| &work.sessions).collect();
    for (at, work) in all.into_iter().enumerate() {
        let existing = match work.branch.as_deref() {
            Some(branch) => by_branch.get(branch),
            None => work.sessions.iter().find_map(|session| by_session.get(session)),
        };
        let index = existing.copied().unwrap_or(merged.len());
        if index == merged.len() {
            merged.push(MergedWork::new(work, is_of_day));
        }
        if let Some(existing) = merged.get_mut(index) {
            let facts = work.facts.iter().enumerate();
            if !work.sessions.iter().any(|session| told.contains(session)) {
                existing.only_results.extend(work.facts_of(FactKind::Outcome));
            }
            extend_work(existing, work, facts.filter(|(place, _)| !undone.contains(&(at, *place))));
        }
        by_branch.extend(work.branch.as_deref().map(|branch| (branch, index)));
        by_session.extend(work.sessions.iter().map(|session| (session, index)));
    }
    merged.sort_by_key(|work| Reverse(work.weight));
    merged.truncate(WORK_MAX);
    for work in &mut merged {
        if is_of_day {
            drop_refuted(work);
        }
        work.recurrent = work.is_of_day.then(|| find_recurrent_title(&work.facts)).flatten();
        limit_facts(work);
        work.replace_title();
    }
    merged
}

/// Whether a fact surely tells what came of a session.
fn tells_result(fact: &Fact) -> bool {
    match fact.kind {
        FactKind::Outcome => stands_alone(fact),
        FactKind::Commit | FactKind::PullRequest => true,
        _ => false,
    }
}

/// Drops the results that a later segment takes back.
fn drop_refuted(work: &mut MergedWork<'_>) {
    const RESULTS_MAX: usize = 200;
    let results: Vec<&Fact> = work.facts_of(FactKind::Outcome).take(RESULTS_MAX).collect();
    let texts: Vec<&str> = results.iter().map(|fact| fact.text.as_str()).collect();
    let refuted = find_refuted_results(&texts);
    let gone: Vec<&Fact> =
        results.into_iter().zip(refuted).filter(|(_, gone)| *gone).map(|(fact, _)| fact).collect();
    work.facts.retain(|fact| !gone.iter().any(|one| std::ptr::eq(*one, *fact)));
}

/// Adds later work with those of its facts that still hold.
fn extend_work<'a>(
    work: &mut MergedWork<'a>,
    later: &'a Work,
    facts: impl Iterator<Item = (usize, &'a Fact)>,
) {
    let count = |work: &Work| work.facts_of(FactKind::Commit).count() as u64;
    work.turns += later.turns;
    work.commits += later.commits;
    work.weight += later.weight;
    for session in &later.sessions {
        work.sessions.retain(|known| *known != session);
        work.sessions.push(session);
    }
    // The later part settles whatever was open before it.
    work.facts.retain(|fact| fact.kind != FactKind::Open);
    let before = work.facts.len();
    work.facts.extend(facts.map(|(_, fact)| fact));
    let kept = work.facts.iter().skip(before).filter(|fact| fact.kind == FactKind::Commit);
    work.commits -= count(later).saturating_sub(kept.count() as u64).min(work.commits);
    let kept = work.facts.iter().skip(before).filter(|fact| fact.kind == FactKind::Title);
    work.has_lost_title |= kept.count() < later.facts_of(FactKind::Title).count();
}

/// Keeps the latest facts of each kind, and the best titles and outcomes.
fn limit_facts(work: &mut MergedWork<'_>) {
    let from = work.sessions.len().saturating_sub(SESSIONS_MAX);
    work.sessions.drain(..from);
    let mut kept: Vec<&Fact> = Vec::with_capacity(work.facts.len());
    work.facts.sort_by_key(|fact| fact.kind);
    for facts in work.facts.chunk_by_mut(|a, b| a.kind == b.kind) {
        match facts.first().map(|fact| fact.kind) {
            Some(FactKind::Title) if work.is_of_day => {
                let recurs =
                    |fact: &Fact| work.recurrent.is_some_and(|one| std::ptr::eq(one, fact));
                facts.sort_by_key(|fact| {
                    (!recurs(fact), Reverse(weigh_for_day(fact.weight)), fact.at)
                });
            }
            Some(FactKind::Title) => facts.sort_by_key(|fact| rank_title(fact)),
            // That a pull request was opened or merged says more than that it was looked at.
            Some(FactKind::PullRequest) => {
                facts.sort_by_key(|fact| Reverse((name_pull(&fact.text) != fact.text, fact.at)));
            }
            Some(FactKind::Outcome | FactKind::Request) => {
                facts.sort_by_key(|fact| Reverse((fact.weight, fact.at)));
            }
            _ => facts.reverse(),
        }
        let from = kept.len();
        // Each takes back one commit of an earlier period.
        if facts.iter().any(|fact| fact.kind == FactKind::UndoneCommit) {
            kept.extend(facts.iter().copied());
            continue;
        }
        for fact in facts.iter().copied() {
            let of_kind = kept.get(from..).unwrap_or_default();
            if of_kind.len() >= FACTS_PER_KIND_MAX {
                break;
            }
            if !of_kind.iter().any(|known| subject_of(known) == subject_of(fact)) {
                kept.push(fact);
            }
        }
    }
    kept.sort_by_key(|fact| fact.at);
    work.facts = kept;
}

/// The key that distinguishes facts of one kind. Of several answers to one question, one
/// is enough.
fn subject_of(fact: &Fact) -> &str {
    match fact.kind {
        FactKind::Outcome => fact.text.split(QUESTION_END).next().unwrap_or_default(),
        FactKind::PullRequest => name_pull(&fact.text),
        _ => &fact.text,
    }
}

/// Joins the titles of the heaviest work, whole ones only.
fn join_work_titles(work: &[MergedWork<'_>]) -> String {
    let mut parts: Vec<Statement<'_>> = Vec::new();
    let heaviest = work.first().map_or(0, |work| work.weight);
    let mut length = 0;
    for one in work {
        let text = one.title();
        if text.is_empty() {
            continue;
        }
        let states = Statement::new(text);
        if parts.iter().any(|part| repeats_statement(part, &states, &one.facts)) {
            continue;
        }
        let fits = length + text.chars().count() <= TITLE_CHARS_MAX;
        if !parts.is_empty() && (!fits || one.weight * 4 < heaviest || parts.len() >= 3) {
            break;
        }
        length += text.chars().count() + 2;
        parts.push(states);
    }
    let parts: Vec<&str> = parts.iter().map(|part| part.text).collect();
    truncate_words(&parts.join("; "), TITLE_CHARS_MAX)
}

/// Describes each piece of work by its result; the remaining bullets are decisions, rules of the user, further
/// results and open work.
fn describe_work(all: &[MergedWork<'_>], title: &str, level: Level) -> Vec<SummaryBullet> {
    if let [only] = all {
        return describe_only(only, level);
    }
    let shown: Vec<&MergedWork<'_>> =
        all.iter().filter(|work| !work.title().is_empty()).take(BULLETS_MAX).collect();
    let mut bullets: Vec<SummaryBullet> = Vec::new();
    for work in &shown {
        let summary = describe_one(work, title, level);
        let states = Statement::new(&summary.text);
        let is_repeated = |other: &SummaryBullet| {
            repeats_statement(&Statement::new(&other.text), &states, &work.facts)
        };
        if !bullets.iter().any(is_repeated) {
            bullets.push(summary);
        }
    }
    let mut more: Vec<&Fact> = shown
        .iter()
        .flat_map(|work| &work.facts)
        .copied()
        .filter(|fact| {
            matches!(
                fact.kind,
                FactKind::Decision | FactKind::Convention | FactKind::Outcome | FactKind::Open
            )
        })
        .collect();
    more.sort_by_key(|fact| Reverse((rank_fact(fact.kind, fact.weight), fact.at)));
    for fact in more {
        if bullets.len() >= BULLETS_MAX.min(5) {
            break;
        }
        if !bullets.iter().any(|known| contains_text(&known.text, &fact.text)) {
            let text = label_fact(fact.kind, &fact.text);
            bullets.push(build_bullet(&text, fact.grips().to_vec()));
        }
    }
    let open = shown.iter().flat_map(|work| work.facts_of(FactKind::Open));
    if let Some(open) = open.max_by_key(|fact| fact.at)
        && bullets.len() < BULLETS_MAX
        && !bullets.iter().any(|known| known.text.contains(&open.text))
    {
        bullets.push(build_bullet(&label_fact(open.kind, &open.text), open.grips().to_vec()));
    }
    // Each line shows its time, so another order would confuse. Open work comes last.
    let facts: Vec<&Fact> = shown.iter().flat_map(|work| work.facts.iter().copied()).collect();
    bullets.sort_by_cached_key(|bullet| find_time(bullet, &facts));
    let hidden = all.len().saturating_sub(shown.len());
    if hidden > 0
        && let Some(last) = bullets.last_mut()
    {
        last.text = format!("{} (and {hidden} more pieces of work)", last.text);
    }
    bullets
}

/// Sort key of a bullet: whether it states open work, then the time of its latest fact.
fn find_time(bullet: &SummaryBullet, facts: &[&Fact]) -> (bool, Option<Millis>) {
    let Support::Grips(grips) = &bullet.support else { return (false, None) };
    let own = facts.iter().filter(|fact| fact.grips().iter().any(|grip| grips.contains(grip)));
    let is_open = own.clone().any(|fact| {
        fact.kind == FactKind::Open && bullet.text == label_fact(fact.kind, &fact.text)
    });
    (is_open, own.map(|fact| fact.at).max())
}

/// Whether a text about some facts repeats a known one. For requests without a result, less overlap is enough.
fn repeats_statement(known: &Statement<'_>, states: &Statement<'_>, facts: &[&Fact]) -> bool {
    let only_requests = facts.iter().all(|fact| {
        matches!(
            fact.kind,
            FactKind::Title
                | FactKind::Request
                | FactKind::Open
                | FactKind::Issue
                | FactKind::UndoneCommit
        )
    });
    let same = known.terms.overlap_percent(&states.terms);
    same >= if only_requests { 60 } else { 70 }
}

fn contains_text(known: &str, text: &str) -> bool {
    known.contains(text.get(..text.len().min(40)).filter(|part| part.len() >= 20).unwrap_or(text))
        || is_similar(known, text)
}

/// Describes a period with one piece of work: its facts, in order of time. The longer the period, the fewer;
/// failures and their fixes are shown only in a day, and requests without a result only in their segment.
fn describe_only(work: &MergedWork<'_>, level: Level) -> Vec<SummaryBullet> {
    let bullets_max = match level {
        Level::Year | Level::Month | Level::Week => 4,
        Level::Day | Level::Segment => DAY_BULLETS_MAX,
    };
    let is_shown = |fact: &&Fact| {
        fact.kind != FactKind::Request && (level == Level::Day || fact.kind != FactKind::Problem)
    };
    let title = work.title();
    let heading = Statement::new(title);
    let mut ranked: Vec<&Fact> = work
        .facts
        .iter()
        .copied()
        .filter(|fact| is_worth_bullet(fact.kind, &fact.text, fact.weight))
        .collect();
    ranked.retain(is_shown);
    // A check that still fails is shown once, as open.
    let open = work.facts_of(FactKind::Open).next_back();
    let is_open = |fact: &Fact| {
        let shows = |open: &Fact| open.grips().iter().any(|grip| fact.grips().contains(grip));
        fact.kind == FactKind::Problem && open.is_some_and(shows)
    };
    ranked.retain(|fact| !is_open(fact));
    // The last result ranks first: it shows where the work stands.
    let last = work.facts_of(FactKind::Outcome).rfind(|fact| stands_alone(fact));
    let rank = |fact: &Fact| {
        let is_last = last.is_some_and(|last| std::ptr::eq(last, fact));
        rank_fact(fact.kind, fact.weight) + if is_last { LAST_RANK } else { 0 }
    };
    ranked.sort_by_key(|fact| Reverse((rank(fact), fact.at)));
    let mut chosen: Vec<&Fact> = Vec::new();
    let mut stated: Vec<Statement<'_>> = Vec::new();
    for fact in ranked {
        let of_kind = chosen.iter().filter(|one| one.kind == fact.kind).count();
        // Half of the doubtful results are useless to readers; a session without any is worse.
        let is_spare = fact.kind == FactKind::Outcome
            && !stands_alone(fact)
            && chosen.len() >= SPARE_MIN
            && !work.only_results.iter().any(|only| std::ptr::eq(*only, fact));
        if chosen.len() >= bullets_max || of_kind > rank_kind(fact.kind).1 || is_spare {
            continue;
        }
        let states = Statement::new(&fact.text);
        let repeats = stated.iter().any(|one| one.is_similar(&states))
            || fact.kind == FactKind::PullRequest && heading.is_similar(&states);
        if !repeats {
            chosen.push(fact);
            stated.push(states);
            // A decision that is the result of a request is told once.
            let result = fact.text.split_once(QUESTION_END).map(|(_, result)| result);
            stated.extend(result.map(Statement::new));
        }
    }
    // Always show open work, even if that displaces another bullet.
    if let Some(open) = open.filter(|open| !chosen.iter().any(|fact| fact.kind == open.kind)) {
        chosen.truncate(bullets_max - 1);
        chosen.push(open);
    }
    let texts: Vec<String> = chosen.iter().map(|fact| fact.text.clone()).collect();
    chosen.retain(|fact| {
        fact.kind != FactKind::Commit || !is_told_elsewhere(&fact.text, title, &texts)
    });
    chosen.sort_by_key(|fact| (fact.kind == FactKind::Open, fact.at));
    chosen
        .into_iter()
        .map(|fact| build_bullet(&label_fact(fact.kind, &fact.text), fact.grips().to_vec()))
        .collect()
}

/// Describes a piece of work by one statement: its commit, plan or pull request, or else
/// its weightiest conclusion. Two statements of different turns are never joined.
fn describe_one(work: &MergedWork<'_>, page: &str, level: Level) -> SummaryBullet {
    let Some(title) = work.best_title() else { return build_bullet("", Vec::new()) };
    let outcome = work.facts_of(FactKind::Outcome).filter(|fact| fact.weight > 2);
    let outcome = outcome.max_by_key(|fact| (fact.weight, fact.at));
    let heaviest = outcome.map_or(0, |outcome| outcome.weight);
    if let Some(answer) = find_answer(work, title).filter(|fact| fact.weight + 5 >= heaviest) {
        return build_bullet(&answer.text, [title.grips(), answer.grips()].concat());
    }
    // A commit that names the page needs no second line if its work has further results.
    let yields_to_outcome = title.weight < FROM_REBASE || page.contains(&title.text);
    if let Some(outcome) = outcome.filter(|_| yields_to_outcome) {
        // Above the day, a result alone is unclear without its request.
        let names_work = level != Level::Day
            && !page.contains(&title.text)
            && !outcome.text.contains(QUESTION_END)
            && !is_similar(&outcome.text, &title.text);
        let text = if names_work {
            format!("{}: {}", title.text.trim_end_matches(['.', ':', '…']), outcome.text)
        } else {
            outcome.text.clone()
        };
        let named = if names_work { title.grips() } else { &[] };
        return build_bullet(&text, [named, outcome.grips()].concat());
    }
    // The page's title again would say nothing.
    let is_own = |commit: &&Fact| !page.contains(subject_of_commit(commit));
    if level == Level::Day
        && page.contains(&title.text)
        && work.facts_of(FactKind::PullRequest).next().is_none()
        && let Some(commit) = work.facts_of(FactKind::Commit).rfind(is_own)
    {
        return build_bullet(&label_fact(FactKind::Commit, &commit.text), commit.grips().to_vec());
    }
    let mut grips = title.grips().to_vec();
    let mut pull_name = String::new();
    if let Some(commit) = work.facts_of(FactKind::Commit).next_back() {
        grips.extend(commit.grips().iter().cloned());
    }
    if let Some(pull) = work.facts_of(FactKind::PullRequest).next_back() {
        let name = pull.text.split(": ").next().unwrap_or_default();
        // A title that names another one is about that.
        if !title.text.contains("PR #") && !title.text.contains(name) {
            pull_name = format!(
                " ({})",
                name.replace("Opened PR", "opened PR").replace("Merged PR", "merged PR")
            );
            grips.extend(pull.grips().iter().cloned());
        }
    }
    build_bullet(&format!("{}{pull_name}", title.text), grips)
}

fn subject_of_commit(commit: &Fact) -> &str {
    commit.text.rsplit_once(" (").map_or(commit.text.as_str(), |(subject, _)| subject)
}

/// The result that is shown together with the request of the title.
fn find_answer<'a>(work: &MergedWork<'a>, title: &Fact) -> Option<&'a Fact> {
    let answers_title = |fact: &&Fact| {
        let request = fact.text.split_once(QUESTION_END).map(|(request, _)| request);
        request.is_some_and(|request| repeats_request(&title.text, request))
    };
    let mut results = work.facts_of(FactKind::Outcome).filter(|fact| fact.weight > 2);
    results.find(answers_title).filter(|_| is_from_conversation(title.weight))
}

/// One bullet per month of a year: what it was about.
fn describe_months(months: &[Node]) -> Vec<SummaryBullet> {
    months
        .iter()
        .filter(|month| !month.work.is_empty())
        .map(|month| {
            let name = month.id.period().map(|period| period.title()).unwrap_or_default();
            // Not the commits: some are amended, squashed or made by hand.
            let sessions = count_noun(month.session_count, "session", "sessions");
            let mut named: Vec<(Statement<'_>, &Fact)> = Vec::new();
            for work in &month.work {
                let title = find_work_title(work).filter(|fact| !fact.text.is_empty());
                let Some(title) = title.filter(|_| named.len() < MONTH_WORK_MAX) else { continue };
                let states = Statement::new(&title.text);
                let facts: Vec<&Fact> = work.facts.iter().collect();
                if !named.iter().any(|(other, _)| repeats_statement(other, &states, &facts)) {
                    named.push((states, title));
                }
            }
            let titles: Vec<&str> = named.iter().map(|(title, _)| title.text).collect();
            let grips = named.iter().filter_map(|(_, fact)| fact.grips().first().cloned());
            let mut grips: Vec<GripId> = grips.collect();
            // Titles alone would only repeat that of the page.
            let outcome = match month.work.as_slice() {
                [only] => find_work_outcome(only),
                _ => None,
            };
            let titles = titles.join("; ");
            let about = match outcome {
                Some((fact, text)) if titles.is_empty() => {
                    grips.extend(fact.grips().iter().cloned());
                    text.to_owned()
                }
                Some((fact, text)) => {
                    grips.extend(fact.grips().iter().cloned());
                    match titles.ends_with(['.', '!', '?', '…', '。']) {
                        true => format!("{titles} {text}"),
                        false => format!("{titles}. {text}"),
                    }
                }
                None => titles,
            };
            build_bullet(&format!("{name} ({sessions}): {about}"), grips)
        })
        .collect()
}

fn build_bullet(text: &str, grips: Vec<GripId>) -> SummaryBullet {
    SummaryBullet { text: truncate_words(text, BULLET_CHARS_MAX), support: Support::Grips(grips) }
}

/// Keywords by the weight of the nodes that have them.
fn top_keywords(children: &[Node]) -> Vec<String> {
    let mut found: BTreeMap<String, (u64, usize, &str)> = BTreeMap::new();
    for (at, child) in children.iter().enumerate() {
        let heavy = 10 + child.events.min(400);
        for (position, word) in child.keywords.iter().take(KEYWORDS_MAX).enumerate() {
            let share = heavy * u64::try_from(KEYWORDS_MAX + 3 - position).unwrap_or(1);
            found.entry(word.to_lowercase()).or_insert((0, at, word)).0 += share;
        }
    }
    let mut ranked: Vec<(u64, usize, &str)> = found.into_values().collect();
    ranked.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)).then_with(|| a.2.cmp(b.2)));
    ranked.into_iter().take(KEYWORDS_MAX).map(|(.., word)| word.to_owned()).collect()
}
