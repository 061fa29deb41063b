//! Pages of turns: the hits of one turn count once, and no turn is on two pages.

use std::collections::{HashMap, HashSet};

use tome_ledger::{EventRange, Ledger, OrderKey, ScanDirection};
use tome_model::SessionId;

use super::candidate::{SourceKind, source_kind};
use super::candidate_pool::CandidatePool;
use super::confidence::TurnFeatures;
use super::fuse::round_score;
use super::hit_turn::EVENTS_MAX;
use super::pack::{ChosenHit, HitPage, choose_page};
use super::plan::RecallPlan;
use super::rank::RankedCandidate;
use super::{Recall, Tier};
use crate::RecallError;

/// Hits listed of a turn.
const TURN_HITS_MAX: usize = 4;
/// Hits whose turns are looked up. Every further one counts as a turn of its own.
const LOOKUPS_MAX: usize = 150;

/// How much each further hit of a turn adds to the score of its best one. A turn that matches in several places is
/// more likely to be about the query than one that does so once.
const FURTHER_HIT_WEIGHT: f64 = 0.1;
/// Best hits that are rated by their turns.
const RATED_HITS_MAX: usize = 12;
/// Turns that are ordered by the scores of all of their hits.
const ORDERED_TURNS_MAX: usize = 40;

/// The index set and the number of the prompt of a turn.
type TurnId = (usize, u64);

impl Recall {
    /// Chooses the hits of the turns to list, turn by turn, after the first `skip` turns.
    pub(super) fn choose_turns(
        &self,
        ranked: &[RankedCandidate],
        pool: &CandidatePool,
        plan: &RecallPlan,
        skip: usize,
        known: &mut KnownTurns,
    ) -> Result<HitPage, RecallError> {
        let mut turns: Vec<Vec<ChosenHit>> = Vec::new();
        let mut positions: HashMap<TurnId, usize> = HashMap::new();
        let mut listed = HashSet::new();
        loop {
            let page = choose_page(ranked, plan, &listed);
            let is_counted_out = known.lookups >= LOOKUPS_MAX && turns.len() > skip + plan.hits_max;
            if page.is_empty() || is_counted_out {
                break;
            }
            for mut hit in page {
                listed.insert(hit.candidate_index());
                if repeats_turns(ranked, hit.candidate_index(), &listed) {
                    continue;
                }
                let turn = match ranked.get(hit.candidate_index()) {
                    Some(found) => self.find_turn(found, pool, known)?,
                    None => None,
                };
                let position = turn.and_then(|turn| positions.get(&turn).copied());
                hit.position = position.unwrap_or(turns.len());
                match turns.get_mut(hit.position) {
                    Some(hits) if hits.len() < TURN_HITS_MAX => hits.push(hit),
                    Some(_) => {}
                    None => {
                        positions.extend(turn.map(|turn| (turn, hit.position)));
                        turns.push(vec![hit]);
                    }
                }
            }
        }
        if !plan.is_time_only() {
            order_turns(&mut turns, ranked);
        }
        let unread = ranked.len().saturating_sub(listed.len());
        let more = turns.len().saturating_sub(skip + plan.hits_max) + unread;
        let chosen = turns.into_iter().skip(skip).take(plan.hits_max).flatten().collect();
        Ok(HitPage { chosen, more })
    }

    /// Raises the confidence of the best hit of each turn to that of the turn.
    pub(super) fn rate_turns(
        &self,
        ranked: &mut [RankedCandidate],
        pool: &CandidatePool,
        known: &mut KnownTurns,
    ) -> Result<(), RecallError> {
        let mut turns: Vec<(Option<TurnId>, Vec<usize>)> = Vec::new();
        let best = ranked.iter().enumerate().filter(|(_, hit)| is_in_messages(hit));
        for (at, found) in best.take(RATED_HITS_MAX) {
            let turn = self.find_turn(found, pool, known)?;
            match turns.iter_mut().find(|(one, _)| turn.is_some() && *one == turn) {
                Some((_, hits)) => hits.push(at),
                None => turns.push((turn, vec![at])),
            }
        }
        let mut scored: Vec<(f64, Vec<usize>)> = turns
            .into_iter()
            .map(|(_, hits)| (score_turn(hits.iter().filter_map(|at| ranked.get(*at))), hits))
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        let score_at = |at: usize| scored.get(at).map_or(0.0, |(score, _)| round_score(*score));
        let (best, second) = (score_at(0), score_at(1));
        for (at, (score, hits)) in scored.iter().enumerate() {
            let features = TurnFeatures {
                score: round_score(*score),
                best,
                best_other: if at == 0 { second } else { best },
                similarity: highest_similarity(hits.iter().filter_map(|at| ranked.get(*at))),
                hits: hits.len().min(TURN_HITS_MAX),
            };
            let confidence = features.confidence();
            if let Some(hit) = hits.first().and_then(|at| ranked.get_mut(*at)) {
                hit.confidence = hit.confidence.max(confidence);
            }
        }
        Ok(())
    }

    /// Finds the turn of a message; `None` for anything else.
    fn find_turn(
        &self,
        found: &RankedCandidate,
        pool: &CandidatePool,
        known: &mut KnownTurns,
    ) -> Result<Option<TurnId>, RecallError> {
        let set_index = found.candidate.set_index;
        let Some(body) = &found.candidate.body else { return Ok(None) };
        let (Some(order_key), Some(session)) = (body.order_key(), &body.session) else {
            return Ok(None);
        };
        if let Some(prompt) = known.find(set_index, session, order_key.seq) {
            return Ok(prompt.map(|prompt| (set_index, prompt)));
        }
        if known.lookups >= LOOKUPS_MAX {
            return Ok(None);
        }
        known.lookups += 1;
        let Some(set) = pool.sets.get(set_index) else { return Ok(None) };
        let Some(ledger) = set.open(&self.indexer)?.ledger else { return Ok(None) };
        let part = read_back_to_prompt(&ledger, session, order_key)?;
        let prompt = part.prompt;
        known.parts.entry((set_index, session.clone())).or_default().push(part);
        Ok(prompt.map(|prompt| (set_index, prompt)))
    }
}

/// Orders the first turns by the scores of all of their hits. Pages and notes keep their places.
fn order_turns(turns: &mut [Vec<ChosenHit>], ranked: &[RankedCandidate]) {
    let found = |hit: &ChosenHit| ranked.get(hit.candidate_index());
    let is_message =
        |hits: &&mut Vec<ChosenHit>| hits.first().and_then(found).is_some_and(is_in_messages);
    let score = |hits: &[ChosenHit]| score_turn(hits.iter().filter_map(found));
    let mut places: Vec<&mut Vec<ChosenHit>> =
        turns.iter_mut().take(ORDERED_TURNS_MAX).filter(is_message).collect();
    let mut ordered: Vec<Vec<ChosenHit>> =
        places.iter_mut().map(|hits| std::mem::take(*hits)).collect();
    ordered.sort_by(|a, b| score(b).total_cmp(&score(a)));
    for (place, hits) in places.into_iter().zip(ordered) {
        *place = hits;
    }
    for (position, hits) in turns.iter_mut().enumerate() {
        hits.iter_mut().for_each(|hit| hit.position = position);
    }
}

/// Scores a turn by its hits, best first.
fn score_turn<'a>(hits: impl Iterator<Item = &'a RankedCandidate>) -> f64 {
    let mut scores = hits.take(TURN_HITS_MAX).map(|hit| hit.score);
    scores.next().unwrap_or(0.0) + FURTHER_HIT_WEIGHT * scores.sum::<f64>()
}

/// The highest similarity of some hits, including what their neighbors contribute; 0 if unknown.
fn highest_similarity<'a>(hits: impl Iterator<Item = &'a RankedCandidate>) -> f32 {
    let in_vectors = hits.flat_map(|hit| &hit.ranks).filter(|(tier, ..)| *tier == Tier::Vectors);
    in_vectors.fold(0.0, |highest, (.., score)| highest.max(*score))
}

fn is_in_messages(hit: &RankedCandidate) -> bool {
    source_kind(hit.candidate.source) == SourceKind::Events
}

/// Whether a hit is the page of a segment, or an excerpt, of a session of which a message is listed.
fn repeats_turns(ranked: &[RankedCandidate], at: usize, listed: &HashSet<usize>) -> bool {
    let session_of = |one: &RankedCandidate| {
        let session = one.candidate.body.as_ref()?.session.clone()?;
        Some((one.candidate.set_index, session))
    };
    let Some(found) = ranked.get(at) else { return true };
    let own = session_of(found);
    let is_message =
        |one: &&RankedCandidate| source_kind(one.candidate.source) == SourceKind::Events;
    own.is_some()
        && source_kind(found.candidate.source) == SourceKind::Contents
        && listed
            .iter()
            .filter_map(|other| ranked.get(*other))
            .filter(is_message)
            .any(|other| session_of(other) == own)
}

/// The parts of sessions that were read.
#[derive(Default)]
pub(super) struct KnownTurns {
    parts: HashMap<(usize, String), Vec<TurnBeginning>>,
    lookups: usize,
}

impl KnownTurns {
    /// Finds the prompt of an event; the outer `None` if its turn was not read.
    fn find(&self, set_index: usize, session: &str, number: u64) -> Option<Option<u64>> {
        let parts = self.parts.get(&(set_index, session.to_owned()))?;
        let part = parts.iter().find(|part| (part.first..=part.last).contains(&number))?;
        Some(part.prompt)
    }
}

/// The events of a session from the beginning of a turn to one of its events.
struct TurnBeginning {
    first: u64,
    last: u64,
    /// Number of the prompt, unless it is too far back.
    prompt: Option<u64>,
}

fn read_back_to_prompt(
    ledger: &Ledger,
    session: &str,
    order_key: OrderKey,
) -> Result<TurnBeginning, RecallError> {
    let last = order_key.seq;
    if ledger.event_by_order(order_key)?.is_some_and(|event| tome_contents::is_prompt(&event)) {
        return Ok(TurnBeginning { first: last, last, prompt: Some(last) });
    }
    let range = EventRange {
        session: Some(SessionId::parse(session)?),
        after: Some(order_key),
        direction: ScanDirection::Backward,
        ..EventRange::default()
    };
    for pair in ledger.events(&range).take(EVENTS_MAX) {
        let (position, event) = pair?;
        if tome_contents::is_prompt(&event) {
            let first = position.order_key().seq;
            return Ok(TurnBeginning { first, last, prompt: Some(first) });
        }
    }
    Ok(TurnBeginning { first: last, last, prompt: None })
}
