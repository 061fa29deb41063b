//! The log of changed nodes: what lets somebody who keeps something made of nodes follow them by a
//! cursor, as the outbox does for events.
//!
//! ```text
//! toc_nodes   0xFF ++ change:u64be                     ->  project ++ 0x00 ++ node id
//!             0xFE ++ project ++ 0x00 ++ node id       ->  change:u64be      its latest change
//!             0xFD                                     ->  change:u64be      no number behind it was ever given
//! ```
//!
//! Every commit that writes, replaces or removes a node gives it the next number and takes its
//! former row away, so that there is one row a node, also of one that has gone. Nodes of a store
//! from before this log have no row until they change.
//!
//! Commits of workers are not synced, so power loss may take the latest changes away after somebody
//! has seen them. So that no number is given twice, each opening of a store reserves numbers of its
//! own, synced, before it gives the first one.
//!
//! Names of projects are UTF-8, in which no byte is 0xFD or more, so these keys never meet those of
//! nodes. A family of their own would cost the first commit of every store some twenty syncs and
//! every opening one more table to recover.

use std::ops::Bound;

use tome_model::NodeId;

use super::key;
use crate::codec::Place;
use crate::key::read_u64;
use crate::limits::CHANGES_RESERVED;
use crate::{Batch, Direction, Durability, Family, Ledger, LedgerError, Span};

const CHANGE: u8 = 0xFF;
const LATEST: u8 = 0xFE;
const RESERVED: u8 = 0xFD;

/// A node that was written, replaced or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeChanged {
    /// The number of the change: later ones are larger. Not every number is in use.
    pub seq: u64,
    /// Whose contents.
    pub project: String,
    /// Which node. It may have gone.
    pub id: NodeId,
}

impl Ledger {
    /// The nodes that changed after change number `after`, those that changed first first; each
    /// once, with its latest change.
    pub fn changed_nodes(&self, after: u64, limit: usize) -> Result<Vec<NodeChanged>, LedgerError> {
        let mut span = Span::prefix(&[CHANGE]);
        span.from = Bound::Excluded(change_key(after));
        self.scan(Family::TocNodes, span, Direction::Forward)
            .take(limit)
            .map(|pair| pair.and_then(|(key, value)| read_change(&key, &value)))
            .collect()
    }

    /// The number of the latest change of a node; 0 if there was none. Who has seen a larger one
    /// follows a log that was lost with the contents, and has to begin anew from 0.
    pub fn last_node_change(&self) -> Result<u64, LedgerError> {
        let span = Span::prefix(&[CHANGE]);
        let last = self.scan(Family::TocNodes, span, Direction::Backward).next();
        last.transpose()?.map_or(Ok(0), |(key, _)| read_number(&key))
    }

    /// Puts the rows of changed nodes into a batch. They come last in it, behind what they point to:
    /// an engine may show a batch piece by piece. `last` is the last number given since the store was
    /// opened, if there is one.
    pub(crate) fn put_changed(
        &self,
        batch: &mut Batch,
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
                let before = read_u64(Family::TocNodes, &latest, &before)?;
                batch.delete(Family::TocNodes, &change_key(before));
            }
            batch.put(Family::TocNodes, &latest, &number.to_be_bytes());
            batch.put(Family::TocNodes, &change_key(number), head);
        }
        Ok(())
    }
}

impl Ledger {
    /// Reserves numbers for the changes of this opening, behind the one returned.
    fn reserve_changes(&self) -> Result<u64, LedgerError> {
        let before = match self.get(Family::TocNodes, &[RESERVED])? {
            Some(bytes) => read_u64(Family::TocNodes, &[RESERVED], &bytes)?,
            None => 0,
        };
        let mut batch = Batch::default();
        let upto = before + CHANGES_RESERVED;
        batch.put(Family::TocNodes, &[RESERVED], &upto.to_be_bytes());
        self.write(&batch, Durability::Synced)?;
        Ok(before)
    }
}

fn change_key(number: u64) -> Vec<u8> {
    [[CHANGE].as_slice(), &number.to_be_bytes()].concat()
}

fn read_number(key: &[u8]) -> Result<u64, LedgerError> {
    read_u64(Family::TocNodes, key, key.get(1..).unwrap_or_default())
}

fn read_change(key: &[u8], value: &[u8]) -> Result<NodeChanged, LedgerError> {
    let place = Place { family: Family::TocNodes, key };
    let project = key::project_of(value).ok_or_else(|| place.corrupt("it names no project"))?;
    let id = value.get(project.len() + 1..).and_then(|id| std::str::from_utf8(id).ok());
    let id = id.ok_or_else(|| place.corrupt("it names no node"))?;
    Ok(NodeChanged {
        seq: read_number(key)?,
        project: project.to_owned(),
        id: NodeId::parse(id).map_err(|error| place.corrupt(error))?,
    })
}
