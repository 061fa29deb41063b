//! Adds a projection's changes of the contents to the batch of its commit.

use std::collections::BTreeSet;

use super::{GripWrite, NodeChange, NodeHeader, NodeWrite, SegmentWrite, key, value};
use crate::{Family, KvBatch, Ledger, LedgerError};

impl Ledger {
    /// Adds node changes to a batch, or fails if one of the nodes was changed concurrently. Returns the
    /// keys of their headers, for the log of changed nodes.
    pub(crate) fn put_nodes(
        &self,
        batch: &mut KvBatch,
        writes: Vec<NodeWrite>,
    ) -> Result<Vec<Vec<u8>>, LedgerError> {
        let mut changed = Vec::with_capacity(writes.len());
        for NodeWrite { project, id, seen, change } in writes {
            check_project(&project)?;
            let head = self.node_header(&project, &id)?;
            let latest = head.as_ref().map_or(0, |head| head.version);
            if latest != seen {
                return Err(LedgerError::VersionConflict {
                    id: id.as_str().to_owned(),
                    latest,
                    seen,
                });
            }
            match change {
                NodeChange::Put { node, base, firsts } => {
                    let version = key::version_key(&project, &id, node.version);
                    batch.put(Family::TocNodes, &version, &value::encode_node(&node)?);
                    let head = value::encode_header(NodeHeader::from_node(*node, base, firsts))?;
                    batch.put(Family::TocLatest, &key::header_key(&project, &id), &head);
                }
                NodeChange::Remove => match head {
                    Some(head) => remove_node(batch, &project, head)?,
                    None => continue,
                },
            }
            changed.push(key::header_key(&project, &id));
        }
        Ok(changed)
    }

    /// Adds grip changes to a batch. A put wins over a drop.
    pub(crate) fn put_grips(
        &self,
        batch: &mut KvBatch,
        writes: &[GripWrite],
    ) -> Result<(), LedgerError> {
        let mut put = BTreeSet::new();
        // Grips of closed versions first, because the same grip may be put twice.
        for want_closed in [true, false] {
            for write in writes {
                if let GripWrite::Put { project, grip, closed } = write
                    && *closed == want_closed
                    && put.insert((project, &grip.id))
                {
                    check_project(project)?;
                    let kept =
                        *closed || self.load_grip(project, &grip.id)?.is_some_and(|(_, kept)| kept);
                    let value = value::encode_grip(grip, kept)?;
                    batch.put(Family::Grips, &key::grip_key(project, &grip.id), &value);
                }
            }
        }
        for write in writes {
            if let GripWrite::Drop { project, id, node } = write
                && put.insert((project, id))
                && let Some((grip, kept)) = self.load_grip(project, id)?
                && !kept
                && grip.node == *node
            {
                batch.delete(Family::Grips, &key::grip_key(project, id));
            }
        }
        Ok(())
    }

    /// Adds segment changes to a batch.
    pub(crate) fn put_segments(
        batch: &mut KvBatch,
        writes: &[SegmentWrite],
    ) -> Result<(), LedgerError> {
        for SegmentWrite { project, session, first, segment } in writes {
            check_project(project)?;
            let key = key::segment_key(project, session, *first);
            match segment {
                Some(segment) => {
                    batch.put(Family::TocLatest, &key, &value::encode_segment(segment)?);
                }
                None => batch.delete(Family::TocLatest, &key),
            }
        }
        Ok(())
    }
}

/// Removes a node: deletes its open version, keeps closed ones, and marks the header as removed.
fn remove_node(
    batch: &mut KvBatch,
    project: &str,
    mut head: NodeHeader,
) -> Result<(), LedgerError> {
    let key = key::header_key(project, &head.id);
    if head.open && !head.removed {
        batch.delete(Family::TocNodes, &key::version_key(project, &head.id, head.version));
        if head.version <= 1 {
            batch.delete(Family::TocLatest, &key);
            return Ok(());
        }
        head.version -= 1;
    }
    head.removed = true;
    head.open = false;
    head.base = head.base.min(head.version);
    batch.put(Family::TocLatest, &key, &value::encode_header(head)?);
    Ok(())
}

fn check_project(project: &str) -> Result<(), LedgerError> {
    if project.contains('\0') {
        return Err(LedgerError::Rejected {
            name: project.escape_debug().to_string(),
            problem: "a project name must not contain 0x00".to_owned(),
        });
    }
    Ok(())
}
