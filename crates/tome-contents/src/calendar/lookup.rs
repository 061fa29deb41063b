//! Looks up a node, its versions or a grip by id or by a unique prefix.

use std::collections::{BTreeSet, VecDeque};

use tome_ledger::Ledger;
use tome_model::{GripId, Level, Node, NodeId, truncate_to};

use super::listing::node_not_found;
use super::{Calendar, CalendarEntry};
use crate::expand::expand_grip;
use crate::{ExpandedGrip, ProjectNode};
use tome_home::HomeError;

/// A node with its project, parent and children.
#[derive(Debug, Clone, PartialEq)]
pub struct LocatedNode {
    /// The project of the node.
    pub project: String,
    /// The requested version of the node.
    pub node: Node,
    /// Its parent; `None` for a year.
    pub parent: Option<NodeId>,
    /// Its children.
    pub children: Vec<CalendarEntry>,
}

/// Candidates listed when a prefix is ambiguous.
const CANDIDATES_MAX: usize = 4;

/// Prefixes of ids that may be abbreviated.
const SEGMENT_PREFIX: &str = "toc:segment:";
const GRIP_PREFIX: &str = "grip:";

/// Versions returned per project.
const VERSIONS_MAX: usize = 200;

impl Calendar {
    /// Returns a node at its latest or a given version, from each project that has it.
    pub fn find_node(
        &self,
        id: &str,
        version: Option<u32>,
        project: Option<&str>,
    ) -> Result<Vec<LocatedNode>, HomeError> {
        let (id, mut found) = (self.resolve_node_id(id, project)?, Vec::new());
        self.for_each_project(project, |store, project| {
            if let Some(mut node) = store.node(project, &id, version)? {
                node.open &= self.is_current(&node.id, node.last_at);
                let mut children = load_children(store, project, &node)?;
                self.close_past(&mut children);
                let parent = parent_id(&node.id);
                found.push(LocatedNode { project: project.to_owned(), node, parent, children });
            }
            Ok(())
        })?;
        match (found.is_empty(), version) {
            (false, _) => Ok(found),
            (true, None) => Err(node_not_found(id.as_str(), project)),
            (true, Some(version)) => Err(HomeError::NotFound(format!(
                "no version {version} of {id}: list them with --versions"
            ))),
        }
    }

    /// Returns the latest versions of a node from each project that has it, oldest first.
    pub fn node_versions(
        &self,
        id: &str,
        project: Option<&str>,
    ) -> Result<Vec<ProjectNode>, HomeError> {
        let (id, mut found) = (self.resolve_node_id(id, project)?, Vec::new());
        self.for_each_project(project, |store, project| {
            let mut latest = VecDeque::new();
            for node in store.node_versions(project, &id, 0) {
                latest.push_back(ProjectNode { project: project.to_owned(), node: node? });
                if latest.len() > VERSIONS_MAX {
                    latest.pop_front();
                }
            }
            found.extend(latest);
            Ok(())
        })?;
        if found.is_empty() { Err(node_not_found(id.as_str(), project)) } else { Ok(found) }
    }

    /// Returns a grip with events before and after it.
    pub fn find_grip(
        &self,
        id: &str,
        (before, after): (usize, usize),
        project: Option<&str>,
    ) -> Result<ExpandedGrip, HomeError> {
        let id = self.resolve_grip_id(id, project)?;
        let mut found = None;
        self.for_each_project(project, |store, project| {
            if found.is_none()
                && let Some(grip) = store.grip(project, &id)?
            {
                found = Some(expand_grip(store, project, grip, before, after)?);
            }
            Ok(())
        })?;
        found.ok_or_else(|| HomeError::NotFound(format!("no grip {id}")))
    }

    /// Resolves a node id; a segment's id may be abbreviated.
    pub fn resolve_node_id(&self, id: &str, project: Option<&str>) -> Result<NodeId, HomeError> {
        let parsed = NodeId::parse(id);
        let Some(place) = id.trim().strip_prefix(SEGMENT_PREFIX) else { return Ok(parsed?) };
        // The day must be complete.
        let (Err(error), Some((_, some))) = (&parsed, place.split_once(':')) else {
            return Ok(parsed?);
        };
        if some.is_empty() || !some.chars().all(|c| c.is_ascii_alphanumeric()) {
            return Err(error.clone().into());
        }
        let prefix = id.trim().to_uppercase().replacen("TOC:SEGMENT:", SEGMENT_PREFIX, 1);
        let mut like = BTreeSet::new();
        self.for_each_project(project, |store, project| {
            for head in store.node_headers(project, &prefix, None).take(CANDIDATES_MAX) {
                like.insert(head?.id);
            }
            Ok(())
        })?;
        single_match(id, like).unwrap_or_else(|| Err(node_not_found(id, project)))
    }

    /// Resolves a grip id; `grip:` and the time suffice if they are unique.
    fn resolve_grip_id(&self, id: &str, project: Option<&str>) -> Result<GripId, HomeError> {
        let parsed = GripId::parse(id);
        let (Err(error), Some(place)) = (&parsed, id.trim().strip_prefix(GRIP_PREFIX)) else {
            return Ok(parsed?);
        };
        let (at_ms, some) = place.split_once(':').unwrap_or((place, ""));
        // The smallest id that a grip of this time can have.
        let first = GripId::parse(&format!("{GRIP_PREFIX}{at_ms}:{}", "0".repeat(26)));
        let (Ok(first), true) = (first, some.chars().all(|c| c.is_ascii_alphanumeric())) else {
            return Err(error.clone().into());
        };
        let prefix = format!("{GRIP_PREFIX}{at_ms}:{}", some.to_uppercase());
        let mut like = BTreeSet::new();
        self.for_each_project(project, |store, project| {
            for grip in store.grips(project, Some(&first)) {
                let id = grip?.id;
                if !id.as_str().starts_with(&format!("{GRIP_PREFIX}{at_ms}:"))
                    || like.len() > CANDIDATES_MAX
                {
                    break;
                }
                if id.as_str().starts_with(&prefix) {
                    like.insert(id);
                }
            }
            Ok(())
        })?;
        single_match(id, like).unwrap_or_else(|| Err(grip_not_found(id)))
    }
}

/// Returns the only candidate, an error if there are several, or `None`.
fn single_match<I: Ord + ToString>(
    asked: &str,
    mut like: BTreeSet<I>,
) -> Option<Result<I, HomeError>> {
    if like.len() > 1 {
        let some = like.iter().take(CANDIDATES_MAX).map(ToString::to_string).collect();
        let prefix = truncate_to(asked, 120).to_owned();
        return Some(Err(HomeError::Ambiguous { prefix, some }));
    }
    like.pop_first().map(Ok)
}

fn grip_not_found(id: &str) -> HomeError {
    HomeError::NotFound(format!("no grip {}", truncate_to(id, 120)))
}

fn parent_id(id: &NodeId) -> Option<NodeId> {
    let period = match id.level() {
        Level::Segment => id.day(),
        _ => id.period()?.parent(),
    };
    period.map(|period| period.id())
}

/// Loads the children of a node as entries, including ones removed since that version.
fn load_children(
    store: &Ledger,
    project: &str,
    node: &Node,
) -> Result<Vec<CalendarEntry>, HomeError> {
    let mut children = Vec::with_capacity(node.children.len());
    for id in &node.children {
        children.extend(
            store.node_header(project, id)?.map(|head| CalendarEntry::from_head(head, project)),
        );
    }
    Ok(children)
}
