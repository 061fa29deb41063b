//! Reading the contents.

use tome_model::{Grip, GripId, Node, NodeId, SessionId};

use super::{NodeHeader, SegmentEntry, key, value};
use crate::codec::KvLocation;
use crate::{Family, KeyRange, Ledger, LedgerError, OrderKey, ScanDirection};

impl Ledger {
    /// Returns a version of a node; by default the latest, unless the node was removed.
    pub fn node(
        &self,
        project: &str,
        id: &NodeId,
        version: Option<u32>,
    ) -> Result<Option<Node>, LedgerError> {
        let version = match version {
            Some(version) => version,
            None => match self.node_header(project, id)?.filter(|head| !head.removed) {
                Some(head) => head.version,
                None => return Ok(None),
            },
        };
        let key = key::version_key(project, id, version);
        match self.get(Family::TocNodes, &key)? {
            Some(bytes) => {
                let location = KvLocation { family: Family::TocNodes, key: &key };
                value::decode_node(location, id.clone(), version, &bytes).map(Some)
            }
            None => Ok(None),
        }
    }

    /// Iterates over the versions of a node after `after`, oldest first, also of removed nodes.
    pub fn node_versions<'a>(
        &'a self,
        project: &str,
        id: &NodeId,
        after: u32,
    ) -> impl Iterator<Item = Result<Node, LedgerError>> + use<'a> {
        let prefix = key::versions_prefix(project, id);
        let span = key::range_after(&prefix, Some(key::version_key(project, id, after)));
        let (id, len) = (id.clone(), prefix.len());
        self.scan(Family::TocNodes, span, ScanDirection::Forward).map(move |pair| {
            let (key, bytes) = pair?;
            let location = KvLocation { family: Family::TocNodes, key: &key };
            let number = key.get(len..).and_then(|number| number.try_into().ok());
            let number = number.ok_or_else(|| location.corrupt("its version is not 4 bytes"))?;
            value::decode_node(location, id.clone(), u32::from_be_bytes(number), &bytes)
        })
    }

    /// Returns the header of a node, also of a removed one.
    pub fn node_header(
        &self,
        project: &str,
        id: &NodeId,
    ) -> Result<Option<NodeHeader>, LedgerError> {
        let key = key::header_key(project, id);
        match self.get(Family::TocLatest, &key)? {
            Some(bytes) => {
                let location = KvLocation { family: Family::TocLatest, key: &key };
                value::decode_header(location, &bytes).map(Some)
            }
            None => Ok(None),
        }
    }

    /// Iterates lazily over the headers of nodes whose ids begin with `prefix` and come after `after`,
    /// in order of ids, including removed nodes.
    pub fn node_headers<'a>(
        &'a self,
        project: &str,
        prefix: &str,
        after: Option<&NodeId>,
    ) -> impl Iterator<Item = Result<NodeHeader, LedgerError>> + use<'a> {
        let after = after.map(|after| key::header_key(project, after));
        let span = key::range_after(&key::headers_prefix(project, prefix), after);
        self.scan(Family::TocLatest, span, ScanDirection::Forward).map(|pair| {
            let (key, bytes) = pair?;
            value::decode_header(KvLocation { family: Family::TocLatest, key: &key }, &bytes)
        })
    }

    /// Returns the projects that have contents, in order.
    pub fn contents_projects(&self) -> Result<Vec<String>, LedgerError> {
        let mut projects = Vec::new();
        let mut span = KeyRange::ALL;
        loop {
            let next = self.scan(Family::TocLatest, span, ScanDirection::Forward).next();
            let Some((key, _)) = next.transpose()? else {
                return Ok(projects);
            };
            let project = key::parse_project(&key).ok_or_else(|| {
                LedgerError::corrupt(Family::TocLatest, &key, "it names no project")
            })?;
            // Skip all keys of the project in one step.
            span = KeyRange {
                from: KeyRange::prefix(&key::project_prefix(project)).to,
                to: KeyRange::ALL.to,
            };
            if let std::ops::Bound::Excluded(end) = span.from {
                span.from = std::ops::Bound::Included(end);
            }
            projects.push(project.to_owned());
        }
    }

    /// Returns the last segment of a session in a project that begins at or before this point.
    pub fn segment_before(
        &self,
        project: &str,
        session: &SessionId,
        key: OrderKey,
    ) -> Result<Option<SegmentEntry>, LedgerError> {
        let mut span = KeyRange::prefix(&key::segments_prefix(project, session));
        span.to = std::ops::Bound::Included(key::segment_key(project, session, key));
        let last = self.scan(Family::TocLatest, span, ScanDirection::Backward).next();
        last.transpose()?.map(|(key, bytes)| decode_segment(&key, &bytes)).transpose()
    }

    /// Iterates over the segments of a session in a project that begin at or after `from`, in order.
    pub fn segments<'a>(
        &'a self,
        project: &str,
        session: &SessionId,
        from: OrderKey,
    ) -> impl Iterator<Item = Result<SegmentEntry, LedgerError>> + use<'a> {
        let mut span = KeyRange::prefix(&key::segments_prefix(project, session));
        span.from = std::ops::Bound::Included(key::segment_key(project, session, from));
        self.scan(Family::TocLatest, span, ScanDirection::Forward).map(|pair| {
            let (key, bytes) = pair?;
            decode_segment(&key, &bytes)
        })
    }

    /// Returns a grip.
    pub fn grip(&self, project: &str, id: &GripId) -> Result<Option<Grip>, LedgerError> {
        Ok(self.load_grip(project, id)?.map(|(grip, _)| grip))
    }

    /// Iterates over the grips of a project after `after`, in order of ids.
    pub fn grips<'a>(
        &'a self,
        project: &str,
        after: Option<&GripId>,
    ) -> impl Iterator<Item = Result<Grip, LedgerError>> + use<'a> {
        let prefix = key::project_prefix(project);
        let span = key::range_after(&prefix, after.map(|after| key::grip_key(project, after)));
        self.scan(Family::Grips, span, ScanDirection::Forward).map(move |pair| {
            let (key, bytes) = pair?;
            let location = KvLocation { family: Family::Grips, key: &key };
            let id = key.get(prefix.len()..).and_then(|id| std::str::from_utf8(id).ok());
            let id = id.ok_or_else(|| location.corrupt("its id is not text"))?;
            let id = GripId::parse(id).map_err(|error| location.corrupt(error))?;
            Ok(value::decode_grip(location, id, &bytes)?.0)
        })
    }

    /// Loads a grip, and whether a closed version needs it.
    pub(super) fn load_grip(
        &self,
        project: &str,
        id: &GripId,
    ) -> Result<Option<(Grip, bool)>, LedgerError> {
        let key = key::grip_key(project, id);
        match self.get(Family::Grips, &key)? {
            Some(bytes) => {
                let location = KvLocation { family: Family::Grips, key: &key };
                value::decode_grip(location, id.clone(), &bytes).map(Some)
            }
            None => Ok(None),
        }
    }
}

fn decode_segment(key: &[u8], bytes: &[u8]) -> Result<SegmentEntry, LedgerError> {
    value::decode_segment(KvLocation { family: Family::TocLatest, key }, bytes)
}
