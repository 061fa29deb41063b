//! Remembers recent deliveries, so that one that arrives again is recognized.
//!
//! ```text
//! deliveries  delivery:16 bytes ++ part:u16be  ->  event id
//! ```
//!
//! An entry is written in the same batch as the event of its delivery. Delivery ids sort by the start
//! time of their hooks, so the oldest entries come first. Entries older than any delivery that may
//! still be under way are removed a few at a time.

use std::collections::HashMap;
use std::ops::Bound;

use tome_model::{DeliveryId, DeliveryPart, EventId, Millis};

use crate::limits::{DELIVERIES_KEPT_MS, DELIVERIES_PRUNED_EVERY, DELIVERIES_PRUNED_MAX};
use crate::{Batch, Direction, Family, KeyValue, KvError, LedgerError, Span};

/// The key of one part of a delivery.
pub(crate) fn key(part: DeliveryPart) -> Vec<u8> {
    [&part.id.to_bytes()[..], &part.part.to_be_bytes()].concat()
}

/// Decodes the event id of an entry.
pub(crate) fn read_event(key: &[u8], value: &[u8]) -> Result<EventId, LedgerError> {
    let corrupt = |problem: String| LedgerError::corrupt(Family::Deliveries, key, problem);
    let text = std::str::from_utf8(value).map_err(|error| corrupt(error.to_string()))?;
    EventId::parse(text).map_err(|error| corrupt(error.to_string()))
}

/// The deliveries of the current batch, and the state of pruning.
#[derive(Debug, Default)]
pub(crate) struct Deliveries {
    pending: HashMap<DeliveryPart, EventId>,
    since_pruning: Option<u64>,
    /// Everything before this key has been removed since the store was opened. Pruning resumes here,
    /// because scanning tombstones costs as much as scanning live keys.
    pruned_to: Option<Vec<u8>>,
}

impl Deliveries {
    /// Returns the event that this part of a delivery brought before.
    pub(crate) fn find(
        &self,
        kv: &dyn KeyValue,
        part: DeliveryPart,
    ) -> Result<Option<EventId>, LedgerError> {
        if let Some(id) = self.pending.get(&part) {
            return Ok(Some(id.clone()));
        }
        let key = key(part);
        let value = kv.get(Family::Deliveries, &key).map_err(|source| storage(kv, source))?;
        value.map(|value| read_event(&key, &value)).transpose()
    }

    /// Adds an entry for the event of a delivery.
    pub(crate) fn put(&mut self, batch: &mut Batch, part: DeliveryPart, id: &EventId) {
        batch.put(Family::Deliveries, &key(part), id.as_str().as_bytes());
        self.pending.insert(part, id.clone());
        self.since_pruning = self.since_pruning.map(|count| count + 1);
    }

    /// Clears the pending entries after their batch was written or has failed.
    pub(crate) fn clear_pending(&mut self) {
        self.pending.clear();
    }

    /// Removes a limited number of expired entries, once every `DELIVERIES_PRUNED_EVERY` additions.
    pub(crate) fn prune(
        &mut self,
        kv: &dyn KeyValue,
        batch: &mut Batch,
        now: Millis,
    ) -> Result<(), LedgerError> {
        if self.since_pruning.is_some_and(|count| count < DELIVERIES_PRUNED_EVERY) {
            return Ok(());
        }
        self.since_pruning = Some(0);
        let kept_from = DeliveryId::first_at(Millis(now.0.saturating_sub(DELIVERIES_KEPT_MS)));
        let from = self.pruned_to.clone().map_or(Bound::Unbounded, Bound::Included);
        let span = Span { from, to: Bound::Excluded(kept_from.to_bytes().to_vec()) };
        let old = kv.scan(Family::Deliveries, span, Direction::Forward);
        for pair in old.take(DELIVERIES_PRUNED_MAX) {
            let (key, _) = pair.map_err(|source| storage(kv, source))?;
            batch.delete(Family::Deliveries, &key);
            self.pruned_to = Some(key);
        }
        Ok(())
    }
}

/// Whether any part of a delivery is stored.
pub(crate) fn has_arrived(kv: &dyn KeyValue, id: DeliveryId) -> Result<bool, LedgerError> {
    let span = Span::prefix(&id.to_bytes());
    let found = kv.scan(Family::Deliveries, span, Direction::Forward).next();
    found.transpose().map(|found| found.is_some()).map_err(|source| storage(kv, source))
}

fn storage(kv: &dyn KeyValue, source: KvError) -> LedgerError {
    LedgerError::Storage { path: kv.path().to_owned(), source }
}
