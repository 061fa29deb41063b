//! The title whose words recur in the other facts of a day.

use std::cmp::Reverse;

use tome_model::{Fact, FactKind};

use crate::extract::facts::draft_fact::QUESTION_END;
use crate::extract::language::similarity::Statement;
use crate::extract::pages::title_weight::{FROM_REBASE, weigh_conversation, weigh_for_day};
use crate::extract::pages::work::repeats_request;

/// A title from the conversation of less quality names no work.
const QUALITY_MIN: u32 = 4;

/// Finds the title that names more of a day's work than the weightiest one, which may be that of a side question.
/// Plans, pull requests and commits name their work themselves.
pub(crate) fn find_recurrent_title<'a>(all: &[&'a Fact]) -> Option<&'a Fact> {
    const TITLES_MAX: usize = 12;
    const FACTS_MAX: usize = 200;
    const FACTS_MIN: usize = 4;
    const SHARED_MIN: usize = 2;
    /// Percent of the facts that it has to name more.
    const LEAD_PERCENT_MIN: usize = 20;
    let of_title = |fact: &&Fact| fact.kind == FactKind::Title;
    let mut titles: Vec<&Fact> = all.iter().copied().filter(of_title).collect();
    titles.sort_by_key(|fact| (Reverse(weigh_for_day(fact.weight)), fact.at));
    titles.truncate(TITLES_MAX);
    let best = titles.first().filter(|best| weigh_for_day(best.weight) < FROM_REBASE)?;
    if titles.len() < 2 {
        return None;
    }
    let facts = all.iter().filter(|fact| {
        !matches!(
            fact.kind,
            FactKind::Check | FactKind::Change | FactKind::Problem | FactKind::Open
        )
    });
    let facts: Vec<Statement<'_>> =
        facts.take(FACTS_MAX).map(|fact| Statement::new(&fact.text)).collect();
    let rate = |title: &Fact| {
        let states = Statement::new(&title.text);
        let is_other = |fact: &&Statement<'_>| {
            let request = fact.text.split_once(QUESTION_END).map_or(fact.text, |(one, _)| one);
            !repeats_request(&title.text, request)
        };
        let others = facts.iter().filter(is_other);
        let (named, all) = others.fold((0, 0), |(named, all), fact| {
            let shared = fact.terms.count_shared(&states.terms);
            (named + usize::from(shared >= SHARED_MIN), all + 1)
        });
        if all < FACTS_MIN { 0 } else { named * 100 / all }
    };
    let least = rate(best) + LEAD_PERCENT_MIN;
    let stands = |title: &&&Fact| title.weight >= weigh_conversation(QUALITY_MIN);
    let rated = titles.iter().skip(1).filter(stands).map(|title| (rate(title), *title));
    let (most, title) = rated.reduce(|best, one| if one.0 > best.0 { one } else { best })?;
    (most >= least).then_some(title)
}
