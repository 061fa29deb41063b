//! Looks up a node, its versions or a grip by id or by a unique prefix.

use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};

use tome_ledger::Ledger;
use tome_model::{
    FactKind, GripId, Level, Millis, Node, NodeId, Period, parse_ulid_time, truncate_to,
};

use super::listing::node_not_found;
use super::{Contents, ContentsEntry};
use crate::expand::expand_grip;
use crate::later_change::find_later_changes;
use crate::{ExpandedGrip, LaterChange, ProjectNode};
use tome_home::HomeError;

/// A node with its project, parent and children.
#[derive(Debug, Clone, PartialEq)]
pub struct LocatedNode {
    /// Root folder of the node's project.
    pub project: String,
    /// The requested version of the node.
    pub node: Node,
    /// Its parent; `None` for a year.
    pub parent: Option<NodeId>,
    /// Its children.
    pub children: Vec<ContentsEntry>,
    /// The numbers of the events that the title is from.
    pub title_numbers: Vec<u64>,
    /// For each bullet, the events that support it.
    pub evidence: Vec<BulletEvidence>,
}

/// The events that support a bullet, and whether what they say was changed later.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BulletEvidence {
    /// The numbers of the events, without repetitions.
    pub numbers: Vec<u64>,
    /// The time of the latest of them.
    pub at: Option<Millis>,
    /// The next turn about its result that changed the same files again.
    pub later_change: Option<LaterChange>,
}

/// Candidates listed when a prefix is ambiguous.
const CANDIDATES_MAX: usize = 4;

/// Prefixes of ids that may be abbreviated.
const SEGMENT_PREFIX: &str = "toc:segment:";
const GRIP_PREFIX: &str = "grip:";

/// Versions returned per project.
const VERSIONS_MAX: usize = 200;

impl Contents {
    /// Returns a node at its latest or a given version, from each project that has it: the one with the most
    /// sessions first, of equals the one with the most events, and then by name.
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
                let parent = find_parent(store, project, &node.id)?;
                let title_numbers = find_title_numbers(store, project, &node)?;
                let evidence = find_evidence(store, project, &node)?;
                let project = project.to_owned();
                found.push(LocatedNode {
                    project,
                    node,
                    parent,
                    children,
                    title_numbers,
                    evidence,
                });
            }
            Ok(())
        })?;
        found.sort_by(|a, b| {
            let work = |one: &LocatedNode| Reverse((one.node.session_count, one.node.events));
            work(a).cmp(&work(b)).then_with(|| a.project.cmp(&b.project))
        });
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

    /// Resolves a node id; a segment's id may be abbreviated, with or without its day.
    pub fn resolve_node_id(&self, id: &str, project: Option<&str>) -> Result<NodeId, HomeError> {
        if let Some(at) = parse_ulid_time(id.trim()) {
            let day = self.zone().date_of(at);
            return self.resolve_node_id(&format!("{SEGMENT_PREFIX}{day}:{}", id.trim()), project);
        }
        let parsed = NodeId::parse(id);
        let Some(suffix) = id.trim().strip_prefix(SEGMENT_PREFIX) else { return Ok(parsed?) };
        // The day must be complete.
        let (Err(error), Some((_, some))) = (&parsed, suffix.split_once(':')) else {
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
        let (Err(error), Some(suffix)) = (&parsed, id.trim().strip_prefix(GRIP_PREFIX)) else {
            return Ok(parsed?);
        };
        let (at_ms, some) = suffix.split_once(':').unwrap_or((suffix, ""));
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

/// Finds the events that the title of a node quotes; it may be those of several pieces of work.
fn find_title_numbers(store: &Ledger, project: &str, node: &Node) -> Result<Vec<u64>, HomeError> {
    let mut numbers = Vec::new();
    for title in node.work.iter().flat_map(|work| work.facts_of(FactKind::Title)) {
        if !node.title.contains(&title.text) {
            continue;
        }
        for grip in title.grips() {
            let Some(grip) = store.grip(project, grip)? else { continue };
            let Some(position) = store.position(&grip.first)? else { continue };
            let number = position.order_key().seq;
            if !numbers.contains(&number) {
                numbers.push(number);
            }
        }
    }
    Ok(numbers)
}

/// Finds the events that support each bullet of a node.
fn find_evidence(
    store: &Ledger,
    project: &str,
    node: &Node,
) -> Result<Vec<BulletEvidence>, HomeError> {
    let later_changes = find_later_changes(store, project, node)?;
    let mut all = Vec::with_capacity(node.bullets.len());
    for (bullet, later_change) in node.bullets.iter().zip(later_changes) {
        let mut evidence = BulletEvidence { later_change, ..BulletEvidence::default() };
        for grip in &bullet.grips {
            let Some(grip) = store.grip(project, grip)? else { continue };
            let Some(position) = store.position(&grip.first)? else { continue };
            let key = position.order_key();
            evidence.at = evidence.at.max(Some(key.at));
            if !evidence.numbers.contains(&key.seq) {
                evidence.numbers.push(key.seq);
            }
        }
        all.push(evidence);
    }
    Ok(all)
}

/// Returns the only candidate, an error if there are several, or `None`.
fn single_match<I: Ord + ToString>(
    id: &str,
    mut like: BTreeSet<I>,
) -> Option<Result<I, HomeError>> {
    if like.len() > 1 {
        let some = like.iter().take(CANDIDATES_MAX).map(ToString::to_string).collect();
        let prefix = truncate_to(id, 120).to_owned();
        return Some(Err(HomeError::Ambiguous { prefix, some }));
    }
    like.pop_first().map(Ok)
}

fn grip_not_found(id: &str) -> HomeError {
    HomeError::NotFound(format!("no grip {}", truncate_to(id, 120)))
}

/// The node to go up to: that of a week is the month with most of its days, if it has any of the work.
fn find_parent(store: &Ledger, project: &str, id: &NodeId) -> Result<Option<NodeId>, HomeError> {
    let mut above: Vec<Period> = match (id.level(), id.period()) {
        (Level::Segment, _) => id.day().into_iter().collect(),
        (_, Some(period)) => period.parent().into_iter().collect(),
        (_, None) => Vec::new(),
    };
    if let Some(week) = id.period().filter(|_| id.level() == Level::Week) {
        let (first, last) = week.bounds();
        above.extend([first, last].map(Period::month_containing));
    }
    for period in &above {
        if store.node_header(project, &period.id())?.is_some_and(|head| !head.removed) {
            return Ok(Some(period.id()));
        }
    }
    Ok(above.first().map(Period::id))
}

/// Loads the children of a node as entries, including ones removed since that version.
fn load_children(
    store: &Ledger,
    project: &str,
    node: &Node,
) -> Result<Vec<ContentsEntry>, HomeError> {
    let mut children = Vec::with_capacity(node.children.len());
    for id in &node.children {
        children.extend(
            store.node_header(project, id)?.map(|head| ContentsEntry::from_head(head, project)),
        );
    }
    Ok(children)
}
