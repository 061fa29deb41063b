//! Drops commits that a later segment took back: a segment is written before it is known that its commit will be
//! amended, reset or reverted.

use std::collections::BTreeSet;

use tome_model::{Fact, FactKind, Work};

use crate::extract::git::undone::REVERTED;

/// The place of a fact: of its piece of work, and within it.
pub(crate) type FactPlace = (usize, usize);

/// Finds the commits that later work of the same session and branch took back, the titles made of them, and the
/// facts that say so. The work is in order of time.
pub(crate) fn find_undone_facts(work: &[&Work]) -> BTreeSet<FactPlace> {
    let mut found: BTreeSet<FactPlace> = BTreeSet::new();
    for (at, later) in work.iter().enumerate() {
        let before = work.get(..at).unwrap_or_default();
        for (place, fact) in later.facts.iter().enumerate() {
            if fact.kind != FactKind::UndoneCommit {
                continue;
            }
            let Some((commit_at, commit_place, commit)) = find_commit(before, later, fact, &found)
            else {
                continue;
            };
            found.extend([(at, place), (commit_at, commit_place)]);
            // A commit that was amended under the same subject is still what the title says.
            let is_kept =
                later.facts_of(FactKind::Commit).any(|new| subject(new) == subject(commit));
            let own = before.get(commit_at).map_or(&[][..], |work| &work.facts);
            let is_title = |fact: &Fact| {
                let shares = || fact.grips().iter().any(|grip| commit.grips().contains(grip));
                fact.kind == FactKind::Title && !is_kept && shares()
            };
            let titles = own.iter().enumerate().filter(|(_, fact)| is_title(fact));
            found.extend(titles.map(|(place, _)| (commit_at, place)));
        }
    }
    found
}

fn subject(commit: &Fact) -> &str {
    commit.text.rsplit_once(" (").map_or(commit.text.as_str(), |(subject, _)| subject)
}

/// Finds the commit that a fact takes back: the last one, or the last one with its subject.
fn find_commit<'w>(
    before: &[&'w Work],
    later: &Work,
    fact: &Fact,
    gone: &BTreeSet<FactPlace>,
) -> Option<(usize, usize, &'w Fact)> {
    let reverted = fact.text.strip_prefix(REVERTED);
    let is_meant = |commit: &Fact| {
        commit.kind == FactKind::Commit
            && reverted.is_none_or(|reverted| subject(commit) == reverted)
    };
    before.iter().enumerate().rev().find_map(|(at, work)| {
        let is_same = work.branch == later.branch
            && work.sessions.iter().any(|session| later.sessions.contains(session));
        let mut facts = work.facts.iter().enumerate().rev().filter(|_| is_same);
        let commit = facts.find(|(place, fact)| is_meant(fact) && !gone.contains(&(at, *place)));
        commit.map(|(place, commit)| (at, place, commit))
    })
}
