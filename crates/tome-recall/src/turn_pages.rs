//! Pages of turns: the hits of one turn count once, and no turn is on two pages.

use std::collections::{HashMap, HashSet};

use tome_ledger::{EventRange, Ledger, OrderKey, ScanDirection};
use tome_model::SessionId;

use super::Recall;
use super::candidate::{SourceKind, source_kind};
use super::candidate_pool::CandidatePool;
use super::hit_turn::EVENTS_MAX;
use super::pack::{ChosenHit, HitPage, choose_page};
use super::plan::RecallPlan;
use super::rank::RankedCandidate;
use crate::RecallError;

/// Hits listed of a turn.
const TURN_HITS_MAX: usize = 4;
/// Hits whose turns are looked up. Every further one counts as a turn of its own.
const LOOKUPS_MAX: usize = 150;

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
    ) -> Result<HitPage, RecallError> {
        let mut turns: Vec<Vec<ChosenHit>> = Vec::new();
        let mut positions: HashMap<TurnId, usize> = HashMap::new();
        let mut listed = HashSet::new();
        let mut known = KnownTurns::default();
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
                    Some(found) => self.find_turn(found, pool, &mut known)?,
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
        let unread = ranked.len().saturating_sub(listed.len());
        let more = turns.len().saturating_sub(skip + plan.hits_max) + unread;
        let chosen = turns.into_iter().skip(skip).take(plan.hits_max).flatten().collect();
        Ok(HitPage { chosen, more })
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
struct KnownTurns {
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
