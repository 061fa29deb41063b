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

use crate::limits::{DELIVERIES_PRUNE_BATCH, DELIVERIES_PRUNE_INTERVAL, DELIVERIES_TTL_MS};
use crate::{Family, KeyRange, KeyValue, KvBatch, LedgerError, ScanDirection};

pub(crate) fn delivery_key(part: DeliveryPart) -> Vec<u8> {
    [&part.id.to_bytes()[..], &part.part.to_be_bytes()].concat()
}

/// Decodes the event id of an entry.
pub(crate) fn decode_event_id(key: &[u8], value: &[u8]) -> Result<EventId, LedgerError> {
    let corrupt = |problem: String| LedgerError::corrupt(Family::Deliveries, key, problem);
    let text = std::str::from_utf8(value).map_err(|error| corrupt(error.to_string()))?;
    EventId::parse(text).map_err(|error| corrupt(error.to_string()))
}

/// The deliveries of the current batch, and the state of pruning.
#[derive(Debug, Default)]
pub(crate) struct DeliveryIndex {
    pending: HashMap<DeliveryPart, EventId>,
    since_pruning: Option<u64>,
    /// Everything before this key has been removed since the store was opened. Pruning resumes here,
    /// because scanning tombstones costs as much as scanning live keys.
    pruned_to: Option<Vec<u8>>,
}

impl DeliveryIndex {
    /// Returns the event that this part of a delivery brought before.
    pub(crate) fn find(
        &self,
        kv: &dyn KeyValue,
        part: DeliveryPart,
    ) -> Result<Option<EventId>, LedgerError> {
        if let Some(id) = self.pending.get(&part) {
            return Ok(Some(id.clone()));
        }
        let key = delivery_key(part);
        let value = kv.get(Family::Deliveries, &key).map_err(LedgerError::storage(kv.path()))?;
        value.map(|value| decode_event_id(&key, &value)).transpose()
    }

    /// Adds an entry for the event of a delivery.
    pub(crate) fn insert(&mut self, batch: &mut KvBatch, part: DeliveryPart, id: &EventId) {
        batch.put(Family::Deliveries, &delivery_key(part), id.as_str().as_bytes());
        self.pending.insert(part, id.clone());
        self.since_pruning = self.since_pruning.map(|count| count + 1);
    }

    /// Clears the pending entries after their batch was written or has failed.
    pub(crate) fn clear_pending(&mut self) {
        self.pending.clear();
    }

    /// Removes a limited number of expired entries, once every `DELIVERIES_PRUNE_INTERVAL` additions.
    pub(crate) fn prune(
        &mut self,
        kv: &dyn KeyValue,
        batch: &mut KvBatch,
        now: Millis,
    ) -> Result<(), LedgerError> {
        if self.since_pruning.is_some_and(|count| count < DELIVERIES_PRUNE_INTERVAL) {
            return Ok(());
        }
        self.since_pruning = Some(0);
        let kept_from = DeliveryId::first_at(Millis(now.0.saturating_sub(DELIVERIES_TTL_MS)));
        let from = self.pruned_to.clone().map_or(Bound::Unbounded, Bound::Included);
        let span = KeyRange { from, to: Bound::Excluded(kept_from.to_bytes().to_vec()) };
        let old = kv.scan(Family::Deliveries, span, ScanDirection::Forward);
        for pair in old.take(DELIVERIES_PRUNE_BATCH) {
            let (key, _) = pair.map_err(LedgerError::storage(kv.path()))?;
            batch.delete(Family::Deliveries, &key);
            self.pruned_to = Some(key);
        }
        Ok(())
    }
}

/// Whether any part of a delivery is stored.
pub(crate) fn has_delivery(kv: &dyn KeyValue, id: DeliveryId) -> Result<bool, LedgerError> {
    let span = KeyRange::prefix(&id.to_bytes());
    let found = kv.scan(Family::Deliveries, span, ScanDirection::Forward).next();
    found.transpose().map(|found| found.is_some()).map_err(LedgerError::storage(kv.path()))
}
