//! Pending changes of one commit: nodes, grips and segment records. Reads through it see pending
//! writes as if they were stored.
//!
//! Owns the versioning rule: while a node is open its last version is replaced; changing a closed
//! node adds a version; no change adds none. A model-written version stays until the built-in
//! version that it rewrites changes.

use std::collections::{BTreeMap, BTreeSet};

use tome_ledger::{
    GripWrite, Ledger, LedgerError, NodeChange, NodeHeader, NodeWrite, OrderKey, ProjectionCommit,
    SegmentEntry, SegmentWrite,
};
use tome_model::{Grip, GripId, Millis, Node, NodeId, Period, SessionId};

use tome_home::HomeError;

/// Name of the projection and of its cursor.
pub const CONTENTS_PROJECTION: &str = "contents";

/// How thoroughly to compare with what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    /// Trust stored grips and heads.
    Nodes,
    /// Compare stored grips and heads as well.
    Everything,
}

/// A node built from events or from its children.
pub(super) struct BuiltNode {
    /// `version` and `made_at` are not set yet.
    pub(super) node: Node,
    pub(super) firsts: [u64; 4],
    pub(super) grips: Vec<Grip>,
}

pub(super) struct PendingChanges<'a> {
    pub(super) ledger: &'a Ledger,
    now: Millis,
    care: Comparison,
    /// By project and node id.
    nodes: BTreeMap<(String, String), PendingNode>,
    segments: BTreeMap<(String, SessionId, OrderKey), Option<SegmentEntry>>,
    grips: Vec<GripWrite>,
    /// Days whose segments changed.
    pub(super) changed_days: BTreeSet<(String, Period)>,
}

struct PendingNode {
    id: NodeId,
    /// Latest stored version, for the optimistic concurrency check.
    seen: u32,
    /// Node, base version and `firsts` to write; `None` removes the node.
    put: Option<(Node, u32, [u64; 4])>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ChangeCounts {
    pub(super) written: u64,
    pub(super) removed: u64,
}

impl<'a> PendingChanges<'a> {
    pub(super) fn new(ledger: &'a Ledger, now: Millis, care: Comparison) -> Self {
        Self {
            ledger,
            now,
            care,
            nodes: BTreeMap::new(),
            segments: BTreeMap::new(),
            grips: Vec::new(),
            changed_days: BTreeSet::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.segments.is_empty() && self.grips.is_empty()
    }

    pub(super) fn counts(&self) -> ChangeCounts {
        let written = self.nodes.values().filter(|pending| pending.put.is_some()).count() as u64;
        ChangeCounts { written, removed: self.nodes.len() as u64 - written }
    }

    pub(super) fn into_work(self, work: ProjectionCommit) -> ProjectionCommit {
        let nodes = self.nodes.into_iter().map(|((project, _), pending)| {
            let change = match pending.put {
                Some((node, base, firsts)) => {
                    NodeChange::Put { node: Box::new(node), base, firsts }
                }
                None => NodeChange::Remove,
            };
            NodeWrite { project, id: pending.id, seen: pending.seen, change }
        });
        let segments = self.segments.into_iter().map(|((project, session, first), segment)| {
            SegmentWrite { project, session, first, segment }
        });
        ProjectionCommit {
            nodes: nodes.collect(),
            segments: segments.collect(),
            grips: self.grips,
            ..work
        }
    }

    /// Writes a node. Returns whether it differs from the stored one.
    pub(super) fn put_node(&mut self, project: &str, built: BuiltNode) -> Result<bool, HomeError> {
        let BuiltNode { mut node, firsts, grips } = built;
        let head = self.ledger.node_header(project, &node.id)?;
        let before = match head.as_ref().filter(|head| !head.removed) {
            Some(head) if !self.is_surely_changed(head, &node) => {
                self.ledger.node(project, &node.id, Some(head.base))?
            }
            _ => None,
        };
        if let (Some(head), Some(before)) = (&head, &before) {
            (node.version, node.made_at) = (before.version, before.made_at);
            if node == *before {
                return self.keep_node(project, head, firsts, grips);
            }
        }
        let seen = head.as_ref().map_or(0, |head| head.version);
        // A removed node is not open, so it returns with a new version.
        let replaces = head.is_some_and(|head| head.open);
        node.version = if replaces { seen } else { seen + 1 };
        node.made_at = self.now;
        if let Some(before) = before.filter(|_| replaces) {
            self.drop_grips(project, &before, &grips);
        }
        self.put_grips(project, grips, !node.open);
        let (id, base) = (node.id.clone(), node.version);
        self.add_pending(project, PendingNode { id, seen, put: Some((node, base, firsts)) });
        Ok(true)
    }

    /// Whether a period differs from the stored one by its number of events already, so that the
    /// stored one need not be read. The grips of a segment are compared in any case.
    fn is_surely_changed(&self, head: &NodeHeader, node: &Node) -> bool {
        node.source.is_none()
            && self.care == Comparison::Nodes
            && head.base == head.version
            && head.events != node.events
    }

    /// Keeps an unchanged node, but repairs its grips and head.
    fn keep_node(
        &mut self,
        project: &str,
        head: &NodeHeader,
        firsts: [u64; 4],
        grips: Vec<Grip>,
    ) -> Result<bool, HomeError> {
        let thorough = self.care == Comparison::Everything;
        if thorough {
            let mut lost = Vec::new();
            for grip in grips {
                if self.ledger.grip(project, &grip.id)?.as_ref() != Some(&grip) {
                    lost.push(grip);
                }
            }
            self.put_grips(project, lost, !head.open);
        }
        if head.firsts == firsts && !thorough {
            return Ok(false);
        }
        let latest = self.ledger.node(project, &head.id, Some(head.version))?;
        match latest {
            Some(latest) if head.firsts != firsts || !head.matches_node(&latest) => {
                let put = Some((latest, head.base, firsts));
                self.add_pending(
                    project,
                    PendingNode { id: head.id.clone(), seen: head.version, put },
                );
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Removes a node. Returns whether it existed.
    pub(super) fn remove_node(&mut self, project: &str, id: &NodeId) -> Result<bool, HomeError> {
        let Some(head) = self.ledger.node_header(project, id)?.filter(|head| !head.removed) else {
            return Ok(false);
        };
        if head.open
            && let Some(before) = self.ledger.node(project, id, Some(head.version))?
        {
            self.drop_grips(project, &before, &[]);
        }
        self.add_pending(project, PendingNode { id: id.clone(), seen: head.version, put: None });
        Ok(true)
    }

    /// Sets or clears the segment record that begins at a position.
    pub(super) fn set_segment(
        &mut self,
        project: &str,
        session: &SessionId,
        first: OrderKey,
        segment: Option<SegmentEntry>,
    ) {
        let key = (project.to_owned(), session.clone(), first);
        self.segments.insert(key, segment);
    }

    /// Returns the segments of a day in order, pending changes included, with their `firsts`.
    pub(super) fn load_segments(
        &self,
        project: &str,
        day: &NodeId,
    ) -> Result<Vec<(Node, [u64; 4])>, HomeError> {
        let prefix = segment_prefix(day);
        let mut ids = BTreeMap::new();
        for head in self.ledger.node_headers(project, &prefix, None) {
            let head = head?;
            if !head.removed {
                ids.insert(head.id.clone(), Some(head));
            }
        }
        for ((at, id), pending) in self.nodes.range((project.to_owned(), prefix.clone())..) {
            if at != project || !id.starts_with(&prefix) {
                break;
            }
            match pending.put {
                Some(_) => ids.insert(pending.id.clone(), None),
                None => ids.remove(&pending.id),
            };
        }
        let segments = ids.into_iter().map(|(id, head)| self.load_child(project, &id, head));
        segments.filter_map(Result::transpose).collect()
    }

    /// Returns a node in its built-in version, pending changes included; `None` if it is removed.
    pub(super) fn load_child(
        &self,
        project: &str,
        id: &NodeId,
        head: Option<NodeHeader>,
    ) -> Result<Option<(Node, [u64; 4])>, HomeError> {
        if let Some(pending) = self.nodes.get(&(project.to_owned(), id.as_str().to_owned())) {
            match &pending.put {
                Some((node, base, firsts)) if node.version == *base => {
                    return Ok(Some((node.clone(), *firsts)));
                }
                // Only the head or grips beside a model-written version were repaired.
                Some((_, base, firsts)) => {
                    let node = self.ledger.node(project, id, Some(*base))?;
                    return Ok(node.map(|node| (node, *firsts)));
                }
                None => return Ok(None),
            }
        }
        let head = match head {
            Some(head) => Some(head),
            None => self.ledger.node_header(project, id)?,
        };
        let Some(head) = head.filter(|head| !head.removed) else {
            return Ok(None);
        };
        let node = self.ledger.node(project, id, Some(head.base))?;
        Ok(node.map(|node| (node, head.firsts)))
    }

    fn add_pending(&mut self, project: &str, pending: PendingNode) {
        let key = (project.to_owned(), pending.id.as_str().to_owned());
        self.nodes.insert(key, pending);
    }

    /// Drops the grips that `before` used and the new version does not.
    fn drop_grips(&mut self, project: &str, before: &Node, grips: &[Grip]) {
        if before.source.is_none() {
            // The grips of a period belong to its segments.
            return;
        }
        let needed: BTreeSet<&GripId> = grips.iter().map(|grip| &grip.id).collect();
        let old = before.grips();
        for id in old.filter(|id| !needed.contains(id)) {
            let (project, id) = (project.to_owned(), id.clone());
            self.grips.push(GripWrite::Drop { project, id, node: before.id.clone() });
        }
    }

    fn put_grips(&mut self, project: &str, grips: Vec<Grip>, closed: bool) {
        let put = |grip| GripWrite::Put { project: project.to_owned(), grip, closed };
        self.grips.extend(grips.into_iter().map(put));
    }
}

/// The id prefix of a day's segments.
fn segment_prefix(day: &NodeId) -> String {
    format!("{}:", day.as_str().replacen("toc:day:", "toc:segment:", 1))
}

/// Whether another writer committed first, so that a retry can succeed.
pub(super) fn is_conflict(error: &LedgerError) -> bool {
    matches!(error, LedgerError::VersionConflict { .. } | LedgerError::InvalidCommit { .. })
}
