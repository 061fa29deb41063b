//! Decides whether an event is new, and assigns its id.
//!
//! A fixed identity is a single id, stored or not. Repeating words have one id per occurrence, assigned
//! in order; a report within `DUPLICATE_WINDOW_MS` of a stored occurrence is a duplicate of it. Events
//! arrive in any order of time, so every occurrence must be considered:
//!
//! - the first few are checked one by one, which is a single lookup for new words;
//! - later ones are also written to `sightings` (key.rs) and found there by time. The next free
//!   one is found by exponential and binary search, because assigned occurrences have no gaps.
//!
//! The ten-thousandth "continue" of a session thus takes some thirty lookups, not ten thousand.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use tome_model::{EventId, Identity, Millis, limits::DUPLICATE_WINDOW_MS};

use crate::limits::{OCCURRENCES_MAX, OCCURRENCES_PROBED};
use crate::{Family, KeyRange, KeyValue, LedgerError, ScanDirection, key};

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Resolution {
    /// New, with this id. Late occurrences of words also get an entry in `sightings`.
    New { id: EventId, sighting: Option<u32> },
    /// Already stored.
    Duplicate { id: EventId },
}

/// Events in the batch that is not written yet.
#[derive(Debug, Default)]
pub(crate) struct PendingEvents {
    ids: HashMap<EventId, Millis>,
    sightings: BTreeMap<Vec<u8>, u32>,
}

impl PendingEvents {
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

/// Resolves identities against the store and the pending batch.
pub(crate) struct IdentityResolver<'a> {
    pub(crate) kv: &'a dyn KeyValue,
    pub(crate) pending: &'a PendingEvents,
}

impl IdentityResolver<'_> {
    pub(crate) fn resolve(
        &self,
        identity: &Identity,
        at: Millis,
    ) -> Result<Resolution, LedgerError> {
        match identity {
            Identity::Fixed(id) => Ok(match self.find_time(id)? {
                Some(_) => Resolution::Duplicate { id: id.clone() },
                None => Resolution::New { id: id.clone(), sighting: None },
            }),
            Identity::ByText(words) => self.resolve_words(identity, words, at),
        }
    }

    fn resolve_words(
        &self,
        identity: &Identity,
        words: &str,
        at: Millis,
    ) -> Result<Resolution, LedgerError> {
        for occurrence in 0..OCCURRENCES_PROBED {
            let id = identity.event_id(occurrence);
            match self.find_time(&id)? {
                None => return Ok(Resolution::New { id, sighting: None }),
                Some(then) if then.distance_ms(at) <= DUPLICATE_WINDOW_MS => {
                    return Ok(Resolution::Duplicate { id });
                }
                Some(_) => {}
            }
        }
        if let Some(occurrence) = self.find_occurrence_near(words, at)? {
            let id = identity.event_id(occurrence);
            return Ok(Resolution::Duplicate { id });
        }
        let occurrence = self.find_free_occurrence(identity)?;
        Ok(Resolution::New { id: identity.event_id(occurrence), sighting: Some(occurrence) })
    }

    /// Returns the time of the event with this id, if it is stored or pending.
    fn find_time(&self, id: &EventId) -> Result<Option<Millis>, LedgerError> {
        if let Some(at) = self.pending.ids.get(id) {
            return Ok(Some(*at));
        }
        let name = id.as_str().as_bytes();
        match self.kv.get(Family::Ids, name).map_err(LedgerError::storage(self.kv.path()))? {
            Some(bytes) => Ok(Some(key::decode_id_value(name, &bytes)?.0)),
            None => Ok(None),
        }
    }

    /// Returns the first late occurrence within `DUPLICATE_WINDOW_MS`, stored or pending, so that the
    /// result does not depend on batching. There are at most two, because occurrences are further
    /// apart than that.
    fn find_occurrence_near(&self, words: &str, at: Millis) -> Result<Option<u32>, LedgerError> {
        let first = key::sighting_key(words, Millis(at.0.saturating_sub(DUPLICATE_WINDOW_MS)));
        let last = key::sighting_key(words, Millis(at.0.saturating_add(DUPLICATE_WINDOW_MS)));
        let pending = self.pending.sightings.range(first.clone()..=last.clone());
        let mut seen = pending.map(|(_, occurrence)| *occurrence).min();
        let span = KeyRange { from: Bound::Included(first), to: Bound::Included(last) };
        for found in self.kv.scan(Family::Sightings, span, ScanDirection::Forward) {
            let (key, bytes) = found.map_err(LedgerError::storage(self.kv.path()))?;
            let occurrence = key::decode_occurrence(&key, &bytes)?;
            seen = Some(seen.map_or(occurrence, |before| before.min(occurrence)));
        }
        Ok(seen)
    }

    /// Returns the next unassigned occurrence. The first few are known to be assigned.
    fn find_free_occurrence(&self, identity: &Identity) -> Result<u32, LedgerError> {
        let mut taken = OCCURRENCES_PROBED - 1;
        let mut free = OCCURRENCES_PROBED;
        while self.find_time(&identity.event_id(free))?.is_some() {
            taken = free;
            free = free.saturating_mul(2);
            if free > OCCURRENCES_MAX {
                return Err(LedgerError::Rejected {
                    name: identity.event_id(0).to_string(),
                    problem: format!("its words were repeated more than {OCCURRENCES_MAX} times"),
                });
            }
        }
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2;
            match self.find_time(&identity.event_id(middle))? {
                Some(_) => taken = middle,
                None => free = middle,
            }
        }
        Ok(free)
    }
}
