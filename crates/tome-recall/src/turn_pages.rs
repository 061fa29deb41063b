//! Pages of turns: the hits of one turn count once, and no turn is on two pages.

use std::collections::{HashMap, HashSet};
use std::ops::ControlFlow;

use tome_ledger::{EventRange, Ledger, OrderKey, ScanDirection};
use tome_model::{EventKind, SessionId};

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
/// Hits that are grouped by turn, if there are more turns than are listed.
const GROUPED_HITS_MAX: usize = 200;

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
        let shared = SharedSessions::of(ranked);
        loop {
            let page = choose_page(ranked, plan, &listed);
            let is_enough = listed.len() >= GROUPED_HITS_MAX && turns.len() > skip + plan.hits_max;
            if page.is_empty() || is_enough {
                break;
            }
            for mut hit in page {
                listed.insert(hit.candidate_index());
                if repeats_turns(ranked, hit.candidate_index(), &listed) {
                    continue;
                }
                let turn = match ranked.get(hit.candidate_index()) {
                    Some(found) if shared.contain(found) => self.find_turn(found, pool, known)?,
                    _ => None,
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
        let messages = ranked.iter().enumerate().filter(|(_, hit)| is_in_messages(hit));
        let best: Vec<(usize, &RankedCandidate)> = messages.take(RATED_HITS_MAX).collect();
        let shared = SharedSessions::of(best.iter().map(|(_, found)| *found));
        for (at, found) in best {
            let is_shared = shared.contain(found);
            let turn = if is_shared { self.find_turn(found, pool, known)? } else { None };
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
        let parts = known.sessions.entry((set_index, session.clone())).or_default();
        let turn_id = |part: &TurnBeginning| part.prompt.map(|prompt| (set_index, prompt));
        if let Some(part) = parts.iter().find(|part| part.contains(order_key)) {
            return Ok(turn_id(part));
        }
        if known.lookups >= LOOKUPS_MAX {
            return Ok(None);
        }
        known.lookups += 1;
        let Some(set) = pool.sets.get(set_index) else { return Ok(None) };
        let Some(ledger) = set.open(&self.indexer)?.ledger else { return Ok(None) };
        let part = TurnBeginning::read(&ledger, session, order_key, parts)?;
        parts.push(part);
        Ok(turn_id(&part))
    }
}

/// The sessions whose turns have to be looked up: several hits are in them, so two may be in one turn. The turns of
/// the others are told apart by their sessions.
struct SharedSessions<'a>(HashSet<(usize, &'a str)>);

impl<'a> SharedSessions<'a> {
    fn of(hits: impl IntoIterator<Item = &'a RankedCandidate>) -> Self {
        let mut seen = HashSet::new();
        Self(
            hits.into_iter()
                .filter_map(session_of_message)
                .filter(|one| !seen.insert(*one))
                .collect(),
        )
    }

    fn contain(&self, found: &RankedCandidate) -> bool {
        session_of_message(found).is_some_and(|session| self.0.contains(&session))
    }
}

/// The index set and the session of a message.
fn session_of_message(found: &RankedCandidate) -> Option<(usize, &str)> {
    let session = found.candidate.body.as_ref()?.session.as_deref()?;
    is_in_messages(found).then_some((found.candidate.set_index, session))
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
    sessions: HashMap<(usize, String), Vec<TurnBeginning>>,
    lookups: usize,
}

impl KnownTurns {
    /// How many turns were looked up.
    pub(super) fn lookups(&self) -> usize {
        self.lookups
    }
}

/// The events of a session from the beginning of a turn to one of its events.
#[derive(Clone, Copy)]
struct TurnBeginning {
    first: OrderKey,
    last: OrderKey,
    /// Number of the prompt, unless it is too far back.
    prompt: Option<u64>,
}

impl TurnBeginning {
    fn contains(&self, order_key: OrderKey) -> bool {
        (self.first..=self.last).contains(&order_key)
    }

    /// Reads back from an event to the prompt, or to a part that was read before.
    fn read(
        ledger: &Ledger,
        session: &str,
        last: OrderKey,
        known: &[TurnBeginning],
    ) -> Result<Self, RecallError> {
        if ledger.event_by_order(last)?.is_some_and(|event| tome_contents::is_prompt(&event)) {
            return Ok(Self { first: last, last, prompt: Some(last.seq) });
        }
        let range = EventRange {
            session: Some(SessionId::parse(session)?),
            after: Some(last),
            direction: ScanDirection::Backward,
            ..EventRange::default()
        };
        let (mut found, mut read) = (None, 0);
        ledger.visit_events(&range, |position, event| {
            let order_key = position.order_key();
            read += 1;
            let part = known.iter().find(|part| part.contains(order_key));
            let is_prompt = event.kind == EventKind::UserMessage
                && tome_contents::is_prompt(&event.to_event()?);
            found = match part {
                Some(part) => part.prompt.map(|prompt| (part.first, prompt)),
                None => is_prompt.then_some((order_key, order_key.seq)),
            };
            let is_end = found.is_some() || part.is_some() || read >= EVENTS_MAX;
            Ok(if is_end { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        Ok(match found {
            Some((first, prompt)) => Self { first, last, prompt: Some(prompt) },
            None => Self { first: last, last, prompt: None },
        })
    }
}
