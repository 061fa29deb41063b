//! Reading the contents.

use tome_model::{Grip, GripId, Node, NodeId, SessionId};

use super::{Head, Stretch, key, value};
use crate::codec::Place;
use crate::{Direction, Family, Ledger, LedgerError, Mark, Span};

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
            None => match self.head(project, id)?.filter(|head| !head.removed) {
                Some(head) => head.version,
                None => return Ok(None),
            },
        };
        let key = key::version(project, id, version);
        match self.get(Family::TocNodes, &key)? {
            Some(bytes) => {
                let place = Place { family: Family::TocNodes, key: &key };
                value::read_node(place, id.clone(), version, &bytes).map(Some)
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
        let prefix = key::versions(project, id);
        let span = key::behind(&prefix, Some(key::version(project, id, after)));
        let (id, len) = (id.clone(), prefix.len());
        self.scan(Family::TocNodes, span, Direction::Forward).map(move |pair| {
            let (key, bytes) = pair?;
            let place = Place { family: Family::TocNodes, key: &key };
            let number = key.get(len..).and_then(|number| number.try_into().ok());
            let number = number.ok_or_else(|| place.corrupt("its version is not 4 bytes"))?;
            value::read_node(place, id.clone(), u32::from_be_bytes(number), &bytes)
        })
    }

    /// Returns the header of a node, also of a removed one.
    pub fn head(&self, project: &str, id: &NodeId) -> Result<Option<Head>, LedgerError> {
        let key = key::head(project, id);
        match self.get(Family::TocLatest, &key)? {
            Some(bytes) => {
                let place = Place { family: Family::TocLatest, key: &key };
                value::read_head(place, &bytes).map(Some)
            }
            None => Ok(None),
        }
    }

    /// Iterates lazily over the headers of nodes whose ids begin with `prefix` and come after `after`,
    /// in order of ids, including removed nodes.
    pub fn heads<'a>(
        &'a self,
        project: &str,
        prefix: &str,
        after: Option<&NodeId>,
    ) -> impl Iterator<Item = Result<Head, LedgerError>> + use<'a> {
        let after = after.map(|after| key::head(project, after));
        let span = key::behind(&key::heads(project, prefix), after);
        self.scan(Family::TocLatest, span, Direction::Forward).map(|pair| {
            let (key, bytes) = pair?;
            value::read_head(Place { family: Family::TocLatest, key: &key }, &bytes)
        })
    }

    /// Returns the projects that have contents, in order.
    pub fn contents_projects(&self) -> Result<Vec<String>, LedgerError> {
        let mut projects = Vec::new();
        let mut span = Span::ALL;
        loop {
            let next = self.scan(Family::TocLatest, span, Direction::Forward).next();
            let Some((key, _)) = next.transpose()? else {
                return Ok(projects);
            };
            let project = key::project_of(&key).ok_or_else(|| {
                LedgerError::corrupt(Family::TocLatest, &key, "it names no project")
            })?;
            // Skip all keys of the project in one step.
            span = Span { from: Span::prefix(&key::project(project)).to, to: Span::ALL.to };
            if let std::ops::Bound::Excluded(end) = span.from {
                span.from = std::ops::Bound::Included(end);
            }
            projects.push(project.to_owned());
        }
    }

    /// Returns the last segment of a session in a project that begins at or before this point.
    pub fn stretch_before(
        &self,
        project: &str,
        session: &SessionId,
        mark: Mark,
    ) -> Result<Option<Stretch>, LedgerError> {
        let mut span = Span::prefix(&key::stretches(project, session));
        span.to = std::ops::Bound::Included(key::stretch(project, session, mark));
        let last = self.scan(Family::TocLatest, span, Direction::Backward).next();
        last.transpose()?.map(|(key, bytes)| read_stretch(&key, &bytes)).transpose()
    }

    /// Iterates over the segments of a session in a project that begin at or after `from`, in order.
    pub fn stretches<'a>(
        &'a self,
        project: &str,
        session: &SessionId,
        from: Mark,
    ) -> impl Iterator<Item = Result<Stretch, LedgerError>> + use<'a> {
        let mut span = Span::prefix(&key::stretches(project, session));
        span.from = std::ops::Bound::Included(key::stretch(project, session, from));
        self.scan(Family::TocLatest, span, Direction::Forward).map(|pair| {
            let (key, bytes) = pair?;
            read_stretch(&key, &bytes)
        })
    }

    /// Returns a grip.
    pub fn grip(&self, project: &str, id: &GripId) -> Result<Option<Grip>, LedgerError> {
        Ok(self.kept_grip(project, id)?.map(|(grip, _)| grip))
    }

    /// Iterates over the grips of a project after `after`, in order of ids.
    pub fn grips<'a>(
        &'a self,
        project: &str,
        after: Option<&GripId>,
    ) -> impl Iterator<Item = Result<Grip, LedgerError>> + use<'a> {
        let prefix = key::project(project);
        let span = key::behind(&prefix, after.map(|after| key::grip(project, after)));
        self.scan(Family::Grips, span, Direction::Forward).map(move |pair| {
            let (key, bytes) = pair?;
            let place = Place { family: Family::Grips, key: &key };
            let id = key.get(prefix.len()..).and_then(|id| std::str::from_utf8(id).ok());
            let id = id.ok_or_else(|| place.corrupt("its id is not text"))?;
            let id = GripId::parse(id).map_err(|error| place.corrupt(error))?;
            Ok(value::read_grip(place, id, &bytes)?.0)
        })
    }

    /// Loads a grip, and whether a closed version needs it.
    pub(super) fn kept_grip(
        &self,
        project: &str,
        id: &GripId,
    ) -> Result<Option<(Grip, bool)>, LedgerError> {
        let key = key::grip(project, id);
        match self.get(Family::Grips, &key)? {
            Some(bytes) => {
                let place = Place { family: Family::Grips, key: &key };
                value::read_grip(place, id.clone(), &bytes).map(Some)
            }
            None => Ok(None),
        }
    }
}

fn read_stretch(key: &[u8], bytes: &[u8]) -> Result<Stretch, LedgerError> {
    value::read_stretch(Place { family: Family::TocLatest, key }, bytes)
}
