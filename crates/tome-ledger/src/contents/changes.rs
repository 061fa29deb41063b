//! The log of changed nodes. Consumers follow it with a cursor, as the outbox for events.
//!
//! ```text
//! toc_nodes   0xFF ++ change:u64be                     ->  project ++ 0x00 ++ node id
//!             0xFE ++ project ++ 0x00 ++ node id       ->  change:u64be      latest change of the node
//!             0xFD                                     ->  change:u64be      highest reserved number
//! ```
//!
//! Every commit that writes, replaces or removes a node assigns it the next number and deletes its
//! previous row. So there is one row per node, also for removed ones. Nodes written before this log
//! existed have no row until they change.
//!
//! Commits of projections are not synced, so power loss may remove changes that a consumer has already
//! seen. To avoid reusing their numbers, each opening of a store reserves and syncs a block of numbers before it
//! assigns the first one.
//!
//! Project names are UTF-8, which contains no byte above 0xF4, so these keys never collide with those
//! of nodes. A separate family would cost the first commit of every store some twenty syncs, and every
//! opening one more table.

use std::ops::Bound;

use tome_model::NodeId;

use super::key;
use crate::codec::KvLocation;
use crate::key::decode_u64;
use crate::limits::CHANGES_RESERVED;
use crate::{Durability, Family, KeyRange, KvBatch, Ledger, LedgerError, ScanDirection};

const CHANGE: u8 = 0xFF;
const LATEST: u8 = 0xFE;
const RESERVED: u8 = 0xFD;

/// A node that was written, replaced or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeChangeEntry {
    /// The number of the change. Increasing, with gaps.
    pub seq: u64,
    /// Root folder of the node's project.
    pub project: String,
    /// The node, which may have been removed.
    pub id: NodeId,
}

impl Ledger {
    /// Returns the nodes that changed after number `after`, in order of their latest change, each once.
    pub fn changed_nodes(
        &self,
        after: u64,
        limit: usize,
    ) -> Result<Vec<NodeChangeEntry>, LedgerError> {
        let mut span = KeyRange::prefix(&[CHANGE]);
        span.from = Bound::Excluded(change_key(after));
        self.scan(Family::TocNodes, span, ScanDirection::Forward)
            .take(limit)
            .map(|pair| pair.and_then(|(key, value)| decode_change(&key, &value)))
            .collect()
    }

    /// Number of the latest change of a node; 0 if there is none. A consumer with a larger cursor
    /// follows a log that was lost with the contents, and must restart from 0.
    pub fn last_node_change(&self) -> Result<u64, LedgerError> {
        let span = KeyRange::prefix(&[CHANGE]);
        let last = self.scan(Family::TocNodes, span, ScanDirection::Backward).next();
        last.transpose()?.map_or(Ok(0), |(key, _)| decode_change_number(&key))
    }

    /// Adds the rows of changed nodes to a batch. They come last, because readers of some engines can
    /// see a part of a batch. `last` is the last number assigned since the store was opened.
    pub(crate) fn put_node_changes(
        &self,
        batch: &mut KvBatch,
        heads: &[Vec<u8>],
        last: &mut Option<u64>,
    ) -> Result<(), LedgerError> {
        for head in heads {
            let number = match *last {
                Some(last) => last + 1,
                None => self.reserve_changes()? + 1,
            };
            *last = Some(number);
            let latest = [&[LATEST], head.as_slice()].concat();
            if let Some(before) = self.get(Family::TocNodes, &latest)? {
                let before = decode_u64(Family::TocNodes, &latest, &before)?;
                batch.delete(Family::TocNodes, &change_key(before));
            }
            batch.put(Family::TocNodes, &latest, &number.to_be_bytes());
            batch.put(Family::TocNodes, &change_key(number), head);
        }
        Ok(())
    }
}

impl Ledger {
    /// Reserves change numbers for this opening, and returns the number before the first.
    fn reserve_changes(&self) -> Result<u64, LedgerError> {
        let before = match self.get(Family::TocNodes, &[RESERVED])? {
            Some(bytes) => decode_u64(Family::TocNodes, &[RESERVED], &bytes)?,
            None => 0,
        };
        let mut batch = KvBatch::default();
        let upto = before + CHANGES_RESERVED;
        batch.put(Family::TocNodes, &[RESERVED], &upto.to_be_bytes());
        self.write(&batch, Durability::Synced)?;
        Ok(before)
    }
}

fn change_key(number: u64) -> Vec<u8> {
    [[CHANGE].as_slice(), &number.to_be_bytes()].concat()
}

fn decode_change_number(key: &[u8]) -> Result<u64, LedgerError> {
    decode_u64(Family::TocNodes, key, key.get(1..).unwrap_or_default())
}

fn decode_change(key: &[u8], value: &[u8]) -> Result<NodeChangeEntry, LedgerError> {
    let location = KvLocation { family: Family::TocNodes, key };
    let project =
        key::parse_project(value).ok_or_else(|| location.corrupt("it names no project"))?;
    let id = value.get(project.len() + 1..).and_then(|id| std::str::from_utf8(id).ok());
    let id = id.ok_or_else(|| location.corrupt("it names no node"))?;
    Ok(NodeChangeEntry {
        seq: decode_change_number(key)?,
        project: project.to_owned(),
        id: NodeId::parse(id).map_err(|error| location.corrupt(error))?,
    })
}
