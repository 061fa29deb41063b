//! Whether an event is new, and which id it gets.
//!
//! A fixed identity is one id: stored or not. Words that repeat have the ids of their first,
//! second, third … occurrence, which are taken in that order; a sighting within
//! `SAME_SIGHTING_MS` of any stored occurrence is that occurrence seen again. Events arrive in any
//! order of time, so every occurrence has to be considered:
//!
//! - the first few are looked at one by one, which is one lookup for words said for the first time;
//! - the others are found by time in `sightings`, where they are written as well (key.rs), and the
//!   next free occurrence by doubling and halving, since the taken ones have no gaps.
//!
//! So the ten-thousandth "continue" of a session costs some thirty lookups, not ten thousand.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use tome_model::{EventId, Identity, Millis, limits::SAME_SIGHTING_MS};

use crate::limits::{OCCURRENCES_MAX, OCCURRENCES_PROBED};
use crate::{Direction, Family, KeyValue, KvError, LedgerError, Span, key};

/// What an event turned out to be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// New, under this id. Late occurrences of words leave a sighting behind.
    New { id: EventId, sighting: Option<u32> },
    /// Stored before.
    Known { id: EventId },
}

/// What a batch that is not yet written adds to the store.
#[derive(Debug, Default)]
pub(crate) struct Pending {
    ids: HashMap<EventId, Millis>,
    sightings: BTreeMap<Vec<u8>, u32>,
}

impl Pending {
    pub(crate) fn add(&mut self, id: EventId, at: Millis) {
        self.ids.insert(id, at);
    }

    pub(crate) fn add_sighting(&mut self, key: Vec<u8>, occurrence: u32) {
        self.sightings.insert(key, occurrence);
    }

    pub(crate) fn clear(&mut self) {
        self.ids.clear();
        self.sightings.clear();
    }
}

/// Decides what an event is, from the store and from what is about to be written to it.
pub(crate) struct Resolver<'a> {
    pub(crate) kv: &'a dyn KeyValue,
    pub(crate) pending: &'a Pending,
}

impl Resolver<'_> {
    pub(crate) fn resolve(&self, identity: &Identity, at: Millis) -> Result<Resolved, LedgerError> {
        match identity {
            Identity::Fixed(id) => Ok(match self.stored_at(id)? {
                Some(_) => Resolved::Known { id: id.clone() },
                None => Resolved::New { id: id.clone(), sighting: None },
            }),
            Identity::Repeats(words) => self.resolve_words(identity, words, at),
        }
    }

    fn resolve_words(
        &self,
        identity: &Identity,
        words: &str,
        at: Millis,
    ) -> Result<Resolved, LedgerError> {
        for occurrence in 0..OCCURRENCES_PROBED {
            let id = identity.id(occurrence);
            match self.stored_at(&id)? {
                None => return Ok(Resolved::New { id, sighting: None }),
                Some(then) if then.distance_ms(at) <= SAME_SIGHTING_MS => {
                    return Ok(Resolved::Known { id });
                }
                Some(_) => {}
            }
        }
        if let Some(occurrence) = self.seen_near(words, at)? {
            let id = identity.id(occurrence);
            return Ok(Resolved::Known { id });
        }
        let occurrence = self.next_free(identity)?;
        Ok(Resolved::New { id: identity.id(occurrence), sighting: Some(occurrence) })
    }

    /// When the event of this id happened, if it is known.
    fn stored_at(&self, id: &EventId) -> Result<Option<Millis>, LedgerError> {
        if let Some(at) = self.pending.ids.get(id) {
            return Ok(Some(*at));
        }
        let name = id.as_str().as_bytes();
        match self.kv.get(Family::Ids, name).map_err(|e| self.storage(e))? {
            Some(bytes) => Ok(Some(key::read_id(name, &bytes)?.0)),
            None => Ok(None),
        }
    }

    /// The first of the late occurrences of words that were seen at about this time, whether they
    /// are stored or pending: so the answer does not depend on how events were batched. Occurrences
    /// lie further apart than a sighting, so there are two of them at most.
    fn seen_near(&self, words: &str, at: Millis) -> Result<Option<u32>, LedgerError> {
        let first = key::sighting(words, Millis(at.0.saturating_sub(SAME_SIGHTING_MS)));
        let last = key::sighting(words, Millis(at.0.saturating_add(SAME_SIGHTING_MS)));
        let pending = self.pending.sightings.range(first.clone()..=last.clone());
        let mut seen = pending.map(|(_, occurrence)| *occurrence).min();
        let span = Span { from: Bound::Included(first), to: Bound::Included(last) };
        for found in self.kv.scan(Family::Sightings, span, Direction::Forward) {
            let (key, bytes) = found.map_err(|e| self.storage(e))?;
            let occurrence = key::read_occurrence(&key, &bytes)?;
            seen = Some(seen.map_or(occurrence, |before| before.min(occurrence)));
        }
        Ok(seen)
    }

    /// The next occurrence that is not taken. All of the first few are.
    fn next_free(&self, identity: &Identity) -> Result<u32, LedgerError> {
        let mut taken = OCCURRENCES_PROBED - 1;
        let mut free = OCCURRENCES_PROBED;
        while self.stored_at(&identity.id(free))?.is_some() {
            taken = free;
            free = free.saturating_mul(2);
            if free > OCCURRENCES_MAX {
                return Err(LedgerError::Rejected {
                    name: identity.id(0).to_string(),
                    problem: format!("its words were said more than {OCCURRENCES_MAX} times"),
                });
            }
        }
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2;
            match self.stored_at(&identity.id(middle))? {
                Some(_) => taken = middle,
                None => free = middle,
            }
        }
        Ok(free)
    }

    fn storage(&self, source: KvError) -> LedgerError {
        LedgerError::Storage { path: self.kv.path().to_owned(), source }
    }
}
